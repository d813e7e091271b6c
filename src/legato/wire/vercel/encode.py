"""Print units as ModelMessages of the AI SDK.

In:  one unit, how the one before it ended, the voice, and whether this unit's own thinking is kept.
Out: the unit as whole messages. They are not joined with their neighbours: the SDK does what its provider needs, and
     an answer stays recognisable as one.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import Action, Authority, Code, Decision, JsonObject, Media, Text
from legato.transcript.units import Exchange, Said, SaidBlock, Summary, Unit
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.phrases import CONTINUE, INSTRUCTION_MARK, SUMMARY_MARK, media_omitted
from legato.wire.plain import fenced
from legato.wire.vercel.exchange import spell_exchange
from legato.wire.vercel.parts import MEDIA_OMITTED, media_part, projected, text_part, user_message

_TAIL = projected(Action.INSERTED, "tail", "the request may not end on an answer")
_MARKED = projected(Action.CONVERTED, "instruction", "an instruction in the middle became marked text")


def spell(unit: Unit, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """Print one unit."""
    match unit:
        case Exchange():
            return spell_exchange(unit, before, voice, keep_thinking)
        case Said():
            return _said(unit, voice)
        case Summary():
            return Spelled((Group("", (user_message(text_part(SUMMARY_MARK + unit.text)),)),), End.HUMAN)
        case _:
            assert_never(unit)


def tail(end: End, voice: Voice) -> Spelled:
    """A word to go on, where the last message is an answer and the model would not continue it."""
    if end is not End.ANSWER or voice.target.capabilities.prefill:
        return Spelled((), end)
    return Spelled((Group("", (user_message(text_part(CONTINUE)),)),), End.HUMAN, (_TAIL,))


def _said(unit: Said, voice: Voice) -> Spelled:
    decisions: list[Decision] = []
    parts = [_part(block, voice, decisions) for block in unit.blocks]
    message: JsonObject = {"role": "user", "content": parts}
    if unit.authority is Authority.INSTRUCTION:
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if voice.target.capabilities.middle_system and len(texts) == len(parts):
            message = {"role": "system", "content": "\n\n".join(texts)}
        else:  # the content of a system message is a string, with no room for media
            _mark_instruction(parts)
            decisions.append(_MARKED)
    return Spelled((Group("", (message,)),), End.HUMAN, tuple(decisions))


def _part(block: SaidBlock, voice: Voice, decisions: list[Decision]) -> JsonObject:
    match block:
        case Text():
            return text_part(block.text)
        case Code():
            return text_part(fenced(block))
        case Media():
            part = media_part(block, voice.target.capabilities)
            if part is None:
                decisions.append(MEDIA_OMITTED)
                return text_part(media_omitted(block.kind, block.mime))
            return part
        case _:
            assert_never(block)


def _mark_instruction(parts: list[JsonObject]) -> None:
    """Mark the first text, or put the mark before parts that hold none."""
    for index, part in enumerate(parts):
        if part["type"] == "text":
            parts[index] = text_part(INSTRUCTION_MARK + part["text"])
            return
    parts.insert(0, text_part(INSTRUCTION_MARK.strip()))
