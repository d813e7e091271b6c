"""Where a stored session is: the last thing asked and what was answered to it, before it goes on."""

from __future__ import annotations

from legato.cli.chat.attachments import words_of
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.folding import fold
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.cli.terminal.words import how_it_ended
from legato.model import Authority, Entry, Speaker
from legato.session import Session

_LINES = 12
"""lines of the last answer that are shown again: our choice, about half a screen"""


def show_recap(session: Session, screen: Screen) -> None:
    """Show the end of the conversation."""
    entries = session.talk.entries
    screen.line(f"Session {session.id} goes on: {len(entries)} entries.", Style.DIM)
    if (at := _last(entries, Speaker.HUMAN)) is None:
        return
    screen.line(f"› {one_line(words_of(entries[at]))[:500]}")
    since = entries[at:]  # an older answer was to something else
    if (answered := _last(since, Speaker.AI)) is not None:
        for line in fold(since[answered].text, _LINES):
            screen.line(line)
        if ended := how_it_ended(since[answered]):
            screen.line(f"({ended})", Style.DIM)


def _last(entries: list[Entry], speaker: Speaker) -> int | None:
    for at, entry in reversed(list(enumerate(entries))):
        if entry.speaker is speaker and entry.authority is Authority.PERSON and entry.text.strip():
            return at
    return None
