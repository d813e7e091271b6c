"""Read what the OpenAI Agents SDK keeps of a run: items of the Responses API, whoever answered.

a state     the input, then what the run made of it: `session_items` is the whole record, `generated_items` what the
            next request is made of, which a handoff may have shortened; then input that waits for the next turn
a database  a row for each item, of many sessions; one with `message_structure` has branches, too
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from legato.errors import IngestError
from legato.formats.chat.sealed import read_thinking_blocks
from legato.formats.content import Content
from legato.formats.database import Database, quoted
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_id, as_list, as_object, as_text
from legato.formats.head import Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model
from legato.formats.wire.reading import read_body
from legato.model import Block, Entry, Json, JsonObject, Speaker, Text, Thinking, ToolCall, read_json_leniently

_COLUMNS = frozenset({"id", "session_id", "message_data"})
_BRANCHES = frozenset({"message_id", "session_id", "branch_id", "sequence_number"})
_PLACE = re.compile(r"input\[(\d+)(?::(\d+))?\]")


class PlacedItem(NamedTuple):
    """An item of the Responses API, and where it was."""

    place: str
    item: Json


def read(content: Content) -> list[Document]:
    """The run, or every session of a database."""
    if content.layout is Layout.DATABASE:
        with content.database() as database:
            drafts = [_session(content, session, rows) for session, rows in _sessions(database)]
        return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])
    draft = content.draft()
    take_items(draft, list(_of_state(as_object(content.value()))))
    return content.finish(draft)


def read_items(items: Iterable[Json], *, name: str = "") -> Document:
    """The conversation in items as a session of the SDK gives them: what an integration has, without a file."""
    draft = DocumentDraft("openai-agents", name)
    take_items(draft, [PlacedItem(f"[{index}]", item) for index, item in enumerate(items)])
    return draft.finish(digest="")


def take_items(draft: DocumentDraft, items: Sequence[PlacedItem]) -> None:
    """Read items as the input that they are, each with its own place."""
    inner = DocumentDraft("openai-responses")
    read_body({"input": [item for _, item in items]}, inner, provider="openai-responses")

    def placed(place: str) -> str:
        found = _PLACE.match(place)
        if found is None:
            return place
        first, last = int(found[1]), int(found[2] or int(found[1]) + 1) - 1
        until = f" to {items[last].place}" if last > first else ""
        return items[first].place + until + place[found.end() :]

    draft.entries = [
        _as_made(entry, _made_of(place, items)) for entry, place in zip(inner.entries, inner.places, strict=True)
    ]
    draft.sources, draft.system = inner.sources, inner.system
    draft.places = [placed(place) for place in inner.places]
    for note in inner.notes:
        draft.note(placed(note.place), note.message, is_carried=note.is_carried, is_unknown=note.is_unknown)


def _made_of(place: str, items: Sequence[PlacedItem]) -> list[JsonObject]:
    """The items that an entry was read from."""
    found = _PLACE.match(place)
    if found is None:
        return []
    first = int(found[1])
    return [as_object(item) for _, item in items[first : int(found[2] or first + 1)]]


def _as_made(entry: Entry, items: list[JsonObject]) -> Entry:
    """An answer with its model and its own thoughts, where the SDK asked another API than Responses.

    `provider_data` then names the model, as a client of it was asked for it, and holds Claude's thoughts as they came
    (openai/openai-agents-python, `models/chatcmpl_converter.py`).
    """
    told = [as_object(item.get("provider_data")) for item in items]
    model = next((model for data in told if (model := as_text(data.get("model")))), "")
    if entry.speaker is not Speaker.AI or not model:
        return entry
    provider = provider_named(model.partition("/")[0], model) or provider_of_model(model)
    origin = origin_of(provider, model.rpartition("/")[2])
    sealed = [thought for data in told for thought in read_thinking_blocks(data.get("thinking_blocks"))]
    said = [_unsealed(block) for block in entry.blocks if not (sealed and isinstance(block, Thinking))]
    return replace(entry, origin=origin, blocks=(*sealed, *said))


def _unsealed(block: Block) -> Block:
    """A thought without the form of an item, which is the SDK's and not the model's."""
    return replace(block, native=None) if isinstance(block, Thinking | ToolCall | Text) else block


# --- states -----------------------------------------------------------------------------------------------------------


def _of_state(state: JsonObject) -> Iterator[PlacedItem]:
    yield from _input(state, "original_input")
    made = list(_made(state, "session_items"))
    known = Counter(map(_key, made))
    for placed in _made(state, "generated_items"):
        if known[_key(placed)]:
            known[_key(placed)] -= 1
        else:
            made.append(placed)
    called = {as_id(as_object(item).get("call_id")) for (_, item), waits in made if not waits}
    for placed, waits in made:
        call_id = as_id(as_object(placed.item).get("call_id"))
        if not waits or call_id not in called:  # a call that waits for consent is there as a call, too
            called.add(call_id)
            yield placed
    yield from _input(state, "pending_input")


def _input(state: JsonObject, name: str) -> Iterator[PlacedItem]:
    given: Json = state.get(name)
    if isinstance(given, str):
        yield PlacedItem(name, {"role": "user", "content": given})
    for index, item in enumerate(as_list(given)):
        yield PlacedItem(f"{name}[{index}]", item)


class _Made(NamedTuple):
    placed: PlacedItem
    waits: bool
    """whether it only says that a call waits for consent"""


def _made(state: JsonObject, name: str) -> Iterator[_Made]:
    for index, entry in enumerate(as_list(state.get(name))):
        item = as_object(as_object(entry).get("raw_item"))
        yield _Made(PlacedItem(f"{name}[{index}]", item), as_object(entry).get("type") == "tool_approval_item")


def _key(made: _Made) -> bytes:
    return msgspec.json.encode([made.placed.item, made.waits])


# --- databases --------------------------------------------------------------------------------------------------------


def messages_table(tables: Mapping[str, frozenset[str]]) -> str:
    """The table of items, whose name its program may choose; empty if there is none."""
    return next((name for name, columns in tables.items() if columns >= _COLUMNS), "")


def _sessions(database: Database) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The name of each session, with the number and the data of its rows; the branches of one are sessions, too."""
    table = messages_table(database.tables)
    items = quoted(table)
    if database.tables.get("message_structure", frozenset()) >= _BRANCHES:
        found = database.rows(
            f"SELECT s.session_id, s.branch_id, m.id, m.message_data FROM message_structure s JOIN {items} m "
            "ON m.id = s.message_id ORDER BY s.session_id, s.branch_id <> 'main', s.branch_id, s.sequence_number"
        )
        named = [
            (f"{session}, branch {branch}" if branch != "main" else session, row) for session, branch, *row in found
        ]
    else:
        found = database.rows(f"SELECT session_id, id, message_data FROM {items} ORDER BY id")
        named = [(session, row) for session, *row in found]
    sessions: dict[str, list[tuple[Any, ...]]] = {}
    for session, row in named:
        sessions.setdefault(str(session), []).append(tuple(row))
    yield from sessions.items()


def _session(content: Content, session: str, rows: list[tuple[Any, ...]]) -> DocumentDraft:
    draft = content.draft(f"{content.name}, session {session}")
    draft.meta["session"] = session
    items: list[PlacedItem] = []
    broken: list[str] = []
    for number, data in rows:
        try:
            items.append(PlacedItem(f"row {number}", read_json_leniently(as_text(data))))
        except IngestError:
            broken.append(f"row {number}")
    take_items(draft, items)
    for place in broken:
        draft.note(place, "is no JSON and was left out")
    return draft
