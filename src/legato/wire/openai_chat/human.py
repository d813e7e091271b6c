"""The human side of a chat: what people say, instructions, summaries, and the media of tool results.

In:  a `Said` or a `Summary`, and how the unit before it ended.
Out: user and system messages.

A message without media is a plain string, which every server of the family takes; with media it is a list of parts. A
medium that the target cannot take becomes a visible placeholder, at render only, so that it is there again after the
next switch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from legato.model import (
    Action,
    Authority,
    Code,
    Decision,
    Fault,
    JsonObject,
    Media,
    MediaKind,
    Target,
    Text,
)
from legato.transcript.units import Said, SaidBlock, Summary
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.openai_chat.profiles import Profile, profile_of
from legato.wire.openai_chat.prose import Prose
from legato.wire.phrases import ANSWER_BRIDGE, INSTRUCTION_MARK, SUMMARY_MARK, media_omitted
from legato.wire.plain import fenced

Content: TypeAlias = str | list[JsonObject]

OMITTED = Decision(
    Action.CONVERTED, "media-omitted", Fault.PROJECTION, "the target cannot take a medium; a placeholder stands for it"
)
BRIDGED_ANSWER = Decision(
    Action.INSERTED, "bridge", Fault.PROJECTION, "an answer stands between tool results and a human message"
)

_AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def spell_said(unit: Said, before: End, voice: Voice) -> Spelled:
    """One human-side entry as messages."""
    blocks = unit.blocks
    decisions: list[Decision] = []
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        content: Content = blocks[0].text
    else:
        content = spell_blocks(blocks, voice.target, decisions)
    if not content or (isinstance(content, str) and content.isspace()):
        return Spelled((), before, tuple(decisions))
    if unit.authority is Authority.INSTRUCTION:
        if isinstance(content, str) and _may_instruct(before, voice):
            message = {"role": instruction_role(voice.target), "content": content}
            return Spelled((Group("", (message,)),), End.HUMAN, tuple(decisions))
        content = _marked(content)
        decisions.append(
            Decision(
                Action.CONVERTED,
                "instruction-as-text",
                Fault.PROJECTION,
                "an instruction became user text",
            )
        )
    return _from_user(content, before, voice, decisions)


def spell_summary(unit: Summary, before: End, voice: Voice) -> Spelled:
    """What stands for covered units, as a user message."""
    return _from_user(SUMMARY_MARK + unit.text, before, voice, [])


def instruction_role(target: Target) -> str:
    """The role of a message that instructs the model."""
    return "developer" if target.capabilities.developer_role and profile_of(target).developer else "system"


def spell_blocks(blocks: Iterable[SaidBlock], target: Target, decisions: list[Decision]) -> Content:
    """The content of a user message; what had to be left out is added to `decisions`."""
    profile = profile_of(target)
    prose = Prose()
    parts: list[JsonObject] = []
    for block in blocks:
        match block:
            case Text():
                prose.add(block.text)
            case Code():
                prose.add_apart(fenced(block))
            case Media():
                part = media_part(block, target, profile)
                if part is None:
                    prose.add_apart(media_omitted(block.kind, block.mime))
                    decisions.append(OMITTED)
                else:
                    _flush(prose, parts)
                    parts.append(part)
            case _:
                assert_never(block)
    if not parts:
        return prose.take()
    _flush(prose, parts)
    return parts


def media_part(media: Media, target: Target, profile: Profile) -> JsonObject | None:
    """`media` as a part of a user message; None where the target cannot take it."""
    capabilities = target.capabilities
    match media.kind:
        case MediaKind.IMAGE:
            address = _address(media)
            if capabilities.images and address is not None:
                return {"type": "image_url", "image_url": {"url": address}}
        case MediaKind.DOCUMENT:
            if capabilities.documents:
                return _document(media, profile)
        case MediaKind.AUDIO:
            form = _AUDIO_FORMATS.get(media.mime)
            if capabilities.audio and media.data is not None and form is not None:
                return {
                    "type": "input_audio",
                    "input_audio": media.data if profile.plain_audio else {"data": media.data, "format": form},
                }
        case MediaKind.VIDEO:
            pass
        case _:
            assert_never(media.kind)
    return None


def _document(media: Media, profile: Profile) -> JsonObject | None:
    address = _address(media)
    if profile.document_urls:
        return None if address is None else {"type": "document_url", "document_url": address}
    if media.data is None:
        return None
    return {"type": "file", "file": {"filename": media.name or "document.pdf", "file_data": address}}


def _address(media: Media) -> str | None:
    return media.url if media.data is None else f"data:{media.mime};base64,{media.data}"


def _flush(prose: Prose, parts: list[JsonObject]) -> None:
    text = prose.take()
    if text:
        parts.append({"type": "text", "text": text})


def _may_instruct(before: End, voice: Voice) -> bool:
    if not voice.target.capabilities.middle_system:
        return False
    return profile_of(voice.target).system_after_answer or before is End.START or before is End.HUMAN


def _marked(content: Content) -> Content:
    if isinstance(content, str):
        return INSTRUCTION_MARK + content
    return [{"type": "text", "text": INSTRUCTION_MARK}, *content]


def _from_user(content: Content, before: End, voice: Voice, decisions: list[Decision]) -> Spelled:
    message: JsonObject = {"role": "user", "content": content}
    if before is End.RESULTS and not voice.target.capabilities.user_after_tool:
        bridge: JsonObject = {"role": "assistant", "content": ANSWER_BRIDGE}
        return Spelled((Group("", (bridge, message)),), End.HUMAN, (BRIDGED_ANSWER, *decisions))
    return Spelled((Group("", (message,)),), End.HUMAN, tuple(decisions))
