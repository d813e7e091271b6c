"""Web pages that may ask, and what their browsers are told."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from gateway_clients import simulated_gateway
from legato.gateway.app import AppLimits, GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, digest_of, origin_of
from legato.gateway.gateway import Gateway
from legato.gateway.uploads import UploadLimits
from legato.transport.contract import Ask, WireResponse
from serving import HELLO, Caller, called

CLAUDE = "anthropic/claude-sonnet-4-5"
PAGE = "https://chat.example"
ADMITTING = Gatekeeper(origins=frozenset({PAGE}))
ASKED_BEFORE = {
    "origin": PAGE,
    "access_control_request_method": "POST",
    "access_control_request_headers": "authorization,content-type,x-stainless-os",
}


def app(**options: Any) -> GatewayApp:
    return GatewayApp(simulated_gateway(CLAUDE), **options)


def cors_of(answer: Caller) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_a_browser_that_asks_first_hears_what_its_page_may_do() -> None:
    served: list[Served] = []
    answer = called(app(keeper=ADMITTING, finished=served.append), "/v1/messages", method="OPTIONS", **ASKED_BEFORE)
    assert (answer.status, answer.body, answer.headers["vary"], served) == (204, b"", "Origin", [])
    assert cors_of(answer) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": ASKED_BEFORE["access_control_request_headers"],
        "access-control-max-age": "7200",
        "access-control-expose-headers": "*",
    }


def test_a_browser_asks_first_without_a_key_and_its_page_asks_with_one() -> None:
    keyed = app(keeper=Gatekeeper(keys={digest_of("key-of-ann"): "ann"}, origins=ADMITTING.origins))
    assert called(keyed, "/v1/messages", method="OPTIONS", **ASKED_BEFORE).status == 204
    answer = called(keyed, "/v1/messages", HELLO, origin=PAGE)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (401, PAGE)
    assert called(keyed, "/v1/messages", HELLO, origin=PAGE, x_api_key="key-of-ann").status == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 403),  # a name that leads here, also for a page that may ask
    ],
    ids=str,
)
def test_a_page_that_may_not_ask_hears_nothing_that_its_browser_would_take_for_leave(
    changes: dict[str, str], status: int
) -> None:
    for path, body, method in (("/v1/messages", HELLO, "POST"), ("/v1/messages", None, "OPTIONS")):
        answer = called(app(keeper=ADMITTING), path, body, method=method, **ASKED_BEFORE | changes)
        assert (answer.status, cors_of(answer), answer.headers["vary"]) == (status, {}, "Origin")


def test_without_pages_that_may_ask_nothing_is_said_to_browsers() -> None:
    assert called(app(), "/v1/messages", method="OPTIONS", **ASKED_BEFORE).status == 403
    answer = called(app(), "/v1/messages", HELLO)
    assert (answer.status, cors_of(answer), "vary" in answer.headers) == (200, {}, False)
    assert called(app(keeper=ADMITTING), "/v1/messages", method="OPTIONS").status == 405


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/messages", HELLO, 200),
        ("/v1/messages", HELLO | {"stream": True}, 200),
        ("/v1/messages", b"{", 400),
        ("/v1/messages", b"x" * 2_000, 413),
        ("/v1/nowhere", HELLO, 404),
        ("/healthz", None, 200),
        ("/legato/requests/req_unknown", None, 404),
    ],
    ids=str,
)
def test_a_page_that_may_ask_can_read_whatever_is_answered(path: str, body: Any, status: int) -> None:
    limits = AppLimits(uploads=UploadLimits(body=1_000))
    answer = called(app(keeper=ADMITTING, limits=limits), path, body, origin=PAGE)
    told = {"access-control-allow-origin": PAGE, "access-control-expose-headers": "*"}
    assert (answer.status, cors_of(answer), answer.headers["vary"]) == (status, told, "Origin")


def test_a_page_can_read_of_what_should_not_happen_as_well() -> None:
    class Broken(Gateway):
        async def answer(self, ask: Ask, **_: Any) -> WireResponse:
            raise ZeroDivisionError

    broken = GatewayApp(Broken(simulated_gateway(CLAUDE).world, CLAUDE), keeper=ADMITTING)
    call = Caller(broken, "/v1/messages", HELLO, origin=PAGE)
    with pytest.raises(ExceptionGroup):
        anyio.run(call.call)
    assert (call.status, call.headers["access-control-allow-origin"]) == (500, PAGE)


def test_a_page_on_the_network_may_ask_this_machine_if_it_was_admitted() -> None:
    asked = ASKED_BEFORE | {"access_control_request_private_network": "true"}
    answer = called(app(keeper=ADMITTING), "/v1/messages", method="OPTIONS", **asked)
    assert answer.headers["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize(
    ("page", "origin"),
    [
        ("https://chat.example", "https://chat.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("app://obsidian.md", "app://obsidian.md"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("https://Chat.example:443/new?a=b", "https://chat.example"),
        ("https://chat.example/", "https://chat.example"),
        ("chat.example", ""),
        ("*", ""),
        ("https://*.example", ""),
        ("null", ""),
        ("https://chat.example:99999", ""),
        ("https://ann:secret@chat.example", ""),
    ],
)
def test_a_page_is_called_what_its_browser_calls_it(page: str, origin: str) -> None:
    assert origin_of(page) == origin
