"""Write the page of one conversation, piece by piece.

In:  the document, the request that is made of it, and the conversations of its subagents.
Out: bytes of HTML, and a summary for whoever lists the page.

The frame, the outline and the script come first, so that a browser shows the beginning while it still reads the rest;
then come the entries in chunks, which the script parses when they come into sight. The outline is known only at the
end, so the chunks wait in a temporary file: the page is never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from msgspec import Struct

from legato.diagnostics import Redactor
from legato.files.html.entry_data import entry_value
from legato.files.html.outline import SPEAKERS, Outline
from legato.files.html.shell import data_element, data_of_json, encode_element, frame
from legato.files.inspector import Inspector, SeenEntry, UnitKey
from legato.files.text import one_line
from legato.formats import Document
from legato.model import JsonObject, Usage
from legato.request import Request
from legato.transcript.units import Summary

_SCRIPTS = (
    "elements", "data", "markdown", "difference", "blocks", "entry", "virtual_list", "strip", "search", "prompts",
    "page",
)  # fmt: skip
_CHUNK = 256 * 1024
"""bytes of entries in one chunk: our choice, parsed in about a millisecond"""
_IN_MEMORY = 16 * 1024 * 1024
"""bytes of chunks that wait in memory; more go to a temporary file"""
_COPIED = 1024 * 1024
"""bytes that are copied from there at a time"""
_LIMIT = 1_000_000
"""characters of one text on the page; what is longer is cut and says so"""


class PageSummary(Struct, frozen=True, kw_only=True):
    """What a list of pages says about one of them."""

    name: str
    format: str
    title: str
    """the session's own name, or the first thing that a person said"""
    models: tuple[str, ...]
    turns: int
    calls: int
    entries: int
    first: float | None
    """the first moment that the file tells of, in seconds since the epoch"""
    last: float | None
    usage: Usage | None
    cost: float | None
    unpriced: int
    errors: int
    risks: int


class PageWriter:
    """Writes one page: `pieces` are its bytes, and `summary` says what is on it."""

    def __init__(
        self,
        document: Document,
        request: Request | None,
        sides: Sequence[Document] = (),
        *,
        target: str | None = None,
        unsent: str = "",
    ) -> None:
        """`sides` are the conversations of subagents; `unsent` says why there is no request."""
        self._document = document
        self._unsent = unsent
        self._request = request
        self._target = target
        self._redactor = Redactor()
        self._inspector = Inspector(
            document, target=target, request=request, redactor=self._redactor, limit=_LIMIT, keep_media=True
        )
        self._sides = _Sides(sides)
        self._outline = Outline()
        self._chunk: list[bytes] = []
        self._chunk_size = 0
        self._chunks: list[int] = []
        """the number of the first entry of each chunk"""
        self._agents: list[JsonObject] = []
        self._around: JsonObject = {}

    @property
    def summary(self) -> PageSummary:
        """What is on the page, as soon as it is written."""
        outline, (first, last) = self._outline, self._outline.times
        return PageSummary(
            name=self._document.name,
            format=self._document.format,
            title=self._title,
            models=tuple(outline.models),
            turns=outline.turns,
            calls=sum(outline.states.values()),
            entries=outline.count,
            first=first,
            last=last,
            usage=outline.usage if outline.usage != Usage() else None,
            cost=outline.spent["cost"],
            unpriced=outline.unpriced,
            errors=outline.levels["error"] + sum(item.level == "error" for item in self._inspector.other_findings),
            risks=outline.levels["risky"] + sum(item.level == "risky" for item in self._inspector.other_findings),
        )

    @property
    def _title(self) -> str:
        said = self._outline.title or next((text for _, text in self._outline.prompts if text), "")
        return one_line(self._redactor.text(self._document.meta.get("title", "")), 120) or one_line(said, 120)

    def pieces(self) -> Iterator[bytes]:
        """The page."""
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as waiting:
            for piece in self._data():
                waiting.write(piece)
            before, behind = frame("page", _SCRIPTS, title=self._title or self._document.name)
            yield before
            yield data_element("outline", self._about())
            yield behind
            waiting.seek(0)
            yield from _copied(waiting)
        yield b"</body>\n</html>\n"

    # --- entries ------------------------------------------------------------------------------------------------------

    def _data(self) -> Iterator[bytes]:
        sent = self._sent()
        for seen in self._inspector.entries():
            yield from self._add(seen, sent.pop(seen.key, ()))
            if self._sides:
                for side in self._sides.called_in(seen):
                    yield from self._add_side(side)
        for side in self._sides.rest():
            yield from self._add_side(side)
        yield from self._flush()

    def _sent(self) -> dict[UnitKey, Sequence[JsonObject]]:
        """The messages of each entry."""
        if self._request is None:
            return {}
        pieces = self._request.pieces()
        sent: dict[UnitKey, Sequence[JsonObject]] = {
            (unit.key, 0 if isinstance(unit, Summary) else unit.part): messages for unit, messages in pieces.units
        }
        around: JsonObject = {"fields": self._redactor.value(pieces.fields), "first": [], "tail": []}
        for name, messages in (("first", pieces.first), ("tail", pieces.tail)):
            around[name] = [self._redactor.value(message) for message in messages]
        self._around = around
        return sent

    def _add(self, seen: SeenEntry, sent: Sequence[JsonObject], agent: int = 0) -> Iterator[bytes]:
        json = encode_element(entry_value(seen, sent, self._redactor))
        if not self._chunk:
            self._chunks.append(self._outline.count)
        self._outline.add(seen.entry, agent=agent)
        self._chunk.append(json)
        self._chunk_size += len(json)
        if self._chunk_size >= _CHUNK:
            yield from self._flush()

    def _flush(self) -> Iterator[bytes]:
        if self._chunk:
            yield data_of_json(f"chunk-{len(self._chunks) - 1}", b"[" + b",\n".join(self._chunk) + b"]")
            self._chunk, self._chunk_size = [], 0

    def _add_side(self, document: Document) -> Iterator[bytes]:
        agent = len(self._agents) + 1
        name = self._redactor.text(document.meta.get("sidechain", "") or str(agent))
        self._agents.append({"name": name, "first": self._outline.count})
        for seen in Inspector(document, redactor=self._redactor, limit=_LIMIT, keep_media=True).entries():
            yield from self._add(seen, (), agent)

    # --- the outline --------------------------------------------------------------------------------------------------

    def _about(self) -> dict[str, Any]:
        document, inspector, request = self._document, self._inspector, self._request
        meta = {name: self._redactor.text(value) for name, value in document.meta.items()}
        return {
            "name": document.name,
            "title": self._title,
            "format": document.format,
            "route": document.route,
            "meta": meta,
            "system": inspector.clip(document.system),
            "tools_defined": len(document.tools),
            "notes": inspector.notes,
            "about": inspector.about_request,
            "findings": [
                {"level": item.level.value, "rule": item.rule, "message": item.message, "place": item.place}
                for item in inspector.other_findings
            ],
            "wire": None if request is None else {"route": request.target.route, **self._around},
            "asked": self._target is not None,
            "unsent": self._unsent,
            "speakers": SPEAKERS,
            "agents": self._agents,
            "chunks": self._chunks,
            **self._outline.value(),
        }


class _Sides:
    """The conversations of subagents, each to be shown where it was asked for.

    A file does not always say which call began it; the call's prompt is what the subagent was told first.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._waiting: dict[str, list[Document]] = {}
        for document in documents:
            first = document.entries[0].text.strip() if document.entries else ""
            self._waiting.setdefault(first, []).append(document)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def called_in(self, seen: SeenEntry) -> Iterator[Document]:
        """Those that a call of this entry began."""
        for prompt in _prompts(seen):
            if found := self._waiting.get(prompt):
                yield found.pop(0)
                if not found:
                    del self._waiting[prompt]

    def rest(self) -> Iterator[Document]:
        """Those that no call began."""
        for documents in self._waiting.values():
            yield from documents


def _prompts(seen: SeenEntry) -> Iterator[str]:
    for block in seen.entry.blocks:
        if block.call is None:
            continue
        try:
            arguments = msgspec.json.decode(block.call.arguments, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError):
            continue
        prompt = arguments.get("prompt")
        if isinstance(prompt, str):
            yield prompt.strip()


def _copied(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_COPIED):
        yield piece
