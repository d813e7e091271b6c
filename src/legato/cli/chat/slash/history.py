"""Slash commands that change which conversation goes on, and how much of it."""

from __future__ import annotations

from legato.cli.chat.attachments import words_of
from legato.cli.chat.slash.contract import Chat, Next, Reopen
from legato.cli.exits import line_of
from legato.cli.providers import require_usable, resumed_profile
from legato.cli.sessions.lookup import find_session, picker_rows, sessions_to_pick
from legato.cli.terminal.cells import clip, one_line
from legato.cli.terminal.styles import Style
from legato.errors import CallerError, LegatoError
from legato.model import Authority, Entry, Speaker
from legato.store import SessionSummary


async def compact(chat: Chat, _: str) -> Next:
    """`/compact`: shorten the conversation now."""
    chat.screen.status("shortening the conversation; Esc stops")
    told = await chat.session.compact()
    if told is None:
        chat.screen.line("There is nothing that could be shortened.")
    else:
        chat.screen.line(f"Shortened: {told.before:,} to {told.after:,} tokens; {told.detail}")
    return None


async def undo(chat: Chat, count: str) -> Next:
    """`/undo`: take back the last messages of the person, and what followed them."""
    if count and not count.isdecimal():
        raise CallerError("/undo takes a number of messages, or nothing")
    said = [entry for entry in chat.session.talk.entries if _is_by_a_person(entry)]
    if not await chat.session.undo(int(count or 1)):
        chat.screen.line("There is nothing to undo.")
        return None
    taken = said[-int(count or 1) :]
    many = f"{len(taken)} messages, the first of them: " if len(taken) > 1 else ""
    chat.screen.line(clip(f"Undone: {many}{words_of(taken[0]) or 'an attachment'}", chat.screen.width))
    chat.screen.line("  What tools did to files and elsewhere is not undone.", Style.DIM)
    return None


def _is_by_a_person(entry: Entry) -> bool:
    return entry.speaker is Speaker.HUMAN and entry.authority is Authority.PERSON


async def sessions(chat: Chat, wanted: str) -> Next:
    """`/sessions`: pick a stored one, or name it, and go on with it."""
    store = chat.setup.store
    if store is None:
        raise CallerError("sessions are not stored in this run (--no-store)")
    if wanted:
        return _reopened(chat, await find_session(store, wanted))
    others = [one for one in await sessions_to_pick(store, chat.setup.folder) if one.id != chat.session.id]
    if not others:
        chat.screen.line("No other session is stored.")
        return None
    picked = await chat.pick("Go on with", picker_rows(others, chat.setup.folder, width=chat.screen.width))
    return None if picked is None else _reopened(chat, others[picked])


def _reopened(chat: Chat, summary: SessionSummary) -> Reopen:
    """Go on in a stored session, with who answered there last: no conversation goes to another provider unasked."""
    settings, profile = chat.setup.settings, None
    try:
        profile = resumed_profile(settings, summary.route)
        if profile is not None:
            require_usable(settings, profile)
    except LegatoError as error:
        told = f"{summary.route} answered there and cannot now: {line_of(error)}"
        chat.screen.line(one_line(f"{told}; {chat.session.route} goes on"), Style.YELLOW)
        profile = None
    return Reopen(summary.id, profile)


async def clear(chat: Chat, _: str) -> Next:
    """`/clear`: begin a new conversation."""
    kept = "the old one stays stored" if chat.session.id is not None else "the old one is not kept"
    chat.screen.line(f"A new conversation begins; {kept}.")
    return Reopen()
