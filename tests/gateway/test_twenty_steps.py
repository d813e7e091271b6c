"""An agent of each dialect, twenty requests with tools and thinking, another backend at every one of them.

The reasoning of a backend reaches it again by what the client carries, by what the gateway remembers, or by both. The
simulated providers know their own signatures and refuse all others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from secrets import token_bytes
from typing import Any, TypeAlias

import anyio
import pytest

from gateway_clients import EACH_REQUEST, FAMILIES, read, seen_by, simulated_world
from legato.gateway.gateway import Gateway, SwitchAt
from legato.gateway.sqlite_state import SqliteState
from legato.simulation.world import Seen
from legato.world import World
from raw_agents import RAW_AGENTS, RawAgent
from vendor_types import misfits

KEY = b"a key for tests"
THINKERS = ("anthropic", "openai-responses", "gemini", "kimi", "deepseek")
TURNS = (
    "think first, then use read_file on a0.txt and b0.txt"
    + "".join(f" then use read_file on a{step}.txt" for step in range(1, 12)),
    "think first, then use read_file on c0.txt"
    + "".join(f" then use read_file on c{step}.txt" for step in range(1, 6)),
)
"""of thirteen and of seven requests"""
CALLS = 13 + 6


Gateways: TypeAlias = AsyncGenerator[Gateway]
"""the gateway of each request"""


async def fresh_each_time(world: World, folder: Path) -> Gateways:
    """Another process for each request: all that they have in common is the key, which they find in a file."""
    while True:
        for route in FAMILIES.values():
            async with SqliteState(folder / "state.db") as state:
                yield Gateway(world, route, key=await state.sealing_key(token_bytes(32)))


async def one_that_remembers(world: World, _: Path) -> Gateways:
    gateway = Gateway(world, EACH_REQUEST, switch=SwitchAt.REQUEST, key=KEY)
    while True:
        yield gateway


async def fresh_on_the_same_file(world: World, folder: Path) -> Gateways:
    """Another process for each request: all that they have in common is the file, from which the state comes."""
    while True:
        async with SqliteState(folder / "state.db") as state:
            yield Gateway(world, EACH_REQUEST, switch=SwitchAt.REQUEST, key=token_bytes(32), state=state)


PLACES: dict[str, tuple[Callable[[World, Path], Gateways], bool]] = {
    "carriers": (fresh_each_time, False),
    "state": (one_that_remembers, True),
    "state in a file": (fresh_on_the_same_file, True),
    "both": (one_that_remembers, False),
}
"""how reasoning comes home: the gateways, and whether the client forgets it"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("client", RAW_AGENTS)
def test_twenty_requests_to_another_backend_each(client: str, stream: bool, place: str, tmp_path: Path) -> None:
    gateways, forgets = PLACES[place]
    world = simulated_world()
    agent = RAW_AGENTS[client](stream=stream, forgets=forgets)
    anyio.run(run, agent, gateways(world, tmp_path))
    seen = seen_by(world)
    assert [refused.refusal for refused in seen.refusals] == []
    assert len(seen.requests) == 20
    assert agent.calls == CALLS
    by_family = defaultdict[str, list[int]](list)
    for request in seen.requests:
        family = family_of(request)
        by_family[family].append(thoughts_in(request))
        assert misfits(request.json, family) == []
    for family, sent_back in by_family.items():
        own = range(len(sent_back)) if family in THINKERS else [0] * len(sent_back)
        assert sent_back == list(own), family  # each time all that it has thought before, and nothing else


async def run(agent: RawAgent, gateways: Gateways) -> None:
    async with aclosing(gateways):
        for text in TURNS:
            agent.say(text)
            async for gateway in gateways:
                response = await gateway.answer(agent.ask())
                data = await read(response)
                assert response.status == 200, data
                if not agent.take(data):
                    break


def family_of(seen: Seen) -> str:
    return next(family for family, route in FAMILIES.items() if route == f"{seen.provider}/{seen.model}")


def thoughts_in(seen: Seen) -> int:
    """How often a request gives its model reasoning back."""
    body: Any = seen.json
    match family_of(seen):
        case "anthropic":
            answers = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
            return sum(block["type"] in ("thinking", "redacted_thinking") for blocks in answers for block in blocks)
        case "openai-responses":
            return sum(item.get("type") == "reasoning" for item in body["input"])
        case "gemini":
            parts = [part for content in body["contents"] for part in content["parts"]]
            return sum(part.get("thoughtSignature", PLACEHOLDER) != PLACEHOLDER for part in parts)
        case _:
            return _unsigned_thoughts(body["messages"])


def _unsigned_thoughts(messages: list[Any]) -> int:
    """The chat family signs nothing, but what is thought in this scenario says how many results were known."""
    results = thoughts = 0
    for message in messages:
        results += message["role"] == "tool"
        if thought := message.get("reasoning_content", "").strip():
            assert f"I know {results} results so far" in thought
            thoughts += 1
    return thoughts


PLACEHOLDER = "skip_thought_signature_validator"
