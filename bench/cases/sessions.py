"""Whole sessions, rendered at every turn: what they cost together, and whether long ones cost more for each turn."""

from __future__ import annotations

from bench import plain, workload
from bench.cases.rendering import PLAIN, fresh, request
from bench.figures import Figure, Goal, Outcome, Scale, Series, milliseconds
from bench.measure import Sample, clock, interleave, measured, timed
from legato.model import Entry, JsonObject
from legato.model.records import Recorded
from legato.request import resolve
from legato.transcript import Conversation

TARGET = resolve(workload.TARGET)
_AROUND = (TARGET.model, workload.SYSTEM, workload.TOOLS)


def sessions(scale: Scale) -> Outcome:
    """Sessions of several lengths beside one first render of what they end with."""
    shortest = scale.sessions[0]
    prepared = [workload.entry_turn(turn) for turn in range(scale.sessions[-1])]
    works: dict[str, Sample] = {}
    for turns in scale.sessions:
        works[_name(turns)] = _session(prepared[:turns])
        works[f"cold {turns}"] = fresh([entry for turn in prepared[:turns] for entry in turn], _first_body)
    works["plain turns"] = _plain_session(prepared[:shortest])
    works[PLAIN] = _plain_at_once(prepared[:shortest])
    taken = interleave(works, max(2, scale.rounds // 2))

    figures: list[Figure] = []
    for turns in scale.sessions:
        detail = f"{milliseconds(taken.median(_name(turns)))} / {milliseconds(taken.median(f'cold {turns}'))}"
        goal = Goal("at most", 1.3) if turns == shortest else None
        times = taken.ratio(_name(turns), f"cold {turns}")
        figures.append(Figure(_name(turns), times, against="one first render of the end", detail=detail, goal=goal))
    base = taken.median(_name(shortest)) / shortest
    for turns in scale.sessions[1:]:
        each = taken.median(_name(turns)) / turns
        times = taken.ratio(_name(turns), _name(shortest)) / (turns / shortest)
        figures.append(
            Figure(
                f"{turns:,} turns, for each turn",
                times,
                against=f"a turn of {shortest:,}",
                detail=f"{each * 1e6:,.0f} µs / {base * 1e6:,.0f} µs",
                goal=Goal("at most", 1.3) if turns == scale.sessions[-1] else None,
            )
        )
    detail = f"{milliseconds(taken.median('plain turns'))} / {milliseconds(taken.median(PLAIN))}"
    name = f"{shortest:,} turns, {PLAIN} of each turn alone"
    figures.append(Figure(name, taken.ratio("plain turns", PLAIN), against=f"{PLAIN} of the end", detail=detail))
    points = [(float(turns), taken.median(_name(turns)) * 1000) for turns in scale.sessions]
    return Outcome(figures, [Series("turns", "Legato", points)])


def _name(turns: int) -> str:
    return f"{turns:,} turns, each rendered"


def _session(turns: list[list[Entry]]) -> Sample:
    def work() -> float:
        talk = Conversation()
        total = 0.0
        for turn in turns:
            talk.apply(talk.prepare(turn))
            begin = clock()
            body = _first_body(talk)
            total += clock() - begin
            del body
        return total

    return lambda: measured(work)


def _plain_session(turns: list[list[Entry]]) -> Sample:
    """The floor of a session: each turn is converted once, alone, and only put behind what was there before."""

    def work() -> float:
        talk = Conversation()
        messages: list[JsonObject] = []
        total = 0.0
        for turn in turns:
            records = talk.prepare(turn)
            talk.apply(records)
            entries = [record.entry for record in records if isinstance(record, Recorded)]
            begin = clock()
            body = plain.body_of_entries(entries, *_AROUND)
            messages += body["messages"]
            body["messages"] = messages[:]
            total += clock() - begin
            del body
        return total

    return lambda: measured(work)


def _plain_at_once(turns: list[list[Entry]]) -> Sample:
    entries = workload.recorded(entry for turn in turns for entry in turn).entries
    return timed(lambda: plain.body_of_entries(entries, *_AROUND))


def _first_body(talk: Conversation) -> object:
    return request(talk, TARGET).body
