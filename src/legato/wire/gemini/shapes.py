"""The JSON of `generateContent`: parts, and the contents around them."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Json, JsonObject, Media, ToolCall
from legato.wire.arguments import wire_arguments
from legato.wire.projection.grammar import MediaRule

REACHABLE = MediaRule(addresses=("https://", "gs://"))
"""the attachments that can be sent at all: data of any type, or an address where the API looks"""


def user(parts: Sequence[JsonObject]) -> JsonObject:
    """A content of the human side."""
    return {"role": "user", "parts": parts}


def model(parts: Sequence[JsonObject]) -> JsonObject:
    """A content of the model."""
    return {"role": "model", "parts": parts}


def text_part(text: str) -> JsonObject:
    """Text."""
    return {"text": text}


def thought_part(text: str) -> JsonObject:
    """A thought, without its signature."""
    return {"text": text, "thought": True}


def user_text(text: str) -> JsonObject:
    """A content of the human side that is one text."""
    return {"role": "user", "parts": [{"text": text}]}


def function_call(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call, with an id where the model has them."""
    arguments = call.arguments if call.raw is None else wire_arguments(call)
    if wire_id:
        return {"functionCall": {"name": name, "args": arguments, "id": wire_id}}
    return {"functionCall": {"name": name, "args": arguments}}


def function_response(wire_id: str, name: str, value: Json, failed: bool) -> JsonObject:
    """The result of a call: `result` or `error` under a fixed key."""
    response: JsonObject = {"name": name, "response": {"error" if failed else "result": value}}
    if wire_id:
        response["id"] = wire_id
    return {"functionResponse": response}


def call_without_id(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call to a model that has no ids."""
    return function_call("", name, call)


def response_without_id(wire_id: str, name: str, value: Json, failed: bool) -> JsonObject:
    """The result of a call to a model that has no ids."""
    return function_response("", name, value, failed)


def media_part(media: Media) -> JsonObject:
    """An attachment: its data, or its address."""
    if media.data is not None:
        return {"inlineData": {"mimeType": media.mime, "data": media.data}}
    file: JsonObject = {"fileUri": media.url}
    if media.mime and not media.mime.endswith("/*"):
        file["mimeType"] = media.mime
    return {"fileData": file}
