"""A provider that the catalogue does not know: your own gateway, or a model server in your house.

    python examples/custom_provider.py                                   simulated, in this process
    python examples/custom_provider.py http://127.0.0.1:9000/v1 MODEL    your own OpenAI-compatible server

What a provider is, is data: which dialect it speaks, where it listens, which variables hold its key, what its models
accept. The same tables can stand in a settings file (see docs/configuration.md). A provider that is described is also
simulated, by the rules of its dialect, so you can test against it before it exists.
"""

from __future__ import annotations

import os
import sys
import tomllib

import anyio

from legato import Catalogue, Session, World, tool
from legato.request import default_catalogue
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.tools import Approval, Mode
from legato.transport import KeyRing

HOUSE = """
[providers.house]
dialect = "openai_chat"                 # how it speaks
profile = "strict"                      # OpenAI-compatible, and picky about it
endpoint = "http://127.0.0.1:9000/v1"
keys = ["HOUSE_API_KEY"]                # where its key is looked for; leave it out if there is none
capabilities = { window = 32_768, images = false, max_calls = 1 }

[[families]]                            # what is different about some of its models
name = "the small ones"
match = ["*-mini"]
on = ["house"]
capabilities = { window = 8_192 }
"""

FILES = {"first.txt": "allegro", "second.txt": "andante"}


@tool
def read_file(path: str) -> str:
    """Read a text file."""
    return FILES[path]


def make_world(catalogue: Catalogue, endpoint: str | None) -> World:
    """The surroundings of a session: the catalogue, keys for it, and a way there."""
    keys = KeyRing({}, os.environ, catalogue)
    if endpoint is not None:
        return World(catalogue=catalogue, keys=keys, endpoints={"house": endpoint})
    return World(catalogue=catalogue, keys=keys, transport=SimulatedTransport(SimulatedWorld(catalogue=catalogue)))


async def main(endpoint: str | None, model: str) -> None:
    """Begin on a known provider, and go on in the house."""
    catalogue = default_catalogue().extended(tomllib.loads(HOUSE), source="this example")
    world = make_world(catalogue, endpoint)
    for name in (model, "any-mini"):
        target = world.target(f"house/{name}")
        print(f"{target.route}: {target.dialect}/{target.profile}, a window of {target.capabilities.window:,} tokens")
    begin = "openai/gpt-4o" if endpoint is None else f"house/{model}"
    async with Session(begin, tools=[read_file], approval=Approval(Mode.NEVER), world=world) as session:
        print((await session.send("use read_file on first.txt and second.txt")).text)
        await session.switch(f"house/{model}")
        result = await session.send("what did the first tool return?")
        print(f"{result.route}: {result.text}")
    if isinstance(world.transport, SimulatedTransport):
        # `max_calls = 1`: what was one answer with two calls becomes two answers with one call each.
        sent = world.transport.requests[-1].json["messages"]
        print([len(message["tool_calls"]) for message in sent if "tool_calls" in message])
        print("refused:", len(world.transport.refusals))
    await world.aclose()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    anyio.run(main, arguments[0] if arguments else None, arguments[1] if len(arguments) > 1 else "choir-large")
