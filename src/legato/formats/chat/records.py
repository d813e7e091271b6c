"""Read files that hold chat requests: a conversation a line, a message a line, or a list of whole runs.

{"messages": [...]}                       fine-tuning lines
{"custom_id": ..., "body": {...}}         batch lines
{"request": {...}, "response": {...}}     recorded exchanges; the answer is not part of the request
{"interactions": [{"request": ...}]}      recorded exchanges in one value
{"role": ..., "content": ...}             one conversation, a message a line
[{"traj": [...]}]                         a list of runs
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from legato.errors import FormatError, IngestError
from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Body, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.formats.wire.reading import read_body
from legato.formats.wire.shapes import WIRE_DIALECTS, body_of, wire_format
from legato.model import Json, JsonObject, read_json_leniently

_CALLS = frozenset({"tool_call", "function_call", "tool_use"})
_RESULTS = frozenset({"tool_result", "function_result", "function_call_output"})
_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_ALONE = frozenset({"custom_id", "request", "interactions"})
"""one of these tells a single record"""
_COUNTING = re.compile(r"count_?tokens", re.IGNORECASE)
_MODEL_IN_PATH = re.compile(r"(?<=/models/)[^/:?]+|(?<=/model/)[^/?]+(?=/converse)")
"""of Gemini, whose method follows a colon; and of Bedrock, whose models have a colon in their names"""


def read(content: Content) -> list[Document]:
    """Every conversation of the file."""
    reader = _Reader(content)
    if content.layout is Layout.LINES:
        for item in content.lines():
            reader.record(item.value, item.place)
    else:
        value = content.value()
        if isinstance(value, list):
            for index, item in enumerate(as_list(value)):
                reader.record(as_object(item), f"[{index}]")
        else:
            reader.record(as_object(value), "")
    if not any(draft.entries for draft in reader.drafts):
        raise FormatError(f"{content.name}: unknown format: it holds requests, but none of a kind that is read here")
    return content.finish(*[draft for draft in reader.drafts if draft.entries or draft.notes])


class _Reader:
    def __init__(self, content: Content) -> None:
        self.content = content
        self.drafts: list[DocumentDraft] = []
        self.flat: ChatReader | None = None

    def record(self, record: JsonObject, place: str) -> None:
        for index, interaction in enumerate(as_objects(record.get("interactions"))):
            where = f"{place}{'.' if place else ''}interactions[{index}]"
            self.exchange(as_object(interaction.get("request")), interaction, where)
        if "interactions" in record:
            return
        if isinstance(record.get("traj"), list):
            self.body({"messages": record["traj"]}, record, place, inside="traj")
        elif isinstance(record.get("body"), dict):
            self.body(as_object(record["body"]), record, place, inside="body")
        elif isinstance(record.get("request"), dict):
            self.exchange(as_object(record["request"]), record, place)
        elif any(isinstance(record.get(name), list) for name in ("messages", "contents", "input")):
            self.body(record, record, place)
        else:
            self.line(record, place)

    def exchange(self, request: JsonObject, record: JsonObject, place: str) -> None:
        """A recorded exchange: the request is a body, or holds one as text or as a value."""
        source: Json = request.get("body", request)
        if isinstance(source, str):
            try:
                source = read_json_leniently(source)
            except IngestError:
                source = {}
        self.body(body_of(source), {**request, **record}, place, inside="request")

    def body(self, body: JsonObject, record: JsonObject, place: str, *, inside: str = "") -> None:
        draft = self.content.draft(f"{self.content.name}, {place}" if place else "")
        self.drafts.append(draft)
        draft.meta["session"] = first_text(record, "custom_id", "id", "task_id")
        found = (self.content.wire, "") if self.content.wire else wire_format(body)
        prefix = f"{place}, " if place.startswith("line") else f"{place}." if place else ""
        prefix += f"{inside}." if inside else ""
        if found is None:
            draft.note(place, "a request that is not understood and was left out", is_unknown=True)
            return
        draft.format = found[0]
        address = first_text(record, "url", "path")
        only_counts = bool(_COUNTING.search(address))  # such a request needs no more than the messages
        is_example = not inside and place.startswith("line") and "model" not in body
        is_bare = inside in ("", "traj") or only_counts
        draft.body = Body(body, WIRE_DIALECTS[draft.format], prefix, is_bare=is_bare, is_example=is_example)
        in_path = _MODEL_IN_PATH.search(address)
        read_body(body, draft, model=unquote(in_path[0]) if in_path else "", prefix=prefix)

    def line(self, record: JsonObject, place: str) -> None:
        """A message of the one conversation that the file is."""
        if self.flat is None:
            self.flat = ChatReader(self.content.draft())
            self.flat.draft.format = self.content.wire or self.content.format
            self.drafts.append(self.flat.draft)
        draft = self.flat.draft
        model = as_text(record.get("model"))
        if model:
            provider = provider_of_model(model)
            draft.model, draft.route = model, route_of(provider, model)
            self.flat.origin = origin_of(provider, model)
        kind = as_text(record.get("type"))
        if "role" in record and _is_flat(record):
            inner: Json = record.get("message")
            content: Json = as_object(inner).get("content") if isinstance(inner, dict) else inner
            self.flat.message({"content": content, **record}, place)
        elif kind in _CALLS:
            self.flat.call(record, place)
        elif kind in _RESULTS:
            self.flat.result(record, place)
        else:
            draft.unknown(place, f"a record of type {kind!r}")


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    for item in head.items:
        if isinstance(item.get("traj"), list):
            return "a list of trajectories"
        if reason := _holds_a_body(item):
            return reason.replace("lines", "objects")
    records = list(head.records)
    if len(records) < 2 and not any(_ALONE & record.keys() for record in records):
        return ""
    return next((reason for record in records if (reason := _holds_a_body(record))), "")


def _resembles(head: Head) -> str:
    are_several = len(head.records) >= 2
    is_said = any(as_text(record.get("role")) in _ROLES and _is_flat(record) for record in head.records)
    return "lines with a role and a content" if are_several and is_said else ""


def _is_flat(record: JsonObject) -> bool:
    """Whether a record is one message of a conversation that is written a message a line."""
    return "content" in record or "message" in record or "tool_calls" in record


def _holds_a_body(record: JsonObject) -> str:
    body = as_object(record.get("body"))
    if body and ("custom_id" in record or "method" in record):
        return "batch lines with a body"
    if body and wire_format(body):
        return "lines with the body of a request"
    if isinstance(record.get("request"), dict) and wire_format(record["request"]):
        return "lines with a request"
    if _cassette(record):
        return "recorded interactions"
    for name in ("messages", "contents", "input"):
        if isinstance(record.get(name), list) and wire_format(record):
            return f"lines with {name}"
    return ""


def _cassette(record: JsonObject) -> bool:
    return any(isinstance(item.get("request"), dict) for item in as_objects(record.get("interactions")))


FORMAT = Format(
    name="chat-records",
    title="chat records, many in one file",
    known_from="recorded requests",
    read=read,
    detect=_detect,
    resembles=_resembles,
    marks=marks("messages", "body custom_id", "request", "role", "contents", "type name"),
)
