"""Results that came without a call, as long as their calls may still come.

Each has a name of its own. Results under one id that say different things are different results: where no call is
known, nothing says that they belong together. The wait is over when somebody speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from legato.ledger.evidence import are_apart
from legato.ledger.states import RANK, infer
from legato.ledger.stems import bare
from legato.model import CallId, ToolCall, ToolResponse


@dataclass(slots=True)
class LoneResults:
    """The results that wait, by name, and their names by bare id; of one that came again, what counts."""

    _responses: dict[CallId, ToolResponse] = field(default_factory=dict[CallId, ToolResponse])
    _names: dict[str, list[CallId]] = field(default_factory=dict[str, list[CallId]])

    def __len__(self) -> int:
        return len(self._responses)

    def __contains__(self, name: CallId | None) -> bool:
        return name in self._responses

    def wire_ids(self) -> Iterator[tuple[CallId, str]]:
        """The name of each, and the id that it came with."""
        return ((name, response.wire_id) for name, response in self._responses.items())

    def add(self, name: CallId, response: ToolResponse) -> None:
        """Let `response` wait under `name`."""
        self._responses[name] = response
        self._names.setdefault(bare(response.wire_id), []).append(name)

    def take(self, name: CallId) -> ToolResponse | None:
        """The result of that name, which waits no longer."""
        response = self._responses.pop(name, None)
        if response is not None:
            stem = bare(response.wire_id)
            names = self._names[stem]
            names.remove(name)
            if not names:
                del self._names[stem]
        return response

    def repeat(self, name: CallId, response: ToolResponse) -> None:
        """Take `response` for the result of that name once more; the better of the two counts."""
        before = self._responses[name]
        news, known = infer(response), infer(before)
        if news is not None and (known is None or RANK[news] < RANK[known]):
            # It waits for the call that it waited for so far.
            self._responses[name] = replace(response, wire_id=before.wire_id, tool_name=before.tool_name)

    def repeated_in(self, response: ToolResponse, found: CallId) -> CallId | None:
        """Which result with the id of `found` comes again in `response`; None if that is a new one."""
        wire_id = self._responses[found].wire_id
        for name in self._names[bare(wire_id)]:
            before = self._responses[name]
            if before.wire_id == wire_id and not are_apart(before, response):
                return name
        return None

    def awaiting(self, call: ToolCall) -> CallId | None:
        """The result that waits for `call`: the same id, the same tool."""
        fitting = [
            name
            for name in self._names.get(bare(call.wire_id), ())
            if self._responses[name].tool_name in ("", call.name)
        ]
        exact = (name for name in fitting if self._responses[name].wire_id == call.wire_id)
        return next(exact, fitting[0] if fitting else None)
