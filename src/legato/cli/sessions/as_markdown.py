"""A conversation as Markdown, to be read and passed on: who said what, calls and results in blocks of code.

Nothing is cut. A block of code has a fence that is longer than any in it, so that no text can end it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from legato.cli.terminal.words import how_it_ended, result_text
from legato.model import (
    Authority,
    Block,
    Code,
    Entry,
    HostedTool,
    Media,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.transcript import Conversation

_TITLES = {Speaker.HUMAN: "Person", Speaker.AI: "Model", Speaker.TOOL: "Tool"}


def as_markdown(talk: Conversation, title: str) -> str:
    """`talk` under a heading, as Markdown."""
    parts = [f"# {title}", *(part for entry in talk.entries for part in _entry(entry))]
    return "\n\n".join(parts) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if entry.speaker is not Speaker.TOOL:
        who = "Instruction" if entry.authority is Authority.INSTRUCTION else _TITLES[entry.speaker]
        model = f" ({entry.origin.served or entry.origin.asked})" if entry.origin is not None else ""
        yield f"## {who}{model}"
    for block in entry.blocks:
        yield from _block(block)
    if ended := how_it_ended(entry):
        yield f"*({ended})*"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield block.text.strip()
        case Thinking():
            if block.text.strip():
                yield "\n".join(f"> {line}" for line in block.text.strip().splitlines())
        case ToolCall():
            yield f"**{block.name}**"
            written = block.raw if block.raw is not None else msgspec.json.encode(block.arguments).decode()
            yield _fenced(written, "json")
        case ToolResponse():
            yield _fenced(result_text(block) or "(no output)")
        case Media():
            yield f"*[{block.kind} {block.name or block.mime}]*"
        case Code():
            yield _fenced(block.code)
        case HostedTool():
            yield f"**{block.name}** (run by the provider)"


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
