"""Messages of the usual shapes, read in a row, straight from what came in.

In:  messages as somebody passed them, not ingested.
Out: what they say, in an account, up to the first about which anything is unusual.

Usual is content that is text (a string, or a list of text parts), a result under an id, an answer of thinking, text and
function calls whose arguments are a string; any other field says nothing. Types are asked for exactly, since a subclass
may become something else when it is ingested. Strings are all that is kept, so nothing is shared with the caller.

A long conversation is thousands of messages, and nearly all of them are a question, an answer with calls, and results
that are a string: those are read in the loop itself, because calling a function for each part of them would take as
long as what it does.
"""

from __future__ import annotations

from types import NoneType
from typing import Any

from legato.model import UNMINTED, Block, Entry, JsonObject, Speaker, Text, Thinking, ToolCall, ToolResponse, clean_text
from legato.model.ingest import MAX_TEXT
from legato.wire.arguments import read_arguments, read_plain_arguments
from legato.wire.openai_chat.account import OPENINGS, Account
from legato.wire.openai_chat.results import RESULT_OPENINGS, read_result

_HUMAN, _AI = Speaker.HUMAN, Speaker.AI
_SPOKEN_FIELDS = frozenset({"role", "content"})
_RESULT_FIELDS = frozenset({"role", "content", "tool_call_id", "name"})
_ANSWER_FIELDS = frozenset({"role", "content", "tool_calls", "reasoning_content"})
_INSTRUCTING = ("system", "developer")
PARTS_OF_A_MESSAGE = 4
"""itself and three fields; where there may be more, they are counted"""
_PARTS_OF_A_CALL = 6  # itself, its three fields, and the two of its function
_PARTS_OF_A_TEXT = 3  # itself, its type and its text
_TEXT_OR_NULL = (str, NoneType)
_LIST_OR_NULL = (list, NoneType)


def read_row(messages: list[JsonObject], first: int, account: Account) -> int:
    """Read messages from number `first` up to one that is not usual; the number of that one.

    They may be anything: that they are objects is looked at before they count as such.
    """
    results, names = account.results, account.names
    for number in range(first, len(messages)):
        message = messages[number]
        if type(message) is not dict or type(role := message.get("role")) is not str:
            return number
        content = message.get("content")
        if role == "tool":
            wire_id = message.get("tool_call_id")
            if (
                type(content) is str
                and type(wire_id) is str
                and len(message) == 3
                and wire_id in names
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
        elif role == "assistant":
            blocks = _read_answer(message, account)
            if not blocks:
                return number
            if type(blocks[-1]) is ToolCall or not account.is_bridge(message):
                account.entries().append(Entry(_AI, tuple(blocks)))
        elif role == "user":
            if type(content) is str and len(message) == 2 and content and content[0] not in OPENINGS:
                account.entries().append(Entry(_HUMAN, (Text(clean_text(content)),)))
            else:
                texts = _read_spoken(message, account)
                if not texts:
                    return number
                account.take_human(texts, is_last=number == len(messages) - 1)
        elif role in _INSTRUCTING:
            texts = _read_spoken(message, account)
            if not texts:
                return number
            account.take_instruction("".join(block.text for block in texts))
            continue
        else:
            return number
        account.has_begun = True
    return len(messages)


def _read_spoken(message: JsonObject, account: Account) -> list[Text] | None:
    """The texts of a message that is nothing but text."""
    if len(message) != 2 and not _says_no_more(message, _SPOKEN_FIELDS):
        return None
    texts = _read_texts(message.get("content"))
    account.parts += len(message) + _PARTS_OF_A_TEXT * len(texts or ())
    return texts


def _read_result(message: JsonObject, account: Account) -> ToolResponse | None:
    """A result. Mostly it is the call before it that says the name of the tool."""
    wire_id, name, content = message.get("tool_call_id"), message.get("name", ""), message.get("content")
    if type(wire_id) is not str or type(name) is not str or not _says_no_more(message, _RESULT_FIELDS):
        return None
    texts = _read_texts(content)
    if texts is None:
        return None
    account.parts += len(message) + _PARTS_OF_A_TEXT * len(texts)
    text, wire_id = "".join(block.text for block in texts), clean_text(wire_id)
    return read_result(text, wire_id, clean_text(name) or account.names.get(wire_id, ""))


def _read_answer(message: JsonObject, account: Account) -> list[Block] | None:
    """The blocks of an answer: what was thought, then its text, then its calls, whose names are remembered."""
    content = message.get("content")
    calls: list[JsonObject] | None = message.get("tool_calls")
    if type(content) not in _TEXT_OR_NULL or type(calls) not in _LIST_OR_NULL:
        return None
    blocks: list[Block] = []
    if len(message) != 1 + (content is not None) + (calls is not None):
        thought = message.get("reasoning_content")
        if type(thought) not in _TEXT_OR_NULL or not _says_no_more(message, _ANSWER_FIELDS):
            return None
        if thought and (thought := clean_text(thought)).strip():
            blocks.append(Thinking(thought))
    if content:
        blocks.append(Text(clean_text(content)))
    for call in calls or ():
        if type(call) is not dict or len(call) != 3:
            return None
        try:
            kind, wire_id = call["type"], call["id"]
            function: JsonObject = call["function"]
            if type(function) is not dict or len(function) != 2:
                return None
            name, text = function["name"], function["arguments"]
        except KeyError:
            return None
        if type(kind) is not str or kind != "function" or type(wire_id) is not str:
            return None
        if type(name) is not str or type(text) is not str or not name:
            return None
        name, wire_id = clean_text(name), clean_text(wire_id)
        account.names[wire_id] = name
        arguments = read_plain_arguments(text)  # a text that is not clean is no JSON
        if arguments is not None:
            blocks.append(ToolCall(name, arguments, wire_id))
        else:
            arguments, raw, finished = read_arguments(clean_text(text))
            blocks.append(ToolCall(name, arguments, wire_id, raw=raw, finished=finished))
    account.parts += len(message) + _PARTS_OF_A_CALL * len(blocks)
    return blocks


def _read_texts(content: str | list[Any] | None) -> list[Text] | None:
    """The texts in `content`; None if there is something else in it, or a part that says nothing."""
    if type(content) is str:
        return [Text(clean_text(content))] if content else []
    if type(content) is not list:
        return None
    texts: list[Text] = []
    for item in content:
        text = _read_part(item)
        if not text:
            return None
        texts.append(Text(clean_text(text)))
    return texts


def _read_part(part: str | JsonObject) -> str | None:
    if type(part) is str:
        return part
    if type(part) is not dict or len(part) != 2:
        return None
    kind, text = part.get("type"), part.get("text")
    if type(kind) is not str or kind != "text":
        return None
    return text if type(text) is str else None


def _says_no_more(message: JsonObject, fields: frozenset[str]) -> bool:
    """Whether all that stands beside `fields` is null or empty, as SDKs print what a message does not have."""
    return all(name in fields or (type(name) is str and _is_nothing(value)) for name, value in message.items())


def _is_nothing(value: object) -> bool:
    return value is None or (type(value) in (str, list, dict) and not value)
