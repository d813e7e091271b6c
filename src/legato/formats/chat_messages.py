"""Read messages in the shape of chat APIs one by one, each with its place.

In:  objects with a role and a content, as agents write them to disk: a line each, with parts in anybody's spelling.
Out: entries in a draft.

Request bodies go through the dialects instead; this is for files whose messages have places and habits of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.formats.blocks import response, result_content, split_content
from legato.formats.document import Draft
from legato.formats.fields import as_object, as_objects, as_text, first_text
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
from legato.wire.arguments import read_arguments

_ENDINGS = {
    "stop": Ending.DONE,
    "tool_calls": Ending.CALLS,
    "length": Ending.LENGTH,
    "content_filter": Ending.REFUSED,
    "aborted": Ending.CANCELLED,
}
_CALLS = frozenset({"tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_THOUGHTS = frozenset({"think", "thinking", "reasoning"})


class ChatReader:
    """Adds messages to a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.origin: Origin | None = None
        self._called: dict[str, str] = {}
        self._nameless: list[str] = []
        """the tools of calls that came without an id and have no result yet"""

    def message(self, message: JsonObject, place: str) -> None:
        """Read one message."""
        role = as_text(message.get("role"))
        match role:
            case "system" | "developer":
                blocks = self._human_blocks(message.get("content"), place)
                self.draft.say(Speaker.HUMAN, blocks, place, authority=Authority.INSTRUCTION)
            case "user" | "human":
                self._human(message, place)
            case "assistant" | "ai" | "model":
                self._assistant(message, place)
            case "tool" | "function":
                self.result(message, place)
            case _:
                self.draft.note(place, f"a message of role {role!r} is not understood and was left out")

    def call(self, message: JsonObject, place: str) -> None:
        """A call that stands by itself."""
        made = _call(message)
        self._remember([made])
        self.draft.say(Speaker.AI, [made], place, origin=self.origin)

    def result(self, message: JsonObject, place: str) -> None:
        """A result that stands by itself."""
        wire_id = first_text(message, "tool_call_id", "tool_use_id", "call_id", "toolCallId", "id")
        wire_id, name = self._paired(wire_id, first_text(message, "name", "tool_name", "toolName"))
        content: Json = next((message[key] for key in ("content", "result", "output", "value") if key in message), None)
        value, media = result_content(content)
        is_error = message.get("is_error") is True or message.get("isError") is True
        self.draft.results([response(wire_id, name, value, is_error=is_error, media=media)], place)

    def _remember(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if isinstance(block, ToolCall):
                if block.wire_id:
                    self._called[block.wire_id] = block.name
                else:
                    self._nameless.append(block.name)

    def _paired(self, wire_id: str, name: str) -> tuple[str, str]:
        """The id and tool of a result. Where calls have no ids, that of a result means nothing: order pairs them."""
        if wire_id in self._called:
            return wire_id, name or self._called[wire_id]
        if self._nameless:
            first = self._nameless.index(name) if name in self._nameless else 0
            return "", self._nameless.pop(first)
        return wire_id, name

    # --- parts --------------------------------------------------------------------------------------------------------

    def _human(self, message: JsonObject, place: str) -> None:
        content: Json = message.get("content")
        results = [self._result_part(part) for part in as_objects(content) if as_text(part.get("type")) in _RESULTS]
        self.draft.results(results, place)
        if results:
            content = [part for part in as_objects(content) if as_text(part.get("type")) not in _RESULTS]
        self.draft.human(self._human_blocks(content, place), place)

    def _human_blocks(self, content: Json, place: str) -> list[Block]:
        blocks, unknown = split_content(content)
        for index, part in unknown:
            self._unknown(part, index, place, blocks)
        return blocks

    def _assistant(self, message: JsonObject, place: str) -> None:
        blocks: list[Block] = []
        if text := first_text(message, "reasoning_content", "reasoning"):
            blocks.append(Thinking(text))
        content: Json = message.get("content")
        for index, item in enumerate([content] if isinstance(content, str) else as_objects(content)):
            self._answer_part(item, index, place, blocks)
        if message.get("refusal"):
            blocks.append(Text(as_text(message["refusal"])))
        blocks += [_call(call) for call in as_objects(message.get("tool_calls"))]
        if legacy := as_object(message.get("function_call")):
            blocks.append(_call({"function": legacy}))
        self._remember(blocks)
        ending = _ENDINGS.get(as_text(message.get("finish_reason")))
        self.draft.say(Speaker.AI, blocks, place, origin=self.origin, ending=ending)

    def _answer_part(self, item: Json, index: int, place: str, blocks: list[Block]) -> None:
        part = as_object(item)
        kind = as_text(part.get("type"))
        if kind in _CALLS:
            blocks.append(_call(part))
        elif kind in _THOUGHTS:
            if text := first_text(part, "think", "thinking", "reasoning", "text"):
                blocks.append(Thinking(text))
        else:
            read, unknown = split_content(item)
            blocks += read
            for _, other in unknown:
                self._unknown(other, index, place, blocks)

    def _result_part(self, part: JsonObject) -> ToolResponse:
        wire_id = first_text(part, "tool_use_id", "tool_call_id", "toolCallId")
        wire_id, name = self._paired(wire_id, first_text(part, "name", "toolName"))
        value, media = result_content(part.get("content", part.get("output")))
        return response(wire_id, name, value, is_error=part.get("is_error") is True, media=media)

    def _unknown(self, part: JsonObject, index: int, place: str, blocks: list[Block]) -> None:
        kind = as_text(part.get("type"))
        if isinstance(part.get("text"), str):
            blocks.append(Text(as_text(part["text"])))
            self.draft.note(place, f"content[{index}] of type {kind!r} is read as the text in it")
        else:
            self.draft.note(place, f"content[{index}] of type {kind!r} is not understood and was left out")


def _call(source: JsonObject) -> ToolCall:
    """A call in any of the usual spellings."""
    function = as_object(source.get("function"))
    arguments: Json = next(
        (
            holder[key]
            for holder in (function, source)
            for key in ("arguments", "input", "args", "parameters")
            if key in holder
        ),
        None,
    )
    value, raw, finished = read_arguments(arguments)
    name = first_text(function, "name") or first_text(source, "name", "toolName", "tool_name")
    return ToolCall(name, value, first_text(source, "id", "call_id", "toolCallId"), raw=raw, finished=finished)
