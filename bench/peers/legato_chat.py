"""Legato from chat messages that it never saw: parsed, recorded and rendered, with every repair."""

from __future__ import annotations

from typing import Any

from legato.model import Dialect, ToolSpec
from legato.request import render, resolve
from legato.transcript import Conversation
from legato.wire.dialects import dialect_parts

DISTRIBUTION = "legato"
TARGET = resolve("anthropic/claude-sonnet-4-5")
TOOLS = [ToolSpec("read_file")]


def load(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages


def convert(messages: list[dict[str, Any]]) -> object:
    """The conversation and a body: whoever goes on with a conversation keeps it."""
    talk = Conversation()
    parsed = dialect_parts(Dialect.OPENAI_CHAT).parse({"messages": messages})
    talk.apply(talk.prepare(parsed.entries, safe=True))
    return talk, render(talk, TARGET, tools=TOOLS).body


CONVERTERS = {"Legato, from chat messages": (convert, True)}
