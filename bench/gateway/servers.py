"""Serve one of them until this process is ended; the port is the first line that it prints.

python -m bench.gateway.servers backend
python -m bench.gateway.servers proxy http://127.0.0.1:PORT
python -m bench.gateway.servers gateway http://127.0.0.1:PORT

The backend speaks Anthropic's API and answers at once with what was written down before: it reads no more of a request
than it has to, so that what is measured is whoever stands before it. A request that has `HELD` in it is answered in
small pieces, ten a second, until nobody listens any more. The pauses between them vary, as those of models do: streams
of one rhythm would fall into step, and all pieces would come at once.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import sys

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.cases.clients import ANTHROPIC, Canned
from legato.gateway.app import GatewayApp
from legato.gateway.gateway import Gateway
from legato.request import resolve
from legato.serving.collector import rare_collections
from legato.serving.http_server import HttpServer, listen
from legato.transport import KeyRing
from legato.world import World

HELD = b"HOLD THE LINE"
PAUSE = (0.05, 0.15)
"""seconds between two pieces of an answer that is held, at least and at most"""
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAMED = re.compile(rb'"stream": ?true')
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n%s\r\n\r\n"


# --- the backend ------------------------------------------------------------------------------------------------------


class Backend:
    """Answers every request on a connection, one after the other."""

    def __init__(self, canned: Canned) -> None:
        self._whole = _HEAD % (b"application/json", b"content-length: %d" % len(canned.whole)) + canned.whole
        self._begin = _HEAD % (b"text/event-stream", b"transfer-encoding: chunked")
        self._events = b"".join(map(_chunk, canned.events)) + _chunk(b"")
        place = next(index for index, event in enumerate(canned.events) if b"text_delta" in event)
        self._first = b"".join(map(_chunk, canned.events[: place + 1]))
        self._piece = _chunk(canned.events[place])
        self._random = random.Random(0)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer until the other side hangs up."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                if HELD in body:
                    writer.write(self._begin + self._first)
                    self._hold(writer.transport)
                    continue  # nothing more is asked on it
                writer.write(self._begin + self._events if _STREAMED.search(body) else self._whole)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _hold(self, transport: asyncio.WriteTransport) -> None:
        """Write one piece after the other; a task for each of them would keep other answers waiting."""
        if not transport.is_closing():
            asyncio.get_running_loop().call_later(self._random.uniform(*PAUSE), self._go_on, transport)

    def _go_on(self, transport: asyncio.WriteTransport) -> None:
        transport.write(self._piece)
        self._hold(transport)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve_backend() -> None:
    gc.disable()  # it is no part of what is measured, and must not be heard in it
    backend = Backend(Canned.of(resolve(ANTHROPIC)))
    server = await asyncio.start_server(backend.converse, "127.0.0.1", 0, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# --- who stands before it ---------------------------------------------------------------------------------------------


def proxy(upstream: str) -> Starlette:
    """Forwards requests and answers as they are: what an HTTP stack in Python costs at least."""
    client = httpx2.AsyncClient(base_url=upstream, timeout=60)

    async def forward(request: Request) -> StreamingResponse:
        kind = {"content-type": request.headers["content-type"]}
        onward = client.build_request("POST", request.url.path, content=await request.body(), headers=kind)
        answer = await client.send(onward, stream=True)
        given = {"content-type": answer.headers["content-type"]}
        return StreamingResponse(
            answer.aiter_raw(), answer.status_code, given, background=BackgroundTask(answer.aclose)
        )

    return Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])


def gateway(upstream: str) -> GatewayApp:
    """Legato's, as `legato serve` runs it."""
    world = World(endpoints={"anthropic": upstream}, keys=KeyRing({"anthropic": "none"}, {}))
    return GatewayApp(Gateway(world, ANTHROPIC))


async def serve(kind: str, upstream: str) -> None:
    listener = listen("127.0.0.1", 0)
    print(listener.getsockname()[1], flush=True)
    app = gateway(upstream) if kind == "gateway" else proxy(upstream)
    server = HttpServer(app, listener)
    async with rare_collections(server):  # as the program does
        await server.run()


if __name__ == "__main__":
    kind, *where = sys.argv[1:]
    if kind == "backend":
        asyncio.run(serve_backend())
    else:
        anyio.run(serve, kind, *where)
