"""The validator for arguments: what it accepts, and what it says."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import Json, JsonObject
from legato.tools.schema import find_fault

EDIT: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "mode": {"enum": ["fast", "slow"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "place": {"$ref": "#/$defs/place"},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"path": "a"}, None),
        ({"path": "a", "count": 3, "note": None, "tags": ["t"], "place": {"x": 1.5}}, None),
        ({"path": "a", "count": 3.0}, None),
        ({}, "`path` is missing"),
        ({"path": None}, "`path` must be a string, not null"),
        ({"path": ""}, "`path` must have at least 1 characters"),
        ({"path": "a", "mode": "quick"}, '`mode` must be one of "fast", "slow", not "quick"'),
        ({"path": "a", "count": True}, "`count` must be an integer, not true or false"),
        ({"path": "a", "count": 2.5}, "`count` must be an integer, not a fraction"),
        ({"path": "a", "count": 0}, "`count` must be at least 1, not 0"),
        ({"path": "a", "count": 10}, "`count` must be at most 9, not 10"),
        ({"path": "a", "note": 1}, "`note` must be a string or null, not an integer"),
        ({"path": "a", "tags": ["t", 1]}, "`tags[1]` must be a string, not an integer"),
        ({"path": "a", "tags": ["t", "u", "v"]}, "`tags` must have at most 2 items, not 3"),
        ({"path": "a", "place": {}}, "`place.x` is missing"),
        ({"path": "a", "pth": "b"}, "`pth` is not known here (did you mean `path`?)"),
        ([], "the value must be an object, not an array"),
    ],
)
def test_a_fault_is_named_with_its_place(value: Json, fault: str | None) -> None:
    assert find_fault(value, EDIT) == fault


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": ["string", "null"]}, 1, "the value must be a string or null, not an integer"),
        ({"const": 1}, True, "the value must be one of 1, not true"),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            1,
            "the value fits more than one of the forms of which it must fit exactly one",
        ),
        ({"allOf": [{"minimum": 3}]}, 1, "the value must be at least 3, not 1"),
        ({"exclusiveMinimum": 1}, 1, "the value must be more than 1, not 1"),
        ({"exclusiveMaximum": 1}, 1, "the value must be less than 1, not 1"),
        ({"maxLength": 1}, "ab", "the value must have at most 1 characters"),
        ({"minItems": 1}, [], "the value must have at least 1 items, not 0"),
        ({"prefixItems": [{"type": "string"}], "items": False}, ["a", "b"], "`[1]` is not allowed"),
        ({"properties": {}, "additionalProperties": False}, {"a": 1}, "`a` is not known here (no arguments are taken)"),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, "`a` must be a string, not an integer"),
        ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]}, {}, "`a` is missing"),
    ],
)
def test_the_usual_keywords_are_understood(schema: JsonObject, value: Json, fault: str) -> None:
    assert find_fault(value, schema) == fault


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$ref": "#/nowhere"}, {"$ref": "https://example.com/x"}, {"x-odd": 1}]
)
def test_what_is_not_understood_forbids_nothing(schema: JsonObject) -> None:
    assert find_fault({"a": 1}, schema) is None


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0]) | st.text("ab", max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": "number", "exclusiveMaximum": 3},
        {"type": "boolean"},
        {"type": "null"},
        {"enum": ["a", 1, None]},
        {"const": False},
        {"type": ["string", "array"], "maxItems": 1, "maxLength": 2},
        True,
        False,
        {},
    ]
)


def _nest(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2)},
        optional={"required": st.just(["a"]), "additionalProperties": st.booleans() | inner},
    )
    arrays = st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    choices = st.sampled_from(["anyOf", "oneOf", "allOf"]).flatmap(
        lambda keyword: st.lists(inner, min_size=1, max_size=3).map(lambda options: {keyword: options})
    )
    return objects | arrays | choices


@given(value=VALUES, schema=st.recursive(LEAVES, _nest, max_leaves=6))
def test_it_agrees_with_a_complete_validator(value: Json, schema: Json) -> None:
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (find_fault(value, schema) is None) == expected
