"""Read sessions of Google's Agent Development Kit: what `Session.model_dump_json()` gives, and its SQLite files.

An event holds a content of the Gemini API, whichever model answered; fields are written with capitals inside or with
underscores, as the program chose, and bytes in the URL-safe alphabet of base64. A rewind is an event of its own, and so
is a compaction; all that they are about is still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from legato.errors import IngestError
from legato.formats.content import Content
from legato.formats.database import Database
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_seconds, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.gemini_parts import read_parts
from legato.formats.head import Head, Layout
from legato.formats.origins import home_of, origin_of, route_of
from legato.model import Block, Json, JsonObject, Speaker, Text, Thinking, ToolResponse, read_json_leniently

_COLUMNS = frozenset({"app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data"})
_STANDARD = str.maketrans("-_", "+/")
_FREE = frozenset({"args", "response"})
"""what a program made up: its names stay as they are"""
_BYTES = frozenset({"data", "thoughtSignature"})


def read(content: Content) -> list[Document]:
    """The session, or every session of a database."""
    if content.layout is Layout.DATABASE:
        with content.database() as database:
            drafts = [_session(content, session, rows) for session, rows in _sessions(database)]
        return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])
    draft = content.draft()
    holder = as_object(content.value())
    draft.meta["session"] = as_text(holder.get("id"))
    take_events(draft, as_list(holder.get("events")), "events")
    return content.finish(draft)


def read_events(events: Iterable[Json], *, name: str = "") -> Document:
    """The conversation in events as plain values: what an integration has in its hands, without a file."""
    draft = DocumentDraft("google-adk", name)
    take_events(draft, events)
    return draft.finish(digest="")


def take_events(draft: DocumentDraft, events: Iterable[Json], place: str = "") -> None:
    """Read events into `draft`; `place` comes before the index of each."""
    reader = _Reader(draft)
    for index, event in enumerate(events):
        reader.event(as_object(_camel(event)), f"{place}[{index}]")


def _sessions(database: Database) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    rows = database.rows(
        "SELECT app_name, user_id, session_id, rowid, event_data FROM events "
        "ORDER BY app_name, user_id, session_id, timestamp, rowid"
    )
    sessions: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in rows:
        sessions.setdefault(row[:3], []).append(row[3:])
    for (*_, session), events in sessions.items():
        yield as_text(session), events


def _session(content: Content, session: str, rows: list[tuple[Any, ...]]) -> DocumentDraft:
    draft = content.draft(f"{content.name}, session {session}")
    draft.meta["session"] = session
    reader = _Reader(draft)
    for number, data in rows:
        try:
            reader.event(as_object(_camel(read_json_leniently(as_text(data)))), f"row {number}")
        except IngestError:
            draft.note(f"row {number}", "is no JSON and was left out")
    return draft


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.began: dict[str, int] = {}
        """how many entries there were when each run began"""

    def event(self, event: JsonObject, place: str) -> None:
        self.draft.at = as_seconds(event.get("timestamp"))
        if event.get("partial") is True:
            self.draft.skip(place, "a piece of an answer, which follows as a whole, was passed over")
            return
        self.began.setdefault(as_text(event.get("invocationId")), len(self.draft.entries))
        self._acted(as_object(event.get("actions")), place)
        content = as_object(event.get("content"))
        blocks, unknown = read_parts(content.get("parts"))
        for what in unknown:
            self.draft.unknown(place, what)
        if event.get("author") == "user" or content.get("role") != "model":
            self.draft.human(blocks, place)
        else:
            self._answered(event, blocks, place)
        if event.get("errorMessage"):
            self.draft.note(place, f"the answer failed: {as_text(event['errorMessage'])[:200]}", is_carried=True)

    def _answered(self, event: JsonObject, blocks: list[Block], place: str) -> None:
        model = first_text(event, "modelVersion")
        provider = home_of("gemini", model)
        if model:
            self.draft.model, self.draft.route = model, route_of(provider, model)
        said = [_sealed_by(provider, block) for block in blocks if not isinstance(block, ToolResponse)]
        self.draft.say(Speaker.AI, said, place, origin=origin_of(provider, model))
        self.draft.results([block for block in blocks if isinstance(block, ToolResponse)], place)

    def _acted(self, actions: JsonObject, place: str) -> None:
        """What an event did to the conversation before it."""
        run = as_text(actions.get("rewindBeforeInvocationId"))
        first = self.began.get(run, -1) if run else -1
        if 0 <= first < len(self.draft.entries):
            left = len(self.draft.entries) - first
            self.draft.note(place, f"{left} messages were taken back here and are not carried")
            self.draft.take_back(first)
        summary = as_object(as_object(actions.get("compaction")).get("compactedContent"))
        blocks, _ = read_parts(summary.get("parts"))
        text = "\n\n".join(block.text for block in blocks if isinstance(block, Text))
        if text and self.draft.entries:
            self.draft.compactions.append(CompactionMark(0, len(self.draft.entries) - 1, text, place))
            what = "the agent put a summary in place of what came before; all of it is read here"
            self.draft.note(place, what, is_carried=True)


def _sealed_by(provider: str, block: Block) -> Block:
    """A thought with the seal of the provider that it came from: every one of them is a `thoughtSignature` here."""
    seal = (block.native or {}).get("thoughtSignature")
    if not seal or provider in ("gemini", "vertex"):
        return block
    is_claude = provider in ("anthropic", "bedrock") and isinstance(block, Thinking)
    return replace(block, native={"signature": seal} if is_claude else None)


def _camel(value: Json) -> Json:
    """A value with the names of its fields as the Gemini API writes them, and without those that hold nothing."""
    if isinstance(value, list):
        return [_camel(item) for item in as_list(value)]
    if not isinstance(value, dict):
        return value
    named: JsonObject = {}
    for key, item in as_object(value).items():
        first, *rest = key.split("_")
        name = first + "".join(word.capitalize() for word in rest)
        if item is None:
            continue
        is_text = name in _BYTES and isinstance(item, str)
        named[name] = item.translate(_STANDARD) if is_text else item if name in _FREE else _camel(item)
    return named


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    if head.tables.get("events", frozenset()) >= _COLUMNS:
        return "a table of events with event_data"
    holder = as_object(_camel({key: value for key, value in head.holder.items() if key != "events"}))
    is_session = "appName" in holder and "userId" in holder and bool(as_objects(head.holder.get("events")))
    return "events beside an app and a user" if is_session else ""


FORMAT = Format(
    name="google-adk",
    title="Google ADK session, SQLite sessions",
    known_from="files of google-adk 2.13.0",
    read=read,
    detect=_detect,
    marks=marks("events"),
)
