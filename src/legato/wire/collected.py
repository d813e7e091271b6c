"""The entries of a request that is being read, each with the numbers of the messages that it came from.

In:  what the messages (contents, items) of a body hold, one after the other, as blocks.
Out: entries and their places, in order.

What we put into a request ourselves is taken out again or given back on the way (see `readback`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from legato.model import Authority, Block, Entry, Speaker
from legato.wire.readback import is_filler, read_instruction, reunite
from legato.wire.undoable import UndoableMap


class Collected:
    """What was read so far.

    `number` is that of the message that is being read, -1 if there is one text in place of a list. `places` and `ends`
    are those of `Parsed`.
    """

    def __init__(self) -> None:
        self.places: list[int] = []
        self._ends: UndoableMap[int, int] = UndoableMap()
        self.number = -1
        self._entries: list[Entry] = []
        self._more: list[Block] = []
        """what the newest entry holds beside its blocks: added to them once, when someone looks at it"""

    @property
    def entries(self) -> list[Entry]:
        """The entries so far."""
        if self._more:
            self._entries[-1] = replace(self._entries[-1], blocks=(*self._entries[-1].blocks, *self._more))
            self._more = []
        return self._entries

    @property
    def ends(self) -> dict[int, int]:
        """Those of `Parsed`, as a dict of their own."""
        return self._ends.values.copy()

    def save(self) -> Any:
        """The state, for `restore`."""
        return self.entries.copy(), self.places.copy(), self._ends.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        entries, places, ends = saved
        self._entries, self.places, self._more = entries.copy(), places.copy(), []
        self._ends.restore(ends)

    @property
    def last(self) -> Entry | None:
        """The newest entry."""
        return self.entries[-1] if self._entries else None

    def ends_on(self, speaker: Speaker) -> bool:
        """Whether the newest entry is of `speaker`."""
        return bool(self._entries) and self._entries[-1].speaker is speaker

    def add(self, speaker: Speaker, blocks: Sequence[Block], authority: Authority = Authority.PERSON) -> None:
        """An entry of its own, if there is anything in it."""
        if blocks:
            self.entries.append(Entry(speaker, tuple(blocks), authority=authority))
            self.places.append(self.number)

    def add_run(self, speaker: Speaker, blocks: Sequence[Block], first: int, last: int) -> None:
        """One entry of the messages from `first` to `last`, if there is anything in them."""
        if blocks:
            if last != first:
                self._ends.put(len(self.entries), last)
            self.entries.append(Entry(speaker, tuple(blocks)))
            self.places.append(first)

    def prolong(self, blocks: Sequence[Block]) -> None:
        """More of the newest entry."""
        if blocks:
            self._more += blocks
            self._ends.put(len(self._entries) - 1, self.number)

    def hear(self, blocks: Sequence[Block], *, is_last: bool) -> None:
        """A human message: what a person said, an instruction under our mark, or something of ours."""
        if is_filler(blocks, self.last, is_last=is_last):
            return
        instruction = read_instruction(blocks)
        if instruction is None:
            self.add(Speaker.HUMAN, self.give_back(blocks))
        else:
            self.add(Speaker.HUMAN, instruction, Authority.INSTRUCTION)

    def give_back(self, blocks: Sequence[Block], *, joined: bool = False) -> list[Block]:
        """What remains of a human message once its results have their media back (see `reunite`)."""
        return reunite(self.entries, self._ends, blocks, self.number, joined=joined)
