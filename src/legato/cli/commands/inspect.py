"""`legato inspect`: a conversation turn by turn, with every call and every decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from legato.cli.format_options import from_option
from legato.files.text import counted, one_line, printable

if TYPE_CHECKING:
    from legato.files import InspectedCall, InspectedEntry, Inspection

_BRIEF = 240
"""characters of one text on the terminal, unless all is asked for"""
_UNLIMITED = 2**31
"""more than any file has, for those who want to see everything"""


@click.command(short_help="Show a conversation, its calls and every decision.")
@click.argument("input_", metavar="INPUT")
@click.option("--for", "target", metavar="TARGET", help="Render it for this provider or route, and show those ids too.")
@click.option("--html", metavar="FILE", help="Write one self-contained page: the conversation beside the request.")
@from_option
@click.option("--pick", type=int, metavar="N", help="The number of the conversation, in a file that holds several.")
@click.option("--full", is_flag=True, help="Do not shorten texts.")
def inspect(
    input_: str, target: str | None, html: str | None, format_: str | None, pick: int | None, full: bool
) -> None:
    """Show a conversation turn by turn: each call's canonical id, its state, its ids, and every decision about it.

    INPUT is a file, the id of a stored session, or - for standard input.
    """
    from legato.cli.commands.file_arguments import check_output, pick_one, read_documents, write_output
    from legato.files.html_page import page_of
    from legato.files.inspection import inspect_document, render_document
    from legato.formats.targets import find_target

    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    if html is not None:
        check_output(html)
    document = pick_one(read_documents(input_, format=format_), pick)
    if html is not None:
        inspection, made = page_of(document, target=target)
        write_output(html, made.encode())
        calls = counted(len(inspection.calls), "call")
        click.echo(f"{one_line(inspection.name)}: {calls} shown in {html}", err=True)
        return
    request = None if target is None else render_document(document, target)
    limit = _UNLIMITED if full else _BRIEF
    inspection = inspect_document(document, target=target, request=request, limit=limit)
    for line in _lines(inspection, full=full):
        click.echo(line)


def _lines(inspection: Inspection, *, full: bool) -> Iterator[str]:
    states = Counter(call.state for call in inspection.calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    calls = f"{counted(len(inspection.calls), 'call')} ({told})" if told else "no calls"
    yield f"{one_line(inspection.name)}: {inspection.format}, {counted(inspection.turns, 'turn')}, {calls}"
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
    yield f"  {click.style(call.name or 'unknown tool', fg='cyan', bold=True)} {one_line(call.arguments, _width(full))}"
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
