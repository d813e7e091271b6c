"""What to shorten and what to cover, chosen before a word of it is written.

In:  the weights of a conversation for one target, how firmly each unit stays, and the settings.
Out: a draft: outputs with the text that is left of them, and runs of whole units that a summary will replace.

A unit is an atom: it is covered whole or not at all. Gentle measures come first: stubs in place of old outputs, then
covers over what is free. A cover changes the beginning, so everything behind it is read anew whatever its length;
therefore it goes deeper than stubs have to. What is otherwise spared is touched only where the limit would be passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from legato.model import CallId, ToolCall
from legato.model.records import CompactionKind
from legato.session.compaction.gauge import TokenGauge
from legato.session.compaction.retention import Retention, newest_calls, retentions
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.texts import clip_text, has_output, is_stub, stub_text
from legato.transcript import Completion, Exchange, Summary, Unit, whole_output

LEAST_UNITS = 4
"""units in a run below which a summary is not worth a rewrite, unless the limit forces it"""
LEAST_TOKENS = 200
"""tokens that a run of units must have to be worth a summary: our choice, a summary has a few dozen of its own"""

SUMMARY_SHARE = 4
"""a summary may have at most this part of what it replaces"""
GIANT_SHARE = 3
"""outputs of one unit that are together larger than this part of the window are clipped before anything else is lost"""
LEAST_CLIP = 50
"""tokens of a result that are left, however little room there is: our choice, less says nothing"""

LEAST_SAVING = 200
"""characters below which a stub is not worth what it loses"""
SUMMARY_MARGIN = 40
"""tokens around a summary on the wire"""


class Short(NamedTuple):
    """What is left of an output."""

    kind: CompactionKind
    text: str


class Run(NamedTuple):
    """Places from `start` up to `stop`, and the tokens that a summary of them may have."""

    start: int
    stop: int
    cap: int


Shortener: TypeAlias = Callable[[int, ToolCall, Completion], Short | None]


class Draft:
    """What would be shortened and covered, and what the units would weigh then.

    It keeps the places as they were: the conversation may go on while a summary is written.
    """

    def __init__(self, gauge: TokenGauge, settings: HistorySettings, *, head: int) -> None:
        self.gauge = gauge
        self.settings = settings
        self.head = head
        self.short: dict[CallId, Short] = {}
        self.runs: list[Run] = []
        self.places = gauge.places[:]
        self.with_calls = gauge.with_calls[:]
        self.slots = gauge.view.slots[:]
        self.units: list[Unit | None] = [place.unit for place in self.places]
        self._weights = [place.weight for place in self.places]
        self._newest = newest_calls(gauge, settings.max_tool_history_length)
        self._retentions = retentions(gauge, self._newest)

    @property
    def total(self) -> int:
        """Tokens of the request as it would be, with every summary as long as it may be."""
        left = self.head + self.gauge.tokens(sum(self._weights))
        return left - sum(self._freed(run) for run in self.runs)

    def _freed(self, run: Run) -> int:
        return self.gauge.tokens(sum(self._weights[run.start : run.stop])) - run.cap - SUMMARY_MARGIN

    # --- shortening outputs -------------------------------------------------------------------------------------------

    def stub_old(self) -> None:
        """Stub the outputs of all but the newest calls."""
        self._shorten(lambda _, call, done: None if done.call_id in self._newest else _stub(call, done))

    def stub_spared(self, limit: int) -> None:
        """Stub those of the newest calls too, oldest first, down to `limit`; not in units that are fixed or open."""
        for place in self.with_calls:
            if self.total <= limit:
                return
            if self._retentions[place] is Retention.SPARED:
                self._shorten(lambda _, call, done: _stub(call, done), places=(place,))

    def clip_spared(self) -> None:
        """Clip the outputs of the newest calls, except in units that are fixed or open."""
        length = self.settings.clip_length
        self._shorten(
            lambda place, _, done: self._clip(done, length) if self._retentions[place] <= Retention.SPARED else None
        )

    def clip_giants(self) -> None:
        """Clip outputs that fill a good part of the window by themselves, wherever they are."""
        share = self.gauge.window // GIANT_SHARE
        self._shorten(lambda place, _, done: self._clip(done, share // max(self.places[place].calls, 1)))

    def clip_fixed(self, limit: int) -> None:
        """Clip the outputs of every unit evenly, so far that the whole comes down to `limit`."""
        outputs = [done for _, _, done in self._outputs()]
        room = limit - (self.total - sum(self.gauge.output_tokens(done) for done in outputs))
        share = max(room // max(len(outputs), 1), LEAST_CLIP)
        self._shorten(lambda _, __, done: self._clip(done, share))

    def _clip(self, completion: Completion, tokens: int) -> Short | None:
        if self.gauge.output_tokens(completion) <= tokens:
            return None
        text = whole_output(completion)
        characters = len(text) * tokens // max(self.gauge.count(text), tokens, 1)
        return Short(CompactionKind.CLIP, clip_text(completion, characters))

    def _outputs(self, places: Sequence[int] | None = None) -> Iterator[tuple[int, ToolCall, Completion]]:
        """Every output that is not covered, as it would be now; or those at `places`."""
        covered = {place for run in self.runs for place in range(run.start, run.stop)}
        for place in self.with_calls if places is None else places:
            unit = self.units[place]
            if type(unit) is Exchange and place not in covered:
                for call, completion in zip(unit.calls, unit.completions, strict=True):
                    if has_output(completion):
                        yield place, call, completion

    def _shorten(self, shortener: Shortener, *, places: Sequence[int] | None = None) -> None:
        """Put what `shortener` says in place of outputs, where that makes their unit lighter."""
        by_place: dict[int, dict[CallId, Short]] = {}
        for place, call, completion in self._outputs(places):
            short = None if is_stub(completion.shortened) else shortener(place, call, completion)
            if short is not None and _saves(short, completion):
                by_place.setdefault(place, {})[completion.call_id] = short
        for place, shorts in by_place.items():
            unit = self.units[place]
            if type(unit) is not Exchange:
                continue
            completions = tuple(_shortened(done, shorts) for done in unit.completions)
            shorter = Exchange(unit.key, unit.blocks, completions, unit.origin, part=unit.part)
            weight, _ = self.gauge.weigh(shorter, self.places[place].before, place)
            if weight < self._weights[place]:
                self.units[place], self._weights[place] = shorter, weight
                self.short.update(shorts)

    # --- covering units -----------------------------------------------------------------------------------------------

    def cover(self, retention: Retention, goal: int, *, least_units: int = LEAST_UNITS) -> None:
        """Cover what stays no more firmly than `retention`, oldest first, until the whole is down to `goal`."""
        self.runs = []
        excess = self.total - goal
        for start, stop in self._coverable_runs(retention):
            if excess <= 0:
                return
            run = self._beginning(start, stop, excess, least_units=least_units)
            if run is not None:
                self.runs.append(run)
                excess -= self._freed(run)

    def _coverable_runs(self, retention: Retention) -> Iterator[tuple[int, int]]:
        start = 0
        for place, held in enumerate(self._retentions):
            if held > retention:
                if place > start:
                    yield start, place
                start = place + 1
        if len(self._retentions) > start:
            yield start, len(self._retentions)

    def _beginning(self, start: int, stop: int, excess: int, *, least_units: int) -> Run | None:
        """The shortest beginning of a run that frees `excess` and is worth a summary; else all of it, if that is."""
        slots = self.slots
        weight, said = 0.0, 0
        for place in range(start, stop):
            weight += self._weights[place]
            said += self.units[place] is not None and type(self.units[place]) is not Summary
            is_end = place + 1 == stop
            if not is_end and slots[place + 1].first == slots[place].first:
                continue  # recorded together: no cut between them
            tokens = self.gauge.tokens(weight)
            cap = min(self.settings.summary_cap, tokens // SUMMARY_SHARE)
            is_worth_it = said >= least_units and tokens >= LEAST_TOKENS
            if is_end or (is_worth_it and tokens - cap - SUMMARY_MARGIN >= excess):
                return Run(start, place + 1, cap) if is_worth_it else None
        return None

    def said(self, run: Run) -> tuple[Unit, ...]:
        """The units of `run` as they were said, not as they were shortened: the log keeps them whole."""
        ledger = self.gauge.talk.ledger
        return tuple(unit for slot in self.slots[run.start : run.stop] if (unit := slot.make(ledger)) is not None)


def choose(draft: Draft, *, goal: int, depth: int, limit: int, relief: int, least: int) -> None:
    """Shorten and cover: down to `goal` if stubs get there, else down to `depth` by covers.

    What is spared is touched only above `limit`: by covers down to `relief`, and so far in any case that `least` is
    freed, because the next unit would pass the limit again.
    """
    if draft.total > limit:
        limit = min(limit, draft.total - least)
        draft.clip_giants()
    draft.stub_old()
    if draft.total > goal:
        draft.cover(Retention.FREE, depth)
    if draft.total > limit:
        draft.clip_spared()
    if draft.total > limit:
        draft.stub_spared(limit)
    if draft.total > limit:
        draft.cover(Retention.SPARED, relief, least_units=1)
    if draft.total > limit:
        draft.cover(Retention.OPEN, relief, least_units=1)
    if draft.total > limit:
        draft.clip_fixed(limit)


def _saves(short: Short, completion: Completion) -> bool:
    least = LEAST_SAVING if short.kind is CompactionKind.STUB else 1
    text = completion.shortened or whole_output(completion)
    return bool(completion.media) or len(text) - len(short.text) >= least


def _stub(call: ToolCall, completion: Completion) -> Short:
    return Short(CompactionKind.STUB, stub_text(call, completion))


def _shortened(completion: Completion, shorts: dict[CallId, Short]) -> Completion:
    short = shorts.get(completion.call_id)
    return completion if short is None else replace(completion, shortened=short.text, media=())
