"""List everything in a file that a user would miss, going by the shape of its JSON alone.

In:  the records of a file (or the one value it consists of), parsed and otherwise untouched.
Out: items, each with its place: texts, instructions, calls, results, tool definitions, attachments, settings, and every
     other field, known or not (`cache_control`, a signature, something new).

This deliberately is not a reader. A reader knows one format and cannot miss what it misunderstood. The inventory uses
the vocabulary of all formats at once and lists whatever it has no word for as a plain field, so it also notices content
that went missing because a file was mistaken for another format. Ids, roles and types only connect items and are not
listed; neither are empty values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from typing import NamedTuple

from legato.formats.fields import as_list, as_object, as_objects, as_text, first_id, first_text
from legato.formats.mending.bare_json import canonical, safe_text
from legato.model import Json, JsonObject
from legato.wire.phrases import EMPTY_RESULT, INSTRUCTION_MARK


class ItemKind(StrEnum):
    """What an item is, in the words used when its loss is reported."""

    TEXT = "text"
    INSTRUCTION = "instruction"
    CALL = "call"
    RESULT = "result"
    CALLED = "name of the tool"
    """the tool that a result belongs to, named beside the result"""
    TOOL = "tool"
    MEDIA = "attachment"
    MARK = "field"
    SETTING = "setting"
    ENVELOPE = "field of the record"


class InventoryItem(NamedTuple):
    """One thing in a file. Two items with the same kind and key are equal, wherever they are.

    `name` is the name of a tool, a field or a setting; `id` is the call id, for calls and their results. `owner` is the
    place of the call or result that an item is part of, `record` the number of its record or message.
    """

    kind: ItemKind
    key: str
    place: str
    name: str = ""
    id: str = ""
    owner: str = ""
    record: int = -1


_HEADS = ("messages", "contents", "input")
"""the fields of a request that contain the conversation"""
_SYSTEM = ("system", "systemInstruction", "system_instruction", "instructions", "system_prompt")
_TOOLS = ("tools", "functions")
_INSIDE = frozenset({"content", "parts", "summary", "message", "payload", "loglines", "messages", "tool_calls"})
"""fields of a message or record that contain more of the conversation"""
_CALLS = frozenset({"functionCall", "function_call", "function", "toolUse"})
_RESULTS = frozenset({"functionResponse", "function_response", "toolResult"})
_LINKS = frozenset(
    {"type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "status", "index",
     "uuid", "parentUuid", "timestamp", "ordinal"}
)  # fmt: skip
"""fields that only connect items"""
_NOTHING: tuple[Json, ...] = (None, "", [], {})
_CALL_TYPES = re.compile(r".+(?:_use|_call|-call)|toolCall")
_RESULT_TYPES = re.compile(r".+(?:_result|-result|_output)|toolResult")
_RESULT_ROLES = ("tool", "function", "toolResult")
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("input", "arguments", "args", "action", "operation")
_OUTPUTS = ("content", "output", "result", "response", "tools")
_IDS = ("call_id", "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "id")
_MEDIA_TYPES = re.compile(r"(?:input_)?(?:image|document|audio|video|file)(?:_url|_data)?|media")
_MEDIA_FIELDS = frozenset(
    {"inlineData", "fileData", "inline_data", "file_data", "image_url", "input_audio", "image", "document", "video"}
)


def take_inventory(values: Iterable[tuple[str, Json]]) -> list[InventoryItem]:
    """Every item in these records, given as pairs of place and value.

    A file that is one value is a single record with an empty place. If that value is a request, the fields around its
    messages are settings. Raises `RecursionError` for JSON that is nested too deeply.
    """
    walk = _Walk()
    for number, (place, value) in enumerate(values):
        walk.record = number
        walk.top(value, place)
    return walk.items


class _Walk:
    def __init__(self) -> None:
        self.items: list[InventoryItem] = []
        self.record = -1
        self._owner = ""
        self._instructs = False

    def add(self, kind: ItemKind, key: str, place: str, *, name: str = "", call_id: str = "") -> None:
        """List an item unless it is blank."""
        if key.strip():
            self.items.append(InventoryItem(kind, key, place, name, call_id, self._owner, self.record))

    # --- the outside --------------------------------------------------------------------------------------------------

    def top(self, value: Json, place: str) -> None:
        """A record, a request, or a bare list of messages."""
        holder = as_object(value)
        if isinstance(value, list) and not place:
            self.each(value, place)
        elif not place and any(name in holder for name in _HEADS):
            self.request(holder)
        elif holder and _INSIDE & holder.keys() and not as_text(holder.get("role")):
            self.envelope(holder, place)
        else:
            self.inside(value, place)

    def envelope(self, record: JsonObject, place: str) -> None:
        """A record around a message. Its own fields (cwd, version) mostly repeat from record to record."""
        self.fields({name: value for name, value in record.items() if name in _INSIDE}, place)
        for name, value in record.items():
            if name not in _INSIDE and name not in _LINKS and value not in _NOTHING:
                self.add(ItemKind.ENVELOPE, f"{name}={canonical(value)}", f"{place}.{name}", name=name)

    def request(self, body: JsonObject) -> None:
        for name, value in body.items():
            self.record = -1
            if name in _HEADS and isinstance(value, list):
                self.each(value, name)
            elif name in _HEADS:
                self.inside(value, name)
            elif name in _SYSTEM:
                with self.instructing():
                    self.inside(value, name)
            elif name in _TOOLS:
                self.tools(value, name)
            elif name == "toolConfig" and (tools := as_object(value).get("tools")):  # of Bedrock
                self.tools(tools, f"{name}.tools")
                self.fields(as_object(value), name, skip=("tools",))
            elif value is not None:
                self.add(ItemKind.SETTING, f"{name}={canonical(value)}", name, name=name)

    def each(self, messages: Json, place: str) -> None:
        """Messages; each counts as a record."""
        for index, item in enumerate(as_list(messages)):
            self.record = index
            self.inside(item, f"{place}[{index}]")

    def tools(self, value: Json, place: str) -> None:
        for index, item in enumerate(as_list(value) if isinstance(value, list) else [value]):
            tool = as_object(item)
            declared = as_list(tool.get("functionDeclarations") or tool.get("function_declarations"))
            for one in declared or [item]:
                known = as_object(one)
                inner = as_object(known.get("function") or known.get("toolSpec"))
                name = first_text(known, "name") or first_text(inner, "name")
                self.add(ItemKind.TOOL, canonical(one), f"{place}[{index}]", name=name or as_text(known.get("type")))
            if declared:
                self.fields(tool, f"{place}[{index}]", skip=("functionDeclarations", "function_declarations"))

    # --- the inside: messages, items, blocks, parts, the records around them ------------------------------------------

    def inside(self, value: Json, place: str) -> None:
        """Any part of a conversation."""
        if isinstance(value, dict):
            self.object(as_object(value), place)
        elif isinstance(value, list):
            for index, item in enumerate(as_list(value)):
                self.inside(item, f"{place}[{index}]")
        elif isinstance(value, str):
            self.text(value, place)
        elif value is not None:
            self.add(ItemKind.MARK, canonical(value), place)

    def object(self, item: JsonObject, place: str) -> None:
        role, kind = as_text(item.get("role")), as_text(item.get("type"))
        if kind == "text" and not as_text(item.get("text")).strip():
            return  # blank text, so whatever marks it marks nothing
        if _CALL_TYPES.fullmatch(kind):
            self.call(item, item, place)
        elif role in _RESULT_ROLES or _RESULT_TYPES.fullmatch(kind) or _is_misplaced_result(item):
            self.result(item, place)
        elif role in ("system", "developer"):
            with self.instructing():
                self.fields(item, place)
        elif kind or role:
            self.fields(item, place, is_media=_MEDIA_TYPES.fullmatch(kind) is not None)
        else:
            self.part(item, place)

    def part(self, item: JsonObject, place: str) -> None:
        """A part without a type: if it is a call or a result, then what stands beside that belongs to it."""
        held = next((name for name in item if name in _CALLS | _RESULTS and isinstance(item[name], dict)), None)
        with self.owning(f"{place}.{held}") if held else nullcontext():
            self.fields(item, place)

    def fields(self, item: JsonObject, place: str, *, skip: Collection[str] = (), is_media: bool = False) -> None:
        """The fields of an object."""
        for name, value in item.items():
            where = f"{place}.{name}" if place else name
            if name in skip or name in _LINKS or value in _NOTHING:
                continue
            if name in _CALLS and isinstance(value, dict):
                self.call(as_object(value), item, where)
            elif name in _RESULTS and isinstance(value, dict):
                self.result(as_object(value), where)
            elif name in _INSIDE or (name == "text" and isinstance(value, str)):
                self.inside(value, where)
            elif is_media or name in _MEDIA_FIELDS:
                self.add(ItemKind.MEDIA, f"{name}={canonical(value)}", where, name=name)
            elif name != "is_error" or value is True:
                self.add(ItemKind.MARK, f"{name}={canonical(value)}", where, name=name)

    def text(self, text: str, place: str) -> None:
        said = safe_text(text).strip()
        marked = said.removeprefix(INSTRUCTION_MARK)
        kind = ItemKind.INSTRUCTION if self._instructs or marked != said else ItemKind.TEXT
        self.add(kind, marked, place)

    def call(self, source: JsonObject, holder: JsonObject, place: str) -> None:
        """A call: name and arguments in `source`, the id there or beside it."""
        named = _first(source, _NAMES)
        given = next((field for field in _ARGUMENTS if field in source), "")
        name = as_text(source.get(named)) or as_text(source.get("type"))
        with self.owning(place):
            call_id = first_id(source, *_IDS) or first_id(holder, *_IDS)
            key = f"{name}({canonical(_arguments(source.get(given)))})"
            self.add(ItemKind.CALL, key, place, name=name, call_id=call_id)
            self.fields(source, place, skip=(named, given))

    def result(self, source: JsonObject, place: str) -> None:
        """A result: its text is the item; everything else in it belongs to that item."""
        field = next((field for field in _OUTPUTS if field in source), "")
        value: Json = source.get(field)
        if any(_RESULT_TYPES.fullmatch(as_text(part.get("type"))) for part in as_objects(value)):
            self.fields(source, place)  # a message made of results, or a result that contains some
            return
        with self.owning(place):
            texts, others = _told(value)
            told = safe_text("\n".join(texts)).strip()
            named = _first(source, _NAMES)
            name = as_text(source.get(named))
            if told != EMPTY_RESULT:
                self.add(ItemKind.RESULT, told, place, name=name, call_id=first_id(source, *_IDS))
            for index, part in others:
                self.inside(part, f"{place}.{field}[{index}]")
            if name:
                self.add(ItemKind.CALLED, name, f"{place}.{named}", name=name)
            self.fields(source, place, skip=(named, field))

    @contextmanager
    def owning(self, place: str) -> Generator[None]:
        """Items found inside this context belong to the call or result at `place`."""
        before, self._owner = self._owner, self._owner or place
        yield
        self._owner = before

    @contextmanager
    def instructing(self) -> Generator[None]:
        """Text found inside this context is an instruction."""
        before, self._instructs = self._instructs, True
        yield
        self._instructs = before


def _is_misplaced_result(item: JsonObject) -> bool:
    """Whether a message of any role answers a call and makes none: it is a result whatever its role says."""
    return bool(as_text(item.get("role"))) and item.get("tool_call_id") not in _NOTHING and not item.get("tool_calls")


def _first(source: JsonObject, names: Iterable[str]) -> str:
    """The first of these fields that holds text."""
    return next((name for name in names if isinstance(source.get(name), str) and source[name]), "")


def _arguments(value: Json) -> Json:
    """Arguments as a value, decoded if they are JSON in a string."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value


def _told(value: Json) -> tuple[list[str], list[tuple[int, Json]]]:
    """The texts of a result, and with their indices the parts that are more than text."""
    if isinstance(value, str):
        return [value], []
    if not isinstance(value, list):
        return ([] if value is None else [canonical(value)]), []
    texts: list[str] = []
    others: list[tuple[int, Json]] = []
    for index, item in enumerate(as_list(value)):
        part = as_object(item)
        said: Json = item if isinstance(item, str) else part.get("text")
        if not isinstance(said, str):
            others.append((index, item))
            continue
        texts.append(said)
        more = {name: field for name, field in part.items() if name not in ("text", "type")}
        if more:
            others.append((index, more))
    return texts, others
