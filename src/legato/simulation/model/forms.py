"""The form in which an answer is wanted: structured output, as each dialect asks for it.

In:  a request body.
Out: a JSON schema that the answer has to fit, or None if it may be any text.
"""

from __future__ import annotations

import msgspec

from legato.model import Dialect, JsonObject
from legato.model.json_access import as_object, as_objects, as_text
from legato.wire.options.formats import read_bedrock_format
from legato.wire.phrases import FITS_SCHEMA

_ANY_OBJECT: JsonObject = {"type": "object", "properties": {"answer": {"type": "string"}}}
"""for a request that wants JSON and does not say which"""


def wanted_form(body: JsonObject, dialect: Dialect) -> JsonObject | None:
    """The schema of the answer."""
    match dialect:
        case Dialect.OPENAI_CHAT:
            wanted = as_object(body.get("response_format"))
            described = as_object(wanted.get("json_schema"))
            schema = described.get("schema", described.get("schema_definition"))
            return _told_form(body) if wanted.get("type") == "json_object" else _form(wanted.get("type"), schema)
        case Dialect.OPENAI_RESPONSES:
            wanted = as_object(as_object(body.get("text")).get("format"))
            return _form(wanted.get("type"), wanted.get("schema"))
        case Dialect.ANTHROPIC:
            wanted = as_object(as_object(body.get("output_config")).get("format") or body.get("output_format"))
            return _form(wanted.get("type"), wanted.get("schema"))
        case Dialect.GEMINI:
            return _of_google(as_object(body.get("generationConfig") or body.get("generation_config")))
        case Dialect.BEDROCK:
            output = read_bedrock_format({"outputConfig": body.get("outputConfig")})
            return None if output is None else output.schema
        case Dialect.VERCEL:
            wanted = as_object(body.get("responseFormat"))
            return _form("json_schema" if wanted.get("type") == "json" else None, wanted.get("schema") or _ANY_OBJECT)


def _form(kind: object, schema: object) -> JsonObject | None:
    if kind == "json_schema":
        return as_object(schema)
    return _ANY_OBJECT if kind == "json_object" else None


def _told_form(body: JsonObject) -> JsonObject:
    """The schema that the instructions of a chat tell; one for any object if they tell none."""
    for message in as_objects(body.get("messages")):
        told = as_text(message.get("content")).partition(FITS_SCHEMA)[2]
        if told and message.get("role") == "system":
            try:
                return as_object(msgspec.json.decode(told.partition("\n")[0]))
            except msgspec.DecodeError:
                break
    return _ANY_OBJECT


def _of_google(config: JsonObject) -> JsonObject | None:
    if "application/json" not in (config.get("responseMimeType"), config.get("response_mime_type")):
        return None
    for name in ("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema"):
        if schema := as_object(config.get(name)):
            return schema
    return _ANY_OBJECT
