"""A type that JSON Schema does not have is found wherever a schema can be."""

from __future__ import annotations

from typing import Any

import pytest

from legato.wire.judging import Findings
from legato.wire.judging_schemas import examine_schema

WRONG = {"type": "STRING"}
ONE = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
MANY = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
PLACES: list[tuple[dict[str, Any], str]] = [
    *(({"type": "object", word: WRONG}, word) for word in ONE),
    *(({"type": "object", word: [{"type": "string"}, WRONG]}, f"{word}[1]") for word in MANY),
    *(({"type": "object", word: {"type": WRONG}}, f"{word}.type") for word in NAMED),
]


def found_in(schema: Any) -> list[str]:
    found = Findings()
    examine_schema(schema, "schema", found)
    return [violation.path for violation in found.violations]


@pytest.mark.parametrize(("schema", "place"), PLACES, ids=[place for _, place in PLACES])
def test_a_wrong_type_is_found_and_its_place_named(schema: dict[str, Any], place: str):
    assert found_in(schema) == [f"schema.{place}.type"]
    assert found_in({"type": "array", "items": {"anyOf": [schema]}}) == [f"schema.items.anyOf[0].{place}.type"]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        {"type": ["string", "null"], "additionalProperties": False, "items": True},
        {"properties": {"type": {"type": "string"}}, "enum": ["STRING"], "default": WRONG},
    ],
)
def test_what_is_no_type_or_no_schema_is_passed_over(schema: Any):
    assert found_in(schema) == []
