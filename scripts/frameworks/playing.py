"""Runs inside a framework's environment: takes orders on standard input, and answers each with a line.

In:  a line of JSON for each order, after one with the base URLs of the providers.
Out: a line of JSON with what the framework made of it; what it prints itself goes to standard error.

    python -m scripts.frameworks.playing pydantic_ai

A framework gets its histories by having them: it asks a model of one family, which calls two tools, and the messages of
that turn are what is damaged.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from scripts.frameworks.damages import FOREIGN, Damage, Role, damaged
from scripts.frameworks.tool import FILES, RAN

FIRST = "use read_file on notes.txt and hall.txt"
THOUGHTFUL = f"think first, then {FIRST}"
NEXT = "what did the last tool return?"


class Player(Protocol):
    """One framework."""

    families: Sequence[str]
    own: Mapping[str, Callable[[], Awaitable[None]]]
    """what only this framework has, by what it is called; each raises an error if something is not as it should be"""

    def __init__(self, urls: dict[str, str]) -> None: ...

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text` after `history` to a model of `family`, and let it finish; the history with all that was said.

        Where it `streams`, every answer is read while it comes.
        """
        ...

    def explode(self, history: list[Any]) -> list[Any]:
        """The same history, with no more than one result in a message."""
        ...

    def role(self, message: Any) -> Role:
        """What a message is."""
        ...

    def twin(self, message: Any) -> Any:
        """Another message that says the same."""
        ...

    def dumped(self, history: list[Any]) -> Any:
        """The history as plain values."""
        ...


class Stand:
    """Does what it is told with a player, and keeps the histories that it has."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._kept: dict[tuple[str, bool], list[Any]] = {}

    async def families(self) -> dict[str, Any]:
        """Which families the framework asks, and what else it has."""
        return {"families": list(self._player.families), "own": list(self._player.own)}

    async def history(self, family: str, *, thinks: bool) -> dict[str, Any]:
        """Have a first turn on `family`."""
        text = THOUGHTFUL if thinks else FIRST
        try:
            history = await self._player.turn([], text, family, legato=False, thinks=thinks)
        except Exception:  # noqa: BLE001  # one framework cannot even finish a turn on one family by itself
            history = await self._player.turn([], text, family, legato=True, thinks=thinks)
        self._kept[family, thinks] = self._player.explode(history)
        return {"messages": len(history)}

    async def record(self, family: str) -> dict[str, Any]:
        """A turn with thoughts and two calls on `family`, as plain values."""
        history = await self._player.turn([], THOUGHTFUL, family, legato=True, thinks=True)
        return {"history": self._player.dumped(history)}

    async def play(self, family: str, source: str, damage: str, *, legato: bool) -> dict[str, Any]:
        """Go on with a damaged history on `family`."""
        kind = Damage(damage)
        thinks = kind is Damage.FOREIGN_THINKING
        history = self._kept[source, thinks]
        if kind not in FOREIGN:
            history = damaged(history, kind, role=self._player.role, twin=self._player.twin)
        await self._player.turn(history, NEXT, family, legato=legato, thinks=False)
        return {}

    async def stay(self, family: str, *, legato: bool) -> dict[str, Any]:
        """Two turns on one family that both think, in loops of tools: its thoughts have to come back to it."""
        history = await self._player.turn([], THOUGHTFUL, family, legato=legato, thinks=True)
        await self._player.turn(history, THOUGHTFUL, family, legato=legato, thinks=True)
        return {}

    async def travel(self, turns: int, *, legato: bool, streams: bool = False) -> dict[str, Any]:
        """One conversation, on another family at each turn, which calls two tools at once.

        Every second turn thinks where its model can.
        """
        history: list[Any] = []
        families = self._player.families
        for number in range(turns):
            thinks = number % 2 == 1
            family = families[number % len(families)]
            RAN.clear()
            history = await self._player.turn(
                history, THOUGHTFUL if thinks else FIRST, family, legato=legato, thinks=thinks, streams=streams
            )
            if sorted(RAN) != sorted(FILES):
                raise RuntimeError(f"on {family} the tool ran with {RAN}")
        return {"turns": turns}

    async def own(self, what: str) -> dict[str, Any]:
        """Something that only this framework has, with Legato."""
        await self._player.own[what]()
        return {}


async def _serve(stand: Stand, out: Any) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = await getattr(stand, order.pop("order"))(**order)
        except Exception as error:  # noqa: BLE001  # whatever a framework raises is what is measured
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def main() -> None:
    """Serve orders until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints must not be taken for an answer
    urls = json.loads(sys.stdin.readline())
    player = import_module(f"scripts.frameworks.players.{sys.argv[1]}").Player(urls)
    asyncio.run(_serve(Stand(player), out))


if __name__ == "__main__":
    main()
