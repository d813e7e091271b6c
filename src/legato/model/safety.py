"""Make what callers made safe to keep and to send: entries, records, tools, options.

In:  a struct of the model, with any strings and values in its fields.
Out: the same struct with clean text and JSON-safe values; the same object where nothing had to change.

A Python string can hold what UTF-8 cannot: a byte of a file name that is no UTF-8 becomes half of a surrogate pair, and
so does an emoji that was cut in two. It goes unnoticed until the string is encoded, which is when a request leaves or a
record is stored. So everything that comes in passes here once. Which fields are looked at is read from the struct: one
that is added later cannot be forgotten.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model.blocks import CallId, Media
from legato.model.ingestion import MAX_TEXT, clean_text, encodable, ingest

S = TypeVar("S", bound=Struct)


class _Kind(Enum):
    """What a field holds."""

    JSON = auto()
    OBJECT = auto()
    """a JSON object and nothing else"""
    OTHER = auto()
    """text, a struct, or some of them"""


_JSON, _OBJECT, _OTHER = _Kind


def safe(value: S) -> S:
    """`value` with nothing in it that cannot be encoded, and with JSON that no caller can change later."""
    changes: dict[str, object] = {}
    for name, kind in _fields(type(value)):
        before = getattr(value, name)
        if before is None:
            continue
        if kind is _OTHER:
            if type(before) is str and len(before) <= MAX_TEXT and before.isascii() and "\0" not in before:
                continue  # as nearly always
            after = _safe_part(before, is_media=type(value) is Media)
        else:
            after = ingest(before)
            if kind is _OBJECT and type(after) is not dict:
                after = {}
        if after is not before:
            changes[name] = after
    return replace(value, **changes) if changes else value


def _safe_part(value: object, *, is_media: bool) -> object:
    if isinstance(value, Struct):
        return safe(value)
    if isinstance(value, tuple | list):
        before = cast("tuple[object, ...]", value)
        after = tuple([_safe_part(item, is_media=is_media) for item in before])
        return before if all(map(_is, after, before)) else after
    if isinstance(value, str) and not isinstance(value, Enum):
        # What a picture holds is longer than any text may be, and worth nothing without its end.
        return (encodable if is_media else clean_text)(str.__str__(value))
    return value  # a number, a word of ours


def _is(one: object, other: object) -> bool:
    return one is other


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, _Kind], ...]:
    """The fields of a struct that can hold text or JSON of others."""
    return tuple(
        (info.name, held) for info in msgspec.structs.fields(kind) if (held := _kind_of(info.type)) is not None
    )


def _kind_of(declared: Any) -> _Kind | None:
    """What a field of that type holds; None if that is ours alone: numbers, words of a closed set, our own ids."""
    is_union = get_origin(declared) in (Union, UnionType)
    options = [option for option in (get_args(declared) if is_union else (declared,)) if option is not NoneType]
    if Any in options:
        return _JSON
    if any(get_origin(option) is dict and Any in get_args(option) for option in options):
        return _OBJECT
    return None if all(map(_is_ours, options)) else _OTHER


def _is_ours(declared: Any) -> bool:
    is_word = isinstance(declared, type) and issubclass(declared, Enum)
    return is_word or declared in (int, float, bool, CallId) or get_origin(declared) is dict
