"""The gateway as an ASGI application, without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from gateway_clients import simulated_gateway
from legato.gateway.app import GONE, AppLimits, GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from legato.gateway.gateway import Gateway
from legato.gateway.uploads import UploadLimits
from legato.serving.contract import ConnectionCut
from legato.transport.contract import Ask, WireResponse
from serving import HELLO, Caller, ScriptedGateway, called

CLAUDE = "anthropic/claude-sonnet-4-5"
PING = b"event: ping\n\n"


def app(**options: Any) -> GatewayApp:
    return GatewayApp(simulated_gateway("openai/gpt-4.1"), **options)


def test_an_answer_is_given_whole() -> None:
    answer = called(app(), "/v1/messages", HELLO)
    assert (answer.status, answer.headers["x-legato-route"], answer.is_whole) == (200, "openai/gpt-4.1", True)
    assert (answer.json["type"], answer.json["model"]) == ("message", "m")


def test_a_stream_arrives_in_pieces_and_has_its_end() -> None:
    answer = called(app(), "/v1/messages?beta=true", HELLO | {"stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert len(answer.sent) > 5
    assert answer.is_whole
    assert b"event: message_stop" in answer.body


def test_a_body_that_is_too_large_is_refused_in_the_words_of_the_client() -> None:
    limits = AppLimits(uploads=UploadLimits(body=1_000))
    answer = called(app(limits=limits), "/v1/messages", b"x" * 1_001)
    assert (answer.status, answer.json["error"]["type"]) == (413, "request_too_large")
    assert called(app(limits=limits), "/v1/messages", b"x" * 900_000).status == 413
    assert called(app(limits=limits), "/v1/messages", HELLO, content_length="9" * 5_000).status == 413
    assert called(app(limits=limits), "/v1/messages", HELLO).status == 200


def test_a_wish_for_a_websocket_is_answered_426() -> None:
    assert called(app(), "/v1/responses", upgrade="websocket", connection="Upgrade").status == 426


def test_a_compressed_body_is_refused_and_not_misread() -> None:
    assert called(app(), "/v1/messages", HELLO, content_encoding="zstd").status == 415


@pytest.mark.parametrize("coding", ["identity", "Identity", ""])
def test_a_body_that_is_said_to_be_as_it_is_is_read(coding: str) -> None:
    assert called(app(), "/v1/messages", HELLO, content_encoding=coding).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8100"},
        {"host": ""},
        {"host": "127.0.0.1.evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/v1/messages", "/legato/requests/req_1"])
def test_a_web_page_does_not_reach_a_local_gateway(headers: dict[str, str], path: str) -> None:
    assert called(app(), path, HELLO if path.startswith("/v1") else None, **headers).status == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8100", "[::1]:8100", "LOCALHOST:1", "127.8.8.8"])
def test_the_names_of_this_machine_are_taken(host: str) -> None:
    assert called(app(), "/v1/messages", HELLO, host=host).status == 200


def test_a_page_of_the_server_itself_and_those_that_were_named_may_ask() -> None:
    keeper = Gatekeeper(origins=frozenset({"https://chat.example"}), hosts=frozenset({"gateway.lan"}))
    for headers in ({"origin": "http://localhost:8100"}, {"origin": "https://chat.example"}, {"host": "gateway.lan"}):
        assert called(app(keeper=keeper), "/v1/messages", HELLO, **headers).status == 200


KEYED = Gatekeeper(keys={digest_of("key-of-ann"): "ann", digest_of("key-of-bob"): "bob"})


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer key-of-ann"},
        {"x_api_key": "key-of-ann"},
        {"x_goog_api_key": "key-of-ann"},
        {"authorization": "Bearer other", "x_api_key": "key-of-ann"},
    ],
    ids=str,
)
def test_a_key_is_taken_wherever_a_client_puts_it(headers: dict[str, str]) -> None:
    served: list[Served] = []
    answer = called(app(keeper=KEYED, finished=served.append), "/v1/messages", HELLO, host="gw.lan", **headers)
    assert (answer.status, served[0].tenant) == (200, "ann")


@pytest.mark.parametrize("headers", [{}, {"x_api_key": "wrong"}, {"authorization": "Basic key-of-ann"}], ids=str)
def test_without_a_key_of_the_gateway_the_client_is_told_so_in_its_own_words(headers: dict[str, str]) -> None:
    answer = called(app(keeper=KEYED), "/v1/messages", HELLO, **headers)
    assert (answer.status, answer.json["error"]["type"]) == (401, "authentication_error")
    answer = called(app(keeper=KEYED), "/v1beta/models/m:generateContent", {"contents": []}, **headers)
    assert (answer.status >= 400, "status" in answer.json["error"]) == (True, True)


def test_whoever_runs_the_gateway_is_told_why_a_request_was_not_let_in() -> None:
    served: list[Served] = []
    called(app(keeper=KEYED, finished=served.append), "/v1/messages", HELLO)
    assert served[0].refused == "this gateway asks for a key of its own, and none was sent"


def test_a_report_is_for_its_tenant_alone() -> None:
    served = app(keeper=KEYED)
    request_id = called(served, "/v1/messages", HELLO, x_api_key="key-of-ann").headers["x-legato-request"]
    report = called(served, f"/legato/requests/{request_id}", x_api_key="key-of-ann")
    assert (report.status, report.json["route"], report.json["asked"]) == (200, "openai/gpt-4.1", "m")
    assert called(served, f"/legato/requests/{request_id}", x_api_key="key-of-bob").status == 404
    assert called(served, f"/legato/requests/{request_id}").status == 401


def test_a_report_shows_no_secret() -> None:
    served, secret = app(), "sk-ant-api03-" + "abcdEFGH0123" * 4
    request_id = called(served, "/v1/messages", HELLO | {"model": secret}).headers["x-legato-request"]
    report = called(served, f"/legato/requests/{request_id}")
    assert report.status == 200
    assert secret.encode() not in report.body


def test_what_should_not_happen_is_told_in_the_words_of_the_client() -> None:
    class Broken(Gateway):
        async def answer(self, ask: Ask, **_: Any) -> WireResponse:
            raise ZeroDivisionError

    call = Caller(GatewayApp(Broken(simulated_gateway(CLAUDE).world, CLAUDE)), "/v1/messages", HELLO)
    with pytest.raises(ExceptionGroup):  # the server logs it
        anyio.run(call.call)
    assert (call.status, call.json["type"], call.is_whole) == (500, "error", True)
    assert "ZeroDivisionError" in call.json["error"]["message"]


# --- while an answer is on its way ------------------------------------------------------------------------------------


def test_a_stream_that_breaks_off_has_no_end() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        raise ConnectionCut("it broke off")

    served: list[Served] = []
    call = Caller(GatewayApp(ScriptedGateway(chunks), finished=served.append), "/v1/messages", HELLO)
    with pytest.raises(ConnectionCut):
        anyio.run(call.call)
    assert (call.body, call.is_whole, served[0].is_cut) == (b"data: 1\n\n", False, True)


def test_a_silent_stream_gets_signs_of_life_between_its_pieces() -> None:
    async def run() -> None:
        go_on = anyio.Event()

        async def chunks() -> AsyncIterator[bytes]:
            yield b"first"
            await go_on.wait()
            yield b"last"

        gateway = ScriptedGateway(chunks, keep_alive=PING)
        call = Caller(GatewayApp(gateway, limits=AppLimits(keep_alive=0.001)), "/v1/messages", HELLO)
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await call.arrival(PING + PING)
            go_on.set()
        assert call.body.startswith(b"first" + PING)
        assert call.body.replace(PING, b"") == b"firstlast"
        assert (call.is_whole, gateway.closed) == (True, 1)

    anyio.run(run)


def test_a_stream_that_flows_gets_none() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x"

    assert called(GatewayApp(ScriptedGateway(chunks, keep_alive=PING)), "/v1/messages", HELLO).body == b"x" * 100


def test_the_gateway_says_how_each_client_is_kept_waiting() -> None:
    async def run() -> None:
        gateway = simulated_gateway(CLAUDE)
        for path, body, sign in (
            ("/v1/messages", HELLO | {"stream": True}, b"ping"),
            ("/v1/chat/completions", HELLO | {"stream": True}, b": "),
            ("/v1/messages", HELLO, b""),
        ):
            response = await gateway.answer(Ask(method="POST", path=path, headers={}, body=_json(body)))
            assert sign in response.keep_alive
            assert bool(sign) == bool(response.keep_alive)
            await response.close()

    anyio.run(run)


@pytest.mark.parametrize("begins", [True, False])
def test_a_client_that_goes_away_stops_whoever_works_for_it(begins: bool) -> None:
    stopped: list[str] = []
    served: list[Served] = []

    async def run() -> None:
        begun = anyio.Event()

        async def chunks() -> AsyncIterator[bytes]:
            try:
                yield b"first"
                begun.set()
                await anyio.sleep_forever()
            finally:
                stopped.append("stream")

        class Slow(ScriptedGateway):
            async def answer(self, ask: Ask, **options: Any) -> WireResponse:
                if begins:
                    return await super().answer(ask, **options)
                begun.set()
                try:
                    await anyio.sleep_forever()
                finally:
                    stopped.append("answer")
                raise AssertionError

        call = Caller(GatewayApp(Slow(chunks), finished=served.append), "/v1/messages", HELLO)
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await begun.wait()
            call.leave()

    anyio.run(run)
    assert stopped == ["stream" if begins else "answer"]
    assert served[0].status == (200 if begins else GONE)


def test_no_more_requests_run_at_once_than_are_allowed() -> None:
    async def run() -> None:
        go_on = anyio.Event()

        async def chunks() -> AsyncIterator[bytes]:
            yield b"first"
            await go_on.wait()

        served = GatewayApp(ScriptedGateway(chunks), limits=AppLimits(requests=2))
        running = [Caller(served, "/v1/messages", HELLO) for _ in range(2)]
        async with anyio.create_task_group() as group:
            for call in running:
                group.start_soon(call.call)
                await call.arrival(b"first")
            refused = await Caller(served, "/v1/messages", HELLO).call()
            assert (refused.status, refused.json["error"]["type"]) == (529, "overloaded_error")
            assert refused.headers["retry-after"] == "1"
            assert (await Caller(served, "/readyz").call()).status == 503
            assert (await Caller(served, "/healthz").call()).status == 200
            go_on.set()
        assert [call.status for call in running] == [200, 200]
        assert (await Caller(served, "/readyz").call()).status == 200

    anyio.run(run)


def test_a_gateway_that_stops_takes_no_more_requests() -> None:
    served = app()
    served.stop()
    assert called(served, "/v1/chat/completions", HELLO).status == 503
    assert called(served, "/readyz").json == {"status": "stopping"}


def test_whoever_watches_is_told_of_every_request() -> None:
    served: list[Served] = []
    watched = app(finished=served.append)
    called(watched, "/v1/messages", HELLO | {"stream": True}, user_agent="claude-cli/2.0")
    called(watched, "/v1/nonsense", HELLO)
    first, second = served
    assert (first.status, first.ask.headers["user-agent"], first.ask.body) == (200, "claude-cli/2.0", b"")
    assert first.report is not None
    assert first.report.usage is not None
    assert (second.status, second.report) == (404, None)


def _json(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()
