"""Where a stored session is: the last thing asked, what was answered to it, and what was broken off."""

from __future__ import annotations

from legato.cli.chat.attachments import words_of
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.folding import fold_rows
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.streamed_text import text_rows
from legato.cli.terminal.styles import Style
from legato.cli.terminal.words import closed_in_words, how_it_ended, subject_of
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
        for row in fold_rows(text_rows(since[answered].text, screen), _LINES):
            screen.row(row)
        if ended := how_it_ended(since[answered]):
            screen.line(f"({ended})", Style.DIM)
    _show_unfinished(session, screen)


def _show_unfinished(session: Session, screen: Screen) -> None:
    """Calls that have no result, because the program ended: the model will be told so, and the person is told as well.

    Of a call that the model was told about already, it is known.
    """
    ledger, parked = session.talk.ledger, {call.id for call in session.parked}
    for call in ledger.pending.values():
        if call.id not in parked and not call.imported and call.frozen is None:
            told = closed_in_words(ledger.closure_reason(call))
            screen.line(f"└ {one_line(f'{call.name} {subject_of(call.arguments)}')}: {told}", Style.YELLOW)


def last_words(session: Session) -> str:
    """What the person said last, without the files that went along with it; empty if they said nothing yet."""
    entries = session.talk.entries
    at = _last(entries, Speaker.HUMAN)
    return "" if at is None else words_of(entries[at])


def _last(entries: list[Entry], speaker: Speaker) -> int | None:
    for at, entry in reversed(list(enumerate(entries))):
        if entry.speaker is speaker and entry.authority is Authority.PERSON and entry.text.strip():
            return at
    return None
