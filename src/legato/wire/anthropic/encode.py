"""Print units as messages of the Messages API.

In:  one unit, how the one before it ended, and the voice of the target.
Out: groups of content blocks under the roles `user` and `assistant`; the assembler joins neighbours of one role.

An exchange is an assistant group and a user group that begins with all its results. The API wants the human first and
no two answers in a row; what is inserted, moved or left out for that is a decision.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import Action, Authority, Code, Decision, Fault, JsonObject, Media, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit, completion_text
from legato.wire.anthropic.answer import PrintedAnswer, continues_answers
from legato.wire.anthropic.blocks import Aside, omission, result_block, text_block
from legato.wire.anthropic.media import media_block
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.phrases import (
    CONTINUE,
    EMBEDDED_RESULT,
    EMPTY_RESULT,
    HUMAN_BRIDGE,
    INSTRUCTION_MARK,
    MEDIA_CAPTION,
    SUMMARY_MARK,
    media_omitted,
)
from legato.wire.plain import fenced

_INSTRUCTION = Authority.INSTRUCTION
_START, _HUMAN, _ANSWER, _RESULTS = End
_BRIDGE = Group("user", (text_block(HUMAN_BRIDGE),))
_BRIDGED = Decision(Action.INSERTED, "bridge", Fault.PROJECTION, "a human message must stand before this answer")
_TAIL = Spelled(
    (Group("user", (text_block(CONTINUE),)),),
    _HUMAN,
    (Decision(Action.INSERTED, "tail", Fault.PROJECTION, "the request may not end on an answer"),),
)


def spell(unit: Unit, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """Print one unit."""
    if isinstance(unit, Exchange):
        if unit.completions and not voice.target.capabilities.native_tool_history:
            return _embed(unit, before, voice, keep_thinking)
        return _spell_exchange(unit, before, voice, keep_thinking)
    if isinstance(unit, Said):
        return _spell_said(unit, voice)
    return Spelled((Group("user", (text_block(SUMMARY_MARK + unit.text),)),), _HUMAN)


def tail(end: End, voice: Voice) -> Spelled:
    """A last word from the human side, unless the target continues an answer that stands at the end."""
    if end is not _ANSWER or continues_answers(voice.target):
        return Spelled((), end)
    return _TAIL


def _spell_said(unit: Said, voice: Voice) -> Spelled:
    # A system message in the middle must be last or stand before an answer. What follows is not known here, so an
    # instruction is always marked text.
    mark = INSTRUCTION_MARK if unit.authority is _INSTRUCTION else ""
    if len(unit.blocks) == 1 and type(text := unit.blocks[0]) is Text:
        return Spelled((Group("user", ({"type": "text", "text": mark + text.text},)),), _HUMAN)
    blocks: list[JsonObject] = []
    decisions: list[Decision] = []
    for block in unit.blocks:
        match block:
            case Text():
                blocks.append({"type": "text", "text": mark + block.text})
            case Code():
                blocks.append(text_block(mark + fenced(block)))
            case Media():
                blocks.append(_print_media(block, voice, decisions))
            case _:
                assert_never(block)
    return Spelled((Group("user", tuple(blocks)),), _HUMAN, tuple(decisions))


def _spell_exchange(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    capabilities = voice.target.capabilities
    answer = PrintedAnswer(unit, before, voice, keep_thinking)
    lead, decisions = answer.lead, answer.decisions
    if not lead and not answer.calls:
        return Spelled((), before, tuple(decisions))
    groups: list[Group] = []
    if before is _START or before is _ANSWER:
        groups.append(_BRIDGE)
        decisions.append(_BRIDGED)
    if not unit.completions:
        groups.append(Group("assistant", tuple(lead)))
        return Spelled(tuple(groups), _ANSWER, tuple(decisions))
    if not capabilities.text_beside_calls and any(block["type"] == "text" for block in lead):
        answer.separate_calls()
        groups += (Group("assistant", tuple(answer.lead)), _BRIDGE)
        decisions.append(_BRIDGED)
        lead = []
    aside = Aside([], decisions)
    pairs = zip(unit.calls, unit.completions, strict=True)
    results = [result_block(call, completion, voice, aside) for call, completion in pairs]
    if len(results) <= capabilities.max_calls:
        groups += (Group("assistant", (*lead, *answer.calls)), Group("user", (*results, *aside.moved)))
    else:
        groups += _split(unit, answer, lead, results, capabilities.max_calls)
        if aside.moved:
            groups.append(Group("user", tuple(aside.moved)))
    return Spelled(tuple(groups), _RESULTS, tuple(decisions))


def _split(
    unit: Exchange, answer: PrintedAnswer, lead: list[JsonObject], results: list[JsonObject], most: int
) -> list[Group]:
    """Several messages of calls, each followed by its results; what led to them stays with the first."""
    answer.separate_calls()
    groups: list[Group] = []
    for start in range(0, len(results), most):
        groups.append(Group("assistant", (*(lead if start == 0 else ()), *answer.calls[start : start + most])))
        groups.append(Group("user", tuple(results[start : start + most])))
    ids = tuple(call.id for call in unit.calls)
    detail = f"no more than {most} in a message"
    answer.decisions.append(Decision(Action.CONVERTED, "calls-split", Fault.PROJECTION, detail, ids))
    return groups


def _embed(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """For a target that takes no tool history: the answer without its calls, the results as the human's words."""
    rest = Exchange(unit.key, tuple(block for block in unit.blocks if type(block) is not ToolCall), (), unit.origin)
    told = _spell_exchange(rest, before, voice, keep_thinking)
    blocks: list[JsonObject] = []
    decisions = list(told.decisions)
    for call, completion in zip(unit.calls, unit.completions, strict=True):
        text = completion_text(completion)
        blocks.append(text_block(EMBEDDED_RESULT + (text if text.strip() else EMPTY_RESULT)))
        if completion.media:
            blocks.append(text_block(MEDIA_CAPTION.format(tool=call.name)))
            blocks += [_print_media(media, voice, decisions) for media in completion.media]
    ids = tuple(call.id for call in unit.calls)
    decisions.append(Decision(Action.CONVERTED, "text-embed", Fault.PROJECTION, "calls are left out", ids))
    return Spelled((*told.groups, Group("user", tuple(blocks))), _HUMAN, tuple(decisions))


def _print_media(media: Media, voice: Voice, decisions: list[Decision]) -> JsonObject:
    printed = media_block(media, voice.target.capabilities)
    if printed is None:
        decisions.append(omission(media))
        return text_block(media_omitted(media.kind, media.mime))
    return printed
