"""Slash commands that change which conversation goes on, and how much of it."""

from __future__ import annotations

from legato.cli.chat.attachments import words_of
from legato.cli.chat.slash.contract import Chat, Next, Reopen
from legato.cli.sessions.lookup import PICKED, as_rows, find_session
from legato.cli.sessions.subagents import without_subagents
from legato.cli.terminal.cells import clip, table
from legato.cli.terminal.styles import Style
from legato.errors import CallerError
from legato.model import Authority, Entry, Speaker


async def compact(chat: Chat, _: str) -> Next:
    """`/compact`: shorten the conversation now."""
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
    """`/sessions`: those that are stored, or go on with one of them."""
    store = chat.setup.store
    if store is None:
        raise CallerError("sessions are not stored in this run (--no-store)")
    if wanted:
        return Reopen((await find_session(store, wanted)).id)
    sessions = [one for one in without_subagents(await store.list()) if one.id != chat.session.id][:PICKED]
    width = chat.screen.width
    for line in table(as_rows(sessions, chat.setup.folder, width=width), width=width):
        chat.screen.line(line)
    chat.screen.line("/sessions ID goes on with one of them." if sessions else "No other session is stored.")
    return None


async def clear(chat: Chat, _: str) -> Next:
    """`/clear`: begin a new conversation."""
    kept = "the old one stays stored" if chat.session.id is not None else "the old one is not kept"
    chat.screen.line(f"A new conversation begins; {kept}.")
    return Reopen()
