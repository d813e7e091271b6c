"""A small service that answers questions, whichever provider is well.

    python examples/failover_service.py                   asks itself a few questions, with simulated providers
    python examples/failover_service.py --serve 8124      serves on that port, with simulated providers
    python examples/failover_service.py --serve 8124 --live    the same with the real ones, and your keys

A request is a line of JSON over TCP, an answer is another:

    {"who": "ada", "say": "hello"}    ->    {"answer": "…", "route": "openai/gpt-4o", "left": ["…"]}

Each person has a session in a store. All sessions share one world, so an outage that one of them met is known to all:
the failed route rests, and the next question goes to the next one at once.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from functools import partial

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from legato import LegatoError, Policy, Profile, Route, Session, World, open_store, tool
from legato.session import events
from legato.simulation import FaultKind, Faults, SimulatedTransport, SimulatedWorld
from legato.store import Store
from legato.tools import Approval, Mode

CHAIN = Profile(
    "chain",
    (Route("mistral/mistral-large-latest"), Route("anthropic/claude-haiku-4-5"), Route("openai/gpt-4o")),
    Policy.FAILOVER,
)
LONGEST_LINE = 64 * 1024


@tool
def opening_hours(day: str) -> str:
    """When the hall is open on a day."""
    return {"thursday": "19:00 to 22:00"}.get(day.lower(), "closed")


class Service:
    """Answers lines. `world` is shared by all sessions, `store` keeps them."""

    def __init__(self, world: World, store: Store) -> None:
        self._world = world
        self._store = store
        self._ids: dict[str, str] = {}
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def serve(self, port: int, *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; port 0 takes a free one."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
        async with listener:
            task_status.started(listener.extra(SocketAttribute.local_port))
            await listener.serve(self._attend)

    async def _attend(self, stream: SocketStream) -> None:
        async with stream:
            lines = BufferedByteReceiveStream(stream)
            while True:
                try:
                    line = await lines.receive_until(b"\n", LONGEST_LINE)
                except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound):
                    return
                await stream.send(json.dumps(await self._answer(line)).encode() + b"\n")

    async def _answer(self, line: bytes) -> dict[str, object]:
        try:
            asked = json.loads(line)
            return await self.ask(str(asked["who"]), str(asked["say"]))
        except (ValueError, KeyError, TypeError):
            return {"error": 'send a line such as {"who": "ada", "say": "hello"}'}
        except LegatoError as error:
            return {"error": error.message}

    async def ask(self, who: str, text: str) -> dict[str, object]:
        """One turn in the session of `who`; a second question of theirs waits for its turn."""
        async with self._turns[who]:
            session = Session(
                CHAIN,
                tools=[opening_hours],
                approval=Approval(Mode.NEVER),  # the one tool only reads
                world=self._world,
                store=self._store,
                session_id=self._ids.get(who),
                meta={"title": who},
            )
            async with session:
                turn = session.send(text)
                left = [event.reason async for event in turn if isinstance(event, events.RouteLost)]
                result = await turn
            self._ids[who] = session.id or ""
        return {"answer": result.text, "route": result.route, "left": left}


def simulated_world() -> World:
    """Simulated providers, of which the first one has no balance left."""
    faults = Faults([FaultKind.QUOTA] * 100, provider="mistral")
    return World(transport=SimulatedTransport(SimulatedWorld(faults=faults)))


async def main(port: int | None, *, live: bool) -> None:
    """Serve on `port`; without one, ask a few questions over the wire and print the answers."""
    async with open_store("memory:") as store, anyio.create_task_group() as group:
        world = World() if live else simulated_world()
        bound: int = await group.start(partial(Service(world, store).serve, port or 0))
        if port is not None:
            print(f"listening on 127.0.0.1:{bound}; Ctrl-C ends it")
            return
        for who, text in (
            ("ada", "use opening_hours on Thursday"),
            ("bob", "hello"),
            ("ada", "what did the first tool return?"),
        ):
            print(f"{who}: {text}\n   {await ask_over_the_wire(bound, who, text)}")
        group.cancel_scope.cancel()


async def ask_over_the_wire(port: int, who: str, text: str) -> str:
    """What a client does."""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(json.dumps({"who": who, "say": text}).encode() + b"\n")
        return (await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST_LINE)).decode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A small service with failover.")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve on this port until Ctrl-C")
    parser.add_argument("--live", action="store_true", help="use real providers and your keys")
    options = parser.parse_args()
    try:
        anyio.run(partial(main, options.serve, live=options.live))
    except KeyboardInterrupt:
        print("bye")
