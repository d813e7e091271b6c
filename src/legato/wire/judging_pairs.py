"""Follow calls and the results that have to come right after them, as most dialects ask.

In:  calls and results in the order of the messages, and the rules of the dialect about them.
Out: findings about ids that are used twice and about results that are missing, late or doubled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from legato.wire.judging import Findings, Grown, brief, shrink
from legato.wire.rules import WireRule


class PairingRules(NamedTuple):
    """The rules of a dialect that `Pairing` reports."""

    unanswered_call: WireRule
    result_too_late: WireRule
    orphan_result: WireRule
    unknown_result: WireRule
    duplicate_result: WireRule
    duplicate_call_id: WireRule
    repeated_id: WireRule


class Pairing:
    """Follows calls that wait for results which have to be right after them.

    `call` opens a block, `result` answers in it, `close` ends it; `end` comes after the last message. An unanswered
    call is reported at the end, because only then is it known whether its result is missing or merely too late.
    """

    __slots__ = ("_answered", "_excused", "_found", "_late", "_open", "_rules", "_seen")

    def __init__(self, rules: PairingRules, found: Findings) -> None:
        self._rules = rules
        self._found = found
        self._open: dict[str, str] = {}
        self._answered: set[str] = set()
        self._excused: Grown = {}
        self._late: dict[str, str] = {}
        self._seen: Grown = {}

    def save(self) -> Any:
        """The state, for `restore`: what waits at the moment is little and copied, the rest only grows."""
        return self._open.copy(), self._answered.copy(), self._late.copy(), len(self._excused), len(self._seen)

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        waiting, answered, late, excused, seen = saved
        self._open, self._answered, self._late = waiting.copy(), answered.copy(), late.copy()
        shrink(self._excused, excused)
        shrink(self._seen, seen)

    def knows(self, call_id: str) -> bool:
        """Whether a call had this id before."""
        return call_id in self._seen

    def call(self, call_id: str, path: str) -> None:
        """A call is at `path`."""
        if call_id in self._open:
            self._found.report(
                self._rules.duplicate_call_id, path, f"two calls of one answer share the id {brief(call_id)}"
            )
        elif call_id in self._seen:
            self._found.report(
                self._rules.repeated_id,
                path,
                f"the id {brief(call_id)} was used by an earlier call of this request",
            )
        self._seen[call_id] = None
        self._open[call_id] = path

    def result(self, call_id: str, path: str) -> None:
        """A result for `call_id` is at `path`."""
        found, rules = self._found, self._rules
        if call_id in self._open:
            if call_id in self._answered:
                found.report(rules.duplicate_result, path, f"the call {brief(call_id)} is answered twice")
            self._answered.add(call_id)
        elif (late := self._late.pop(call_id, None)) is not None:
            found.report(
                rules.result_too_late,
                path,
                f"the result of {brief(call_id)} does not follow its call at {late} directly",
            )
        elif self._open:
            found.report(rules.unknown_result, path, f"no call of the answer before has the id {brief(call_id)}")
        else:
            found.report(rules.orphan_result, path, f"the result of {brief(call_id)} follows no calls")

    def excuse(self, call_id: str) -> None:
        """The call may stay without a result, and may still have one."""
        self._excused[call_id] = None

    def close(self) -> None:
        """What follows is no result: calls still open stay unanswered."""
        if self._open:
            if len(self._answered) < len(self._open):
                done, excused = self._answered, self._excused
                self._late.update(
                    (key, path) for key, path in self._open.items() if key not in done and key not in excused
                )
            self._open.clear()
            self._answered.clear()

    def end(self) -> None:
        """The request is over."""
        self.close()
        for call_id, path in self._late.items():
            self._found.report(self._rules.unanswered_call, path, f"the call {brief(call_id)} has no result after it")
        self._late.clear()
