"""How large a conversation is for one target, kept up to date as it grows.

In:  a conversation, a target, and whoever estimates tokens.
Out: a weight for each place of the view, and their sum.

A unit is weighed once, as the target's own dialect prints it, and again only if it changed; asking how full the window
is costs what is new. Weights are multiples of a fixed sample of text, because the estimator learns: when its ratio
changes, the sample changes with it, and no unit has to be weighed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from legato.model import Media, MediaKind, Options, Target, ToolSpec
from legato.request.thinking import will_think
from legato.request.voices import Voices
from legato.session.history_texts import has_output
from legato.session.tokens import Estimator
from legato.transcript import Completion, Conversation, Exchange, Said, Unit, completion_text
from legato.transcript.slots import Slot
from legato.wire.contract import Envelope
from legato.wire.dialects import dialect_parts
from legato.wire.voice import End, Voice

SAMPLE = b"A line of text such as people write. " * 256

MEDIUM_TOKENS = 1_600
"""what a picture of usual size costs; its bytes say nothing about it"""
MEDIUM_BYTES_PER_TOKEN = 50
"""base64 of a document or a recording for one token, roughly"""
STUB_TOKENS = 60
"""what a stub costs, roughly"""

_encode = msgspec.json.Encoder().encode


class Weighed(NamedTuple):
    """One place: its unit, how the units before and after it meet it, and what it weighs."""

    slot: Slot
    revision: int
    unit: Unit | None
    before: End
    end: End
    weight: float
    tools: float
    """the part of the weight that is calls and outputs"""
    loose: float
    """what stubbing all its outputs would free, roughly"""

    @property
    def calls(self) -> int:
        """How many calls it holds."""
        return len(self.unit.completions) if type(self.unit) is Exchange else 0


class Gauge:
    """The weights of one conversation for one target. Call `refresh` before reading it."""

    def __init__(self, talk: Conversation, target: Target) -> None:
        self.talk = talk
        self.target = target
        self.window = target.capabilities.window
        self.view = talk.view(self.window)
        self.places: list[Weighed] = []
        self.with_calls: list[int] = []
        """the places that hold calls"""
        self.rebuilt = 0
        """how often the order of the places changed"""
        self._sum = self._tools = self._loose = 0.0
        self._cursor = 0
        self._yard = 1.0
        self._parts = dialect_parts(target.dialect)
        self._voice = Voice(
            target,
            Voices.of(talk).ids(target),
            Voices.of(talk).names(target),
            target.is_home_of,
            thinking_on=will_think(target, Options()) and target.capabilities.reasoning_field,
        )
        self._encoder = self._parts.encoder(self._voice)
        self._estimator = Estimator()
        self._head: tuple[tuple[tuple[ToolSpec, ...], str, str], float] | None = None

    # --- reading ------------------------------------------------------------------------------------------------------

    def tokens(self, weight: float) -> int:
        """`weight` in tokens, as the estimator sees them now."""
        return round(weight * self._yard)

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
            newest += self.places[place].loose
        return self.tokens(self._loose - newest)

    def head_tokens(self, tools: Sequence[ToolSpec], system: str) -> int:
        """Tokens of what stands around the units: instructions and tools."""
        asked = (tuple(tools), system, self.talk.instructions)
        if self._head is None or self._head[0] != asked:
            instructions = "\n\n".join(text for text in (asked[2], system) if text.strip())
            head = self._parts.head(Envelope(instructions, tools, Options()), self._voice)
            self._head = (asked, self.weigh_bytes(_encode([head.fields, head.first])))
        return self.tokens(self._head[1])

    # --- weighing -----------------------------------------------------------------------------------------------------

    def refresh(self, estimator: Estimator) -> None:
        """Take what was recorded since the last time."""
        self._estimator = estimator
        self._yard = max(estimator.tokens(self.target.route, SAMPLE), 1)
        Voices.of(self.talk).ids(self.target)  # the names of new calls
        self.view.refresh()
        changes = self.view.changes[self._cursor :]
        self._cursor += len(changes)
        shift = min((change.place for change in changes if change.shifts), default=len(self.places))
        if shift < len(self.places):
            self.rebuilt += 1
            self._cut(shift)
        for place in sorted({change.place for change in changes if change.place < len(self.places)}):
            self._weigh_again(place)
        for place in range(len(self.places), len(self.view.slots)):
            self._append(place)

    def weigh(self, unit: Unit | None, before: End) -> tuple[float, End]:
        """What `unit` weighs behind a unit that ended so, and how it ends."""
        if unit is None:
            return 0.0, before
        spelled = self._encoder.encode(unit, before, True)
        # A group with a role becomes a message, or a part of one; without, its blocks are messages already.
        data = _encode(spelled.messages)
        extra = 0
        for medium in _media(unit):
            raw = (medium.data or "").encode()
            if raw in data:  # it is printed; what it costs does not follow from its bytes
                data = data.replace(raw, b"") if raw else data
                extra += _medium_tokens(medium)
        return self.weigh_bytes(data) + extra / self._yard, spelled.end

    def weigh_bytes(self, data: bytes) -> float:
        """What `data` weighs."""
        return self._estimator.tokens(self.target.route, data) / self._yard

    def count(self, text: str) -> int:
        """The tokens of `text` for this target."""
        return self._estimator.tokens(self.target.route, text.encode())

    def output_tokens(self, completion: Completion) -> int:
        """The tokens of one output."""
        return self.tokens(self._output(completion))

    def _append(self, place: int) -> None:
        before = self.places[-1].end if self.places else End.START
        self._add(self._weighed(place, before))

    def _add(self, weighed: Weighed) -> None:
        if weighed.calls:
            self.with_calls.append(len(self.places))
        self.places.append(weighed)
        self._count(weighed, 1)

    def _weigh_again(self, place: int) -> None:
        """Weigh the unit at `place` again, and those after it as far as they depend on how it ends."""
        while place < len(self.places):
            old = self.places[place]
            before = self.places[place - 1].end if place else End.START
            new = self.places[place] = self._weighed(place, before)
            self._count(old, -1)
            self._count(new, 1)
            if bool(old.calls) != bool(new.calls):
                self.with_calls = [index for index, weighed in enumerate(self.places) if weighed.calls]
            if new.end is old.end:
                return
            place += 1

    def _cut(self, start: int) -> None:
        """Take the places from `start` on away; those that come again unchanged are not weighed again."""
        gone = self.places[start:]
        del self.places[start:]
        while self.with_calls and self.with_calls[-1] >= start:
            self.with_calls.pop()
        for weighed in gone:
            self._count(weighed, -1)
        known = {weighed.slot: weighed for weighed in gone}
        for place in range(start, len(self.view.slots)):
            slot = self.view.slots[place]
            before = self.places[-1].end if self.places else End.START
            old = known.get(slot)
            if old is not None and old[1:4] == (slot.revision, self.view.unit(place), before):
                self._add(old)
            else:
                self._append(place)

    def _count(self, weighed: Weighed, sign: int) -> None:
        self._sum += sign * weighed.weight
        self._tools += sign * weighed.tools
        self._loose += sign * weighed.loose

    def _weighed(self, place: int, before: End) -> Weighed:
        slot, unit = self.view.slots[place], self.view.unit(place)
        weight, end = self.weigh(unit, before)
        tools = loose = 0.0
        if type(unit) is Exchange and unit.completions:
            stub = STUB_TOKENS / self._yard
            for completion in unit.completions:
                output = self._output(completion)
                tools += output
                if has_output(completion) and completion.shortened is None:
                    loose += max(output - stub, 0.0)
            tools += self.weigh_bytes(_encode([call.arguments for call in unit.calls]))
        return Weighed(slot, slot.revision, unit, before, end, weight, tools, loose)

    def _output(self, completion: Completion) -> float:
        media = sum(_medium_tokens(medium) for medium in completion.media)
        return self.weigh_bytes(completion_text(completion).encode()) + media / self._yard


def _medium_tokens(medium: Media) -> int:
    if medium.kind is MediaKind.IMAGE:
        return MEDIUM_TOKENS
    return max(MEDIUM_TOKENS, len(medium.data or "") // MEDIUM_BYTES_PER_TOKEN)


def _media(unit: Unit) -> list[Media]:
    found: list[Media] = []
    if type(unit) is Said or type(unit) is Exchange:
        blocks: Sequence[Any] = unit.blocks
        found += [block for block in blocks if type(block) is Media]
    if type(unit) is Exchange:
        found += [medium for completion in unit.completions for medium in completion.media]
    return found
