"""Each thing that a reader remembers is forgotten when it goes back; the properties say so for any bodies."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from legato.errors import IngestError
from legato.model import Dialect, ingestion
from legato.wire.dialects import dialect_parts
from legato.wire.openai_chat import message_list
from legato.wire.rereading import Rereader
from legato.wire.undoable import UndoableMap

HI: Any = {"role": "user", "content": "hi"}
MARKED: Any = {
    "role": "user",
    "content": [{"type": "text", "text": "hi", "cache_control": {"ttl": "1h", "scope": "x"}}],
}
CALL: Any = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}],
}
RESULT: Any = {"role": "tool", "tool_call_id": "a", "content": "done"}
ADDED: Any = {"type": "additional_tools", "tools": [{"type": "function", "name": "f"}, {"type": "function"}]}


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [
        (Dialect.ANTHROPIC, [MARKED, HI], [HI]),
        (Dialect.OPENAI_CHAT, [CALL, RESULT, HI], [RESULT, HI]),
        (Dialect.OPENAI_CHAT, [HI, HI], [{"role": "system", "content": "be brief"}, HI]),
        (Dialect.OPENAI_RESPONSES, [ADDED, HI], [HI]),
        (Dialect.OPENAI_RESPONSES, [{"role": "system", "content": "be brief"}, HI], [HI]),
    ],
)
def test_what_is_gone_from_a_body_leaves_no_trace(dialect: Dialect, first: Any, second: Any):
    parts = dialect_parts(dialect)
    reader, field = Rereader(parts), parts.messages_field
    reader.read({field: first}, 0)
    assert reader.read({field: second}, 0) == parts.parse({field: second})
    assert parts.parse({field: first}) != parts.parse({field: second})


def test_only_what_is_new_is_read():
    parts = dialect_parts(Dialect.ANTHROPIC)
    reader = Rereader(parts)
    messages = [{"role": "user", "content": f"{number}"} for number in range(40)]
    reader.read({"messages": messages}, 0)
    changed = [{"role": "user", "content": "not looked at"}] * 32
    parsed = reader.read({"messages": [*changed, *messages[32:], HI]}, 38)
    assert [entry.text for entry in parsed.entries] == [*(f"{number}" for number in range(40)), "hi"]


def test_the_parts_of_messages_that_are_known_count_among_too_many():
    parts = dialect_parts(Dialect.OPENAI_CHAT)
    reader = Rereader(parts)
    with patch.object(ingestion, "MAX_NODES", 50), patch.object(message_list, "MAX_NODES", 50):
        reader.read({"messages": [HI] * 15}, 0)
        with pytest.raises(IngestError, match="more than 50 parts"):
            reader.read({"messages": [HI] * 20}, 15)


def test_a_map_goes_back_over_values_that_were_put_replaced_and_dropped():
    kept: UndoableMap[str, int] = UndoableMap()
    kept.put("a", 1)
    kept.put("b", 2)
    saved = kept.save()
    kept.put("a", 3)
    kept.drop("b")
    kept.drop("c")
    kept.put("d", 4)
    assert kept.values == {"a": 3, "d": 4}
    kept.restore(saved)
    assert kept.values == {"a": 1, "b": 2}
