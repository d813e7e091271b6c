"""A stored session as lines for a person: who said what, and what the tools returned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from legato.cli.terminal.cells import one_line
from legato.cli.terminal.folding import fold
from legato.cli.terminal.words import how_it_ended, result_text, subject_of
from legato.files.text import counted
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
from legato.store import SessionSummary
from legato.transcript import Conversation

_LINES = 20
"""lines of a message that are shown: our choice, the rest is in the session"""

_RESULT_LINES = 6
"""lines of a tool's result that are shown: our choice, results are long and seldom read"""


def page(summary: SessionSummary, talk: Conversation, subagents: Sequence[SessionSummary] = ()) -> Iterator[str]:
    """The session, a few lines for each entry, and where the sessions of its subagents are."""
    yield f"{summary.id}  {one_line(summary.title)}"
    records = counted(summary.records, "record")
    yield f"  begun {_moment(summary.created)}, written {_moment(summary.updated)}, {records}"
    facts = (
        ("route", summary.route),
        ("folder", summary.cwd),
        ("copied from", summary.parent or ""),
        ("subagent of", summary.subagent_of or ""),
        *(("subagent", f"{one.id}  {one.title}") for one in subagents),
    )
    for name, value in facts:
        if value:
            yield f"  {name}: {one_line(value)}"
    for entry in talk.entries:
        yield ""
        yield from _entry(entry)


def _entry(entry: Entry) -> Iterator[str]:
    if entry.speaker is not Speaker.TOOL:
        who = "instruction" if entry.authority is Authority.INSTRUCTION else entry.speaker.value
        model = f" ({one_line(entry.origin.served or entry.origin.asked)})" if entry.origin is not None else ""
        yield f"[{who}{model}]"
    for block in entry.blocks:
        yield from _block(block)
    if ended := how_it_ended(entry):
        yield f"({ended})"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield from fold(block.text, _LINES)
        case Thinking():
            yield f"(thought: {one_line(block.text)[:200]})"
        case ToolCall():
            yield f"● {one_line(block.name)} {one_line(subject_of(block.arguments))[:300]}"
        case ToolResponse():
            yield from (f"  {line}" for line in fold(result_text(block), _RESULT_LINES))
        case Media():
            yield f"[{block.kind} {one_line(block.name or block.mime)}]"
        case Code():
            yield from (f"  {line}" for line in fold(block.code, _LINES))
        case HostedTool():
            yield f"● {one_line(block.name)} (run by the provider)"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
