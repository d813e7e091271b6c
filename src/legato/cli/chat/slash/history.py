"""Slash commands that change which conversation goes on, and how much of it."""

from __future__ import annotations

from legato.cli.chat.attachments import words_of
from legato.cli.chat.slash.contract import Next, Reopen, Talk
from legato.cli.sessions.lookup import PICKED, as_rows, find_session
from legato.cli.sessions.subagents import begun_by_people
from legato.cli.terminal.cells import clip, table
from legato.cli.terminal.styles import Style
from legato.errors import CallerError
from legato.model import Authority, Entry, Speaker


async def compact(talk: Talk, _: str) -> Next:
    """`/compact`: shorten the conversation now."""
    told = await talk.session.compact()
    if told is None:
        talk.screen.line("There is nothing that could be shortened.")
    else:
        talk.screen.line(f"Shortened: {told.before:,} to {told.after:,} tokens; {told.detail}")
    return None


async def undo(talk: Talk, count: str) -> Next:
    """`/undo`: take back the last messages of the person, and what followed them."""
    if count and not count.isdecimal():
        raise CallerError("/undo takes a number of messages, or nothing")
    said = [entry for entry in talk.session.talk.entries if _is_by_a_person(entry)]
    if not await talk.session.undo(int(count or 1)):
        talk.screen.line("There is nothing to undo.")
        return None
    taken = said[-int(count or 1) :]
    many = f"{len(taken)} messages, the first of them: " if len(taken) > 1 else ""
    talk.screen.line(clip(f"Undone: {many}{words_of(taken[0]) or 'an attachment'}", talk.screen.width))
    talk.screen.line("  What tools did to files and elsewhere is not undone.", Style.DIM)
    return None


def _is_by_a_person(entry: Entry) -> bool:
    return entry.speaker is Speaker.HUMAN and entry.authority is Authority.PERSON


async def sessions(talk: Talk, wanted: str) -> Next:
    """`/sessions`: those that are stored, or go on with one of them."""
    store = talk.setup.store
    if store is None:
        raise CallerError("sessions are not stored in this run (--no-store)")
    if wanted:
        return Reopen((await find_session(store, wanted)).id)
    sessions = [one for one in begun_by_people(await store.list()) if one.id != talk.session.id][:PICKED]
    width = talk.screen.width
    for line in table(as_rows(sessions, talk.setup.folder, width=width), width=width):
        talk.screen.line(line)
    talk.screen.line("/sessions ID goes on with one of them." if sessions else "No other session is stored.")
    return None


async def clear(talk: Talk, _: str) -> Next:
    """`/clear`: begin a new conversation."""
    kept = "the old one stays stored" if talk.session.id is not None else "the old one is not kept"
    talk.screen.line(f"A new conversation begins; {kept}.")
    return Reopen()
