"""What a draft amounts to once its summaries are written: the records, the tokens left, and what to tell about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from legato.model.records import Compacted, CompactionKind
from legato.session.compaction.plan import Draft, Run
from legato.transcript import Exchange, Summary, output_digest
from legato.wire.context import End


class Cover(NamedTuple):
    """A run and the record that puts a summary in its place."""

    run: Run
    record: Compacted


def shortenings(draft: Draft, covers: list[Cover]) -> Iterator[Compacted]:
    """Records for the outputs that are shortened and not covered, oldest first."""
    covered = {place for cover in covers for place in range(cover.run.start, cover.run.stop)}
    for place in draft.with_calls:
        unit = draft.units[place]
        if place in covered or type(unit) is not Exchange:
            continue
        for completion in unit.completions:
            short = draft.short.get(completion.call_id)
            if short is not None:
                yield Compacted(
                    kind=short.kind,
                    text=short.text,
                    window=draft.gauge.window,
                    call=completion.call_id,
                    digest=output_digest(completion),
                )


def tokens_left(draft: Draft, covers: list[Cover]) -> int:
    """The tokens of the units as they will be."""
    gauge = draft.gauge
    begins = {cover.run.start: cover for cover in covers}
    total, end, place = 0.0, End.START, 0
    while place < len(draft.units):
        cover, known = begins.get(place), draft.places[place]
        if cover is not None:
            weight, end = gauge.weigh(Summary(cover.record.first, cover.record.text), end, place)
            place = cover.run.stop
        elif draft.units[place] is known.unit and end is known.before:
            weight, end, place = known.weight, known.end, place + 1
        else:
            weight, end = gauge.weigh(draft.units[place], end, place)
            place += 1
        total += weight
    return gauge.tokens(total)


def first_unit(draft: Draft, records: Sequence[Compacted], covers: list[Cover]) -> int:
    """The first unit that changes, by the record it began with; -1 if none does."""
    calls = {record.call for record in records}
    touched = [cover.record.first for cover in covers if cover.record in records]
    for place in draft.with_calls:
        unit = draft.units[place]
        if type(unit) is Exchange and any(completion.call_id in calls for completion in unit.completions):
            touched.append(draft.slots[place].first)
            break
    return min(touched, default=-1)


def in_words(records: Sequence[Compacted], covers: list[Cover], excess: int) -> str:
    """What was done, in words."""
    kinds = Counter(record.kind for record in records)
    units = sum(cover.run.stop - cover.run.start for cover in covers)
    parts = [
        f"{_counted(kinds[CompactionKind.STUB], 'output')} stubbed" if kinds[CompactionKind.STUB] else "",
        f"{_counted(kinds[CompactionKind.CLIP], 'output')} clipped" if kinds[CompactionKind.CLIP] else "",
        f"{_counted(units, 'unit')} covered by {_counted(len(covers), 'summary')}"
        if kinds[CompactionKind.COVER]
        else "",
        f"still {excess:,} tokens too long" if excess else "",
    ]
    return ", ".join(part for part in parts if part)


def _counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"
