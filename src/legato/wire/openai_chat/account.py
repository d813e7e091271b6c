"""What the messages of a request say, taken one after the other.

In:  what each message holds, already read.
Out: the leading instructions, and entries in order.

What `encode` inserted because a provider demands it is recognised and taken out again: bridges, the tail, the marks of
instructions and errors, closures, media that were moved behind their result. A transcript that goes out and comes back
does not grow.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from legato.model import Authority, Block, Entry, JsonObject, Media, Speaker, Text, ToolCall, ToolResponse
from legato.wire.openai_chat.results import awaits_media, give_back_media, is_caption, read_result
from legato.wire.phrases import ANSWER_BRIDGE, CONTINUE, HUMAN_BRIDGE, INSTRUCTION_MARK

_AI, _HUMAN, _TOOL = Speaker.AI, Speaker.HUMAN, Speaker.TOOL  # looking up a member of an enum takes its time


class _Draft(Struct):
    speaker: Speaker
    blocks: list[Block]
    authority: Authority = Authority.PERSON


class Account:
    """What was said so far."""

    def __init__(self) -> None:
        self.has_begun = False
        """whether there was a message that is no instruction: the instructions before it are the system prompt"""
        self._system: list[str] = []
        self._drafts: list[_Draft] = []
        self._names: dict[str, str] = {}

    @property
    def system(self) -> str:
        """The instructions that stand before everything else."""
        return "\n\n".join(self._system)

    def entries(self) -> list[Entry]:
        """What was said, in order."""
        return [Entry(draft.speaker, tuple(draft.blocks), authority=draft.authority) for draft in self._drafts]

    def take_instruction(self, text: str) -> None:
        """What a system or developer message says."""
        if self.has_begun:
            self._drafts.append(_Draft(_HUMAN, [Text(text)], Authority.INSTRUCTION))
        else:
            self._system.append(text)

    def take_human(self, blocks: list[Block], *, is_last: bool) -> None:
        """What a user message says; `is_last` if it ends the request."""
        first = blocks[0]
        if isinstance(first, Text):
            if len(blocks) == 1 and self._is_ours(first.text, is_last=is_last):
                return
            if self._attach_media(blocks):
                return
            if first.text.startswith(INSTRUCTION_MARK):
                rest = first.text.removeprefix(INSTRUCTION_MARK)
                blocks[:1] = [Text(rest)] if rest else []
                if blocks:
                    self._drafts.append(_Draft(_HUMAN, blocks, Authority.INSTRUCTION))
                return
        self._drafts.append(_Draft(_HUMAN, blocks))

    def take_answer(self, blocks: list[Block]) -> None:
        """What an answer says."""
        for block in blocks:
            if isinstance(block, ToolCall):
                self._names[block.wire_id] = block.name
        self._drafts.append(_Draft(_AI, blocks))

    def take_result(self, wire_id: str, tool_name: str, text: str, media: tuple[Media, ...] = ()) -> None:
        """The result of a call, whose name counts where the message gives none. Results in a row are one entry."""
        tool_name = tool_name or self._names.get(wire_id, "")
        response = read_result(text, wire_id=wire_id, tool_name=tool_name, media=media)
        if self._follows_results():
            self._drafts[-1].blocks.append(response)
        else:
            self._drafts.append(_Draft(_TOOL, [response]))

    def is_bridge(self, message: JsonObject) -> bool:
        """Whether the answer `message` only keeps results and a human message apart."""
        is_bridge = message.get("content") == ANSWER_BRIDGE and not message.get("tool_calls")
        return is_bridge and self._follows_results()

    def _is_ours(self, text: str, *, is_last: bool) -> bool:
        """Whether `text` is a bridge, or the tail behind an answer: said by nobody."""
        if text == HUMAN_BRIDGE:
            return True
        if text != CONTINUE or not is_last or not self._drafts:
            return False
        before = self._drafts[-1]
        return before.speaker is _AI and not any(isinstance(block, ToolCall) for block in before.blocks)

    def _attach_media(self, blocks: list[Block]) -> bool:
        """Give media that were moved behind their results back to them; false if `blocks` are something else."""
        groups: list[list[Media]] = []
        for block in blocks:
            if isinstance(block, Text) and is_caption(block.text):
                groups.append([])
            elif isinstance(block, Media) and groups:
                groups[-1].append(block)
            else:
                return False
        waiting: list[tuple[_Draft, int]] = []
        for draft in reversed(self._drafts):
            if draft.speaker is _HUMAN:
                break
            places = [place for place, block in enumerate(draft.blocks) if awaits_media(block)]
            waiting[:0] = [(draft, place) for place in places]
        if not groups or len(groups) != len(waiting):
            return False
        for (draft, place), media in zip(waiting, groups, strict=True):
            draft.blocks[place] = give_back_media(cast(ToolResponse, draft.blocks[place]), media)
        return True

    def _follows_results(self) -> bool:
        return bool(self._drafts) and self._drafts[-1].speaker is _TOOL
