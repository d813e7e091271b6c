"""Legato itself, from what it recorded: measured by the same program as the others."""

from __future__ import annotations

from typing import Any

from legato.model import Dialect, Entry, ToolSpec
from legato.request import render, resolve
from legato.transcript import Conversation
from legato.wire.dialects import dialect_parts

DISTRIBUTION = "legato"
TARGET = resolve("anthropic/claude-sonnet-4-5")
TOOLS = [ToolSpec("read_file")]


def load(messages: list[dict[str, Any]]) -> list[Entry]:
    return dialect_parts(Dialect.OPENAI_CHAT).parse({"messages": messages}).entries


def fresh(entries: list[Entry]) -> Conversation:
    """The conversation as it is before it was ever rendered."""
    talk = Conversation()
    talk.apply(talk.prepare(entries))
    return talk


def convert(talk: Conversation) -> object:
    return render(talk, TARGET, tools=TOOLS).body


def session(turns: list[list[Entry]]) -> None:
    """Record and render every turn: what was rendered before is not rendered again."""
    talk = Conversation()
    for turn in turns:
        talk.apply(talk.prepare(turn))
        convert(talk)


CONVERTERS = {"Legato": (convert, True)}
