"""Which call a provider's id means at the moment.

Providers reuse ids (`call_0` in every answer, one constant id), so an id is a queue: a call *arms* it, the next result
with that id *consumes* it, and a later answer may arm it again. Calls that are armed under one id at the same time are
answered in their order. They stay armed for one round; after that the id is left to the next call that has it.

Nearly every id is met twice, with its call and with the result, and then the newest call that has it is all there is to
know. A queue is kept only for an id that several calls of one round share.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from legato.model import CallId, ToolCall


@dataclass(slots=True)
class WireIds:
    """The calls behind the ids of one log."""

    newest: dict[str, CallId] = field(default_factory=dict[str, CallId])
    """by id: the newest call that had it, answered or not"""
    spellings: dict[str, str] = field(default_factory=dict[str, str])
    """by bare id: the newest id that is a spelling of it"""
    armed: dict[str, OrderedDict[CallId, ToolCall]] = field(default_factory=dict[str, "OrderedDict[CallId, ToolCall]"])
    """by id, where calls of one round share it: those that no result has named yet, in order"""

    def find(self, wire_id: str) -> CallId | None:
        """The call that a result with exactly this id means."""
        armed = self.armed.get(wire_id)
        return next(iter(armed)) if armed else self.newest.get(wire_id)

    def arm(self, call: ToolCall, stem: str, *, before: ToolCall | None, round_first: int) -> None:
        """Let the id of `call` mean it, after calls of this round that no result has named yet.

        `before` is the newest call that had the id, if no result has named it.
        """
        wire_id = call.wire_id
        armed = self.armed.get(wire_id)
        if armed is not None:
            while armed and next(iter(armed.values())).ordinal < round_first:
                armed.popitem(last=False)
            armed[call.id] = call
            if len(armed) == 1:
                del self.armed[wire_id]
        elif before is not None and before.ordinal >= round_first:
            self.armed[wire_id] = OrderedDict({before.id: before, call.id: call})
        self.newest[wire_id], self.spellings[stem] = call.id, wire_id

    def remember(self, undone: WireIds) -> None:
        """Let ids that mean nothing else mean the calls that they meant before an undo: a late result may name one."""
        self.newest = undone.newest | self.newest
        self.spellings = undone.spellings | self.spellings

    def disarm(self, call: ToolCall) -> None:
        """A result has named `call`: the next one with its id means the next call that is armed."""
        armed = self.armed.get(call.wire_id)
        if armed is None:
            return
        armed.pop(call.id, None)
        if not armed or (len(armed) == 1 and self.newest.get(call.wire_id) in armed):
            del self.armed[call.wire_id]
