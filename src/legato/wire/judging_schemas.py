"""Judge the schema of a tool's arguments, as far as every provider that takes JSON Schema agrees about it.

In:  a schema in a request body, and where it is.
Out: findings about types that JSON Schema does not have.
"""

from __future__ import annotations

from typing import Any, cast

from legato.model import Json, JsonObject
from legato.model.lasting import Lasting
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.rules import refused

SCHEMA_TYPE = refused(
    "json/schema-type",
    "The schema of a tool's arguments is JSON Schema, whose types are `object`, `string` and so on: not those that "
    "Google's own form has in capitals.",
    source=(
        "https://json-schema.org/draft/2020-12/json-schema-validation#name-type",
        "google-gemini/gemini-cli#2881",
    ),
    error="Invalid schema for function: '{value}' is not valid under any of the given schemas",
)

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_HOLD_ONE = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_HOLD_MANY = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_HOLD_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


_HOLDING = frozenset((*_HOLD_ONE, *_HOLD_MANY, *_HOLD_NAMED))


def examine_schema(schema: Json, path: str, found: Findings) -> None:
    """Judge `schema`, which is at `path`. Iterative, because a body may be nested to any depth."""
    if _is_in_order(schema):  # nearly always, and to find out takes a fraction of the time without the paths
        return
    waiting = [(schema, path)]
    while waiting:
        schema, path = waiting.pop()
        if not is_object(schema):
            continue
        kinds = schema.get("type")
        for kind in kinds if is_list(kinds) else () if kinds is None else (kinds,):
            if not isinstance(kind, str) or kind not in _TYPES:
                found.report(SCHEMA_TYPE, f"{path}.type", f"{brief(kind)} is no type of JSON Schema")
        waiting += [(schema[keyword], f"{path}.{keyword}") for keyword in _HOLD_ONE if keyword in schema]
        for keyword in _HOLD_MANY:
            if is_list(below := schema.get(keyword)):
                waiting += [(item, f"{path}.{keyword}[{index}]") for index, item in enumerate(below)]
        for keyword in _HOLD_NAMED:
            if is_object(named := schema.get(keyword)):
                waiting += [(item, f"{path}.{keyword}.{name}") for name, item in named.items()]


def examine_schema_of(tool: JsonObject, tools: list[Any], schema: Json, path: str, found: Findings) -> None:
    """Judge the `schema` of `tool`, one of `tools`; it is at `path`."""
    if not (isinstance(tools, Lasting) and tools.about(tool, _is_in_order, schema)):
        examine_schema(schema, path, found)


def _is_in_order(schema: Json) -> bool:
    """Whether there is certainly nothing to find; looks at the same values in any order, and at some others too."""
    waiting: list[Any] = [schema]
    for one in waiting:
        if isinstance(one, dict):
            for keyword, value in cast(JsonObject, one).items():
                if keyword == "type":
                    if not isinstance(value, str) or value not in _TYPES:
                        return False
                elif keyword in _HOLDING:
                    if keyword in _HOLD_NAMED and isinstance(value, dict):
                        waiting += cast(JsonObject, value).values()
                    else:
                        waiting.append(value)
        elif isinstance(one, list):
            waiting += cast("list[Json]", one)
    return True
