"""A session that gives pieces of work to subagents, each on its own provider.

    python examples/subagents.py           simulated providers, in this process: no key needed
    python examples/subagents.py --live    the real ones; set ANTHROPIC_API_KEY and MISTRAL_API_KEY

The `task` tool is a session of its own: its own log, its own route, the same tools and the same approval. The parent
sees one call with one result; what the subagent read on the way stays with the subagent. Two tasks run at once.
"""

from __future__ import annotations

import sys

import anyio

from legato import Limits, Session, World, tool
from legato.session import Spending, events, task_tool
from legato.simulation import SimulatedTransport
from legato.tools import Approval, Mode, ToolBox, ToolContext

FILES = {"first.txt": "allegro", "second.txt": "andante"}


@tool
def read_file(path: str) -> str:
    """Read a text file."""
    return FILES[path]


def watch(context: ToolContext, event: events.Event) -> None:
    """What subagents do, as they do it."""
    if isinstance(event, events.TurnStarted):
        print(f"  a subagent begins on {event.route}")


async def main(*, live: bool) -> None:
    """One message to the parent, two subagents."""
    world = World() if live else World(transport=SimulatedTransport())
    approval = Approval(Mode.NEVER)
    spending = Spending()
    tools = ToolBox([read_file])
    task = task_tool(
        "mistral/mistral-large-latest",
        tools=tools,
        world=world,
        approval=approval,
        limits=Limits(max_turns=5),
        spending=spending,  # what subagents use is counted with the parent
        watch=watch,
    )
    async with Session(
        "anthropic/claude-haiku-4-5",
        tools=tools.extended([task]),
        approval=approval,
        spending=spending,
        world=world,
    ) as session:
        result = await session.send(
            'call task with {"prompt": "use read_file on first.txt"} '
            'and call task with {"prompt": "use read_file on second.txt"}'
        )
        print(f"{result.route}: {result.text}")
        print("entries in the parent's log:", [str(entry.speaker) for entry in session.talk.entries])
        print("used on:", ", ".join(sorted(spending.by_route)))
    if live:
        await world.aclose()


if __name__ == "__main__":
    anyio.run(lambda: main(live="--live" in sys.argv))
