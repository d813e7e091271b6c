"""What a browser wants to hear before a web page may read an answer (CORS), for the pages that the operator admits.

    preflight     the question that a browser asks before the request itself, which has no key in it: its answer
    readable_by   what every answer has to say, a refusal as well: without it the page learns nothing but that it failed

Who may ask is decided by the gatekeeper; a browser that hears nothing of this keeps the answer from its page.
https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from legato.gateway.gatekeeper import Gatekeeper
from legato.transport.contract import Ask

_METHODS = "GET, POST, DELETE"
_MAX_AGE = 7_200
"""seconds for which a browser need not ask again: our choice, the most that Chromium takes"""


def preflight(ask: Ask, keeper: Gatekeeper) -> dict[str, str] | None:
    """The headers that allow a page what its browser asks for; None if that is no such question, or not to be allowed.

    Headers are allowed as they are named: `*` would not stand for `Authorization`.
    """
    method = ask.headers.get("access-control-request-method")
    if ask.method != "OPTIONS" or method is None or not keeper.admits_page(ask):
        return None
    headers = {
        "access-control-allow-methods": _METHODS,
        "access-control-allow-headers": ask.headers.get("access-control-request-headers") or "*",
        "access-control-max-age": str(_MAX_AGE),
    }
    if ask.headers.get("access-control-request-private-network") == "true":
        # A page on the network that asks this machine: https://wicg.github.io/private-network-access/
        headers["access-control-allow-private-network"] = "true"
    return headers


def readable_by(ask: Ask, keeper: Gatekeeper, send: Send) -> Send:
    """`send`, whose responses the page that asks may read, if it is one of those that may ask."""
    if not keeper.origins:
        return send
    told = {"vary": "Origin"}  # also for others: a cache must not give their answer to a page
    if keeper.admits_page(ask):
        told["access-control-allow-origin"] = ask.headers["origin"]
        told["access-control-expose-headers"] = "*"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(told)
        await send(message)

    return sending
