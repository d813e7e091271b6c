"""Into the log, and back from it: recording, what it holds in memory, replay, and the whole way from raw JSON."""

from __future__ import annotations

import msgspec
import orjson

from bench import plain, workload
from bench.cases.rendering import PLAIN, ratio, request
from bench.figures import Figure, Goal, Outcome, Scale
from bench.measure import held_bytes, interleave, sample, timed
from legato.ledger import Ledger
from legato.model import Entry
from legato.model.codec import encode_record
from legato.model.records import Record
from legato.request import parse, resolve
from legato.transcript import Conversation
from legato.wire.contract import Parsed

SOURCE, TARGET = resolve("openai/gpt-4o"), resolve(workload.TARGET)


def record(scale: Scale) -> Outcome:
    """Recording entry by entry, in short and long conversations, and what the log holds in memory."""
    # A conversation too short to be timed alone is recorded several times over in one sample.
    times = {size: max(1, scale.small // size) for size in scale.sizes}
    given = {size: workload.entries(size) for size in scale.sizes}
    works = {
        str(size): timed(lambda news=news, count=times[size]: [_record(news) for _ in range(count)])
        for size, news in given.items()
    }
    taken = interleave(works, max(2, scale.rounds // 2))
    base = scale.sizes[0]
    each = {size: taken.median(str(size)) / size / times[size] * 1e6 for size in scale.sizes}
    figures = [
        Figure(
            f"an entry of {size:,}",
            taken.ratio(str(size), str(base)) * base * times[base] / size / times[size],
            against=f"an entry of {base:,}",
            detail=f"{each[size]:.3g} µs / {each[base]:.3g} µs",
            goal=Goal("at most", 1.3) if size == scale.huge else None,
        )
        for size in scale.sizes[1:]
    ]
    size = scale.large
    records = workload.recorded(workload.entries(size)).log
    written = sum(len(encode_record(item)) for item in records)
    held = held_bytes(lambda: _record_made(size))
    detail = f"{held / size:,.0f} bytes / {written / size:,.0f} bytes for an entry"
    figures.append(
        Figure(
            f"memory of {size:,} entries", held / written, against="its JSON", detail=detail, goal=Goal("below", 2.5)
        )
    )
    return Outcome(figures)


def _record(news: list[Entry]) -> Conversation:
    talk = Conversation()
    for entry in news:
        talk.record(entry)
    return talk


def _record_made(size: int) -> Conversation:
    talk = Conversation()
    for turn in workload.turns(size):
        for entry in workload.entry_turn(turn):
            talk.record(entry)
    return talk


def replay(scale: Scale) -> Outcome:
    """From a stored log back to what is true: the ledger alone, and a conversation that can go on."""
    log = list(workload.recorded(workload.entries(scale.large)).log)
    array = b"[" + b",".join(map(encode_record, log)) + b"]"
    decoder = msgspec.json.Decoder(list[Record])
    decode = "decoding the log's JSON"
    taken = interleave(
        {
            "ledger": timed(lambda: Ledger.replay(log)),
            "conversation": timed(lambda: Conversation(log)),
            decode: timed(lambda: decoder.decode(array)),
        },
        scale.rounds,
    )
    return Outcome(
        [
            ratio(f"Ledger.replay of {scale.large:,} records", taken, "ledger", decode),
            ratio(f"Conversation of {scale.large:,} records", taken, "conversation", decode),
        ]
    )


def raw(scale: Scale) -> Outcome:
    """From chat messages that were never seen before to a body: parsed, recorded, rendered."""
    chat = workload.chat_messages(scale.large)
    data = orjson.dumps({"messages": chat})
    around = (TARGET.model, workload.SYSTEM, workload.TOOLS)

    def parsed() -> Parsed:
        return parse(chat, SOURCE)

    def body(talk: Conversation) -> object:
        return request(talk, TARGET).body

    taken = interleave(
        {
            "all": timed(lambda: body(parsed().into_conversation())),
            "parse": timed(parsed),
            "record": sample(Parsed.into_conversation, parsed),
            "render": sample(body, lambda: parsed().into_conversation()),
            "all from bytes": timed(lambda: body(parse(data, SOURCE).into_conversation())),
            PLAIN: timed(lambda: plain.body_of_chat(chat, *around)),
            f"orjson.loads and {PLAIN}": timed(lambda: plain.body_of_chat(orjson.loads(data)["messages"], *around)),
        },
        scale.rounds,
    )
    name = f"{scale.large:,} chat messages"
    return Outcome(
        [
            ratio(f"{name}, from objects", taken, "all", PLAIN),
            ratio(f"{name}, from bytes", taken, "all from bytes", f"orjson.loads and {PLAIN}"),
            *(ratio(f"of that, {step}", taken, step, "all") for step in ("parse", "record", "render")),
        ],
        notes=["beside LiteLLM's conversion of the same messages: see the peers"],
    )
