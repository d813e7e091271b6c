"""Print units as contents of `generateContent`.

In:  one unit, how the one before it ended, and the voice of the target.
Out: whole contents. They are not joined: responses stand alone in their content, and the API takes two user contents
in a row. It does not take two model contents in a row, so a later answer begins with a bridge.

The first call of a content needs a signature where the target demands one; a call that the target did not make gets
the documented placeholder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from legato.model import Action, Authority, Code, Decision, Fault, JsonObject, Media, Text, ToolCall
from legato.transcript.units import Exchange, Said, Summary, Unit, completion_text
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.gemini.answer import PrintedAnswer
from legato.wire.gemini.media import media_part
from legato.wire.gemini.parts import Aside, omission, response_part
from legato.wire.gemini.signatures import PLACEHOLDER, unsigned
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


def _user(*parts: JsonObject) -> JsonObject:
    return {"role": "user", "parts": list(parts)}


def _model(parts: Sequence[JsonObject]) -> JsonObject:
    return {"role": "model", "parts": list(parts)}


_BRIDGE = _user({"text": HUMAN_BRIDGE})
_BRIDGED = Decision(Action.INSERTED, "bridge", Fault.PROJECTION, "a user content must stand before this answer")
_TAIL = Spelled(
    (Group("", (_user({"text": CONTINUE}),)),),
    End.HUMAN,
    (Decision(Action.INSERTED, "tail", Fault.PROJECTION, "the request may not end on an answer"),),
)


def spell(unit: Unit, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """Print one unit."""
    match unit:
        case Exchange():
            if unit.completions and not voice.target.capabilities.native_tool_history:
                return _embed(unit, before, voice, keep_thinking)
            return _spell_exchange(unit, before, voice, keep_thinking)
        case Said():
            return _spell_said(unit, voice)
        case Summary():
            return Spelled((Group("", (_user({"text": SUMMARY_MARK + unit.text}),)),), End.HUMAN)
        case _:
            assert_never(unit)


def tail(end: End, voice: Voice) -> Spelled:
    """A last word from the human side, unless the target continues an answer that stands at the end."""
    if end is not End.ANSWER or voice.target.capabilities.prefill:
        return Spelled((), end)
    return _TAIL


def _spell_said(unit: Said, voice: Voice) -> Spelled:
    mark = INSTRUCTION_MARK if unit.authority is Authority.INSTRUCTION else ""  # there is no role for it in the middle
    parts: list[JsonObject] = []
    decisions: list[Decision] = []
    for block in unit.blocks:
        match block:
            case Text():
                parts.append({"text": mark + block.text})
            case Code():
                parts.append({"text": mark + fenced(block)})
            case Media():
                parts.append(_print_media(block, voice, decisions))
            case _:
                assert_never(block)
    return Spelled((Group("", ({"role": "user", "parts": parts},)),), End.HUMAN, tuple(decisions))


def _spell_exchange(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    capabilities = voice.target.capabilities
    answer = PrintedAnswer(unit, voice, keep_thinking)
    decisions = answer.decisions
    if not answer.parts:
        return Spelled((), before, tuple(decisions))
    contents: list[JsonObject] = []
    if before is End.START or before is End.ANSWER:
        contents.append(_BRIDGE)
        decisions.append(_BRIDGED)
    if not unit.completions:
        contents.append({"role": "model", "parts": answer.parts})
        return Spelled((Group("", tuple(contents)),), End.ANSWER, tuple(decisions))
    aside = Aside([], decisions)
    pairs = zip(unit.calls, unit.completions, strict=True)
    responses = [response_part(call, completion, voice, aside) for call, completion in pairs]
    if not capabilities.text_beside_calls and any("thought" not in part for part in answer.lead):
        contents += (_model(answer.lead), _BRIDGE)
        decisions.append(_BRIDGED)
        answer.parts = answer.calls
    most = capabilities.max_calls
    if capabilities.call_signatures:
        _sign_first_calls(unit, answer, most)
    if len(responses) <= most:
        contents += ({"role": "model", "parts": answer.parts}, {"role": "user", "parts": responses})
    else:
        lead = answer.lead
        for start in range(0, len(responses), most):
            contents.append(_model([*(lead if start == 0 else ()), *answer.calls[start : start + most]]))
            contents.append(_user(*responses[start : start + most]))
        ids = tuple(call.id for call in unit.calls)
        detail = f"no more than {most} in a content"
        decisions.append(Decision(Action.CONVERTED, "calls-split", Fault.PROJECTION, detail, ids))
    if aside.moved:
        contents.append(_user(*aside.moved))
    return Spelled((Group("", tuple(contents)),), End.RESULTS, tuple(decisions))


def _sign_first_calls(unit: Exchange, answer: PrintedAnswer, most: int) -> None:
    """Put the placeholder on the first call of each content, where it has no signature of its own."""
    bare = [at for at in range(0, len(answer.calls), most) if "thoughtSignature" not in answer.calls[at]]
    for at in bare:
        answer.calls[at]["thoughtSignature"] = PLACEHOLDER
    if bare:
        calls = unit.calls
        answer.decisions.append(unsigned(calls[at].id for at in bare))


def _embed(unit: Exchange, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """For a target that takes no tool history: the answer without its calls, the results as the human's words."""
    rest = Exchange(unit.key, tuple(block for block in unit.blocks if type(block) is not ToolCall), (), unit.origin)
    told = _spell_exchange(rest, before, voice, keep_thinking)
    parts: list[JsonObject] = []
    decisions = list(told.decisions)
    for call, completion in zip(unit.calls, unit.completions, strict=True):
        text = completion_text(completion)
        parts.append({"text": EMBEDDED_RESULT + (text if text.strip() else EMPTY_RESULT)})
        if completion.media:
            parts.append({"text": MEDIA_CAPTION.format(tool=call.name)})
            parts += [_print_media(media, voice, decisions) for media in completion.media]
    ids = tuple(call.id for call in unit.calls)
    decisions.append(Decision(Action.CONVERTED, "text-embed", Fault.PROJECTION, "calls are left out", ids))
    return Spelled((*told.groups, Group("", (_user(*parts),))), End.HUMAN, tuple(decisions))


def _print_media(media: Media, voice: Voice, decisions: list[Decision]) -> JsonObject:
    part = media_part(media, voice.target.capabilities)
    if part is None:
        decisions.append(omission(media))
        return {"text": media_omitted(media.kind, media.mime)}
    return part
