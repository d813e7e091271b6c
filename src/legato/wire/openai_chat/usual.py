"""Messages of the usual shapes, read in a row.

In:  JSON, or messages as somebody passed them, not ingested.
Out: what they say, in an account, up to the first about which anything is unusual.

Usual is content that is text (a string, or a list of text parts), a result under an id, an answer of thinking, text and
function calls whose arguments are a string; any other field says nothing. These shapes are types here, so that looking
whether a message has one of them, and taking it apart, is the work of the JSON parser, or of one conversion of all
messages; what it gives shares nothing with the caller.

A long conversation is thousands of messages, and nearly all of them are a question, an answer with calls, and results
that are a string: those are read in the loop itself, because calling a function for each part of them would take as
long as what it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from legato.model import (
    UNMINTED,
    Block,
    Entry,
    JsonObject,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    clean_text,
)
from legato.model.ingest import MAX_TEXT
from legato.wire.arguments import read_arguments, read_plain_arguments
from legato.wire.openai_chat.account import OPENINGS, Account
from legato.wire.openai_chat.results import RESULT_OPENINGS, read_result

_HUMAN, _AI = Speaker.HUMAN, Speaker.AI
_PARTS_OF_A_CALL = 6  # itself, its three fields, and the two of its function
_PARTS_OF_A_TEXT = 3  # itself, its type and its text


# --- the shapes -------------------------------------------------------------------------------------------------------

_NONE = Meta(max_length=0)
_Nothing: TypeAlias = Annotated[str, _NONE] | Annotated[list[Any], _NONE] | Annotated[dict[str, Any], _NONE] | None


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    pass


class _TextPart(_Shape):
    type: Literal["text"]
    text: str


_Texts: TypeAlias = str | list[str | _TextPart]


class _Function(_Shape):
    name: str
    arguments: str


class _Call(_Shape):
    id: str
    type: Literal["function"]
    function: _Function


class _Message(_Shape, tag_field="role", kw_only=True):
    """What SDKs print of fields that a message does not have."""

    annotations: _Nothing = None
    audio: _Nothing = None
    executed_tools: _Nothing = None
    function_call: _Nothing = None
    images: _Nothing = None
    provider_specific_fields: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _Nothing = None
    refusal: _Nothing = None
    thinking_blocks: _Nothing = None


class _Said(_Message, kw_only=True):
    content: _Texts
    name: _Nothing = None
    tool_calls: _Nothing = None
    tool_call_id: _Nothing = None
    reasoning_content: _Nothing = None


class _System(_Said, tag="system"):
    pass


class _Developer(_Said, tag="developer"):
    pass


class _User(_Said, tag="user"):
    pass


class _Result(_Message, tag="tool", kw_only=True):
    content: _Texts
    tool_call_id: str
    name: str | None = None
    tool_calls: _Nothing = None
    reasoning_content: _Nothing = None


class _Answer(_Message, tag="assistant", kw_only=True):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: str | None = None
    name: _Nothing = None
    tool_call_id: _Nothing = None


Usual: TypeAlias = _System | _Developer | _User | _Result | _Answer
_SHAPES: dict[str, type[Usual]] = {
    "system": _System,
    "developer": _Developer,
    "user": _User,
    "tool": _Result,
    "assistant": _Answer,
}


def most_parts(messages: Sequence[Usual]) -> int:
    """How many parts `messages` have at most, beside those in their calls and lists of texts."""
    counted: Counter[type[Usual]] = Counter(map(type, messages))
    return sum(count * (len(shape.__struct_fields__) + 2) for shape, count in counted.items())  # itself, and its role


def usual_messages(items: list[object]) -> Sequence[Usual | None]:
    """For each of `items` its shape, None for what has none of the usual ones."""
    try:
        messages: Sequence[Usual | None] = msgspec.convert(items, list[Usual])
    except (msgspec.ValidationError, UnicodeError):
        messages = [_usual(item) for item in items]
    return [
        message if message is not None and type(item) is dict and _is_exact(cast(JsonObject, item), message) else None
        for item, message in zip(items, messages, strict=True)
    ]


def _usual(item: object) -> Usual | None:
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


def _is_exact(item: JsonObject, message: Usual) -> bool:
    """Whether the lists and dictionaries in `item` are such themselves: what only behaves like one may hold more."""
    if message.tool_calls is None and type(message.content) is not list:
        return True  # there are none
    calls: list[JsonObject] | None = item.get("tool_calls")
    if type(calls) is list:
        for call in calls:
            if type(call) is not dict or type(call["function"]) is not dict or type(call["type"]) is not str:
                return False
    elif calls is not None:
        return False
    if type(message.content) is not list:
        return True
    content: list[str | JsonObject] = item["content"]
    return type(content) is list and all(
        type(part) is str or (type(part) is dict and type(part["type"]) is str) for part in content
    )


def usual_json(data: bytes | str) -> tuple[list[Usual], JsonObject] | None:
    """The messages in a request, or in a list of them, and the fields beside them; None unless all are usual."""
    try:
        body = _decoder().decode(data)
        if isinstance(body, list):
            return body, {}
        messages = msgspec.json.decode(body.pop("messages"), type=list[Usual])
        return messages, {name: msgspec.json.decode(value) for name, value in body.items()}
    except (KeyError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


@cache
def _decoder() -> msgspec.json.Decoder[list[Usual] | dict[str, msgspec.Raw]]:
    return msgspec.json.Decoder(list[Usual] | dict[str, msgspec.Raw])


# --- reading them -----------------------------------------------------------------------------------------------------


def read_row(messages: Sequence[Usual | None], first: int, account: Account) -> int:
    """Read messages from number `first` up to one that is not usual; the number of that one.

    Strings are asked for exactly, since one of a subclass may become something else when it is ingested.
    """
    results, names = account.results, account.names
    for number in range(first, len(messages)):
        message = messages[number]
        if type(message) is _Result:
            wire_id, content = message.tool_call_id, message.content
            if (
                type(content) is str
                and type(wire_id) is str
                and wire_id in names
                and message.name is None
                and content[:1] not in RESULT_OPENINGS
            ):
                if not content.isascii() or "\0" in content or len(content) > MAX_TEXT:
                    content = clean_text(content)
                response = ToolResponse(UNMINTED, wire_id, names[wire_id], content, None, True)
            else:
                response = _read_result(message, account)
                if response is None:
                    return number
            if results:
                results.append(response)
            else:
                account.take_result(response)
        elif type(message) is _Answer:
            blocks = _read_answer(message, account)
            if not blocks:
                return number
            if type(blocks[-1]) is ToolCall or not account.is_bridge(message.content, message.tool_calls):
                account.entries().append(Entry(_AI, tuple(blocks)))
        elif type(message) is _User:
            said = message.content
            if type(said) is str and said and said[0] not in OPENINGS:
                account.entries().append(Entry(_HUMAN, (Text(clean_text(said)),)))
            else:
                texts = _read_texts(said, account)
                if not texts:
                    return number
                account.take_human(texts, is_last=number == len(messages) - 1)
        elif type(message) is _System or type(message) is _Developer:
            texts = _read_texts(message.content, account)
            if not texts:
                return number
            account.take_instruction("".join(block.text for block in texts))
            continue
        else:
            return number
        account.has_begun = True
    return len(messages)


def _read_result(message: _Result, account: Account) -> ToolResponse | None:
    """A result. Mostly it is the call before it that says the name of the tool."""
    wire_id, name = message.tool_call_id, message.name
    if name is None:
        name = ""
    if type(wire_id) is not str or type(name) is not str:
        return None
    texts = _read_texts(message.content, account)
    if texts is None:
        return None
    text, wire_id = "".join(block.text for block in texts), clean_text(wire_id)
    return read_result(text, wire_id, clean_text(name) or account.names.get(wire_id, ""))


def _read_answer(message: _Answer, account: Account) -> list[Block] | None:
    """The blocks of an answer: what was thought, then its text, then its calls, whose names are remembered."""
    thought, content, calls = message.reasoning_content, message.content, message.tool_calls or ()
    blocks: list[Block] = []
    if thought is not None:
        if type(thought) is not str:
            return None
        if (thought := clean_text(thought)).strip():
            blocks.append(Thinking(thought))
    if content is not None:
        if type(content) is not str:
            return None
        if content:
            blocks.append(Text(clean_text(content)))
    for call in calls:
        function, wire_id = call.function, call.id
        name, text = function.name, function.arguments
        if type(name) is not str or type(wire_id) is not str or type(text) is not str or not name:
            return None
        name, wire_id = clean_text(name), clean_text(wire_id)
        account.names[wire_id] = name
        arguments = read_plain_arguments(text)  # a text that is not clean is no JSON
        if arguments is not None:
            blocks.append(ToolCall(name, arguments, wire_id))
        else:
            arguments, raw, finished = read_arguments(clean_text(text))
            blocks.append(ToolCall(name, arguments, wire_id, raw=raw, finished=finished))
    account.parts += _PARTS_OF_A_CALL * len(calls)
    return blocks


def _read_texts(content: _Texts, account: Account) -> list[Text] | None:
    """The texts in `content`; None if one of them says nothing."""
    if type(content) is str:
        return [Text(clean_text(content))] if content else []
    if type(content) is not list:
        return None
    texts: list[Text] = []
    for item in content:
        text = item.text if type(item) is _TextPart else item
        if type(text) is not str or not text:
            return None
        texts.append(Text(clean_text(text)))
    account.parts += _PARTS_OF_A_TEXT * len(content)
    return texts
