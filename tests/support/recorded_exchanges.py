"""What becomes of the requests of real clients: sent to the application, half of them streamed and half not."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from urllib.parse import urlencode

import anyio
from msgspec import Struct

from gateway_clients import FAMILIES, Recorded, recorded, seen_by, simulated_gateway
from legato.gateway.app import GatewayApp
from legato.serving.contract import ConnectionCut
from legato.simulation import SimulatedWorld
from serving import Caller


class Exchanged(Struct, frozen=True, eq=False):
    """What became of a request: the answer, whether the client asked for it as a stream, and what the backend saw."""

    status: int
    body: bytes
    is_whole: bool
    streamed: bool
    world: SimulatedWorld


@cache
def exchanged(request: Recorded, family: str) -> Exchanged:
    """What becomes of a recorded request where a backend of `family` answers.

    Every other one is streamed: each request is, for some of the families, and each family's answers are, for some of
    the requests.
    """
    gateway = simulated_gateway(FAMILIES[family])
    streamed = (recorded().index(request) + list(FAMILIES).index(family)) % 2 == 0
    call = _caller(GatewayApp(gateway), request, streamed=streamed)
    with suppress(ConnectionCut):  # some clients say what makes a simulated provider fail
        anyio.run(call.call)
    return Exchanged(call.status, call.body, call.is_whole, streamed, seen_by(gateway.world))


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
