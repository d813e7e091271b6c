"""What the tests of a dialect need: a target, a context for it, units in one line, and the recorded samples."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from legato.model import (
    Answer,
    Authority,
    CallId,
    Capabilities,
    Code,
    Dialect,
    Foreign,
    JsonObject,
    NameRule,
    Origin,
    Target,
    Text,
    ToolCall,
)
from legato.transcript.units import AnswerBlock, Completion, CompletionKind, Exchange, Said, Summary, Unit
from legato.wire.assembly import Assembly, encode_json
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.contract import DialectParts, StreamDecoder
from legato.wire.deltas import Shown
from legato.wire.encoder import EncodedUnit, Projected
from legato.wire.names import NameTable

NOT_SIMPLE: dict[str, Unit | None] = {
    "nothing": None,
    "summary": Summary(1, "in short"),
    "instruction": Said(1, (Text("do so"),), Authority.INSTRUCTION),
    "code": Said(1, (Code("print()"),)),
    "two texts": Said(1, (Text("one"), Text("two"))),
}
"""Units about which every dialect has to decide something."""

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"

needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the recorded samples are not on this machine")


def make_target(dialect: Dialect, **capabilities: Any) -> Target:
    return Target(
        dialect=dialect,
        profile="test",
        provider="acme",
        model="model-1",
        endpoint="https://acme.example/v1",
        capabilities=Capabilities(**capabilities),
    )


class SameIds(dict[CallId, str]):
    """Every call has the id `call_` and its own."""

    def __missing__(self, key: CallId) -> str:
        return f"call_{key}"


def make_context(target: Target, *, foreign: Foreign = Foreign.DROP, rule: NameRule = NameRule.OPENAI) -> EncodeContext:
    return EncodeContext(target, SameIds(), NameTable(rule), target.is_home_of, foreign=foreign)


def call(key: str, name: str = "read", **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, f"call_{key}", CallId(key))


def success(key: str, result: Any = "fine", **more: Any) -> Completion:
    return Completion(CallId(key), CompletionKind.SUCCESS, result, **more)


def failure(key: str, error: str = "it broke", **more: Any) -> Completion:
    return Completion(CallId(key), CompletionKind.ERROR, None, error, **more)


def exchange(blocks: Sequence[AnswerBlock], *completions: Completion, origin: Origin | None = None) -> Exchange:
    return Exchange(1, tuple(blocks), completions, origin)


def printed(encoded: EncodedUnit) -> list[JsonObject]:
    """The whole messages or items of a unit."""
    return list(encoded.messages)


def encode_with(dialect: DialectParts) -> Callable[[Unit, End, EncodeContext, bool], EncodedUnit]:
    """What encodes one unit in `dialect`: (unit, how the one before ended, context, whether thinking is kept)."""

    def encode(unit: Unit, before: End, context: EncodeContext, keep_thinking: bool) -> EncodedUnit:
        return dialect.encoder(context).encode(unit, before, Thoughts.SHOWN if keep_thinking else Thoughts.HELD_BACK)

    return encode


def tail_with(dialect: DialectParts) -> Callable[[End, EncodeContext], EncodedUnit]:
    """What `dialect` puts at the end of a request: (how the last unit ended, context)."""
    return lambda end, context: dialect.encoder(context).tail(end)


def encoded_in_a_row(dialect: DialectParts, units: Sequence[Unit | None], context: EncodeContext) -> Assembly:
    """What the dialect prints in a row: as far as it goes the same as each unit alone, with the same decisions."""
    encoder = dialect.encoder(context)
    page, alone = dialect.assembly(encoder.grammar), dialect.assembly(encoder.grammar)
    projected: Projected = {}
    encoder.append_simple(units, 0, page, projected)
    decided: Projected = {}
    for place, unit in enumerate(units[: len(page.ends)]):
        assert unit is not None
        encoded = encoder.encode(unit, alone.end)
        alone.append(encoded.messages, encoded.end)
        if encoded.decisions:
            decided[place] = encoded.decisions
    assert projected == decided
    assert encode_json(page.messages) == encode_json(alone.messages)
    assert (page.counts, page.fills) == (alone.counts, alone.fills)
    assert page.ends == alone.ends
    return page


def reasons(encoded: EncodedUnit) -> list[tuple[str, str]]:
    return [(str(decision.action), decision.reason) for decision in encoded.decisions]


def shown(decoder: StreamDecoder, *events: JsonObject) -> list[Shown]:
    """What there is to show of `events`."""
    return [delta for event in events for delta in decoder.event(event) if isinstance(delta, Shown)]


def read_stream(make: Callable[[], StreamDecoder], pieces: Iterator[bytes] | list[bytes]) -> Answer:
    decoder = make()
    for piece in pieces:
        decoder.feed(piece)
    return decoder.finish()


def read_every_way(make: Callable[[], StreamDecoder], data: bytes) -> Answer:
    """The answer in `data`, which is the same whole, byte by byte and split anywhere."""
    whole = read_stream(make, [data])
    assert read_stream(make, (data[index : index + 1] for index in range(len(data)))) == whole
    chance = random.Random(7)
    for _ in range(3):
        cuts = sorted(chance.sample(range(len(data) + 1), min(20, len(data))))
        edges = [0, *cuts, len(data)]
        assert read_stream(make, [data[a:b] for a, b in pairwise(edges)]) == whole
    return whole
