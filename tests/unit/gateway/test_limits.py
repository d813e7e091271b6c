"""How much may be asked of a gateway, and what a client hears that asks for more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from gateway_clients import simulated_gateway
from legato.gateway.app import GatewayApp
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from legato.gateway.limits import Meter
from legato.gateway.operator_settings import TrafficLimits
from legato.gateway.refusals import TurnedAway
from serving import HELLO, Caller, ScriptedGateway, called


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def refused(meter: Meter, tenant: str = "") -> TurnedAway:
    with pytest.raises(TurnedAway) as caught:
        meter.begin(tenant)
    return caught.value


def test_requests_of_a_minute_are_counted_and_room_comes_when_the_oldest_is_a_minute_old(clock: Clock) -> None:
    meter = Meter(TrafficLimits(requests_per_minute=2), clock=clock)
    meter.begin("")
    clock.now += 30
    meter.begin("")
    error = refused(meter)
    assert (error.message, error.retry_after) == (
        "the gateway is limited to 2 requests per minute. Please try again in 31s.", 31,
    )  # fmt: skip
    clock.now += 30
    assert refused(meter).retry_after == 1  # the second of the oldest is not over yet
    clock.now += 1
    meter.begin("")
    assert refused(meter).retry_after == 30


def test_what_was_refused_is_not_counted(clock: Clock) -> None:
    meter = Meter(TrafficLimits(requests_per_minute=1), clock=clock)
    meter.begin("")
    for _ in range(5):
        refused(meter)
    clock.now += 61
    meter.begin("")


@pytest.mark.parametrize(("limits", "wait"), [({"tokens_per_minute": 100}, 61), ({"tokens_per_day": 100}, 86_840)])
def test_tokens_are_counted_when_a_request_is_done(clock: Clock, limits: dict[str, Any], wait: float) -> None:
    meter = Meter(TrafficLimits(**limits), clock=clock)
    meter.begin("")
    meter.begin("")  # nobody knows yet how much the first one takes
    meter.end("", 99)
    meter.begin("")
    meter.end("", 500)
    error = refused(meter)
    assert error.retry_after == wait
    clock.now += wait
    meter.begin("")


def test_requests_at_the_same_time_are_counted_until_they_are_done(clock: Clock) -> None:
    meter = Meter(tenants={"ann": TrafficLimits(concurrent=1)}, clock=clock)
    meter.begin("ann")
    assert refused(meter, "ann").retry_after == 1
    meter.end("ann", 0)
    meter.begin("ann")


def test_each_key_has_its_own_count_and_all_share_that_of_the_gateway(clock: Clock) -> None:
    meter = Meter(
        TrafficLimits(requests_per_minute=3),
        tenants={"ann": TrafficLimits(requests_per_minute=1), "bob": TrafficLimits()},
        clock=clock,
    )
    meter.begin("ann")
    assert refused(meter, "ann").message.startswith("the key of ann is limited to 1 requests per minute")
    meter.begin("bob")
    meter.begin("bob")
    assert refused(meter, "bob").message.startswith("the gateway is limited to 3 requests per minute")


def test_a_refusal_by_the_gateway_does_not_count_for_the_key(clock: Clock) -> None:
    meter = Meter(TrafficLimits(concurrent=1), tenants={"ann": TrafficLimits(requests_per_minute=2)}, clock=clock)
    meter.begin("ann")
    refused(meter, "ann")
    meter.end("ann", 0)
    meter.begin("ann")


# --- what the client hears ---


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/messages", HELLO, lambda error: error["error"]["type"] == "rate_limit_error"),
        ("/v1/chat/completions", HELLO, lambda error: error["error"]["code"] == "rate_limit_exceeded"),
        ("/v1/responses", {"model": "m", "input": "hi"}, lambda error: error["error"]["code"] == "rate_limit_exceeded"),
        (
            "/v1beta/models/m:generateContent",
            {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
            lambda error: error["error"]["details"][0]["retryDelay"] == "61s",
        ),
    ],
)
def test_a_client_hears_of_a_limit_in_its_own_words(clock: Clock, path: str, body: Any, told: Any) -> None:
    app = limited(clock, requests_per_minute=1)
    assert called(app, path, body).status == 200
    answer = called(app, path, body)
    assert (answer.status, answer.headers["retry-after"]) == (429, "61")
    assert told(answer.json)


def limited(clock: Clock, **limits: int) -> GatewayApp:
    return GatewayApp(simulated_gateway("openai/gpt-4.1"), meter=Meter(TrafficLimits(**limits), clock=clock))


def test_only_requests_for_an_answer_are_limited(clock: Clock) -> None:
    app = limited(clock, requests_per_minute=1)
    for _ in range(3):
        assert called(app, "/v1/models").status == 200
        assert called(app, "/v1/messages/count_tokens", HELLO).status == 200
    assert [called(app, "/v1/messages", HELLO).status for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("stream", [False, True])
def test_the_tokens_of_an_answer_count(clock: Clock, stream: bool) -> None:
    app = limited(clock, tokens_per_day=2)
    assert [called(app, "/v1/messages", HELLO | {"stream": stream}).status for _ in range(2)] == [200, 429]


def test_a_client_that_does_not_wait_for_the_answer_has_used_what_it_sent(clock: Clock) -> None:
    app = limited(clock, tokens_per_day=2)

    async def run() -> None:
        caller = Caller(app, "/v1/messages", HELLO | {"stream": True})
        async with anyio.create_task_group() as group:
            group.start_soon(caller.call)
            await caller.arrival(b"message_start")
            caller.leave()

    anyio.run(run)
    assert called(app, "/v1/messages", HELLO).status == 429


def test_a_body_that_is_refused_and_a_client_that_leaves_give_their_place_back() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"x"

    keeper = Gatekeeper(keys={digest_of("k"): "ann"})
    meter = Meter(tenants={"ann": TrafficLimits(concurrent=1)}, clock=Clock())
    app = GatewayApp(ScriptedGateway(chunks), keeper=keeper, meter=meter)

    async def run() -> list[int]:
        leaving = Caller(app, "/v1/messages", HELLO, x_api_key="k")
        leaving._pieces.clear()  # the body never comes
        leaving.leave()
        await leaving.call()
        return [(await Caller(app, "/v1/messages", HELLO, x_api_key="k").call()).status for _ in range(2)]

    assert anyio.run(run) == [200, 200]
