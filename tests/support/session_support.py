"""What the tests of sessions share: a world without sockets and without time, tools that wait, and a log in words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, assert_never

import anyio
import anyio.lowlevel

from legato.model import JsonObject, Record, Speaker, Text, ToolResponse, ToolSpec
from legato.model.records import (
    Answered,
    Asked,
    Compacted,
    ContentRefused,
    Imported,
    Opened,
    ReasoningRefused,
    Recorded,
    Restored,
    Rewound,
    RouteSelected,
    Started,
    StepBegan,
    StepEnded,
    TurnBegan,
    TurnEnded,
)
from legato.session import Session, World
from legato.session.events import Event
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.tools import Approval, Mode, Tool, ToolContext, ToolKind
from legato.transport import KeyRing, Transport, WireRequest, WireResponse

CLAUDE = "anthropic/claude-sonnet-4-5"
GPT = "openai/gpt-4o"
GEMINI = "gemini/gemini-3-pro-preview"
MISTRAL = "mistral/mistral-large-latest"

PATH: JsonObject = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


# --- the world --------------------------------------------------------------------------------------------------------


class Time:
    """Seconds that pass only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.naps: list[float] = []
        self.lasts: anyio.Event | None = None
        """while it is there, whoever sleeps does not wake up"""
        self.asleep = anyio.Event()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.asleep.set()
        if self.lasts is not None:
            await self.lasts.wait()
        self.now += seconds
        await anyio.lowlevel.checkpoint()


class HeldTransport:
    """Carries requests to simulated providers, and stops where a test wants to look: before a request, or in it."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.sent: list[WireRequest] = []
        self.reached = anyio.Event()
        self._go = anyio.Event()
        self._holds: dict[int, int] = {}

    def hold(self, number: int, *, after: int = 0) -> None:
        """Stop at request `number` (from 0), when `after` chunks of its answer have passed."""
        self._holds[number] = after

    def release(self) -> None:
        self._go.set()

    async def send(self, request: WireRequest) -> WireResponse:
        after = self._holds.get(len(self.sent))
        self.sent.append(request)
        if after == 0:
            await self._pause()
        response = await self.inner.send(request)
        if not after:
            return response
        return WireResponse(response.status, response.headers, self._slowly(response.chunks, after), response.close)

    async def _slowly(self, chunks: AsyncIterator[bytes], after: int) -> AsyncIterator[bytes]:
        passed = 0
        async for chunk in chunks:
            if passed == after:
                await self._pause()
            passed += 1
            yield chunk

    async def _pause(self) -> None:
        self.reached.set()
        await self._go.wait()


def world(transport: Transport | None = None, *, time: Time | None = None, **fields: Any) -> World:
    """Simulated providers, time that stands still, and chance that is always one half."""
    clock = time or Time()
    defaults: dict[str, Any] = {
        "transport": transport or SimulatedTransport(SimulatedWorld(sleep=clock.sleep)),
        "keys": KeyRing({}, {}),
        "clock": clock,
        "monotonic": clock,
        "chance": lambda: 0.5,
        "sleep": clock.sleep,
    }
    return World(**{**defaults, **fields})


def session(route: Any = CLAUDE, *, tools: Iterable[Tool | Callable[..., Any]] = (), **settings: Any) -> Session:
    """A session in such a world, in which no tool needs permission."""
    settings.setdefault("world", world())
    settings.setdefault("approval", Approval(Mode.NEVER))
    return Session(route, tools=tools, **settings)


async def until(is_so: Callable[[], object]) -> None:
    """Let others run until something is so that no event tells of."""
    with anyio.fail_after(60):
        while not is_so():  # noqa: ASYNC110
            await anyio.sleep(0.001)


# --- tools ------------------------------------------------------------------------------------------------------------


class Library:
    """Files that can be read at once: `read` is the tool, `read_paths` what was asked for."""

    def __init__(self) -> None:
        self.read_paths: list[str] = []
        self.read = Tool(spec=ToolSpec("read_file", "Read a file.", PATH), run=self._read, kind=ToolKind.READ)

    async def _read(self, arguments: JsonObject, _: ToolContext) -> object:
        self.read_paths.append(arguments["path"])
        await anyio.lowlevel.checkpoint()
        return f"contents of {arguments['path']}"


class Workshop:
    """A tool whose calls wait until a test lets them go, by their path."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.began: list[str] = []
        self.running: set[str] = set()
        self.most = 0
        self.changed = anyio.Event()
        self.cancelled: list[str] = []
        self._gates: dict[str, anyio.Event] = {}
        self._stubborn = stubborn
        self.hold = Tool(spec=ToolSpec("hold_file", "Hold a file.", PATH), run=self._hold, kind=ToolKind.READ)

    def release(self, *paths: str) -> None:
        for path in paths:
            self._gates.setdefault(path, anyio.Event()).set()

    async def until(self, is_so: Callable[[], object]) -> None:
        with anyio.fail_after(60):
            while not is_so():
                self.changed = anyio.Event()
                await self.changed.wait()

    async def _hold(self, arguments: JsonObject, context: ToolContext) -> object:
        path = str(arguments["path"])
        self.began.append(path)
        self.running.add(path)
        self.most = max(self.most, len(self.running))
        self.changed.set()
        gate = self._gates.setdefault(path, anyio.Event())
        try:
            await gate.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(path)
            self.changed.set()
            if not self._stubborn:
                raise
            with anyio.CancelScope(shield=True):
                await gate.wait()
        finally:
            self.running.discard(path)
            self.changed.set()
        return f"held {path}"


# --- what happened ----------------------------------------------------------------------------------------------------


def told(log: Sequence[Record]) -> list[str]:
    """The log in words, a line for each record; calls are named by the path they were made with."""
    names = {
        str(call.id): str(call.arguments.get("path", call.name))
        for record in log
        if isinstance(record, Recorded)
        for call in record.entry.calls
    }
    return [_line(record, names) for record in log]


def _line(record: Record, names: dict[str, str]) -> str:
    match record:
        case Opened():
            return f"opened {record.incarnation}"
        case Recorded():
            return _said(record, names)
        case TurnBegan():
            return f"turn {record.turn} began on {record.route}: {record.cause}"
        case TurnEnded():
            return f"turn {record.turn} ended: {record.outcome}"
        case StepBegan():
            closed = "".join(f", {names[call]} {reason}" for call, reason in record.closures.items())
            return f"step {record.step} began on {record.target}, attempt {record.attempt}{closed}"
        case StepEnded():
            return f"step {record.step} ended"
        case RouteSelected():
            return f"selected {record.route}"
        case Asked():
            return f"asked about {names[record.call]}"
        case Answered():
            return f"answered {names[record.call]}: {record.verdict}"
        case Started():
            return f"started {names[record.call]}"
        case Compacted():
            return f"compacted: {record.kind}"
        case ReasoningRefused():
            return f"reasoning refused by {record.origin.provider}"
        case ContentRefused():
            return f"content refused by {record.provider}: {', '.join(names[call] for call in record.calls)}"
        case Rewound():
            return f"rewound to {record.to}"
        case Imported() | Restored():
            return type(record).__name__.lower()
        case _:
            assert_never(record)


def _said(record: Recorded, names: dict[str, str]) -> str:
    entry = record.entry
    if entry.speaker is Speaker.TOOL:
        return "; ".join(_result(block, names) for block in entry.blocks if isinstance(block, ToolResponse))
    if calls := entry.calls:
        ending = f" ({entry.ending})" if entry.ending in ("cut", "cancelled") else ""
        return f"{entry.speaker} calls {', '.join(names[call.id] for call in calls)}{ending}"
    text = "".join(block.text for block in entry.blocks if isinstance(block, Text))
    return f"{entry.speaker}: {text}" if entry.speaker is Speaker.HUMAN else f"{entry.speaker} {entry.ending}"


def _result(response: ToolResponse, names: dict[str, str]) -> str:
    name = names[response.call_id]
    if response.reason is not None:
        return f"{name} closed: {response.reason}"
    return f"{name} failed" if response.error is not None else f"{name} done"


def kinds(events: Iterable[Event]) -> list[str]:
    """The names of events, with a run of the same kind said once."""
    names: list[str] = []
    for event in events:
        name = type(event).__name__
        if not names or names[-1] != name:
            names.append(name)
    return names
