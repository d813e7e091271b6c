"""Single parts as this dialect prints them.

In:  a block or a completion, and what the target accepts.
Out: the part that stands for it.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.model import (
    Action,
    Capabilities,
    Decision,
    Fault,
    Json,
    JsonObject,
    Media,
    MediaKind,
    ToolCall,
)
from legato.transcript.units import Completion, CompletionKind, completion_text
from legato.wire.contract import Voice
from legato.wire.gemini.media import media_part
from legato.wire.phrases import EMPTY_RESULT, MEDIA_CAPTION, MEDIA_FOLLOWS, media_omitted


class Aside(NamedTuple):
    """What printing responses yields beside them: media that follow after all responses, and decisions."""

    moved: list[JsonObject]
    decisions: list[Decision]


def response_part(call: ToolCall, completion: Completion, voice: Voice, aside: Aside) -> JsonObject:
    """The end of a call: `result` or `error` under a fixed key, a JSON value where the tool gave one."""
    capabilities = voice.target.capabilities
    failed = completion.kind is not CompletionKind.SUCCESS
    inside: list[JsonObject] = []
    told: list[str] = []
    if completion.media:
        inside, told = _print_media(call, completion, capabilities, aside)
    value: Json = completion.result
    if failed or told or value is None or completion.shortened is not None or completion.ran_with is not None:
        value = completion_text(completion)
    if told:
        value = "\n".join([value, *told] if value else told)
    if not value or (type(value) is str and value.isspace()):
        value = _empty(call, value, not inside and (failed or not capabilities.empty_text), aside)
    printed: JsonObject = {
        "name": voice.names.project(call.name),
        "response": {"error" if failed else "result": value},
    }
    if capabilities.call_ids:
        printed["id"] = voice.ids[call.id]
    if inside:
        printed["parts"] = inside
    return {"functionResponse": printed}


def omission(media: Media) -> Decision:
    """The decision that a medium is only named."""
    return Decision(Action.CONVERTED, "media-omitted", Fault.PROJECTION, f"{media.kind} ({media.mime})")


def _empty(call: ToolCall, value: Json, is_refused: bool, aside: Aside) -> Json:
    """Words for an empty text where that is refused; other values that count as false are values."""
    if not is_refused or type(value) is not str:
        return value
    detail = "the result is empty"
    aside.decisions.append(Decision(Action.INSERTED, "empty-result", Fault.PROJECTION, detail, (call.id,)))
    return EMPTY_RESULT


def _print_media(
    call: ToolCall, completion: Completion, capabilities: Capabilities, aside: Aside
) -> tuple[list[JsonObject], list[str]]:
    """The media that stand inside a response, and the words about the others."""
    inside: list[JsonObject] = []
    moved: list[JsonObject] = []
    told: list[str] = []
    for media in completion.media:
        part = media_part(media, capabilities)
        if part is None:
            told.append(media_omitted(media.kind, media.mime))
            aside.decisions.append(omission(media))
        elif capabilities.result_images and media.kind is MediaKind.IMAGE:
            inside.append(part)
        else:
            moved.append(part)
    if moved:
        told.append(MEDIA_FOLLOWS)
        aside.moved.append({"text": MEDIA_CAPTION.format(tool=call.name)})
        aside.moved.extend(moved)
        detail = "they follow after the responses"
        aside.decisions.append(Decision(Action.CONVERTED, "media-moved", Fault.PROJECTION, detail, (call.id,)))
    return inside, told
