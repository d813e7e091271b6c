"""Print a conversation for the chat family: `spell` a unit, the `head` before all units, the `tail` behind them.

Each printed object is a whole message, so groups have no role. Printing is causal: a unit's messages depend on the
unit, on how the one before it ended, and on the target; nothing printed is changed afterwards.
"""

from __future__ import annotations

from typing import assert_never

from legato.model import Action, Decision, Fault
from legato.transcript.units import Exchange, Said, Summary, Unit
from legato.wire.contract import End, Group, Spelled, Voice
from legato.wire.openai_chat.envelope import head
from legato.wire.openai_chat.exchange import spell_exchange
from legato.wire.openai_chat.human import spell_said, spell_summary
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.phrases import CONTINUE

__all__ = ["head", "spell", "tail"]

_TAIL = Spelled(
    (Group("", ({"role": "user", "content": CONTINUE},)),),
    End.HUMAN,
    (Decision(Action.INSERTED, "tail", Fault.PROJECTION, "the request may not end on an answer"),),
)


def spell(unit: Unit, before: End, voice: Voice, keep_thinking: bool) -> Spelled:
    """One unit as messages."""
    match unit:
        case Exchange():
            return spell_exchange(unit, before, voice, keep_thinking)
        case Said():
            return spell_said(unit, before, voice)
        case Summary():
            return spell_summary(unit, before, voice)
        case _:
            assert_never(unit)


def tail(end: End, voice: Voice) -> Spelled:
    """A human message behind an answer, where the model would not simply continue that answer."""
    if end is not End.ANSWER:
        return Spelled((), end)
    if voice.target.capabilities.prefill and profile_of(voice.target).bare_prefill:
        return Spelled((), end)
    return _TAIL
