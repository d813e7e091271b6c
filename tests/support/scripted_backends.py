"""Backends that answer as a test says, down to the piece of a stream at which they fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from dialect_support import make_target
from gateway_clients import no_wait
from legato.errors import BadAnswer, TimedOut, Unreachable
from legato.model import Answer, Dialect, Entry, NameRule, Speaker, Text, Thinking, ToolCall, Usage
from legato.request import resolve
from legato.routing import Patience
from legato.transport import KeyRing, WireRequest, WireResponse
from legato.wire.deltas import CallDelta, Delta, TextDelta, ThinkingDelta
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from legato.world import World


class Scripted(Struct, frozen=True):
    """One response. `breaks` whether the connection fails behind the last chunk; without chunks, there is none.

    `is_slow` is for one that does not come in time.
    """

    chunks: tuple[bytes, ...] = ()
    breaks: bool = False
    status: int = 200
    headers: Mapping[str, str] = {}
    is_slow: bool = False


class ScriptedTransport:
    """Answers each provider's requests in order, the last response again and again; remembers what was sent."""

    def __init__(self, scripts: Mapping[str, Sequence[Scripted]]) -> None:
        self._scripts = {provider: list(script) for provider, script in scripts.items()}
        self.sent: list[WireRequest] = []
        self.closed: list[str] = []
        """the routes whose responses were closed, once for each response"""
        self.given = 0
        """chunks that somebody took"""

    @property
    def routes(self) -> list[str]:
        """Who was asked."""
        return [request.route for request in self.sent]

    async def send(self, request: WireRequest) -> WireResponse:
        self.sent.append(request)
        script = self._scripts[request.target.provider]
        response = script.pop(0) if len(script) > 1 else script[0]
        if response.breaks and not response.chunks:
            raise Unreachable("nobody there", route=request.route)
        if response.is_slow:
            raise TimedOut("nothing came in time", route=request.route)

        async def close() -> None:
            self.closed.append(request.route)

        return WireResponse(response.status, response.headers, self._chunks(response), close=close)

    async def _chunks(self, response: Scripted) -> AsyncIterator[bytes]:
        for chunk in response.chunks:
            self.given += 1
            yield chunk
        if response.breaks:
            raise BadAnswer("the connection broke")


def scripted_world(scripts: Mapping[str, Sequence[Scripted]], *, attempts: int = 1) -> World:
    """A world of `scripts`, by provider, in which no time passes."""
    return World(
        transport=ScriptedTransport(scripts),
        keys=KeyRing({}, {}),
        sleep=no_wait,
        monotonic=lambda: 0.0,
        patience=Patience(attempts=attempts, slow_attempts=attempts),
    )


def sent_by(world: World) -> ScriptedTransport:
    """The transport of `world`."""
    assert isinstance(world.transport, ScriptedTransport)
    return world.transport


# --- streams ----------------------------------------------------------------------------------------------------------

THOUGHT, SAID = "It is a riddle about rivers.", "A river has a bed and never sleeps."
WHOLE = Answer(
    Entry(Speaker.AI, (Thinking(THOUGHT), Text(SAID), ToolCall("look", {"where": "upstream"}, wire_id="call_upstr"))),
    Usage(input=7, output=11),
    "model-1",
    "answer-1",
)
"""an answer with something of everything"""


class Point(StrEnum):
    """How far an answer has come."""

    NOTHING = "nothing"
    OPENED = "opened"
    THINKING = "thinking"
    TEXT = "text"
    CALL = "call"


class Failing(StrEnum):
    """How a stream fails."""

    ERROR = "an error event"
    CUT = "a cut"
    END = "a clean end"


ERRORS: dict[Dialect, Any] = {
    Dialect.ANTHROPIC: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    Dialect.OPENAI_CHAT: {"error": {"type": "server_error", "message": "Overloaded", "code": 503}},
    Dialect.OPENAI_RESPONSES: {
        "type": "response.failed",
        "response": {"status": "failed", "error": {"code": "server_error", "message": "Overloaded"}},
    },
    Dialect.GEMINI: {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded"}},
}
"""how each kind of server says in a stream that it cannot go on"""


def whole_stream(route: str, answer: Answer = WHOLE) -> Scripted:
    """`answer`, streamed by a provider to its end."""
    dialect = resolve(route).dialect
    return Scripted(tuple(dialect_parts(dialect).reply_stream(answer, answer.served)))


def failing_stream(route: str, point: Point, failing: Failing, answer: Answer = WHOLE) -> Scripted:
    """`answer`, streamed by a provider up to `point`."""
    dialect = resolve(route).dialect
    chunks = _until(dialect, point, answer)
    if failing is Failing.ERROR:
        error = ERRORS[dialect]
        name = f"event: {error['type']}\n" if "type" in error else ""
        chunks = (*chunks, f"{name}data: {json.dumps(error)}\n\n".encode())
    return Scripted(chunks, breaks=failing is Failing.CUT)


def _until(dialect: Dialect, point: Point, answer: Answer) -> tuple[bytes, ...]:
    """The beginning of a stream, up to the first piece of what `point` names."""
    if point is Point.NOTHING:
        return ()
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    chunks: list[bytes] = []
    for chunk in dialect_parts(dialect).reply_stream(answer, answer.served):
        deltas = decoder.feed(chunk)
        if point is Point.OPENED and any(isinstance(delta, _SHOWN) for delta in deltas):
            return tuple(chunks)
        chunks.append(chunk)
        if any(isinstance(delta, _FIRST[point]) for delta in deltas):
            return tuple(chunks)
    raise AssertionError(f"{dialect} has no {point}")


_SHOWN = (TextDelta, ThinkingDelta, CallDelta)
_FIRST: dict[Point, type[Delta] | tuple[()]] = {
    Point.OPENED: (),
    Point.THINKING: ThinkingDelta,
    Point.TEXT: TextDelta,
    Point.CALL: CallDelta,
}
