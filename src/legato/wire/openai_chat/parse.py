"""A chat request read back: the body as entries, tools and options.

In:  a request body, ours or anybody's.
Out: a `Parsed`. What no option covers stays in `Options.extra`; what is not understood is noted with its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from legato.model import Choice, Json, JsonObject, Options, ThinkingSwitch, ToolSpec, ingest
from legato.model.json_access import as_object, as_string
from legato.wire.contract import Parsed
from legato.wire.openai_chat.message_list import MessageListReader
from legato.wire.openai_chat.simple_messages import read_simple_json
from legato.wire.options.efforts import NONE, effort_word

_CHOICES = {
    "auto": Choice.AUTO,
    "none": Choice.NONE,
    "required": Choice.REQUIRED,
    "any": Choice.REQUIRED,  # Mistral's older word
}
_FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def parse(body: JsonObject) -> Parsed:
    """The conversation, tools and options in a request body."""
    reader = MessageListReader()
    if _is_plain(body):
        rest = _present(ingest({**body, "messages": None}))
        reader.read(body["messages"], lambda: _present(ingest(body))["messages"])
    else:
        rest = _present(ingest(body))
        messages: Any = rest.pop("messages", [])
        reader.read(messages, lambda: messages)
    return _parsed(reader, rest)


def parse_json(data: bytes | str) -> Parsed | None:
    """The same from JSON, of a body or of its messages alone; None if that takes a closer look at what it holds."""
    found = read_simple_json(data)
    if found is None:
        return None
    messages, rest = found
    reader = MessageListReader()
    return _parsed(reader, _present(ingest(rest))) if reader.read_simple(messages) else None


def _parsed(reader: MessageListReader, rest: JsonObject) -> Parsed:
    builder, notes = reader.builder, reader.notes
    model = as_string(rest.pop("model", ""))
    tools = _read_tools(rest, notes)
    options = _read_options(rest, notes)
    return Parsed(builder.entries(), builder.system, tools, model, options, notes, builder.places, builder.ends)


def _is_plain(body: object) -> bool:
    """Whether `body` holds its messages in the place where they would be if it were ingested."""
    if type(body) is not dict:
        return False
    fields = cast(JsonObject, body)
    return type(fields.get("messages")) is list and all(type(name) is str for name in fields)


def _present(body: Json) -> JsonObject:
    return {name: value for name, value in as_object(body).items() if value is not None}


# --- tools ------------------------------------------------------------------------------------------------------------


def _read_tools(rest: JsonObject, notes: list[str]) -> list[ToolSpec]:
    tools: list[ToolSpec] = []
    for name in ("tools", "functions"):
        listed: Json = rest.pop(name, [])
        if not isinstance(listed, list):
            notes.append(f"{name}: not a list, so no tools were read")
            continue
        for index, item in enumerate(cast("list[object]", listed)):
            tool = _read_tool(as_object(item), is_bare=name == "functions")
            if tool is None:
                notes.append(f"{name}[{index}]: not a function with a name; it was left out")
            else:
                tools.append(tool)
    return tools


def _read_tool(item: JsonObject, *, is_bare: bool) -> ToolSpec | None:
    custom = as_object(item.get("custom"))
    function = item if is_bare else custom or as_object(item.get("function"))
    name = as_string(function.get("name"))
    if not name:
        return None
    description = as_string(function.get("description"))
    if custom:
        return ToolSpec(name, description, _FREE_TEXT)
    parameters = as_object(function.get("parameters"))
    return ToolSpec(name, description, parameters) if parameters else ToolSpec(name, description)


# --- options ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Thinking:
    switch: ThinkingSwitch = ThinkingSwitch.DEFAULT
    budget: int | None = None
    effort: str | None = None


@dataclass(slots=True)
class _Chosen:
    choice: Choice | None = None
    tool: str | None = None
    notes: list[str] = field(default_factory=list[str])


def _read_options(rest: JsonObject, notes: list[str]) -> Options:
    chosen = _read_choice(rest)
    notes += chosen.notes
    thinking = _read_thinking(rest)
    limit = _pop_number(rest, "max_completion_tokens")
    if limit is None:
        limit = _pop_number(rest, "max_tokens")
    stream = rest.pop("stream", False)
    if rest.pop("store", False):
        notes.append("store: not carried over; what is rendered leaves nothing with the provider")
    if rest.get("stream_options") == {"include_usage": True}:
        del rest["stream_options"]  # asked for again with every streamed request
    return Options(
        max_tokens=None if limit is None else int(limit),
        temperature=_pop_number(rest, "temperature"),
        choice=chosen.choice,
        tool=chosen.tool,
        thinking=thinking.switch,
        thinking_budget=thinking.budget,
        effort=thinking.effort,
        stream=stream is True,
        extra=rest,
    )


def _pop_number(rest: JsonObject, name: str) -> float | None:
    value = rest.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    del rest[name]
    return value


def _read_choice(rest: JsonObject) -> _Chosen:
    name = "tool_choice" if "tool_choice" in rest else "function_call"
    value: Json = rest.pop(name, None)
    if value is None:
        return _Chosen()
    if isinstance(value, str) and value in _CHOICES:
        return _Chosen(_CHOICES[value])
    named = as_object(value)
    function = as_object(named.get("function")) or as_object(named.get("custom")) or named
    tool = as_string(function.get("name"))
    if tool:
        return _Chosen(tool=tool)
    return _Chosen(notes=[f"{name}: a choice that is not understood; it was left out"])


def _read_thinking(rest: JsonObject) -> _Thinking:
    read = _Thinking()
    switch = as_object(rest.get("thinking"))
    if switch.get("type") in ("enabled", "disabled"):
        del rest["thinking"]
        read.switch = ThinkingSwitch.ON if switch["type"] == "enabled" else ThinkingSwitch.OFF
        budget = _pop_number(switch, "budget_tokens")
        read.budget = None if budget is None else int(budget)
    effort: Json = rest.get("reasoning_effort")
    if isinstance(effort, str):
        del rest["reasoning_effort"]
        if effort_word(effort) == NONE:
            read.switch = ThinkingSwitch.OFF
        else:
            read.effort = effort_word(effort) or None
    return read
