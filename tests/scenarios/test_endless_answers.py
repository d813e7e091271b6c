"""A session outlives a provider whose answers have no end."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator

import anyio.lowlevel
import msgspec
import pytest

from legato.errors import BadAnswer, ProviderError, TimedOut
from legato.model import Ending, JsonObject, Speaker
from legato.model.records import TurnOutcome
from legato.routing import Policy, Profile, Route
from legato.session import State
from legato.simulation import SimulatedTransport
from legato.transport import Bounds, Timeouts, WireRequest, WireResponse
from session_support import CLAUDE, GPT, session, world

pytestmark = pytest.mark.anyio

CHAIN = Profile("chain", (Route(CLAUDE), Route(GPT)), Policy.FAILOVER)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def sse(event: JsonObject) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"


PING = sse({"type": "ping"})
BEGINNING = sse({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hel"}})
MORE = sse({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}})


def many_calls() -> Iterator[bytes]:
    for index in itertools.count():
        call = {"type": "tool_use", "id": f"toolu_{index}", "name": "read_file", "input": {"path": "a"}}
        yield sse({"type": "content_block_start", "index": index, "content_block": call})


class Endless:
    """Simulated providers, among which Anthropic never stops, as often as `times` it is asked."""

    def __init__(
        self, chunks: Callable[[], Iterator[bytes]], *, times: int, timeouts: Timeouts, bounds: Bounds
    ) -> None:
        self.inner = SimulatedTransport()
        self.asked = 0
        self._chunks = chunks
        self._times = times
        self._timeouts = timeouts
        self._bounds = bounds

    async def send(self, request: WireRequest) -> WireResponse:
        if request.target.provider != "anthropic" or self.asked >= self._times:
            return await self.inner.send(request)
        self.asked += 1
        return WireResponse(200, {}, self._slowly(), timeouts=self._timeouts, bounds=self._bounds)

    async def _slowly(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks():
            await anyio.lowlevel.checkpoint()
            yield chunk


@pytest.mark.parametrize(
    ("chunks", "timeouts", "bounds", "kind"),
    [
        (lambda: itertools.chain([BEGINNING], itertools.repeat(MORE)), Timeouts(), Bounds(stream=5_000), BadAnswer),
        (lambda: itertools.chain([BEGINNING], itertools.repeat(b"x" * 99)), Timeouts(), Bounds(event=5_000), BadAnswer),
        (lambda: itertools.chain([BEGINNING], itertools.repeat(PING)), Timeouts(between_deltas=1), Bounds(), TimedOut),
        (many_calls, Timeouts(), Bounds(calls=50), BadAnswer),
    ],
    ids=["text", "line", "pings", "calls"],
)
async def test_what_was_visible_is_kept_as_cut_and_the_session_goes_on(
    chunks: Callable[[], Iterator[bytes]], timeouts: Timeouts, bounds: Bounds, kind: type[ProviderError]
) -> None:
    transport = Endless(chunks, times=1, timeouts=timeouts, bounds=bounds)
    async with session(CLAUDE, world=world(transport)) as talk:
        with pytest.raises(kind):
            await talk.send("Hello")
        assert talk.state is State.IDLE
        [kept] = [entry for entry in talk.talk.entries if entry.speaker is Speaker.AI]
        assert kept.ending is Ending.CUT
        assert kept.calls or kept.text.startswith("Hel")
        assert (await talk.send("Again")).outcome is TurnOutcome.DONE
    assert transport.inner.refusals == []


async def test_where_nothing_was_visible_the_next_route_answers() -> None:
    def pings() -> Iterator[bytes]:
        return itertools.repeat(PING)

    transport = Endless(pings, times=9, timeouts=Timeouts(), bounds=Bounds(stream=5_000))
    async with session(CHAIN, world=world(transport)) as talk:
        result = await talk.send("Hello")
    assert (result.outcome, result.route, transport.asked) == (TurnOutcome.DONE, GPT, 2)


async def test_a_person_can_cancel_an_answer_that_never_stops() -> None:
    transport = Endless(
        lambda: itertools.chain([BEGINNING], itertools.repeat(PING * 10_000)),
        times=1,
        timeouts=Timeouts(None, None, None, None, None),
        bounds=Bounds(stream=2**62),
    )
    async with session(CLAUDE, world=world(transport)) as talk:
        turn = talk.send("Hello")
        async for event in turn:
            if getattr(event, "text", "") == "Hel":
                turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED
        assert [entry.ending for entry in talk.talk.entries if entry.speaker is Speaker.AI] == [Ending.CANCELLED]
        assert (await talk.send("Again")).outcome is TurnOutcome.DONE


async def test_simulated_answers_have_the_same_limits() -> None:
    async with session(CLAUDE, world=world(SimulatedTransport(timeouts=Timeouts(whole=0)))) as talk:
        with pytest.raises(TimedOut, match="took longer than 0 seconds to answer"):
            await talk.send("Hello")
