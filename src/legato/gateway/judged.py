"""What a provider would refuse in what a client says, judged request by request: only what is new in it.

In:  the bodies of one conversation, each of which mostly begins with the messages of the one before.
Out: what the provider's rules refuse in each, as if all of it had been judged at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import eq
from typing import Any

import msgspec

from legato.gateway.scans import count_same
from legato.model import Json, JsonObject, Target
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from legato.wire.judge import Judge
from legato.wire.judging import is_list

_TOOLS = "tools"


class SaidJudge:
    """Judges the bodies of one conversation; it keeps the newest, to see what the next has in common with it."""

    def __init__(self) -> None:
        self._judge: tuple[Target, Any, Judge] | None = None
        """a judge, and the target and the mode that it judges by"""
        self._head: JsonObject = {}
        """the fields beside the messages"""
        self._messages: list[Json] = []

    def refusals(self, fields: JsonObject, target: Target) -> list[Violation]:
        """What `target` would refuse in a body of these `fields`."""
        parts = dialect_parts(target.dialect)
        rules = parts.ruleset
        messages = fields.get(rules.messages_field)
        if not is_list(messages):
            return [found for found in parts.check(fields, target) if found.severity is Severity.REFUSED]
        head = {name: value for name, value in fields.items() if name != rules.messages_field}
        if not _is_same_head(head, self._head):
            self._head = head
        judge = self._judge_for(target, rules.mode(head, target))
        same = shared_beginning(self._messages, messages)
        judge.cut(same)
        # Those that were judged stay, with whatever else holds them.
        self._messages = [*self._messages[:same], *messages[same:]]
        last = max(len(messages) - 1, 0)  # which the next request may have in another form: with a cache mark, without
        judge.move_to(self._messages, last)
        return judge.refusals(self._head, self._messages[last:])

    def _judge_for(self, target: Target, mode: Any) -> Judge:
        if self._judge is None or self._judge[:2] != (target, mode):
            self._judge = target, mode, Judge(dialect_parts(target.dialect).ruleset, target, mode)
        return self._judge[2]


def _is_same_head(one: JsonObject, other: JsonObject) -> bool:
    """Whether both are the same fields; of lists of tools, which are long, only the very same are (`known_tools`)."""
    return one.get(_TOOLS) is other.get(_TOOLS) and _is_same({**one, _TOOLS: None}, {**other, _TOOLS: None})


def shared_beginning(before: Sequence[Json], now: Sequence[Json]) -> int:
    """How many messages both begin with."""
    known = count_same(before, now)
    same = known + sum(takewhile(bool, map(eq, before[known:], now[known:])))
    return same if _is_same(before[known:same], now[known:same]) else known


def _is_same(one: object, other: object) -> bool:
    """Whether both are the same as JSON; to Python, 1 is True."""
    return msgspec.json.encode(one) == msgspec.json.encode(other)
