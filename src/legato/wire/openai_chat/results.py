"""What came back for a call, as the text of a tool message, and such a text read back.

In:  a call and its completion.
Out: the text, and the parts (a caption, then media) that have to follow in a user message behind all results of the
     exchange, because a tool message carries text only: an image in it is refused, or accepted and not seen.

Both directions stand here so that no mark is written that is not recognised again.
"""

from __future__ import annotations

import msgspec

from legato.model import (
    CLOSURE_TEXTS,
    UNMINTED,
    Action,
    Block,
    Decision,
    Fault,
    JsonObject,
    Media,
    ToolCall,
    ToolResponse,
)
from legato.transcript.units import Completion, completion_text
from legato.wire.closures import read_closure
from legato.wire.contract import Voice
from legato.wire.openai_chat.human import OMITTED, media_part
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.openai_chat.prose import ERROR_MARK
from legato.wire.phrases import EMPTY_RESULT, MEDIA_CAPTION, MEDIA_FOLLOWS, media_omitted

RESULT_OPENINGS = frozenset(mark[0] for mark in (*CLOSURE_TEXTS.values(), ERROR_MARK, EMPTY_RESULT))
"""what a result begins with in which there may be something of ours"""
_CAPTION_START, _CAPTION_END = MEDIA_CAPTION.split("{tool}")


def spell_result(
    call: ToolCall, completion: Completion, voice: Voice, decisions: list[Decision]
) -> tuple[str, list[JsonObject]]:
    """The text that answers `call`, and the parts that must follow it."""
    text = completion_text(completion)
    # A closure already says that there is no result, and stays as it is so that a reader recognises it.
    is_marked = completion.is_error and (completion.reason is None or completion.shortened is not None)
    following: list[JsonObject] = []
    if completion.media:
        text, following = _with_media(text, call, completion, voice, decisions)
    if (not text or text.isspace()) and (is_marked or not voice.target.capabilities.empty_text):
        text = EMPTY_RESULT
        decisions.append(
            Decision(Action.INSERTED, "empty-result", Fault.PROJECTION, "a text stands for an empty result", (call.id,))
        )
    return (ERROR_MARK + text if is_marked else text), following


def _with_media(
    text: str, call: ToolCall, completion: Completion, voice: Voice, decisions: list[Decision]
) -> tuple[str, list[JsonObject]]:
    profile = profile_of(voice.target)
    parts: list[JsonObject] = []
    lines = [text] if text else []
    for media in completion.media:
        part = media_part(media, voice.target, profile)
        if part is None:
            lines.append(media_omitted(media.kind, media.mime))
            decisions.append(OMITTED)
        else:
            parts.append(part)
    if parts:
        lines.append(MEDIA_FOLLOWS)
        parts.insert(0, {"type": "text", "text": MEDIA_CAPTION.format(tool=voice.names.project(call.name))})
        decisions.append(
            Decision(
                Action.CONVERTED, "media-moved", Fault.PROJECTION, "media of a result follow behind it", (call.id,)
            )
        )
    return "\n".join(lines), parts


# --- and back ---------------------------------------------------------------------------------------------------------


def read_result(text: str, wire_id: str, tool_name: str, media: tuple[Media, ...] = ()) -> ToolResponse:
    """The response in the text of a tool message."""
    if text[:1] not in RESULT_OPENINGS:  # no mark of ours begins so: the text is what came back
        return ToolResponse(UNMINTED, wire_id, tool_name, text, None, True, media)  # it is complete
    closure = read_closure(text, wire_id=wire_id, tool_name=tool_name)
    if closure is not None:
        return closure
    result, error = text, None
    if text.startswith(ERROR_MARK):
        result, error = None, _unless_empty(text.removeprefix(ERROR_MARK))
    return ToolResponse(
        wire_id=wire_id,
        tool_name=tool_name,
        result=None if result is None else _unless_empty(result),
        error=error,
        is_complete=True,
        media=media,
    )


def _unless_empty(text: str) -> str:
    return "" if text == EMPTY_RESULT else text


def awaits_media(block: Block) -> bool:
    """Whether `block` is a result whose media were moved behind it."""
    if not isinstance(block, ToolResponse):
        return False
    text = block.result if block.error is None else block.error
    return isinstance(text, str) and text.endswith(MEDIA_FOLLOWS)


def give_back_media(response: ToolResponse, media: list[Media]) -> ToolResponse:
    """`response` with its media, and without the line that announced them."""
    if response.error is not None:
        error = response.error.removesuffix(MEDIA_FOLLOWS).removesuffix("\n")
        return msgspec.structs.replace(response, error=error, media=tuple(media))
    result = str(response.result).removesuffix(MEDIA_FOLLOWS).removesuffix("\n")
    return msgspec.structs.replace(response, result=result, media=tuple(media))


def is_caption(text: str) -> bool:
    """Whether `text` stands before moved media."""
    return text.startswith(_CAPTION_START) and text.endswith(_CAPTION_END)
