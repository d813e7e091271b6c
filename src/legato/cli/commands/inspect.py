"""`legato inspect`: a conversation turn by turn, with every call and every decision."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from legato.cli import completing
from legato.cli.format_options import from_option
from legato.cli.saying import say, say_data
from legato.errors import FormatError
from legato.files.text import counted, one_line, printable

if TYPE_CHECKING:
    from msgspec import Struct

    from legato.files import InspectedCall, InspectedEntry, Inspection
    from legato.formats import Document, Explanation

_BRIEF = 240
"""characters of one text on the terminal, unless all is asked for"""
_MOST = 30
"""kinds of things that are said to be left out, unless all is asked for: our choice, a screen"""
_UNLIMITED = 2**31
"""more than any file has, for those who want to see everything"""


@click.command(short_help="Show a conversation, its calls and every decision.")
@click.argument("input_", metavar="INPUT", shell_complete=completing.sessions_and_files)
@click.option(
    "--for",
    "target",
    metavar="TARGET",
    shell_complete=completing.providers_and_routes,
    help="Render it for this provider or route, and show those ids too.",
)
@click.option(
    "--html",
    metavar="OUT",
    help="Write one page that needs nothing else: the conversation beside the request. Of a folder: a page for each "
    "session and a list of them, into the folder OUT.",
)
@from_option
@click.option("--pick", type=int, metavar="N", help="The number of the conversation, in a file that holds several.")
@click.option("--full", is_flag=True, help="Do not shorten texts.")
@click.option("--explain", is_flag=True, help="Say how the file was recognised, and what of it was not understood.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(
    input_: str,
    target: str | None,
    html: str | None,
    format_: str | None,
    pick: int | None,
    full: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Show a conversation turn by turn: each call's canonical id, its state, its ids, and every decision about it.

    INPUT is a file, the id of a stored session, or - for standard input; with --html also a folder. With --explain, the
    file is shown and not the conversation: its format, the evidence for that and where it is, the formats that were
    weighed and why it is none of them, and what was left out of the conversation. The exit status is 2 if it cannot be
    read.
    """
    from legato.cli.commands.file_arguments import pick_one
    from legato.files.inspected import LIMIT
    from legato.files.inspection import inspect_document, render_document
    from legato.formats.targets import find_target

    if html is not None and (explain or as_json):
        raise click.UsageError("--html writes a page; leave out --explain and --json")
    if explain:
        if target is not None or pick is not None:
            raise click.UsageError("--explain is about the file as a whole; leave out --for and --pick")
        _explain(input_, format_, as_json=as_json, full=full)
        return
    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    if html is not None and os.path.isdir(input_):
        if format_ is not None or pick is not None:
            raise click.UsageError("--from and --pick are for one file, not for a folder.")
        _write_pages(input_, html, target)
        return
    if html is not None:
        _write_page(input_, html, target=target, format=format_, pick=pick)
        return
    document = pick_one(_read(input_, format_), pick)
    request = None if target is None else render_document(document, target)
    limit = _UNLIMITED if full else LIMIT if as_json else _BRIEF
    inspection = inspect_document(document, target=target, request=request, limit=limit)
    if as_json:
        say_data(_encoded(inspection))
        return
    for line in _lines(inspection, full=full):
        say(line)


def _read(input_: str, format_: str | None) -> list[Document]:
    from legato.cli.commands.file_arguments import read_documents

    try:
        return read_documents(input_, format=format_)
    except FormatError as error:
        if not os.path.isdir(input_):
            raise
        raise FormatError(f"{error.message}; or see all of them in a browser with --html OUT") from None


def _encoded(value: Struct) -> str:
    from legato.files.json_text import encode_indented

    return encode_indented(value).decode()


# --- the page ---------------------------------------------------------------------------------------------------------


def _write_page(input_: str, html: str, *, target: str | None, format: str | None, pick: int | None) -> None:  # noqa: A002
    from legato.cli.commands.file_arguments import check_output, opened, refuse_same_file, write_output
    from legato.files.pages import page_writer
    from legato.formats import read_all

    check_output(html)
    refuse_same_file(input_, html, advice="name another one")
    with opened(input_) as (source, name, progress):
        documents = read_all(source, format=format, name=name, progress=progress)
        writer = page_writer(
            documents, source, target=target, pick=pick, option="--pick", advice="choose one with --pick N"
        )
    write_output(html, writer.pieces())
    summary = writer.summary
    damage = f", {counted(summary.errors, 'error')}" if summary.errors else ""
    told = f"{counted(summary.turns, 'turn')}, {counted(summary.calls, 'call')}{damage}"
    say(f"{one_line(summary.name)}: {told}, shown in {html}", err=True)


def _write_pages(folder: str, html: str, target: str | None) -> None:
    from legato.cli.commands.file_arguments import walking
    from legato.files.pages import PageBinder

    with walking([folder]) as walk:
        binder = PageBinder(folder, html, target=target, overwrite=True)
        for path in walk:
            binder.add(path)
    written = binder.finish()
    passed = f"; {counted(len(written.unread), 'file')} passed over" if written.unread else ""
    say(f"{folder}: {counted(len(written.pages), 'page')}{passed}; open {written.index}", err=True)


# --- the file ---------------------------------------------------------------------------------------------------------


def _explain(path: str, format_: str | None, *, as_json: bool, full: bool) -> None:
    from legato import files
    from legato.cli.commands.file_arguments import opened
    from legato.errors import FormatError

    with opened(path) as (source, name, progress):
        told = files.explain(source, format=format_, name=name, progress=progress)
    if as_json:
        say_data(_encoded(told))
    else:
        for line in _explained(told, full=full):
            say(line)
    if told.error:
        raise FormatError(told.error)


def _explained(told: Explanation, *, full: bool) -> Iterator[str]:
    is_asked = told.asked and told.asked != told.looks_like
    failed = f"not read as {told.asked}" if told.asked else "not read"
    yield f"{one_line(told.name)}: {told.format or failed}{', as --from says' if is_asked and told.format else ''}"
    seen = f", {counted(told.looked_at, 'record')} looked at" if told.looked_at > 1 else ""
    yield f"  it is {told.layout}{seen}"
    for evidence in told.evidence:
        yield f"  {told.asked or told.looks_like}: {one_line(str(evidence))}"
    if is_asked:
        yield f"  it looks like {told.looks_like or 'no format that is known'}"
    if told.format:
        held = f"{counted(told.entries, 'message')} and {counted(told.calls, 'call')}"
        yield f"  read: {held}, in {counted(told.conversations, 'conversation')}"
    yield from _weighed(told, full=full)
    if told.format:
        yield "left out of the conversation:" if told.not_understood else "nothing was left out of the conversation"
    shown = told.not_understood if full else told.not_understood[:_MOST]
    for item in shown:
        yield f"  {one_line(f'{item.place}: {item.what}' if item.place else item.what)}"
    if len(shown) < len(told.not_understood):
        yield f"  and {len(told.not_understood) - len(shown):,} more; --full shows them"


def _weighed(told: Explanation, *, full: bool) -> Iterator[str]:
    yield "also weighed:"
    apart: list[str] = []
    for item in told.weighed:
        evidence = "; ".join(map(str, item.evidence))
        if full or evidence or item.fitting:
            yield f"  {item.format}: {one_line(f'{evidence}; {item.why_not}' if evidence else item.why_not)}"
        else:
            apart.append(item.format)
    if apart:
        yield f"  nothing speaks for {', '.join(apart)}"


# --- the conversation -------------------------------------------------------------------------------------------------


def _lines(inspection: Inspection, *, full: bool) -> Iterator[str]:
    states = Counter(call.state for call in inspection.calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    calls = f"{counted(len(inspection.calls), 'call')} ({told})" if told else "no calls"
    held = f"{counted(inspection.turns, 'turn')}, {calls}" if inspection.entries else "no conversation in it"
    yield f"{one_line(inspection.name)}: {inspection.format}, {held}"
    for note in inspection.notes:
        yield f"  note: {one_line(note)}"
    for line in inspection.about_request:
        yield f"  request: {one_line(line)}"
    turn = 0
    for entry in inspection.entries:
        if entry.turn != turn:
            turn = entry.turn
            yield ""
            yield click.style(f"turn {turn}", bold=True)
        yield from _entry(entry, full=full)


def _entry(entry: InspectedEntry, *, full: bool) -> Iterator[str]:
    facts = [entry.place, entry.model, "" if entry.is_shown else "left out of every request"]
    yield f"{click.style(entry.speaker, fg='blue')}  {one_line(', '.join(filter(None, facts)))}".rstrip()
    for block in entry.blocks:
        if block.call is not None:
            yield from _call(block.call, full=full)
        else:
            head = "" if block.kind == "text" else f"[{block.kind}] "
            yield from _indented(f"{head}{block.text}", full=full)
    for decision in entry.decisions:
        yield f"    {click.style('!', fg='yellow')} {one_line(decision)}"


def _call(call: InspectedCall, *, full: bool) -> Iterator[str]:
    name = click.style(one_line(call.name) or "unknown tool", fg="cyan", bold=True)
    yield f"  {name} {one_line(call.arguments, _width(full))}"
    ids = [str(call.id), f"in the file {call.wire_id or 'none'}", f"sent as {call.sent_id}" if call.sent_id else ""]
    yield f"    id: {one_line(', '.join(filter(None, ids)))}"
    ending = f"{call.completion} ({call.reason})" if call.reason else call.completion
    where = f", result at {call.result_place}" if call.result_place else ""
    yield f"    state: {call.state}, completion: {ending}{one_line(where)}"
    if call.result:
        yield from _indented(f"→ {call.result}", full=full, indent="    ")
    for decision in call.decisions:
        yield f"    {click.style('!', fg='yellow')} {one_line(decision)}"


def _width(full: bool) -> int:
    return 2**30 if full else _BRIEF


def _indented(text: str, *, full: bool, indent: str = "  ") -> Iterator[str]:
    if not full:
        yield f"{indent}{one_line(text, _BRIEF + 40)}"
        return
    for line in text.splitlines():
        yield f"{indent}{printable(line)}"
