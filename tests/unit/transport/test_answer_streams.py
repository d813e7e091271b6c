from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable

import anyio
import pytest

from legato.errors import (
    BadAnswer,
    BadRequest,
    CallerError,
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
    Thinking,
    ToolCall,
)
from legato.transport import Key, WireRequest, WireResponse, exchange, open_answer, whole_response, wire_request
from legato.wire.contract import CallDelta, Delta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable
from legato.wire.stream import EventDecoder

pytestmark = pytest.mark.anyio

TARGET = Target(dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="http://p.example/v1")
REQUEST = wire_request(TARGET, b"{}", key=Key("sk-0123456789"), stream=True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class WordDecoder(EventDecoder):
    """A dialect of three events: {"say": text}, {"end": true}, {"error": ...}."""

    def event(self, event: JsonObject) -> list[Delta]:
        if "error" in event:
            raise BadAnswer("an error was streamed", error=event["error"])
        if event.get("end"):
            self.ending = Ending.DONE
            return []
        return self.builder.text("text", str(event.get("say", "")))


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
    ) -> None:
        self.pieces = list(pieces)
        self.status = status
        self.headers = headers or {}
        self.failure = failure
        self.closed = 0
        self.sent: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireResponse:
        self.sent.append(request)
        return WireResponse(self.status, self.headers, self._chunks(), self._close)

    async def _chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.failure is not None:
            raise self.failure

    async def _close(self) -> None:
        self.closed += 1


async def read(transport: Scripted) -> tuple[list[Delta], Answer]:
    async with open_answer(transport, REQUEST, decoder(), decode=decode) as stream:
        deltas = [delta async for delta in stream]
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
        assert len([delta async for delta in stream]) == 2
        assert [delta async for delta in stream] == []


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
        assert await anext(stream) == TextDelta("Hel")
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


async def test_an_endless_plain_body_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_BODY", 10)
    with pytest.raises(BadAnswer, match="longer than the 10 bytes"):
        await read(Scripted([b"{" * 8, b"{" * 8]))


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


async def test_only_the_beginning_of_a_long_refusal_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_COMPLAINT", 8)
    transport = Scripted([b"go away, ", b"all of you"], status=403)
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


def test_an_answer_that_came_whole_is_shown_in_the_deltas_of_a_stream() -> None:
    blocks = (
        Thinking("hm"),
        Thinking(native={"signature": "s"}),
        Text("I look."),
        HostedTool("search"),
        ToolCall("read", {"path": "a"}),
        ToolCall("read", {}, raw="{broken"),
        Text(""),
    )
    assert exchange.deltas_of(Answer(Entry(Speaker.AI, blocks))) == [
        ThinkingDelta("hm"),
        TextDelta("I look."),
        CallDelta(0, "read", '{"path":"a"}'),
        CallDelta(1, "read", "{broken"),
    ]
