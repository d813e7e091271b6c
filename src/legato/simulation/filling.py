"""Arguments for a tool, made from a word and the tool's own schema.

In:  what a tool says it takes, and what the user named: a file, a phrase, a whole JSON object, or nothing.
Out: arguments that fit: the named thing in the first text that is asked for, something harmless in whatever else is
     required, nothing in what is optional.
"""

from __future__ import annotations

from typing import cast

from legato.model import Json, JsonObject, ToolSpec


def fill_arguments(tool: ToolSpec, item: str | JsonObject | None, *, words: str) -> JsonObject:
    """Arguments for `tool`. `words` stand in for texts that are required beside the first one."""
    if isinstance(item, dict):
        return item
    properties = _object(tool.parameters.get("properties"))
    required = [name for name in _list(tool.parameters.get("required")) if isinstance(name, str)]
    texts = [name for name in (*required, *properties) if _kind(properties.get(name)) == "string"]
    place = texts[0] if texts and item is not None else None
    arguments: JsonObject = {}
    for name in required:
        schema = _object(properties.get(name))
        if name == place and not _fixed(schema):
            arguments[name] = item
        else:
            arguments[name] = _example(schema, item if item is not None else words)
    if place is not None and place not in arguments:
        arguments[place] = item
    return arguments


def _fixed(schema: JsonObject) -> bool:
    return "const" in schema or "enum" in schema


def _example(schema: JsonObject, words: str, depth: int = 0) -> Json:
    """Something that `schema` allows."""
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if allowed := _list(schema.get("enum")):
        return allowed[0]
    match _kind(schema):
        case "string":
            return words
        case "integer" | "number":
            least = schema.get("minimum")
            return least if isinstance(least, int | float) and least > 1 else 1
        case "boolean":
            return False
        case "array" if depth < _DEEPEST:
            items = _object(schema.get("items"))
            return [_example(items, words, depth + 1)] if schema.get("minItems") or _kind(items) == "string" else []
        case "array":
            return []
        case "object" if depth < _DEEPEST:
            properties = _object(schema.get("properties"))
            names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
            return {name: _example(_object(properties.get(name)), words, depth + 1) for name in names}
        case "object":
            return {}
        case _:
            return None


_DEEPEST = 5


def _kind(schema: Json, depth: int = 0) -> str:
    """The type that a schema asks for; of several the first that is not null."""
    table = _object(schema)
    kind: Json = table.get("type")
    if isinstance(kind, str):
        return kind.lower()  # Google's own schemas write them in capitals
    for choice in _list(kind):
        if isinstance(choice, str) and choice != "null":
            return choice
    for name in ("anyOf", "oneOf", "allOf") if depth < _DEEPEST else ():
        for choice in _list(table.get(name)):
            if (found := _kind(choice, depth + 1)) not in ("", "null"):
                return found
    if "properties" in table:
        return "object"
    return "string" if kind is None and not table.keys() & {"anyOf", "oneOf", "allOf", "$ref"} else ""


def _object(value: Json) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []
