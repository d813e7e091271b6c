"""How many tokens a conversation has for one target, kept up to date as it grows.

In:  a conversation, a target, and an estimator of tokens.
Out: a weight for each place of the view, and their sum.

A unit is weighed as it is printed for the target. The bytes are those that the next request is joined from, so asking
how full the window is encodes nothing that the request would not, and costs only what is new. Weights are multiples of
a fixed sample of text, because the estimator learns: when its ratio changes, the sample's token count changes with it,
and no unit has to be weighed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from legato.model import Media, Options, Target, ThinkingPolicy, ToolSpec
from legato.request.encoded_conversation import EncodedConversation
from legato.request.envelope import envelope_for, safe_envelope
from legato.request.render_cache import RenderCache
from legato.request.thinking import will_think
from legato.request.tokens import Estimator, medium_tokens
from legato.session.compaction.texts import has_output
from legato.transcript import Completion, Conversation, Exchange, Said, Unit, completion_text
from legato.transcript.slots import Slot
from legato.transcript.view import View
from legato.wire.context import End
from legato.wire.options import Envelope

SAMPLE = b"A line of text such as people write. " * 256

STUB_TOKENS = 60
"""what a stub costs, roughly"""

_encode = msgspec.json.Encoder().encode


class UnitWeight(NamedTuple):
    """One place: its unit, how the units before and after it meet it, and what it weighs."""

    slot: Slot
    unit: Unit | None
    before: End
    end: End
    weight: float
    tools: float
    """the part of the weight that is calls and outputs"""
    reclaimable: float
    """what stubbing all its outputs would free, roughly"""

    @property
    def calls(self) -> int:
        """How many calls it holds."""
        return len(self.unit.completions) if type(self.unit) is Exchange else 0


class TokenGauge:
    """The weights of one conversation for one target. Call `refresh` before reading it."""

    def __init__(
        self,
        talk: Conversation,
        target: Target,
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
    ) -> None:
        self.talk = talk
        self.target = target
        self.window = target.capabilities.window
        self.places: list[UnitWeight] = []
        self.with_calls: list[int] = []
        """the places that hold calls"""
        self.rebuilt = 0
        """how often the order of the places changed"""
        self._sum = self._tools = self._reclaimable = 0.0
        self._sample_tokens = 1.0
        """tokens of `SAMPLE`, as the estimator counts them now"""
        self._encoded = self._encoded_for(options, thinking)
        self._cursor = self._cuts = 0
        """how much of the view's changes and of the encoded conversation's cuts was read"""
        self._estimator = Estimator()
        self._head: tuple[Envelope, float] | None = None

    @property
    def view(self) -> View:
        """The units that are weighed."""
        return self._encoded.view

    # --- reading ------------------------------------------------------------------------------------------------------

    def tokens(self, weight: float) -> int:
        """`weight` in tokens, as the estimator sees them now."""
        return round(weight * self._sample_tokens)

    @property
    def total(self) -> int:
        """Tokens of all units."""
        return self.tokens(self._sum)

    @property
    def tool_tokens(self) -> int:
        """Tokens of the calls and outputs among them."""
        return self.tokens(self._tools)

    def stub_gain(self, spared: int) -> int:
        """What stubbing every output but those of the newest `spared` calls would free, roughly."""
        newest = 0.0
        seen = 0
        for place in reversed(self.with_calls):
            if seen >= spared:
                break
            seen += self.places[place].calls
            newest += self.places[place].reclaimable
        return self.tokens(self._reclaimable - newest)

    def head_tokens(self, tools: Sequence[ToolSpec], system: str, options: Options | None = None) -> int:
        """Tokens of what surrounds the units: instructions, tools, and options, among them the schema of an answer."""
        envelope = envelope_for(self.talk, self.target, system, tuple(tools), options or Options())
        if self._head is None or self._head[0] != envelope:
            head = self._encoded.parts.head(safe_envelope(envelope), self._encoded.context)
            self._head = (envelope, self.weigh_bytes(_encode([head.fields, head.first])))
        return self.tokens(self._head[1])

    # --- weighing -----------------------------------------------------------------------------------------------------

    def refresh(
        self, estimator: Estimator, options: Options | None = None, thinking: ThinkingPolicy | None = None
    ) -> None:
        """Take what was recorded since the last time, as requests with these options print it."""
        self._estimator = estimator
        self._sample_tokens = max(estimator.tokens(self.target.route, SAMPLE), 1)
        encoded = self._encoded_for(options, thinking)
        encoded.advance()
        if encoded is self._encoded:
            known = self._cut(min(encoded.cuts[self._cuts :], default=len(self.places)))
        else:  # other options, or thoughts that were refused meanwhile: everything may be printed otherwise
            self._encoded, self._cursor = encoded, len(encoded.view.changes)
            known = self._cut(0)
        self._cuts = len(encoded.cuts)
        for place in range(len(self.places), len(encoded.places.slots)):
            self._add(self._unit_weight(place, known))

    def weigh(self, unit: Unit | None, before: End, place: int) -> tuple[float, End]:
        """What `unit` would weigh at `place`, behind a unit that ended so, and how it would end."""
        if unit is None:
            return 0.0, before
        pieces, end = self._encoded.pieces_of(unit, before, place)
        return self._weigh_pieces(unit, pieces), end

    def _weigh_pieces(self, unit: Unit | None, pieces: list[bytes]) -> float:
        """What `unit` weighs that is printed as `pieces`."""
        media = _media(unit)
        if not media:
            return self._estimator.tokens_of(self.target.route, pieces) / self._sample_tokens
        tokens = self._estimator.tokens_with_media(self.target.route, b",".join(pieces), media)
        return tokens / self._sample_tokens

    def _encoded_for(self, options: Options | None, thinking: ThinkingPolicy | None) -> EncodedConversation:
        """What a request with these options will be made from."""
        thinks = will_think(self.target, options or Options())
        return RenderCache.of(self.talk).encoded(self.target, thinking or ThinkingPolicy(), thinking_on=thinks)[1]

    def weigh_bytes(self, data: bytes) -> float:
        """What `data` weighs."""
        return self._estimator.tokens(self.target.route, data) / self._sample_tokens

    def count(self, text: str) -> int:
        """The tokens of `text` for this target."""
        return self._estimator.tokens_of_text(self.target.route, text)

    def output_tokens(self, completion: Completion) -> int:
        """The tokens of one output."""
        return self.tokens(self._output(completion))

    def _add(self, weighed: UnitWeight) -> None:
        if weighed.calls:
            self.with_calls.append(len(self.places))
        self.places.append(weighed)
        self._count(weighed, 1)

    def _cut(self, start: int) -> dict[Slot, UnitWeight]:
        """Take away the places from `start` on; returns their weights, by slot."""
        changes = self.view.changes[self._cursor :]
        self._cursor += len(changes)
        self.rebuilt += any(change.shifts and change.place < len(self.places) for change in changes)
        gone = self.places[start:]
        del self.places[start:]
        while self.with_calls and self.with_calls[-1] >= start:
            self.with_calls.pop()
        for weighed in gone:
            self._count(weighed, -1)
        return {weighed.slot: weighed for weighed in gone}

    def _count(self, weighed: UnitWeight, sign: int) -> None:
        self._sum += sign * weighed.weight
        self._tools += sign * weighed.tools
        self._reclaimable += sign * weighed.reclaimable

    def _unit_weight(self, place: int, known: dict[Slot, UnitWeight]) -> UnitWeight:
        """The place with its weight; the unit's outputs are measured again only if it is another one than before."""
        places, ends = self._encoded.places, self._encoded.assembly.ends
        slot, unit = places.slots[place], places.units[place]
        before = ends[place - 1] if place else End.START
        weight = self._weigh_pieces(unit, self._encoded.pieces(place))
        old = known.get(slot)
        tools, reclaimable = (
            (old.tools, old.reclaimable) if old is not None and old.unit is unit else self._weigh_tools(unit)
        )
        return UnitWeight(slot, unit, before, ends[place], weight, tools, reclaimable)

    def _weigh_tools(self, unit: Unit | None) -> tuple[float, float]:
        """What the calls and outputs of `unit` weigh, and what stubbing the outputs would free."""
        if type(unit) is not Exchange or not unit.completions:
            return 0.0, 0.0
        stub = STUB_TOKENS / self._sample_tokens
        reclaimable = 0.0
        tools = self.weigh_bytes(_encode([call.arguments for call in unit.calls]))
        for completion in unit.completions:
            output = self._output(completion)
            tools += output
            if has_output(completion) and completion.shortened is None:
                reclaimable += max(output - stub, 0.0)
        return tools, reclaimable

    def _output(self, completion: Completion) -> float:
        media = sum(medium_tokens(medium) for medium in completion.media)
        return (self.count(completion_text(completion)) + media) / self._sample_tokens


def _media(unit: Unit | None) -> list[Media]:
    found: list[Media] = []
    if type(unit) is Said or type(unit) is Exchange:
        blocks: Sequence[Any] = unit.blocks
        found += [block for block in blocks if type(block) is Media]
    if type(unit) is Exchange:
        found += [medium for completion in unit.completions for medium in completion.media]
    return found
