"""Read messages in the shape of chat APIs one by one, each with its place.

In:  objects with a role and a content, as agents write them to disk: a line each, with parts in any form.
Out: entries in a draft.

Request bodies go through the dialects instead; this is for files whose messages have places and habits of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from legato.formats.blocks import is_call, is_result, read_call, read_result, split_content
from legato.formats.chat.sealed import read_thinking_blocks, with_signature, without_signature
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, first_text
from legato.model import (
    Authority,
    Block,
    Ending,
    Json,
    JsonObject,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)

_ENDINGS = {
    "stop": Ending.DONE,
    "tool_calls": Ending.CALLS,
    "length": Ending.LENGTH,
    "content_filter": Ending.REFUSED,
    "aborted": Ending.CANCELLED,
}
_THOUGHTS = frozenset({"think", "thinking", "reasoning"})


class ChatReader:
    """Adds messages to a draft."""

    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.origin: Origin | None = None
        self._ids: set[str] = set()
        self._nameless: list[str] = []
        """the tools of calls that came without an id and have no result yet"""

    def message(self, message: JsonObject, place: str) -> None:
        """Read one message. One that answers a call and makes none is a result, whatever its role says."""
        role = as_text(message.get("role"))
        if message.get("tool_call_id") not in (None, "") and not message.get("tool_calls"):
            role = "tool"
        match role:
            case "system" | "developer":
                self._human(message, place, Authority.INSTRUCTION)
            case "user" | "human":
                self._human(message, place, Authority.PERSON)
            case "assistant" | "ai" | "model":
                self._assistant(message, place)
            case "tool" | "function":
                self.result(message, place)
            case _:
                self.draft.unknown(place, f"a message of role {role!r}")

    def call(self, message: JsonObject, place: str) -> None:
        """A call that is by itself."""
        self.draft.say(Speaker.AI, self._paired([read_call(message)]), place, origin=self.origin)

    def result(self, message: JsonObject, place: str) -> None:
        """A result that is by itself, or the results that are the parts of a content."""
        parts = as_list(message.get("content"))
        are_blocks = bool(parts) and all(is_call(part) or is_result(part) for part in map(as_object, parts))
        blocks = split_content(parts)[0] if are_blocks else [without_signature(read_result(message))]
        self.draft.say(Speaker.TOOL, self._paired([*blocks, *_calls(message)]), place)

    def _paired(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks. Where calls have no ids, that of a result means nothing: order pairs them."""
        paired: list[Block] = []
        for block in blocks:
            if isinstance(block, ToolCall):
                if block.wire_id:
                    self._ids.add(block.wire_id)
                else:
                    self._nameless.append(block.name)
            elif isinstance(block, ToolResponse) and self._nameless and block.wire_id not in self._ids:
                first = self._nameless.index(block.tool_name) if block.tool_name in self._nameless else 0
                block = replace(block, wire_id="", tool_name=self._nameless.pop(first))
            paired.append(block)
        return paired

    # --- parts --------------------------------------------------------------------------------------------------------

    def _human(self, message: JsonObject, place: str, authority: Authority) -> None:
        blocks, unknown = split_content(message.get("content"))
        for index, part in unknown:
            self._unknown(part, index, place, blocks)
        self.draft.human(self._paired([*blocks, *_calls(message)]), place, authority=authority)

    def _assistant(self, message: JsonObject, place: str) -> None:
        blocks: list[Block] = list(read_thinking_blocks(message.get("thinking_blocks")))
        if not blocks and (text := first_text(message, "reasoning_content", "reasoning")):
            blocks.append(Thinking(text))
        content: Json = message.get("content")
        for index, item in enumerate([content] if isinstance(content, str | dict) else as_list(content)):
            self._answer_part(item, index, place, blocks)
        if message.get("refusal"):
            blocks.append(Text(as_text(message["refusal"])))
        blocks += _calls(message)
        ending = _ENDINGS.get(as_text(message.get("finish_reason")))
        self.draft.say(Speaker.AI, self._paired(blocks), place, origin=self.origin, ending=ending)

    def _answer_part(self, item: Json, index: int, place: str, blocks: list[Block]) -> None:
        part = as_object(item)
        if as_text(part.get("type")) in _THOUGHTS:
            if text := first_text(part, "think", "thinking", "reasoning", "text"):
                blocks.append(Thinking(text))
            return
        read, unknown = split_content(item)
        blocks += read
        for _, other in unknown:
            self._unknown(other, index, place, blocks)

    def _unknown(self, part: JsonObject, index: int, place: str, blocks: list[Block]) -> None:
        if isinstance(part.get("text"), str):
            kind = as_text(part.get("type"))
            blocks.append(Text(as_text(part["text"])))
            self.draft.note(place, f"content[{index}] of type {kind!r} is read as the text in it", is_carried=True)
        else:
            self.draft.note_unknown([(index, part)], place)


def _calls(message: JsonObject) -> list[ToolCall]:
    """The calls beside the content of a message."""
    calls = [with_signature(read_call(call), call) for call in as_objects(message.get("tool_calls"))]
    legacy = as_object(message.get("function_call"))
    return [*calls, read_call({"function": legacy})] if legacy else calls
