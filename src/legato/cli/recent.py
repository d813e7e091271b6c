"""Where a stored session stands: the last thing asked and the last thing answered, before it goes on."""

from __future__ import annotations

from legato.cli.terminal.cells import one_line
from legato.cli.terminal.folding import fold
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.model import Authority, Entry, Speaker
from legato.session import Session

_LINES = 12


def show_recent(session: Session, screen: Screen) -> None:
    """Show the end of the conversation."""
    entries = session.talk.entries
    screen.line(f"Session {session.id} goes on: {len(entries)} entries.", Style.DIM)
    asked = _last(entries, Speaker.HUMAN)
    answered = _last(entries, Speaker.AI)
    if asked is not None:
        screen.line(f"› {one_line(asked.text)[:500]}")
    if answered is not None:
        for line in fold(answered.text, _LINES):
            screen.line(line)


def _last(entries: list[Entry], speaker: Speaker) -> Entry | None:
    told = (
        entry
        for entry in reversed(entries)
        if entry.speaker is speaker and entry.authority is Authority.PERSON and entry.text.strip()
    )
    return next(told, None)
