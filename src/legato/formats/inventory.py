"""What JSON holds that somebody would miss, told from its shapes alone.

In:  the records of a file, or the one value that it is, parsed and otherwise untouched.
Out: items: every text, instruction, call, result, tool, attachment, mark (`cache_control`, a signature, a field that
     nobody knows) and setting in it, each with its place.

This is no reader. A reader knows one format, and what it misunderstands it does not miss; an inventory knows the words
of all formats at once and counts whatever it has no word for as a mark. So it notices what went lost because a file was
taken for something that it is not. Ids, roles and types hold items together and are none themselves; what is empty is
nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, NamedTuple

from legato.formats.fields import as_list, as_object, as_objects, as_text, first_text
from legato.model import Json, JsonObject
from legato.wire.phrases import EMPTY_RESULT, INSTRUCTION_MARK


class Kind(StrEnum):
    """What an item is to a person who would miss it."""

    TEXT = "text"
    INSTRUCTION = "instruction"
    CALL = "call"
    RESULT = "result"
    CALLED = "name of the tool"
    """beside a result: whose it is"""
    TOOL = "tool"
    MEDIA = "attachment"
    MARK = "field"
    SETTING = "setting"
    ENVELOPE = "field of the record"


class Item(NamedTuple):
    """One thing that a file holds. `key` is all that makes it what it is, apart from its place and the ids of calls.

    `name` is that of a tool, a field or a setting, `id` that of a call, also for its result. `owner` is the place of
    the call or result that it belongs to, `record` the number of the record or message that it stands in.
    """

    kind: Kind
    key: str
    place: str
    name: str = ""
    id: str = ""
    owner: str = ""
    record: int = -1


_HEADS = ("messages", "contents", "input")
"""the fields of a request that hold the conversation"""
_SYSTEM = ("system", "systemInstruction", "system_instruction", "instructions", "system_prompt")
_TOOLS = ("tools", "functions")
_INSIDE = frozenset({"content", "parts", "summary", "message", "payload", "loglines", "messages", "tool_calls"})
"""fields that hold more of the conversation, in a message or a record"""
_CALLS = frozenset({"functionCall", "function_call", "function"})
_RESULTS = frozenset({"functionResponse", "function_response"})
_LINKS = frozenset(
    {"type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "toolCallId", "status", "index", "uuid",
     "parentUuid", "timestamp", "ordinal"}
)  # fmt: skip
"""fields that hold items together"""
_NOTHING: tuple[Json, ...] = (None, "", [], {})
_CALL_TYPES = re.compile(r".+(?:_use|_call|-call)|toolCall")
_RESULT_TYPES = re.compile(r".+(?:_result|-result|_output)|toolResult")
_RESULT_ROLES = ("tool", "function", "toolResult")
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("input", "arguments", "args", "action", "operation")
_OUTPUTS = ("content", "output", "result", "response", "tools")
_IDS = ("call_id", "tool_use_id", "tool_call_id", "toolCallId", "id")
_MEDIA_TYPES = re.compile(r"(?:input_)?(?:image|document|audio|video|file)(?:_url|_data)?|media")
_MEDIA_FIELDS = frozenset({"inlineData", "fileData", "inline_data", "file_data", "image_url", "input_audio"})


def take_inventory(values: Iterable[tuple[str, Json]]) -> list[Item]:
    """Everything in these records, each given with its place; a file that is one value is one record without a place.

    A request is such a value: the fields around its messages are settings.
    """
    walk = _Walk()
    for number, (place, value) in enumerate(values):
        walk.record = number
        walk.top(value, place)
    return walk.items


def parse_raw(data: bytes) -> Json:
    """JSON as it stands in a file. Both values of a key that stands twice are kept; what is no JSON is None."""
    try:
        return json.loads(data.replace(b"\0", b"").decode("utf-8-sig", "replace"), object_pairs_hook=_all_pairs)
    except (ValueError, RecursionError):
        return None


def _all_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    found: JsonObject = {}
    for name, value in pairs:
        found[name if name not in found else f"{name} (again)"] = value
    return found


def canonical(value: Json) -> str:
    """`value` in one spelling, whatever the order of its keys."""
    return json.dumps(_cleaned(value), ensure_ascii=False, sort_keys=True)


def _safe(text: str) -> str:
    """Text as it can be written again: never cut, with U+FFFD for half characters and NUL."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, dict):
        return {_safe(name): _cleaned(item) for name, item in as_object(value).items()}
    return [_cleaned(item) for item in as_list(value)] if isinstance(value, list) else value


class _Walk:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self.record = -1
        self._owner = ""
        self._instructs = False

    def add(self, kind: Kind, key: str, place: str, *, name: str = "", call_id: str = "") -> None:
        """Count an item, unless it is nothing."""
        if key.strip():
            self.items.append(Item(kind, key, place, name, call_id, self._owner, self.record))

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
        """A record around a message: what it says about that is mostly the same in every record."""
        self.fields({name: value for name, value in record.items() if name in _INSIDE}, place)
        for name, value in record.items():
            if name not in _INSIDE and name not in _LINKS and value not in _NOTHING:
                self.add(Kind.ENVELOPE, f"{name}={canonical(value)}", f"{place}.{name}", name=name)

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
            elif value is not None:
                self.add(Kind.SETTING, f"{name}={canonical(value)}", name, name=name)

    def each(self, messages: Json, place: str) -> None:
        """Messages, of which each is a record of its own."""
        for index, item in enumerate(as_list(messages)):
            self.record = index
            self.inside(item, f"{place}[{index}]")

    def tools(self, value: Json, place: str) -> None:
        for index, item in enumerate(as_list(value) if isinstance(value, list) else [value]):
            tool = as_object(item)
            declared = as_list(tool.get("functionDeclarations") or tool.get("function_declarations"))
            for one in declared or [item]:
                known = as_object(one)
                name = first_text(known, "name") or first_text(as_object(known.get("function")), "name")
                self.add(Kind.TOOL, canonical(one), f"{place}[{index}]", name=name or as_text(known.get("type")))
            if declared:
                self.fields(tool, f"{place}[{index}]", skip=("functionDeclarations", "function_declarations"))

    # --- the inside: messages, items, blocks, parts, the records around them ------------------------------------------

    def inside(self, value: Json, place: str) -> None:
        """Whatever stands in a conversation."""
        if isinstance(value, dict):
            self.object(as_object(value), place)
        elif isinstance(value, list):
            for index, item in enumerate(as_list(value)):
                self.inside(item, f"{place}[{index}]")
        elif isinstance(value, str):
            self.text(value, place)
        elif value is not None:
            self.add(Kind.MARK, canonical(value), place)

    def object(self, item: JsonObject, place: str) -> None:
        role, kind = as_text(item.get("role")), as_text(item.get("type"))
        if kind == "text" and not as_text(item.get("text")).strip():
            return  # nothing is said, so nothing can hang on it
        if _CALL_TYPES.fullmatch(kind):
            self.call(item, item, place)
        elif role in _RESULT_ROLES or _RESULT_TYPES.fullmatch(kind):
            self.result(item, place)
        elif role in ("system", "developer"):
            with self.instructing():
                self.fields(item, place)
        else:
            self.fields(item, place, is_media=_MEDIA_TYPES.fullmatch(kind) is not None)

    def fields(self, item: JsonObject, place: str, *, skip: Collection[str] = (), is_media: bool = False) -> None:
        """What an object holds."""
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
                self.add(Kind.MEDIA, f"{name}={canonical(value)}", where, name=name)
            elif name != "is_error" or value is True:
                self.add(Kind.MARK, f"{name}={canonical(value)}", where, name=name)

    def text(self, text: str, place: str) -> None:
        said = _safe(text).strip()
        marked = said.removeprefix(INSTRUCTION_MARK)
        kind = Kind.INSTRUCTION if self._instructs or marked != said else Kind.TEXT
        self.add(kind, marked, place)

    def call(self, source: JsonObject, holder: JsonObject, place: str) -> None:
        """A call: name and arguments in `source`, the id there or beside it."""
        named = _first(source, _NAMES)
        given = next((field for field in _ARGUMENTS if field in source), "")
        name = as_text(source.get(named)) or as_text(source.get("type"))
        with self.owning(place):
            call_id = first_text(source, *_IDS) or first_text(holder, *_IDS)
            key = f"{name}({canonical(_arguments(source.get(given)))})"
            self.add(Kind.CALL, key, place, name=name, call_id=call_id)
            self.fields(source, place, skip=(named, given))

    def result(self, source: JsonObject, place: str) -> None:
        """A result: its words are the item, and whatever else is in it belongs to it."""
        field = next((field for field in _OUTPUTS if field in source), "")
        value: Json = source.get(field)
        if any(_RESULT_TYPES.fullmatch(as_text(part.get("type"))) for part in as_objects(value)):
            self.fields(source, place)  # a message that is a list of results, or a result that holds some
            return
        with self.owning(place):
            texts, others = _told(value)
            told = _safe("\n".join(texts)).strip()
            named = _first(source, _NAMES)
            name = as_text(source.get(named))
            if told != EMPTY_RESULT:
                self.add(Kind.RESULT, told, place, name=name, call_id=first_text(source, *_IDS))
            for index, part in others:
                self.inside(part, f"{place}.{field}[{index}]")
            if name:
                self.add(Kind.CALLED, name, f"{place}.{named}", name=name)
            self.fields(source, place, skip=(named, field))

    @contextmanager
    def owning(self, place: str) -> Generator[None]:
        """What is found meanwhile belongs to the call or result at `place`."""
        before, self._owner = self._owner, self._owner or place
        yield
        self._owner = before

    @contextmanager
    def instructing(self) -> Generator[None]:
        """What is said meanwhile is an instruction."""
        before, self._instructs = self._instructs, True
        yield
        self._instructs = before


def _first(source: JsonObject, names: Iterable[str]) -> str:
    """The first of these fields that holds text."""
    return next((name for name in names if isinstance(source.get(name), str) and source[name]), "")


def _arguments(value: Json) -> Json:
    """Arguments as a value, where they are JSON in a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value


def _told(value: Json) -> tuple[list[str], list[tuple[int, Json]]]:
    """The words of a result, and the parts that are more than words with their indices."""
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
