"""What every place where the gateway remembers promises, for its memory and for its file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from legato.gateway.sqlite_state import SqliteState
from legato.gateway.state import GatewayState, GivenAnswer, MemoryState
from legato.transport.stored_responses import Stored

from builders import ai, call, origin, thought

KIMI = "kimi/kimi-k2-thinking"
ANSWER = GivenAnswer(
    ai(thought("hm", signature="c2ln"), "I look", call("a", path="x"), origin=origin(KIMI)), KIMI, "resp_1"
)
OTHER = GivenAnswer(ai("Done."), KIMI, "resp_2")

Opened: TypeAlias = AbstractAsyncContextManager[GatewayState]


@asynccontextmanager
async def in_memory(_: Path) -> AsyncIterator[GatewayState]:
    yield MemoryState()


WAL = (3, 53, 0)
"""a version of SQLite that is trusted with a write-ahead log, whatever is linked here"""

STATES: dict[str, Callable[[Path], Opened]] = {
    "memory": in_memory,
    "sqlite": lambda folder: SqliteState(folder / "state.db"),
    "sqlite-wal": lambda folder: SqliteState(folder / "state.db", sqlite_version=WAL),
}


def stored(number: int, tenant: str = "t", text: str = "hi") -> Stored:
    return Stored(tenant, {"id": f"resp_{number}", "output": []}, {"input": text})


@pytest.fixture(params=STATES)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Callable[[GatewayState], Awaitable[None]]], None]:
    """Runs a scenario on a fresh state."""

    def of(scenario: Callable[[GatewayState], Awaitable[None]]) -> None:
        async def opened() -> None:
            async with STATES[request.param](tmp_path) as state:
                await scenario(state)

        anyio.run(opened)

    return of


Run: TypeAlias = Any


def test_an_answer_is_found_under_each_of_its_keys(run: Run) -> None:
    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["call a", "place b"], ANSWER)
        found = await state.find("t", ["call b", "place b", "call a"])
        assert dict(found) == {"call a": ANSWER, "place b": ANSWER}
        assert dict(await state.find("t", [])) == {}

    run(scenario)


def test_under_a_known_key_the_newer_answer_counts(run: Run) -> None:
    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["call a", "place b"], ANSWER)
        await state.remember("t", ["place b"], OTHER)
        assert dict(await state.find("t", ["call a", "place b"])) == {"call a": ANSWER, "place b": OTHER}

    run(scenario)


def test_tenants_do_not_see_each_others(run: Run) -> None:
    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["call a"], ANSWER)
        await state.keep_response(stored(1))
        for tenant in ("u", "", "T", "t "):
            assert dict(await state.find(tenant, ["call a"])) == {}
            assert await state.response(tenant, "resp_1") is None
            assert not await state.forget_response(tenant, "resp_1")
        await state.remember("u", ["call a"], OTHER)
        assert dict(await state.find("t", ["call a"])) == {"call a": ANSWER}
        assert await state.response("t", "resp_1") == stored(1)

    run(scenario)


def test_a_response_that_is_forgotten_is_gone_with_its_answer(run: Run) -> None:
    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["call a", "place a"], ANSWER)
        await state.remember("t", ["call b"], OTHER)
        await state.keep_response(stored(1))
        await state.keep_response(stored(2))
        assert await state.forget_response("t", "resp_1")
        assert await state.response("t", "resp_1") is None
        assert await state.response("t", "resp_2") == stored(2)
        assert dict(await state.find("t", ["call a", "place a", "call b"])) == {"call b": OTHER}
        assert not await state.forget_response("t", "resp_1")

    run(scenario)


def test_a_response_is_found_by_its_items_too(run: Run) -> None:
    one, other = (Stored(name, {"id": f"resp_{name}", "output": [{"id": f"msg_{name}"}, {}]}, {}) for name in "tu")

    async def scenario(state: GatewayState) -> None:
        await state.keep_response(one)
        await state.keep_response(other)
        assert await state.response_with("t", "msg_t") == one
        assert await state.response_with("t", "msg_u") is None
        assert await state.response_with("t", "") is None
        await state.forget_response("t", "resp_t")
        assert await state.response_with("t", "msg_t") is None

    run(scenario)


def test_an_answer_with_half_a_character_comes_back(run: Run) -> None:
    odd = GivenAnswer(ai("half \ud800"), KIMI)

    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["a"], odd)
        assert dict(await state.find("t", ["a"])) == {"a": odd}

    run(scenario)


ODD: dict[str, Any] = {
    "a number beyond 64 bits": 2**80,
    "a small number": 0.1,
    "a NUL": "\0",
    "nothing": None,
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_comes_back_as_it_was(run: Run, odd: str) -> None:
    value = ODD[odd]
    given = GivenAnswer(ai("x", call("a", value=value)), KIMI)
    response = Stored("t", {"id": "resp_1", "output": [value]}, {"input": [{"deep": {"er": value}}]})

    async def scenario(state: GatewayState) -> None:
        await state.remember("t", ["call a"], given)
        await state.keep_response(response)
        assert dict(await state.find("t", ["call a"])) == {"call a": given}
        assert await state.response("t", "resp_1") == response

    run(scenario)
