"""Legato from chat messages that it never saw: parsed, recorded and rendered, with every repair."""

from __future__ import annotations

from typing import Any

from legato.model import ToolSpec
from legato.request import parse, render, resolve

DISTRIBUTION = "legato"
SOURCE = resolve("openai/gpt-4o")
TARGET = resolve("anthropic/claude-sonnet-4-5")
TOOLS = [ToolSpec("read_file")]


def load(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages


def convert(messages: bytes | list[dict[str, Any]]) -> object:
    """The conversation and a body: whoever goes on with a conversation keeps it."""
    talk = parse(messages, SOURCE).into_conversation()
    return talk, render(talk, TARGET, tools=TOOLS).body


CONVERTERS = {"Legato, from chat messages": (convert, True)}
FROM_JSON = {"Legato, from JSON": convert}
