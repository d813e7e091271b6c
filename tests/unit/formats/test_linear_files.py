"""Reading files and bodies takes work in proportion to their length. Work is counted, not timed."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest

from legato import parse
from legato.errors import FormatError
from legato.formats import head, read_all
from legato.model import ToolResponse
from legato.wire import collected, readback
from legato.wire.phrases import MEDIA_CAPTION, MEDIA_FOLLOWS


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[..., int]) -> list[int]:
    """What `work` says of each call of a function of `module`, from now on."""
    done: list[int] = []
    function = getattr(module, name, None) or getattr(builtins, name)

    def counting(*args: Any, **kwargs: Any) -> Any:
        done.append(work(*args, **kwargs))
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, counting, raising=False)
    return done


@pytest.mark.parametrize("data", [b"[", b'{"a":', b"[[],"])
def test_a_file_of_open_brackets_is_closed_once(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    closed = counted(monkeypatch, head, "reversed", len)
    with pytest.raises(FormatError):
        read_all(data * 5_000)
    assert sum(closed) <= 2 * 5_000 * len(data)


def test_neighbouring_answers_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = counted(monkeypatch, collected, "replace", lambda entry, **changes: len(changes["blocks"]))
    answers = [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}] * 300
    entries = parse({"messages": answers}, "anthropic/claude-sonnet-4-5").entries
    assert [len(entry.blocks) for entry in entries] == [300]
    assert sum(joined) <= 2 * 300


def test_attachments_find_their_results_in_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = counted(monkeypatch, readback, "_without_announcement", lambda response: 1)
    count = 200
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(count)
    ]
    results = [{"role": "tool", "tool_call_id": f"call_{n}", "content": MEDIA_FOLLOWS} for n in range(count)]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    shown = [
        part for _ in range(count) for part in ({"type": "text", "text": MEDIA_CAPTION.format(tool="read")}, picture)
    ]
    messages = [{"role": "assistant", "tool_calls": calls}, *results, {"role": "user", "content": shown}]
    entries = parse({"messages": messages}, "openai/gpt-4o").entries
    given = [block for entry in entries for block in entry.blocks if isinstance(block, ToolResponse)]
    assert [len(response.media) for response in given] == [1] * count
    assert len(looked_at) <= 2 * count
