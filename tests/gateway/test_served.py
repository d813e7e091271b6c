"""The gateway on a port of this machine: the vendors' own clients, and what only a connection can show."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anthropic
import anyio
import httpx2
import mistralai.client as mistral
import openai
import pytest
from google import genai
from google.genai import types

from gateway_clients import EACH_REQUEST, simulated_gateway
from legato.gateway.app import AppLimits, GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from legato.gateway.gateway import SwitchAt
from legato.serving.contract import ConnectionCut
from legato.serving.http_server import HttpServer, listen
from legato.transport.contract import Ask, WireResponse
from serving import HELLO, ScriptedGateway, on_a_port

SAID = "say exactly: the moon is up"
ASKED: Any = [{"role": "user", "content": SAID}]
KEY = "legato-key-of-this-test"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway behind which another family answers each request."""
    gateway = simulated_gateway(EACH_REQUEST, switch=SwitchAt.REQUEST)
    with on_a_port(GatewayApp(gateway, keeper=Gatekeeper(keys={digest_of(KEY): "tests"}))) as found:
        yield found


def _anthropic(url: str) -> tuple[str, str]:
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        whole = client.messages.create(model="m", max_tokens=99, messages=ASKED)
        with client.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream:
            streamed = stream.get_final_text()
    return "".join(block.text for block in whole.content if block.type == "text"), streamed


def _chat(url: str) -> tuple[str, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        whole = client.chat.completions.create(model="m", messages=ASKED)
        pieces = client.chat.completions.create(model="m", messages=ASKED, stream=True)
        streamed = "".join(choice.delta.content or "" for piece in pieces for choice in piece.choices)
    return whole.choices[0].message.content or "", streamed


def _responses(url: str) -> tuple[str, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        whole = client.responses.create(model="m", input=SAID)
        with client.responses.stream(model="m", input=SAID) as stream:
            streamed = stream.get_final_response().output_text
    return whole.output_text, streamed


def _google(url: str) -> tuple[str, str]:
    with genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url)) as client:
        whole = client.models.generate_content(model="m", contents=SAID)
        pieces = client.models.generate_content_stream(model="m", contents=SAID)
        return whole.text or "", "".join(piece.text or "" for piece in pieces)


def _mistral(url: str) -> tuple[str, str]:
    with mistral.Mistral(server_url=url, api_key=KEY) as client:
        whole = client.chat.complete(model="m", messages=ASKED)
        assert whole is not None
        pieces = client.chat.stream(model="m", messages=ASKED)
        streamed = "".join(str(piece.data.choices[0].delta.content or "") for piece in pieces if piece.data.choices)
    message = whole.choices[0].message
    assert message is not None
    return str(message.content), streamed


@pytest.mark.parametrize("talk", [_anthropic, _chat, _responses, _google, _mistral], ids=lambda talk: talk.__name__)
def test_the_vendors_own_clients_are_answered_over_a_socket(url: str, talk: Callable[[str], tuple[str, str]]) -> None:
    for said in talk(url):
        assert "the moon is up" in said.lower()


def test_a_wrong_key_is_told_even_after_a_large_body(url: str) -> None:
    long: Any = [{"role": "user", "content": "x" * 3_000_000}]
    with (
        anthropic.Anthropic(base_url=url, api_key="wrong", max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(model="m", max_tokens=9, messages=long)


def test_codex_is_told_426_when_it_asks_for_a_websocket(url: str) -> None:
    headers = {"authorization": f"Bearer {KEY}", "connection": "Upgrade", "upgrade": "websocket"}
    headers |= {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13"}
    assert httpx2.get(f"{url}/v1/responses", headers=headers).status_code == 426


def test_a_stream_that_breaks_off_ends_without_its_last_chunk(caplog: pytest.LogCaptureFixture) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        raise ConnectionCut("it broke off")

    seen: list[bytes] = []
    with (
        on_a_port(GatewayApp(ScriptedGateway(chunks))) as url,
        httpx2.stream("POST", f"{url}/v1/messages", json=HELLO) as response,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        seen.extend(response.iter_raw())
    assert b"".join(seen) == b"data: 1\n\n"
    assert caplog.records == []  # it is no fault of the server


def test_a_client_that_hangs_up_stops_the_answer() -> None:
    stopped = threading.Event()

    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield b"data: 1\n\n"
            await anyio.sleep_forever()
        finally:
            stopped.set()

    with on_a_port(GatewayApp(ScriptedGateway(chunks))) as url:
        with httpx2.stream("POST", f"{url}/v1/messages", json=HELLO) as response:
            assert next(response.iter_raw()) == b"data: 1\n\n"
        assert stopped.wait(60)


def test_signs_of_life_arrive_while_nothing_else_does() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await anyio.sleep_forever()

    app = GatewayApp(ScriptedGateway(chunks, keep_alive=b": still here\n\n"), limits=AppLimits(keep_alive=0.01))
    with on_a_port(app) as url, httpx2.stream("POST", f"{url}/v1/messages", json=HELLO) as response:
        pieces = response.iter_raw()
        assert [next(pieces) for _ in range(3)] == [b"data: 1\n\n", b": still here\n\n", b": still here\n\n"]


def test_a_server_that_is_stopped_lets_a_stream_end_and_takes_nothing_new() -> None:
    go_on = threading.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"first "
        await anyio.to_thread.run_sync(go_on.wait)
        yield b"last"

    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    server = HttpServer(GatewayApp(ScriptedGateway(chunks)), listener)
    thread = threading.Thread(target=lambda: anyio.run(server.run))
    thread.start()
    try:
        with httpx2.stream("POST", f"http://127.0.0.1:{address[1]}/v1/messages", json=HELLO) as response:
            pieces = response.iter_raw()
            assert next(pieces) == b"first "
            server.stop()
            _until_refused(address)
            go_on.set()
            assert b"".join(pieces) == b"last"
    finally:
        go_on.set()
        server.stop()
        thread.join()


def test_a_server_that_is_aborted_ends_in_the_middle_of_an_answer() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"first"
        await anyio.sleep_forever()

    async def run() -> None:
        listener = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/messages"
        server = HttpServer(GatewayApp(ScriptedGateway(chunks)), listener)
        async with anyio.create_task_group() as group, httpx2.AsyncClient() as client:
            group.start_soon(server.run)
            async with client.stream("POST", url, json=HELLO) as response:
                assert await anext(response.aiter_raw()) == b"first"
                server.stop()
                server.abort()

    anyio.run(run)  # it ends


def _until_refused(address: tuple[str, int]) -> None:
    while True:
        try:
            with socket.create_connection(address):
                pass
        except ConnectionResetError:  # the listener was closed while this connection waited to be taken
            continue
        except ConnectionRefusedError:
            return


def test_the_head_of_a_response_says_nothing_about_the_server(url: str) -> None:
    response = httpx2.post(f"{url}/v1/messages", json=HELLO, headers={"x-api-key": KEY})
    assert "server" not in response.headers
    assert json.loads(response.content)["type"] == "message"


def test_what_is_aborted_says_so_in_its_line_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"first"
        await anyio.sleep_forever()

    served: list[Served] = []

    async def run() -> None:
        listener = listen("127.0.0.1", 0)
        address = listener.getsockname()
        app = GatewayApp(ScriptedGateway(chunks), limits=AppLimits(requests=2), finished=served.append)
        server = HttpServer(app, listener)
        url = f"http://127.0.0.1:{address[1]}"
        async with anyio.create_task_group() as group, httpx2.AsyncClient(base_url=url) as client:
            group.start_soon(server.run)
            async with (
                await anyio.connect_tcp(*address) as half,
                client.stream("POST", "/v1/messages", json=HELLO) as response,
            ):
                await half.send(b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{")
                pieces = response.aiter_raw()
                assert await anext(pieces) == b"first"
                while (await client.get("/readyz")).status_code == 200:
                    pass  # until both are being served
                server.abort()
                with pytest.raises(httpx2.RemoteProtocolError):
                    await anext(pieces)

    anyio.run(run)
    assert sorted((one.status, one.is_cut) for one in served) == [(200, True), (499, True)]
    assert caplog.records == []


def test_a_fault_of_the_gateway_itself_is_told_in_the_clients_words_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Faulty(ScriptedGateway):
        async def answer(self, ask: Ask, **_: Any) -> WireResponse:
            raise ZeroDivisionError(ask.path)

    async def chunks() -> AsyncIterator[bytes]:
        yield b"never"

    served: list[Served] = []
    with on_a_port(GatewayApp(Faulty(chunks), finished=served.append)) as base:
        response = httpx2.post(f"{base}/v1/messages", json=HELLO)
        assert httpx2.get(f"{base}/healthz").status_code == 200

    assert response.status_code == 500
    assert json.loads(response.content)["type"] == "error"
    assert "an unexpected ZeroDivisionError, which is in the log" in response.text
    assert [one.status for one in served] == [500]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
