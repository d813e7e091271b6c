"""Make any value JSON-safe, once, at the door.

In:  any Python value (a tool's return value, a model's arguments, a decoded file), or bytes that claim to be JSON.
Out: None, bool, int, float, str, list and dict with string keys, that every provider and every store can hold.

Nothing later has to look again, so nothing later copies or repairs a value. Ingesting twice is ingesting once. What
cannot be kept exactly is kept visibly: a cycle becomes a marker where it closes, a lone surrogate U+FFFD, a number that
JSON lacks its name. Values referenced twice without a cycle stay whole.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from binascii import b2a_base64
from collections.abc import Iterable, Mapping, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast

import msgspec

from legato.errors import IngestError
from legato.model.jsonvalue import Json
from legato.model.lasting import is_plain

MAX_DEPTH = 64
"""Deeper values are cut with a marker. Protobuf's JSON stops at 100 levels, and a request adds some of its own."""

MAX_TEXT = 16 * 1024 * 1024
"""Longer strings are cut with a marker; no provider takes a request of that size."""

MAX_NODES = 1_000_000
"""A value with more parts than this is refused: it would never fit any request."""

MAX_LOADED = 8 * MAX_NODES
"""A document of which a reader keeps some parts may have this many: one of a hundred thousand messages has fewer."""

MAX_JSON_BYTES = 256 * 1024 * 1024
"""Larger JSON documents are refused before they are parsed."""

CYCLE = "[cycle: this value contains itself]"
TOO_DEEP = f"[cut: nested deeper than {MAX_DEPTH} levels]"

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


def ingest(value: object) -> Json:
    """`value` as a JSON-safe value; raises `IngestError` only if it has more than `MAX_NODES` parts."""
    return _ingest(value, _Walk)


def ingest_sent(value: object) -> Json:
    """As `ingest`, for what the official clients hand out: as those clients themselves would send it back.

    A field that was never set is None in their objects and absent from what they send; as null some servers refuse it
    (OpenAI the `status` of a reasoning item). Bytes, which Google's client has for signatures and media, are base64.
    """
    return _ingest(value, _SentWalk)


def _ingest(value: object, walk: type[_Walk]) -> Json:
    if type(value) is str:
        return clean_text(value)
    if is_plain(value):
        return cast(Json, value)
    try:
        return _copy(value, MAX_DEPTH, [1])  # the value itself is the first part
    except _NotPlain:
        pass  # something that JSON does not have, or too deep, or too large: look at every part
    try:
        return walk().visit(value, 0)
    except IngestError:
        raise
    except Exception as error:
        # A __str__, model_dump or __iter__ of the caller's failed; the traceback would not help to record the value.
        raise IngestError(f"a value of type {type(value).__name__} cannot become JSON: {error!r}") from error


class _NotPlain(Exception):
    """The value is not made of JSON's own types alone."""


def _copy(value: Any, levels: int, counted: list[int]) -> Json:
    """A copy of a value that is plain JSON: nearly all are, and this is the way that costs little.

    What is too deep or has too many parts is left to the thorough way, and so is a cycle, which has no bottom.
    """
    kind = type(value)  # pyright: ignore[reportUnknownVariableType]  # a cast costs as much as the question
    if kind is dict or kind is list:
        counted[0] += len(value)
        if levels < 0 or counted[0] > MAX_NODES:
            raise _NotPlain
        if kind is list:
            return [_copy(item, levels - 1, counted) for item in value]
        result: dict[str, Json] = {}
        for key, item in value.items():
            if type(key) is not str or not key.isascii() or "\0" in key:
                raise _NotPlain
            kind = type(item)  # pyright: ignore[reportUnknownVariableType]
            if kind is str:
                result[key] = clean_text(item)
            elif kind is bool or item is None:
                result[key] = item
            else:
                result[key] = _exact(item) if kind is int else _copy(item, levels - 1, counted)
        return result
    if kind is str:
        return clean_text(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return _exact(value)
    if kind is float:
        return value if math.isfinite(value) else _name_of(value)
    raise _NotPlain


def clean_text(text: str) -> str:
    """`text` without NUL and lone surrogates (each becomes U+FFFD), cut to `MAX_TEXT` characters with a marker."""
    if text.isascii() and "\0" not in text and len(text) <= MAX_TEXT:
        return text  # nearly all are such, and this is asked about every text that is read
    if len(text) > MAX_TEXT and not text.endswith(_CUT_END):
        text = f"{text[:MAX_TEXT]}… [cut: {len(text) - MAX_TEXT} more characters{_CUT_END}"
    return encodable(text)


def encodable(text: str) -> str:
    """The same without the cut, for what is worth nothing unless it is whole."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # The round trip joins surrogate pairs that were split over two escapes, and replaces what stays alone.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd") if "\0" in text else text


_CUT_END = " of text]"


class _Walk:
    """One pass over one value; remembers the containers it is inside of, to see cycles."""

    def __init__(self) -> None:
        self.inside: set[int] = set()
        self.nodes = 0

    def visit(self, value: object, depth: int) -> Json:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise too_many_parts()
        kind = type(value)
        if kind is str:
            return clean_text(cast(str, value))
        if value is None or kind is bool:
            return value
        if kind is int:
            return _exact(cast(int, value))
        if kind is float:
            return value if math.isfinite(cast(float, value)) else _name_of(cast(float, value))
        if depth > MAX_DEPTH:
            return TOO_DEEP
        return self.container(value, depth)

    def container(self, value: object, depth: int) -> Json:
        identity = id(value)
        if identity in self.inside:
            return CYCLE
        self.inside.add(identity)
        try:
            if isinstance(value, Mapping):
                return self.mapping(cast("Mapping[object, object]", value), depth)
            if isinstance(value, list | tuple):
                return [self.visit(item, depth + 1) for item in cast("list[object]", value)]
            return self.other(value, depth)
        finally:
            self.inside.discard(identity)

    def mapping(self, value: Mapping[object, object], depth: int) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for key, item in value.items():
            name = clean_text(key) if type(key) is str else self.key(key)
            while name in result:  # {1: ..., "1": ...}: two keys stay two keys
                name += "'"
            result[name] = self.visit(item, depth + 1)
        return result

    def key(self, key: object) -> str:
        value = self.visit(key, MAX_DEPTH)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def other(self, value: object, depth: int) -> Json:
        """Everything that is neither a plain JSON type nor a mapping or sequence."""
        if isinstance(value, enum.Enum):
            return self.visit(value.value, depth + 1)
        if isinstance(value, str):
            return clean_text(str.__str__(value))
        if isinstance(value, int):
            return _exact(int(value))
        if isinstance(value, float):
            return self.visit(float(value), depth)
        if isinstance(value, bytes | bytearray | memoryview):
            return self.octets(bytes(cast(bytes, value)))
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, timedelta):
            return value.total_seconds()
        if isinstance(value, Decimal):
            return str(value)
        if isinstance(value, Set):
            items = [self.visit(item, depth + 1) for item in cast("Set[object]", value)]
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self.visit(fields, depth)
        if isinstance(value, msgspec.Struct):
            return self.visit({name: getattr(value, name) for name in value.__struct_fields__}, depth)
        dump: Any = getattr(value, "model_dump", None)  # pydantic, and the providers' SDK objects
        if callable(dump) and not isinstance(value, type):
            return self.visit(self.dumped(dump), depth)
        if isinstance(value, BaseException):
            return clean_text(f"{type(value).__name__}: {value}")
        if isinstance(value, Iterable) and not isinstance(value, type):
            return [self.visit(item, depth + 1) for item in _bounded(cast("Iterable[object]", value))]
        return clean_text(str(value))

    def octets(self, data: bytes) -> str:
        """Bytes as text."""
        return _text_of_bytes(data)

    def dumped(self, dump: Any) -> object:
        """What a pydantic model says of itself, in JSON's own terms and under its wire names where it can."""
        try:
            return dump(mode="json", by_alias=True)
        except (TypeError, ValueError):
            return dump()


class _SentWalk(_Walk):
    """Objects as the official clients send them."""

    def octets(self, data: bytes) -> str:
        return b2a_base64(data, newline=False).decode()

    def dumped(self, dump: Any) -> object:
        try:
            # In Python's terms, so that bytes stay bytes: as JSON, Google's client writes them in the URL alphabet.
            # Answers are not validated by the clients, so an odd one must not make pydantic warn.
            return dump(by_alias=True, exclude_none=True, warnings=False)
        except (TypeError, ValueError):
            return super().dumped(dump)


def _bounded(values: Iterable[object]) -> Iterable[object]:
    """At most `MAX_NODES` of `values`: an endless generator must end in an error, not in a hang."""
    for count, item in enumerate(values):
        if count >= MAX_NODES:
            raise too_many_parts()
        yield item


def too_many_parts() -> IngestError:
    """How a value is refused that has more than `MAX_NODES` parts."""
    return IngestError(f"the value has more than {MAX_NODES:,} parts; keep it in a file and record its path")


def _exact(number: int) -> int | str:
    """Integers stay exact: as numbers up to 64 bits, which is what JSON libraries carry, as text beyond."""
    if _INT_MIN <= number <= _INT_MAX:
        return int(number)
    return str(number) if number.bit_length() < 14_000 else hex(number)  # str() refuses more than 4300 digits


def _name_of(number: float) -> str:
    return "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")


def _text_of_bytes(data: bytes) -> str:
    try:
        return clean_text(data.decode())
    except UnicodeDecodeError:
        return "data:application/octet-stream;base64," + b2a_base64(data, newline=False).decode()


def read_json(data: bytes | str) -> Json:
    """The JSON-safe value that `data` holds; raises `IngestError` that says what is wrong with it.

    Strict: a byte-order mark is skipped, but invalid UTF-8, two equal keys in one object and nesting that no parser
    survives are errors.
    """
    return ingest(_loads(_text(data), reject_duplicates=True))


def read_json_leniently(data: bytes | str) -> Json:
    """As `read_json`, for files made by others: the last of equal keys wins, half an emoji becomes U+FFFD."""
    refuse_parts(data, MAX_NODES)
    try:
        value: Json = msgspec.json.decode(data)
    except _NOT_SIMPLE:
        return ingest(_loads(_text(data), reject_duplicates=False))
    return value if _reads_safely(data) else ingest(value)


def load_json(data: bytes | str) -> Json:
    """As `read_json_leniently`, but the value is not made safe: for a reader that ingests the parts that it keeps."""
    refuse_parts(data, MAX_LOADED)
    try:
        return msgspec.json.decode(data)
    except _NOT_SIMPLE:
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        return _loads(_text(text), reject_duplicates=False)


_NOT_SIMPLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""what a parser in C makes of JSON that the slow road either reads, or says what is wrong with"""


def refuse_parts(data: bytes | str, most: int) -> None:
    """Raise `IngestError` for JSON with more parts than that, before they are made: `[]` has two bytes, a list 56."""
    if len(data) <= most:
        return
    text = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if _count_parts(text) > most and _count_parts(_STRINGS.sub(b"", text)) > most:
        raise too_many_parts()


def _count_parts(data: bytes) -> int:
    """How many values there are at most; what texts hold is counted too."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def _reads_safely(data: bytes | str) -> bool:
    """Whether JSON text cannot hold anything but safe values: few levels, no NUL, no number beyond 64 bits."""
    if len(data) > _SHORT:
        return False
    if isinstance(data, bytes):
        return (
            data.count(b"[") + data.count(b"{") <= MAX_DEPTH and b"u0000" not in data and not _LONG_BYTES.search(data)
        )
    return data.count("[") + data.count("{") <= MAX_DEPTH and "u0000" not in data and not _LONG_TEXT.search(data)


def reads_plainly(data: bytes) -> bool:
    """Whether JSON that was decoded holds nothing but safe values, and no text with a control character."""
    alike = data.translate(_ALIKE)
    return alike.count(b"[") <= MAX_DEPTH and b"\\u00" not in data and _LONG_NUMBER not in alike


_ALIKE = bytes.maketrans(b"123456789{", b"000000000[")
"""every digit is as good as another, and so is what begins an object or a list"""
_LONG_NUMBER = b"0" * 19


_SHORT = 64 * 1024
"""characters up to which looking through a text first is quicker than the careful road: our choice"""

_LONG_TEXT = re.compile("[0-9]{19}")
_LONG_BYTES = re.compile(b"[0-9]{19}")


def _text(data: bytes | str) -> str:
    if len(data) > MAX_JSON_BYTES:
        raise IngestError(f"{len(data):,} bytes of JSON are more than the {MAX_JSON_BYTES:,} that are read")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IngestError(f"not valid UTF-8 at byte {error.start}") from None


def _loads(text: str, *, reject_duplicates: bool) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique if reject_duplicates else None)
    except json.JSONDecodeError as error:
        raise IngestError(f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise IngestError("not readable as JSON: nested too deeply") from None
    except ValueError as error:  # an integer with more digits than Python converts
        raise IngestError(f"not readable as JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise IngestError(f"not accepted as JSON: the key {key!r} occurs twice in one object")
            seen.add(key)
    return result
