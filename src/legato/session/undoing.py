"""Where undoing goes back to."""

from __future__ import annotations

from legato.model import Authority, Speaker
from legato.transcript import Conversation


def undo_place(talk: Conversation, turns: int) -> int | None:
    """The record of the message that a person sent `turns` messages ago, or of the first one; None if there is none.

    Instructions are on the human side as well and do not count: they belong to the turn in which they were given.
    """
    said = [
        seq
        for seq, entry in talk.standing_entries()
        if entry.speaker is Speaker.HUMAN and entry.authority is Authority.PERSON
    ]
    return said[-min(turns, len(said))] if said else None
