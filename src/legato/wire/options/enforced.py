"""What a JSON schema must be like for a provider that enforces it."""

from __future__ import annotations

from legato.model import JsonObject
from legato.model.json_access import as_list, as_object


def is_closed(schema: JsonObject) -> bool:
    """Whether every object in `schema` names all its properties, requires them, and allows no others.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if schema.get("type") == "object" or "properties" in schema:
        properties = as_object(schema.get("properties"))
        required = [name for name in as_list(schema.get("required")) if isinstance(name, str)]
        if schema.get("additionalProperties") is not False or properties.keys() - set(required):
            return False
        if not all(is_closed(as_object(part)) for part in properties.values()):
            return False
    inner = [schema.get("items"), *as_list(schema.get("anyOf")), *as_object(schema.get("$defs")).values()]
    return all(is_closed(as_object(part)) for part in inner if part)


def closed(schema: JsonObject) -> JsonObject:
    """`schema` with objects that allow no properties but their own.

    https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations
    """
    written: JsonObject = {}
    for name, value in schema.items():
        if name in ("properties", "$defs", "definitions"):
            written[name] = {key: closed(as_object(part)) for key, part in as_object(value).items()}
        elif name in ("anyOf", "allOf", "oneOf"):
            written[name] = [closed(as_object(part)) for part in as_list(value)]
        elif name == "items" and isinstance(value, dict):
            written[name] = closed(as_object(value))
        else:
            written[name] = value
    if schema.get("type") == "object":
        written["additionalProperties"] = False
    return written
