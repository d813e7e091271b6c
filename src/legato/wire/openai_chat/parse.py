"""A chat request read back: the body as entries, tools and options.

In:  a request body, ours or anyone's.
Out: a `Parsed`. What no option covers stays in `Options.extra`; what is not understood is noted with its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import cast

from msgspec.structs import replace

from legato.model import (
    FREE_TEXT,
    Choice,
    Dialect,
    Json,
    JsonObject,
    Options,
    Origin,
    SpecKind,
    TextGrammar,
    ThinkingSwitch,
    ToolSpec,
    ingest,
)
from legato.model.json_access import as_object, as_string, present
from legato.wire.contract import NotUnderstood, Parsed
from legato.wire.known_tools import ReadTools, ToolListReader
from legato.wire.openai_chat.message_list import MessageListReader
from legato.wire.openai_chat.simple_messages import read_simple_json
from legato.wire.options.efforts import NONE, effort_word
from legato.wire.options.table import home_for, read_options

_CHOICES = {
    "auto": Choice.AUTO,
    "none": Choice.NONE,
    "required": Choice.REQUIRED,
    "any": Choice.REQUIRED,  # Mistral's older word
}
_HOME = str(Dialect.OPENAI_CHAT)
_TOOL_FIELDS = ("tools", "functions")
_NO_OPTIONS = frozenset({"messages", *_TOOL_FIELDS})
_DESCRIBED = frozenset({"name", "description", "parameters", "strict", "format"})


def parse(body: JsonObject) -> Parsed:
    """The conversation, tools and options in a request body."""
    reader = ChatBodyReader()
    if not _is_plain(body):
        body = present(as_object(ingest(body)))
    messages = body.get("messages", [])
    if isinstance(messages, list):
        reader.read(cast("list[Json]", messages), 0, ends=True)
    else:
        reader.notes.append(NotUnderstood("messages: not a list, so no conversation was read"))
    return reader.parsed(body)


def parse_json(data: bytes | str, origin: Origin | None = None) -> Parsed | None:
    """The same from JSON, of a body or of its messages alone; None if that takes a closer look at what it holds.

    The answers in it were made at `origin`.
    """
    found = read_simple_json(data)
    if found is None:
        return None
    portions, rest = found
    reader = ChatBodyReader(origin)
    return reader.parsed(rest) if reader.read_simple(portions) else None


class ChatBodyReader(MessageListReader):
    """One body on its way to entries."""

    def parsed(self, body: JsonObject) -> Parsed:
        """All of `body`, whose messages were read."""
        builder, notes = self.builder, self.notes
        tools = _read_tools(body, notes)
        rest = present(as_object(ingest({name: value for name, value in body.items() if name not in _NO_OPTIONS})))
        model = as_string(rest.pop("model", ""))
        options = _read_options(rest, notes)
        return Parsed(
            builder.entries(),
            builder.system,
            tools,
            model,
            options,
            notes,
            builder.places,
            builder.ends.values.copy(),
            self.adjusted,
        )


def _is_plain(body: object) -> bool:
    """Whether `body` holds its messages in the place where they would be if it were ingested."""
    if type(body) is not dict:
        return False
    fields = cast(JsonObject, body)
    return type(fields.get("messages")) is list and all(type(name) is str for name in fields)


# --- tools ------------------------------------------------------------------------------------------------------------


def _read_tools(fields: JsonObject, notes: list[str]) -> list[ToolSpec]:
    reads = [_LISTS[name](listed) for name in _TOOL_FIELDS if (listed := fields.get(name)) is not None]
    for read in reads:
        notes += read.notes
    return reads[0].listed() if len(reads) == 1 else [tool for read in reads for tool in read.tools]


def _read_list(name: str, listed: object) -> ReadTools:
    """The tools in the field of a body that has this name."""
    listed = ingest(listed)
    if not isinstance(listed, list):
        return ReadTools((), (f"{name}: not a list, so no tools were read",))
    tools: list[ToolSpec] = []
    notes: list[str] = []
    for index, item in enumerate(cast("list[object]", listed)):
        tool = _read_tool(as_object(item), is_bare=name == "functions")
        if tool is None:
            notes.append(f"{name}[{index}]: not a function with a name; it was left out")
        else:
            tools.append(tool)
    return ReadTools(tuple(tools), tuple(notes))


_LISTS = {name: ToolListReader(partial(_read_list, name)) for name in _TOOL_FIELDS}


def _read_tool(item: JsonObject, *, is_bare: bool) -> ToolSpec | None:
    """A definition, whose own fields stay with it: those beside the function, and those in it."""
    kind = "function" if is_bare else as_string(item.get("type")) or ("custom" if "custom" in item else "function")
    described = item if is_bare else as_object(item.get(kind))
    if not is_bare and kind not in ("function", "custom"):  # as Moonshot's `builtin_function`
        name = as_string(as_object(item.get("function")).get("name")) or kind
        return ToolSpec(name, kind=SpecKind.HOSTED, home=_HOME, native=item)
    name, strict = as_string(described.get("name")), described.get("strict")
    if not name:
        return None
    own = {field: value for field, value in described.items() if field not in _DESCRIBED and value is not None}
    around = {} if is_bare else {field: item[field] for field in item if field not in ("type", kind)}
    native = {**around, kind: own} if own else around
    spec = ToolSpec(
        name,
        as_string(described.get("description")),
        strict=strict if isinstance(strict, bool) else None,
        home=_HOME if native or strict is not None else "",
        native=native,
    )
    if kind == "custom":
        return replace(spec, kind=SpecKind.CUSTOM, parameters=FREE_TEXT, grammar=_read_grammar(described))
    parameters = as_object(described.get("parameters"))
    return replace(spec, parameters=parameters) if parameters else spec


def _read_grammar(described: JsonObject) -> TextGrammar | None:
    grammar = as_object(as_object(described.get("format")).get("grammar"))
    syntax, definition = as_string(grammar.get("syntax")), as_string(grammar.get("definition"))
    return TextGrammar(syntax, definition) if syntax and definition else None


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


def _read_options(rest: JsonObject, notes: list[str]) -> Options:
    chosen = _read_choice(rest)
    thinking = _read_thinking(rest)
    limit = _pop_number(rest, "max_completion_tokens")
    if limit is None:
        limit = _pop_number(rest, "max_tokens")
    stream = rest.pop("stream", False)
    if rest.pop("store", False):
        notes.append("store: not carried over; what is rendered leaves nothing with the provider")
    if rest.get("stream_options") == {"include_usage": True}:
        del rest["stream_options"]  # asked for again with every streamed request
    known = read_options(rest, Dialect.OPENAI_CHAT)
    return Options(
        **known,
        max_tokens=None if limit is None else int(limit),
        temperature=_pop_number(rest, "temperature"),
        choice=chosen.choice,
        tool=chosen.tool,
        thinking=thinking.switch,
        thinking_budget=thinking.budget,
        effort=thinking.effort,
        stream=stream is True,
        extra=rest,
        home=home_for(Dialect.OPENAI_CHAT, known, rest),
    )


def _pop_number(rest: JsonObject, name: str) -> float | None:
    value = rest.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    del rest[name]
    return value


def _read_choice(rest: JsonObject) -> _Chosen:
    name = "tool_choice" if "tool_choice" in rest else "function_call"
    value: Json = rest.get(name)
    if value is None:
        return _Chosen()
    named = as_object(value)
    function = as_object(named.get("function")) or as_object(named.get("custom")) or named
    tool = as_string(function.get("name"))
    if isinstance(value, str) and value in _CHOICES:
        chosen = _Chosen(_CHOICES[value])
    elif tool:
        chosen = _Chosen(tool=tool)
    else:
        return _Chosen()  # among several, for instance: it stays in `rest`
    del rest[name]
    return chosen


def _read_thinking(rest: JsonObject) -> _Thinking:
    read = _Thinking()
    switch = as_object(rest.get("thinking"))
    if switch.get("type") in ("enabled", "disabled"):
        read.switch = ThinkingSwitch.ON if switch.pop("type") == "enabled" else ThinkingSwitch.OFF
        budget = _pop_number(switch, "budget_tokens")
        read.budget = None if budget is None else int(budget)
        if not switch:
            del rest["thinking"]
    effort: Json = rest.get("reasoning_effort")
    if isinstance(effort, str):
        del rest["reasoning_effort"]
        if effort_word(effort) == NONE:
            read.switch = ThinkingSwitch.OFF
        else:
            read.effort = effort_word(effort) or None
    return read
