"""Failures on demand: each shows to a client as the error it should act on, and a seed reproduces a run."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from legato.errors import (
    BadAnswer,
    ContextTooLong,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unauthorized,
    UnknownModel,
    Unreachable,
)
from legato.model import Ending
from legato.simulation import (
    FaultKind,
    FaultPlan,
    Faults,
    InjectedFault,
    RefusalReason,
    SimulatedTransport,
    SimulatedWorld,
)
from legato.transcript import Conversation
from legato.transport import Timeouts
from simulation_support import Client

from builders import OTHER_ROUTES, ROUTES

pytestmark = pytest.mark.anyio

ALL_ROUTES = [*ROUTES, *OTHER_ROUTES, "vllm/any"]
BOTH = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def failing(*faults: InjectedFault | FaultKind | None, **options: Any) -> SimulatedTransport:
    return SimulatedTransport(SimulatedWorld(faults=Faults(faults), **options))


async def failure(
    transport: SimulatedTransport, route: str, text: str = "use read_file on a.txt", **options: Any
) -> Any:
    with pytest.raises(ProviderError) as caught:
        await Client(transport).turn(Conversation(), route, text, **options)
    return caught.value


ERRORS: dict[FaultKind, type[ProviderError]] = {
    FaultKind.RATE_LIMITED: RateLimited,
    FaultKind.SERVER_ERROR: Overloaded,
    FaultKind.OVERLOADED: Overloaded,
    FaultKind.QUOTA: QuotaExhausted,
    FaultKind.KEY: Unauthorized,
    FaultKind.UNREACHABLE: Unreachable,
    FaultKind.CUT: BadAnswer,
    FaultKind.GARBAGE: BadAnswer,
    FaultKind.EMPTY: BadAnswer,
}


@BOTH
@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("route", ALL_ROUTES)
async def test_a_fault_reaches_the_client_as_the_error_it_is(route: str, kind: FaultKind, stream: bool) -> None:
    transport = failing(kind)

    error = await failure(transport, route, stream=stream)

    assert type(error) is ERRORS[kind]
    assert [seen.fault for seen in transport.requests] == [InjectedFault(kind)]
    assert transport.refusals == []


@pytest.mark.parametrize("route", ALL_ROUTES)
async def test_a_rate_limit_names_the_time_to_wait(route: str) -> None:
    error = await failure(failing(InjectedFault(FaultKind.RATE_LIMITED, seconds=7)), route)

    assert error.retry_after == (None if route.startswith("bedrock/") else 7.0)  # AWS does not say how long


@BOTH
@pytest.mark.parametrize("route", ALL_ROUTES)
async def test_a_model_that_declines_has_answered(route: str, stream: bool) -> None:
    talk = Conversation()
    talk.human("Hello")

    answer = await Client(failing(FaultKind.REFUSAL)).ask(talk, route, stream=stream)

    assert (answer.ending, answer.text) == (Ending.REFUSED, "I cannot help with that.")


@BOTH
@pytest.mark.parametrize("route", [route for route in ALL_ROUTES if not route.startswith("gemini/")])
async def test_an_answer_cut_at_the_limit_holds_half_a_call(route: str, stream: bool) -> None:
    talk = Conversation()
    talk.human("use read_file on a.txt")

    answer = await Client(failing(FaultKind.TRUNCATED)).ask(talk, route, stream=stream)

    assert answer.ending is Ending.LENGTH
    assert [(call.name, call.finished, call.raw) for call in answer.calls] == [("read_file", False, '{"path":')]


@BOTH
async def test_gemini_gives_no_half_calls(stream: bool) -> None:
    talk = Conversation()
    talk.human("use read_file on a.txt")

    answer = await Client(failing(FaultKind.TRUNCATED)).ask(talk, "gemini/gemini-3-pro-preview", stream=stream)

    assert (answer.ending, answer.calls, answer.text) == (Ending.LENGTH, (), "I will")


@BOTH
@pytest.mark.parametrize("route", [route for route in ALL_ROUTES if not route.startswith("gemini/")])
async def test_broken_arguments_arrive_as_the_model_wrote_them(route: str, stream: bool) -> None:
    talk = Conversation()
    talk.human("use read_file on a.txt")

    answer = await Client(failing(FaultKind.BROKEN_ARGUMENTS)).ask(talk, route, stream=stream)

    assert [(call.name, call.arguments, call.raw) for call in answer.calls] == [
        ("read_file", {}, '{"path":"a.txt", oops:}')
    ]


@BOTH
async def test_gemini_says_that_it_wrote_a_call_wrongly(stream: bool) -> None:
    error = await failure(failing(FaultKind.BROKEN_ARGUMENTS), "gemini/gemini-2.5-pro", stream=stream)

    assert type(error) is BadAnswer


@BOTH
async def test_a_stream_is_cut_after_as_many_chunks_as_were_asked_for(stream: bool) -> None:
    transport = failing(InjectedFault(FaultKind.CUT, after=0))

    error = await failure(transport, "openai/gpt-4o", stream=stream)

    assert type(error) is (Unreachable if stream else BadAnswer)


def clock() -> tuple[list[float], Callable[[float], Awaitable[None]]]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return slept, sleep


async def test_a_slow_provider_answers_in_the_end() -> None:
    slept, sleep = clock()
    transport = failing(InjectedFault(FaultKind.SLOW, seconds=20), sleep=sleep)

    said = await Client(transport).turn(Conversation(), "mistral/mistral-large-latest", "Hello")

    assert said.text == 'mistral-large-latest (simulated) heard: "Hello"'
    assert slept == [20.0]


async def test_a_provider_slower_than_patience_allows_is_an_error() -> None:
    slept, sleep = clock()
    world = SimulatedWorld(faults=Faults([InjectedFault(FaultKind.SLOW, seconds=20)]), sleep=sleep)

    error = await failure(SimulatedTransport(world, timeouts=Timeouts(first_byte=5)), "openai/gpt-4o")

    assert (type(error), error.facts["phase"]) == (TimedOut, "first byte")
    assert slept == [5.0]


# --- asked for in words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fail with 429 after 9 seconds", RateLimited),
        ("fail with 500", Overloaded),
        ("fail with 529", Overloaded),
        ("fail with 402", QuotaExhausted),
        ("fail with 401", Unauthorized),
        ("refuse the connection", Unreachable),
        ("cut the stream", BadAnswer),
        ("send garbage", BadAnswer),
        ("say nothing", BadAnswer),
    ],
)
async def test_a_failure_can_be_asked_for(words: str, expected: type[ProviderError]) -> None:
    assert type(await failure(SimulatedTransport(), "anthropic/claude-sonnet-4-5", f"Please {words}.")) is expected


async def test_a_failure_that_happens_once_is_over_at_the_second_try() -> None:
    transport = SimulatedTransport()
    client, talk = Client(transport), Conversation()
    talk.human("use read_file on a.txt and fail once with 429 after 3 seconds")

    with pytest.raises(RateLimited):
        await client.ask(talk, "kimi/kimi-k2-thinking")
    answer = await client.ask(talk, "kimi/kimi-k2-thinking")

    assert [call.arguments for call in answer.calls] == [{"path": "a.txt"}]


@pytest.mark.req("REQ-915-043")
async def test_a_failure_in_the_middle_of_a_tool_loop_leaves_it_to_another_provider() -> None:
    transport = SimulatedTransport()
    client, talk = Client(transport), Conversation()
    talk.human("use read_file on a.txt then use list_folder on docs and fail with 500 on anthropic then tell me")
    first = await client.ask(talk, "anthropic/claude-sonnet-4-5")
    talk.result(talk.ledger.in_order[0].id, "aaa")

    with pytest.raises(Overloaded):
        await client.ask(talk, "anthropic/claude-sonnet-4-5")
    second = await client.ask(talk, "mistral/mistral-large-latest")
    talk.result(talk.ledger.in_order[1].id, "ddd")
    third = await client.ask(talk, "gemini/gemini-3-pro-preview")

    assert [call.name for call in (*first.calls, *second.calls)] == ["read_file", "list_folder"]
    assert third.text == 'read_file returned: "aaa"; list_folder returned: "ddd".'
    assert transport.refusals == []


# --- refusals that are no fault ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ALL_ROUTES)
async def test_a_request_longer_than_the_window_is_too_long(route: str) -> None:
    transport = SimulatedTransport(SimulatedWorld(window=50))

    error = await failure(transport, route, "word " * 300)

    assert type(error) is ContextTooLong
    assert [seen.refusal.reason for seen in transport.refusals if seen.refusal] == [RefusalReason.TOO_LONG]


@pytest.mark.parametrize("route", ALL_ROUTES)
async def test_a_model_that_nobody_serves_is_the_users_matter(route: str) -> None:
    error = await failure(SimulatedTransport(), f"{route.partition('/')[0]}/unknown-model")

    assert type(error) is UnknownModel


@pytest.mark.parametrize("key", [None, "bad-key-0001"], ids=["missing", "wrong"])
@pytest.mark.parametrize("route", [route for route in ALL_ROUTES if not route.startswith("vllm/")])
async def test_a_key_that_is_missing_or_wrong_is_unauthorized(route: str, key: str | None) -> None:
    client = Client(SimulatedTransport(SimulatedWorld(needs_keys=True)), key=key)

    with pytest.raises(Unauthorized):
        await client.turn(Conversation(), route, "Hello")


async def test_a_server_of_ones_own_asks_for_no_key() -> None:
    transport = SimulatedTransport(SimulatedWorld(needs_keys=True))

    said = await Client(transport).turn(Conversation(), "ollama/qwen3", "Hello")

    assert said.text == 'qwen3 (simulated) heard: "Hello"'


# --- campaigns --------------------------------------------------------------------------------------------------------


async def _campaign(seed: int) -> list[tuple[str, int, InjectedFault | None]]:
    """Turns at changing providers under random faults, each tried until it is through."""
    _, sleep = clock()
    transport = SimulatedTransport(SimulatedWorld(faults=FaultPlan(seed), sleep=sleep))
    client, talk = Client(transport), Conversation()
    for number in range(12):
        route = ALL_ROUTES[(seed + number * 5) % len(ALL_ROUTES)]
        talk.human(f"use read_file on {number}.txt and more.txt")
        for _ in range(40):
            try:
                answer = await client.ask(talk, route)
            except (RateLimited, Overloaded, Unreachable, BadAnswer):
                continue
            waiting = [call for call in talk.ledger.in_order if not call.is_settled]
            for call in waiting:
                talk.result(call.id, f"{number}: fine")
            if not answer.calls:
                break
        else:
            raise AssertionError("no answer in forty tries")
    assert transport.refusals == []
    return [(seen.provider, len(seen.body), seen.fault) for seen in transport.requests]


@pytest.mark.parametrize("seed", range(8))
async def test_a_seed_reproduces_a_run_and_no_fault_makes_a_request_that_is_refused(seed: int) -> None:
    first = await _campaign(seed)

    assert await _campaign(seed) == first
    assert any(fault is not None for *_, fault in first)


def test_a_plan_keeps_its_rates_and_draws_for_each_provider_apart() -> None:
    plan = FaultPlan(3, {FaultKind.CUT: 0.25, FaultKind.SLOW: 0.25})
    drawn = [plan.fault("openai", number) for number in range(4_000)]
    kinds = [fault.kind if fault else None for fault in drawn]

    assert drawn == [FaultPlan(3, plan.rates).fault("openai", number) for number in range(4_000)]
    assert drawn != [plan.fault("kimi", number) for number in range(4_000)]
    for kind, share in ((FaultKind.CUT, 0.25), (FaultKind.SLOW, 0.25), (None, 0.5)):
        assert math.isclose(kinds.count(kind) / len(kinds), share, abs_tol=0.05)
