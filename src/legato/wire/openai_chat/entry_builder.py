"""What the messages of a request say, taken one after the other.

In:  what each message holds, already read.
Out: the leading instructions, and entries in order.

What we inserted ourselves because a provider demands it is recognised and taken out again (see `readback`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from legato.model import Authority, Block, Entry, Json, Origin, Speaker, Text, ToolCall, ToolResponse
from legato.wire.readback import HUMAN_OPENINGS, is_answer_bridge, is_filler, read_instruction, reunite
from legato.wire.undoable import UndoableMap

_AI, _HUMAN, _TOOL = Speaker.AI, Speaker.HUMAN, Speaker.TOOL  # looking up a member of an enum takes its time


class EntryBuilder:
    """Collects what was said so far as entries."""

    def __init__(self, origin: Origin | None = None) -> None:
        self.origin = origin
        """where the answers were made"""
        self.has_begun = False
        """whether there was a message that is no instruction: the instructions before it are the system prompt"""
        self.calls: UndoableMap[str, ToolCall] = UndoableMap()
        """by wire id: the newest call"""
        self.tools: dict[str, str] = {}
        """the name of each tool, which all its calls share: a long conversation names a few tools thousands of times"""
        self.parts = 0
        """how many parts there were in the messages, as far as whoever reads them has counted"""
        self._said: list[Entry] = []
        self.places: list[int] = []
        """the number of the message of each entry, or of its first one"""
        self.ends: UndoableMap[int, int] = UndoableMap()
        """by the index of an entry: the number of its last message, where it has several"""
        self.results: list[ToolResponse] = []
        """results in a row, which are one entry as soon as something else is said"""
        self.first_result = self.last_result = 0
        """the numbers of their first and last message"""
        self._system: list[str] = []

    def save(self) -> Any:
        """The state, for `restore`."""
        lists = self._said, self.places, self.results, self._system
        plain = self.has_begun, self.parts, self.first_result, self.last_result
        return tuple(one.copy() for one in lists), plain, self.calls.save(), self.ends.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        lists, plain, calls, ends = saved
        self._said, self.places, self.results, self._system = (one.copy() for one in lists)
        self.has_begun, self.parts, self.first_result, self.last_result = plain
        self.calls.restore(calls)
        self.ends.restore(ends)

    @property
    def system(self) -> str:
        """The instructions that come before everything else."""
        return "\n\n".join(self._system)

    def entries(self) -> list[Entry]:
        """What was said, in order."""
        if self.results:
            self._said.append(Entry(_TOOL, tuple(self.results)))
            if self.last_result != self.first_result:
                self.ends.put(len(self.places), self.last_result)
            self.places.append(self.first_result)
            self.results.clear()
        return self._said

    def tool_of(self, wire_id: str) -> str:
        """The name of the tool that was called under this id."""
        call = self.calls.values.get(wire_id)
        return "" if call is None else call.name

    def take(self, entry: Entry, number: int) -> None:
        """What the message of that number says."""
        self.entries().append(entry)
        self.places.append(number)

    def take_instruction(self, text: str, number: int) -> None:
        """What a system or developer message says."""
        if self.has_begun:
            self.take(Entry(_HUMAN, (Text(text),), authority=Authority.INSTRUCTION), number)
        else:
            self._system.append(text)

    def take_human(self, blocks: Sequence[Block], number: int, *, is_last: bool) -> None:
        """What a user message says; `is_last` if it ends the request."""
        entries, first = self.entries(), blocks[0]
        if type(first) is Text and first.text[0] not in HUMAN_OPENINGS:  # no mark of ours begins so
            self.take(Entry(_HUMAN, tuple(blocks)), number)
        elif (instruction := read_instruction(blocks)) is not None:
            if instruction:
                self.take(Entry(_HUMAN, tuple(instruction), authority=Authority.INSTRUCTION), number)
        elif not is_filler(blocks, entries[-1] if entries else None, is_last=is_last):
            rest = reunite(entries, self.ends, blocks, number)
            if rest:
                self.take(Entry(_HUMAN, tuple(rest)), number)

    def take_answer(self, blocks: list[Block], number: int) -> None:
        """What an answer says."""
        for block in blocks:
            if type(block) is ToolCall and block.wire_id:
                self.calls.put(block.wire_id, block)
        self.take(Entry(_AI, tuple(blocks), self.origin), number)

    def take_result(self, response: ToolResponse, number: int) -> None:
        """The result of a call. Results in a row are one entry, also where something of ours was between them."""
        if not self.results:
            self.first_result = number
            if self._said and self._said[-1].speaker is _TOOL:
                self.results += cast("tuple[ToolResponse, ...]", self._said.pop().blocks)
                self.first_result = self.places.pop()
                self.ends.drop(len(self.places))
        self.results.append(response)
        self.last_result = number

    def is_bridge(self, content: Json, calls: object) -> bool:
        """Whether an answer with `content` and `calls` only keeps results and a human message apart."""
        entries = self.entries()
        return not calls and is_answer_bridge(content, entries[-1] if entries else None)
