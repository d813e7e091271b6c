"""A long session under a small window: how often it is rewritten, and how much of what is sent was cached.

Every turn asks something, reads a file or runs a command, and answers; before each request the history is compacted if
it must be. A provider caches the longest beginning that a request shares with the one before it, so the share of bytes
in that beginning is the share of tokens that did not have to be paid in full.
"""

import argparse
import math
from collections.abc import Sequence
from typing import Any

import anyio
from msgspec import Struct

from legato.model import Entry, Speaker, Target, Text, ToolCall, ToolSpec
from legato.model.records import Compacted
from legato.request import render, resolve, with_capabilities
from legato.request.tokens import Estimator
from legato.session.compaction.gauge import TokenGauge
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.tool_history import ToolHistory
from legato.session.events import HistoryCompacted
from legato.transcript import Conversation

FIRST = "Please port the billing service. Remember that the code word for the release is MARIGOLD-17."
ROUTE = "openai/gpt-4o"
SYSTEM = "You are a careful engineer."
TOOLS = [
    ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSpec("run", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}}),
]
LINE = "    total = sum(item.price * item.amount for item in order.items)  # {number}\n"


class Bounds(Struct, frozen=True):
    """How often a conversation had to be rewritten for a window, in any way, and how often it could be in ours.

    Each rewrite takes tokens out of the request, and all together cannot take out more than was said. A rewrite at the
    high mark can free no more than that, as long as no single output is larger; each of ours frees at least the step
    between the marks, or, if it was the threshold for outputs that set it off, the minimal gain.
    """

    whole: int
    """tokens of the conversation with nothing left out"""
    at_least: int
    at_most: int
    early: int = 0
    """rewrites that the threshold for outputs set off, below the high mark"""

    @classmethod
    def of(
        cls,
        talk: Conversation,
        target: Target,
        settings: HistorySettings,
        *,
        estimator: Estimator,
        compactions: Sequence[HistoryCompacted],
        tools: Sequence[ToolSpec] = (),
        system: str = "",
    ) -> "Bounds":
        """The bounds for a conversation that was rewritten by `compactions`."""
        window = target.capabilities.window
        gauge = TokenGauge(talk, with_capabilities(target, window=10**9))
        gauge.refresh(estimator)
        whole = gauge.total + gauge.head_tokens(tools, system)
        high = settings.high_mark * window
        step, least = high - settings.low_mark * window, settings.min_gain * window
        early = sum(event.before <= high for event in compactions)
        return cls(
            whole=whole,
            at_least=max(math.ceil(whole / high) - 1, 0),
            at_most=early + max(math.floor((whole - early * least) / step), 0),
            early=early,
        )


class Journey:
    """One conversation on its way through many turns, and what was measured on it."""

    def __init__(self, target: Target, settings: HistorySettings | None = None) -> None:
        self.target = target
        self.talk = Conversation()
        self.history = ToolHistory(settings)
        self.estimator = Estimator()
        self.compactions: list[HistoryCompacted] = []
        self.requests = 0
        self.largest = 0
        self.sent = 0
        self.cached = 0
        self._before = b""

    async def turn(self, number: int) -> None:
        """A message, a call with its result, an answer."""
        self.talk.human(FIRST if number == 0 else f"Step {number}: what is left to do in part {number % 40}?")
        await self.request()
        name = "run" if number % 3 == 0 else "read"
        asked = {"command": f"make part-{number}"} if name == "run" else {"path": f"src/part_{number % 90}.py"}
        call = ToolCall(name, asked, f"call_{number}")
        entry = self.talk.record(Entry(Speaker.AI, (Text("Let me look."), call)))
        if number % 11 == 5:
            self.talk.result(entry.calls[0], error=f"exit code 2: part {number} does not build")
        else:
            self.talk.result(entry.calls[0], LINE.format(number=number) * (number * 7 % 30 + 1))
        await self.request()
        self.talk.record(Entry(Speaker.AI, (Text(f"Part {number} is ported; its tests pass now."),)))

    async def request(self) -> None:
        """Make room, and send."""
        compaction = await self.history.make_room(
            self.talk, self.target, estimator=self.estimator, tools=TOOLS, system=SYSTEM
        )
        if compaction is not None:
            self.talk.apply(self.talk.prepare(compaction.records))
            self.compactions.append(compaction.event)
        body = render(self.talk, self.target, tools=TOOLS, system=SYSTEM).json()
        self.requests += 1
        self.largest = max(self.largest, self.estimator.tokens(self.target.route, body))
        self.sent += len(body)
        self.cached += common(self._before, body)
        self._before = body

    @property
    def rewrites(self) -> int:
        """How often the history was compacted."""
        return len(self.compactions)

    def bounds(self) -> Bounds:
        """How often it had to be, and how often it could be."""
        return Bounds.of(
            self.talk,
            self.target,
            self.history.settings,
            estimator=self.estimator,
            compactions=self.compactions,
            tools=TOOLS,
            system=SYSTEM,
        )

    def knows(self, word: bytes) -> bool:
        """Whether `word` stands in what was sent last."""
        return word in self._before


def common(one: bytes, other: bytes) -> int:
    """The length of the longest beginning that both share."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def run(
    turns: int, window: int, *, route: str = "openai/gpt-4o", settings: HistorySettings | None = None
) -> dict[str, Any]:
    """A session of so many turns on `route`, as if its window had so many tokens."""
    journey = Journey(with_capabilities(resolve(route), window=window), settings)

    async def travel() -> None:
        for number in range(turns):
            await journey.turn(number)

    anyio.run(travel)
    covers = sum(isinstance(record, Compacted) and record.call is None for record in journey.talk.log)
    bounds = journey.bounds()
    return {
        "turns": turns,
        "window": window,
        "requests": journey.requests,
        "whole conversation": bounds.whole,
        "rewrites": journey.rewrites,
        "early rewrites": bounds.early,
        "rewrites at most": bounds.at_most,
        "rewrites at least": bounds.at_least,
        "summaries written": covers,
        "largest request": journey.largest,
        "tokens sent": journey.estimator.of_size(ROUTE, journey.sent),
        "cached share": round(journey.cached / journey.sent, 3),
        "knows its first turn": journey.knows(b"MARIGOLD-17"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--window", type=int, default=16_000)
    arguments = parser.parse_args()
    print(f"A session of {arguments.turns:,} turns under a window of {arguments.window:,} tokens:")
    for name, value in run(arguments.turns, arguments.window).items():
        print(f"  {name:<22} {str(value) if isinstance(value, bool) else format(value, ','):>12}")


if __name__ == "__main__":
    main()
