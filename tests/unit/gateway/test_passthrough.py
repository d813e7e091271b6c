"""Requests that are forwarded as they are: the same bytes out and back, and what the gateway would have done."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from gateway_clients import ask, no_wait, post
from legato.errors import ConfigError, Unreachable
from legato.gateway.app import AppLimits, GatewayApp, Served
from legato.gateway.gateway import REQUEST_HEADER, Gateway
from legato.gateway.passthrough import check_forwardable
from legato.model import Action
from legato.request import default_catalogue
from legato.routing import Policy, Profile, Route, only
from legato.transport import KeyRing, WireRequest
from legato.transport.contract import Ask, WireResponse, whole_response
from legato.world import World
from serving import Caller, called

CLAUDE, GPT, KIMI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "kimi/kimi-k2-thinking"
KEYS = {"ANTHROPIC_API_KEY": "operator-secret-anthropic", "OPENAI_API_KEY": "operator-secret-openai"}
SAID = {"role": "user", "content": "what is the weather?"}
OPEN_CALL = [
    SAID,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
    {"role": "user", "content": "never mind"},
]
LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {}}}

ANSWERS: dict[str, bytes] = {
    "/v1/messages": b'{"id": "msg_1", "type": "message",  "role": "assistant", "model": "claude-sonnet-4-5", "extra": 1,'
    b' "content": [{"type": "text", "text": "Rain."}], "stop_reason": "end_turn", "stop_sequence": null,'
    b' "usage": {"input_tokens": 7, "output_tokens": 2}}',
    "/v1/chat/completions": b'{"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices":'
    b' [{"index": 0, "message": {"role": "assistant", "content": "Rain."}, "finish_reason": "stop"}],'
    b' "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}, "odd": null}',
}


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()


_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
STREAM = [
    _event("message_start", message=_MESSAGE | {"usage": {"input_tokens": 7, "output_tokens": 1}}),
    _event("ping"),
    _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Rain."}),
    _event("content_block_stop", index=0),
    _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
    _event("message_stop"),
]


class Provider:
    """Answers every request with `status` and `pieces`, and keeps what it was sent."""

    def __init__(self, pieces: list[bytes] | None = None, *, status: int = 200, **headers: str) -> None:
        self.sent: list[WireRequest] = []
        self._pieces = pieces
        self._status = status
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def send(self, request: WireRequest) -> WireResponse:
        self.sent.append(request)
        path = "/" + request.url.split("/", 3)[3].partition("?")[0]
        return whole_response(self._status, self._pieces or [ANSWERS[path]], self._headers)


def gateway(provider: Any, *routes: str, policy: Policy = Policy.FAILOVER) -> Gateway:
    world = World(transport=provider, keys=KeyRing({}, KEYS), sleep=no_wait)
    return Gateway(world, Profile("p", tuple(map(Route, routes)), policy), passthrough=True)


def messages(*said: Any, **changes: Any) -> Ask:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 99, "tools": [LOOK], "messages": list(said or [SAID])} | changes
    return post("/v1/messages", json.dumps(body, indent=3).encode(), {"x-api-key": "client-key"})


STREAMED = messages(stream=True)


def test_a_request_and_its_answer_are_the_same_bytes_out_and_back() -> None:
    provider = Provider(request_id="req_of_the_provider", connection="close", content_encoding="gzip")
    request = messages(*OPEN_CALL)
    response, body = ask(gateway(provider, CLAUDE), request)
    assert (provider.sent[0].body, body) == (request.body, ANSWERS["/v1/messages"])
    assert response.headers["request-id"] == "req_of_the_provider"
    assert response.headers["x-legato-route"] == CLAUDE
    assert response.headers.keys().isdisjoint({"connection", "content-encoding"})


def test_a_stream_comes_back_piece_by_piece_as_it_is() -> None:
    door = gateway(Provider(STREAM, content_type="text/event-stream; odd"), CLAUDE)
    response, body = ask(door, messages(stream=True))
    assert (response.headers["content-type"], body) == ("text/event-stream; odd", b"".join(STREAM))
    report = door.reports.find(response.headers[REQUEST_HEADER])
    assert report is not None
    assert report.usage is not None
    assert (report.usage.input, report.usage.output, report.unchanged, report.decisions) == (7, 2, True, ())


def test_it_is_reported_what_the_gateway_would_have_done() -> None:
    served: list[Served] = []
    app = GatewayApp(gateway(Provider(), CLAUDE), finished=served.append)
    body = json.loads(messages(*OPEN_CALL).body)
    request_id = called(app, "/v1/messages", body).headers[REQUEST_HEADER]
    report = called(app, f"/legato/requests/{request_id}").json
    assert (report["passthrough"], report["route"], report["usage"]["output"]) == (True, CLAUDE, 2)
    assert [decision["action"] for decision in report["decisions"]] == [Action.CLOSED]
    [note] = report["notes"]
    assert note.startswith("as it came: messages[1].content[0]: ")
    assert served[0].report is not None
    assert served[0].report.passthrough


def test_where_the_gateway_would_have_sent_the_same_nothing_is_reported() -> None:
    door = gateway(Provider(), CLAUDE)
    response, _ = ask(door, messages())
    report = door.reports.find(response.headers[REQUEST_HEADER])
    assert report is not None
    assert (report.decisions, report.notes) == ((), [])


def test_only_the_name_of_the_model_is_another_where_it_has_to_be() -> None:
    provider = Provider()
    ask(gateway(provider, CLAUDE), messages(*OPEN_CALL, model="claude-opus-4-1"))
    was, is_now = json.loads(messages(*OPEN_CALL, model="claude-opus-4-1").body), json.loads(provider.sent[0].body)
    assert is_now == was | {"model": "claude-sonnet-4-5"}


def test_the_operators_key_is_used_and_not_the_clients() -> None:
    provider = Provider()
    ask(gateway(provider, CLAUDE), messages())
    assert provider.sent[0].sent_headers()["x-api-key"] == KEYS["ANTHROPIC_API_KEY"]


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": [SAID]}, lambda error: error["error"]["type"]),
        ("/v1/responses", {"model": "m", "input": "hi"}, lambda error: error["error"]["type"]),
    ],
)
def test_another_api_than_the_clients_is_refused_in_its_own_words(path: str, body: Any, told: Any) -> None:
    provider = Provider()
    response, answer = ask(gateway(provider, GPT, KIMI), post(path, body))
    error = json.loads(answer)
    assert (response.status, told(error), provider.sent) == (400, "invalid_request_error", [])
    assert f"is not that of {GPT} and {KIMI}; ask for a model that speaks it" in error["error"]["message"]


def test_of_several_routes_one_that_speaks_the_clients_api_is_asked() -> None:
    provider = Provider()
    door = gateway(provider, GPT, CLAUDE, policy=Policy.ROUND_ROBIN)
    assert [ask(door, messages())[0].headers["x-legato-route"] for _ in range(2)] == [CLAUDE, CLAUDE]


def test_a_turn_stays_with_the_route_that_asked_for_its_calls() -> None:
    call = {"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "toolu_77", "name": "look", "input": {}}],
            "usage": {"input_tokens": 7, "output_tokens": 2}}  # fmt: skip
    door = gateway(
        Provider([json.dumps(call).encode()]), CLAUDE, "anthropic/claude-opus-4-1", policy=Policy.ROUND_ROBIN
    )
    first, _ = ask(door, messages())
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_77", "content": "rain"}]}
    second, _ = ask(door, messages(SAID, {"role": "assistant", "content": call["content"]}, result))
    third, _ = ask(door, messages())
    routes = [one.headers["x-legato-route"] for one in (first, second, third)]
    assert routes[0] == routes[1] != routes[2]


# --- refusals ---


def test_a_refusal_comes_back_as_it_is_without_what_it_repeats_of_a_key() -> None:
    told = (
        b'{"type": "error", "error": {"type": "rate_limit_error", "message": "operator-secret-anthropic: slow down"}}'
    )
    door = gateway(Provider([told], status=429, retry_after="7"), CLAUDE, "anthropic/claude-opus-4-1")
    response, body = ask(door, messages())
    assert (response.status, response.headers["retry-after"]) == (429, "7")
    assert body == told.replace(b"operator-secret-anthropic", b"[hidden]")
    report = door.reports.find(response.headers[REQUEST_HEADER])
    assert report is not None
    assert [attempt.error for attempt in report.attempts] == ["RateLimited"]


def test_a_refused_key_of_the_operator_is_not_told_as_the_clients() -> None:
    told = b'{"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}'
    response, body = ask(gateway(Provider([told], status=401), CLAUDE), messages())
    assert (response.status, b"your own key is not what is wrong" in body) == (400, True)


class Renewing(Provider):
    """Refuses every token but `good`."""

    def __init__(self, good: str) -> None:
        super().__init__()
        self._good = good

    async def send(self, request: WireRequest) -> WireResponse:
        if self._good in request.sent_headers().get("authorization", ""):
            return await super().send(request)
        self.sent.append(request)
        return whole_response(401, b'{"error": {"message": "expired", "code": "invalid_api_key"}}')


@pytest.mark.parametrize(("good", "status"), [("token-2", 200), ("token-3", 400)])
def test_a_refused_token_is_asked_for_once_more(tmp_path: Path, good: str, status: int) -> None:
    count = tmp_path / "count"
    code = f"import pathlib; p = pathlib.Path({str(count)!r}); n = len(p.read_text()) if p.exists() else 0;"
    code += " p.write_text('x' * (n + 1)); print(f'token-{n + 1}')"
    own = {"token_command": shlex.join([sys.executable, "-c", code])}
    known = default_catalogue().extended({"providers": {"openai": own}})
    provider = Renewing(good)
    world = World(transport=provider, catalogue=known, keys=KeyRing({}, {}, known), sleep=no_wait)
    response, body = ask(
        Gateway(world, GPT, passthrough=True), post("/v1/chat/completions", {"model": "gpt-4.1", "messages": [SAID]})
    )
    tokens = [request.sent_headers()["authorization"].removeprefix("Bearer ") for request in provider.sent]
    assert (response.status, tokens) == (status, ["token-1", "token-2"])
    assert (body == ANSWERS["/v1/chat/completions"]) == (status == 200)


class Broken:
    """Cannot be reached, or breaks off after `pieces`."""

    def __init__(self, *pieces: bytes, is_there: bool = True) -> None:
        self._pieces = pieces
        self._is_there = is_there

    async def send(self, request: WireRequest) -> WireResponse:
        if not self._is_there:
            raise Unreachable("nobody there", route=request.route)

        async def chunks() -> AsyncIterator[bytes]:
            for piece in self._pieces:
                yield piece
            raise Unreachable("it broke off", route=request.route)

        return WireResponse(200, {"content-type": "text/event-stream"}, chunks())


@pytest.mark.parametrize("provider", [Broken(is_there=False), Broken()])
def test_a_provider_that_says_nothing_is_an_error_with_a_status(provider: Broken) -> None:
    response, body = ask(gateway(provider, CLAUDE), messages(stream=True))
    assert (response.status, json.loads(body)["type"]) == (502, "error")


def test_an_answer_that_breaks_off_breaks_the_connection_off() -> None:
    served: list[Served] = []
    app = GatewayApp(gateway(Broken(*STREAM[:4]), CLAUDE), finished=served.append)
    with pytest.raises(Exception, match="broke off"):
        called(app, "/v1/messages", json.loads(messages(stream=True).body))
    assert served[0].is_cut


# --- clients that are kept waiting ---

PING = b'event: ping\ndata: {"type":"ping"}\n\n'
SOON = AppLimits(first_sign=0.001, keep_alive=0.001)


class Late(Provider):
    """Says nothing until it is told to, and after its first piece nothing until it is told again."""

    def __init__(self, *answer: Any, is_there: bool = True, **options: Any) -> None:
        super().__init__(*answer, **options)
        self.begin, self.go_on = anyio.Event(), anyio.Event()
        self._is_there = is_there

    async def send(self, request: WireRequest) -> WireResponse:
        await self.begin.wait()
        if not self._is_there:
            raise Unreachable("nobody there", route=request.route)
        whole = await super().send(request)

        async def chunks() -> AsyncIterator[bytes]:
            async for piece in whole.chunks:
                yield piece
                await self.go_on.wait()

        return replace(whole, chunks=chunks())


def test_a_client_is_kept_waiting_for_the_first_piece_and_gets_the_rest_as_it_is() -> None:
    async def run() -> None:
        provider = Late(STREAM)
        call = Caller(GatewayApp(gateway(provider, CLAUDE), limits=SOON), "/v1/messages", json.loads(STREAMED.body))
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await call.arrival(PING * 2)
            assert (call.status, call.headers["x-legato-route"]) == (200, CLAUDE)
            assert call.headers["content-type"].startswith("text/event-stream")
            assert call.headers[REQUEST_HEADER].startswith("req_")
            provider.begin.set()
            await call.arrival(STREAM[0])
            await anyio.sleep(0.02)  # the pieces of a provider may end anywhere, so there is no sign between them
            provider.go_on.set()
        assert call.is_whole
        assert call.body.replace(PING, b"", call.body.index(STREAM[0]) // len(PING)) == b"".join(STREAM)

    anyio.run(run)


@pytest.mark.parametrize(
    "provider",
    [
        lambda: Late([b'{"error": {"type": "rate_limit_error", "message": "slow down"}}'], status=429),
        lambda: Late([b'{"error": {"type": "authentication_error", "message": "invalid x-api-key"}}'], status=401),
        lambda: Late(is_there=False),
    ],
)
def test_a_failure_after_the_first_sign_of_life_is_told_in_the_stream(provider: Callable[[], Late]) -> None:
    async def run() -> None:
        late, served = provider(), list[Served]()
        app = GatewayApp(gateway(late, CLAUDE), limits=SOON, finished=served.append)
        call = Caller(app, "/v1/messages", json.loads(STREAMED.body))
        with pytest.raises(ExceptionGroup):
            async with anyio.create_task_group() as group:
                group.start_soon(call.call)
                await call.arrival(PING)
                late.begin.set()
                late.go_on.set()
        assert (call.status, call.is_whole, served[0].is_cut) == (200, False, True)
        last = call.body.replace(PING, b"")
        assert last.startswith(b"event: error\ndata: ")
        assert json.loads(last.removeprefix(b"event: error\ndata: "))["type"] == "error"
        assert served[0].report is not None
        assert served[0].report.error

    anyio.run(run)


def test_a_forwarded_answer_that_is_not_streamed_has_no_early_head() -> None:
    async def run() -> None:
        late = Late([b'{"error": {"type": "rate_limit_error", "message": "slow down"}}'], status=429)
        call = Caller(GatewayApp(gateway(late, CLAUDE), limits=SOON), "/v1/messages", json.loads(messages().body))
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await anyio.sleep(0.02)
            assert call.sent == []
            late.begin.set()
            late.go_on.set()
        assert (call.status, call.is_whole) == (429, True)

    anyio.run(run)


def test_an_answer_that_cannot_be_read_is_forwarded_all_the_same() -> None:
    assert ask(gateway(Provider([b"<html>hm</html>"]), CLAUDE), messages())[1] == b"<html>hm</html>"
    assert ask(gateway(Provider([b"data: [}\n\n", b"x"]), CLAUDE), messages(stream=True))[1] == b"data: [}\n\nx"


def test_a_stream_of_gemini_as_an_array_is_asked_for_as_one() -> None:
    provider = Provider([b'[{"candidates": []}]'])
    contents = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    door = gateway(provider, "gemini/gemini-2.5-flash")
    for query in ("", "?alt=sse"):
        ask(door, post(f"/v1beta/models/m:streamGenerateContent{query}", contents))
    assert [request.url.endswith("gemini-2.5-flash:streamGenerateContent") for request in provider.sent] == [
        True,
        False,
    ]


def test_compaction_by_the_server_is_not_forwarded() -> None:
    response, body = ask(gateway(Provider(), "openai-responses/gpt-5"), post("/v1/responses/compact", {"input": "x"}))
    assert (response.status, b"--passthrough" in body) == (404, True)


def test_a_profile_that_could_never_be_forwarded_to_is_refused_at_the_start() -> None:
    world = World(transport=Provider(), keys=KeyRing({}, {"AWS_REGION": "eu-1"}))
    for route in ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock-anthropic/claude-x", "vercel/any"):
        with pytest.raises(ConfigError, match="cannot be sent any"):
            check_forwardable(only(route), [world.target(route)])
    check_forwardable(only(KIMI), [world.target(KIMI)])
