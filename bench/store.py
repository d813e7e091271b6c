"""How the store costs: loading against plain decoding, and appending to a short against a long log.

Ratios, because seconds say more about the machine than about the code. Each is the median of the ratios of several
rounds in which both sides take turns, so that a busy moment of the machine hits both.
"""

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import msgspec

from legato.model.blocks import CallId, Text, Thinking, ToolCall, ToolResponse
from legato.model.codec import encode_record
from legato.model.entries import Ending, Entry, Origin, Speaker
from legato.model.records import Record, Recorded
from legato.store.sqlite import SqliteStore

LOAD_LIMIT = 3.0
"""Loading a session may cost at most this many times decoding its JSON."""

APPEND_LIMIT = 1.5
"""Appending to a very long log may cost at most this many times appending to a short one; disks have moods."""


def messages(count: int) -> list[Record]:
    """A log of `count` messages, such as an agent at work makes them: questions, calls, results, answers."""
    origin = Origin("anthropic", "anthropic", "https://api.anthropic.com", "", "claude-sonnet-4-5", "claude-sonnet-4-5")
    records: list[Record] = []
    for number in range(0, count, 4):
        call = CallId(f"hist_tool_{number:08d}")
        thought = Thinking(text="Which file holds it? " * 8, native={"signature": "c2lnbmF0dXJl" * 12})
        path = {"path": f"src/part_{number}.py", "lines": number}
        asks = ToolCall(name="read_file", arguments=path, wire_id=f"toolu_{number}", id=call, ordinal=number // 4)
        result = ToolResponse(call_id=call, tool_name="read_file", result="def part():\n    return 1\n" * 15)
        entries = (
            Entry(Speaker.HUMAN, (Text(text=f"Question {number}: where is it decided? " * 4),)),
            Entry(Speaker.AI, (thought, asks), origin=origin, answer=f"{number}", ending=Ending.CALLS),
            Entry(Speaker.TOOL, (result,)),
            Entry(
                Speaker.AI, (Text(text="It is decided here, for this reason. " * 6),), origin=origin, ending=Ending.DONE
            ),
        )
        records.extend(Recorded(entry=entry, at=1_700_000_000.0 + number) for entry in entries)
    return records[:count]


def load_ratio(count: int = 10_000, *, rounds: int = 9) -> float:
    """Loading a session of `count` messages, as a multiple of `msgspec` decoding them from one JSON array."""
    records = messages(count)
    array = b"[" + b",".join(map(encode_record, records)) + b"]"
    decoder = msgspec.json.Decoder(list[Record])

    async def measure(path: Path) -> float:
        async with SqliteStore(path) as store:
            session = await store.create(records=records)

            async def decode() -> None:
                decoder.decode(array)

            async def load() -> None:
                await store.read(session)

            return await _ratio(load, decode, rounds)

    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(measure, Path(folder) / "load.db")


def append_ratio(short: int = 10, long: int = 100_000, *, rounds: int = 60) -> float:
    """Appending a record to a log of `long` messages, as a multiple of appending it to one of `short`."""
    news = messages(4)

    async def measure(path: Path) -> float:
        async with SqliteStore(path) as store:

            async def appender(count: int) -> Callable[[], Awaitable[None]]:
                session = await store.create(records=messages(count))
                lease = await store.open(session, holder="bench")
                length = count

                async def append() -> None:
                    nonlocal length
                    length = await store.append(lease, length, news[length % 4 : length % 4 + 1])

                return append

            return await _ratio(await appender(long), await appender(short), rounds)

    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(measure, Path(folder) / "append.db")


async def _ratio(one: Callable[[], Awaitable[None]], other: Callable[[], Awaitable[None]], rounds: int) -> float:
    ratios: list[float] = []
    for _ in range(rounds):
        seconds: list[float] = []
        for work in (one, other):
            begin = time.perf_counter()
            await work()
            seconds.append(time.perf_counter() - begin)
        ratios.append(seconds[0] / seconds[1])
    return statistics.median(ratios)


def main() -> None:
    """Print both ratios beside what they may be."""
    print(f"load 10,000 messages / msgspec decode: {load_ratio():.2f} (at most {LOAD_LIMIT})")
    print(f"append at 100,000 / append at 10:      {append_ratio():.2f} (at most {APPEND_LIMIT})")


if __name__ == "__main__":
    main()
