"""Read ShareGPT conversations: turns of `from` and `value`, mostly without ids; then order pairs calls and results."""

from __future__ import annotations

from legato.errors import IngestError
from legato.formats.blocks import response, text_blocks
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, first_id, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head, Layout
from legato.model import Authority, Json, JsonObject, Speaker, ToolCall, ToolSpec, ingest, read_json_leniently
from legato.wire.arguments import read_arguments

_SPEAKERS = {
    "human": "human",
    "user": "human",
    "gpt": "ai",
    "chatgpt": "ai",
    "assistant": "ai",
    "bing": "ai",
    "bard": "ai",
    "model": "ai",
    "system": "system",
    "function_call": "call",
    "tool_call": "call",
    "observation": "result",
    "tool": "result",
    "function": "result",
    "function_response": "result",
    "tool_response": "result",
}


def read(content: Content) -> list[Document]:
    """Every conversation of the file."""
    if content.layout is Layout.LINES:
        drafts = [_conversation(item.value, item.place, content) for item in content.lines()]
        return content.finish(*[draft for draft in drafts if draft is not None])
    value = content.value()
    several = as_objects(value) if isinstance(value, list) else []
    if not several:
        draft = _conversation(as_object(value), "", content)
        return content.finish(draft) if draft is not None else []
    drafts = [_conversation(item, f"[{index}]", content) for index, item in enumerate(several)]
    return content.finish(*[draft for draft in drafts if draft is not None])


def _conversation(record: JsonObject, place: str, content: Content) -> DocumentDraft | None:
    key = "conversations" if "conversations" in record else "conversation"
    turns = record.get(key)
    if not isinstance(turns, list):
        return None
    draft = content.draft(f"{content.name}, {place}" if place else "")
    draft.meta["session"] = first_text(record, "id")
    system = first_text(record, "system")
    draft.system += [system] if system else []
    draft.tools = _tools(record.get("tools"))
    prefix = f"{place}.{key}" if place.startswith("[") else f"{place}, {key}" if place else key
    for index, turn in enumerate(as_list(turns)):
        _turn(as_object(turn), f"{prefix}[{index}]", draft)
    return draft


def _turn(turn: JsonObject, place: str, draft: DocumentDraft) -> None:
    name = as_text(turn.get("from"))
    value: Json = turn.get("value")
    text = value if isinstance(value, str) else ""
    match _SPEAKERS.get(name.lower()):
        case "human":
            draft.human(text_blocks(text), place)
        case "ai":
            draft.say(Speaker.AI, text_blocks(text), place)
        case "system":
            draft.say(Speaker.HUMAN, text_blocks(text), place, authority=Authority.INSTRUCTION)
        case "call":
            draft.say(Speaker.AI, _calls(value) or text_blocks(text), place)
        case "result":
            wire_id = first_id(turn, "tool_call_id", "call_id")
            draft.results([response(wire_id, "", value if value is None or text else ingest(value))], place)
        case _:
            draft.unknown(place, f"a turn from {name!r}")


def _calls(value: Json) -> list[ToolCall]:
    """The calls that a turn holds as JSON: one object, or a list of them."""
    if isinstance(value, str):
        try:
            value = read_json_leniently(value)
        except IngestError:
            return []
    items = as_objects(value) if isinstance(value, list) else [as_object(value)]
    calls: list[ToolCall] = []
    for item in items:
        function = as_object(item.get("function")) or item
        if name := as_text(function.get("name")):
            arguments, raw, finished = read_arguments(function.get("arguments", function.get("parameters")))
            wire_id = first_id(item, "id", "call_id", "tool_call_id")
            calls.append(ToolCall(name, arguments, wire_id, raw=raw, finished=finished))
    return calls


def _tools(value: Json) -> list[ToolSpec]:
    """Definitions, which these files mostly hold as JSON inside a string."""
    if isinstance(value, str):
        try:
            value = read_json_leniently(value)
        except IngestError:
            return []
    tools: list[ToolSpec] = []
    for item in as_objects(value):
        function = as_object(item.get("function")) or item
        name, described = as_text(function.get("name")), as_text(function.get("description"))
        schema = as_object(function.get("parameters"))
        if name:
            tools.append(ToolSpec(name, described, ingest(schema)) if schema else ToolSpec(name, described))
    return tools


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    for record in (*head.records, *head.items):
        for item in as_objects(record.get("conversations") or record.get("conversation")):
            if "from" in item and "value" in item:
                return "conversations of from and value"
    return ""


FORMAT = Format(
    name="sharegpt",
    title="ShareGPT conversations",
    known_from="published descriptions",
    read=read,
    detect=_detect,
    marks=marks("conversations"),
)
