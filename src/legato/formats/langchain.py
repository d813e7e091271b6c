"""Read dumped LangChain messages: `dumps` (objects with `lc` and a class path) and `messages_to_dict`.

They are read as the data they are. No class that a file names is ever loaded, let alone called.
"""

from __future__ import annotations

from legato.formats.blocks import is_call, read_call, read_result, split_content
from legato.formats.content import Content
from legato.formats.document import Document, DocumentDraft
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import (
    Authority,
    Block,
    Ending,
    Json,
    JsonObject,
    Speaker,
    Thinking,
    ToolCall,
)
from legato.wire.arguments import read_arguments

_KINDS = {
    "HumanMessage": "human",
    "HumanMessageChunk": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "SystemMessage": "system",
    "SystemMessageChunk": "system",
    "ToolMessage": "tool",
    "ToolMessageChunk": "tool",
    "FunctionMessage": "function",
    "FunctionMessageChunk": "function",
    "ChatMessage": "chat",
    "ChatMessageChunk": "chat",
    "RemoveMessage": "remove",
}
_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "HumanMessageChunk", "AIMessageChunk", "ToolMessageChunk"}
)
_ROLES = {"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}
_ENDINGS = {
    "stop": Ending.DONE,
    "end_turn": Ending.DONE,
    "tool_calls": Ending.CALLS,
    "tool_use": Ending.CALLS,
    "length": Ending.LENGTH,
    "max_tokens": Ending.LENGTH,
    "content_filter": Ending.REFUSED,
    "refusal": Ending.REFUSED,
}
_PIECES = frozenset({"input_json_delta", "tool_call_chunk"})
"""what calls were made of while they were streamed"""


def read(content: Content) -> list[Document]:
    """The conversation; a file of lines with a list of messages on each has one a line."""
    if content.layout is Layout.LINES:
        return _lines(content)
    draft = content.draft()
    reader = _Reader(draft)
    for item in content.items("messages"):
        reader.message(item.value, item.place)
    return content.finish(draft)


def _lines(content: Content) -> list[Document]:
    drafts: list[DocumentDraft] = []
    flat: _Reader | None = None
    for item in content.lines():
        messages = as_objects(item.value.get("messages"))
        if messages:
            draft = content.draft(f"{content.name}, {item.place}")
            reader = _Reader(draft)
            for index, message in enumerate(messages):
                reader.message(message, f"{item.place}, messages[{index}]")
            drafts.append(draft)
            continue
        if flat is None:
            flat = _Reader(content.draft())
            drafts.append(flat.draft)
        flat.message(item.value, item.place)
    return content.finish(*drafts)


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft

    def message(self, item: JsonObject, place: str) -> None:
        kind, data = _unwrapped(item)
        match kind:
            case "human":
                self.draft.human(self._content(data, place), place)
            case "system":
                self.draft.human(self._content(data, place), place, authority=Authority.INSTRUCTION)
            case "ai":
                self.answer(data, place)
            case "tool" | "function":
                self.result(data, place)
            case _:
                self.draft.note(place, f"a message of type {kind!r} is not understood and was left out")

    def _content(self, data: JsonObject, place: str) -> list[Block]:
        blocks, unknown = split_content(data.get("content"))
        self.draft.note_unknown(unknown, place)
        return [*blocks, *_calls(data, {})]

    def answer(self, data: JsonObject, place: str) -> None:
        info = as_object(data.get("response_metadata"))
        model = first_text(info, "model_name", "model")
        provider = provider_named(first_text(info, "model_provider")) or provider_of_model(model)
        if model:
            self.draft.model, self.draft.route = model, route_of(provider, model)
        extra = as_object(data.get("additional_kwargs"))
        blocks: list[Block] = []
        if text := first_text(extra, "reasoning_content"):
            blocks.append(Thinking(text))
        calls = _calls(data, extra)
        blocks += self._spoken(data.get("content"), place, {call.wire_id for call in calls})
        ending = _ENDINGS.get(first_text(info, "finish_reason", "stop_reason", "done_reason"))
        origin = origin_of(provider, model)
        self.draft.say(Speaker.AI, [*blocks, *calls], place, origin=origin, ending=ending)

    def _spoken(self, content: Json, place: str, told: set[str]) -> list[Block]:
        """The content of an answer. Its calls are in `tool_calls` as well, mostly: those of `told` are read there."""
        blocks: list[Block] = []
        for index, item in enumerate([content] if isinstance(content, str | dict) else as_list(content)):
            part = as_object(item)
            kind = as_text(part.get("type"))
            if kind in _PIECES or (is_call(part) and read_call(part).wire_id in told):
                continue
            if kind in ("thinking", "reasoning", "redacted_thinking", "reasoning_content"):
                if block := _thought(part):
                    blocks.append(block)
                continue
            read, unknown = split_content(item)
            blocks += read
            self.draft.note_unknown([(index, part) for _, part in unknown], place)
        return blocks

    def result(self, data: JsonObject, place: str) -> None:
        is_error = data.get("status") == "error"
        self.draft.results([read_result({**data, "id": None, "is_error": is_error})], place)


def _unwrapped(item: JsonObject) -> tuple[str, JsonObject]:
    """The kind of a message and its fields, from either form."""
    if "lc" in item:
        path = as_list(item.get("id"))
        name = as_text(path[-1]) if path else ""
        kind, data = _KINDS.get(name, f"class {name}"), as_object(item.get("kwargs"))
    else:
        name, data = as_text(item.get("type")), as_object(item.get("data"))
        kind = _KINDS.get(name, name)
    if kind == "chat":
        kind = _ROLES.get(as_text(data.get("role")), "chat")
    return kind, data


def _calls(data: JsonObject, extra: JsonObject) -> list[ToolCall]:
    calls = [_call(call, call.get("args")) for call in as_objects(data.get("tool_calls"))]
    calls += [_call(call, call.get("args")) for call in as_objects(data.get("invalid_tool_calls"))]
    if not calls:
        for call in as_objects(extra.get("tool_calls")):
            function = as_object(call.get("function"))
            calls.append(_call({**function, "id": call.get("id")}, function.get("arguments")))
        if legacy := as_object(extra.get("function_call")):
            calls.append(_call(legacy, legacy.get("arguments")))
    return calls


def _call(call: JsonObject, arguments: Json) -> ToolCall:
    value, raw, finished = read_arguments(arguments)
    return ToolCall(as_text(call.get("name")), value, as_id(call.get("id")), raw=raw, finished=finished)


def _thought(part: JsonObject) -> Thinking | None:
    if data := as_text(part.get("data")):
        return Thinking(native={"data": data})
    text = first_text(part, "thinking", "reasoning", "text", "reasoning_content")
    summary = "\n\n".join(as_text(item.get("text")) for item in as_objects(part.get("summary")))
    signature = as_text(part.get("signature"))
    text = text or summary
    return Thinking(text, native={"signature": signature} if signature else None) if text or signature else None


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    records = (*head.records, *head.items)
    held = (item for record in records for item in as_objects(record.get("messages")))
    return "dumped LangChain messages" if any(map(_is_message, (*records, *held))) else ""


def _is_message(item: JsonObject) -> bool:
    if "lc" in item and isinstance(item.get("id"), list):
        return True
    return as_text(item.get("type")) in _TYPES and "content" in as_object(item.get("data"))


FORMAT = Format(
    name="langchain",
    title="LangChain messages",
    read=read,
    detect=_detect,
    marks=marks("lc", "type data"),
)
