"""The schema of a tool's arguments as every provider reads it: JSON Schema.

In:  a schema as a caller, a file or a request body gave it.
Out: the same in JSON Schema; the same object where nothing had to change. A type that does not exist is left out.

Google's APIs have a form of their own for `parameters`: types are an enumeration in capitals, a type that may be null
has `nullable`, and counts are strings, as protobuf writes 64-bit numbers in JSON
(https://ai.google.dev/api/caching#Schema). Declarations for Gemini are often all that a program has. Everywhere else,
`parametersJsonSchema` of Gemini itself included, such a schema is refused.
"""

from __future__ import annotations

from typing import cast

from legato.model import Json, JsonObject

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
_SCHEMAS = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"})
"""keywords that hold a schema; `items` may hold a list of them"""
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_TABLES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_HOLDING = _SCHEMAS | _LISTS | _TABLES


def arguments_schema(schema: JsonObject) -> JsonObject:
    """`schema` in JSON Schema, for the arguments of a call, which are an object."""
    if not _is_json_schema(schema):
        schema = _in_json_schema(schema)
    return schema if schema.get("type", "object") == "object" else {**schema, "type": "object"}


def _is_json_schema(schema: JsonObject) -> bool:
    """Whether there is certainly nothing to translate: nearly always, and to find out takes a fifth of the time.

    It looks at all that would be translated, and also into lists where a keyword holds none.
    """
    waiting: list[Json] = [schema]
    for one in waiting:
        if isinstance(one, dict):
            for keyword, value in cast(JsonObject, one).items():
                if keyword == "type":
                    if not isinstance(value, str) or value not in _TYPES:
                        return False
                elif keyword in _HOLDING:
                    if keyword in _TABLES and isinstance(value, dict):
                        waiting += cast(JsonObject, value).values()
                    else:
                        waiting.append(value)
        elif isinstance(one, list):
            waiting += cast("list[Json]", one)
    return True


def _in_json_schema(schema: JsonObject) -> JsonObject:
    changed = {name: after for name, value in schema.items() if (after := _below(name, value)) is not value}
    if "type" in schema and not _names_types(schema["type"]):
        return _retyped({**schema, **changed})
    return {**schema, **changed} if changed else schema


def _names_types(value: Json) -> bool:
    """Whether `value` says, as JSON Schema does, of which type something is."""
    kinds = cast("list[Json]", value) if isinstance(value, list) else [value]
    return bool(kinds) and all(isinstance(kind, str) and kind in _TYPES for kind in kinds)


def _below(keyword: str, value: Json) -> Json:
    """What is under `keyword`: schemas are translated; data (`default`, `enum`, `example`) is left alone."""
    if isinstance(value, dict):
        inner = cast(JsonObject, value)
        if keyword in _SCHEMAS:
            return _in_json_schema(inner)
        if keyword in _TABLES:
            table = {name: _schema(item) for name, item in inner.items()}
            return table if any(table[name] is not inner[name] for name in inner) else inner
    elif isinstance(value, list) and keyword in _LISTS:
        items = cast("list[Json]", value)
        schemas = [_schema(item) for item in items]
        return schemas if any(map(_is_other, schemas, items)) else items
    return cast(Json, value)


def _schema(value: Json) -> Json:
    return _in_json_schema(cast(JsonObject, value)) if isinstance(value, dict) else value


def _is_other(one: Json, other: Json) -> bool:
    return one is not other


def _retyped(schema: JsonObject) -> JsonObject:
    """One level of a schema whose type is not one of JSON Schema's; what is below is translated already."""
    given = schema.pop("type")
    is_googles = isinstance(given, str)
    named = cast("list[Json]", given) if isinstance(given, list) else [given]
    types = [kind.lower() for kind in named if isinstance(kind, str) and kind.lower() in _TYPES]
    if is_googles and types and schema.pop("nullable", None) is True and types != ["null"]:
        types.append("null")
    if types:
        schema = {"type": types[0] if len(types) == 1 else list(dict.fromkeys(types)), **schema}
    for keyword in _COUNTS & schema.keys() if is_googles else ():
        count = schema[keyword]
        if isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 19:
            schema[keyword] = int(count)
    return schema
