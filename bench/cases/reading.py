"""Streamed answers: from the bytes of a response to an answer, beside parsing the JSON of its events alone."""

from __future__ import annotations

import orjson

from bench import workload
from bench.cases.rendering import ROUTES, request
from bench.figures import Figure, Goal, Outcome, Scale, milliseconds
from bench.measure import interleave, timed
from legato.model import Answer, Ending, Entry, Speaker, Text, ToolCall
from legato.request import Request, resolve
from legato.wire.dialects import dialect_parts

CHUNK = 1_400
"""Bytes at a time: about what one packet carries."""

MOST = 6
"""How many times as long as parsing its JSON alone reading a stream may take."""


def streams(scale: Scale) -> Outcome:
    """An answer of about 12 kB of text and six calls, streamed by each dialect."""
    figures: list[Figure] = []
    for route in ROUTES:
        target = resolve(route)
        made = request(workload.recorded(workload.entry_turn(0)), target)
        data = b"".join(dialect_parts(target.dialect).reply_stream(_answer(), target.model))
        events = [line[5:].strip() for line in data.splitlines() if line.startswith(b"data:") and b"{" in line]
        floor = "orjson.loads of its events"
        taken = interleave(
            {
                "decode": timed(lambda made=made, data=data: _decode(made, data)),
                floor: timed(lambda events=events: [orjson.loads(event) for event in events]),
            },
            scale.rounds * 2,
        )
        spent = taken.median("decode")
        detail = (
            f"{milliseconds(spent)}, {spent / len(events) * 1e6:.3g} µs an event, {len(data) / spent / 1e6:.3g} MB/s"
        )
        ratio = taken.ratio("decode", floor)
        figures.append(Figure(route, ratio, against=floor, detail=detail, goal=Goal("at most", MOST)))
    return Outcome(figures)


def _answer() -> Answer:
    calls = [ToolCall("read_file", workload.arguments(turn, 0), workload.wire_id(turn, 0)) for turn in range(6)]
    text = "".join(workload.remark(turn) + " " for turn in range(180))
    return Answer(Entry(Speaker.AI, (Text(text), *calls), ending=Ending.CALLS))


def _decode(made: Request, data: bytes) -> Answer:
    decoder = made.decoder()
    for start in range(0, len(data), CHUNK):
        decoder.feed(data[start : start + CHUNK])
    return decoder.finish()
