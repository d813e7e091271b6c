"""Results that came without a call, as long as their calls may still come.

Each has a name of its own. Results under one id that say different things are different results: where no call is
known, nothing says that they belong together. The wait is over when a person speaks.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec.structs import replace

from legato.ledger.evidence import is_real, outcome
from legato.ledger.states import RANK, infer
from legato.ledger.stems import bare
from legato.model import CallId, ToolCall, ToolResponse

_Queue: TypeAlias = "OrderedDict[CallId, None]"  # unlike a dict, its first item can be taken off again and again


@dataclass(slots=True)
class LoneResults:
    """The results that wait, by name; of one that came again, what counts."""

    responses: dict[CallId, ToolResponse] = field(default_factory=dict[CallId, ToolResponse])
    _waiting: dict[tuple[str, str], _Queue] = field(default_factory=dict[tuple[str, str], _Queue])
    """by id and tool, in order"""
    _told: dict[tuple[str, bytes], CallId] = field(default_factory=dict[tuple[str, bytes], CallId])
    """by id and outcome: the real results"""
    _untold: dict[str, _Queue] = field(default_factory=dict[str, _Queue])
    """by id, in order: those of which nothing is known but that they came to no result"""
    _spelling: dict[str, str] = field(default_factory=dict[str, str])
    """by bare id: the newest spelling"""

    def __contains__(self, name: CallId | None) -> bool:
        return name in self.responses

    def add(self, name: CallId, ordinal: int, response: ToolResponse) -> None:
        """Let `response` wait under `name`."""
        response, wire_id = replace(response, ordinal=ordinal), response.wire_id
        self._waiting.setdefault((wire_id, response.tool_name), OrderedDict())[name] = None
        self._spelling[bare(wire_id)] = wire_id
        self._keep(name, response)

    def take(self, name: CallId) -> ToolResponse | None:
        """The result of that name, which waits no longer."""
        response = self.responses.pop(name, None)
        if response is not None:
            del self._waiting[response.wire_id, response.tool_name][name]
            self._untold.get(response.wire_id, OrderedDict[CallId, None]()).pop(name, None)
            key = (response.wire_id, outcome(response))
            if self._told.get(key) == name:
                del self._told[key]
        return response

    def repeat(self, name: CallId, response: ToolResponse) -> None:
        """Take `response` for the result of that name once more; the better of the two counts."""
        before = self.responses[name]
        news, known = infer(response), infer(before)
        if news is not None and (known is None or RANK[news] < RANK[known]):
            self._untold.get(before.wire_id, OrderedDict[CallId, None]()).pop(name, None)
            # It waits for the call that it waited for so far.
            names = {"wire_id": before.wire_id, "tool_name": before.tool_name, "ordinal": before.ordinal}
            self._keep(name, replace(response, **names))

    def repeated_in(self, response: ToolResponse) -> CallId | None:
        """Which result with the same id comes again in `response`; None if that is a new one."""
        wire_id = response.wire_id
        if is_real(response) and (same := self._told.get((wire_id, outcome(response)))) is not None:
            return same
        untold = self._untold.get(wire_id)
        if untold:
            return next(iter(untold))
        return None if is_real(response) else self._first(wire_id, response.tool_name)

    def awaiting(self, call: ToolCall) -> CallId | None:
        """The result that waits for `call`: the same tool, and the same id or, failing that, another spelling of it."""
        exact = self._first(call.wire_id, call.name)
        if exact is not None:
            return exact
        spelling = self._spelling.get(bare(call.wire_id))
        return None if spelling is None else self._first(spelling, call.name)

    def _first(self, wire_id: str, tool_name: str) -> CallId | None:
        queues = (self._waiting.get((wire_id, name)) for name in dict.fromkeys(("", tool_name)))
        names = [next(iter(queue)) for queue in queues if queue]
        return min(names, key=lambda name: self.responses[name].ordinal) if names else None

    def _keep(self, name: CallId, response: ToolResponse) -> None:
        self.responses[name] = response
        if is_real(response):
            self._told.setdefault((response.wire_id, outcome(response)), name)
        else:
            self._untold.setdefault(response.wire_id, OrderedDict())[name] = None
