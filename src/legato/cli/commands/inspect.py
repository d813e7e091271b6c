"""`legato inspect`: a conversation turn by turn, with every call and every decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from legato.files.inspection import CallStory, Part, Story

_BRIEF = 240
"""characters of one text on the terminal, unless all is asked for"""


@click.command(short_help="Show a conversation, its calls and every decision.")
@click.argument("input_", metavar="INPUT")
@click.option("--for", "target", metavar="TARGET", help="Render it for this provider or route, and show those ids too.")
@click.option("--html", metavar="FILE", help="Write one self-contained page: the conversation beside the request.")
@click.option("--from", "format_", metavar="FORMAT", help="Read the file as this format, whatever it looks like.")
@click.option("--pick", type=int, metavar="N", help="The number of the conversation, in a file that holds several.")
@click.option("--full", is_flag=True, help="Do not shorten texts.")
def inspect(
    input_: str, target: str | None, html: str | None, format_: str | None, pick: int | None, full: bool
) -> None:
    """Show a conversation turn by turn: each call's canonical id, its state, its ids, and every decision about it.

    INPUT is a file, or - for standard input.
    """
    from legato.cli.commands.file_arguments import pick as pick_one
    from legato.cli.commands.file_arguments import read_documents
    from legato.diagnostics import Redactor
    from legato.files.html_page import LIMIT, make_page
    from legato.files.inspection import tell
    from legato.files.writing import check_output, write_output
    from legato.formats import request_for
    from legato.formats.findings import find
    from legato.formats.targets import find_target, own_targets

    if target is not None:
        find_target(target)
    if html is not None:
        check_output(html)
    document = pick_one(read_documents(input_, format=format_), pick)
    names = [target] if target else own_targets(document)
    targets = [(name, find_target(name, document=document)) for name in names]
    request = request_for(document, targets[0][1])[0] if target or html else None
    redactor = Redactor()
    limit = LIMIT if html else 2**31 if full else _BRIEF
    story = tell(document, request=request, findings=find(document, targets), redactor=redactor, limit=limit)
    if html is not None and request is not None:
        write_output(html, make_page(story, request, redactor=redactor).encode())
        click.echo(f"{one_line(document.name)}: {counted(len(story.calls), 'call')} shown in {html}", err=True)
        return
    for line in _story(story, full=full):
        click.echo(line)


def _story(story: Story, *, full: bool) -> Iterator[str]:
    states = Counter(call.state for call in story.calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    calls = f"{counted(len(story.calls), 'call')} ({told})" if told else "no calls"
    yield f"{one_line(story.name)}: {story.format}, {counted(story.turns, 'turn')}, {calls}"
    for note in story.notes:
        yield f"  note: {one_line(note)}"
    for line in story.about_request:
        yield f"  request: {one_line(line)}"
    turn = 0
    for part in story.parts:
        if part.turn != turn:
            turn = part.turn
            yield ""
            yield click.style(f"turn {turn}", bold=True)
        yield from _part(part, full=full)


def _part(part: Part, *, full: bool) -> Iterator[str]:
    facts = [part.place, part.model, "" if part.is_shown else "left out of every request"]
    yield f"{click.style(part.speaker, fg='blue')}  {one_line(', '.join(filter(None, facts)))}".rstrip()
    for piece in part.pieces:
        if piece.call is not None:
            yield from _call(piece.call, full=full)
        else:
            head = "" if piece.kind == "text" else f"[{piece.kind}] "
            yield from _indented(f"{head}{piece.text}", full=full)
    for decision in part.decisions:
        yield f"    {click.style('!', fg='yellow')} {one_line(decision)}"


def _call(call: CallStory, *, full: bool) -> Iterator[str]:
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
    from legato.files.text import printable

    if not full:
        yield f"{indent}{one_line(text, _BRIEF + 40)}"
        return
    for line in text.splitlines():
        yield f"{indent}{printable(line)}"
