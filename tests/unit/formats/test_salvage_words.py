"""Texts behind the calls of an answer are put before them; what asks for something is no text."""

from __future__ import annotations

from typing import Any

from legato.formats.wire.salvage import words_before_calls


def test_a_text_behind_a_call_is_put_before_it_and_a_call_with_a_text_stays() -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "ls", "input": {}, "text": "odd"}
    said = {"type": "text", "text": "And then?"}
    body: dict[str, Any] = {"messages": [{"role": "assistant", "content": [call, said]}]}
    wrong = {"messages[0].content[0]", "messages[0].content[1]"}

    mended, told = words_before_calls(body, "messages", wrong)

    assert mended == {"messages": [{"role": "assistant", "content": [said, call]}]}
    assert [note.place for note in told] == ["messages[0].content[1]"]


def test_nothing_is_moved_where_only_a_call_is_refused() -> None:
    body: dict[str, Any] = {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "text": "odd"}]}]}
    assert words_before_calls(body, "messages", {"messages[0].content[0]"}) == (body, [])
