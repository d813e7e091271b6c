"""Read a request body back into entries.

In:  a body as someone sent it: ours, another program's, or one that was refused.
Out: entries, instructions, tools and options; what is not understood is a note with its place, never an exception.
"""

from __future__ import annotations

from typing import Any

from legato.model import (
    Block,
    Choice,
    Dialect,
    Json,
    JsonObject,
    Media,
    Options,
    SpecKind,
    Text,
    ThinkingSwitch,
    ToolResponse,
    ToolSpec,
    clean_text,
    ingest,
)
from legato.model.json_access import as_id, as_list, as_object, as_objects, as_text, present
from legato.wire.bedrock.caching import find_marks
from legato.wire.bedrock.decode import kind_of, read_blocks
from legato.wire.bedrock.media import read_media
from legato.wire.contract import Parsed
from legato.wire.options import values
from legato.wire.options.paths import take
from legato.wire.options.table import home_for, read_options
from legato.wire.phrases import DOCUMENT_CAPTION
from legato.wire.readback import json_text, read_parts, read_result, text_in
from legato.wire.turn_reader import TurnReader, read_tool

_OURS = frozenset({"messages", "modelId", "system"})
"""what is not an option"""
_HOME = str(Dialect.BEDROCK)
_CHOICES = {"auto": Choice.AUTO, "any": Choice.REQUIRED}
_TOLD_AS_JSON = frozenset({"searchResult", "image", "document", "video"})
"""parts of results that nobody else knows, also media in a form that is new to us"""
_MODEL_FIELDS = "additionalModelRequestFields"


def parse(body: JsonObject) -> Parsed:
    """Read a request body."""
    return _Reader().read(body)


class _Reader(TurnReader):
    """One body on its way to entries."""

    call, result = "toolUse", "toolResult"

    def read(self, body: JsonObject) -> Parsed:
        messages = as_list(body.get("messages"))
        if not messages:
            self.note("messages", "there are none")
        role = ""
        for at, item in enumerate(messages):
            message, path = as_object(item), f"messages[{at}]"
            self.collected.number = at
            previous, role = role, as_text(message.get("role"))
            content = [block for block in _blocks(message.get("content")) if kind_of(as_object(block)) != "cachePoint"]
            match role:
                case "assistant":
                    self.assistant(content, path, continues=previous == "assistant")
                case "user":
                    self.user(content, path, is_last=at == len(messages) - 1)
                case _:
                    self.unknown(path, f"a message of role {message.get('role')!r} is not understood and was left out")
        return Parsed(
            self.collected.entries,
            self.system(body),
            self.tools(as_object(body.get("toolConfig"))),
            as_text(body.get("modelId")),
            self.options(body),
            self.notes,
            self.collected.places,
            self.collected.ends,
            self.adjusted,
        )

    # --- messages -----------------------------------------------------------------------------------------------------

    def kind_of(self, block: JsonObject) -> str:
        """The one member of a block that says what it is; a result with a type is one of the service's own tools."""
        kind = kind_of(block)
        is_hosted = kind == self.result and isinstance(as_object(block[kind]).get("type"), str)
        return "serverToolResult" if is_hosted else kind

    def read_answer(self, blocks: list[tuple[int, JsonObject]], path: str) -> list[Block]:
        """Blocks of the model."""
        return read_blocks([block for _, block in blocks], str)

    def said(self, content: list[Json], path: str, *, first: int = 0) -> list[Block]:
        """Text and media of a message; what is neither is noted."""
        blocks: list[Block] = []
        for at, item in enumerate(content, first):
            block = as_object(item)
            read = read_media(block)
            if read is not None:
                blocks.append(read)
            elif text := as_text(block.get("text")):
                if text != DOCUMENT_CAPTION:
                    blocks.append(Text(text))
            elif "text" not in block:
                what = f"a {kind_of(block) or 'nameless'} block is not understood and was left out"
                self.unknown(f"{path}[{at}]", what)
        return blocks

    def read_result(self, block: JsonObject, path: str) -> ToolResponse:
        """The result of a call."""
        result = as_object(block.get("toolResult"))
        wire_id = as_id(result.get("toolUseId"))
        texts, media = read_parts(result.get("content"), f"{path}.toolResult.content", _result_part, self.adjusted)
        failed = result.get("status") == "error"
        return read_result("\n".join(texts), wire_id, self.called.values.get(wire_id, ""), media, failed=failed)

    # --- around them --------------------------------------------------------------------------------------------------

    def system(self, body: JsonObject) -> str:
        blocks = [block for block in _blocks(body.get("system")) if kind_of(as_object(block)) != "cachePoint"]
        return "\n\n".join(block.text for block in self.said([*blocks], "system") if isinstance(block, Text))

    def tools(self, config: JsonObject) -> list[ToolSpec]:
        tools: list[ToolSpec] = []
        for at, item in enumerate(as_objects(config.get("tools"))):
            kind = kind_of(item)
            spec = as_object(ingest(item.get("toolSpec")))
            name = as_text(spec.get("name"))
            if name:
                schema = as_object(as_object(spec.get("inputSchema")).get("json"))
                tools.append(read_tool(spec, schema_field="inputSchema", schema=schema, home=_HOME))
            elif kind == "toolSpec":
                self.note(f"toolConfig.tools[{at}]", "a tool without a name was left out")
            elif isinstance(item.get(kind), dict) and len(own := present(item)) == 1 and kind != "cachePoint":
                held = as_text(as_object(item[kind]).get("name")) or clean_text(kind)
                tools.append(ToolSpec(held, kind=SpecKind.HOSTED, home=_HOME, native=as_object(ingest(own))))
            elif kind != "cachePoint":
                self.unknown(f"toolConfig.tools[{at}]", "a tool is not understood and was left out")
        return tools

    def options(self, body: JsonObject) -> Options:
        """The options; what has no neutral word stays in `extra`, for requests to the same provider."""
        rest = as_object(ingest({name: value for name, value in body.items() if name not in _OURS}))
        rest = {name: value for name, value in rest.items() if value is not None}
        config = as_object(rest.pop("toolConfig", None))
        known = read_options(rest, Dialect.BEDROCK) | _read_choice(as_object(config.get("toolChoice")))
        known |= _read_thinking(rest)
        known["max_tokens"] = take(rest, "inferenceConfig.maxTokens", values.whole)
        known["temperature"] = take(rest, "inferenceConfig.temperature", values.number)
        if marks := find_marks(body):
            known["cache_ttl"] = next((ttl for mark in marks if (ttl := as_text(mark.get("ttl")))), "")
        rest = {name: value for name, value in rest.items() if value != {}}
        return Options(**known, extra=rest, home=home_for(Dialect.BEDROCK, known, rest))


def _result_part(part: JsonObject, path: str) -> Text | Media | None:
    """A part of a result; None if it is not known."""
    if isinstance(part.get("text"), str):
        return text_in(part)
    if "json" in part:
        return Text(json_text(part["json"]))
    read = read_media(part)
    return Text(json_text(part)) if read is None and kind_of(part) in _TOLD_AS_JSON else read


def _blocks(content: Json) -> list[Json]:
    """The blocks of a content. It is a list of them; a single one is refused, but it is clear what it says."""
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return [content] if isinstance(content, dict) else as_list(content)


def _read_choice(choice: JsonObject) -> dict[str, Any]:
    kind = kind_of(choice)
    if kind == "tool" and (name := as_text(as_object(choice[kind]).get("name"))):
        return {"tool": name}
    return {"choice": _CHOICES.get(kind)}


def _read_thinking(rest: JsonObject) -> dict[str, Any]:
    """Thinking is not a field of the service's own: each family of models has its own (see `envelope`)."""
    if kind := take(rest, f"{_MODEL_FIELDS}.thinking.type", values.word):
        switch = ThinkingSwitch.OFF if kind == "disabled" else ThinkingSwitch.ON
        budget = take(rest, f"{_MODEL_FIELDS}.thinking.budget_tokens", values.whole)
        effort = take(rest, f"{_MODEL_FIELDS}.output_config.effort", values.effort)
        return {"thinking": switch, "thinking_budget": budget, "effort": effort}
    if kind := take(rest, f"{_MODEL_FIELDS}.reasoningConfig.type", values.word):
        switch = ThinkingSwitch.OFF if kind == "disabled" else ThinkingSwitch.ON
        return {
            "thinking": switch,
            "effort": take(rest, f"{_MODEL_FIELDS}.reasoningConfig.maxReasoningEffort", values.effort),
        }
    return {"effort": take(rest, f"{_MODEL_FIELDS}.reasoning_effort", values.effort)}
