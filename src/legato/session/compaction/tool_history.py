"""The one owner of what is kept of a conversation for a model, and of what is left out.

In:  a conversation, the target of its next request, and an estimate of tokens.
Out: records that say what a render for windows of this size may leave out; nothing is written here.

It is asked before every request and does nothing most of the time. It acts when the outputs of tools pass their
threshold, or the request passes the high mark, or a provider said that it is too long; then in one large step, because
each rewrite costs the provider's cache from the first changed unit on:

    stub    outputs of all but the newest calls
    cover   whole units, oldest first, by a summary, where stubs do not reach the low mark
    clip    the newest outputs, and more, only where the ceiling would be passed

How a shortened history is encoded (calls with their outputs, or outputs as text) is the business of the target's
dialect; the records are the same for both. The log keeps everything: for a larger window, and after an undo, the
originals are there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import Capabilities, Options, Target, ThinkingPolicy, ToolSpec, Usage
from legato.model.records import Compacted, CompactionKind
from legato.request.tokens import Estimator
from legato.session.compaction.gauge import TokenGauge
from legato.session.compaction.outcome import Cover, first_unit, in_words, shortenings, tokens_left
from legato.session.compaction.plan import Draft, Run, choose
from legato.session.compaction.settings import CURRENT, HistorySettings
from legato.session.compaction.summaries import Summaries
from legato.session.compaction.summariser import RouteSummariser, Spent, Summariser, SummaryInput, untold
from legato.session.events import HistoryCompacted
from legato.transcript import Conversation
from legato.world import World

OVERFLOW_GOAL = 0.5
"""what part of a request that was too long is aimed at: our choice, as our estimate was wrong"""

OVERFLOW_LIMIT = 0.75
"""what part of it is the least that will do"""

OVERFLOW_LEAST = 0.1
"""of a request that a provider found too long: our estimate was wrong, so only a real cut is of use"""

THRESHOLD_LEAST = 0.5
"""of the truncation threshold: what stubs for its sake have to free, unless `min_gain` of the window is less"""


class Compaction(Struct, frozen=True):
    """What is to be written, and what to tell about it.

    `excess` is how many tokens the request is still above the ceiling when everything that can go is gone; such a
    request must not be sent. `records` may be empty then.
    """

    records: tuple[Compacted, ...]
    event: HistoryCompacted
    excess: int = 0


class _Marks(Struct, frozen=True):
    """What one compaction aims at, in tokens."""

    goal: int
    """down to here, if stubs get there"""
    depth: int
    """down to here, if units have to be covered"""
    limit: int
    """above it, what is spared goes too"""
    relief: int
    """and then down to here"""
    least: int
    """what has to be freed at least"""
    is_firm: bool = False
    """whether that holds above the limit too, where otherwise every bit helps"""


class _Writer(NamedTuple):
    """Who answers at present, and may be asked for a summary; who is told what that cost."""

    route: str
    spent: Spent


class _Bill:
    """What one summary used, passed on to be counted."""

    def __init__(self, spent: Spent) -> None:
        self.route = ""
        self.usage: Usage | None = None
        self._spent = spent

    def add(self, route: str, usage: Usage, prices: Capabilities) -> None:
        self.route, self.usage = route, usage
        self._spent(route, usage, prices)


class _Watch:
    """What is remembered of one conversation and one target between two requests."""

    def __init__(self, gauge: TokenGauge) -> None:
        self.gauge = gauge
        self.quiet_total = 0
        """up to here another try is not worth it: the last one freed too little"""
        self.quiet_gain = 0
        """the same for stubs, in tokens that they would free"""
        self._rebuilt = 0

    def refresh(self, estimator: Estimator, options: Options | None, thinking: ThinkingPolicy | None) -> None:
        self.gauge.refresh(estimator, options, thinking)
        if self._rebuilt != self.gauge.rebuilt:
            self._rebuilt = self.gauge.rebuilt
            self.quiet_total = self.quiet_gain = 0


class _Watches:
    """What is remembered of one conversation, for each history that was asked about it and each target."""

    def __init__(self) -> None:
        self.by_target: dict[tuple[ToolHistory, Target], _Watch] = {}


class ToolHistory:
    """Decides what is kept. One serves a whole session; what it remembers lives with the conversation."""

    def __init__(self, settings: HistorySettings | None = None, summariser: Summariser | None = None) -> None:
        self.settings = settings or HistorySettings()
        if self.settings.summarization_model is not None and summariser is None:
            raise ConfigError(
                f"summarization_model is {self.settings.summarization_model!r}, but nobody is there to ask it; make "
                "the history with ToolHistory.in_world, or leave summarization_model unset"
            )
        self._summaries = Summaries(summariser)

    @property
    def asks_a_model(self) -> bool:
        """Whether a model writes the summaries, so that making room has to be awaited."""
        return self._summaries.asks

    @classmethod
    def in_world(cls, world: World, settings: HistorySettings | None = None) -> Self:
        """A history whose summaries are written by the model that `settings` name, reached through `world`."""
        settings = settings or HistorySettings()
        route = settings.summarization_model
        if route is None:
            return cls(settings)
        return cls(settings, RouteSummariser(world, None if route == CURRENT else route))

    # --- when ---------------------------------------------------------------------------------------------------------

    async def make_room(
        self,
        talk: Conversation,
        target: Target,
        *,
        estimator: Estimator,
        overflowed: bool = False,
        tools: Sequence[ToolSpec] = (),
        system: str = "",
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
        spent: Spent = untold,
    ) -> Compaction | None:
        """What to leave out of the next request to `target`; None if nothing has to be, or nothing worth it can be.

        `overflowed`: the provider found the last request too long. Then a real part of it is freed, or None. `options`
        and `thinking` are those of the request, so that what is measured is what it will be made from. `spent` is told
        what a model used that was asked for a summary.
        """
        watch = self._watch(talk, target, estimator, options, thinking)
        head = watch.gauge.head_tokens(tools, system, options)
        if not overflowed:
            return await self._when_due(watch, head, writer=_Writer(target.route, spent))
        marks, total = self._marks(target), head + watch.gauge.total
        too_long = _Marks(
            goal=min(marks.goal, round(total * OVERFLOW_GOAL)),
            depth=min(marks.goal, round(total * OVERFLOW_GOAL)),
            limit=min(marks.limit, round(total * OVERFLOW_LIMIT)),
            relief=min(marks.relief, round(total * OVERFLOW_LIMIT)),
            least=max(round(total * OVERFLOW_LEAST), 1),
            is_firm=True,
        )
        compaction = await self._compact(watch, too_long, head=head, writer=_Writer(target.route, spent))
        return compaction if compaction is not None and compaction.records else None

    async def make_room_for_switch(
        self,
        talk: Conversation,
        old_target: Target,
        new_target: Target,
        *,
        estimator: Estimator,
        tools: Sequence[ToolSpec] = (),
        system: str = "",
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
        spent: Spent = untold,
    ) -> Compaction | None:
        """What to leave out before a switch to a smaller window, while `old_target` still answers; else None.

        A window that is as large or larger is never a reason to compact.
        """
        if new_target.capabilities.window >= old_target.capabilities.window:
            return None
        watch = self._watch(talk, new_target, estimator, options, thinking)
        head = watch.gauge.head_tokens(tools, system, options)
        return await self._when_due(watch, head, writer=_Writer(old_target.route, spent))

    async def compact_now(
        self,
        talk: Conversation,
        target: Target,
        *,
        estimator: Estimator,
        tools: Sequence[ToolSpec] = (),
        system: str = "",
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
        spent: Spent = untold,
    ) -> Compaction | None:
        """Shorten everything that is not spared, because the user asked for it; None if nothing can be."""
        watch = self._watch(talk, target, estimator, options, thinking)
        head = watch.gauge.head_tokens(tools, system, options)
        marks = self._marks(target)
        now = _Marks(goal=0, depth=0, limit=marks.limit, relief=marks.relief, least=1)
        compaction = await self._compact(watch, now, head=head, writer=_Writer(target.route, spent))
        return compaction if compaction is not None and compaction.records else None

    async def _when_due(self, watch: _Watch, head: int, *, writer: _Writer) -> Compaction | None:
        gauge, settings = watch.gauge, self.settings
        marks = self._marks(gauge.target)
        total = head + gauge.total
        if total > round(settings.high_mark * gauge.window):
            if watch.quiet_total >= total and total <= marks.limit:
                return None
            compaction = await self._compact(watch, marks, head=head, writer=writer)
            if compaction is None:
                watch.quiet_total = total + max(marks.least // 2, 1)
            return compaction
        gain = gauge.stub_gain(settings.max_tool_history_length)
        # The threshold is a number of tokens, so what is worth a rewrite for its sake does not grow with the window.
        least = min(marks.least, max(round(settings.truncation_threshold * THRESHOLD_LEAST), 1))
        if gauge.tool_tokens <= settings.truncation_threshold or gain < max(least, watch.quiet_gain):
            return None
        # The window itself has room: outputs are stubbed, and nothing is covered.
        roomy = _Marks(goal=total, depth=total, limit=marks.limit, relief=marks.relief, least=least)
        compaction = await self._compact(watch, roomy, head=head, writer=writer)
        if compaction is None:
            watch.quiet_gain = gain + max(least // 2, 1)
        return compaction

    def _marks(self, target: Target) -> _Marks:
        settings, window = self.settings, target.capabilities.window
        return _Marks(
            goal=round(settings.low_mark * window),
            depth=round(min(settings.cover_mark, settings.low_mark) * window),
            limit=round(settings.ceiling * window),
            relief=round(settings.high_mark * window),
            least=max(round(settings.min_gain * window), 1),
        )

    def _watch(
        self,
        talk: Conversation,
        target: Target,
        estimator: Estimator,
        options: Options | None = None,
        thinking: ThinkingPolicy | None = None,
    ) -> _Watch:
        watches = talk.cached(_Watches, _Watches).by_target
        watch = watches.get((self, target))
        if watch is None:
            watch = watches[self, target] = _Watch(TokenGauge(talk, target, options, thinking))
        watch.refresh(estimator, options, thinking)
        return watch

    # --- what ---------------------------------------------------------------------------------------------------------

    async def _compact(self, watch: _Watch, marks: _Marks, *, head: int, writer: _Writer) -> Compaction | None:
        """Everything that `marks` ask for, as records; None if that is not worth a rewrite."""
        gauge = watch.gauge
        epoch = gauge.talk.composer.epoch
        before = head + gauge.total
        draft = Draft(gauge, self.settings, head=head)
        choose(draft, goal=marks.goal, depth=marks.depth, limit=marks.limit, relief=marks.relief, least=marks.least)
        covers = [cover for run in draft.runs if (cover := await self._cover(draft, run, writer)) is not None]
        if gauge.talk.composer.epoch != epoch:
            return None  # undone, or compacted elsewhere, while the summary was written
        records = (*shortenings(draft, covers), *(cover.record for cover in covers))
        after = head + tokens_left(draft, covers)
        if before - after < (marks.least if before <= marks.limit or marks.is_firm else 1):
            records, after = (), before
        excess = max(after - round(self.settings.ceiling * gauge.window), 0)
        if not records and not excess:
            return None
        detail = in_words(records, covers, excess)
        first = first_unit(draft, records, covers)
        return Compaction(
            records, HistoryCompacted(before=before, after=after, detail=detail, first_unit=first), excess
        )

    async def _cover(self, draft: Draft, run: Run, writer: _Writer) -> Cover | None:
        """The record that covers `run`; None if it would cover something else too, or if no summary is shorter."""
        gauge, slots = draft.gauge, draft.slots[run.start : run.stop]
        first, last = min(slot.first for slot in slots), max(slot.last for slot in slots)
        if sum(first <= slot.first and slot.last <= last for slot in draft.slots) != len(slots):
            return None
        bill = _Bill(writer.spent)
        text = SummaryInput(draft.said(run), run.cap, writer.route, bill.add)
        summary, name = await self._summaries.write(text, gauge.talk, count=gauge.count)
        if gauge.count(summary) > run.cap:
            return None
        return Cover(
            run,
            Compacted(
                kind=CompactionKind.COVER,
                text=summary,
                window=gauge.window,
                first=first,
                last=last,
                digest=name,
                by=bill.route,
                usage=bill.usage,
            ),
        )
