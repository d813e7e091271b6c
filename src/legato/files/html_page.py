"""A conversation as one HTML page that needs no network.

In:  a file; or its inspection and the request that was rendered from it.
Out: HTML: the conversation on the left, the request on the right, each call linked to its other side.

Everything a file says is escaped, and the page's own policy allows no script or style but the two that are in it, by
their hashes: a conversation cannot bring one along.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from legato.diagnostics import Redactor
from legato.files.inspected import LIMIT, InspectedBlock, InspectedCall, InspectedEntry, Inspection
from legato.files.inspection import inspect_document, render_document
from legato.files.request_view import MessageView, envelope_json, message_views
from legato.files.sources import Progress, Source, pick_document
from legato.files.text import counted, printable
from legato.formats import Document, read_all
from legato.formats.targets import find_target
from legato.model import CallId
from legato.request import Request


def page(
    source: Source,
    *,
    target: str | None = None,
    pick: int | None = None,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> str:
    """The conversation in `source` beside the request that is made of it, as one HTML page without secrets.

    `target` is who the request is for, by default the provider that the file was written for; `pick` is the number,
    from 1, of the conversation in a file that holds several. Raises as `inspect` does, and as `convert` does for a
    conversation that cannot be rendered.
    """
    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    document = pick_document(read_all(source, format=format, name=name, progress=progress), pick)
    return page_of(document, target=target)[1]


def page_of(document: Document, *, target: str | None) -> tuple[Inspection, str]:
    """What the page of `document` shows, and the page."""
    request, redactor = render_document(document, target), Redactor()
    inspection = inspect_document(document, target=target, request=request, redactor=redactor)
    return inspection, _make_page(inspection, request, redactor)


def _make_page(inspection: Inspection, request: Request, redactor: Redactor) -> str:
    style, script = (_packaged(f"page.{kind}") for kind in ("css", "js"))
    numbers = {call.id: number for number, call in enumerate(inspection.calls)}
    sent = message_views(request, redactor=redactor, limit=LIMIT)
    known = {call.id: call for call in inspection.calls}
    return Template(_packaged("page.html")).substitute(
        policy=_policy(style, script),
        title=_text(inspection.name),
        style=style,
        script=script,
        facts=_text(_facts(inspection)),
        options="".join(_options(inspection)),
        remarks="".join(_remarks(inspection)),
        conversation="\n".join(_conversation(inspection, numbers, _linked(sent))),
        route=_text(request.target.route),
        request="\n".join(_request(sent, envelope_json(request, redactor=redactor, limit=LIMIT), numbers, known)),
    )


def _packaged(name: str) -> str:
    return files("legato.files").joinpath("html", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    style_hash, script_hash = (b64encode(sha256(text.encode()).digest()).decode() for text in (style, script))
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(text: str) -> str:
    return escape(printable(text))


# --- the head ---------------------------------------------------------------------------------------------------------


def _facts(inspection: Inspection) -> str:
    states = Counter(call.state for call in inspection.calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    calls = f"{counted(len(inspection.calls), 'call')} ({told})" if told else "no calls"
    facts = [
        inspection.format,
        inspection.route,
        counted(inspection.turns, "turn"),
        calls,
        counted(inspection.tools, "tool"),
    ]
    return " · ".join(fact for fact in facts if fact)


def _options(inspection: Inspection) -> Iterator[str]:
    labels = Counter(label for entry in inspection.entries for label in entry.labels)
    labels.update(label for call in inspection.calls for label in call.labels)
    for label, count in sorted(labels.items()):
        yield f'<option value="{_text(label)}">{_text(label)} ({count})</option>'


def _remarks(inspection: Inspection) -> Iterator[str]:
    if inspection.system:
        yield f"<details><summary>System prompt</summary><pre>{_text(inspection.system)}</pre></details>"
    for title, lines in (
        ("About the request", inspection.about_request),
        ("Not carried from the file", inspection.notes),
    ):
        if lines:
            yield f"<details><summary>{title} ({len(lines)})</summary>{_list(lines)}</details>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f'<ul class="decisions">{items}</ul>' if items else ""


# --- the conversation -------------------------------------------------------------------------------------------------


def _linked(sent: Sequence[MessageView]) -> set[CallId]:
    return {chunk.call for message in sent for chunk in message.chunks if chunk.call is not None}


def _conversation(inspection: Inspection, numbers: dict[CallId, int], linked: set[CallId]) -> Iterator[str]:
    turn = 0
    for entry in inspection.entries:
        if entry.turn != turn:
            turn = entry.turn
            yield f'<p class="turn">Turn {turn}</p>'
        yield "".join(_entry(entry, numbers, linked))


def _entry(entry: InspectedEntry, numbers: dict[CallId, int], linked: set[CallId]) -> Iterator[str]:
    classes = "" if entry.is_shown else ' class="left-out"'
    yield f'<article{classes} data-labels="{_labels(entry.labels)}"><header><h3>{_text(entry.speaker)}</h3>'
    yield f'<span class="place">{_text(" · ".join(filter(None, (entry.model, entry.place))))}</span></header>'
    if not entry.is_shown:
        yield '<span class="tag error">left out</span>'
    for block in entry.blocks:
        yield _block(block, numbers, linked)
    yield f"{_list(entry.decisions)}</article>"


def _block(block: InspectedBlock, numbers: dict[CallId, int], linked: set[CallId]) -> str:
    if block.call is not None:
        return "".join(_call(block.call, numbers[block.call.id], is_linked=block.call.id in linked))
    return f'<pre class="{block.kind}">{_text(block.text)}</pre>'


def _call(call: InspectedCall, number: int, *, is_linked: bool) -> Iterator[str]:
    marks = _marks_of(call)
    yield f'<div class="call {" ".join(marks)}" id="call-{number}" data-call="{number}" tabindex="0" '
    yield f'data-labels="{_labels(call.labels)}"><strong>{_text(call.name or "unknown tool")}</strong> {_tags(marks)}'
    if is_linked:
        yield f'<a class="other" href="#sent-{number}">in the request</a>'
    yield "<dl>"
    for title, value in (
        ("canonical id", call.id),
        ("id in the file", call.wire_id),
        ("id for the target", call.sent_id),
        ("state", call.state),
        ("completion", f"{call.completion} ({call.reason})" if call.reason else call.completion),
        ("result stood at", call.result_place),
    ):
        if value:
            yield f"<dt>{title}</dt><dd>{_text(value)}</dd>"
    yield f"</dl><pre>{_text(call.arguments)}</pre>"
    if call.result:
        yield f"<details><summary>result</summary><pre>{_text(call.result)}</pre></details>"
    yield f"{_list(call.decisions)}</div>"


def _marks_of(call: InspectedCall) -> list[str]:
    """What is remarkable about a call: made by us, or moved."""
    marks = ["synthetic"] if call.completion == "synthetic" else []
    return [*marks, "moved"] if any(label.startswith("moved ") for label in call.labels) else marks


def _tags(marks: Iterable[str]) -> str:
    return "".join(f'<span class="tag {mark}">{mark}</span>' for mark in marks)


def _labels(labels: Iterable[str]) -> str:
    return _text("\n".join(labels)).replace("\n", "&#10;")


# --- the request ------------------------------------------------------------------------------------------------------


def _request(
    sent: Sequence[MessageView], around: str, numbers: dict[CallId, int], known: dict[CallId, InspectedCall]
) -> Iterator[str]:
    yield f"<details><summary>Around the messages</summary><pre>{_text(around)}</pre></details>"
    named: set[int] = set()
    for message in sent:
        yield f"<article><header><h3>{_text(message.title)}</h3></header>"
        for chunk in message.chunks:
            number = numbers.get(chunk.call, -1) if chunk.call is not None else -1
            if chunk.call is None or number < 0:
                yield f"<pre>{_text(chunk.json)}</pre>"
                continue
            marks = _marks_of(known[chunk.call]) if chunk.side == "result" else []
            anchor = "" if number in named else f' id="sent-{number}"'
            named.add(number)
            yield (
                f'<div class="call {" ".join(marks)}"{anchor} data-call="{number}" tabindex="0">'
                f'<span class="place">{chunk.side} of <a class="other" href="#call-{number}">{_text(str(chunk.call))}'
                f"</a></span> {_tags(marks)}<pre>{_text(chunk.json)}</pre></div>"
            )
        yield "</article>"
