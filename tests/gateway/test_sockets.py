"""What happens on real connections: clients that leave, do not read, do not write, and answers that break off.

One server for all tests. Who answers is chosen by the model that a request asks for, and each of them behaves in its own
way: see `STAGES`.
"""

from __future__ import annotations

import json
import select
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from threading import Event
from typing import Any

import anyio
import httpx2
import pytest
from msgspec import Struct
from msgspec.structs import replace

from gateway_clients import post
from legato.gateway.app import GONE, AppLimits, GatewayApp, Served
from legato.gateway.exchange import LEFT, RouteAttempt
from legato.gateway.gateway import Gateway
from legato.gateway.uploads import UploadLimits
from legato.model import Entry, Speaker, Text
from legato.serving.contract import ConnectionPatience
from legato.transport.contract import Ask
from scripted_backends import WHOLE, Failing, Point, failing_stream, whole_stream
from serving import HELLO, on_a_port
from staged_backends import StagedTransport, staged_in, staged_world

CLAUDE, KIMI, DEEPSEEK = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking", "deepseek/deepseek-reasoner"
SILENT, THINKING, TALKING, ENDLESS = "groq/m", DEEPSEEK, "mistral/mistral-large-latest", "openai/gpt-4.1"
WORDS = replace(WHOLE, entry=Entry(Speaker.AI, (Text("The moon is up. " * 8),)))
PIECE = 32_768
ENOUGH = 64 * 1024 * 1024
"""bytes of the answer of which no client here wants to read the end"""


async def whole() -> AsyncIterator[bytes]:
    for chunk in whole_stream(CLAUDE, WORDS).chunks:
        yield chunk


async def breaking() -> AsyncIterator[bytes]:
    for chunk in failing_stream(KIMI, Point.TEXT, Failing.ERROR).chunks:
        yield chunk


async def silent() -> AsyncIterator[bytes]:
    await anyio.sleep_forever()
    yield b""


async def thinking() -> AsyncIterator[bytes]:
    for chunk in failing_stream(DEEPSEEK, Point.THINKING, Failing.END).chunks:
        yield chunk
    await anyio.sleep_forever()


async def talking() -> AsyncIterator[bytes]:
    for chunk in failing_stream(TALKING, Point.TEXT, Failing.END, WORDS).chunks:
        yield chunk
    await anyio.sleep_forever()


async def endless() -> AsyncIterator[bytes]:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1"}
    choice = {"index": 0, "delta": {"content": "x" * PIECE}, "finish_reason": None}
    data = b"data: " + json.dumps(chunk | {"choices": [choice]}).encode() + b"\n\n"
    for _ in range(ENOUGH // PIECE):
        yield data


STAGES = {
    "anthropic": whole,
    "kimi": breaking,
    "groq": silent,
    "deepseek": thinking,
    "mistral": talking,
    "openai": endless,
}


class Bench(Struct, frozen=True):
    """The server, what it has served, and the backends behind it."""

    url: str
    served: list[Served]
    news: Event
    backends: StagedTransport

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    def wait_for(self, is_it: Callable[[Served], bool]) -> Served:
        """The request that was served like this, as soon as it is."""
        while not (found := [served for served in self.served if is_it(served)]):
            self.news.clear()
            assert self.news.wait(60)
        return found[-1]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    served: list[Served] = []
    news = Event()

    def finished(one: Served) -> None:
        served.append(one)
        news.set()

    gateway = Gateway(staged_world(STAGES), CLAUDE)
    limits = AppLimits(requests=MANY + 10, uploads=UploadLimits(grace=0.3), first_sign=600.0)
    app = GatewayApp(gateway, limits=limits, finished=finished)
    patience = ConnectionPatience(head=0.3, reading=0.3)
    with on_a_port(app, patience=patience) as url:
        yield Bench(url, served, news, staged_in(gateway.world))


# --- requests as they are on the wire ---------------------------------------------------------------------------------

HI: Any = [{"role": "user", "content": "hi"}]
GEMINI_BODY = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
STREAMED: dict[str, Callable[[str], Ask]] = {
    "anthropic": lambda model: post(
        "/v1/messages",
        {"model": model, "max_tokens": 8000, "messages": HI, "stream": True}
        | {"thinking": {"type": "enabled", "budget_tokens": 2000}},
    ),
    "chat": lambda model: post("/v1/chat/completions", {"model": model, "messages": HI, "stream": True}),
    "responses": lambda model: post("/v1/responses", {"model": model, "input": "hi", "stream": True}),
    "gemini": lambda model: post(f"/v1beta/models/{model}:streamGenerateContent", GEMINI_BODY),
}
"""a streamed request of each kind of client, for a model"""


def opened(bench: Bench) -> socket.socket:
    return socket.create_connection(bench.address, timeout=60)


def written(ask: Ask, *headers: str) -> bytes:
    """`ask` as a client writes it."""
    query = "?alt=sse" if "streamGenerate" in ask.path else ""
    lines = [f"POST {ask.path}{query} HTTP/1.1", "host: localhost", f"content-length: {len(ask.body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + ask.body


def heard(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    pieces = list[bytes]()
    while piece := connection.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces)


def heard_until(connection: socket.socket, what: bytes) -> bytes:
    """What comes until `what` has come."""
    data = b""
    while what not in data:
        piece = connection.recv(65_536)
        assert piece, data
        data += piece
    return data


def status_of(data: bytes) -> int:
    return int(data.split(b" ", 2)[1])


def json_of(data: bytes) -> Any:
    """The body of a response that is not streamed, however it is framed."""
    body = data.partition(b"\r\n\r\n")[2]
    return json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])


# --- answers that break off -------------------------------------------------------------------------------------------

ENDS = {"anthropic": b"message_stop", "chat": b"[DONE]", "responses": b"response.completed", "gemini": b"finishReason"}
TOLD: dict[str, bytes] = {"chat": b'"error"', "responses": b"event: response.failed", "gemini": b'"error"'}
"""how a client is told of it; Claude Code asks again only if it is told nothing"""


@pytest.mark.parametrize("client", STREAMED)
def test_an_answer_that_breaks_off_has_no_end_on_the_wire(bench: Bench, client: str) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(written(STREAMED[client](KIMI)))
        data = heard(connection)
    assert status_of(data) == 200
    assert b"A river" in data
    assert ENDS[client] not in data
    assert not data.endswith(b"0\r\n\r\n")  # the last chunk of a body that ends in order
    assert (b"error" in data) == (client in TOLD)
    assert TOLD.get(client, b"") in data


# --- clients that leave -----------------------------------------------------------------------------------------------

LEAVING = {"before anything": (SILENT, b""), "in thinking": (THINKING, b"riddle"), "in words": (TALKING, b"The moon")}
"""when a client leaves: whom it asked, and what it has heard by then"""


@pytest.mark.parametrize("when", LEAVING)
@pytest.mark.parametrize("client", STREAMED)
def test_a_client_that_leaves_ends_the_request_upstream(bench: Bench, client: str, when: str) -> None:
    route, sign = LEAVING[when]
    provider = route.partition("/")[0]
    if client == "gemini" and when == "in thinking":
        sign = b""  # it did not ask for thoughts
    asked, closed = bench.backends.sent.count(provider), bench.backends.closed.count(provider)
    before = len(bench.served)
    with closing(opened(bench)) as connection:
        connection.sendall(written(STREAMED[client](route)))
        if sign:
            heard_until(connection, sign)
        assert bench.backends.wait_for(lambda backends: backends.sent.count(provider) > asked)
    assert bench.backends.wait_for(lambda backends: backends.closed.count(provider) > closed)
    served = bench.wait_for(lambda one: bench.served.index(one) >= before)
    assert served.status == (200 if sign else GONE)
    assert served.report is not None
    assert served.report.attempts == [RouteAttempt(route, LEFT)]


def test_a_client_that_leaves_while_it_waits_for_a_whole_answer_ends_the_request_upstream(bench: Bench) -> None:
    closed = bench.backends.closed.count("mistral")
    with closing(opened(bench)) as connection:
        before = bench.backends.sent.count("mistral")
        connection.sendall(written(post("/v1/messages", HELLO | {"model": TALKING})))
        assert bench.backends.wait_for(lambda backends: backends.sent.count("mistral") > before)
    assert bench.backends.wait_for(lambda backends: backends.closed.count("mistral") > closed)


# --- clients that do not read -----------------------------------------------------------------------------------------


def test_whoever_answers_waits_for_a_client_that_does_not_read_and_is_let_go_in_the_end(bench: Bench) -> None:
    """The connection stays open; what the two kernels hold is all that was made for it."""
    before, closed = bench.backends.bytes, bench.backends.closed.count("openai")
    with closing(opened(bench)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(written(STREAMED["anthropic"](ENDLESS)))
        heard_until(connection, b"xxx")
        assert bench.backends.wait_for(lambda backends: backends.closed.count("openai") > closed)
        assert bench.backends.bytes - before < ENOUGH // 2


def test_a_client_that_reads_slowly_gets_everything(bench: Bench) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(written(STREAMED["chat"](CLAUDE), "connection: close"))
        pieces = list[bytes]()
        while piece := connection.recv(7):
            pieces.append(piece)
    assert b"".join(pieces).endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


# --- clients that do not write ----------------------------------------------------------------------------------------

HEAD = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.mark.parametrize("begun", [b"", b'{"model": "m", "messages'])
def test_a_body_that_does_not_come_is_not_waited_for(bench: Bench, begun: bytes) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(HEAD + b"content-length: 1000\r\n\r\n" + begun)
        data = heard(connection)  # and then the server closes
    assert status_of(data) == 408
    assert json_of(data)["type"] == "error"
    assert "not complete" in json_of(data)["error"]["message"]


def test_a_body_that_comes_byte_by_byte_is_not_waited_for_either(bench: Bench) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(HEAD + b"content-length: 60000000\r\n\r\n")
        while not select.select([connection], [], [], 0.02)[0]:
            connection.sendall(b" ")
        assert status_of(connection.recv(65_536)) == 408


@pytest.mark.parametrize("begun", [b"", b"POST /v1/mess", HEAD], ids=["nothing", "half a line", "half a head"])
def test_a_head_that_does_not_come_is_not_waited_for(bench: Bench, begun: bytes) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(begun)
        data = heard(connection)
    assert data == b"" if not begun else status_of(data) == 408


def test_a_second_head_on_a_connection_is_not_waited_for_either(bench: Bench) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert status_of(heard_until(connection, b"}")) == 200
        connection.sendall(HEAD)
        assert status_of(heard(connection)) == 408


def test_a_slow_client_keeps_nobody_else_waiting(bench: Bench) -> None:
    with closing(opened(bench)) as slow:
        slow.sendall(HEAD + b"content-length: 1000\r\n\r\n")
        assert httpx2.post(f"{bench.url}/v1/messages", json=HELLO).status_code == 200


# --- what is on the wire ----------------------------------------------------------------------------------------------


def test_a_body_of_65_megabytes_is_refused_in_the_words_of_the_client(bench: Bench) -> None:
    size = 65 * 1024 * 1024
    with closing(opened(bench)) as connection:
        connection.sendall(HEAD + f"content-length: {size}\r\n\r\n".encode())
        piece = b" " * 1_048_576
        for _ in range(65):
            connection.sendall(piece)
        data = heard(connection)
    assert status_of(data) == 413
    assert json_of(data)["error"]["type"] == "request_too_large"


def test_whoever_asks_first_whether_to_send_a_large_body_does_not_have_to(bench: Bench) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(HEAD + b"content-length: 99999999\r\nexpect: 100-continue\r\n\r\n")
        assert status_of(heard(connection)) == 413
    with closing(opened(bench)) as connection:
        body = json.dumps(HELLO).encode()
        connection.sendall(HEAD + f"content-length: {len(body)}\r\nexpect: 100-continue\r\n".encode())
        connection.sendall(b"connection: close\r\n\r\n")
        assert status_of(heard_until(connection, b"\r\n\r\n")) == 100
        connection.sendall(body)
        assert status_of(heard(connection)) == 200


def test_a_body_in_chunks_is_read(bench: Bench) -> None:
    body = json.dumps(HELLO).encode()
    chunks = b"".join(
        f"{len(body[at : at + 9]):x}\r\n".encode() + body[at : at + 9] + b"\r\n" for at in range(0, 99, 9)
    )
    with closing(opened(bench)) as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n" + chunks + b"0\r\n\r\n")
        data = heard(connection)
    assert (status_of(data), json_of(data)["model"]) == (200, "m")


def test_two_requests_at_once_are_answered_in_order(bench: Bench) -> None:
    first, second = (post("/v1/messages", HELLO | {"model": name}) for name in ("one", "two"))
    with closing(opened(bench)) as connection:
        connection.sendall(written(first) + written(second, "connection: close"))
        data = heard(connection)
    assert data.count(b"HTTP/1.1 200 OK") == 2
    assert 0 < data.index(b'"model":"one"') < data.index(b'"model":"two"')


LONG = b"a" * 400_000
"""more than is read of a head at once"""


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        HEAD + b"x: y\r\n" * 60_000 + b"\r\n",
        HEAD + b"x: " + LONG + b"\r\n\r\n",
        HEAD + b"content-length: ten\r\n\r\n",
        HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /" + LONG + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ],
    ids=["nonsense", "many headers", "a long header", "no length", "two lengths", "a length and chunks", "a long path"],
)
def test_what_is_not_http_is_refused_and_the_connection_closed(bench: Bench, request_: bytes) -> None:
    data = b""
    with closing(opened(bench)) as connection, suppress(ConnectionError):  # what was not read breaks the connection
        connection.sendall(request_)
        data = heard(connection)
    assert data == b"" or status_of(data) == 400
    assert httpx2.get(f"{bench.url}/healthz").status_code == 200


def test_a_head_alone_is_answered_without_a_body(bench: Bench) -> None:
    with closing(opened(bench)) as connection:
        connection.sendall(b"HEAD /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        head, _, body = heard(connection).partition(b"\r\n\r\n")
    assert (status_of(head), body) == (405, b"")


# --- many at once -----------------------------------------------------------------------------------------------------

MANY = 200


def test_two_hundred_streams_are_open_at_once(bench: Bench) -> None:
    before = bench.backends.sent.count("mistral")
    closed = bench.backends.closed.count("mistral")
    connections = [opened(bench) for _ in range(MANY)]
    try:
        for connection in connections:
            connection.sendall(written(STREAMED["anthropic"](TALKING)))
        for connection in connections:
            assert status_of(heard_until(connection, b"The moon")) == 200
        assert bench.backends.sent.count("mistral") == before + MANY
        assert bench.backends.closed.count("mistral") == closed
    finally:
        for connection in connections:
            connection.close()
    assert bench.backends.wait_for(lambda backends: backends.closed.count("mistral") == closed + MANY)
