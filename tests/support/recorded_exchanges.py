"""What becomes of the requests of real clients that are sent to the application, streamed or not."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from urllib.parse import urlencode

import anyio
from msgspec import Struct

from gateway_clients import FAMILIES, Recorded, seen_by, simulated_gateway
from legato.gateway.app import GatewayApp
from legato.serving.contract import ConnectionCut
from legato.simulation import SimulatedWorld
from serving import Caller


class Exchanged(Struct, frozen=True, eq=False):
    """What became of a request: the answer, and what the backend saw."""

    status: int
    body: bytes
    is_whole: bool
    world: SimulatedWorld


@cache
def exchanged(request: Recorded, family: str, *, streamed: bool) -> Exchanged:
    """What becomes of a recorded request where a backend of `family` answers."""
    gateway = simulated_gateway(FAMILIES[family])
    call = _caller(GatewayApp(gateway), request, streamed=streamed)
    with suppress(ConnectionCut):  # some clients say what makes a simulated provider fail
        anyio.run(call.call)
    return Exchanged(call.status, call.body, call.is_whole, seen_by(gateway.world))


def _caller(app: GatewayApp, request: Recorded, *, streamed: bool) -> Caller:
    ask, body = request.ask, request.body
    path, query = ask.path, dict(ask.query)
    if request.surface == "gemini":
        model = path.rpartition(":")[0]
        path, query = (
            (f"{model}:streamGenerateContent", {"alt": "sse"}) if streamed else (f"{model}:generateContent", {})
        )
    elif streamed is not (body.get("stream") is True):
        body["stream"] = streamed
        if not streamed:
            body.pop("stream_options", None)
    headers = {name.replace("_", "-"): value for name, value in ask.headers.items()}
    return Caller(app, f"{path}?{urlencode(query)}", json.dumps(body).encode(), **headers)
