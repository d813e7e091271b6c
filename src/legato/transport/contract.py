"""The seam between what is said and how it travels.

A transport has one method, so a provider that lives in this process is a small class: it takes a `WireRequest` and
gives back a `WireResponse` without a socket. What a transport raises is already typed: `Unreachable`, `TimedOut`, and
`BadAnswer` for a body that breaks off; the status and the body are judged elsewhere, alike for all of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Protocol, TypeAlias

from msgspec import Meta, Struct

from legato.transport.outgoing import WireRequest
from legato.wire.bounds import Bounds

Seconds: TypeAlias = Annotated[float, Meta(gt=0)]


async def _nothing_to_close() -> None:
    return


class Timeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """How long to wait, in seconds; None waits forever.

    The defaults are our choice: no provider says how long it may be silent. The clients of OpenAI and Anthropic allow 5
    seconds to connect and 600 for everything else
    (https://github.com/openai/openai-python/blob/main/src/openai/_constants.py).
    """

    connect: Seconds | None = 15.0
    """until there is a connection: longer than those clients allow, for proxies and slow networks"""
    first_byte: Seconds | None = 300.0
    """from the moment of sending to the first byte of the body: a response whose headers come at once and whose body
    never begins is as slow as one that never comes. For an answer that is not streamed it covers all of the model's
    work"""
    between_chunks: Seconds | None = 120.0
    """the longest silence. A server that thinks for longer shows that it lives: Anthropic with `ping` events
    (https://platform.claude.com/docs/en/build-with-claude/streaming), OpenRouter with comments
    (https://openrouter.ai/docs/api_reference/streaming)"""
    between_deltas: Seconds | None = 900.0
    """the longest time in which nothing comes but signs of life: a model that hides its thinking shows nothing else
    meanwhile"""
    whole: Seconds | None = 7200.0
    """for any answer, whatever comes"""


class WireResponse(Struct, frozen=True):
    """The beginning of a response: its status and headers (names in lower case), and its body as it arrives.

    `close` gives back what the response holds, also when the body was not read to its end; twice does no harm.
    `timeouts` and `bounds` are those of the transport: how long the answer may take as a whole, and how large it may
    become, is judged by the reader.
    """

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]] = _nothing_to_close
    timeouts: Timeouts = Timeouts()
    bounds: Bounds = Bounds()
    keep_alive: bytes = b""
    """what may be sent between two chunks while nothing comes, and its reader passes over; empty if nothing is known"""


class Ask(Struct, frozen=True, kw_only=True):
    """One request as a server gets it. Names of headers are in lower case; `path` is without the query."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    query: dict[str, str] = {}


class Transport(Protocol):
    """Whatever carries a request to a provider that answers."""

    async def send(self, request: WireRequest) -> WireResponse:
        """Send `request` and wait for the beginning of the response; raises `ProviderError` if there is none."""
        ...


def whole_response(
    status: int, body: bytes | Iterable[bytes], headers: Mapping[str, str] | None = None
) -> WireResponse:
    """A response whose body is already here, whole or in pieces: for simulated providers and for tests."""
    pieces = [body] if isinstance(body, bytes) else body
    named = {name.lower(): value for name, value in (headers or {}).items()}
    return WireResponse(status, {"content-type": "application/json", **named}, _each(pieces))


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
