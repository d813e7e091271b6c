"""The parts of an entry: a closed, tagged union.

Every block may carry `native`: opaque data (a signature, an encrypted reasoning item) that only the origin of its entry
sees again. It is copied, never rebuilt, merged or moved to another block.

What is recorded is made of values that never contain themselves, so none of it needs the garbage collector (`gc=False`
here and wherever one is made for every block): in a long conversation its rounds would take longer than the work.
"""

from __future__ import annotations

from typing import Annotated, NewType, TypeAlias

from msgspec import Meta, Struct

from legato.model.closures import ClosureReason
from legato.model.enums import FastStrEnum
from legato.model.jsonvalue import Json, JsonObject

CallId = NewType("CallId", str)
"""Our own name for one occurrence of a call: `hist_tool_` and a stem, unique in its log, never a provider's id."""

UNMINTED = CallId("")

MintedId: TypeAlias = Annotated[CallId, Meta(pattern=r"\Ahist_tool_[A-Za-z0-9_-]{1,35}\Z")]
"""A `CallId` as it is given to a block.

Every provider's id is made of it, so a log that is damaged there is refused when it is read, before a provider would
refuse the request. The longest stem fits behind `call_` into the 40 characters of OpenAI's ids.
"""


class _Block(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type", gc=False
):
    native: JsonObject | None = None


class Text(_Block, frozen=True, tag="text"):
    """Visible text."""

    text: str


class Thinking(_Block, frozen=True, tag="thinking"):
    """What the model thought; its signature or its encrypted form, if any, is in `native`."""

    text: str = ""


class CallKind(FastStrEnum):
    """How the arguments of a call are typed."""

    FUNCTION = "function"
    CUSTOM = "custom"
    """The argument is free text, found in `arguments["input"]`."""


class ToolCall(_Block, frozen=True, tag="tool_call"):
    """The model asks for a tool.

    `wire_id` is what the provider called it, kept as it came, empty if there was none. `id` and `ordinal` are minted
    when the call is recorded. `raw` is the argument text as the model wrote it, kept only where it is not the plain
    JSON of `arguments`; `finished` is false where that text breaks off. `adopts` says where a result is that was
    recorded before this call and belongs to it: the name it had, or the call that it was guessed to belong to.
    `namespace` is that of the tool, see `ToolSpec`.
    """

    name: str
    arguments: JsonObject = {}
    wire_id: str = ""
    id: MintedId = UNMINTED
    ordinal: int = -1
    kind: CallKind = CallKind.FUNCTION
    raw: str | None = None
    finished: bool = True
    adopts: MintedId | None = None
    namespace: str = ""


class MediaKind(FastStrEnum):
    """What kind of attachment it is."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    DOCUMENT = "document"


class Media(_Block, frozen=True, tag="media"):
    """An image, a sound, a film or a document: base64 in `data`, or a `url`."""

    kind: MediaKind
    mime: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class ToolResponse(_Block, frozen=True, tag="tool_response"):
    """What came back for a call.

    `call_id` is ours; before it is recorded it may be empty, with the provider's id in `wire_id`. `ordinal` is given
    only to a response whose call was not known when it was recorded, so that the pair can be reconstructed under an
    id of its own. `guessed` marks a response that does not name its call exactly: its id was missing, matched
    nothing, or was written differently. `displaces` is set where the call had been given a guess, or a result that was
    recorded before it, and this response has the better claim: it is where the other one goes, another call or, with
    the `ordinal`, a name of its own. `reason` says that no result exists and why: settled by a scheduler, or, with
    `synthetic`, written by a renderer into a transcript that came back to us.
    """

    call_id: MintedId = UNMINTED
    wire_id: str = ""
    tool_name: str = ""
    result: Json = None
    error: str | None = None
    is_complete: bool | None = None
    media: tuple[Media, ...] = ()
    reason: ClosureReason | None = None
    said: str | None = None
    synthetic: bool = False
    ordinal: int = -1
    guessed: bool = False
    displaces: MintedId | None = None


class Code(_Block, frozen=True, tag="code"):
    """A piece of code, set off from the text around it."""

    code: str
    language: str = ""


class HostedTool(_Block, frozen=True, tag="hosted_tool"):
    """What a provider did by itself. It is never run here and never open; other providers see text.

    With `silent` it is a record that the provider keeps for itself: neither words nor a call nor the result of one (a
    trigger, a list of tools, a sealed compaction). Its own provider gets it back; to others there is nothing to tell.
    """

    name: str
    arguments: JsonObject = {}
    result: Json = None
    wire_id: str = ""
    silent: bool = False


Block: TypeAlias = Text | Thinking | ToolCall | ToolResponse | Media | Code | HostedTool
BLOCKS = frozenset({Text, Thinking, ToolCall, ToolResponse, Media, Code, HostedTool})
