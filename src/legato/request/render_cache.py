"""What a conversation keeps for each target it was rendered for: names, ids and what was encoded.

They live with the conversation, so nothing outlives it and no module keeps a cache. Encoded conversations are dropped
least recently used first when their encoded messages together pass a limit; the newest always stays.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import ref

from msgspec import Struct

from legato.model import (
    CallId,
    IdScheme,
    JsonObject,
    NameRule,
    Origin,
    PrefixCause,
    Target,
    ThinkingPolicy,
)
from legato.request.encoded_conversation import EncodedConversation
from legato.request.report import PrefixChange
from legato.transcript.conversation import Conversation
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.ids import IdTable
from legato.wire.names import NameTable

MAX_BYTES_HELD = 64 * 1024 * 1024
"""Encoded messages that one conversation keeps for all its targets together."""


class Fingerprint(Struct, frozen=True):
    """Everything that can change how a unit is encoded."""

    target: Target
    policy: ThinkingPolicy
    thinking_on: bool
    refused: tuple[Origin, ...]
    withheld: frozenset[CallId] = frozenset()


class _Newest(NamedTuple):
    """The newest request to one target."""

    fingerprint: Fingerprint
    encoded: EncodedConversation
    head: EncodedEnvelope


class RenderCache:
    """What one conversation keeps for its targets."""

    def __init__(self, talk: Conversation) -> None:
        self._weak_talk = ref(talk)  # which holds this: in a circle both would wait for the garbage collector
        self._names: dict[NameRule, NameTable] = {}
        self._ids: dict[tuple[IdScheme, NameRule], IdTable] = {}
        self._encoded: dict[Fingerprint, EncodedConversation] = {}
        self._newest: dict[tuple[str, str], _Newest] = {}
        self._last: tuple[Fingerprint, EncodedConversation] | None = None

    @classmethod
    def of(cls, talk: Conversation) -> RenderCache:
        """The cache of `talk`, made when it is first asked for."""
        return talk.cached(cls, lambda: cls(talk))

    @property
    def _talk(self) -> Conversation:
        talk = self._weak_talk()
        assert talk is not None, "whoever renders a conversation has it"
        return talk

    def names(self, target: Target) -> NameTable:
        """The projection of tool names for `target`."""
        rule = target.capabilities.name_rule
        if rule not in self._names:
            self._names[rule] = NameTable(rule)
        return self._names[rule]

    def ids(self, target: Target) -> IdTable:
        """The projection of call ids for `target`, extended to every call that was recorded."""
        key = (target.capabilities.id_scheme, target.capabilities.name_rule)
        table = self._ids.get(key)
        if table is None:
            table = self._ids[key] = IdTable(key[0], self.names(target))
        calls = self._talk.ledger.in_order
        if len(table) < len(calls):
            table.extend(calls[len(table) :])
        return table

    def encoded(
        self, target: Target, policy: ThinkingPolicy, *, thinking_on: bool
    ) -> tuple[Fingerprint, EncodedConversation]:
        """The conversation as encoded for `target`, as far as that was done before."""
        relevant = thinking_on and target.capabilities.reasoning_field
        refused = self._talk.ledger.refused_origins
        if refused:
            refused = tuple(origin for origin in refused if origin.provider == target.provider)
        withheld = self._talk.ledger.refused_content.get(target.provider, frozenset())
        fingerprint = Fingerprint(target, policy, relevant, refused, withheld)
        self.ids(target)
        if self._last is not None and self._last[0] == fingerprint:
            return self._last
        encoded = self._encoded.pop(fingerprint, None) or self._new_encoded(fingerprint)
        self._encoded[fingerprint] = encoded  # the newest is last
        self._drop_oldest()
        self._last = (fingerprint, encoded)
        return self._last

    def _new_encoded(self, fingerprint: Fingerprint) -> EncodedConversation:
        target, policy = fingerprint.target, fingerprint.policy
        context = EncodeContext(
            target=target,
            ids=self.ids(target),
            names=self.names(target),
            is_home=_Home(target, fingerprint.refused),
            thinking_on=fingerprint.thinking_on,
            foreign=policy.foreign,
            withheld=fingerprint.withheld,
        )
        return EncodedConversation(self._talk, context, policy)

    def prefix_change(
        self, fingerprint: Fingerprint, encoded: EncodedConversation, change: PrefixChange | None, head: EncodedEnvelope
    ) -> PrefixChange | None:
        """Why the newest request does not extend the one before it to the same target; None if it does.

        `change` is what changed within `encoded`; another fingerprint or another envelope may be a cause too.
        """
        target = fingerprint.target
        route = (target.provider, target.model)
        before = self._newest.get(route)
        self._newest[route] = _Newest(fingerprint, encoded, head)
        if before is None:
            return None
        if before.encoded is not encoded:
            first = encoded.first_difference(before.encoded)
            change = None if first is None else PrefixChange(_cause(before.fingerprint, fingerprint), first)
        if change is None and before.head is not head and _prefix_of(before.head) != _prefix_of(head):
            return PrefixChange(PrefixCause.ENVELOPE, -1)
        return change

    @property
    def bytes_held(self) -> int:
        """The size of all that is encoded."""
        return sum(encoded.bytes_held for encoded in self._encoded.values())

    def _drop_oldest(self) -> None:
        held = self.bytes_held
        while held > MAX_BYTES_HELD and len(self._encoded) > 1:
            oldest = next(iter(self._encoded))
            held -= self._encoded.pop(oldest).bytes_held


def _prefix_of(head: EncodedEnvelope) -> tuple[JsonObject, tuple[JsonObject, ...]]:
    return head.fields, head.first


def _cause(before: Fingerprint, now: Fingerprint) -> PrefixCause:
    if before.refused != now.refused:
        return PrefixCause.REASONING_REFUSED
    if before.withheld != now.withheld:
        return PrefixCause.CONTENT_REFUSED
    return PrefixCause.THINKING_POLICY if before.policy != now.policy else PrefixCause.ENVELOPE


class _Home:
    """Whether native data from an origin may go to one target: it is its own, and was not refused before."""

    def __init__(self, target: Target, refused: tuple[Origin, ...]) -> None:
        self._target = target
        self._refused = {_place(origin) for origin in refused}
        self._last: tuple[Origin | None, bool] = (None, False)

    def __call__(self, origin: Origin | None) -> bool:
        if origin is None:
            return False
        if self._last[0] != origin:  # one origin usually follows itself
            self._last = (origin, self._target.is_home_of(origin) and _place(origin) not in self._refused)
        return self._last[1]


def _place(origin: Origin) -> tuple[str, str, str, str]:
    return origin.dialect, origin.provider, origin.endpoint, origin.account
