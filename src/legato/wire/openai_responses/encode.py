"""Print units as input items of the Responses API.

In:  one unit, how the one before it ended, the voice, and whether this unit's own thinking is kept.
Out: the unit as whole items: groups without a role, because items are never joined with their neighbours.

The history is stateless: no item refers to anything that the server keeps. Item ids are left out, the provider's own
hosted items aside, whose schema demands one.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import Authority, Decision, JsonObject
from legato.transcript.units import Exchange, Said, Summary, Unit
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.human_side import HumanParts
from legato.wire.openai_responses.exchange import spell_exchange
from legato.wire.openai_responses.wording import media_part, text_part, user_message
from legato.wire.phrases import CONTINUE, SUMMARY_MARK
from legato.wire.projections import INSTRUCTION_MARKED, TAIL

_PARTS = HumanParts(text_part, media_part)


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
    """A word to go on, where the last item is an answer and the model would not continue it."""
    if end is not End.ANSWER or voice.target.capabilities.prefill:
        return Spelled((), end)
    return Spelled((Group("", (user_message(text_part(CONTINUE)),)),), End.HUMAN, (TAIL,))


def _said(unit: Said, voice: Voice) -> Spelled:
    capabilities = voice.target.capabilities
    decisions: list[Decision] = []
    parts = _PARTS.printed(unit.blocks, capabilities, decisions)
    message: JsonObject = {"type": "message", "role": "user", "content": parts}
    if unit.authority is Authority.INSTRUCTION:
        if capabilities.middle_system:
            message["role"] = "developer" if capabilities.developer_role else "system"
        else:
            _PARTS.mark(parts)
            decisions.append(INSTRUCTION_MARKED)
    return Spelled((Group("", (message,)),), End.HUMAN, tuple(decisions))
