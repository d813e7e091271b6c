"""What passes between the stations of the gateway."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from legato.model import Dialect
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
    fails_in_stream: bool = False
    """whether the client looks for an overflow in the stream alone (Codex); others want a status"""


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
