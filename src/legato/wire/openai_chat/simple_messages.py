"""The simple shapes of chat messages, as types.

In:  JSON, or messages as someone passed them, not ingested.
Out: each message as the shape that it has, or that it has none of these. Those in JSON come in portions: by the time
     that thousands of them are parsed, the first have to be fetched from memory again.

Simple is content that is text (a string, or a list of text parts), a result under an id, an answer of thinking, text
and function calls whose arguments are a string; any other field says nothing. Looking whether a message has one of
these shapes, and taking it apart, is the work of the JSON parser, or of one conversion of all messages; what it gives
shares nothing with the caller. The strings in it are exact, can be encoded and are not too long: the JSON parser
refuses half a surrogate pair, and other strings are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from legato.model import JsonObject
from legato.model.ingestion import MAX_TEXT, encodable

_NONE = Meta(max_length=0)
_Text: TypeAlias = Annotated[str, Meta(max_length=MAX_TEXT)]
_Nothing: TypeAlias = Annotated[str, _NONE] | Annotated[list[Any], _NONE] | Annotated[dict[str, Any], _NONE] | None


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    pass


class TextItem(_Shape):
    """A part of a list that is text."""

    type: Literal["text"]
    text: _Text


Texts: TypeAlias = _Text | list[_Text | TextItem]


class _Function(_Shape):
    name: _Text
    arguments: _Text


class _Call(_Shape):
    id: _Text
    type: Literal["function"]
    function: _Function


class _Message(_Shape, tag_field="role", kw_only=True):
    pass


class _Said(_Message, kw_only=True):
    """With what is printed of the fields that it does not have by whoever has one model for all roles."""

    content: Texts
    name: _Nothing = None
    tool_calls: _Nothing = None
    tool_call_id: _Nothing = None


class System(_Said, tag="system"):
    """An instruction."""


class Developer(_Said, tag="developer"):
    """An instruction under its newer name."""


class User(_Said, tag="user"):
    """What a person said."""


class Result(_Message, tag="tool", kw_only=True):
    """What came back for a call."""

    content: Texts
    tool_call_id: _Text
    name: _Text | None = None
    tool_calls: _Nothing = None


class Assistant(_Message, tag="assistant", kw_only=True):
    """What the model said: what it thought, text, and calls of functions.

    After these come the fields that an answer does not have, and that SDKs print all the same.
    """

    content: _Text | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: _Text | None = None
    annotations: _Nothing = None
    audio: _Nothing = None
    executed_tools: _Nothing = None
    function_call: _Nothing = None
    images: _Nothing = None
    name: _Nothing = None
    provider_specific_fields: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _Nothing = None
    refusal: _Nothing = None
    thinking_blocks: _Nothing = None
    tool_call_id: _Nothing = None


SimpleMessage: TypeAlias = System | Developer | User | Result | Assistant
_SHAPES: dict[str, type[SimpleMessage]] = {
    "system": System,
    "developer": Developer,
    "user": User,
    "tool": Result,
    "assistant": Assistant,
}


MOST_PARTS = max(len(shape.__struct_fields__) for shape in _SHAPES.values()) + 2
"""how many parts a message has at most, itself and its role among them, beside those in its calls and lists of texts"""


def match_simple(items: list[object]) -> list[SimpleMessage | None]:
    """For each of `items` its shape, None for what has none of the simple ones."""
    messages: list[SimpleMessage] | list[SimpleMessage | None]
    try:
        messages = msgspec.convert(items, list[SimpleMessage])
    except (msgspec.ValidationError, UnicodeError):
        messages = [_match(item) for item in items]
    return [
        message if message is not None and type(item) is dict and _is_exact(cast(JsonObject, item), message) else None
        for item, message in zip(items, messages, strict=True)
    ]


def _match(item: object) -> SimpleMessage | None:
    role = cast(JsonObject, item).get("role") if type(item) is dict else None
    shape = _SHAPES.get(role) if type(role) is str else None
    if shape is None:
        return None
    message = cast(JsonObject, item)
    try:
        return msgspec.convert(message, shape)
    except (msgspec.ValidationError, UnicodeError):
        pass
    known = {"role", *shape.__struct_fields__}
    said = {name: value for name, value in message.items() if name in known or not _is_nothing(name, value)}
    try:
        return msgspec.convert(said, shape) if len(said) < len(message) else None
    except (msgspec.ValidationError, UnicodeError):
        return None


def _is_nothing(name: object, value: object) -> bool:
    """Whether a field that is not known says nothing."""
    return type(name) is str and (value is None or (type(value) in (str, list, dict) and not value))


def _is_exact(item: JsonObject, message: SimpleMessage) -> bool:
    """Whether all in `item` is what it behaves like: a list, dictionary or string of another type may hold more."""
    texts: list[object] = [item.get(name) for name in ("content", "tool_call_id", "name", "reasoning_content")]
    calls: list[JsonObject] | None = item.get("tool_calls")
    if type(calls) is list:
        for call in calls:
            if (
                type(call) is not dict
                or type(function := call["function"]) is not dict
                or type(call["type"]) is not str
            ):
                return False
            texts += (call["id"], function["name"], function["arguments"])
    elif calls is not None:
        return False
    if type(message.content) is list:
        content: list[str | JsonObject] = item["content"]
        if type(content) is not list:
            return False
        for part in content:
            if type(part) is dict and type(part["type"]) is not str:
                return False
            texts.append(part["text"] if type(part) is dict else part)
    return all(map(_is_clean, texts))


def _is_clean(text: object) -> bool:
    """Whether `text`, where it is one, is a string itself and can be encoded."""
    if type(text) is str:
        return text.isascii() or encodable(text) == text
    return text is None or type(text) is list


class Portion(NamedTuple):
    """Some messages of a request, and whether they are its last."""

    messages: list[SimpleMessage]
    ends: bool


def read_simple_json(data: bytes | str) -> tuple[Iterator[Portion | None], JsonObject] | None:
    """The messages in a request, or in a list of them, and the fields beside them; None unless they may be simple.

    They come in portions, so that those that are read are still at hand; None in place of one that is not simple.
    """
    try:
        messages = msgspec.Raw(data)
        rest: JsonObject = {}
        if not _LIST.match(messages):
            body = msgspec.json.decode(messages, type=dict[str, msgspec.Raw])
            messages = body.pop("messages")
            rest = {name: msgspec.json.decode(value) for name, value in body.items()}
        return _portions(memoryview(messages)), rest
    except (KeyError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _portions(data: memoryview) -> Iterator[Portion | None]:
    """The messages in a list, which is cut where a message begins as the first one does: with its role, mostly.

    What looks like that may be within a message. But then the pieces are no lists; and if each of them is one, the
    whole is the list of all that is in them.
    """
    first = _FIRST.match(data) if len(data) > _PORTION else None
    if first is not None:
        begin, find_next = first.start(1), re.compile(rb",[ \t\r\n]*(" + re.escape(first[1]) + rb")").search
        while found := find_next(data, begin + _PORTION):
            yield _decode(b"".join((b"[", data[begin : found.start()], b"]")), ends=False)
            begin = found.start(1)
        data = data[begin:]
    yield _decode(b"".join((b"[", data)) if first else data, ends=True)


def _decode(messages: bytes | memoryview, *, ends: bool) -> Portion | None:
    try:
        return Portion(_decoder().decode(messages), ends)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


_LIST = re.compile(rb"[ \t\r\n]*\[")
_FIRST = re.compile(rb'[ \t\r\n]*\[[ \t\r\n]*(\{[ \t\r\n]{0,32}"\w{1,32}")')
"""how a list begins in which a message is the first, up to the name of its first field"""
_PORTION = 128 * 1024
"""bytes: what is made of so many is still in the cache of a processor core when it is read"""


@cache
def _decoder() -> msgspec.json.Decoder[list[SimpleMessage]]:
    return msgspec.json.Decoder(list[SimpleMessage])
