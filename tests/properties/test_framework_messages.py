"""Whatever a conversation holds, the messages that are written for a framework hold it, and in that order."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from legato.formats import read, write
from legato.model import Authority, Block, Entry, HostedTool, Media, Speaker, Thinking, ToolCall
from told import told

from builders import talk, user
from strategies import logs

FRAMEWORKS = ("langchain", "pydantic-ai")


def without_foreign_forms(news: list[Entry], framework: str) -> list[Entry]:
    """The entries without what providers run themselves, what only one of them understands, and arguments in pieces."""
    kept = [
        [
            block
            for block in entry.blocks
            if not isinstance(block, HostedTool | Thinking) and _has_place(entry, block, framework)
        ]
        for entry in news
    ]
    return [
        replace(entry, blocks=tuple(map(_whole, blocks))) for entry, blocks in zip(news, kept, strict=True) if blocks
    ]


def _whole(block: Block) -> Block:
    block = replace(block, native=None)
    return replace(block, raw=None, finished=True) if isinstance(block, ToolCall) else block


def _has_place(entry: Entry, block: Block, framework: str) -> bool:
    """Whether there is a form for `block`: Pydantic AI's system prompts are text, its answers hold media as bytes."""
    if framework != "pydantic-ai" or not isinstance(block, Media):
        return True
    return entry.authority is Authority.PERSON and (entry.speaker is not Speaker.AI or block.data is not None)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@given(news=logs())
def test_what_is_written_for_a_framework_is_the_same_conversation(framework: str, news: list[Entry]) -> None:
    conversation = talk(user("hello"), *without_foreign_forms(news, framework))
    written = write(conversation, framework)
    again = read(written.data, format=framework)
    assert [str(note) for note in again.notes] == []
    assert list(told(again.conversation())) == list(told(conversation))
