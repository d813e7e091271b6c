"""Messages of the usual shapes, read straight from what came in.

In:  a message as somebody passed it, not ingested.
Out: what it says, in values of its own; None if anything about it is unusual.

Usual is content that is text (a string, or a list of text parts), a result under an id, an answer of thinking, text and
function calls whose arguments are a string; any other field says nothing. Types are asked for exactly, since a subclass
may become something else when it is ingested. Strings are all that is kept, so nothing is shared with the caller.
"""

from __future__ import annotations

from types import NoneType
from typing import Any

from legato.model import Block, JsonObject, Text, Thinking, ToolCall, ToolResponse, clean_text
from legato.wire.arguments import read_arguments, read_plain_arguments
from legato.wire.openai_chat.results import read_result

_SPOKEN_FIELDS = frozenset({"role", "content"})
_RESULT_FIELDS = frozenset({"role", "content", "tool_call_id", "name"})
_ANSWER_FIELDS = frozenset({"role", "content", "tool_calls", "reasoning_content"})
_TEXT_OR_NULL = (str, NoneType)
_LIST_OR_NULL = (list, NoneType)


def read_usual_texts(message: JsonObject) -> list[Text] | None:
    """The texts of a message that is nothing but text."""
    if len(message) != 2 and not _says_no_more(message, _SPOKEN_FIELDS):
        return None
    return _read_texts(message.get("content"))


def read_usual_result(message: JsonObject, names: dict[str, str]) -> ToolResponse | None:
    """A result. `names` are the tools of the calls before it, by id: mostly it is the call that says the name."""
    try:
        wire_id, content = message["tool_call_id"], message["content"]
    except KeyError:
        return None
    name = "" if len(message) == 3 else message.get("name", "")
    if type(wire_id) is not str or type(name) is not str:
        return None
    if len(message) != 3 and not _says_no_more(message, _RESULT_FIELDS):
        return None
    if type(content) is str:
        text = clean_text(content)
    else:
        texts = _read_texts(content)
        if texts is None:
            return None
        text = "".join(block.text for block in texts)
    tool_name = names.get(wire_id)
    if tool_name is None:  # then nobody has cleaned the id before
        wire_id = clean_text(wire_id)
        tool_name = names.get(wire_id, "")
    return read_result(text, wire_id, clean_text(name) if name else tool_name)


def read_usual_answer(message: JsonObject) -> list[Block] | None:
    """The blocks of an answer: what was thought, then its text, then its calls."""
    thought, content, calls = message.get("reasoning_content"), message.get("content"), message.get("tool_calls")
    if type(thought) not in _TEXT_OR_NULL or type(content) not in _TEXT_OR_NULL or type(calls) not in _LIST_OR_NULL:
        return None
    given = (thought is not None) + (content is not None) + (calls is not None)
    if len(message) != 1 + given and not _says_no_more(message, _ANSWER_FIELDS):
        return None
    blocks: list[Block] = []
    if thought and (thought := clean_text(thought)).strip():
        blocks.append(Thinking(thought))
    if content:
        blocks.append(Text(clean_text(content)))
    for item in calls or ():
        call = _read_call(item)
        if call is None:
            return None
        blocks.append(call)
    return blocks


def _read_call(call: JsonObject) -> ToolCall | None:
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
    arguments = read_plain_arguments(text)  # a text that is not clean is no JSON
    if arguments is not None:
        return ToolCall(clean_text(name), arguments, clean_text(wire_id))
    arguments, raw, finished = read_arguments(clean_text(text))
    return ToolCall(clean_text(name), arguments, clean_text(wire_id), raw=raw, finished=finished)


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
