"""The messages of a chat request as entries.

In:  `messages`, ours or anybody's.
Out: the leading instructions, entries in order, and a note for everything that was not understood.

What `encode` inserted because a provider demands it is recognised and taken out again: bridges, the tail, the marks of
instructions and errors, closures, media that were moved behind their result. A transcript that goes out and comes back
does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from legato.model import (
    Authority,
    Block,
    Entry,
    Json,
    JsonObject,
    Media,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.wire.openai_chat.message import MessageReader
from legato.wire.openai_chat.reading import read_object, read_part, read_string
from legato.wire.openai_chat.results import awaits_media, give_back_media, is_caption, read_result
from legato.wire.phrases import (
    ANSWER_BRIDGE,
    CONTINUE,
    HUMAN_BRIDGE,
    INSTRUCTION_MARK,
)

_INSTRUCTING = ("system", "developer")
_KNOWN_FIELDS = {
    "user": frozenset({"role", "content"}),
    "system": frozenset({"role", "content"}),
    "developer": frozenset({"role", "content"}),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
    "function": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {
            "role",
            "content",
            "tool_calls",
            "function_call",
            "refusal",
            "reasoning_content",
            "reasoning",
            "reasoning_details",
            "images",
        }
    ),
}
_ANSWER_PARTS = frozenset({"text", "refusal", "thinking", "image_url"})


class _SameNames:
    """A request that comes in holds the names as they were on the wire; nobody here knows others."""

    def project(self, name: str) -> str:
        return name

    def restore(self, wire_name: str) -> str:
        return wire_name


@dataclass(slots=True)
class _Draft:
    speaker: Speaker
    blocks: list[Block] = field(default_factory=list[Block])
    authority: Authority = Authority.PERSON


class TranscriptReader:
    """Reads one list of messages."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._system: list[str] = []
        self._drafts: list[_Draft] = []
        self._names: dict[str, str] = {}
        self._has_begun = False

    @property
    def system(self) -> str:
        """The instructions that stand before everything else."""
        return "\n\n".join(self._system)

    def entries(self) -> list[Entry]:
        """What was said, in order."""
        return [Entry(draft.speaker, tuple(draft.blocks), authority=draft.authority) for draft in self._drafts]

    def read(self, messages: Json) -> None:
        """Read all messages."""
        if not isinstance(messages, list):
            self.notes.append("messages: not a list, so no conversation was read")
            return
        items = cast("list[object]", messages)
        for index, item in enumerate(items):
            path = f"messages[{index}]"
            if not isinstance(item, dict):
                self.notes.append(f"{path}: not an object; it was left out")
                continue
            self._read_message(path, cast(JsonObject, item), is_last=index == len(items) - 1)

    def _read_message(self, path: str, message: JsonObject, *, is_last: bool) -> None:
        role = read_string(message.get("role"))
        known = _KNOWN_FIELDS.get(role)
        if known is None:
            self.notes.append(f"{path}.role: there is no role {role!r}; the message was read as the user's")
            known = _KNOWN_FIELDS["user"]
        for name, value in message.items():
            if value and name not in known:
                self.notes.append(f"{path}.{name}: not understood; it was left out")
        match role:
            case "system" | "developer":
                self._read_instruction(path, message)
            case "assistant":
                self._read_answer(path, message)
            case "tool" | "function":
                self._read_result(path, message)
            case _:
                self._read_human(path, message, is_last=is_last)
        self._has_begun = self._has_begun or role not in _INSTRUCTING

    # --- the human side ---

    def _read_instruction(self, path: str, message: JsonObject) -> None:
        blocks = self._read_parts(path, message.get("content"))
        text = "".join(block.text for block in blocks if isinstance(block, Text))
        if not text:
            self.notes.append(f"{path}.content: an instruction without text; it was left out")
        elif self._has_begun:
            self._drafts.append(_Draft(Speaker.HUMAN, [Text(text)], Authority.INSTRUCTION))
        else:
            self._system.append(text)

    def _read_human(self, path: str, message: JsonObject, *, is_last: bool) -> None:
        blocks = self._read_parts(path, message.get("content"))
        if not blocks:
            self.notes.append(f"{path}.content: a message that says nothing; it was left out")
            return
        first = blocks[0]
        if isinstance(first, Text):
            if len(blocks) == 1 and self._is_ours(first.text, is_last=is_last):
                return
            if self._attach_media(blocks):
                return
            if first.text.startswith(INSTRUCTION_MARK):
                rest = first.text.removeprefix(INSTRUCTION_MARK)
                blocks[:1] = [Text(rest)] if rest else []
                self._drafts.append(_Draft(Speaker.HUMAN, blocks, Authority.INSTRUCTION))
                return
        self._drafts.append(_Draft(Speaker.HUMAN, blocks))

    def _is_ours(self, text: str, *, is_last: bool) -> bool:
        """Whether `text` is a bridge, or the tail behind an answer: said by nobody."""
        if text == HUMAN_BRIDGE:
            return True
        if text != CONTINUE or not is_last or not self._drafts:
            return False
        before = self._drafts[-1]
        return before.speaker is Speaker.AI and not any(isinstance(block, ToolCall) for block in before.blocks)

    def _attach_media(self, blocks: list[Block]) -> bool:
        """Give media that were moved behind their results back to them; false if `blocks` are something else."""
        waiting: list[tuple[_Draft, int]] = []
        for draft in reversed(self._drafts):
            if draft.speaker is Speaker.HUMAN:
                break
            places = [place for place, block in enumerate(draft.blocks) if awaits_media(block)]
            waiting[:0] = [(draft, place) for place in places]
        groups: list[list[Media]] = []
        for block in blocks:
            if isinstance(block, Text) and is_caption(block.text):
                groups.append([])
            elif isinstance(block, Media) and groups:
                groups[-1].append(block)
            else:
                return False
        if not groups or len(groups) != len(waiting):
            return False
        for (draft, place), media in zip(waiting, groups, strict=True):
            draft.blocks[place] = give_back_media(cast(ToolResponse, draft.blocks[place]), media)
        return True

    def _read_parts(self, path: str, content: Json) -> list[Block]:
        if isinstance(content, str):
            return [Text(content)] if content else []
        if not isinstance(content, list):
            if content is not None:
                self.notes.append(f"{path}.content: neither text nor a list of parts; it was left out")
            return []
        blocks: list[Block] = []
        for index, item in enumerate(cast("list[object]", content)):
            block = Text(item) if isinstance(item, str) else read_part(read_object(item))
            if block is None:
                self.notes.append(f"{path}.content[{index}]: a part that is not understood; it was left out")
            elif not isinstance(block, Text) or block.text:
                blocks.append(block)
        return blocks

    # --- answers and results ---

    def _read_answer(self, path: str, message: JsonObject) -> None:
        if message.get("content") == ANSWER_BRIDGE and not message.get("tool_calls") and self._follows_results():
            return
        self._note_answer(path, message)
        reader = MessageReader(_SameNames())
        reader.read_message(message)
        blocks: list[Block] = []
        for block in reader.builder.blocks():
            if isinstance(block, ToolCall):
                if not block.name:
                    self.notes.append(f"{path}.tool_calls: a call without a name; it was left out")
                    continue
                self._names[block.wire_id] = block.name
            if not isinstance(block, Thinking) or block.native is not None or block.text.strip():
                blocks.append(block)
        if blocks:
            self._drafts.append(_Draft(Speaker.AI, blocks))
        else:
            self.notes.append(f"{path}: an answer that says nothing; it was left out")

    def _note_answer(self, path: str, message: JsonObject) -> None:
        """Note what the reader of answers, which is made for what servers send, passes over."""
        content: Json = message.get("content")
        if isinstance(content, list):
            for index, part in enumerate(cast("list[object]", content)):
                if read_string(read_object(part).get("type")) not in _ANSWER_PARTS:
                    self.notes.append(f"{path}.content[{index}]: a part that is not understood; it was left out")
        elif content is not None and not isinstance(content, str):
            self.notes.append(f"{path}.content: neither text nor a list of parts; it was left out")
        calls: Json = message.get("tool_calls")
        if isinstance(calls, list):
            for index, call in enumerate(cast("list[object]", calls)):
                if not isinstance(call, dict):
                    self.notes.append(f"{path}.tool_calls[{index}]: not an object; it was left out")
        elif calls is not None:
            self.notes.append(f"{path}.tool_calls: not a list; it was left out")

    def _follows_results(self) -> bool:
        return bool(self._drafts) and self._drafts[-1].speaker is Speaker.TOOL

    def _read_result(self, path: str, message: JsonObject) -> None:
        wire_id = read_string(message.get("tool_call_id"))
        blocks = self._read_parts(path, message.get("content"))
        response = read_result(
            "".join(block.text for block in blocks if isinstance(block, Text)),
            wire_id=wire_id,
            tool_name=read_string(message.get("name")) or self._names.get(wire_id, ""),
            media=tuple(block for block in blocks if isinstance(block, Media)),
        )
        if not self._follows_results():
            self._drafts.append(_Draft(Speaker.TOOL))
        self._drafts[-1].blocks.append(response)
