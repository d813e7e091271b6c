"""Messages of simple shapes, read in a batch.

In:  messages as their shapes, so few at a time that they are still at hand: to find thousands of them again in memory
     takes longer than reading them.
Out: what they say, in an `EntryBuilder`, up to the first that is not quite simple.

A long conversation is thousands of messages, and nearly all of them are a question, an answer with calls, and results
that are a string: those are read in the loop itself, because calling a function for each part of them would take as
long as what it does. Their strings are known to be encodable and not too long (see `simple_messages`). One that holds
NUL has to be cleaned, and its message is not simple.
"""

from __future__ import annotations

from legato.model import UNMINTED, Block, Entry, Speaker, Text, Thinking, ToolCall, ToolResponse, clean_text
from legato.wire.arguments import read_arguments, read_plain_arguments
from legato.wire.openai_chat.entry_builder import EntryBuilder
from legato.wire.openai_chat.simple_messages import (
    Assistant,
    Developer,
    Result,
    SimpleMessage,
    System,
    TextItem,
    Texts,
    User,
)
from legato.wire.readback import HUMAN_OPENINGS, RESULT_OPENINGS, read_result

_HUMAN, _AI = Speaker.HUMAN, Speaker.AI
_PARTS_OF_A_CALL = 6  # itself, its three fields, and the two of its function
_PARTS_OF_A_TEXT = 3  # itself, its type and its text


def read_batch(
    messages: list[SimpleMessage | None], first: int, builder: EntryBuilder, *, before: int = 0, ends: bool = True
) -> int:
    """Read messages from the index `first` up to one that is not simple; the index of that one.

    The request has `before` messages in front of them, and `ends` with them or has others.
    """
    results, calls, places, origin = builder.results, builder.calls.values, builder.places, builder.origin
    for index in range(first, len(messages)):
        message, number = messages[index], before + index
        if type(message) is Result:
            content, call = message.content, calls.get(message.tool_call_id)
            if (
                call is None
                or message.name is not None
                or type(content) is not str
                or "\0" in content
                or (content and content[0] in RESULT_OPENINGS)
            ):
                response = _read_result(message, builder)
                if response is None:
                    return index
            else:
                # With the id as the call holds it: that one is at hand when the two are paired.
                response = ToolResponse(UNMINTED, call.wire_id, call.name, content, None, True)
            if results:
                results.append(response)
                builder.last_result = number
            else:
                builder.take_result(response, number)
                builder.has_begun = True
            continue
        if type(message) is Assistant:
            blocks = _read_answer(message, builder)
            if not blocks:
                return index
            if type(blocks[-1]) is ToolCall or not builder.is_bridge(message.content, message.tool_calls):
                builder.entries().append(Entry(_AI, tuple(blocks), origin))
                places.append(number)
        elif type(message) is User:
            said = message.content
            if type(said) is str and said and said[0] not in HUMAN_OPENINGS and "\0" not in said:
                builder.entries().append(Entry(_HUMAN, (Text(said),)))
                places.append(number)
            else:
                texts = _read_texts(said, builder)
                if not texts:
                    return index
                builder.take_human(texts, number, is_last=ends and index == len(messages) - 1)
        elif type(message) is System or type(message) is Developer:
            texts = _read_texts(message.content, builder)
            if not texts:
                return index
            builder.take_instruction("".join(block.text for block in texts), number)
            continue
        else:
            return index
        builder.has_begun = True
    return len(messages)


def _read_result(message: Result, builder: EntryBuilder) -> ToolResponse | None:
    """A result. Mostly it is the call before it that says the name of the tool."""
    wire_id, name = message.tool_call_id, message.name or ""
    texts = None if "\0" in wire_id or "\0" in name else _read_texts(message.content, builder)
    if texts is None:
        return None
    return read_result("".join(block.text for block in texts), wire_id, name or builder.tool_of(wire_id))


def _read_answer(message: Assistant, builder: EntryBuilder) -> list[Block] | None:
    """The blocks of an answer: what was thought, then its text, then its calls, which are remembered."""
    thought, content, calls = message.reasoning_content, message.content, message.tool_calls
    blocks: list[Block] = []
    if thought and not thought.isspace():
        if "\0" in thought:
            return None
        blocks.append(Thinking(thought))
    if content:
        if "\0" in content:
            return None
        blocks.append(Text(content))
    if not calls:
        return blocks
    tools = builder.tools
    for call in calls:
        function, wire_id = call.function, call.id
        name = tools.get(function.name)
        if name is None:
            name = function.name
            if not name or "\0" in name:
                return None
            tools[name] = name
        if "\0" in wire_id:
            return None
        arguments = read_plain_arguments(function.arguments)  # a text that is not clean is no JSON
        if arguments is not None:
            block = ToolCall(name, arguments, wire_id)
        else:
            arguments, raw, finished = read_arguments(clean_text(function.arguments))
            block = ToolCall(name, arguments, wire_id, raw=raw, finished=finished)
        if wire_id:
            builder.calls.put(wire_id, block)
        blocks.append(block)
    builder.parts += _PARTS_OF_A_CALL * len(calls)
    return blocks


def _read_texts(content: Texts, builder: EntryBuilder) -> list[Text] | None:
    """The texts in `content`; None if one of them says nothing, or has to be cleaned."""
    if type(content) is str:
        if "\0" in content:
            return None
        return [Text(content)] if content else []
    texts: list[Text] = []
    parts = 0
    for item in content:
        text = item.text if type(item) is TextItem else item
        if type(text) is not str or not text or "\0" in text:
            return None
        texts.append(Text(text))
        parts += 1 if text is item else _PARTS_OF_A_TEXT
    builder.parts += parts
    return texts
