"""Failures as an HTTP server tells them: a row for each way to fail, and what each kind of client gets.

Without sockets, through the application itself; `test_sockets` shows that a cut is one on the wire.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

import anyio
import pytest
from msgspec.structs import replace

from gateway_support import door, events_in
from legato.gateway.app import AppLimits, GatewayApp, Served
from legato.gateway.gateway import Gateway
from legato.model import Dialect
from legato.routing import Policy, Profile, Route
from legato.serving.contract import ConnectionCut
from legato.transport.contract import Ask
from scripted_backends import (
    SAID,
    THOUGHT,
    Failing,
    Point,
    Scripted,
    failing_stream,
    scripted_world,
    sent_by,
    whole_stream,
)
from serving import Caller
from staged_backends import staged_in, staged_world
from streaming_clients import ASKS, CHAT_BODY, ENDS

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"
BOTH = Profile("both", (Route(KIMI), Route(CLAUDE)), Policy.FAILOVER)
CODEX = {"x-codex-window-id": "w"}


def refusing(status: int, message: str, kind: str = "api_error", **headers: str) -> Scripted:
    """What either provider answers instead of a stream: Kimi and Anthropic read the same envelope."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Scripted((json.dumps(body).encode(),), status=status, headers=headers)


class Row(NamedTuple):
    """How both routes fail, one after the other, and the status that each client gets."""

    kimi: Scripted
    claude: Scripted
    anthropic: int
    openai: int
    gemini: int
    words: str = ""
    """in the message, for everyone"""
    wait: str | None = None
    """`retry-after`"""


RATE = refusing(429, "slow down", "rate_limit_error", **{"retry-after": "7"})
BUSY = refusing(529, "Overloaded", "overloaded_error", **{"retry-after": "3"})
DOWN, SLOW = Scripted(breaks=True), Scripted(is_slow=True)
ROWS = {
    "rate limits": Row(RATE, RATE, 429, 429, 429, wait="7"),
    "overload": Row(BUSY, BUSY, 529, 503, 503, wait="3"),
    "overload and a rate limit": Row(RATE, BUSY, 529, 503, 503, wait="3"),
    "nobody there": Row(DOWN, DOWN, 529, 503, 503),
    "nothing in time": Row(SLOW, SLOW, 529, 503, 503),
    "a key of the gateway's operator": Row(
        refusing(401, "invalid", "authentication_error"),
        refusing(401, "invalid", "authentication_error"),
        400,
        400,
        400,
        words="your own key is not what is wrong",
    ),
    "a request that is wrong": Row(
        refusing(400, "temperature: must be below 2", "invalid_request_error"), DOWN, 400, 400, 400, "must be below 2"
    ),
    "a server that fails": Row(refusing(500, "oops"), refusing(500, "oops"), 529, 503, 503),
    "a stream that is cut at once": Row(
        failing_stream(KIMI, Point.OPENED, Failing.CUT),
        failing_stream(CLAUDE, Point.OPENED, Failing.CUT),
        529,
        503,
        503,
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_where_every_route_fails_each_client_gets_its_own_status_and_envelope(row: str) -> None:
    told = ROWS[row]
    for client in ASKS:
        for streamed in (True, False):
            app = GatewayApp(Gateway(scripted_world({"kimi": [told.kimi], "anthropic": [told.claude]}), BOTH))
            call = anyio.run(caller(app, ASKS[client], streamed=streamed).call)
            expected = {"anthropic": told.anthropic}.get(client, told.gemini if "gemini" in client else told.openai)
            assert (client, call.status, call.is_whole) == (client, expected, True)
            assert told.words in message_of(client, call.json)
            assert call.headers.get("retry-after") == told.wait
            assert call.headers["content-type"] == "application/json"


def message_of(client: str, body: Any) -> str:
    """The message, in the envelope of the client."""
    match client:
        case "anthropic":
            assert (body["type"], set(body["error"]) >= {"type", "message"}) == ("error", True)
        case "mistral":
            return body["message"]
        case "gemini" | "gemini array":
            assert set(body["error"]) >= {"code", "status", "message"}
        case _:
            assert set(body["error"]) >= {"type", "message", "code"}
    return body["error"]["message"]


OVERFLOWS = {
    "anthropic": "prompt is too long: 250000 tokens > 200000 maximum",
    "chat": "maximum context length is 200000 tokens",
    "responses": "exceeds the context window",
    "gemini": "exceeds the maximum number of tokens",
}
"""by which each client knows that it has to compact its conversation"""


@pytest.mark.parametrize("client", OVERFLOWS)
def test_an_overflow_is_told_in_the_words_that_start_compaction(client: str) -> None:
    too_long = refusing(400, "prompt is too long: 250000 tokens > 200000 maximum", "invalid_request_error")
    world = replace(scripted_world({"anthropic": [too_long]}), clock=lambda: 1_800_000_000.5)
    app = GatewayApp(Gateway(world, CLAUDE))
    call = anyio.run(caller(app, ASKS[client]).call)
    assert call.status == 400
    assert OVERFLOWS[client] in message_of(client, call.json)
    if client == "responses":
        assert call.json["error"]["code"] == "context_length_exceeded"
        codex = anyio.run(caller(app, replace(ASKS[client], headers=CODEX)).call)
        assert (codex.status, codex.is_whole) == (200, True)
        assert b'"code":"context_length_exceeded"' in codex.body
        assert b'"created_at":1800000000,' in codex.body


@pytest.mark.parametrize("point", [Point.NOTHING, Point.OPENED, Point.THINKING])
@pytest.mark.parametrize("failing", Failing)
def test_nobody_notices_a_failure_before_anything_visible(point: Point, failing: Failing) -> None:
    for client, ask in ASKS.items():
        world = scripted_world({"kimi": [failing_stream(KIMI, point, failing)], "anthropic": [whole_stream(CLAUDE)]})
        call = anyio.run(caller(GatewayApp(Gateway(world, BOTH)), ask).call)
        assert (client, call.status, call.is_whole) == (client, 200, True)
        assert ENDS[client] in call.body
        assert b'"error":{' not in call.body
        assert sent_by(world).routes == [KIMI, CLAUDE]


@pytest.mark.parametrize("point", [Point.TEXT, Point.CALL])
@pytest.mark.parametrize("failing", Failing)
def test_a_failure_after_something_visible_is_a_cut(point: Point, failing: Failing) -> None:
    for client, ask in ASKS.items():
        served: list[Served] = []
        world = scripted_world({"kimi": [failing_stream(KIMI, point, failing)], "anthropic": []})
        app = GatewayApp(Gateway(world, BOTH), finished=served.append)
        call = caller(app, ask)
        with pytest.raises(ConnectionCut):
            anyio.run(call.call)
        assert (client, call.status, call.is_whole, served[0].is_cut) == (client, 200, False, True)
        assert ENDS[client] not in call.body
        assert told(client, call.body) == (client not in ("anthropic", "mistral"))
        assert served[0].report is not None
        assert served[0].report.attempts[-1].error
        assert sent_by(world).routes == [KIMI]


@pytest.mark.parametrize("failing", Failing)
def test_what_was_said_until_a_failure_is_recorded(failing: Failing) -> None:
    world = scripted_world({"kimi": [failing_stream(KIMI, Point.TEXT, failing), whole_stream(KIMI)]})
    app = GatewayApp(Gateway(world, KIMI))
    with pytest.raises(ConnectionCut):
        anyio.run(caller(app, ASKS["chat"]).call)
    said = [*CHAT_BODY["messages"], {"role": "assistant", "content": SAID[:24]}, {"role": "user", "content": "And?"}]
    anyio.run(Caller(app, "/v1/chat/completions", CHAT_BODY | {"messages": said}).call)
    assert json.loads(sent_by(world).sent[-1].body)["messages"][1]["reasoning_content"] == THOUGHT


def told(client: str, body: bytes) -> bool:
    """Whether the last event says that the answer failed."""
    if client == "gemini array":
        return "error" in json.loads(body + b"]")[-1]
    last = events_in([body], door(Dialect.OPENAI_CHAT))[-1]
    return bool(last.get("error")) or last.get("type") == "response.failed"


def caller(app: GatewayApp, ask: Ask, *, streamed: bool = True) -> Caller:
    """`ask` on its way to `app`."""
    body, path, query = json.loads(ask.body), ask.path, dict(ask.query)
    if not streamed:
        body.pop("stream", None)
        path, query = path.replace("streamGenerate", "generate"), {}
    headers = {name.replace("-", "_"): value for name, value in ask.headers.items()}
    return Caller(app, f"{path}?{urlencode(query)}", body, **headers)


# --- answers that do not begin ----------------------------------------------------------------------------------------

SIGNS = {
    "anthropic": b'event: ping\ndata: {"type":"ping"}\n\n',
    "chat": b": keep-alive\n\n",
    "mistral": b": keep-alive\n\n",
    "responses": b": keep-alive\n\n",
    "codex": b'event: keepalive\ndata: {"type":"keepalive"}\n\n',
    "gemini": b"\r\n\r\n",
    "gemini array": b"\r\n\r\n",
}
"""what each client passes over while it waits"""
WAITING = {**ASKS, "codex": replace(ASKS["responses"], headers=CODEX)}
SOON = AppLimits(first_sign=0.001, keep_alive=0.001)


class Late:
    """An application whose backend says nothing until it is told to."""

    def __init__(self, *chunks: bytes, limits: AppLimits = SOON) -> None:
        self.go_on = anyio.Event()
        self.served: list[Served] = []
        self._chunks = chunks
        self.world = staged_world({"kimi": self._late})
        self.app = GatewayApp(Gateway(self.world, KIMI), limits=limits, finished=self.served.append)

    async def _late(self) -> AsyncIterator[bytes]:
        await self.go_on.wait()
        for chunk in self._chunks:
            yield chunk


@pytest.mark.parametrize("client", SIGNS)
def test_a_client_is_kept_waiting_before_the_first_delta_and_then_gets_everything(client: str) -> None:
    async def run() -> None:
        late = Late(*whole_stream(KIMI).chunks)
        call = caller(late.app, WAITING[client])
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await call.arrival(SIGNS[client] * 2)
            assert call.headers["x-legato-route"] == KIMI
            assert call.headers["x-legato-request"].startswith("req_")
            late.go_on.set()
        assert (call.status, call.is_whole) == (200, True)
        assert call.body.startswith(SIGNS[client] * 2)
        assert ENDS[client.replace("codex", "responses")] in call.body
        assert b"A river" in call.body
        if client == "gemini array":
            assert isinstance(json.loads(call.body), list)

    anyio.run(run)


@pytest.mark.parametrize("client", SIGNS)
def test_a_failure_after_the_first_sign_of_life_is_told_in_the_stream(client: str) -> None:
    """Claude Code asks again after an error or a cut here, so it is told why."""

    async def run() -> None:
        late = Late()
        call = caller(late.app, WAITING[client])
        with pytest.raises(ExceptionGroup):
            async with anyio.create_task_group() as group:
                group.start_soon(call.call)
                await call.arrival(SIGNS[client])
                late.go_on.set()
        assert (call.status, call.is_whole, late.served[0].is_cut) == (200, False, True)
        assert (b"error" in call.body) == (client != "mistral")
        if client != "mistral":
            assert told(client, call.body)

    anyio.run(run)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("client", ["responses", "codex"])
def test_a_client_is_kept_waiting_for_a_compaction(client: str, is_whole: bool) -> None:
    async def run() -> None:
        late = Late(*(whole_stream(KIMI).chunks if is_whole else ()))
        said = [{"role": "user", "content": "hello"}, {"type": "compaction_trigger"}]
        body = {"model": "m", "stream": True, "input": said}
        headers = {name.replace("-", "_"): value for name, value in WAITING[client].headers.items()}
        call = Caller(late.app, "/v1/responses", body, **headers)
        failed: list[BaseException] = []
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(call.call)
                await call.arrival(SIGNS[client] * 2)
                assert call.headers["x-legato-route"] == KIMI
                late.go_on.set()
        except ExceptionGroup as group_error:
            failed += group_error.exceptions
        assert (call.status, call.is_whole, bool(failed)) == (200, is_whole, not is_whole)
        assert (b'"type":"compaction"' in call.body) == is_whole
        assert (b"event: response.failed" in call.body) == (not is_whole)
        assert b'"created_at":0' not in call.body

    anyio.run(run)


def test_a_failure_before_the_first_sign_of_life_is_a_status() -> None:
    async def run() -> None:
        late = Late(limits=AppLimits(first_sign=600.0))
        late.go_on.set()
        assert (await caller(late.app, ASKS["anthropic"]).call()).status == 502

    anyio.run(run)


def test_an_answer_that_is_not_streamed_has_no_early_head() -> None:
    """It would be a status of 200, whatever comes."""

    async def run() -> None:
        late = Late()
        call = caller(late.app, ASKS["anthropic"], streamed=False)
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await anyio.sleep(0.02)
            assert call.sent == []
            late.go_on.set()
        assert (call.status, call.is_whole) == (502, True)

    anyio.run(run)


def test_a_client_that_leaves_while_it_is_kept_waiting_ends_the_request() -> None:
    async def run() -> None:
        late = Late()
        call = caller(late.app, ASKS["anthropic"])
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await call.arrival(SIGNS["anthropic"])
            call.leave()
        assert staged_in(late.world).closed == ["kimi"]
        assert late.served[0].report is not None
        assert late.served[0].report.attempts[-1].error == "ClientLeft"

    anyio.run(run)
