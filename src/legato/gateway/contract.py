"""What passes between the stations of the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import StrEnum

import anyio
from msgspec import Struct

from legato.model import Dialect, JsonObject
from legato.transport.contract import WireResponse
from legato.transport.operations import Operation


class CallIdForm(StrEnum):
    """What a client expects the id of a call to look like."""

    ANTHROPIC = "toolu_"
    OPENAI = "call_"
    MISTRAL = ""
    """nine letters and digits, as Mistral's own validator wants them"""


class Door(Struct, frozen=True, kw_only=True):
    """Which API a request speaks, and what it asks for.

    `name` is the model or the response that the path names, `streams` whether the path asks for a stream, `prefix` what
    is in the path before the API's own part: it may name a profile.
    """

    dialect: Dialect
    operation: Operation
    name: str = ""
    streams: bool = False
    prefix: str = ""
    as_array: bool = False
    """whether a stream is one JSON array and not events (Gemini without `alt=sse`)"""
    call_ids: CallIdForm = CallIdForm.OPENAI
    unsplit_calls: bool = False
    """whether the client reads a streamed call only if it comes whole (Mistral's)"""
    joins_usage: bool = False
    """whether the client reads the usage only beside the reason why the answer ended (Mistral's)"""
    is_codex: bool = False
    """whether it is Codex that asks: it looks for an overflow in the stream alone, where others want a status, and
    takes no comment for a sign of life"""


class Delivery(Struct, frozen=True, kw_only=True):
    """How the client wants its answer."""

    door: Door
    model: str
    """the name that was asked for, which the answer carries byte for byte: Claude Code throws away thinking under any
    other"""
    stream: bool
    tenant: str = ""
    asks_thinking: bool = False
    """whether the client expects thinking beside the answer; programs that did not ask read `content[0].text`"""
    own_calls: dict[str, str] = {}
    """tools that the client runs and that are called by items of a type of their own (Codex: its search for tools)"""
    wants_usage: bool = True
    """whether a stream tells the usage: in the chat family only if it is asked for"""
    repeated: JsonObject = {}
    """what the response says again of its request"""


class KeptWaiting(Struct, frozen=True):
    """What becomes of a client whose stream does not begin: after `seconds` its head is given to `begin`.

    Until then a failure is a status. Afterwards the client knows that somebody works for it, and a failure is told in
    the stream.
    """

    seconds: float
    begin: Callable[[WireResponse], Awaitable[None]]
    """sends the head of a response, not its body, and keeps the client waiting with its `keep_alive`"""


async def first_piece(
    pieces: AsyncIterator[bytes], waiting: KeptWaiting | None, head: Callable[[], WireResponse]
) -> bytes:
    """The first of `pieces`, empty if there is none; if that takes long, whoever is `waiting` gets the head before."""
    if waiting is None:
        return await anext(pieces, b"")
    late: list[asyncio.Task[None]] = []

    async def begin() -> None:
        await waiting.begin(head())

    # A timer, which costs nothing where it does not ring, as it hardly ever does; a task for each request would.
    timer = asyncio.get_running_loop().call_later(waiting.seconds, lambda: late.append(asyncio.create_task(begin())))
    try:
        return await anext(pieces, b"")
    finally:
        timer.cancel()
        if late:
            with anyio.CancelScope(shield=True):  # half a head is none
                await late[0]
