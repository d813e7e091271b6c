"""What happens in the demonstration.

A temporary folder with a few files, the real file tools, a session, and simulated providers that refuse what the real
ones refuse. The conversation is moved by hand through every family, rotated, and carried over by a failover; one call
of a batch of five is cancelled on the way. At the end a model that saw none of it is asked about the first turn.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from legato.cli.demo.console import DemoConsole
from legato.cli.demo.tally import SeenId, Tally
from legato.request import render
from legato.routing import Patience, Policy, Profile, Route
from legato.session import Session, World, events
from legato.simulation import FaultKind, FaultSource, InjectedFault, SimulatedTransport, SimulatedWorld
from legato.tools import Approval, Mode, Tool, ToolBox, tool
from legato.tools.builtin import Workspace, builtin_tools

FAMILIES = (
    "openai/gpt-4o",
    "openai-responses/gpt-5.1",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-3-pro-preview",
    "kimi/kimi-k2-thinking",
    "mistral/mistral-large-latest",
    "deepseek/deepseek-reasoner",
    "bedrock/us.amazon.nova-2-lite-v1:0",
    "vertex/gemini-2.5-pro",
    "vercel/any",
)

SECRET = "The rehearsal is on Thursday at seven, in the small hall."
FILES = {
    "notes.txt": SECRET,
    "first.txt": "allegro",
    "second.txt": "andante",
    "third.txt": "minuet",
    "fourth.txt": "finale",
}

FAN_OUT = "use read on first.txt, second.txt, third.txt, fourth.txt and call wait_for_applause with {}"


class _FailingProvider(FaultSource):
    """Lets one provider run out of balance when it is told to."""

    def __init__(self) -> None:
        self.provider = ""

    def fault(self, provider: str, number: int) -> InjectedFault | None:
        """Fail every request of the chosen provider."""
        return InjectedFault(FaultKind.QUOTA) if provider == self.provider else None


class Journey:
    """One run of the demonstration."""

    def __init__(self, console: DemoConsole, folder: Path) -> None:
        self.console = console
        self.tally = Tally()
        self._failing = _FailingProvider()
        self.transport = SimulatedTransport(SimulatedWorld(faults=self._failing))
        self.session = Session(
            FAMILIES[0],
            tools=ToolBox([*builtin_tools(Workspace(folder)), _applause()]),
            approval=Approval(Mode.NEVER),
            world=World(transport=self.transport, patience=Patience()),
            system="You help a small orchestra.",
        )

    async def run(self) -> bool:
        """The whole journey; whether no provider refused anything and the last question was answered."""
        console, session = self.console, self.session
        async with session:
            console.chapter("By hand", "one conversation, a different provider at every turn")
            await self._say("use read on notes.txt")
            await self._switch("anthropic/claude-sonnet-4-5")
            await self._say(FAN_OUT, cancel_after=4)
            for route in ("openai-responses/gpt-5.1", *FAMILIES[3:]):
                await self._switch(route)
                await self._say("think first, then use read on second.txt and third.txt")
            console.ids(session.talk.ledger.in_order[0].name, self._ids_of_first_call())
            console.chapter("Round-robin", "the next provider at every turn, by itself")
            await session.switch(_profile("rotation", Policy.ROUND_ROBIN, *FAMILIES[:4]))
            for name in ("first.txt", "second.txt", "third.txt", "fourth.txt"):
                await self._say(f"use read on {name}")
            console.chapter("Failover", "the first provider of the chain has no balance left")
            self._failing.provider = "mistral"
            await session.switch(
                _profile("chain", Policy.FAILOVER, "mistral/mistral-large-latest", "kimi/kimi-k2-thinking")
            )
            await self._say("use read on fourth.txt")
            console.chapter("Memory", "a question about the first turn, back where thinking is signed")
            await self._switch("anthropic/claude-sonnet-4-5")
            answer = await self._say("what was in notes.txt?")
        remembered = SECRET in answer
        refused = len(self.transport.refusals)
        console.summary(self.tally, requests=len(self.transport.requests), refused=refused, remembered=remembered)
        return remembered and not refused

    async def _say(self, text: str, *, cancel_after: int | None = None) -> str:
        """One turn, shown; with `cancel_after`, cancelled when so many of its tools have ended."""
        self.console.said(text)
        turn = self.session.send(text)
        ended = 0
        async for event in turn:
            self.tally.take(event)
            self.console.show(event)
            if isinstance(event, events.ToolEnded):
                ended += 1
                if ended == cancel_after:
                    self.console.cancelling()
                    turn.cancel()
            await self.console.breathe(event)
        return (await turn).text

    async def _switch(self, route: str) -> None:
        preview = self.session.preview_switch(route)
        await self.session.switch(route)
        self.tally.switches += 1
        self.console.switched(preview)

    def _ids_of_first_call(self) -> list[SeenId]:
        """What every family is told as the id of the very first call."""
        talk = self.session.talk.copy()
        return [
            SeenId(route, render(talk, self.session.world.target(route)).report.emitted[0].wire_id)
            for route in FAMILIES
        ]


def _applause() -> Tool:
    @tool
    async def wait_for_applause() -> str:
        """Wait until someone claps, which no one does."""
        await anyio.sleep_forever()
        return "applause"

    return wait_for_applause


def _profile(name: str, policy: Policy, *routes: str) -> Profile:
    return Profile(name, tuple(Route(route) for route in routes), policy)


@contextmanager
def rehearsal_folder() -> Generator[Path]:
    """A temporary folder with the files that the tools read."""
    with TemporaryDirectory(prefix="legato-demo-") as name:
        folder = Path(name)
        for file, text in FILES.items():
            (folder / file).write_text(text + "\n", encoding="utf-8")
        yield folder
