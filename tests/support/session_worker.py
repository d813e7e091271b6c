"""A process that talks and works in a stored session until somebody kills it.

    python session_worker.py PLACE SESSION RAN

PLACE is what `open_store` takes. The providers are simulated, in rotation over every family. RAN is a file to which
each run of the tool adds its path, before anything else, so that a test can count what was really run. Each line of
output is flushed and tells of something that is stored: `opened N`, `settled PATH`, `turn N`.
"""

import os
import random
import sys

import anyio

from legato.model import JsonObject, ToolSpec
from legato.routing import Policy, Profile, Route
from legato.session import Limits, Session, World, events
from legato.simulation import SimulatedTransport
from legato.store import open_store
from legato.tools import Approval, Mode, Tool, ToolContext, ToolKind
from legato.transport import KeyRing

from builders import ROUTES

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ROTATION = Profile("all", tuple(map(Route, ROUTES)), Policy.ROUND_ROBIN)


def tell(*words: object) -> None:
    """Print a line that arrives even if this process dies the next moment."""
    print(*words, flush=True)


def work_tool(ran: str) -> Tool:
    """A tool that leaves a trace of every run, and takes a moment."""

    async def run(arguments: JsonObject, _: ToolContext) -> object:
        file = os.open(ran, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, f"{arguments['path']}\n".encode())
        finally:
            os.close(file)
        await anyio.sleep(random.uniform(0, 0.01))
        return f"worked on {arguments['path']}"

    return Tool(spec=ToolSpec("work", "Work on a file.", PATH), run=run, kind=ToolKind.READ)


def surroundings(transport: SimulatedTransport | None = None) -> World:
    """Simulated providers, without keys."""
    return World(transport=transport or SimulatedTransport(), keys=KeyRing({}, {}))


async def work(place: str, session_id: str, ran: str) -> None:
    """One turn with tools after another."""
    async with open_store(place) as store:
        talk = Session(
            ROTATION,
            tools=[work_tool(ran)],
            store=store,
            session_id=session_id,
            approval=Approval(Mode.NEVER),
            limits=Limits(parallel=2),
            world=surroundings(),
        )
        async with talk:
            tell("opened", talk.talk.ledger.incarnation)
            while True:
                name = f"n{len(talk.talk.log)}"
                turn = talk.send(f"use work on {name}a, {name}b and {name}c then use work on {name}d")
                async for event in turn:
                    if isinstance(event, events.ToolEnded) and event.response.reason is None:
                        tell("settled", str(event.response.result).rsplit(" ", 1)[-1])
                await turn
                tell("turn", talk.turns)


if __name__ == "__main__":
    anyio.run(work, sys.argv[1], sys.argv[2], sys.argv[3])
