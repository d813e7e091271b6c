"""Single blocks as this dialect prints them.

In:  a block or a completion, and what the target accepts.
Out: the object that stands for it, or None where the target cannot take it.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.model import (
    Action,
    Capabilities,
    Decision,
    Fault,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Text,
    Thinking,
    ToolCall,
)
from legato.transcript.units import Completion, CompletionKind, completion_text
from legato.wire.anthropic.hosted import is_result, is_use
from legato.wire.anthropic.media import media_block
from legato.wire.contract import Voice
from legato.wire.phrases import EMPTY_RESULT, MEDIA_CAPTION, MEDIA_FOLLOWS, media_omitted

_SUCCESS = CompletionKind.SUCCESS


class Aside(NamedTuple):
    """What printing results yields beside them: media that follow after all results, and decisions."""

    moved: list[JsonObject]
    decisions: list[Decision]


def text_block(text: str) -> JsonObject:
    """Plain text."""
    return {"type": "text", "text": text}


def own_text_block(block: Text) -> JsonObject:
    """Text at home: with its citations, whose encrypted indices the API wants back."""
    citations = (block.native or {}).get("citations")
    if not citations:
        return text_block(block.text)
    # `file_id` is the one field of a citation that answers have and requests may not.
    accepted = [{key: value for key, value in citation.items() if key != "file_id"} for citation in citations]
    return {"type": "text", "text": block.text, "citations": accepted}


def thinking_block(block: Thinking) -> JsonObject | None:
    """A signed or encrypted thought as it came; None for one that carries neither."""
    native = block.native or {}
    if data := native.get("data"):
        return {"type": "redacted_thinking", "data": data}
    if signature := native.get("signature"):
        return {"type": "thinking", "thinking": block.text, "signature": signature}
    return None


def hosted_blocks(block: HostedTool, *, may_wait: bool, may_end: bool) -> list[JsonObject] | None:
    """A call that the provider ran, as it came; None where it can only be told as text.

    The API takes a use without its result only while it waits for the results of our own tools (`may_wait`), and a
    result without its use only directly after them (`may_end`).
    """
    blocks: list[JsonObject] = (block.native or {}).get("blocks") or []
    used = {str(item.get("id")) for item in blocks if is_use(item)}
    answered = {str(item.get("tool_use_id")) for item in blocks if is_result(item)}
    if not blocks or (used - answered and not may_wait) or (answered - used and not may_end):
        return None
    return blocks


def result_block(call: ToolCall, completion: Completion, voice: Voice, aside: Aside) -> JsonObject:
    """The end of a call. Media stand inside it where the target looks for them there, else they follow."""
    capabilities = voice.target.capabilities
    text = completion_text(completion)
    inside: list[JsonObject] = []
    if completion.media:
        text, inside = _print_media(call, completion, text, capabilities, aside)
    failed = completion.kind is not _SUCCESS
    if (not text or text.isspace()) and not inside and (failed or not capabilities.empty_text):
        text = EMPTY_RESULT
        detail = "the result is empty"
        aside.decisions.append(Decision(Action.INSERTED, "empty-result", Fault.PROJECTION, detail, (call.id,)))
    printed: JsonObject = {"type": "tool_result", "tool_use_id": voice.ids[call.id], "content": text}
    if inside:
        printed["content"] = [text_block(text), *inside] if text.strip() else inside
    if failed:
        printed["is_error"] = True
    return printed


def _print_media(
    call: ToolCall, completion: Completion, text: str, capabilities: Capabilities, aside: Aside
) -> tuple[str, list[JsonObject]]:
    """The text of a result with words about its media, and the media that stand inside it."""
    inside: list[JsonObject] = []
    moved: list[JsonObject] = []
    for media in completion.media:
        block = media_block(media, capabilities)
        if block is None:
            text = _joined(text, media_omitted(media.kind, media.mime))
            aside.decisions.append(omission(media))
        elif capabilities.result_images and media.kind is MediaKind.IMAGE:
            inside.append(block)
        else:
            moved.append(block)
    if moved:
        text = _joined(text, MEDIA_FOLLOWS)
        aside.moved.append(text_block(MEDIA_CAPTION.format(tool=call.name)))
        aside.moved.extend(moved)
        detail = "they follow after the results"
        aside.decisions.append(Decision(Action.CONVERTED, "media-moved", Fault.PROJECTION, detail, (call.id,)))
    return text, inside


def omission(media: Media) -> Decision:
    """The decision that a medium is only named."""
    return Decision(Action.CONVERTED, "media-omitted", Fault.PROJECTION, f"{media.kind} ({media.mime})")


def _joined(text: str, line: str) -> str:
    return f"{text}\n{line}" if text else line
