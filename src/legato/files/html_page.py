"""The page of `legato inspect --html`: one file that needs no network.

In:  a story and the request that was rendered from it.
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
from legato.files.inspection import CallStory, Part, Piece, Story
from legato.files.request_view import Card, cards, envelope
from legato.files.text import counted, printable
from legato.model import CallId
from legato.request import Request

LIMIT = 20_000
"""characters of one text; what is longer is cut and says so"""


def make_page(story: Story, request: Request, *, redactor: Redactor | None = None) -> str:
    """The page for `story` and `request`."""
    redactor = redactor or Redactor()
    style, script = (_packaged(f"page.{kind}") for kind in ("css", "js"))
    numbers = {call.id: number for number, call in enumerate(story.calls)}
    sent = cards(request, redactor=redactor, limit=LIMIT)
    known = {call.id: call for call in story.calls}
    return Template(_packaged("page.html")).substitute(
        policy=_policy(style, script),
        title=_text(story.name),
        style=style,
        script=script,
        facts=_text(_facts(story)),
        options="".join(_options(story)),
        remarks="".join(_remarks(story)),
        conversation="\n".join(_conversation(story, numbers, _linked(sent))),
        route=_text(request.target.route),
        request="\n".join(_request(sent, envelope(request, redactor=redactor, limit=LIMIT), numbers, known)),
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


def _facts(story: Story) -> str:
    states = Counter(call.state for call in story.calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    calls = f"{counted(len(story.calls), 'call')} ({told})" if told else "no calls"
    facts = [story.format, story.route, counted(story.turns, "turn"), calls, counted(story.tools, "tool")]
    return " · ".join(fact for fact in facts if fact)


def _options(story: Story) -> Iterator[str]:
    labels = Counter(label for part in story.parts for label in part.labels)
    labels.update(label for call in story.calls for label in call.labels)
    for label, count in sorted(labels.items()):
        yield f'<option value="{_text(label)}">{_text(label)} ({count})</option>'


def _remarks(story: Story) -> Iterator[str]:
    if story.system:
        yield f"<details><summary>System prompt</summary><pre>{_text(story.system)}</pre></details>"
    for title, lines in (("About the request", story.about_request), ("Not carried from the file", story.notes)):
        if lines:
            yield f"<details><summary>{title} ({len(lines)})</summary>{_list(lines)}</details>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f'<ul class="decisions">{items}</ul>' if items else ""


# --- the conversation -------------------------------------------------------------------------------------------------


def _linked(sent: Sequence[Card]) -> set[CallId]:
    return {chunk.call for card in sent for chunk in card.chunks if chunk.call is not None}


def _conversation(story: Story, numbers: dict[CallId, int], linked: set[CallId]) -> Iterator[str]:
    turn = 0
    for part in story.parts:
        if part.turn != turn:
            turn = part.turn
            yield f'<p class="turn">Turn {turn}</p>'
        yield "".join(_part(part, numbers, linked))


def _part(part: Part, numbers: dict[CallId, int], linked: set[CallId]) -> Iterator[str]:
    classes = "" if part.is_shown else ' class="left-out"'
    yield f'<article{classes} data-labels="{_labels(part.labels)}"><header><h3>{_text(part.speaker)}</h3>'
    yield f'<span class="place">{_text(" · ".join(filter(None, (part.model, part.place))))}</span></header>'
    if not part.is_shown:
        yield '<span class="tag error">left out</span>'
    for piece in part.pieces:
        yield _piece(piece, numbers, linked)
    yield f"{_list(part.decisions)}</article>"


def _piece(piece: Piece, numbers: dict[CallId, int], linked: set[CallId]) -> str:
    if piece.call is not None:
        return "".join(_call(piece.call, numbers[piece.call.id], is_linked=piece.call.id in linked))
    return f'<pre class="{piece.kind}">{_text(piece.text)}</pre>'


def _call(call: CallStory, number: int, *, is_linked: bool) -> Iterator[str]:
    marks = marks_of(call)
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


def marks_of(call: CallStory) -> list[str]:
    """What is remarkable about a call: made by us, or moved."""
    marks = ["synthetic"] if call.completion == "synthetic" else []
    return [*marks, "moved"] if any(label.startswith("moved ") for label in call.labels) else marks


def _tags(marks: Iterable[str]) -> str:
    return "".join(f'<span class="tag {mark}">{mark}</span>' for mark in marks)


def _labels(labels: Iterable[str]) -> str:
    return _text("\n".join(labels)).replace("\n", "&#10;")


# --- the request ------------------------------------------------------------------------------------------------------


def _request(
    sent: Sequence[Card], around: str, numbers: dict[CallId, int], known: dict[CallId, CallStory]
) -> Iterator[str]:
    yield f"<details><summary>Around the messages</summary><pre>{_text(around)}</pre></details>"
    named: set[int] = set()
    for card in sent:
        yield f"<article><header><h3>{_text(card.title)}</h3></header>"
        for chunk in card.chunks:
            number = numbers.get(chunk.call, -1) if chunk.call is not None else -1
            if chunk.call is None or number < 0:
                yield f"<pre>{_text(chunk.json)}</pre>"
                continue
            marks = marks_of(known[chunk.call]) if chunk.side == "result" else []
            anchor = "" if number in named else f' id="sent-{number}"'
            named.add(number)
            yield (
                f'<div class="call {" ".join(marks)}"{anchor} data-call="{number}" tabindex="0">'
                f'<span class="place">{chunk.side} of <a class="other" href="#call-{number}">{_text(str(chunk.call))}'
                f"</a></span> {_tags(marks)}<pre>{_text(chunk.json)}</pre></div>"
            )
        yield "</article>"
