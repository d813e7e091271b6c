"""A client's own key: used at its vendor's own host, and nowhere else, and never to be seen."""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest

from gateway_clients import ask, no_wait, post
from legato.gateway.app import GatewayApp
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from legato.gateway.gateway import REQUEST_HEADER, Gateway
from legato.gateway.state import MemoryState
from legato.request import default_catalogue
from legato.routing import Policy, Profile, Route
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import Key, KeyRing, WireRequest
from legato.transport.contract import WireResponse
from legato.world import World
from serving import called

OPERATOR = {
    f"{name}_API_KEY": f"operator-{name.lower()}"
    for name in ("ANTHROPIC", "OPENAI", "GEMINI", "MISTRAL", "DEEPSEEK", "MOONSHOT")
}
CLAUDE, GPT, KIMI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "kimi/kimi-k2-thinking"
MESSAGES = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hello"}]}
RESPONSES = {"model": "m", "input": "hello"}
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
GEMINI = "/v1beta/models/m:generateContent"
SECRET = "sk-own-Zq8kTv3LmN5xWcR7"


class Wire(SimulatedTransport):
    """Simulated providers that ask for keys, and what arrived at each host."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SimulatedWorld(needs_keys=True, sleep=no_wait, **options))
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.accounts: list[str] = []

    async def send(self, request: WireRequest) -> WireResponse:
        keys = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "openai-organization", "x-legato-key")
        headers = request.sent_headers()
        self.accounts.append(request.target.account)
        self.seen.append((request.url.split("/")[2], {name: headers[name] for name in keys if name in headers}))
        assert SECRET not in request.url
        return await super().send(request)


def gateway(
    *routes: str | Route,
    wire: Wire,
    environment: dict[str, str] | None = None,
    endpoints: dict[str, str] | None = None,
    pass_keys: bool = True,
    state: MemoryState | None = None,
) -> Gateway:
    listed = tuple(route if isinstance(route, Route) else Route(route) for route in routes)
    keys = KeyRing({}, OPERATOR if environment is None else environment)
    world = World(transport=wire, keys=keys, sleep=no_wait, endpoints=endpoints or {})
    return Gateway(world, Profile("p", listed, Policy.FAILOVER), pass_keys=pass_keys, state=state)


BEARER = {"authorization": f"Bearer {SECRET}"}
AT_HOME: list[tuple[str, str, Any, dict[str, str], str, dict[str, str]]] = [
    (CLAUDE, "/v1/messages", MESSAGES, {"x-api-key": SECRET}, "api.anthropic.com", {"x-api-key": SECRET}),
    (CLAUDE, "/v1/messages", MESSAGES, BEARER, "api.anthropic.com", BEARER),
    (GPT, "/v1/chat/completions", MESSAGES, BEARER, "api.openai.com", BEARER),
    (GPT, "/v1/chat/completions", MESSAGES, BEARER | {"openai-organization": "org-1"}, "api.openai.com",
     BEARER | {"openai-organization": "org-1"}),
    ("openai-responses/gpt-5", "/v1/chat/completions", MESSAGES, BEARER, "api.openai.com", BEARER),
    ("openai-responses/gpt-5", "/v1/responses", RESPONSES, BEARER, "api.openai.com", BEARER),
    ("gemini/gemini-2.5-flash", GEMINI, CONTENTS, {"x-goog-api-key": SECRET}, "generativelanguage.googleapis.com",
     {"x-goog-api-key": SECRET}),
    ("gemini/gemini-2.5-flash", f"{GEMINI}?key={SECRET}", CONTENTS, {}, "generativelanguage.googleapis.com",
     {"x-goog-api-key": SECRET}),
    ("mistral/mistral-large-latest", "/v1/chat/completions", MESSAGES, BEARER | {"user-agent": "mistral-client-python"},
     "api.mistral.ai", BEARER),
]  # fmt: skip


@pytest.mark.parametrize(("route", "path", "body", "headers", "host", "arrives"), AT_HOME)
def test_at_its_own_vendor_a_clients_key_is_used(
    route: str, path: str, body: Any, headers: dict[str, str], host: str, arrives: dict[str, str]
) -> None:
    wire = Wire()
    response, _ = ask(gateway(route, wire=wire), post(path, body, headers))
    assert (response.status, wire.seen) == (200, [(host, arrives)])


@pytest.mark.parametrize(("route", "path", "body", "headers", "host", "arrives"), AT_HOME)
def test_unless_it_is_asked_for_the_operators_key_is_used(
    route: str, path: str, body: Any, headers: dict[str, str], host: str, arrives: dict[str, str]
) -> None:
    wire = Wire()
    ask(gateway(route, wire=wire, pass_keys=False), post(path, body, headers))
    [(_, used)] = wire.seen
    assert "operator-" in str(used)
    assert SECRET not in str(used)


ALL_KEYS = BEARER | {"x-api-key": SECRET, "x-goog-api-key": SECRET}
DOORS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions", "gemini": GEMINI, "responses": "/v1/responses"}
BODIES: dict[str, Any] = {"anthropic": MESSAGES, "openai": MESSAGES, "gemini": CONTENTS, "responses": RESPONSES}
HOSTS = {
    "anthropic": {"api.anthropic.com"},
    "openai": {"api.openai.com"},
    "responses": {"api.openai.com"},
    "gemini": {"generativelanguage.googleapis.com"},
}


@pytest.mark.parametrize("door", DOORS)
def test_no_provider_of_the_catalogue_sees_a_key_that_is_not_its_own(door: str) -> None:
    environment = OPERATOR | {"AZURE_RESOURCE_NAME": "mine", "AWS_REGION": "eu-1", "GOOGLE_CLOUD_PROJECT": "p"}
    for name, provider in default_catalogue().providers.items():
        wire = Wire()
        ring = environment | dict.fromkeys(provider.keys, "operator-key-1")
        route = f"{name}/{provider.example or 'any'}"
        ask(gateway(route, wire=wire, environment=ring), post(f"{DOORS[door]}?key={SECRET}", BODIES[door], ALL_KEYS))
        for host, headers in wire.seen:
            assert (SECRET in str(headers)) is (host in HOSTS[door]), (name, host)


def test_where_somebody_else_answers_after_a_failover_the_operators_key_is_used() -> None:
    wire = Wire()
    body = MESSAGES | {"messages": [{"role": "user", "content": "hello"}]}
    response, _ = ask(gateway(CLAUDE, KIMI, GPT, wire=wire), post("/v1/messages", body, {"x-api-key": "bad-own-key"}))
    assert (response.status, response.headers["x-legato-route"]) == (200, KIMI)
    assert [str(headers) for _, headers in wire.seen] == [
        "{'x-api-key': 'bad-own-key'}", "{'authorization': 'Bearer operator-moonshot'}",
    ]  # fmt: skip


def test_a_route_without_a_key_of_the_operator_is_passed_over() -> None:
    wire = Wire()
    environment = {"OPENAI_API_KEY": OPERATOR["OPENAI_API_KEY"]}
    request = post("/v1/messages", MESSAGES, {"x-api-key": "bad-own-key"})
    response, _ = ask(gateway(CLAUDE, KIMI, GPT, wire=wire, environment=environment), request)
    assert (response.status, response.headers["x-legato-route"]) == (200, GPT)
    assert [host for host, headers in wire.seen if "own-key" in str(headers)] == ["api.anthropic.com"]


@pytest.mark.parametrize(
    "endpoint",
    ["http://api.anthropic.com", "https://api.anthropic.com.evil.example", "http://127.0.0.1:9", "https://x"],
)
def test_a_key_does_not_go_to_whom_an_operator_put_in_the_vendors_place(endpoint: str) -> None:
    wire = Wire()
    ask(gateway(CLAUDE, wire=wire, endpoints={"anthropic": endpoint}), post("/v1/messages", MESSAGES, ALL_KEYS))
    assert SECRET not in str(wire.seen)


def test_a_header_that_the_operator_set_for_the_route_stays() -> None:
    wire = Wire()
    route = Route(CLAUDE, headers={"Authorization": "Bearer operators-token"})
    ask(gateway(route, wire=wire), post("/v1/messages", MESSAGES, ALL_KEYS))
    assert wire.seen[0][1] == {"x-api-key": "operator-anthropic", "authorization": "Bearer operators-token"}


@pytest.mark.parametrize("key", ["sk-ant-api03-abcdefgh", "AIzaSyA1234567890"])
def test_a_key_that_is_plainly_somebody_elses_is_not_used(key: str) -> None:
    wire = Wire()
    ask(gateway(GPT, wire=wire), post("/v1/chat/completions", MESSAGES, {"authorization": f"Bearer {key}"}))
    assert wire.seen[0][1] == {"authorization": "Bearer operator-openai"}


def test_a_key_that_the_vendor_refuses_is_told_as_the_clients_own() -> None:
    response, body = ask(gateway(CLAUDE, wire=Wire()), post("/v1/messages", MESSAGES, {"x-api-key": "bad-own-key-1"}))
    error = json.loads(body)["error"]
    assert (response.status, error["type"]) == (401, "authentication_error")
    assert error["message"].startswith(f"{CLAUDE} did not accept your own key")
    assert "bad-own-key-1" not in error["message"]
    response, body = ask(gateway(CLAUDE, wire=Wire(), pass_keys=False, environment={"ANTHROPIC_API_KEY": "bad"}),
                         post("/v1/messages", MESSAGES, {"x-api-key": "mine"}))  # fmt: skip
    assert (response.status, "your own key is not what is wrong" in str(body)) == (400, True)


def test_one_clients_bad_key_does_not_keep_others_from_the_route() -> None:
    wire = Wire()
    door = gateway(CLAUDE, GPT, wire=wire)
    request = post("/v1/messages", MESSAGES, {"x-api-key": "bad-own-key"})
    assert [ask(door, request)[0].headers["x-legato-route"] for _ in range(2)] == [GPT, GPT]
    assert [host for host, _ in wire.seen] == ["api.anthropic.com", "api.openai.com", "api.openai.com"]
    good = post("/v1/messages", MESSAGES, {"x-api-key": "good-own-key"})
    assert ask(door, good)[0].headers["x-legato-route"] == CLAUDE
    assert ask(door, post("/v1/messages", MESSAGES))[0].headers["x-legato-route"] == CLAUDE


class Spy(MemoryState):
    """Everything that was to be remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Any] = []

    async def remember(self, tenant: str, keys: Any, answer: Any) -> None:
        self.told.append((tenant, list(keys), answer))
        await super().remember(tenant, keys, answer)

    async def keep_response(self, stored: Any) -> None:
        self.told.append(stored)
        await super().keep_response(stored)


@pytest.mark.parametrize("fails", [False, True])
def test_a_key_is_in_no_log_no_report_no_state_and_no_answer(caplog: pytest.LogCaptureFixture, fails: bool) -> None:
    caplog.set_level(logging.DEBUG)
    state, secret = Spy(), f"bad-{SECRET}" if fails else SECRET
    door = gateway("openai-responses/gpt-5", wire=Wire(), state=state)
    request = post("/v1/responses", RESPONSES | {"store": True}, {"authorization": f"Bearer {secret}"})
    response, body = ask(door, request)
    report = door.reports.find(response.headers[REQUEST_HEADER])
    assert report is not None
    assert (report.own_key, bool(state.told)) == (True, not fails)
    shown = [repr(report), msgspec.json.encode(report).decode(), repr(state.told), caplog.text, repr(caplog.records)]
    shown += [body.decode(), str(dict(response.headers)), *(repr(vars(record)) for record in caplog.records)]
    assert not any(SECRET in text for text in shown)


def test_an_answer_is_of_the_account_whose_key_was_used() -> None:
    """So thoughts of one account are not shown to another, which would refuse them."""
    wire = Wire()
    door = gateway("gemini/gemini-2.5-flash", wire=wire)
    for key in ("own-key-one", "own-key-two", "own-key-one", ""):
        ask(door, post(GEMINI, CONTENTS, {"x-goog-api-key": key} if key else {}))
    assert wire.accounts == [
        Key(key).account for key in ("own-key-one", "own-key-two", "own-key-one", "operator-gemini")
    ]


# --- beside keys of the gateway ---

KEEPER = Gatekeeper(keys={digest_of("gateway-key"): "ann"})


@pytest.mark.parametrize(
    ("headers", "arrives"),
    [
        ({"x_legato_key": "gateway-key", "x_api_key": SECRET}, {"x-api-key": SECRET}),
        ({"authorization": "Bearer gateway-key", "x_api_key": SECRET}, {"x-api-key": SECRET}),
        ({"x_api_key": "gateway-key"}, {"x-api-key": "operator-anthropic"}),
        ({"authorization": "Bearer gateway-key"}, {"x-api-key": "operator-anthropic"}),
        ({"x_legato_key": "gateway-key", "x_api_key": "gateway-key"}, {"x-api-key": "operator-anthropic"}),
        ({"x_legato_key": "gateway-key"}, {"x-api-key": "operator-anthropic"}),
    ],
    ids=str,
)
def test_a_key_of_the_gateway_admits_and_is_never_passed_on(headers: dict[str, str], arrives: dict[str, str]) -> None:
    wire = Wire()
    app = GatewayApp(gateway(CLAUDE, wire=wire), keeper=KEEPER)
    assert called(app, "/v1/messages", MESSAGES, **headers).status == 200
    assert wire.seen == [("api.anthropic.com", arrives)]


def test_a_vendors_key_alone_does_not_admit() -> None:
    wire = Wire()
    app = GatewayApp(gateway(CLAUDE, wire=wire), keeper=KEEPER)
    assert called(app, "/v1/messages", MESSAGES, x_api_key=SECRET).status == 401
    assert wire.seen == []
