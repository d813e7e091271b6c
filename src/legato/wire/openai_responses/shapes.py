"""The JSON of the Responses API: items, and the content parts in them."""

from __future__ import annotations

from legato.model import Json, JsonObject, Media, MediaKind, ToolCall
from legato.wire.arguments import encode_json, wire_arguments


def user_text(text: str) -> JsonObject:
    """An item of the human side that is one text."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def message_item(role: str, content: Json) -> JsonObject:
    """A message, which is one of many kinds of items."""
    return {"type": "message", "role": role, "content": content}


def assistant(text: str) -> JsonObject:
    """A message of the model."""
    return {"type": "message", "role": "assistant", "content": text}


def text_part(text: str) -> JsonObject:
    """Text in a human-side item or in an output."""
    return {"type": "input_text", "text": text}


def output_text(text: str) -> JsonObject:
    """Text in a message of the model."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def refusal(text: str) -> JsonObject:
    """What the model says where it refuses."""
    return {"type": "refusal", "refusal": text}


def summary_text(text: str) -> JsonObject:
    """A part of the summary of a thought."""
    return {"type": "summary_text", "text": text}


def reasoning_item(item_id: str, text: str) -> JsonObject:
    """A thought that has nothing but its summary."""
    return {"type": "reasoning", "id": item_id, "summary": [summary_text(text)] if text else []}


def function_call(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call."""
    arguments = encode_json(call.arguments if call.raw is None else wire_arguments(call)).decode()
    return {"type": "function_call", "call_id": wire_id, "name": name, "arguments": arguments}


def written_call(wire_id: str, name: str, arguments: str) -> JsonObject:
    """A call with the arguments as the model wrote them."""
    return {"type": "function_call", "call_id": wire_id, "name": name, "arguments": arguments}


def custom_call(wire_id: str, name: str, source: str) -> JsonObject:
    """A call whose argument is free text."""
    return {"type": "custom_tool_call", "call_id": wire_id, "name": name, "input": source}


def function_output(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call. It has no flag for failures."""
    return {"type": "function_call_output", "call_id": wire_id, "output": text}


def reasoning(item: JsonObject) -> JsonObject:
    """A reasoning item without its id: under `store: false` the server holds nothing of that name."""
    printed: JsonObject = {
        "type": "reasoning",
        "summary": item.get("summary") or [],
        "encrypted_content": item["encrypted_content"],
    }
    if item.get("content"):
        printed["content"] = item["content"]
    return printed


def media_part(media: Media) -> JsonObject:
    """An attachment in a human-side item or in an output."""
    address = media.url if media.data is None else f"data:{media.mime};base64,{media.data}"
    if media.kind is MediaKind.IMAGE:
        return {"type": "input_image", "detail": "auto", "image_url": address}
    if media.data is None:
        return {"type": "input_file", "file_url": address}
    name = media.name or ("document.pdf" if media.mime == "application/pdf" else "document")
    return {"type": "input_file", "filename": name, "file_data": address}
