"""A request that is ready to leave, and the way back from its answer.

`body` shares its values with the log and must not be changed; `copy()` gives one that may. `json()` is joined from
bytes that earlier requests encoded; `verify()` and `digest()` go on from where the request before came to, so they cost
what is new. `decode` and `decoder` read the answer with this request's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from legato.errors import RenderError
from legato.model import Answer, Decision, JsonObject, Options, Target
from legato.model.hashing import digest
from legato.request.answers import GuardedDecoder
from legato.request.encoded_conversation import EncodedConversation
from legato.request.observation import tell_stopped
from legato.request.reader import AnswerReader
from legato.request.report import Emitted, PrefixChange, RenderReport
from legato.request.sdk import sdk_arguments
from legato.transcript.units import Exchange, Unit
from legato.wire.assembly import encode_json, join_json, with_tail
from legato.wire.contract import EncodedEnvelope
from legato.wire.findings import Severity, Violation
from legato.wire.judge import Judge

T = TypeVar("T")


class RequestPieces(NamedTuple):
    """A body in the pieces that it was made of, before cache marks are put into it."""

    fields: JsonObject
    """all but the messages"""
    first: Sequence[JsonObject]
    """messages that are no part of the conversation, such as a system prompt"""
    units: Iterator[tuple[Unit, tuple[JsonObject, ...]]]
    """each unit and its messages; of one that units share, its own part"""
    tail: Sequence[JsonObject]
    """what was put at the end, because a request may not end otherwise"""


class Request:
    """One request for one target. `render` makes it."""

    def __init__(
        self,
        encoded: EncodedConversation,
        options: Options,
        *,
        head: EncodedEnvelope,
        opening: bytes,
        tail: Sequence[JsonObject],
        decisions: Sequence[Decision],
        prefix_change: PrefixChange | None,
        marks: Sequence[tuple[int, int]],
    ) -> None:
        self.target: Target = encoded.context.target
        self.options = options
        self.prefix_change = prefix_change
        self._parts = encoded.parts
        self._context = encoded.context
        self._head = head
        self._opening = opening
        self._tail = tail
        self._decisions = tuple(decisions)
        self._marks = marks
        # The encoded conversation goes on, this request stays what it was: lists that only grow, and how far they went.
        self._assembly = encoded.assembly
        self._gate = encoded.gate
        self._lent = encoded.assembly.lend()
        self._count = len(self._lent)
        self._last = self._lent[-1] if self._lent else None
        self._encoded_places = encoded.places
        self._places = len(encoded.places.units)
        self._known = len(encoded.context.ids)
        self._digest: str | None = None

    # --- what leaves --------------------------------------------------------------------------------------------------

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The request body, to read: it shares values with the log. `copy()` may be changed."""
        messages = self._messages()
        messages[:0] = self._head.first
        return {**self._head.fields, self._parts.messages_field: messages}

    def copy(self) -> JsonObject:
        """The request body as a value of its own."""
        return cast(JsonObject, msgspec.json.decode(self.json()))

    def pieces(self) -> RequestPieces:
        """The body in pieces, to show what became of each unit; it shares values with the log.

        Only for the newest request of a conversation: the assembly goes on with it.
        """
        units = enumerate(islice(self._encoded_places.units, self._places))
        own = ((unit, self._assembly.messages_of(place)) for place, unit in units if unit is not None)
        return RequestPieces(self._head.fields, self._head.first, own, self._tail)

    def json(self) -> bytes:
        """The request body as JSON."""
        if self._is_newest():
            encoded = self._assembly.encoded()[:]
            _put(encoded, self._own_json)
        else:  # the conversation has gone on; this request is encoded by itself
            encoded = [encode_json(message) for message in self._messages()]
        return join_json(self._opening, encoded)

    def digest(self) -> str:
        """A short name for these very bytes."""
        if self._digest is None:
            self._digest = self._find_digest()
        return self._digest

    def _find_digest(self) -> str:
        if not self._is_newest() or not (self._count or self._own):
            return digest(self.json())
        count, encoded = self._lasting, self._assembly.encoded()
        known = self._gate.hash(self._opening)
        known.move_to(encoded, count)
        rest = encoded[count:]
        _put(rest, {number - count: data for number, data in self._own_json.items()})
        return known.name(rest)

    def sdk(self) -> JsonObject:
        """Keyword arguments for the official client of this provider; to stream, add what it wants for that."""
        return sdk_arguments(self.target, cast(JsonObject, self.body))

    def _is_newest(self) -> bool:
        """Whether the assembly still holds the messages of this request and no others."""
        messages = self._assembly.messages
        if messages is not self._lent or len(messages) != self._count:
            return False
        return not messages or messages[-1] is self._last

    def _messages(self, start: int = 0) -> list[JsonObject]:
        """A list of its own; of a long conversation that is most of the work, so it is made once."""
        messages = self._lent[start : self._count]
        if self._last is not None:
            messages[-1] = self._last
        _put(messages, {number - start: message for number, message in self._own.items()})
        return messages

    @property
    def _lasting(self) -> int:
        """How many of the messages every later request will have too: not the last, and none that only this one has."""
        return max(min([self._count - 1, *self._own]), 0)

    @cached_property
    def _own(self) -> dict[int, JsonObject]:
        """The messages that no other request has, by number: those with a cache mark, and what is at the end."""
        own: dict[int, JsonObject] = {}
        if self._tail:
            last = [] if self._last is None else [self._last]
            first = self._count - len(last)
            own = dict(enumerate(with_tail(last, self._tail, self._parts.blocks_field), first))
        for number, block in reversed(self._marks):  # a mark may be a block of its own, which moves those behind it
            message = own.get(number) or (self._last if number == self._count - 1 else self._lent[number])
            if message is not None:
                own[number] = self._marked(message, block)
        return own

    @cached_property
    def _own_json(self) -> dict[int, bytes]:
        return {number: encode_json(message) for number, message in self._own.items()}

    def _marked(self, message: JsonObject, last: int) -> JsonObject:
        """`message` with a cache mark; a mark that its block may not carry moves to the block before it."""
        mark, field = self._parts.mark, self._parts.blocks_field
        blocks: list[JsonObject] = message[field]
        for place in range(last, -1, -1):
            marked = mark(blocks[place], self.options.cache_ttl) if mark else None
            if marked is not None:
                return {**message, field: [*blocks[:place], *marked, *blocks[place + 1 :]]}
        return message

    # --- what comes back ----------------------------------------------------------------------------------------------

    @cached_property
    def _reader(self) -> AnswerReader:
        return AnswerReader(self.target, self._context.names, self._head.free_text)

    def decode(self, response: object) -> Answer:
        """The answer in a response body: a dict, JSON bytes, or the object that the official client returns.

        Raises `BadAnswer` if there is none, whatever is there instead.
        """
        return self._reader.decode(response)

    def decoder(self) -> GuardedDecoder:
        """A decoder for one streamed answer: of bytes, of plain events, or of those that the official client gives.

        It raises `BadAnswer` and nothing else.
        """
        return self._reader.decoder()

    # --- what was done ------------------------------------------------------------------------------------------------

    @cached_property
    def report(self) -> RenderReport:
        """What was closed, moved, dropped, renamed, and why."""
        emitted: list[Emitted] = []
        ids = self._context.ids
        for unit in islice(self._encoded_places.units, self._places):
            if type(unit) is Exchange:
                emitted += [
                    Emitted(
                        call.id,
                        ids[call.id],
                        ids[completion.call_id],
                        call.name,
                        completion.kind.value,
                        completion.reason.value if completion.reason else "",
                    )
                    for call, completion in zip(unit.calls, unit.completions, strict=True)
                ]
        return RenderReport(
            format=f"{self.target.dialect}/{self.target.profile}",
            route=self.target.route,
            calls_seen=tuple(islice(ids, self._known)),
            emitted=tuple(emitted),
            decisions=self.decisions,
            prefix_change=self.prefix_change,
            strategy="native" if self.target.capabilities.native_tool_history else "text-embed",
        )

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Those of the report alone."""
        return tuple(chain(*self._encoded_places.decisions(self._places), self._decisions))

    def mention(self, decisions: Iterable[Decision]) -> None:
        """Put into the report what was decided before this conversation was rendered."""
        self._decisions = (*decisions, *self._decisions)
        self.__dict__.pop("report", None)

    @property
    def about_options(self) -> tuple[Decision, ...]:
        """The decisions about options and tools, which have nothing to do with the conversation."""
        return self._head.decisions

    def check(self) -> list[Violation]:
        """What the provider's rules say about the whole body; empty if all is well."""
        return self._parts.check(cast(JsonObject, self.body), self.target)

    def verify(self) -> None:
        """Raise `RenderError`, with the report, if the provider would refuse the body: nothing malformed is sent.

        The outcome is that of `check`; only what no request before it had is judged.
        """
        if self._is_newest():
            judge, rest = self._judge()
            refused = judge.refusals(self._head.fields, rest)
        else:
            refused = [violation for violation in self.check() if violation.severity is Severity.REFUSED]
        if refused:
            first = refused[0]
            error = RenderError(
                f"this request would be refused by {self.target.route}: {first.message} ({first.rule} at {first.path})",
                layer="wire",
                violations=[msgspec.to_builtins(violation) for violation in refused],
                report=msgspec.to_builtins(self.report),
            )
            tell_stopped(error)
            raise error

    def _judge(self) -> tuple[Judge, list[JsonObject]]:
        """The judge that knows the messages that last, and the messages behind them."""
        judge, count = self._gate.judge(self._head), self._lasting
        judge.move_to(self._lent, count)
        return judge, self._messages(count)


def _put(items: list[T], own: Mapping[int, T]) -> None:
    """Replace some of `items` by number; those with a number behind the end are added there."""
    for number, item in own.items():
        items[number : number + 1] = [item]
