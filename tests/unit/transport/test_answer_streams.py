from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterable, Iterator

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from legato.errors import (
    BadAnswer,
    BadRequest,
    CallerError,
    InvalidEntry,
    Overloaded,
    ProviderError,
    RateLimited,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from legato.model import (
    Answer,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Speaker,
    Target,
    Text,
    ToolCall,
)
from legato.transcript import Conversation
from legato.transport import (
    Bounds,
    Key,
    Timeouts,
    WireRequest,
    WireResponse,
    intake,
    open_answer,
    whole_response,
    wire_request,
)
from legato.wire import bounds
from legato.wire.deltas import BlockDone, BlockStart, Delta, Shown, TextDelta
from legato.wire.names import NameTable
from legato.wire.stream import EventDecoder
from loopback import in_time

pytestmark = pytest.mark.anyio

TARGET = Target(dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="http://p.example/v1")
REQUEST = wire_request(TARGET, b"{}", key=Key("sk-0123456789"), stream=True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class WordDecoder(EventDecoder):
    """A dialect of three events: {"say": text}, {"end": true}, {"error": ...}."""

    def read(self, event: JsonObject) -> None:
        if "error" in event:
            raise BadAnswer("an error was streamed", error=event["error"])
        if event.get("end"):
            self.ending = Ending.DONE
        else:
            self.builder.text("text", str(event.get("say", "")))


def decoder() -> WordDecoder:
    return WordDecoder(TARGET, NameTable(TARGET.capabilities.name_rule))


def said(text: str, ending: Ending = Ending.DONE) -> Answer:
    return Answer(Entry(Speaker.AI, (Text(text),), origin=TARGET.origin(), ending=ending))


def decode(body: JsonObject) -> Answer:
    if "error" in body:
        raise BadAnswer("the body is an error", error=body["error"])
    return said(str(body["text"]))


def events(*values: JsonObject) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


HELLO = events({"say": "Hel"}, {"say": "lo"}, {"end": True})


class Scripted:
    """A transport whose one response is given; `failure` comes after the pieces. It counts how often it was closed."""

    def __init__(
        self,
        pieces: Iterable[bytes],
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        failure: ProviderError | None = None,
        timeouts: Timeouts | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.pieces = pieces
        self.timeouts = timeouts or Timeouts()
        self.bounds = bounds or Bounds()
        self.status = status
        self.headers = headers or {}
        self.failure = failure
        self.closed = 0
        self.sent: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireResponse:
        self.sent.append(request)
        return WireResponse(self.status, self.headers, self._chunks(), self._close, self.timeouts, self.bounds)

    async def _chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.failure is not None:
            raise self.failure

    async def _close(self) -> None:
        self.closed += 1


async def read(transport: Scripted) -> tuple[list[Shown], Answer]:
    async with open_answer(transport, REQUEST, decoder(), decode=decode) as stream:
        deltas = [delta async for delta in stream if isinstance(delta, Shown)]
    assert transport.closed == 1
    return deltas, stream.answer


@pytest.mark.parametrize(
    "pieces",
    [
        [HELLO],
        [HELLO[i : i + 1] for i in range(len(HELLO))],
        [b"\n", b" ", HELLO],
        [b": keep-alive\n\n", HELLO],
        [HELLO, b"data: [DONE]\n\n"],
        [b"\xef\xbb\xbf" + HELLO],
    ],
)
async def test_a_stream_gives_its_deltas_and_one_answer_however_it_is_split(pieces: list[bytes]) -> None:
    deltas, answer = await read(Scripted(pieces))
    assert deltas == [TextDelta("Hel"), TextDelta("lo")]
    assert answer == said("Hello")


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", ""])
async def test_a_plain_body_gives_deltas_and_the_same_answer_whatever_it_is_called(content_type: str) -> None:
    transport = Scripted([b'  {"te', b'xt": "Hello"}'], headers={"content-type": content_type})
    assert await read(transport) == ([TextDelta("Hello")], said("Hello"))


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", ""])
async def test_a_stream_is_read_as_one_whatever_it_is_called(content_type: str) -> None:
    transport = Scripted([HELLO], headers={"content-type": content_type})
    assert await read(transport) == ([TextDelta("Hel"), TextDelta("lo")], said("Hello"))


async def test_finish_reads_to_the_end() -> None:
    async with open_answer(Scripted([HELLO]), REQUEST, decoder(), decode=decode) as stream:
        assert await stream.finish() == said("Hello")
        assert await stream.finish() == said("Hello")


async def test_iterating_after_the_end_ends_again() -> None:
    async with open_answer(Scripted([HELLO]), REQUEST, decoder(), decode=decode) as stream:
        assert len([delta async for delta in stream]) == 4
        assert [delta async for delta in stream] == []


async def test_the_model_that_answers_is_told_as_soon_as_the_response_tells_it() -> None:
    class Named(WordDecoder):
        def read(self, event: JsonObject) -> None:
            self.served = "served-1"
            super().read(event)

    named = Named(TARGET, NameTable(TARGET.capabilities.name_rule))
    async with open_answer(Scripted([HELLO]), REQUEST, named, decode=decode) as stream:
        assert stream.served == ""
        await anext(stream)
        assert stream.served == "served-1"
    body = Answer(said("x").entry, served="served-2")
    async with open_answer(Scripted([b"{}"]), REQUEST, decoder(), decode=lambda _: body) as stream:
        await anext(stream)
        assert stream.served == "served-2"


async def test_nothing_is_sent_before_the_stream_is_entered() -> None:
    transport = Scripted([HELLO])
    stream = open_answer(transport, REQUEST, decoder(), decode=decode)
    assert transport.sent == []
    with pytest.raises(CallerError, match="nothing was sent yet"):
        await anext(stream)
    async with stream:
        assert transport.sent == [REQUEST]


async def test_there_is_no_answer_before_the_end() -> None:
    async with open_answer(Scripted([HELLO]), REQUEST, decoder(), decode=decode) as stream:
        await anext(stream)
        with pytest.raises(CallerError, match="not complete"):
            _ = stream.answer


async def test_visible_begins_with_the_first_delta_and_a_left_stream_has_a_partial_answer() -> None:
    transport = Scripted([b": hello\n\n", events({"say": "Hel"}), events({"say": "lo"}, {"end": True})])
    async with open_answer(transport, REQUEST, decoder(), decode=decode) as stream:
        assert (stream.visible, stream.partial()) == (False, None)
        assert [await anext(stream), await anext(stream)] == [BlockStart(Text("")), TextDelta("Hel")]
        assert stream.visible
    assert stream.partial() == said("Hel", Ending.CUT)
    assert transport.closed == 1


async def test_a_stream_that_ends_early_is_a_bad_answer_with_what_was_seen() -> None:
    stream = open_answer(Scripted([events({"say": "Hel"})]), REQUEST, decoder(), decode=decode)
    with pytest.raises(BadAnswer, match="the stream ended before the answer did"):
        async with stream:
            await stream.finish()
    assert stream.visible
    assert stream.partial() == said("Hel", Ending.CUT)


@pytest.mark.parametrize("failure", [BadAnswer("cut"), TimedOut("silent"), Unreachable("gone")])
async def test_a_failure_on_the_way_is_raised_as_it_is(failure: ProviderError) -> None:
    transport = Scripted([events({"say": "Hel"})], failure=failure)
    with pytest.raises(type(failure)) as caught:
        await read(transport)
    assert caught.value is failure
    assert transport.closed == 1


async def test_a_connection_that_fails_after_the_answer_was_complete_does_no_harm() -> None:
    transport = Scripted([HELLO], failure=TimedOut("the server never hung up"))
    assert await read(transport) == ([TextDelta("Hel"), TextDelta("lo")], said("Hello"))


async def test_a_plain_body_that_breaks_off_is_no_answer() -> None:
    with pytest.raises(BadAnswer, match="cut"):
        await read(Scripted([b'{"text": "He'], failure=BadAnswer("cut")))


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], "it is empty"),
        ([b"  \n"], "it is empty"),
        ([b"{"], "it is not valid JSON"),
        ([b"[1]"], "no object"),
        ([b"data: {broken\n\n"], "an event of the stream is not valid JSON"),
        ([b"<html>not a stream</html>"], "the stream ended before the answer did"),
        ([events({"end": True})], "the answer is empty"),
    ],
)
async def test_a_malformed_answer_is_called_one(pieces: list[bytes], words: str) -> None:
    transport = Scripted(pieces)
    with pytest.raises(BadAnswer) as caught:
        await read(transport)
    assert words in caught.value.message
    assert caught.value.facts == {"route": "p/m", "place": "http://p.example/v1/chat/completions", "layer": "decode"}
    assert transport.closed == 1


async def test_an_error_in_the_stream_is_classified_like_any_other() -> None:
    overload = {"type": "overloaded_error", "message": "Overloaded"}
    stream = open_answer(Scripted([events({"error": overload})]), REQUEST, decoder(), decode=decode)
    with pytest.raises(Overloaded) as caught:
        async with stream:
            await stream.finish()
    assert not stream.visible
    assert caught.value.message == (
        "p/m failed or is too busy (in the stream): Overloaded. Try again later, or choose another provider."
    )


async def test_an_error_after_visible_output_leaves_the_output_visible() -> None:
    limit = {"code": "rate_limit_exceeded", "message": "slow down"}
    transport = Scripted([events({"say": "Hel"}), events({"error": limit})], headers={"retry-after": "3"})
    stream = open_answer(transport, REQUEST, decoder(), decode=decode)
    with pytest.raises(RateLimited) as caught:
        async with stream:
            await stream.finish()
    assert caught.value.retry_after == 3.0
    assert stream.visible
    assert stream.partial() == said("Hel", Ending.CUT)


async def test_an_error_object_under_a_200_is_an_error() -> None:
    with pytest.raises(Unauthorized):
        await read(Scripted([b'{"error": {"code": 401, "message": "who are you"}}']))


async def test_a_refused_request_is_classified_and_its_response_closed() -> None:
    transport = Scripted(
        [b'{"error": {"message": "The model `m` does not exist", ', b'"code": "model_not_found"}}'], status=404
    )
    stream = open_answer(transport, REQUEST, decoder(), decode=decode)
    with pytest.raises(BadRequest) as caught:
        async with stream:
            pytest.fail("a refused request has no stream")
    assert (caught.value.facts["about"], caught.value.facts["status"]) == ("model", 404)
    assert (transport.closed, stream.visible, stream.partial()) == (1, False, None)


async def test_a_refusal_whose_body_breaks_off_is_judged_by_its_status() -> None:
    transport = Scripted([b"{"], status=503, failure=BadAnswer("cut"))
    with pytest.raises(Overloaded):
        await read(transport)


async def test_only_the_beginning_of_a_long_refusal_is_read() -> None:
    transport = Scripted([b"go away, ", b"all of you"], status=403, bounds=Bounds(refusal=8))
    with pytest.raises(Unauthorized) as caught:
        await read(transport)
    assert caught.value.facts["provider_message"] == "go away,"


async def test_the_clock_is_asked_for_waits_given_as_dates() -> None:
    transport = Scripted([b""], status=429, headers={"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"})
    with pytest.raises(RateLimited) as caught:
        async with open_answer(transport, REQUEST, decoder(), decode=decode, clock=lambda: 1_700_000_000.0):
            pytest.fail("a refused request has no stream")
    assert caught.value.retry_after == 30.0


async def test_cancelling_closes_the_response() -> None:
    class Silent(Scripted):
        async def _chunks(self) -> AsyncIterator[bytes]:
            yield events({"say": "Hel"})
            await anyio.sleep_forever()

    transport = Silent([])
    stream = open_answer(transport, REQUEST, decoder(), decode=decode)
    with anyio.CancelScope() as scope:
        async with stream:
            async for _ in stream:
                scope.cancel()
    assert scope.cancelled_caught
    assert transport.closed == 1
    assert stream.partial() == said("Hel", Ending.CUT)


async def test_a_whole_response_is_a_transport_in_three_lines() -> None:
    class InProcess:
        async def send(self, request: WireRequest) -> WireResponse:
            return whole_response(200, [HELLO[:9], HELLO[9:]], {"Content-Type": "text/event-stream"})

    async with open_answer(InProcess(), REQUEST, decoder(), decode=decode) as stream:
        assert await stream.finish() == said("Hello")
    response = whole_response(200, b"{}")
    assert (response.headers, [chunk async for chunk in response.chunks]) == (
        {"content-type": "application/json"},
        [b"{}"],
    )
    await response.close()


class Hosting(WordDecoder):
    """Reads `{"search": text}`, which a tool of the provider's did, as well."""

    def read(self, event: JsonObject) -> None:
        if "search" in event:
            self.builder.put("search", HostedTool("search", result=event["search"]))
        else:
            super().read(event)


async def test_what_a_tool_of_the_provider_did_is_told_and_nothing_is_visible_yet() -> None:
    transport = Scripted([events({"search": "found"}), events({"say": "Hel"})])
    reader = Hosting(TARGET, NameTable(TARGET.capabilities.name_rule))
    async with open_answer(transport, REQUEST, reader, decode=decode) as stream:
        assert await anext(stream) == BlockDone(HostedTool("search", result="found"))
        assert (stream.visible, stream.partial()) == (False, None)
        assert await anext(stream) == BlockStart(Text(""))
        assert stream.visible


# --- an answer has an end -----------------------------------------------------------------------------------------------


SAY = events({"say": "Hel"})


@pytest.mark.parametrize(
    ("pieces", "bounds", "what"),
    [
        (itertools.repeat(SAY), Bounds(stream=100), "it is longer than 100 bytes (the limit is bounds.stream)"),
        (
            itertools.repeat(b": ping\n\n"),
            Bounds(stream=100),
            "it is longer than 100 bytes (the limit is bounds.stream)",
        ),
        (itertools.repeat(b"{" * 8), Bounds(body=10), "it is longer than 10 bytes (the limit is bounds.body)"),
        ([b'{"text": "Hello"}'], Bounds(body=10), "it is longer than 10 bytes (the limit is bounds.body)"),
        (itertools.repeat(b" \n"), Bounds(stream=10), "it is longer than 10 bytes (the limit is bounds.stream)"),
        (
            itertools.chain([SAY], itertools.repeat(b"data: x")),
            Bounds(event=50),
            "a line of it is longer than 50 bytes (the limit is bounds.event)",
        ),
        (
            itertools.chain([SAY], itertools.repeat(b"data: x\n")),
            Bounds(event=50),
            "an event of it is longer than 50 bytes (the limit is bounds.event)",
        ),
    ],
)
async def test_an_endless_answer_is_refused_at_its_bound(pieces: Iterable[bytes], bounds: Bounds, what: str) -> None:
    transport = Scripted(pieces, bounds=bounds)
    with pytest.raises(BadAnswer) as caught:
        await read(transport)
    bound = what.rpartition(".")[2].rstrip(")")
    assert caught.value.message == f"the answer of p/m cannot be used: {what}; try again"
    assert (caught.value.facts["bound"], caught.value.facts["limit"]) == (bound, getattr(bounds, bound))
    assert transport.closed == 1


async def test_what_was_visible_of_an_endless_answer_is_cut() -> None:
    stream = open_answer(
        Scripted(itertools.repeat(SAY), bounds=Bounds(stream=len(SAY) * 3)), REQUEST, decoder(), decode=decode
    )
    with pytest.raises(BadAnswer):
        async with stream:
            await stream.finish()
    assert stream.partial() == said("HelHelHel", Ending.CUT)


@pytest.mark.parametrize("bounds", [Bounds(blocks=2), Bounds(calls=1)])
async def test_an_answer_with_too_many_parts_is_refused_also_where_it_comes_whole(bounds: Bounds) -> None:
    def crowd(_: JsonObject) -> Answer:
        blocks = (Text("I look."), ToolCall("read", {}, "1"), ToolCall("read", {}, "2"))
        return Answer(Entry(Speaker.AI, blocks, ending=Ending.CALLS))

    with pytest.raises(BadAnswer, match="it has more than"):
        async with open_answer(Scripted([b"{}"], bounds=bounds), REQUEST, decoder(), decode=crowd) as stream:
            await stream.finish()
    async with open_answer(Scripted([b"{}"]), REQUEST, decoder(), decode=crowd) as stream:
        assert len((await stream.finish()).calls) == 2


async def test_the_decoder_is_held_to_the_bounds_of_the_transport() -> None:
    class Many(WordDecoder):
        def read(self, event: JsonObject) -> None:
            self.builder.call(str(event["call"]), name="read")

    transport = Scripted([events({"call": 1}, {"call": 2}, {"call": 3})], bounds=Bounds(calls=2))
    reader = Many(TARGET, NameTable(TARGET.capabilities.name_rule))
    with pytest.raises(BadAnswer, match="it has more than 2 tool calls"):
        async with open_answer(transport, REQUEST, reader, decode=decode) as stream:
            await stream.finish()


async def pings(*beginning: bytes, ping: bytes = b": ping\n\n") -> AsyncIterator[bytes]:
    for piece in beginning:
        yield piece
    while True:
        await anyio.lowlevel.checkpoint()
        yield ping


class Pinging(Scripted):
    """A server that never stops showing that it is alive."""

    async def _chunks(self) -> AsyncIterator[bytes]:
        async for piece in pings(*self.pieces, ping=b'data: {"type": "ping"}\n\n'):
            yield piece


SOON = (0.02, 0.5, 30.0)
"""limits for what has to arrive before one of them is over, and for what has to wait until then"""


@pytest.mark.parametrize(
    ("name", "phase", "words"),
    [
        ("between_deltas", "between deltas", "showed nothing new for {:g} seconds"),
        ("whole", "whole", "took longer than {:g} seconds to answer"),
    ],
)
async def test_signs_of_life_do_not_keep_an_answer_alive(name: str, phase: str, words: str) -> None:
    async def attempt(limit: float) -> tuple[TimedOut, int, Answer] | None:
        transport = Pinging([SAY], timeouts=replace(Timeouts(), **{name: limit}))
        stream = open_answer(transport, REQUEST, decoder(), decode=decode)
        with pytest.raises(TimedOut) as caught:
            async with stream:
                await stream.finish()
        partial = stream.partial()
        return None if partial is None else (caught.value, transport.closed, partial)

    limit, (error, closed, partial) = await in_time(attempt, SOON)
    assert error.message == f"p/m {words.format(limit)} ({phase}); try again, or allow more time"
    assert error.facts == {
        "phase": phase,
        "limit": limit,
        "route": "p/m",
        "place": "http://p.example/v1/chat/completions",
        "layer": "transport",
    }
    assert (closed, partial) == (1, said("Hel", Ending.CUT))


async def test_an_answer_that_is_complete_survives_a_server_that_never_stops() -> None:
    async def attempt(limit: float) -> tuple[list[Shown], Answer] | None:
        try:
            return await read(Pinging([HELLO], timeouts=Timeouts(between_deltas=limit)))
        except TimedOut:
            return None

    _, found = await in_time(attempt, SOON)
    assert found == ([TextDelta("Hel"), TextDelta("lo")], said("Hello"))
    assert await read(Pinging([HELLO], bounds=Bounds(stream=1_000))) == found


async def test_a_wait_ends_with_the_whole_time_also_where_the_transport_has_no_limit_of_its_own() -> None:
    class Silent(Scripted):
        async def _chunks(self) -> AsyncIterator[bytes]:
            await anyio.sleep_forever()
            yield b""

    with pytest.raises(TimedOut, match="took longer than"):
        await read(Silent([], timeouts=Timeouts(None, None, None, None, whole=0.02)))


async def test_a_refusal_that_drips_is_judged_by_what_came_in_time() -> None:
    async def attempt(limit: float) -> BadRequest | None:
        transport = Pinging([b"no such model"], status=404, timeouts=Timeouts(between_chunks=limit))
        with pytest.raises(BadRequest) as caught:
            await read(transport)
        return caught.value if caught.value.facts["provider_message"] else None

    _, error = await in_time(attempt, SOON)
    assert error.facts["about"] == "model"


async def test_everybody_gets_a_turn_while_a_long_answer_is_worked_on() -> None:
    piece = b": ping\n\n" * 100_000
    worked = 0

    class Counting(WordDecoder):
        def feed(self, data: bytes) -> list[Delta]:
            nonlocal worked
            worked += len(data)
            assert len(data) <= intake.PIECE
            return super().feed(data)

    reader = Counting(TARGET, NameTable(TARGET.capabilities.name_rule))
    async with anyio.create_task_group() as group:

        async def answer() -> None:
            async with open_answer(Scripted([piece] * 3), REQUEST, reader, decode=decode) as stream:
                await stream.finish()

        group.start_soon(answer)
        while not worked:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert worked <= 2 * intake.PIECE


async def test_the_first_words_do_not_wait_for_all_that_came_with_them() -> None:
    fed: list[int] = []

    class Noting(WordDecoder):
        def feed(self, data: bytes) -> list[Delta]:
            fed.append(len(data))
            return super().feed(data)

    begins, says = b": ping\n\n" * 200, b'data: {"say": "Hello"}\n\n'
    packet = begins + says * 500 + b'data: {"end": true}\n\n'
    reader = Noting(TARGET, NameTable(TARGET.capabilities.name_rule))
    async with open_answer(Scripted([packet]), REQUEST, reader, decode=decode) as stream:
        first = await stream.news()
        assert TextDelta("Hello") in first
        assert sum(fed) < len(begins) * 3
        await stream.finish()
    assert len(fed) < 8  # behind the first words there is no reason for small pieces
    assert stream.answer == said("Hello" * 500)


async def test_news_are_all_deltas_that_are_here() -> None:
    events = [b'data: {"say": "a"}\n\ndata: {"say": "b"}\n\n', b'data: {"say": "c"}\n\ndata: {"end": true}\n\n']
    async with open_answer(Scripted(events), REQUEST, decoder(), decode=decode) as stream:
        news = [await stream.news() for _ in range(3)]
    assert news == [
        [BlockStart(Text("")), TextDelta("a"), TextDelta("b")],
        [TextDelta("c"), BlockDone(Text("abc"))],
        [],
    ]


async def test_a_million_empty_chunks_do_not_shut_others_out() -> None:
    drawn = 0

    def chunks() -> Iterator[bytes]:
        nonlocal drawn
        while True:
            drawn += 1
            yield b""

    async with anyio.create_task_group() as group:

        async def answer() -> None:
            async with open_answer(Scripted(chunks()), REQUEST, decoder(), decode=decode) as stream:
                await stream.finish()

        group.start_soon(answer)
        while not drawn:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert drawn < 3_000


# --- bytes that nobody expected -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("surprise", [RecursionError("deep"), ValueError("odd"), KeyError("name"), InvalidEntry("no")])
async def test_whatever_a_decoder_stumbles_over_is_a_bad_answer(surprise: Exception) -> None:
    class Stumbling(WordDecoder):
        def read(self, event: JsonObject) -> None:
            if event.get("say") == "!":
                raise surprise
            super().read(event)

    def stumble(_: JsonObject) -> Answer:
        raise surprise

    reader = Stumbling(TARGET, NameTable(TARGET.capabilities.name_rule))
    stream = open_answer(Scripted([SAY, events({"say": "!"})]), REQUEST, reader, decode=decode)
    with pytest.raises(BadAnswer) as streamed:
        async with stream:
            await stream.finish()
    with pytest.raises(BadAnswer) as whole:
        async with open_answer(Scripted([b"{}"]), REQUEST, decoder(), decode=stumble) as other:
            await other.finish()
    assert streamed.value.message == whole.value.message
    assert streamed.value.message == (
        f"the answer of p/m cannot be used: it is not understood ({type(surprise).__name__}); try again"
    )
    assert streamed.value.__cause__ is surprise
    assert stream.partial() == said("Hel", Ending.CUT)


async def test_a_partial_answer_that_cannot_be_read_is_none() -> None:
    class Broken(WordDecoder):
        def partial(self) -> Answer | None:
            raise RecursionError

    reader = Broken(TARGET, NameTable(TARGET.capabilities.name_rule))
    async with open_answer(Scripted([SAY]), REQUEST, reader, decode=decode) as stream:
        await anext(stream)
    assert stream.partial() is None


@pytest.mark.parametrize("parts", ["[],", "{},", "0,"])
async def test_json_of_too_many_parts_is_refused_before_it_is_parsed(
    parts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_MOST_PARTS", 20)
    monkeypatch.setattr(bounds, "read_json_leniently", lambda data: pytest.fail("it was parsed"))
    many = f"[{parts * 20}0]".encode()
    for pieces in ([b"data: " + many + b"\n\n"], [many]):
        with pytest.raises(BadAnswer, match="JSON of more than 1,000,000 parts"):
            await read(Scripted(pieces))


async def test_a_refusal_that_says_nothing_can_be_recorded() -> None:
    class Refusing(WordDecoder):
        def read(self, event: JsonObject) -> None:
            self.ending = Ending.REFUSED

    def refuse(_: JsonObject) -> Answer:
        return Answer(Entry(Speaker.AI, (), origin=TARGET.origin(), ending=Ending.REFUSED))

    for pieces in ([SAY], [b"{}"]):
        reader = Refusing(TARGET, NameTable(TARGET.capabilities.name_rule))
        async with open_answer(Scripted(pieces), REQUEST, reader, decode=refuse) as stream:
            answer = await stream.finish()
        assert answer == said("[The model refused to answer.]", Ending.REFUSED)
        assert Conversation().record(answer).blocks == answer.entry.blocks
