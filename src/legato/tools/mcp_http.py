"""An MCP server that is reached by URL: an HTTP client that no answer can fill the memory of.

The package `mcp` bounds the events of a stream and reads any other body whole. Here a body that is no stream ends where
it becomes too long, and a compressed one, which could be a thousand times what was sent, is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from legato.tools.mcp_stdio import LONGEST_MESSAGE, Complaints, refuse_message

if TYPE_CHECKING:
    from httpx2 import AsyncClient

_THINKING = 300.0
"""seconds that a server may take before it answers: our choice, a tool may run for minutes"""

_CONNECTING = 30.0
"""seconds for everything else: our choice"""


def bounded_client(headers: Mapping[str, str], complaints: Complaints) -> AsyncClient:
    """A client that sends `headers` with every request, and reads answers of bounded length."""
    import httpx2

    def refusal(why: str) -> httpx2.ReadError:
        complaints.fault = why
        return httpx2.ReadError(why)

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            body = bytearray()  # which whoever asked keeps as well, until it is whole
            async for data in self._stream:
                body += data
                if len(body) > LONGEST_MESSAGE:
                    break
            try:
                refuse_message(bytes(body))
            except ValueError as error:
                raise refusal(str(error)) from None
            yield bytes(body)

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Transport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise refusal("it sent a compressed answer, which was not asked for")
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
                response.stream = Bounded(response.stream)
            return response

    return httpx2.AsyncClient(
        transport=Transport(),
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(_CONNECTING, read=_THINKING),
    )
