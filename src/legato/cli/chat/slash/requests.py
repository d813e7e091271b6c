"""Slash commands that look at requests and write them, or the conversation, to a file."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from legato.cli.chat.slash.contract import Chat, Next
from legato.cli.chat.slash.layout import indented
from legato.cli.private_files import write_new
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.styles import Style
from legato.errors import CallerError
from legato.session import Sent


async def lint(chat: Chat, route: str) -> Next:
    """`/lint`: what the provider of a route would say to this conversation."""
    from legato.diagnostics import report_lines
    from legato.request import render

    session = chat.session
    target = session.world.target(route or session.route)
    request = render(session.talk, target, tools=session.tools.specs, system=session.system, thinking=session.thinking)
    found = request.check()
    chat.screen.line(f"{target.route}: {len(found)} finding{'s' * (len(found) != 1)}.")
    for violation in found:
        text = f"  {violation.severity}: {violation.message} ({violation.rule} at {violation.path})"
        _show(chat, text, Style.YELLOW)
    # No one asked for this request, so what it would do to a cache says nothing.
    for line in report_lines(replace(request.report, prefix_change=None)):
        _show(chat, line, Style.DIM)
    return None


def _show(chat: Chat, line: str, style: Style) -> None:
    for piece in indented(line, chat.screen.width):
        chat.screen.line(piece, style)


async def last(chat: Chat, name: str) -> Next:
    """`/last`: the last request and its outcome, on the screen or in a new file."""
    sent = chat.session.last
    if sent is None:
        chat.screen.line("No request was made yet since this conversation was opened.")
        return None
    if name:
        path = _write_last(sent, chat.setup.folder, name)
        chat.screen.line(f"Wrote {path}: the request with its report, and what came of it.")
        return None
    for line in sent.lines():
        _show(chat, line, Style.DIM)
    return None


def _write_last(sent: Sent, folder: Path, name: str) -> Path:
    from legato.diagnostics import Redactor  # rarely needed, and slow to load

    path = folder / Path(name).expanduser()
    told = sent.as_json() | {"body": Redactor().value(sent.request.copy())}
    _write_new(path, msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
    return path


async def export(chat: Chat, arguments: str) -> Next:
    """`/export`: the conversation as a new file, in a form that its name or a second word says."""
    words = arguments.split()
    if len(words) > 2:
        raise CallerError("/export takes a file and a format; name the file without spaces")
    if not chat.session.talk.entries:
        raise CallerError("nothing was said yet, so there is nothing to write")
    name, form = ([*words, "", ""])[:2]
    if name in _READABLE:
        name, form = "", name
    form = form or _READABLE_ENDINGS.get(Path(name).suffix, "legato")
    path = Path(name or f"{chat.session.id or 'conversation'}.{form if form in _READABLE else 'jsonl'}")
    written = _write_readable(chat, path, form) if form in _READABLE else _write(chat, path, form)
    chat.screen.line(f"Wrote {written}{'' if form in _READABLE else f', as {form}'}.")
    return None


_READABLE = ("md", "html", "json")
"""forms for people, and for programs that know no agent's format"""
_READABLE_ENDINGS = {f".{form}": form for form in _READABLE}


def _write_readable(chat: Chat, name: Path, form: str) -> Path:
    path, talk = chat.setup.folder / name.expanduser(), chat.session.talk
    title = chat.session.id or "Conversation"
    match form:
        case "md":
            from legato.cli.sessions.as_markdown import as_markdown

            _write_new(path, as_markdown(talk, title).encode())
        case "html":
            from legato.files import write_page
            from legato.formats import write

            write_page(write(talk, "legato").data, path, format="legato", name=title)
        case _:
            told = {
                "schema": 1,
                "session": chat.session.id,
                "entries": [msgspec.to_builtins(one) for one in talk.entries],
            }
            _write_new(path, msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
    return path


def _write(chat: Chat, name: Path, form: str) -> Path:
    from legato.formats import FORMATS, write

    path = chat.setup.folder / name.expanduser()
    is_request = form in FORMATS and FORMATS[form].is_wire
    written = write(chat.session.talk, form, model=chat.session.route if is_request else None)
    _write_new(path, written.data)
    for loss in written.losses:
        chat.screen.line(f"  not carried: {one_line(str(loss))}", Style.DIM)
    return path


def _write_new(path: Path, data: bytes) -> None:
    try:
        write_new(path, data)
    except FileExistsError:
        raise CallerError(f"{path} exists already; name another file") from None
