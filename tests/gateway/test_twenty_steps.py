"""An agent of each dialect, twenty requests with tools and thinking, another backend at every one of them.

The reasoning of a backend reaches it again by what the client carries, by what the gateway remembers, or by both. The
simulated providers know their own signatures and refuse all others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from gateway_clients import EACH_REQUEST, FAMILIES, read, seen_by, simulated_world
from legato.gateway.gateway import Gateway, SwitchAt
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


def fresh_each_time(world: World) -> Iterator[Gateway]:
    """Another process for each request: all that they have in common is the key."""
    while True:
        for route in FAMILIES.values():
            yield Gateway(world, route, key=KEY)


def one_that_remembers(world: World) -> Iterator[Gateway]:
    gateway = Gateway(world, EACH_REQUEST, switch=SwitchAt.REQUEST, key=KEY)
    while True:
        yield gateway


PLACES: dict[str, tuple[Callable[[World], Iterator[Gateway]], bool]] = {
    "carriers": (fresh_each_time, False),
    "state": (one_that_remembers, True),
    "both": (one_that_remembers, False),
}
"""how reasoning comes home: the gateways, and whether the client forgets it"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("client", RAW_AGENTS)
def test_twenty_requests_to_another_backend_each(client: str, stream: bool, place: str) -> None:
    gateways, forgets = PLACES[place]
    world = simulated_world()
    agent = RAW_AGENTS[client](stream=stream, forgets=forgets)
    anyio.run(run, agent, gateways(world))
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


async def run(agent: RawAgent, gateways: Iterator[Gateway]) -> None:
    for text in TURNS:
        agent.say(text)
        for gateway in gateways:
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
