"""Structured output: an answer fits the schema that its request names, whatever the schema says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import ToolSpec
from legato.simulation import SimulatedProvider
from legato.simulation.model.fake_arguments import fill_answer, fill_arguments
from simulation_support import post

# --- any schema -------------------------------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.just({"type": "string"}),
    st.builds(lambda least: {"type": "string", "minLength": least, "maxLength": least + 3}, st.integers(0, 60)),
    st.sampled_from(["date", "date-time", "email", "uuid", "uri", "ipv4"]).map(lambda f: {"type": "string", "format": f}),
    st.sampled_from([r"^\d+$", "^[A-Z]{3}$", r"^[a-z]+-\d$", "a|b"]).map(lambda p: {"type": "string", "pattern": p}),
    st.builds(lambda low, width: {"type": "integer", "minimum": low, "maximum": low + width}, st.integers(-50, 50), st.integers(0, 9)),
    st.builds(lambda low: {"type": "integer", "exclusiveMinimum": low}, st.integers(-5, 5)),
    st.builds(lambda high: {"type": "number", "exclusiveMaximum": high}, st.integers(-5, 5)),
    st.builds(lambda step: {"type": "integer", "multipleOf": step, "minimum": 7}, st.integers(1, 9)),
    st.just({"type": "boolean"}),
    st.just({"type": ["null", "integer"]}),
    st.just({"enum": ["red", "green"]}),
    st.just({"const": 7}),
    st.just({"$ref": "#/$defs/leaf"}),
    st.just({"$ref": "#/$defs/tree"}),
)  # fmt: skip
NAMES = st.sampled_from(["a", "b", "c", "d"])


def _objects(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(NAMES, children, max_size=4)
    return st.one_of(
        st.builds(
            lambda fields, count: {
                "type": "object",
                "properties": fields,
                "required": list(fields)[:count],
                "additionalProperties": False,
            },
            properties,
            st.integers(0, 4),
        ),
        st.builds(lambda item, least: {"type": "array", "items": item, "minItems": least}, children, st.integers(0, 3)),
        st.builds(lambda one, two: {"type": "array", "prefixItems": [one, two], "items": False}, children, children),
        st.builds(lambda one: {"anyOf": [{"type": "null"}, one]}, children),
        st.builds(lambda one, two: {"anyOf": [one, two]}, children, children),
        st.builds(lambda fields: {"allOf": [{"type": "object", "properties": fields, "required": list(fields)}]}, properties),
    )  # fmt: skip


DEFINITIONS = {
    "leaf": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "tree": {
        "type": "object",
        "properties": {
            "left": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["left", "children"],
    },
}
SCHEMAS = st.recursive(LEAVES, _objects, max_leaves=8)


@given(SCHEMAS)
def test_an_answer_fits_any_schema(schema: Any) -> None:
    whole = {**schema, "$defs": DEFINITIONS}
    jsonschema.Draft202012Validator(whole).validate(fill_answer(whole, "the words of the answer"))


@given(st.dictionaries(NAMES, SCHEMAS, max_size=4), st.sampled_from(["notes.txt", None]))
def test_the_arguments_of_a_call_have_all_that_is_required(fields: Any, item: str | None) -> None:
    parameters = {"type": "object", "properties": fields, "required": sorted(fields), "$defs": DEFINITIONS}
    arguments = fill_arguments(ToolSpec("read", parameters=parameters), item, words="please read")
    assert arguments.keys() == fields.keys()
    if item is None:
        jsonschema.Draft202012Validator(parameters).validate(arguments)


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_refers_to_itself_has_an_end(word: str) -> None:
    endless = {word: [{"$ref": "#"}] * 9, "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}
    assert fill_answer(endless, "hi") is not None


def test_a_schema_in_googles_own_spelling_is_read_too() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"names": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": "2"}},
    }
    assert fill_answer(schema, "hi") == {"names": ["hi", "hi"]}
    assert fill_answer({"type": "INTEGER", "minimum": "9" * 5_000}, "hi") == int("9" * 19)


# --- as each dialect asks for it --------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["text", "sure"],
    "additionalProperties": False,
}
CHAT = {"messages": [{"role": "user", "content": "Hello"}]}
GOOGLE = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
FORMAT = {"type": "json_schema", "schema": SCHEMA}
NAMED = {"type": "json_schema", "json_schema": {"name": "said", "schema": SCHEMA, "strict": True}}
JSON = "application/json"
WISHES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": ("openai", "gpt-5.1", CHAT | {"response_format": NAMED}),
    "mistral": ("mistral", "mistral-large-latest", CHAT | {"response_format": NAMED}),
    "responses": (
        "openai-responses",
        "gpt-5.1",
        {"input": "Hello", "text": {"format": FORMAT | {"name": "said", "strict": True}}},
    ),
    "anthropic": ("anthropic", "claude-opus-4-8", CHAT | {"max_tokens": 500, "output_config": {"format": FORMAT}}),
    "gemini": (
        "gemini",
        "gemini-2.5-flash",
        GOOGLE | {"generationConfig": {"responseMimeType": JSON, "responseJsonSchema": SCHEMA}},
    ),
}


def _answered(provider: str, model: str, body: dict[str, Any]) -> str:
    named = body if provider == "gemini" else {"model": model, **body}
    outcome = post(SimulatedProvider(provider), json.dumps(named).encode(), model=model)
    read = json.loads(outcome.reply.body)
    assert outcome.refusal is None, read
    match provider:
        case "openai" | "mistral":
            return read["choices"][0]["message"]["content"]
        case "openai-responses":
            return next(item for item in read["output"] if item["type"] == "message")["content"][0]["text"]
        case "anthropic":
            return read["content"][-1]["text"]
        case _:
            return read["candidates"][0]["content"]["parts"][-1]["text"]


@pytest.mark.parametrize("wish", WISHES)
def test_an_answer_has_the_wanted_form(wish: str) -> None:
    provider, model, body = WISHES[wish]
    assert json.loads(_answered(provider, model, body)) == {
        "text": f'{model} (simulated) heard: "Hello"',
        "sure": False,
    }


def test_any_object_is_given_where_no_schema_is_named() -> None:
    said = _answered("openai", "gpt-5.1", CHAT | {"response_format": {"type": "json_object"}})
    assert json.loads(said) == {"answer": 'gpt-5.1 (simulated) heard: "Hello"'}


def test_a_model_that_thinks_aloud_keeps_to_the_form() -> None:
    asked = [{"role": "user", "content": "think first"}]
    assert json.loads(_answered("mistral", "mistral-large-latest", {"messages": asked, "response_format": NAMED}))
