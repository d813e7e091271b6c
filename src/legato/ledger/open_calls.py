"""The calls that no response has answered yet, in the order in which they came.

Calls of the current round come before those since a person last spoke, and these before all others: a call that was
abandoned long ago must not swallow the next result, or every pair behind it shifts by one.

Most calls are opened and answered again without anyone asking for the first one, so only a dictionary is kept for
them. The first question builds an index by tool; from then on it is kept up to date.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

from legato.model import CallId, ToolCall

_Index: TypeAlias = dict[str | None, list[tuple[int, CallId]]]


@dataclass(slots=True)
class _Tier:
    """Open calls that are equally near."""

    calls: dict[CallId, ToolCall] = field(default_factory=dict[CallId, ToolCall])
    index: _Index | None = None
    """a heap of ordinals and names for each tool, and under None one for all; answered calls stay until met"""

    def add(self, call: ToolCall) -> None:
        self.calls[call.id] = call
        if self.index is not None:
            _enter(self.index, call)

    def first(self, tool_name: str) -> ToolCall | None:
        if not self.calls:
            return None
        if self.index is None:
            self.index = {}
            for call in self.calls.values():
                _enter(self.index, call)
        heap = self.index.get(tool_name or None, [])
        while heap and heap[0][1] not in self.calls:
            heappop(heap)
        return self.calls[heap[0][1]] if heap else None

    def hand_down(self, lower: _Tier) -> None:
        """Let all of them be in the `lower` tier."""
        self.index = None
        for call in self.calls.values():
            lower.add(call)
        self.calls.clear()


@dataclass(slots=True)
class OpenCalls:
    """Open calls by name."""

    current: dict[CallId, ToolCall] = field(default_factory=dict[CallId, ToolCall])
    """those of this round; only `add` may add to it once something was asked of it"""
    _tiers: tuple[_Tier, _Tier, _Tier] = field(init=False)
    """this round, since a person last spoke, before"""

    def __post_init__(self) -> None:
        self._tiers = (_Tier(self.current), _Tier(), _Tier())

    def __contains__(self, call_id: CallId | None) -> bool:
        return any(call_id in tier.calls for tier in self._tiers)

    def add(self, call: ToolCall) -> None:
        """A call of this round."""
        self._tiers[0].add(call)

    def get(self, call_id: CallId) -> ToolCall | None:
        """The open call of that name."""
        return next((tier.calls[call_id] for tier in self._tiers if call_id in tier.calls), None)

    def pop(self, call_id: CallId) -> ToolCall | None:
        """The same, which is open no longer."""
        for tier in self._tiers:
            call = tier.calls.pop(call_id, None)
            if call is not None:
                return call
        return None

    def reopen(self, call: ToolCall, round_first: int) -> None:
        """A call that has lost its response again; `round_first` is the ordinal that this round began with."""
        self._tiers[0 if call.ordinal >= round_first else 1].add(call)

    def end_round(self) -> None:
        """The calls so far are of a former round."""
        current, recent, _ = self._tiers
        if current.calls or current.index is not None:
            current.hand_down(recent)

    def hear(self) -> None:
        """A person spoke."""
        current, recent, former = self._tiers
        if current.calls or current.index is not None:
            current.hand_down(recent)
        if recent.calls or recent.index is not None:
            recent.hand_down(former)

    def first(self, tool_name: str) -> tuple[ToolCall | None, bool]:
        """The first open call of that tool, of any tool if there is no name, and whether it is of this round."""
        for number, tier in enumerate(self._tiers):
            call = tier.first(tool_name)
            if call is not None:
                return call, number == 0
        return None, False

    def first_before(self, tool_name: str, ordinal: int) -> ToolCall | None:
        """The first open call of that tool since a person spoke, if it came before that `ordinal`."""
        for tier in self._tiers[:2]:
            call = tier.first(tool_name)
            if call is not None and call.ordinal < ordinal:
                return call
        return None


def _enter(index: _Index, call: ToolCall) -> None:
    for key in (call.name, None):
        heappush(index.setdefault(key, []), (call.ordinal, call.id))
