from __future__ import annotations

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import httpx2
import pytest
from msgspec.structs import replace

from legato.errors import BadAnswer, BadRequest, ConfigError, LegatoError, TimedOut, Unauthorized, Unreachable
from legato.model import Answer, Dialect, Ending, Entry, Speaker, Target, Text
from legato.request import resolve
from legato.transport import HttpTransport, Timeouts, open_answer, wire_request
from legato.transport.http import AHEAD, FIRST
from legato.wire.deltas import BlockDone, BlockStart, TextDelta
from loopback import (
    CHUNKED,
    PATIENT,
    SECRET,
    TARGET,
    Loopback,
    chunk,
    head,
    in_time,
    loopback,
    no_body,
    plain,
    read_all,
    request_to,
    silence,
    words,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def test_a_request_arrives_as_it_was_written() -> None:
    async with loopback(plain(b"{}", x_request_id="r-1")) as server, HttpTransport(PATIENT) as transport:
        response = await transport.send(request_to(server))
        assert [piece async for piece in response.chunks] == [b"{}"]
        await response.close()
    assert response.status == 200
    assert response.headers["x-request-id"] == "r-1"
    assert server.bodies == [b'{"model": "m"}']
    first, *lines = server.heads[0].strip().splitlines()
    sent = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert first == "POST /v1/chat/completions HTTP/1.1"
    assert sent["authorization"] == f"Bearer {SECRET}"
    assert sent["content-type"] == "application/json"
    assert sent["accept"] == "text/event-stream"


async def test_a_connection_is_used_again_after_a_whole_answer() -> None:
    async with loopback(plain(b"{}")) as server, HttpTransport(PATIENT) as transport:
        for _ in range(3):
            assert await read_all(transport, request_to(server)) == b"{}"
    assert (server.connections, len(server.heads)) == (1, 3)


async def test_a_forked_child_leaves_the_connections_of_its_parent_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(plain(b"{}")) as server, HttpTransport(PATIENT) as transport:
        await read_all(transport, request_to(server))
        with monkeypatch.context() as child:
            child.setattr("os.getpid", lambda: -1)
            await read_all(transport, request_to(server))
            assert server.connections == 2
            await transport.aclose()
        await read_all(transport, request_to(server))
    assert server.connections == 2


async def test_cookies_of_one_answer_do_not_come_back_with_the_next_request() -> None:
    async with loopback(plain(b"{}", set_cookie="state=1; Path=/")) as server, HttpTransport(PATIENT) as transport:
        await read_all(transport, request_to(server))
        await read_all(transport, request_to(server))
    assert len(server.heads) == 2
    assert "cookie" not in server.heads[1].lower()


async def test_a_redirect_is_not_followed_because_it_would_carry_the_key() -> None:
    async with (
        loopback(plain(b"{}")) as elsewhere,
        loopback(plain(b"", "307 Temporary Redirect", location=elsewhere.url)) as server,
        HttpTransport(PATIENT) as transport,
    ):
        with pytest.raises(BadRequest) as caught:
            async with open_answer(transport, request_to(server), words(), decode=no_body):
                pytest.fail("a redirect is no answer")
    assert caught.value.facts["about"] == "endpoint"
    assert elsewhere.heads == []


async def test_a_compressed_answer_is_unpacked() -> None:
    async with (
        loopback(plain(gzip.compress(b"{}"), content_encoding="gzip")) as server,
        HttpTransport(PATIENT) as transport,
    ):
        assert await read_all(transport, request_to(server)) == b"{}"


async def test_an_answer_that_cannot_be_unpacked_is_a_bad_answer() -> None:
    async with (
        loopback(plain(b"no gzip at all", content_encoding="gzip")) as server,
        HttpTransport(PATIENT) as transport,
    ):
        with pytest.raises(BadAnswer):
            await read_all(transport, request_to(server))


# --- limits on waiting --------------------------------------------------------------------------------------------------


async def test_a_server_that_never_begins_times_out_at_the_first_byte() -> None:
    async def attempt(limit: float) -> TimedOut | None:
        async with loopback(silence) as server, HttpTransport(Timeouts(60, limit, 60)) as transport:
            with pytest.raises(TimedOut) as caught:
                await transport.send(request_to(server))
            if not server.heads:
                return None
            await server.saw_the_end()
            return caught.value

    limit, error = await in_time(attempt)
    assert (error.facts["phase"], error.facts["limit"]) == ("first byte", limit)
    assert error.message == (
        f"p/m was silent for longer than {limit:g} seconds (first byte); try again, or allow more time"
    )


async def test_headers_alone_are_no_first_byte() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        await silence(reader, writer)

    async def attempt(limit: float) -> TimedOut | None:
        async with loopback(answer) as server, HttpTransport(Timeouts(60, limit, 60)) as transport:
            try:
                response = await transport.send(request_to(server))
            except TimedOut:
                return None
            with pytest.raises(TimedOut) as caught:
                await anext(response.chunks)
            await response.close()
            await server.saw_the_end()
            return caught.value

    limit, error = await in_time(attempt)
    assert (error.facts["phase"], error.facts["limit"]) == ("first byte", limit)


async def test_a_stall_between_chunks_times_out() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"data: 1\n\n"))
        await silence(reader, writer)

    async with (
        loopback(answer) as server,
        HttpTransport(Timeouts(connect=60, first_byte=60, between_chunks=0.05)) as transport,
    ):
        response = await transport.send(request_to(server))
        assert await anext(response.chunks) == b"data: 1\n\n"
        with pytest.raises(TimedOut) as caught:
            await anext(response.chunks)
        await response.close()
        await server.saw_the_end()
    assert (caught.value.facts["phase"], caught.value.facts["limit"]) == ("between chunks", 0.05)


async def test_without_limits_nothing_times_out() -> None:
    async with loopback(plain(b"{}")) as server, HttpTransport(Timeouts(None, None, None)) as transport:
        assert await read_all(transport, request_to(server)) == b"{}"


async def test_waiting_for_a_free_connection_has_its_limit() -> None:
    async def attempt(limit: float) -> TimedOut | None:
        async with loopback(silence) as server, HttpTransport(Timeouts(limit, 60, 60), connections=1) as transport:
            first = asyncio.create_task(transport.send(request_to(server)))
            while not server.heads and not first.done():
                await anyio.lowlevel.checkpoint()
            if first.done():
                assert isinstance(first.exception(), TimedOut)
                return None
            with pytest.raises(TimedOut) as caught:
                await transport.send(request_to(server))
            first.cancel()
            return caught.value

    _, error = await in_time(attempt)
    assert (error.facts["phase"], error.facts["kind"]) == ("connect", "PoolTimeout")


# --- failures -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody() -> Iterator[Loopback]:
    """A port that nobody listens on, and that nobody else can take meanwhile."""
    server = Loopback(silence)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server.port = taken.getsockname()[1]
        yield server


async def test_a_closed_port_is_unreachable(nobody: Loopback) -> None:
    request = request_to(nobody)
    async with HttpTransport(PATIENT) as transport:
        with pytest.raises(Unreachable) as caught:
            await transport.send(request)
    assert caught.value.facts == {
        "route": "p/m",
        "place": request.place,
        "layer": "transport",
        "kind": "ConnectError",
    }


async def test_a_server_that_hangs_up_without_a_word_is_unreachable() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        with pytest.raises(Unreachable):
            await transport.send(request_to(server))


async def test_a_connection_that_breaks_before_the_body_is_unreachable_and_after_it_a_bad_answer() -> None:
    async def no_body_at_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        writer.close()

    async def half_a_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"data: 1\n\n") + b"ff\r\nhalf")
        writer.close()

    async with HttpTransport(PATIENT) as transport, loopback(no_body_at_all) as server:
        with pytest.raises(Unreachable):
            await read_all(transport, request_to(server))
        async with loopback(half_a_body) as server:
            with pytest.raises(BadAnswer) as caught:
                await read_all(transport, request_to(server))
    assert caught.value.facts["kind"] == "RemoteProtocolError"


async def test_bytes_that_are_no_http_are_unreachable() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        with pytest.raises(Unreachable):
            await transport.send(request_to(server))


async def test_no_error_holds_a_key_or_the_client_s_own_request(nobody: Loopback) -> None:
    request = request_to(nobody, "?token=tok-123456")
    async with HttpTransport(PATIENT) as transport:
        with pytest.raises(LegatoError) as caught:
            await transport.send(request)
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    assert not [secret for secret in (SECRET, "tok-123456") if secret in error.message + repr(error.facts)]


async def test_a_vendor_is_not_asked_without_a_key_and_a_server_of_ones_own_is() -> None:
    target = resolve("openai/gpt-4o")
    async with HttpTransport() as transport:
        with pytest.raises(Unauthorized, match="there is no key for openai: set OPENAI_API_KEY"):
            await transport.send(wire_request(target, b"{}", key=None, stream=False))
        async with loopback(plain(b"{}")) as server:
            own = replace(target, endpoint=server.url)
            assert await read_all(transport, wire_request(own, b"{}", key=None, stream=False)) == b"{}"


async def test_an_endpoint_that_the_client_cannot_read_is_a_setting_to_correct() -> None:
    target = Target(dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="http://☃☃.-x/v1")
    async with HttpTransport(PATIENT) as transport:
        with pytest.raises(ConfigError, match="not a URL that can be asked"):
            await transport.send(wire_request(target, b"{}", key=None, stream=False))


# --- cancellation -------------------------------------------------------------------------------------------------------


async def test_cancelling_while_waiting_for_the_answer_closes_the_connection() -> None:
    async with loopback(silence) as server, HttpTransport(PATIENT) as transport, anyio.create_task_group() as group:
        group.start_soon(transport.send, request_to(server))
        while not server.heads:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
        await server.saw_the_end()


async def test_cancelling_in_the_middle_of_a_stream_closes_the_connection() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b'data: {"say": "Hel"}\n\n'))
        await silence(reader, writer)

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        stream = open_answer(transport, request_to(server), words(), decode=no_body)
        with anyio.CancelScope() as scope:
            async with stream:
                async for delta in stream:
                    assert delta in (BlockStart(Text("")), TextDelta("Hel"))
                    if isinstance(delta, TextDelta):
                        scope.cancel()
        assert scope.cancelled_caught
        await server.saw_the_end()
    partial = stream.partial()
    assert partial is not None
    assert partial.entry.ending is Ending.CUT


async def test_leaving_a_stream_unread_closes_its_connection() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"data: 1\n\n"))
        await silence(reader, writer)

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        response = await transport.send(request_to(server))
        await response.close()
        await response.close()
        await server.saw_the_end()


async def test_closing_the_transport_closes_its_idle_connections_and_it_can_be_used_again() -> None:
    async with loopback(plain(b"{}")) as server:
        transport = HttpTransport(PATIENT)
        await transport.aclose()
        await read_all(transport, request_to(server))
        await transport.aclose()
        await server.saw_the_end()
        assert await read_all(transport, request_to(server)) == b"{}"
        await transport.aclose()
    assert server.connections == 2


# --- packets ------------------------------------------------------------------------------------------------------------


async def test_what_came_in_one_packet_is_one_piece_behind_the_first_ones() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"".join(chunk(b"%d " % number) for number in range(30)) + chunk(b""))

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        response = await transport.send(request_to(server))
        pieces = [piece async for piece in response.chunks]
        await response.close()
    assert pieces[:FIRST] == [b"0 ", b"1 ", b"2 "]
    assert b"".join(pieces) == b"".join(b"%d " % number for number in range(30))
    assert len(pieces) <= FIRST + 3  # one, unless the network took it apart


async def test_no_more_is_read_ahead_than_there_is_room_for() -> None:
    written = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(CHUNKED)
        for _ in range(3_000):
            writer.write(chunk(bytes(10_000)))
            await writer.drain()
            written += 10_000

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        response = await transport.send(request_to(server))
        for _ in range(FIRST):
            await anext(response.chunks)
        before = -1
        while written > before:  # what the system buffers is megabytes, and this reader's part of it is little
            before = written
            await anyio.sleep(0.2)
        largest = max([len(await anext(response.chunks)) for _ in range(20)])
        await response.close()
    assert largest <= 3 * AHEAD  # a read of the HTTP client may go beyond the room by one of its own


async def test_what_arrived_before_a_connection_broke_is_given_out_before_that_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"".join(chunk(b"%d " % number) for number in range(30)) + b"ff\r\nhalf")
        writer.close()

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        response = await transport.send(request_to(server))
        pieces: list[bytes] = []
        with pytest.raises(BadAnswer):
            while True:
                pieces.append(await anext(response.chunks))
        await response.close()
    assert b"".join(pieces).startswith(b"".join(b"%d " % number for number in range(30)))


async def test_nobody_reads_for_a_stream_that_was_closed_in_the_middle() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"".join(chunk(b"%d " % number) for number in range(30)))
        await silence(reader, writer)

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        before = asyncio.all_tasks()
        response = await transport.send(request_to(server))
        for _ in range(FIRST + 1):
            await anext(response.chunks)
        await response.close()
        await server.saw_the_end()
        assert {task for task in asyncio.all_tasks() - before if "_read" in repr(task)} == set()


# --- streams over a socket ----------------------------------------------------------------------------------------------


OVER_TLS = replace(TARGET, endpoint="https://127.0.0.1:1/v1")


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
async def test_a_stream_over_a_socket_may_be_split_anywhere(size: int) -> None:
    events = 'data: {"say": "Grüße, "}\n\ndata: {"say": "Welt 🌍"}\r\n\r\ndata: {"end": true}\n\n'.encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        for start in range(0, len(events), size):
            writer.write(chunk(events[start : start + size]))
            await writer.drain()
        writer.write(chunk(b""))

    async with (
        loopback(answer) as server,
        HttpTransport(PATIENT) as transport,
        open_answer(transport, request_to(server), words(), decode=no_body) as stream,
    ):
        deltas = [delta async for delta in stream]
    assert deltas == [
        BlockStart(Text("")),
        TextDelta("Grüße, "),
        TextDelta("Welt 🌍"),
        BlockDone(Text("Grüße, Welt 🌍")),
    ]
    assert stream.answer == Answer(
        Entry(Speaker.AI, (Text("Grüße, Welt 🌍"),), origin=TARGET.origin(), ending=Ending.DONE)
    )


async def test_a_stream_that_is_cut_is_a_bad_answer_that_was_visible() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b'data: {"say": "Hel"}\n\n') + b"ff\r\ndata")
        writer.close()

    async with loopback(answer) as server, HttpTransport(PATIENT) as transport:
        stream = open_answer(transport, request_to(server), words(), decode=no_body)
        with pytest.raises(BadAnswer):
            async with stream:
                await stream.finish()
    assert stream.visible


# --- the environment ----------------------------------------------------------------------------------------------------


async def test_a_proxy_of_the_environment_carries_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(plain(b"{}")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        target = Target(
            dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="http://far.invalid/v1"
        )
        async with HttpTransport(PATIENT) as transport:
            request = wire_request(target, b"{}", key=None, stream=False)
            assert await read_all(transport, request) == b"{}"
    assert proxy.heads[0].startswith("POST http://far.invalid/v1/chat/completions HTTP/1.1\r\n")


async def test_no_proxy_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(silence) as proxy, loopback(plain(b"{}")) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with HttpTransport(PATIENT) as transport:
            assert await read_all(transport, request_to(server)) == b"{}"
    assert proxy.heads == []


async def test_a_proxy_that_refuses_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head("407 Proxy Authentication Required", content_length="0"))
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
    target = Target(
        dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="https://far.invalid/v1"
    )
    async with HttpTransport(PATIENT) as transport:
        with pytest.raises(Unreachable, match="the proxy refused"):
            await transport.send(wire_request(target, b"{}", key=None, stream=False))
    listener.close()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTPS_PROXY", "gopher://secret:word@127.0.0.1"),
        ("ALL_PROXY", "socks5://secret:word@127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
    ],
)
async def test_settings_of_the_environment_that_cannot_be_used_are_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    request = wire_request(OVER_TLS, b"{}", key=None, stream=False)
    transport = HttpTransport(PATIENT)
    with pytest.raises(ConfigError, match="check HTTP_PROXY, HTTPS_PROXY") as caught:
        await transport.send(request)
    assert "secret" not in caught.value.message


async def test_a_custom_authority_of_the_environment_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("")
    asked: list[str | None] = []

    def create(*, cafile: str | None = None, capath: str | None = None) -> ssl.SSLContext:
        asked.append(cafile)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    monkeypatch.setattr(ssl, "create_default_context", create)
    async with HttpTransport(PATIENT) as transport:
        with pytest.raises(Unreachable):
            await transport.send(wire_request(OVER_TLS, b"{}", key=None, stream=False))
    assert asked == [str(authority)]


async def test_a_server_without_tls_is_asked_without_reading_the_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    async with loopback(plain(b"{}")) as server, HttpTransport(PATIENT) as transport:
        assert await read_all(transport, request_to(server)) == b"{}"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for this machine that vouches for itself; its key lies beside it, as `.key`."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    path = tmp_path / "self.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    files = ["-out", str(path), "-keyout", f"{path}.key"]
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=IP:127.0.0.1", *files], check=True, capture_output=True
    )
    return path


async def test_a_server_over_tls_is_spoken_to_where_an_authority_vouches_for_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, f"{certificate}.key")
    server = Loopback(plain(b"{}"))
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    port = listener.sockets[0].getsockname()[1]
    request = wire_request(replace(OVER_TLS, endpoint=f"https://127.0.0.1:{port}/v1"), b"{}", key=None, stream=False)

    async with HttpTransport(PATIENT) as stranger:
        with pytest.raises(Unreachable, match="ConnectError"):
            await stranger.send(request)
    assert server.heads == []

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with HttpTransport(PATIENT) as acquaintance:
        assert await read_all(acquaintance, request) == b"{}"
    listener.close()


def test_the_client_does_not_log_headers_of_a_request() -> None:
    # Its loggers print requests by their repr; this is the promise that we rely on.
    request = httpx2.Request("POST", "http://127.0.0.1/", headers={"x-api-key": SECRET})
    assert SECRET not in repr(request)
