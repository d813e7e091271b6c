"""What the messages of a request say, taken one after the other.

In:  what each message holds, already read.
Out: the leading instructions, and entries in order.

What `encode` inserted because a provider demands it is recognised and taken out again: bridges, the tail, the marks of
instructions and errors, closures, media that were moved behind their result. A transcript that goes out and comes back
does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from legato.model import Authority, Block, Entry, Json, Media, Speaker, Text, ToolCall, ToolResponse
from legato.wire.openai_chat.results import awaits_media, give_back_media, is_caption
from legato.wire.phrases import ANSWER_BRIDGE, CONTINUE, HUMAN_BRIDGE, INSTRUCTION_MARK, MEDIA_CAPTION

_AI, _HUMAN, _TOOL = Speaker.AI, Speaker.HUMAN, Speaker.TOOL  # looking up a member of an enum takes its time
OPENINGS = frozenset(mark[0] for mark in (HUMAN_BRIDGE, CONTINUE, MEDIA_CAPTION, INSTRUCTION_MARK))
"""what a message begins with in which there may be something of ours"""


class Account:
    """What was said so far."""

    def __init__(self) -> None:
        self.has_begun = False
        """whether there was a message that is no instruction: the instructions before it are the system prompt"""
        self.names: dict[str, str] = {}
        """by wire id: the tool of the newest call"""
        self.parts = 0
        """how many parts there were in the calls and the lists of texts of usual messages"""
        self._said: list[Entry] = []
        self.results: list[ToolResponse] = []
        """results in a row, which are one entry as soon as something else is said"""
        self._system: list[str] = []

    @property
    def system(self) -> str:
        """The instructions that stand before everything else."""
        return "\n\n".join(self._system)

    def entries(self) -> list[Entry]:
        """What was said, in order."""
        if self.results:
            self._said.append(Entry(_TOOL, tuple(self.results)))
            self.results.clear()
        return self._said

    def take_instruction(self, text: str) -> None:
        """What a system or developer message says."""
        if self.has_begun:
            self.entries().append(Entry(_HUMAN, (Text(text),), authority=Authority.INSTRUCTION))
        else:
            self._system.append(text)

    def take_human(self, blocks: Sequence[Block], *, is_last: bool) -> None:
        """What a user message says; `is_last` if it ends the request."""
        first = blocks[0]
        if type(first) is not Text or first.text[0] not in OPENINGS:  # no mark of ours begins so
            self.entries().append(Entry(_HUMAN, tuple(blocks)))
        elif first.text.startswith(INSTRUCTION_MARK):
            rest = first.text.removeprefix(INSTRUCTION_MARK)
            instruction = (Text(rest), *blocks[1:]) if rest else tuple(blocks[1:])
            if instruction:
                self.entries().append(Entry(_HUMAN, instruction, authority=Authority.INSTRUCTION))
        elif not (len(blocks) == 1 and self._is_ours(first.text, is_last=is_last)) and not self._attach_media(blocks):
            self.entries().append(Entry(_HUMAN, tuple(blocks)))

    def take_answer(self, blocks: list[Block]) -> None:
        """What an answer says."""
        for block in blocks:
            if type(block) is ToolCall:
                self.names[block.wire_id] = block.name
        self.entries().append(Entry(_AI, tuple(blocks)))

    def take_result(self, response: ToolResponse) -> None:
        """The result of a call. Results in a row are one entry, also where something of ours stood between them."""
        if not self.results and self._said and self._said[-1].speaker is _TOOL:
            self.results += cast("tuple[ToolResponse, ...]", self._said.pop().blocks)
        self.results.append(response)

    def is_bridge(self, content: Json, calls: object) -> bool:
        """Whether an answer with `content` and `calls` only keeps results and a human message apart."""
        if content != ANSWER_BRIDGE or calls:
            return False
        return bool(self.entries()) and self.entries()[-1].speaker is _TOOL

    def _is_ours(self, text: str, *, is_last: bool) -> bool:
        """Whether `text` is a bridge, or the tail behind an answer: said by nobody."""
        if text == HUMAN_BRIDGE:
            return True
        if text != CONTINUE or not is_last or not self.entries():
            return False
        before = self.entries()[-1]
        return before.speaker is _AI and not before.calls

    def _attach_media(self, blocks: Sequence[Block]) -> bool:
        """Give media that were moved behind their results back to them; false if `blocks` are something else."""
        groups: list[list[Media]] = []
        for block in blocks:
            if isinstance(block, Text) and is_caption(block.text):
                groups.append([])
            elif isinstance(block, Media) and groups:
                groups[-1].append(block)
            else:
                return False
        entries = self.entries()
        waiting: list[tuple[int, int]] = []
        for index in range(len(entries) - 1, -1, -1):
            if entries[index].speaker is _HUMAN:
                break
            waiting[:0] = [(index, place) for place, block in enumerate(entries[index].blocks) if awaits_media(block)]
        if not groups or len(groups) != len(waiting):
            return False
        for (index, place), media in zip(waiting, groups, strict=True):
            given = list(entries[index].blocks)
            given[place] = give_back_media(cast(ToolResponse, given[place]), media)
            entries[index] = replace(entries[index], blocks=tuple(given))
        return True
