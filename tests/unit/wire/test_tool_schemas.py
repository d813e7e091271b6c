"""The schema of a tool's arguments is JSON Schema for everybody, in whichever form it was given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from legato import parse, render
from legato.model import ToolSpec
from legato.wire.options import schemas
from legato.wire.options.schemas import arguments_schema
from on_the_wire import tools_of

from builders import OTHER_ROUTES, ROUTES, talk, user
from strategies import SMALL_JSON

GOOGLES = {
    "type": "OBJECT",
    "properties": {
        "path": {"type": "STRING", "nullable": True, "minLength": "1"},
        "lines": {"type": "ARRAY", "items": {"type": "INTEGER"}, "maxItems": "2"},
        "type": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]},
        "any": {"type": "TYPE_UNSPECIFIED", "description": "whatever"},
    },
    "required": ["path"],
}
OURS = {
    "type": "object",
    "properties": {
        "path": {"type": ["string", "null"], "minLength": 1},
        "lines": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        "type": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
        "any": {"description": "whatever"},
    },
    "required": ["path"],
}


def test_googles_form_becomes_json_schema() -> None:
    assert arguments_schema(GOOGLES) == OURS


def test_json_schema_stays_the_same_object() -> None:
    assert arguments_schema(OURS) is OURS


def test_data_in_a_schema_is_not_taken_for_types() -> None:
    schema = {
        "type": "object",
        "default": {"type": "OBJECT"},
        "properties": {"kind": {"enum": ["OBJECT", {"type": "STRING"}], "example": {"type": "STRING"}}},
    }
    assert arguments_schema(schema) is schema


@pytest.mark.parametrize("kind", ["string", ["object", "null"], "NULL", 5, None, {}, "banana", []])
def test_arguments_are_an_object_whatever_the_schema_says(kind: Any) -> None:
    assert arguments_schema({"type": kind}).get("type") in ("object", None)


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_a_tool_that_was_declared_for_gemini_is_taken_by_everybody(route: str) -> None:
    declared = {"functionDeclarations": [{"name": "read", "parameters": GOOGLES}]}
    parsed = parse({"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": [declared]}, ROUTES[3])
    request = render(parsed.conversation(), route, tools=parsed.tools)
    request.verify()
    sent = json.dumps(tools_of(request.body))
    assert '"OBJECT"' not in sent
    assert json.dumps(OURS) in sent
    assert "schema-types" in {decision.reason for decision in request.report.decisions}


_SCHEMAS = st.recursive(
    SMALL_JSON,
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "items", "properties", "anyOf", "nullable", "minItems", "enum", "not"]),
        st.one_of(inner, st.lists(inner, max_size=2), st.sampled_from(["OBJECT", "STRING", "object", "7"])),
        max_size=4,
    ),
    max_leaves=12,
)


_ARGUMENTS = st.dictionaries(st.sampled_from(["type", "properties", "items", "anyOf"]), _SCHEMAS)


@given(schema=_ARGUMENTS)
@example(OURS)
@example(GOOGLES)
@example({"properties": {"type": {"type": "OBJECT"}, "items": [{"type": "STRING"}]}})
@example({"items": [{"anyOf": [{"not": {"type": "STRING"}}]}]})
def test_a_schema_in_which_nothing_is_to_be_translated_is_what_translating_it_gives(schema: dict[str, Any]) -> None:
    quick = arguments_schema(schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemas, "_is_json_schema", lambda _: False)
        thorough = arguments_schema(schema)
    assert (quick, quick is schema) == (thorough, thorough is schema)


@pytest.mark.parametrize("route", ROUTES)
@given(schema=_ARGUMENTS)
def test_whatever_a_schema_holds_its_request_is_accepted(route: str, schema: dict[str, Any]) -> None:
    request = render(talk(user("go")), route, tools=[ToolSpec("read", parameters=schema)])
    request.verify()
    assert json.loads(request.json()) == request.body
