"""The form of an answer (`OutputFormat`) in the words of each dialect, and back.

A reader takes what it understands out of the body; a form that is not JSON, or one that it does not know, stays there.
"""

from __future__ import annotations

import re

import msgspec

from legato.errors import IngestError
from legato.model import JsonObject, OutputFormat, read_json_leniently
from legato.model.json_access import as_object, as_text
from legato.wire.options.paths import take

_JSON = "application/json"
_DEFAULT_NAME = "answer"


# --- OpenAI's, in both APIs, and those of its family ------------------------------------------------------------------


def write_chat_format(output: OutputFormat) -> JsonObject:
    """As a field of a chat request."""
    if output.schema is None:
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": _openai_schema(output)}}


def read_chat_format(body: JsonObject) -> OutputFormat | None:
    """From a chat request."""
    return take(body, "response_format", lambda value: _read_openai(as_object(value), "json_schema"))


def write_responses_format(output: OutputFormat) -> JsonObject:
    """As a field of a request to the Responses API."""
    if output.schema is None:
        return {"text": {"format": {"type": "json_object"}}}
    return {"text": {"format": {"type": "json_schema", **_openai_schema(output)}}}


def read_responses_format(body: JsonObject) -> OutputFormat | None:
    """From a request to the Responses API."""
    return take(body, "text.format", lambda value: _read_openai(as_object(value), ""))


def _openai_schema(output: OutputFormat) -> JsonObject:
    # The name is demanded, and may consist of these characters only.
    written: JsonObject = {"name": re.sub(r"[^a-zA-Z0-9_-]", "_", output.name)[:64] or _DEFAULT_NAME}
    if output.description:
        written["description"] = output.description
    written["schema"] = output.schema
    if output.strict is not None:
        written["strict"] = output.strict
    return written


def _read_openai(form: JsonObject, inside: str) -> OutputFormat | None:
    if form.get("type") == "json_object" and len(form) == 1:
        return OutputFormat()
    if inside and form.keys() - {"type", inside}:
        return None
    described = as_object(form.get(inside)) if inside else {key: form[key] for key in form if key != "type"}
    known = {"name", "description", "schema", "strict"}
    if form.get("type") != "json_schema" or described.keys() - known or not isinstance(described.get("schema"), dict):
        return None
    strict = described.get("strict")
    return OutputFormat(
        schema=as_object(described["schema"]),
        name=as_text(described.get("name")),
        description=as_text(described.get("description")),
        strict=strict if isinstance(strict, bool) else None,
    )


# --- the others -------------------------------------------------------------------------------------------------------


def write_claude_format(output: OutputFormat) -> JsonObject:
    """As a field of a request to the Messages API, which has schemas only."""
    return {"output_config": {"format": {"type": "json_schema", "schema": output.schema}}}


def read_claude_format(body: JsonObject) -> OutputFormat | None:
    """From a request to the Messages API."""

    def understand(value: object) -> OutputFormat | None:
        form = as_object(value)
        is_known = form.keys() == {"type", "schema"} and form["type"] == "json_schema"
        return OutputFormat(schema=as_object(form["schema"])) if is_known and form["schema"] else None

    return take(body, "output_config.format", understand)


def write_gemini_format(output: OutputFormat) -> JsonObject:
    """As fields of `generationConfig`."""
    config: JsonObject = {"responseMimeType": _JSON}
    if output.schema is not None:
        config["responseJsonSchema"] = output.schema
    return {"generationConfig": config}


def read_gemini_format(body: JsonObject) -> OutputFormat | None:
    """From `generationConfig`. Google's own kind of schema is copied: it goes home as it came."""
    config = as_object(body.get("generationConfig"))
    schema, own = as_object(config.get("responseJsonSchema")), as_object(config.get("responseSchema"))
    if config.get("responseMimeType") != _JSON or not isinstance(config.get("responseJsonSchema", {}), dict):
        return None
    take(body, "generationConfig.responseJsonSchema", lambda value: value)
    if not own:
        take(body, "generationConfig.responseMimeType", lambda value: value)
    return OutputFormat(schema=schema or own or None)


def write_vercel_format(output: OutputFormat) -> JsonObject:
    """As the AI SDK gives it to a model."""
    form: JsonObject = {"type": "json"}
    if output.schema is not None:
        form["schema"] = output.schema
    if output.name:
        form["name"] = output.name
    if output.description:
        form["description"] = output.description
    return {"responseFormat": form}


def read_vercel_format(body: JsonObject) -> OutputFormat | None:
    """From what the AI SDK gives to a model."""

    def understand(value: object) -> OutputFormat | None:
        form = as_object(value)
        schema = form.get("schema")
        if form.get("type") != "json" or form.keys() - {"type", "schema", "name", "description"}:
            return None
        return OutputFormat(
            schema=as_object(schema) if isinstance(schema, dict) else None,
            name=as_text(form.get("name")),
            description=as_text(form.get("description")),
        )

    return take(body, "responseFormat", understand)


def write_bedrock_format(output: OutputFormat) -> JsonObject:
    """As a field of a Converse request, which takes the schema as text."""
    schema: JsonObject = {"schema": msgspec.json.encode(output.schema).decode()}
    if output.name:
        schema["name"] = output.name
    if output.description:
        schema["description"] = output.description
    return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}}


def read_bedrock_format(body: JsonObject) -> OutputFormat | None:
    """From a Converse request."""

    def understand(value: object) -> OutputFormat | None:
        form = as_object(value)
        described = as_object(as_object(form.get("structure")).get("jsonSchema"))
        if form.get("type") != "json_schema" or described.keys() - {"schema", "name", "description"}:
            return None
        try:
            schema = as_object(read_json_leniently(as_text(described.get("schema"))))
        except IngestError:
            return None
        name, description = as_text(described.get("name")), as_text(described.get("description"))
        return OutputFormat(schema=schema, name=name, description=description) if schema else None

    return take(body, "outputConfig.textFormat", understand)
