"""Whatever the answer and whatever the dialect: a streamed reply says what the whole one says, and says it in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Struct, field
from msgspec.structs import replace

from dialect_support import make_target
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    Block,
    CallKind,
    Dialect,
    Ending,
    NameRule,
    Text,
    Thinking,
    ToolCall,
)
from legato.wire.contract import DialectParts, StreamDecoder
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from reply_strategies import ANSWERS, ARGUMENTS, CALLS, PLAIN_ANSWERS, TEXTS, answer_of

DIALECTS = pytest.mark.parametrize("dialect", Dialect)
SIGNED = answer_of(
    [
        Thinking(
            "hm",
            native={
                "signature": "c2ln",
                "thoughtSignature": "c2ln",
                "reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln"}],
                "providerOptions": {"anthropic": {"signature": "c2ln"}},
            },
        ),
        Text("so"),
    ]
)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_body(parts: DialectParts, answer: Answer) -> Answer | str:
    try:
        return parts.decode(parts.reply(answer, "model-1"), make_target(parts.name), NameTable(NameRule.OPENAI))
    except BadAnswer as error:
        return error.message


def read_stream(parts: DialectParts, chunks: Iterable[bytes]) -> Answer | str:
    decoder = parts.decoder(make_target(parts.name), NameTable(NameRule.OPENAI))
    try:
        for chunk in chunks:
            decoder.feed(chunk)
        return decoder.finish()
    except BadAnswer as error:
        return error.message


def read_rest(decoder: StreamDecoder, chunks: Iterable[bytes]) -> Answer:
    for chunk in chunks:
        decoder.feed(chunk)
    return decoder.finish()


class Shown(Struct):
    """What deltas show."""

    text: str = ""
    thinking: str = ""
    calls: dict[int, str] = field(default_factory=dict[int, str])

    def add(self, delta: Delta) -> None:
        match delta:
            case TextDelta():
                self.text += delta.text
            case ThinkingDelta():
                self.thinking += delta.text
            case CallDelta():
                self.calls[delta.index] = self.calls.get(delta.index, "") + delta.arguments
            case BlockStart() if delta.call >= 0:
                self.calls[delta.call] = ""
            case BlockStart() | BlockDone():
                pass


def call_of(delta: Delta) -> int:
    match delta:
        case CallDelta():
            return delta.index
        case BlockStart() | BlockDone():
            return delta.call
        case TextDelta() | ThinkingDelta():
            return -1


def as_it_arrives(answer: Answer, piece: int) -> Iterator[Delta]:
    """The deltas of `answer`, where a block begins before its provider has signed it."""
    for delta in deltas_of(answer, piece):
        yield replace(delta, block=replace(delta.block, native=None)) if isinstance(delta, BlockStart) else delta


def only_shown(answer: Answer, piece: int) -> list[Delta]:
    """The deltas of `answer` that a decoder gives."""
    return [delta for delta in deltas_of(answer, piece) if not isinstance(delta, BlockStart | BlockDone)]


def visible(answer: Answer | str) -> tuple[str, str, list[tuple[str, object, str | None]]]:
    assert isinstance(answer, Answer)
    thoughts = "".join(block.text for block in answer.entry.blocks if isinstance(block, Thinking))
    return answer.text, thoughts, [(call.name, call.arguments, call.raw) for call in answer.calls]


# --- what it says -----------------------------------------------------------------------------------------------------


@DIALECTS
@given(answer=ANSWERS)
def test_an_answer_of_this_dialect_is_read_back_from_body_and_stream(dialect: Dialect, answer: Answer) -> None:
    parts = dialect_parts(dialect)
    own = read_body(parts, answer)
    if isinstance(own, str):
        return
    assert read_body(parts, own) == own
    assert read_stream(parts, parts.reply_stream(own, "model-1")) == own
    assert read_stream(parts, parts.reply_stream(own, "model-1", unsplit_calls=True)) == own
    assert read_stream(parts, parts.reply_stream(own, "model-1", unsplit_calls=True, joins_usage=True)) == own


@DIALECTS
@given(answer=ANSWERS)
def test_any_answer_is_read_from_the_stream_as_from_the_body(dialect: Dialect, answer: Answer) -> None:
    parts = dialect_parts(dialect)
    whole, streamed = read_body(parts, answer), read_stream(parts, parts.reply_stream(answer, "model-1"))
    # A chat message has a field for each kind of block, and only a stream tells which came first.
    normal = by_kind if dialect is Dialect.OPENAI_CHAT else unchanged
    assert normal(streamed) == normal(whole)


def unchanged(answer: Answer | str) -> Answer | str:
    return answer


def by_kind(answer: Answer | str) -> Answer | str:
    """`answer` with its blocks in the order that a chat message has for them.

    In one that was cut at its limit, the call that stands last may be what was cut: a stream shows whether something
    came after it.
    """
    if isinstance(answer, str):
        return answer

    def rank(block: Block) -> int:
        native = block.native or {}
        if isinstance(block, ToolCall):
            return 3
        if native.get("refusal"):
            return 2
        return 0 if isinstance(block, Thinking) and "chunk" not in native else 1

    blocks = tuple(sorted(answer.entry.blocks, key=rank))
    last = blocks[-1] if blocks else None
    if answer.entry.ending is Ending.LENGTH and isinstance(last, ToolCall) and last.raw is not None:
        blocks = (*blocks[:-1], replace(last, finished=False))
    return replace(answer, entry=replace(answer.entry, blocks=blocks))


# --- and when ---------------------------------------------------------------------------------------------------------


@DIALECTS
@given(answer=PLAIN_ANSWERS, piece=st.integers(1, 9))
def test_everything_that_was_fed_is_out_at_once(dialect: Dialect, answer: Answer, piece: int) -> None:
    parts = dialect_parts(dialect)
    writer = parts.writer("model-1", "resp_1")
    decoder = parts.decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    fed, read = Shown(), Shown()
    for chunk in writer.start():
        assert decoder.feed(chunk) == []
    for delta in as_it_arrives(answer, piece):
        if dialect is not Dialect.GEMINI or call_of(delta) < 0:
            fed.add(delta)
        elif isinstance(delta, BlockDone):
            fed.calls[delta.call] = "whole"  # a call is one part, so it is out when it is whole
        for chunk in writer.feed(delta):
            for seen in decoder.feed(chunk):
                read.add(seen)
        if dialect is Dialect.GEMINI:
            read.calls = dict.fromkeys(read.calls, "whole")
        assert read == fed
    assert visible(read_rest(decoder, writer.finish(answer))) == visible(answer)


@DIALECTS
@given(answer=ANSWERS, piece=st.integers(1, 9))
@example(answer=SIGNED, piece=9)
def test_what_a_block_carries_is_out_when_the_block_is_done(dialect: Dialect, answer: Answer, piece: int) -> None:
    parts = dialect_parts(dialect)
    own = read_body(parts, answer)
    if isinstance(own, str):
        return
    writer = parts.writer("model-1", "resp_1")
    decoder = parts.decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    for chunk in [*writer.start(), *(chunk for delta in as_it_arrives(own, piece) for chunk in writer.feed(delta))]:
        decoder.feed(chunk)
    so_far = decoder.partial()
    assert carried(so_far) == carried(read_rest(decoder, writer.finish(own)))


@DIALECTS
def test_what_a_thought_carries_is_written_also_if_it_is_known_only_when_the_thought_is_done(dialect: Dialect) -> None:
    parts = dialect_parts(dialect)
    own = read_body(parts, SIGNED)
    assert isinstance(own, Answer)
    writer = parts.writer("model-1", "resp_1")
    chunks = writer.start()
    chunks += [chunk for delta in as_it_arrives(own, 9) for chunk in writer.feed(delta)]
    read = read_stream(parts, [*chunks, *writer.finish(own)])
    # Gemini's client reads it on a part behind the thought.
    assert [native for _, native in carried(read) if native] == [native for _, native in carried(own) if native]


def carried(answer: Answer | str | None) -> list[tuple[type[Block], object]]:
    """What there is in an answer, each with its provider's own data."""
    return [(type(block), block.native) for block in answer.entry.blocks] if isinstance(answer, Answer) else []


@DIALECTS
@given(answer=PLAIN_ANSWERS, piece=st.integers(1, 9))
def test_deltas_of_a_decoder_will_do(dialect: Dialect, answer: Answer, piece: int) -> None:
    parts = dialect_parts(dialect)
    writer = parts.writer("model-1", "resp_1")
    decoder = parts.decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    fed, read = Shown(), Shown()
    first_call: int | None = None
    for chunk in writer.start():
        decoder.feed(chunk)
    for delta in only_shown(answer, piece):
        call = delta.index if isinstance(delta, CallDelta) else None
        first_call = call if first_call is None else first_call
        waits = {
            Dialect.GEMINI: call is not None,  # it may go on
            # One block after the other:
            Dialect.ANTHROPIC: first_call is not None and call != first_call,
            Dialect.BEDROCK: first_call is not None and call != first_call,
        }
        if not waits.get(dialect, False):
            fed.add(delta)
        for chunk in writer.feed(delta):
            for seen in decoder.feed(chunk):
                read.add(seen)
        assert read == fed
    assert visible(read_rest(decoder, writer.finish(answer))) == visible(answer)


@DIALECTS
@given(
    calls=st.lists(CALLS, min_size=2, max_size=4),
    piece=st.integers(1, 9),
    chance=st.randoms(use_true_random=False),
)
def test_calls_that_grow_side_by_side_stay_apart(
    dialect: Dialect, calls: list[ToolCall], piece: int, chance: Random
) -> None:
    parts = dialect_parts(dialect)
    answer = answer_of([Text("so"), *calls])
    queues: list[list[Delta]] = [[] for _ in calls]
    for delta in as_it_arrives(answer, piece):
        if call_of(delta) >= 0:
            queues[call_of(delta)].append(delta)
    mixed: list[Delta] = [queue.pop(0) for queue in queues]
    while any(queues):
        mixed.append(chance.choice([queue for queue in queues if queue]).pop(0))
    writer = parts.writer("model-1", "resp_1")
    chunks = [*writer.start(), *(chunk for delta in mixed for chunk in writer.feed(delta)), *writer.finish(answer)]
    read = read_stream(parts, chunks)
    assert visible(read)[2] == visible(answer)[2]
    assert isinstance(read, Answer)
    assert [call.wire_id for call in read.calls] == [call.wire_id for call in answer.calls]


# --- from one dialect to another --------------------------------------------------------------------------------------

SOURCES = pytest.mark.parametrize("source", Dialect)
TARGETS = st.sampled_from(Dialect)


class Relay:
    """Reads a stream of one dialect and writes it in another, event by event, as a gateway does."""

    def __init__(self, source: Dialect, target: Dialect) -> None:
        self.keeps_native = source is target
        self.writer = dialect_parts(target).writer("model-1", "resp_1")
        self.decoder = dialect_parts(source).decoder(make_target(source), NameTable(NameRule.OPENAI))
        self.deltas: list[Delta] = []
        """what was fed to the writer so far"""

    def feed(self, chunk: bytes) -> list[bytes]:
        written: list[bytes] = []
        for delta in self.decoder.feed(chunk):
            if isinstance(delta, BlockStart | BlockDone):
                delta = replace(delta, block=self.portable(delta.block))
            self.deltas.append(delta)
            written += self.writer.feed(delta)
        return written

    def finish(self) -> tuple[Answer, list[bytes]]:
        answer = self.decoder.finish()
        blocks = tuple(self.portable(block) for block in answer.entry.blocks)
        answer = replace(answer, entry=replace(answer.entry, blocks=blocks))
        return answer, self.writer.finish(answer)

    def portable(self, block: Block) -> Block:
        """`block` as another provider may see it."""
        return block if self.keeps_native else replace(block, native=None)


@SOURCES
@given(answer=ANSWERS, size=st.integers(1, 200), target=TARGETS)
def test_a_stream_passed_on_as_it_comes_says_what_the_whole_answer_says(
    source: Dialect, target: Dialect, answer: Answer, size: int
) -> None:
    if source is Dialect.VERCEL:  # its stream tells only at the end of a call that it is one of free text
        calls = [block for block in answer.calls if block.kind is CallKind.CUSTOM]
        answer = answer_of([block for block in answer.entry.blocks if block not in calls] or [Text("x")])
    relay, parts = Relay(source, target), dialect_parts(target)
    data = b"".join(dialect_parts(source).reply_stream(answer, "model-1"))
    chunks = relay.writer.start()
    for at in range(0, len(data), size):
        chunks += relay.feed(data[at : at + size])
    try:
        given_answer, rest = relay.finish()
    except BadAnswer:
        return  # the source cannot say it
    passed_on = read_stream(parts, [*chunks, *rest])
    # Bedrock's answers have no id; from the one that the relay gives, missing ids of calls are made.
    whole = read_stream(parts, parts.reply_stream(replace(given_answer, response_id="resp_1"), "m"))
    # Texts and thoughts of a chat message stand in a field for each form, and the stream alone tells which came first.
    in_order = source is not Dialect.OPENAI_CHAT
    assert spoken(passed_on, in_order=in_order) == spoken(whole, in_order=in_order)


def spoken(answer: Answer | str, *, in_order: bool) -> object:
    """What an answer says, whatever its texts were cut into and in which order kinds of blocks come.

    Whether its last call was cut is not compared: a provider may tell that only after it has called it done.
    """
    if isinstance(answer, str):
        return answer
    text, thoughts, calls = visible(answer)
    prose = (text, thoughts) if in_order else (sorted(text), sorted(thoughts))
    others = [block for block in answer.entry.blocks if not isinstance(block, Text | Thinking | ToolCall)]
    forms = [(call.kind, call.wire_id) for call in answer.calls]
    return (*prose, calls, forms, others, answer.entry.ending, answer.usage)


WHOLE_CALLS = st.builds(ToolCall, st.sampled_from(["read", "list"]), ARGUMENTS)
SAID = st.builds(Text, TEXTS) | st.builds(Thinking, TEXTS)


@SOURCES
@given(answer=st.builds(answer_of, st.lists(SAID | WHOLE_CALLS, min_size=1, max_size=5)), target=TARGETS)
def test_after_each_event_all_is_passed_on_that_can_be_known(source: Dialect, target: Dialect, answer: Answer) -> None:
    relay = Relay(source, target)
    decoder = dialect_parts(target).decoder(make_target(target), NameTable(NameRule.OPENAI))
    for chunk in relay.writer.start():
        decoder.feed(chunk)
    came, known = Shown(), Shown()
    for chunk in dialect_parts(source).reply_stream(answer, "model-1"):
        for written in relay.feed(chunk):
            for delta in decoder.feed(written):
                came.add(delta)
        for delta in relay.deltas:
            if target is not Dialect.GEMINI or call_of(delta) < 0:
                known.add(delta)
            elif isinstance(delta, BlockDone):
                known.calls[delta.call] = ""  # a call is one part there, so it is out when it is whole
        relay.deltas.clear()
        if target is Dialect.GEMINI:
            came.calls = dict.fromkeys(came.calls, "")
        assert came == known
    _, rest = relay.finish()
    assert visible(read_rest(decoder, rest)) == visible(answer)
