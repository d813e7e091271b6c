"""Read a request body back into entries.

In:  a body as someone sent it: ours, another program's, or one that was refused.
Out: entries, instructions, tools and options; what is not understood is a note with its place, never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import (
    Authority,
    Block,
    Choice,
    Dialect,
    Json,
    JsonObject,
    Media,
    Options,
    Speaker,
    SpecKind,
    Text,
    Thinking,
    ThinkingSwitch,
    ToolResponse,
    ToolSpec,
    ingest,
)
from legato.model.json_access import as_id, as_list, as_object, as_text
from legato.wire.anthropic.caching import marks_of_head, marks_of_message
from legato.wire.anthropic.decode import read_blocks
from legato.wire.anthropic.hosted import is_result, is_use
from legato.wire.anthropic.media import read_media
from legato.wire.anthropic.shapes import NO_THOUGHT
from legato.wire.contract import Parsed
from legato.wire.known_tools import ReadTools, ToolListReader, ingested_items
from legato.wire.options import values
from legato.wire.options.paths import take
from legato.wire.options.table import home_for, read_options
from legato.wire.readback import json_text, read_parts, read_result, text_in
from legato.wire.turn_reader import TurnReader, read_tool

_OURS = frozenset({"messages", "model", "system", "tools", "stream", "cache_control", "anthropic_version"})
"""what is not an option, or is one that says how the request travels"""
_HOME = str(Dialect.ANTHROPIC)
_ANSWER_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
_TOLD_AS_JSON = frozenset({"tool_reference", "search_result"})
_STANDS_IN = Thinking(NO_THOUGHT)
"""what is sent to hosts that demand a thought where there is none"""
_CHOICES = {"auto": Choice.AUTO, "any": Choice.REQUIRED, "none": Choice.NONE}


def parse(body: JsonObject) -> Parsed:
    """Read a request body."""
    reader = AnthropicReader()
    reader.read(as_list(body.get("messages")), 0, ends=True)
    return reader.parsed(body)


class AnthropicReader(TurnReader):
    """One body on its way to entries."""

    call, result = "tool_use", "tool_result"

    def __init__(self) -> None:
        super().__init__()
        self._marks: list[JsonObject] = []
        """the cache marks on what the messages hold"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return super().save(), self._marks.copy()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state."""
        turns, marks = saved
        super().restore(turns)
        self._marks = marks.copy()

    def read(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        """Take the next messages."""
        last = first + len(messages) - 1 if ends else -1
        for at, item in enumerate(messages, first):
            message, path = as_object(item), f"messages[{at}]"
            self.collected.number = at
            previous, self.role = self.role, as_text(message.get("role"))
            content = _content(message.get("content"))
            self._marks += marks_of_message(message)
            match self.role:
                case "assistant":
                    self.assistant(content, path, continues=previous == "assistant")
                case "user":
                    self.user(content, path, is_last=at == last)
                case "system":
                    self.collected.add(Speaker.HUMAN, self.said(content, f"{path}.content"), Authority.INSTRUCTION)
                case _:
                    self.unknown(path, f"a message of role {message.get('role')!r} is not understood and was left out")

    def parsed(self, body: JsonObject) -> Parsed:
        """All of `body`, whose messages were read."""
        if not as_list(body.get("messages")):
            self.note("messages", "there are none")
        return Parsed(
            self.collected.entries,
            self.system(body),
            self.tools(body),
            as_text(body.get("model")),
            self.options(body),
            self.notes,
            self.collected.places,
            self.collected.ends,
            self.adjusted,
        )

    # --- messages -----------------------------------------------------------------------------------------------------

    def kind_of(self, block: JsonObject) -> str:
        """The type of a block."""
        return as_text(block.get("type"))

    def read_answer(self, blocks: list[tuple[int, JsonObject]], path: str) -> list[Block]:
        """Blocks of the model; tools that the provider ran are two blocks there and one here."""
        for at, block in blocks:
            if self.kind_of(block) not in _ANSWER_BLOCKS and not is_use(block) and not is_result(block):
                self.unknown(f"{path}[{at}]", f"a block of type {block.get('type')!r} is not understood")
        read = read_blocks([block for _, block in blocks], str)
        return [block for block in read if block != _STANDS_IN]

    def said(self, content: list[Json], path: str, *, first: int = 0) -> list[Block]:
        """Text and media of a message; what is neither is noted."""
        blocks: list[Block] = []
        for at, item in enumerate(content, first):
            block = as_object(item)
            read = Text(as_text(block.get("text"))) if block.get("type") == "text" else read_media(block)
            if read is None:
                source = as_text(as_object(block.get("source")).get("type"))
                kind = f"{block.get('type')!r} from {source!r}" if source else f"{block.get('type')!r}"
                self.unknown(f"{path}[{at}]", f"a block of type {kind} is not understood and was left out")
            elif not isinstance(read, Text) or read.text:
                blocks.append(read)
        return blocks

    def read_result(self, block: JsonObject, path: str) -> ToolResponse:
        """The result of a call."""
        wire_id = as_id(block.get("tool_use_id"))
        name = self.called.values.get(wire_id, "")
        texts, media = read_parts(block.get("content"), f"{path}.content", _result_part, self.adjusted)
        return read_result("\n".join(texts), wire_id, name, media, failed=bool(block.get("is_error")))

    # --- around them --------------------------------------------------------------------------------------------------

    def system(self, body: JsonObject) -> str:
        blocks = self.said(_content(body.get("system")), "system")
        return "\n\n".join(block.text for block in blocks if isinstance(block, Text))

    def tools(self, body: JsonObject) -> list[ToolSpec]:
        read = _TOOLS(as_list(body.get("tools")))
        self.notes += read.notes
        return read.listed()

    def options(self, body: JsonObject) -> Options:
        """The options; what has no neutral word stays in `extra`, for requests to the same provider."""
        rest = as_object(ingest({name: value for name, value in body.items() if name not in _OURS}))
        rest = {name: value for name, value in rest.items() if value is not None}
        known = read_options(rest, Dialect.ANTHROPIC)
        known |= _read_choice(rest) | _read_thinking(rest)
        known["max_tokens"] = take(rest, "max_tokens", values.whole)
        known["temperature"] = take(rest, "temperature", values.number)
        known["effort"] = take(rest, "output_config.effort", values.effort)
        for name in ("max_tokens", "temperature"):
            if rest.pop(name, None) is not None:
                self.note(name, "not a number, so it was left out")
        if marks := [*marks_of_head(body), *self._marks]:
            known["cache_ttl"] = next((ttl for mark in marks if (ttl := as_text(mark.get("ttl")))), "")
            if others := sorted({name for mark in marks for name in mark} - {"type", "ttl"}):
                self.note("cache_control", f"not carried over: {', '.join(others)}")
        home = home_for(Dialect.ANTHROPIC, known, rest)
        return Options(**known, stream=body.get("stream") is True, extra=rest, home=home)


def _read_tools(listed: object) -> ReadTools:
    tools: list[ToolSpec] = []
    notes: list[str] = []
    for at, item in enumerate(ingested_items(listed)):
        tool = {name: value for name, value in as_object(item).items() if name != "cache_control"}
        name = as_text(tool.get("name"))
        if tool.get("type") not in (None, "custom"):
            kind = as_text(tool["type"])
            tools.append(ToolSpec(name or kind, kind=SpecKind.HOSTED, home=_HOME, native=tool))
        elif name:
            schema = as_object(tool.get("input_schema"))
            tools.append(read_tool(tool, schema_field="input_schema", schema=schema, home=_HOME))
        else:
            notes.append(f"tools[{at}]: a tool without a name was left out")
    return ReadTools(tuple(tools), tuple(notes))


_TOOLS = ToolListReader(_read_tools)


def _read_choice(rest: JsonObject) -> dict[str, Any]:
    """How tools may be used; what is not understood stays in `rest`."""
    kind = as_object(rest.get("tool_choice")).get("type")
    if kind == "tool" and (name := take(rest, "tool_choice.name", values.word)):
        take(rest, "tool_choice.type", values.word)
        return {"tool": name}
    choice = _CHOICES.get(kind) if isinstance(kind, str) else None
    if choice is not None:
        take(rest, "tool_choice.type", values.word)
    return {"choice": choice}


def _read_thinking(rest: JsonObject) -> dict[str, Any]:
    kind = take(rest, "thinking.type", values.word)
    if kind is None:
        return {}
    switch = ThinkingSwitch.OFF if kind == "disabled" else ThinkingSwitch.ON
    return {"thinking": switch, "thinking_budget": take(rest, "thinking.budget_tokens", values.whole)}


def _result_part(part: JsonObject, path: str) -> Text | Media | None:
    """A part of a result; None if it is not known."""
    kind = as_text(part.get("type"))
    if kind in _TOLD_AS_JSON:
        return Text(json_text(part))
    return text_in(part) if kind == "text" else read_media(part)


def _content(content: Json) -> list[Json]:
    """The blocks of a content, which may also be a plain string, or one block that is in no list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [content] if isinstance(content, dict) else as_list(content)
