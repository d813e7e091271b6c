"""Read goose sessions: the SQLite file that it keeps them in now, and the JSONL files from before.

A message is a role and a content of typed parts. A call or a result that could not be made is there with the status
`error`. Messages that a compaction put out of the agent's sight stay, marked as such, and the summary is a message that
only the agent sees.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from legato.errors import IngestError
from legato.formats.blocks import response, result_content, split_content
from legato.formats.content import Content
from legato.formats.database import Database
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_seconds, as_text, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Block, Json, JsonObject, Speaker, Thinking, ToolCall, ToolResponse, read_json_leniently
from legato.wire.arguments import read_arguments

_MESSAGES = frozenset({"session_id", "role", "content_json", "metadata_json"})
_SESSIONS = frozenset({"id", "working_dir", "provider_name", "model_config_json"})
_CALLS = frozenset({"toolRequest", "frontendToolRequest"})
_WITHOUT_WORDS = frozenset({"toolConfirmationRequest", "actionRequired", "systemNotification", "conversationCompacted"})
"""what goose shows to a person, or asks of one, and never sends to a model"""


def read(content: Content) -> list[Document]:
    """The session, or every session of a database."""
    if content.layout is Layout.DATABASE:
        with content.database() as database:
            drafts = [_session(content, database, row) for row in _sessions(database)]
        return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])
    draft = content.draft()
    reader = _Reader(draft)
    for item in content.items("conversation", "messages"):
        if "role" in item.value or "content" in item.value:
            reader.message(item.value, as_object(item.value.get("metadata")), item.place)
        else:
            keep_known(draft.meta, item.value, {"working_dir": "cwd", "description": "title", "id": "session"})
    return content.finish(draft)


def _sessions(database: Database) -> list[tuple[Any, ...]]:
    return database.rows("SELECT id, working_dir, provider_name, model_config_json FROM sessions ORDER BY id")


def _session(content: Content, database: Database, row: tuple[Any, ...]) -> DocumentDraft:
    session, folder, provider, config = row
    draft = content.draft(f"{content.name}, session {session}")
    draft.meta = {"session": as_text(session), "cwd": as_text(folder)}
    reader = _Reader(draft)
    reader.provider = provider_named(as_text(provider)) or as_text(provider)
    reader.model(first_text(as_object(_json(config)), "model_name"))
    created = "created_timestamp" if "created_timestamp" in database.tables["messages"] else "NULL"
    for number, role, parts, metadata, at in database.rows(
        f"SELECT id, role, content_json, metadata_json, {created} FROM messages WHERE session_id = ? ORDER BY id",
        (session,),
    ):
        message: JsonObject = {"role": as_text(role), "content": _json(parts), "created": at}
        if message["content"] is None:
            draft.note(f"row {number}", "is no JSON and was left out")
        else:
            reader.message(message, as_object(_json(metadata)), f"row {number}")
    return draft


def _json(text: Any) -> Json:
    try:
        return read_json_leniently(as_text(text))
    except IngestError:
        return None


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.provider = ""
        self.hidden = 0
        """how many entries the agent does not see any more"""

    def model(self, model: str) -> None:
        if model:
            self.provider = self.provider or provider_of_model(model)
            self.draft.model, self.draft.route = model, route_of(self.provider, model)

    def message(self, message: JsonObject, metadata: JsonObject, place: str) -> None:
        self.draft.at = as_seconds(message.get("created"))
        blocks = [
            block
            for index, part in enumerate(as_list(message.get("content")))
            for block in self._part(as_object(part), f"{place}, content[{index}]")
        ]
        if metadata.get("userVisible") is False and self.hidden:
            self._summary(blocks, place)
            return
        if message.get("role") == "assistant":
            self._answer(blocks, place)
        elif message.get("role") == "user":
            self.draft.human(blocks, place)
        else:
            role = as_text(message.get("role"))
            self.draft.unknown(place, f"a message of role {role!r}")
        if metadata.get("agentVisible") is False:
            self.hidden = len(self.draft.entries)

    def _answer(self, blocks: list[Block], place: str) -> None:
        """What the model said; results in it are what its tools returned."""
        origin = origin_of(self.provider, self.draft.model)
        for are_results, run in groupby(blocks, key=lambda block: isinstance(block, ToolResponse)):
            speaker = Speaker.TOOL if are_results else Speaker.AI
            self.draft.say(speaker, run, place, origin=None if are_results else origin)

    def _summary(self, blocks: list[Block], place: str) -> None:
        """What stands for the agent in place of all that it does not see any more."""
        text = "\n\n".join(getattr(block, "text", "") for block in blocks)
        self.draft.compactions.append(CompactionMark(0, self.hidden - 1, text, place))
        what = "the agent put a summary in place of what came before; all of it is read here"
        self.draft.note(place, what, is_carried=True)
        self.hidden = 0

    def _part(self, part: JsonObject, place: str) -> list[Block]:
        kind = as_text(part.get("type"))
        if kind in _CALLS:
            return self._call(part, place)
        if kind == "toolResponse":
            return [_result(part)]
        if kind in ("thinking", "redactedThinking"):
            return _thought(part)
        if kind in _WITHOUT_WORDS:
            return []
        blocks, unknown = split_content(part)
        if unknown:
            self.draft.unknown(place, f"a part of type {kind!r}")
        return blocks

    def _call(self, part: JsonObject, place: str) -> list[Block]:
        made = as_object(part.get("toolCall"))
        called = as_object(made.get("value"))
        value, raw, finished = read_arguments(called.get("arguments"))
        if not called:
            self.draft.note(
                place, f"a call that could not be made: {as_text(made.get('error'))[:200]}", is_carried=True
            )
        signature = as_text(part.get("thoughtSignature"))
        native = {"thoughtSignature": signature} if signature else None
        name = as_text(called.get("name"))
        return [ToolCall(name, value, as_id(part.get("id")), raw=raw, finished=finished, native=native)]


def _result(part: JsonObject) -> ToolResponse:
    """What a tool returned: a list of parts, in newer files with more around it, or why there is none."""
    given = as_object(part.get("toolResult"))
    wire_id = as_id(part.get("id"))
    if given.get("status") == "error":
        return response(wire_id, "", as_text(given.get("error")) or "the tool failed", is_error=True)
    value: Json = given.get("value")
    held = as_object(value)
    parts = as_objects(held.get("content") if "content" in held else value)
    told, media = result_content([_plain(item) for item in parts])
    return response(wire_id, "", told, is_error=held.get("isError") is True, media=media)


def _plain(part: JsonObject) -> JsonObject:
    """A part of a result; the text of a resource is text."""
    resource = as_object(part.get("resource"))
    return {"type": "text", "text": resource["text"]} if isinstance(resource.get("text"), str) else part


def _thought(part: JsonObject) -> list[Block]:
    if data := as_text(part.get("data")):
        return [Thinking(native={"data": data})]
    text, signature = as_text(part.get("thinking")), as_text(part.get("signature"))
    return [Thinking(text, native={"signature": signature} if signature else None)] if text or signature else []


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    if head.tables.get("messages", frozenset()) >= _MESSAGES and head.tables.get("sessions", frozenset()) >= _SESSIONS:
        return "tables of sessions and messages with content_json"
    first = head.records[0] if head.records else {}
    if "working_dir" in first and "role" not in first and ("description" in first or "message_count" in first):
        return "a first line with a working_dir"
    held = (*head.records, *as_objects(head.holder.get("conversation")))
    parts = (part for item in held for part in as_objects(item.get("content")))
    return next(
        (f"a part of type {part['type']}" for part in parts if part.get("type") in ("toolRequest", "toolResponse")), ""
    )


FORMAT = Format(
    name="goose",
    title="goose session, SQLite sessions",
    known_from="published sessions, and goose's source",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.local/share/goose/sessions",
        files="*.db",
        source="https://block.github.io/goose/docs/guides/logs",
    ),
    marks=marks("role content", "working_dir"),
    is_lines=True,
)
