"""What a conversation says, in a form that every file of a framework can hold, to compare two of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from legato.model import Block, Code, Media, NameRule, Text, Thinking, ToolCall
from legato.transcript import Conversation
from legato.transcript.units import Exchange, Said, Summary, completion_text
from legato.wire.arguments import wire_arguments
from legato.wire.names import NameTable
from legato.wire.text_forms import fenced

from builders import units


def told(conversation: Conversation) -> Iterator[Any]:
    """What is said, asked and given, in order, without the forms that no file of a framework has."""
    if conversation.instructions:
        yield "instructions", conversation.instructions
    names = NameTable(NameRule.OPENAI)
    for unit in units(conversation):
        match unit:
            case Said():
                yield "said", unit.authority, [_plain(block) for block in unit.blocks]
            case Summary():
                yield "summary", unit.text
            case Exchange():
                yield (
                    "answered",
                    [
                        ("call", names.project(block.name, block.namespace), wire_arguments(block))
                        if isinstance(block, ToolCall)
                        else _plain(block)
                        for block in unit.blocks
                        if not isinstance(block, Thinking)
                    ],
                )
                for completion in unit.completions:
                    media = [_plain(block) for block in completion.media]
                    yield "gave", completion.is_error, completion_text(completion), media


def _plain(block: Block) -> object:
    match block:
        case Text():
            return block.text
        case Code():
            return fenced(block)
        case Media():
            return block.kind, block.mime, block.data, block.url, block.name
        case _:
            raise AssertionError(block)
