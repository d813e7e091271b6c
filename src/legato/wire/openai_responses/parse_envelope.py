"""Read what is around the items of a request: tools and options.

Options that have a neutral word get it; every other field is kept in `extra` as it was. `include` is not kept where it
says what `head` says anyway, and `store` never is: what we render leaves nothing with the provider.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from legato.model import (
    FREE_TEXT,
    Choice,
    Dialect,
    JsonObject,
    Options,
    SpecKind,
    TextGrammar,
    ThinkingSwitch,
    ToolSpec,
    clean_text,
    ingest,
)
from legato.model.json_access import as_object, as_objects, as_text, present
from legato.wire.contract import NotHeld
from legato.wire.known_tools import ReadTools, ToolListReader
from legato.wire.openai_responses.envelope import ENCRYPTED_REASONING
from legato.wire.openai_responses.reading import SEARCH
from legato.wire.options.efforts import NONE, effort_word
from legato.wire.options.paths import take
from legato.wire.options.table import home_for
from legato.wire.options.table import read_options as read_fields

_OURS = frozenset({"model", "input", "instructions", "tools", "stream"})
_HOME = str(Dialect.OPENAI_RESPONSES)
_DEFINED = frozenset({"type", "name", "description", "parameters", "strict", "format"})
_HELD_BY_SERVER = {
    "previous_response_id": "the conversation before this request is kept by the provider",
    "conversation": "the conversation before this request is kept by the provider",
    "prompt": "the instructions of this request are kept by the provider",
}


def read_options(body: JsonObject, notes: list[str]) -> Options:
    """The options of a request."""
    rest: JsonObject = {}
    for field, value in body.items():
        if value is None or field in _OURS or _is_ours(field, value):
            continue
        if field == "store":
            notes.append("store: not carried over; what is rendered leaves nothing with the provider")
        else:
            rest[clean_text(field)] = ingest(value)
        if field in _HELD_BY_SERVER:
            notes.append(NotHeld(f"{field}: {_HELD_BY_SERVER[field]} and cannot be read"))
    known = read_fields(rest, Dialect.OPENAI_RESPONSES)
    known |= _choice(rest) | _thinking(rest)
    known["max_tokens"] = take(rest, "max_output_tokens", lambda value: value if type(value) is int else None)
    known["temperature"] = take(rest, "temperature", _number)
    home = home_for(Dialect.OPENAI_RESPONSES, known, rest)
    return Options(**known, stream=body.get("stream") is True, extra=rest, home=home)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_ours(field: str, value: object) -> bool:
    return (field == "store" and value is False) or (field == "include" and value == [ENCRYPTED_REASONING])


def _choice(rest: JsonObject) -> dict[str, Any]:
    """How tools may be used; a choice among several, or of one that the provider runs, stays in `rest`."""
    choice = rest.get("tool_choice")
    chosen = as_object(choice)
    if choice in ("auto", "none", "required"):
        known: dict[str, Any] = {"choice": Choice(choice)}
    elif chosen.get("type") in ("function", "custom") and as_text(chosen.get("name")):
        known = {"tool": chosen["name"]}
    else:
        return {}
    del rest["tool_choice"]
    return known


def _thinking(rest: JsonObject) -> dict[str, Any]:
    effort = take(rest, "reasoning.effort", lambda value: effort_word(as_text(value)) or None)
    summary = take(rest, "reasoning.summary", lambda value: value if value == "auto" else None)
    kept = present(as_object(rest.pop("reasoning", None)))
    if kept:
        rest["reasoning"] = kept
    known: dict[str, Any] = {}
    if effort == NONE:
        known["thinking"] = ThinkingSwitch.OFF
    elif effort is not None:
        known["effort"] = effort
    if summary is not None and effort != NONE:
        known["thinking"] = ThinkingSwitch.ON
    return known


_QUERY: JsonObject = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
"""what a search for tools takes if its definition does not say"""


def read_tools(body: JsonObject) -> ReadTools:
    """The tools of a request, but for those in its items."""
    return _TOOLS(body.get("tools"))


def read_added_tools(item: JsonObject, path: str, notes: list[str]) -> list[ToolSpec]:
    """The tools that an item adds in the middle of a request, or that a search of the client's has found."""
    found = item.get("type") == "tool_search_output" and item.get("execution") == "client"
    if found or item.get("type") == "additional_tools":
        return _definitions(item.get("tools"), f"{path}.tools", notes)
    return []


def _read_listed(listed: object) -> ReadTools:
    notes: list[str] = []
    return ReadTools(tuple(_definitions(listed, "tools", notes)), tuple(notes))


_TOOLS = ToolListReader(_read_listed)


def _definitions(source: object, path: str, notes: list[str]) -> list[ToolSpec]:
    tools: list[ToolSpec] = []
    for index, tool in enumerate(as_objects(ingest(source))):
        place = f"{path}[{index}]"
        if tool.get("type") == "namespace":
            tools += _namespace(tool, place, notes)
        else:
            tools += _definition(tool, place, notes)
    return tools


def _namespace(space: JsonObject, path: str, notes: list[str]) -> list[ToolSpec]:
    """The tools of a namespace; there is none inside another."""
    name, described = as_text(space.get("name")), as_text(space.get("description"))
    found: list[ToolSpec] = []
    for index, tool in enumerate(as_objects(space.get("tools"))):
        found += _definition(tool, f"{path}.tools[{index}]", notes)
    return [replace(tool, namespace=name, namespace_description=described) for tool in found]


def _definition(tool: JsonObject, place: str, notes: list[str]) -> list[ToolSpec]:
    kind, name, strict = as_text(tool.get("type")), as_text(tool.get("name")), tool.get("strict")
    if kind and kind not in ("function", "custom"):
        spec = ToolSpec(name or kind, as_text(tool.get("description")), kind=SpecKind.HOSTED, home=_HOME, native=tool)
        is_search = kind == SEARCH and tool.get("execution") == "client"
        return [replace(spec, parameters=as_object(tool.get("parameters")) or _QUERY)] if is_search else [spec]
    if not kind or not name:
        notes.append(f"{place}: a tool without a {'name' if kind else 'type'} was left out")
        return []
    own = {field: value for field, value in tool.items() if field not in _DEFINED and value is not None}
    spec = ToolSpec(
        name,
        as_text(tool.get("description")),
        strict=strict if isinstance(strict, bool) else None,
        home=_HOME if own or strict is not None else "",
        native=own,
    )
    if kind == "custom":
        form = as_object(tool.get("format"))
        syntax, definition = as_text(form.get("syntax")), as_text(form.get("definition"))
        grammar = TextGrammar(syntax, definition) if syntax and definition else None
        return [replace(spec, kind=SpecKind.CUSTOM, parameters=FREE_TEXT, grammar=grammar)]
    parameters = as_object(tool.get("parameters"))
    return [replace(spec, parameters=parameters) if parameters else spec]
