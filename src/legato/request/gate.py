"""What is kept beside the messages of one encoded conversation, so that a request costs what is new in it.

In:  the messages as they grow, their JSON, and word of where they were cut.
Out: what the provider's rules hold against a request, and the digest of its bytes.

Both are folds over the messages: a judge that was fed the old ones takes only the new ones, and a hash goes on from
where it was. What only one request has (its last messages may carry a cache mark, or be there because it may not end
otherwise) is taken on top of them and not kept. Nor is the very last message, since the next unit may still join it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from legato.model import JsonObject, Target
from legato.model.hashing import RunningDigest
from legato.wire.assembly import CLOSING
from legato.wire.checkpoints import Checkpoints
from legato.wire.contract import DialectParts, EncodedEnvelope
from legato.wire.judge import Judge, Ruleset

_JUDGES = 2
"""judges that are kept: one for the options of the day, one for those that a session comes back to"""


class _Kept(NamedTuple):
    """A judge, and what of the head it judges by."""

    mode: object
    first: Sequence[JsonObject]
    judge: Judge


class Gate:
    """The judges and the hash of one encoded conversation."""

    def __init__(self, parts: DialectParts, target: Target) -> None:
        self._parts = parts
        self._target = target
        self._judges: list[_Kept] = []
        """the one that was asked last comes first"""
        self._hash: BodyHash | None = None

    @cached_property
    def _rules(self) -> Ruleset:
        return self._parts.ruleset

    def judge(self, head: EncodedEnvelope) -> Judge:
        """The judge of requests with this head."""
        rules = self._rules
        mode = rules.mode(head.fields, self._target)
        for kept in self._judges:
            if kept.mode == mode and kept.first == head.first:
                break
        else:
            kept = _Kept(mode, head.first, Judge(rules, self._target, mode, head.first))
        if not self._judges or self._judges[0] is not kept:
            self._judges = [kept, *(other for other in self._judges if other is not kept)][:_JUDGES]
        return kept.judge

    def hash(self, opening: bytes) -> BodyHash:
        """The hash of bodies that begin so."""
        if self._hash is None or self._hash.opening != opening:
            self._hash = BodyHash(opening)
        return self._hash

    def cut(self, count: int) -> None:
        """The messages from number `count` on are gone, or others now."""
        for kept in self._judges:
            kept.judge.cut(count)
        if self._hash is not None:
            self._hash.cut(count)


class BodyHash:
    """The digest of bodies that begin alike and grow."""

    def __init__(self, opening: bytes) -> None:
        self.opening = opening
        self._count = 0
        self._state = RunningDigest(opening)
        self._checkpoints = Checkpoints(self._state)

    def move_to(self, encoded: Sequence[bytes], count: int) -> None:
        """Come to have the first `count` of the encoded messages in; those that were in before are the same ones."""
        self.cut(count)
        while self._count < count:
            stop = min(count, self._checkpoints.next)
            state = self._state.copy()  # the one before stays what it is, should this be interrupted
            state.add(b",".join((*encoded[self._count : stop], b"")))
            self._state, self._count = state, stop
            if stop == self._checkpoints.next:
                self._checkpoints.keep(stop, state)

    def cut(self, count: int) -> None:
        """The messages from number `count` on are gone, or others now."""
        if count < self._count:
            self._count, self._state = self._checkpoints.back_to(count)

    def name(self, rest: Sequence[bytes]) -> str:
        """The digest of the body that has the messages so far, and then `rest`, of which there is at least one."""
        state = self._state.copy()
        state.add(b",".join(rest) + CLOSING)
        return state.name()
