"""A session of thousands of turns over simulated providers, under a small window, and what was measured on the way.

Every turn is a real one: a message, a request, a call that the simulated model makes, a tool that runs, a second
request, an answer. The provider refuses what is longer than its window, by its own count. At the end it is asked about
the first turn; it has no memory but the request, so it can only answer if a summary still holds what was said.
"""

import argparse
import re
import time
from collections.abc import Sequence
from typing import Any

import anyio
from msgspec import Struct

from bench.compaction import Bounds, common
from legato.model.records import Compacted, CompactionKind, StepEnded
from legato.request import default_catalogue
from legato.routing import Policy, Profile, Route
from legato.session import HistorySettings, Session, ToolHistory, World
from legato.session.events import HistoryCompacted
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.tools import Approval, Mode, ToolKind, tool
from legato.transport import KeyRing, WireRequest, WireResponse

FIRST = "Please keep in mind that the code word of the release is MARIGOLD-17, then use read_file on key.txt"
QUESTIONS = {'What is the "code word"?': "MARIGOLD-17", 'What is the "second word"?': "PERIWINKLE-4"}
SYSTEM = "You are a careful engineer."
LINE = "    total = sum(item.price * item.amount for item in order.items)  # {number}\n"


@tool(kind=ToolKind.READ)
def read_file(path: str) -> str:
    """Read a file."""
    if path == "key.txt":
        return "the second word is PERIWINKLE-4"
    number = int(re.sub(r"\D", "", path))
    if number % 11 == 5:
        raise OSError(f"part {number} cannot be read")
    return LINE.format(number=number) * (number * 7 % 30 + 1)


class Measured(Struct, frozen=True):
    """What a long session came to. Tokens are as the provider counted them; `whole` and the bounds are estimates."""

    turns: int
    window: int
    requests: int
    largest: int
    """tokens of the largest request"""
    refused: int
    """requests that a provider found too long, or not in order"""
    rewrites: int
    summaries: int
    bounds: Bounds
    cached_share: float
    """of the bytes sent, what the request before it to the same provider began with"""
    answers: dict[str, str]
    """what was answered to the questions about the first turn"""
    slowdown: float
    """processor time of a turn in the last tenth, in times of one in the second tenth"""

    @property
    def knows_its_first_turn(self) -> bool:
        """Whether every question about it was answered."""
        return all(word in self.answers[question] for question, word in QUESTIONS.items())


class _Meter:
    """Carries requests to simulated providers, and measures them."""

    def __init__(self, inner: SimulatedTransport) -> None:
        self.inner = inner
        self.requests = self.sent = self.cached = self.refused = 0
        self._before: dict[str, bytes] = {}

    async def send(self, request: WireRequest) -> WireResponse:
        self.requests += 1
        self.sent += len(request.body)
        self.cached += common(self._before.get(request.route, b""), request.body)
        self._before[request.route] = request.body
        response = await self.inner.send(request)
        self.refused += self.inner.requests[-1].refusal is not None
        return response


def play(
    turns: int, window: int, *, routes: Sequence[str] = ("openai/gpt-4o",), settings: HistorySettings | None = None
) -> Measured:
    """A session of so many turns, the routes taking turns, as if each window had so many tokens."""
    return anyio.run(_play, turns, window, routes, settings or HistorySettings())


async def _play(turns: int, window: int, routes: Sequence[str], settings: HistorySettings) -> Measured:
    narrow: dict[str, Any] = {"name": "narrow", "match": ["*"], "capabilities": {"window": window}}
    catalogue = default_catalogue().extended({"families": [narrow]})
    meter = _Meter(SimulatedTransport(SimulatedWorld(catalogue=catalogue, keeps=1)))
    world = World(transport=meter, keys=KeyRing({}, {}), catalogue=catalogue)
    session = Session(
        Profile("all", tuple(map(Route, routes)), Policy.ROUND_ROBIN),
        tools=[read_file],
        system=SYSTEM,
        approval=Approval(Mode.NEVER),
        history=ToolHistory.in_world(world, settings),
        world=world,
    )
    compactions: list[HistoryCompacted] = []
    seconds: list[float] = []

    async def say(text: str) -> str:
        begin = time.process_time()
        turn = session.send(text)
        compactions.extend([event async for event in turn if isinstance(event, HistoryCompacted)])
        answer = (await turn).text
        seconds.append(time.process_time() - begin)
        return answer

    async with session:
        await say(FIRST)
        for number in range(1, turns - len(QUESTIONS)):
            await say(f"Step {number}: use read_file on src/part_{number}.py")
        answers = {question: await say(question) for question in QUESTIONS}

    log, tenth = session.talk.log, max(turns // 10, 1)
    counted = [record.usage.input for record in log if isinstance(record, StepEnded) and record.usage is not None]
    target = world.target(routes[0])
    bounds = Bounds.of(
        session.talk,
        target,
        settings,
        estimator=session.estimator,
        compactions=compactions,
        tools=session.tools.specs,
        system=SYSTEM,
    )
    return Measured(
        turns=turns,
        window=window,
        requests=meter.requests,
        largest=max(counted),
        refused=meter.refused,
        rewrites=len(compactions),
        summaries=sum(isinstance(record, Compacted) and record.kind is CompactionKind.COVER for record in log),
        bounds=bounds,
        cached_share=meter.cached / meter.sent,
        answers=answers,
        slowdown=sum(seconds[-tenth:]) / max(sum(seconds[tenth : 2 * tenth]), 1e-9),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--window", type=int, default=16_000)
    parser.add_argument("--routes", nargs="+", default=["openai/gpt-4o"])
    options = parser.parse_args()
    found = play(options.turns, options.window, routes=options.routes)
    print(f"A session of {found.turns:,} turns under a window of {found.window:,} tokens:")
    for name, value in {
        "requests": f"{found.requests:,}",
        "refused": f"{found.refused:,}",
        "largest request": f"{found.largest:,} tokens",
        "whole conversation": f"{found.bounds.whole:,} tokens",
        "rewrites": f"{found.rewrites:,}",
        "  proven at most": f"{found.bounds.at_most:,}",
        "  at least, by any way": f"{found.bounds.at_least:,}",
        "summaries written": f"{found.summaries:,}",
        "cached share": f"{found.cached_share:.3f}",
        "a late turn": f"{found.slowdown:.2f} times an early one",
        "knows its first turn": found.knows_its_first_turn,
    }.items():
        print(f"  {name:<24} {value}")


if __name__ == "__main__":
    main()
