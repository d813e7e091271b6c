"""Read LangChain messages in any of their forms, by themselves or in the state of a graph.

They are read as the data they are. No class that a file names is ever loaded, let alone called.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec.structs import replace

from legato.formats.blocks import is_call, read_call, read_result, split_content
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_id, first_text
from legato.formats.head import Layout
from legato.formats.langchain.checkpoints import states
from legato.formats.langchain.forms import CALL_SIGNATURES, is_message, messages_in, unwrapped
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import (
    Authority,
    Block,
    Ending,
    HostedTool,
    Json,
    JsonObject,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ingest,
)
from legato.wire.anthropic.decode import read_blocks
from legato.wire.arguments import read_arguments
from legato.wire.openai_responses.reading import blocks_of

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
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})
_ITEMS = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
          "mcp_list_tools", "mcp_approval_request", "computer_call", "local_shell_call", "custom_tool_call",
          "tool_search_call", "compaction")  # fmt: skip
"""items of OpenAI's Responses API, which its integration leaves as they are"""


def read(content: Content) -> list[Document]:
    """The conversation; a file of lines, or a list, with a state in each has one in each."""
    if content.layout is Layout.LINES:
        return _lines(content)
    if content.layout is Layout.DATABASE:
        return _threads(content)
    value = content.value()
    if isinstance(value, dict) and not is_message(as_object(value)):
        draft = content.draft()
        take_state(draft, as_object(value))
        return content.finish(draft)
    items: list[Json] = as_list(value) if isinstance(value, list) else [as_object(value)]
    if any(map(is_message, map(as_object, items))) or not any(map(messages_in, map(as_object, items))):
        draft = content.draft()
        take_messages(draft, items)
        return content.finish(draft)
    drafts: list[DocumentDraft] = []
    for index, item in enumerate(items):
        if messages_in(as_object(item)):
            drafts.append(content.draft(f"{content.name}, [{index}]"))
            take_state(drafts[-1], as_object(item), f"[{index}].")
    return content.finish(*drafts)


def read_messages(messages: Iterable[Json], *, name: str = "") -> Document:
    """The conversation in messages as LangChain dumps them: what an integration has in its hands, without a file."""
    draft = DocumentDraft("langchain", name)
    take_messages(draft, messages)
    return draft.finish(digest="")


def take_messages(draft: DocumentDraft, messages: Iterable[Json], place: str = "") -> None:
    """Read messages into `draft`; `place` comes before the index of each."""
    reader = _Reader(draft)
    for index, item in enumerate(messages):
        if isinstance(item, dict):
            reader.message(as_object(item), f"{place}[{index}]")
        else:
            draft.note(f"{place}[{index}]", "is no object and was left out")


def take_state(draft: DocumentDraft, state: JsonObject, prefix: str = "") -> None:
    """Read the messages of a graph's state; a second list of them is not part of the conversation, and is named."""
    found = messages_in(state) or {"messages": list[object](as_list(state.get("messages")))}
    for number, (place, messages) in enumerate(found.items()):
        if number == 0:
            take_messages(draft, messages, prefix + place)
        else:
            draft.note(prefix + place, f"another list of {len(messages)} messages in the same state was left out")


def _threads(content: Content) -> list[Document]:
    drafts: list[DocumentDraft] = []
    with content.database() as database:
        for draft, state in states(content, database):
            if messages_in(state):
                take_state(draft, state)
            if draft.entries or draft.notes:
                drafts.append(draft)
    return content.finish(*drafts)


def _lines(content: Content) -> list[Document]:
    drafts: list[DocumentDraft] = []
    flat: _Reader | None = None
    for item in content.lines():
        if not is_message(item.value) and messages_in(item.value):
            drafts.append(content.draft(f"{content.name}, {item.place}"))
            take_state(drafts[-1], item.value, f"{item.place}, ")
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
        kind, data = unwrapped(item)
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
                self.draft.unknown(place, f"a message of type {kind!r}")

    def result(self, data: JsonObject, place: str) -> None:
        content: Json = data.get("content")
        content = [_named(item) for item in as_list(content)] if isinstance(content, list) else content
        is_error = data.get("status") == "error"
        self.draft.results([read_result({**data, "content": content, "id": None, "is_error": is_error})], place)

    def _content(self, data: JsonObject, place: str) -> list[Block]:
        content: Json = data.get("content")
        items: list[Json] = [content] if isinstance(content, str | dict) else as_list(content)
        said = [block for index, item in enumerate(items) for block in self._said(item, index, place)]
        return [*said, *_calls(data, {})]

    def answer(self, data: JsonObject, place: str) -> None:
        info = as_object(data.get("response_metadata"))
        model = first_text(info, "model_name", "model")
        provider = provider_named(first_text(info, "model_provider"), model) or provider_of_model(model)
        content: Json = data.get("content")
        items: list[Json] = [content] if isinstance(content, str | dict) else as_list(content)
        if provider == "openai" and (info.get("object") == "response" or any(map(_is_item, map(as_object, items)))):
            provider = "openai-responses"
        if model:
            self.draft.model, self.draft.route = model, route_of(provider, model)
        extra = as_object(data.get("additional_kwargs"))
        calls = _calls(data, extra)
        blocks: list[Block] = []
        if text := first_text(extra, "reasoning_content"):
            blocks.append(Thinking(text))
        for index, item in enumerate(items):
            self._answered(item, index, place, blocks, calls)
        if text := first_text(extra, "refusal"):
            blocks.append(Text(text))
        ending = _ENDINGS.get(first_text(info, "finish_reason", "stop_reason", "done_reason"))
        origin = origin_of(provider, model)
        signatures = as_object(extra.get(CALL_SIGNATURES))
        said = [_signed(block, provider, signatures) for block in (*blocks, *calls)]
        self.draft.say(Speaker.AI, said, place, origin=origin, ending=ending)

    def _answered(self, item: Json, index: int, place: str, blocks: list[Block], calls: list[ToolCall]) -> None:
        """One part of an answer. Its calls are in `tool_calls` as well, mostly: then they are those, in this place."""
        part = as_object(item)
        kind = as_text(part.get("type"))
        if kind in _PIECES:
            return
        if is_call(part) or kind == "invalid_tool_call":
            wire_id = first_id(part, "call_id", "id")
            known = next((at for at, call in enumerate(calls) if call.wire_id == wire_id), None)
            blocks.append(read_call(part) if known is None else calls.pop(known))
        elif kind in _THOUGHTS:
            blocks += blocks_of(part) if _is_item(part) else _thought(part)
        elif kind in _ITEMS:
            blocks += blocks_of(part)
        elif kind == "executable_code":
            ran: JsonObject = {"code": part.get("executable_code"), "language": part.get("language")}
            blocks.append(HostedTool("code_execution", ran, wire_id=as_id(part.get("id"))))
        elif kind == "code_execution_result":
            _give(blocks, as_id(part.get("tool_call_id")), part.get("code_execution_result"))
        elif kind == "server_tool_call":
            value = read_arguments(part.get("args")).value
            blocks.append(HostedTool(as_text(part.get("name")), value, wire_id=as_id(part.get("id"))))
        elif kind == "server_tool_result":
            _give(blocks, as_id(part.get("tool_call_id")), part.get("output"))
        elif kind in ("server_tool_use", "mcp_tool_use") or kind.endswith("_tool_result"):
            _use(blocks, part)
        else:
            signature = first_text(as_object(part.get("extras")), "signature")
            said = self._said(item, index, place)
            blocks += [replace(block, native={"signature": signature}) for block in said] if signature else said

    def _said(self, item: Json, index: int, place: str) -> list[Block]:
        """A part that either side may say: words, media, and calls and results on the wrong side."""
        part = as_object(item)
        kind = as_text(part.get("type"))
        if kind == "non_standard" and isinstance(part.get("value"), dict):
            return self._said(part["value"], index, place)
        if kind == "refusal":
            return [Text(as_text(part["refusal"]))] if part.get("refusal") else []
        if kind in ("text-plain", "text", "file") and isinstance(part.get("text"), str):
            return [Text(as_text(part["text"]))] if part["text"] else []
        read, unknown = split_content(_named(item))
        self.draft.note_unknown([(index, part) for _, part in unknown], place)
        return read


def _signed(block: Block, provider: str, signatures: JsonObject) -> Block:
    """A block with the signature of Gemini in its own field; what another provider signed is a thought, and no text."""
    if provider not in ("gemini", "vertex"):
        return replace(block, native=None) if isinstance(block, Text) and "signature" in (block.native or {}) else block
    own = signatures.get(block.wire_id) if isinstance(block, ToolCall) else (block.native or {}).get("signature")
    return replace(block, native={"thoughtSignature": as_text(own)}) if own else block


def _named(item: Json) -> Json:
    """A part of a content with the name that it has among its extras."""
    name = first_text(as_object(as_object(item).get("extras")), "name", "filename")
    return {"name": name, **as_object(item)} if name else item


def _is_item(part: JsonObject) -> bool:
    """Whether a part is an item of the Responses API as it came."""
    kind = as_text(part.get("type"))
    return kind in _ITEMS or (kind == "reasoning" and ("encrypted_content" in part or "summary" in part))


def _give(blocks: list[Block], wire_id: str, output: Json) -> None:
    """What a provider's own tool gave, to its call."""
    for at, block in enumerate(blocks):
        if isinstance(block, HostedTool) and block.wire_id == wire_id and block.result is None:
            blocks[at] = replace(block, result=ingest(output))
            return
    blocks.append(HostedTool("unknown", result=ingest(output), wire_id=wire_id))


def _use(blocks: list[Block], part: JsonObject) -> None:
    """A use of one of Anthropic's own tools, or its result, which joins the use."""
    last = blocks[-1] if blocks else None
    held: list[JsonObject] = as_objects((last.native or {}).get("blocks")) if isinstance(last, HostedTool) else []
    made = read_blocks([*held, part], str)
    if held and len(made) == 1:
        blocks[-1] = made[0]
    else:
        blocks += made[-1:]


def _calls(data: JsonObject, extra: JsonObject) -> list[ToolCall]:
    told = chain(as_objects(data.get("tool_calls")), as_objects(data.get("invalid_tool_calls")))
    calls = [_call(call, call.get("args")) for call in told]
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


def _thought(part: JsonObject) -> list[Block]:
    part = {**part, **as_object(part.get("reasoning_content"))}  # Bedrock's have an object there
    if data := as_text(part.get("data")):
        return [Thinking(native={"data": data})]
    text = first_text(part, "thinking", "reasoning", "text", "reasoning_content")
    signature = as_text(part.get("signature")) or first_text(as_object(part.get("extras")), "signature")
    return [Thinking(text, native={"signature": signature} if signature else None)] if text or signature else []
