"""Lists of tools are read once, and never taken for one another."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from legato.model import ToolSpec
from legato.wire.anthropic.parse import parse as parse_anthropic
from legato.wire.known_tools import ReadTools, ToolListReader, decode_known
from legato.wire.openai_chat.parse import parse as parse_chat


class Reading:
    def __init__(self) -> None:
        self.lists: list[object] = []
        self.tools = ToolListReader(self._read)

    def _read(self, listed: object) -> ReadTools:
        self.lists.append(listed)
        return ReadTools((ToolSpec(f"tool_{len(self.lists)}"),))


def test_an_equal_list_is_not_read_again():
    reading = Reading()

    first = reading.tools([{"name": "search", "schema": {"type": "object"}}])

    assert reading.tools([{"name": "search", "schema": {"type": "object"}}]) is first
    assert len(reading.lists) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], [True]),
        ([1], [1.0]),
        (["1"], [1]),
        ([[]], [()]),
        ([b"a"], ["a"]),
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}]),
    ],
)
def test_lists_that_differ_in_anything_are_both_read(one: list[Any], other: list[Any]):
    reading = Reading()
    reading.tools(one)
    reading.tools(other)

    assert reading.lists == [one, other]


def test_what_is_no_plain_value_is_read_every_time():
    reading = Reading()
    odd = [{"name": "search", "since": date(2026, 1, 1)}]
    reading.tools(odd)
    reading.tools(odd)

    assert len(reading.lists) == 2


def test_a_list_that_changes_afterwards_is_another_one():
    reading = Reading()
    listed = [{"name": "search"}]
    reading.tools(listed)
    listed[0]["name"] = "find"
    reading.tools(listed)

    assert len(reading.lists) == 2


def test_what_a_client_changes_later_does_not_change_tools_that_were_read():
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    chat: dict[str, Any] = {"type": "function", "function": {"name": "find_it", "parameters": schema}}
    for parse, tool in ((parse_anthropic, {"name": "find_it", "input_schema": schema}), (parse_chat, chat)):
        schema["properties"] = {}
        before = parse({"messages": [], "tools": [tool]}).tools
        schema["properties"]["more"] = {"type": "string"}

        assert before[0].parameters["properties"] == {}
        assert "more" in parse({"messages": [], "tools": [tool]}).tools[0].parameters["properties"]


def test_tools_of_known_json_are_neither_decoded_nor_read_again():
    reading, other = Reading(), Reading()
    data = b'[{"name": "search"}]'
    first = decode_known(data)

    assert decode_known(b"%s" % data) is first
    assert decode_known(b'[{"name": "find"}]') == [{"name": "find"}]
    assert reading.tools(first) is reading.tools(decode_known(data))
    assert (len(reading.lists), other.tools(first)) == (1, ReadTools([ToolSpec("tool_1")]))


def test_only_so_many_lists_are_kept():
    reading = Reading()
    first = decode_known(b"[0]")
    reading.tools(first)
    for number in range(1, 40):
        decode_known(b"[%d]" % number)

    again = decode_known(b"[0]")
    assert again == first
    assert again is not first
    reading.tools(again)
    assert len(reading.lists) == 2


@pytest.mark.parametrize("data", [b"null", b'{"a": 1}', b"[" + b" " * (1 << 20) + b"]"])
def test_what_is_no_list_or_too_long_a_one_is_not_kept(data: bytes):
    assert decode_known(data) == decode_known(data) == json.loads(data)
    assert data == b"null" or decode_known(data) is not decode_known(data)
