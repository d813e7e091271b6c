"""Read what stands around the items of a request: tools and options.

Options that have a neutral word get it; every other field is kept in `extra` as it was. `include` is not kept where it
says what `head` says anyway, and `store` never is: what we render leaves nothing with the provider.
"""

from __future__ import annotations

from typing import Any

from legato.model import Choice, JsonObject, Options, ThinkingSwitch, ToolSpec, ingest
from legato.model.json_access import as_object, as_objects, as_text
from legato.wire.openai_responses.envelope import ENCRYPTED_REASONING
from legato.wire.options.efforts import NONE, effort_word

_READ = frozenset({"model", "input", "instructions", "tools", "stream", "tool_choice", "reasoning"})
_HELD_BY_SERVER = ("previous_response_id", "conversation")


def read_options(body: JsonObject, notes: list[str]) -> Options:
    """The options of a request."""
    extra: JsonObject = {}
    known: dict[str, Any] = {"stream": body.get("stream") is True}
    for field, value in body.items():
        if value is None or field in _READ or _is_ours(field, value):
            continue
        if field == "store":
            notes.append("store: not carried over; what is rendered leaves nothing with the provider")
        elif field == "max_output_tokens" and type(value) is int:
            known["max_tokens"] = value
        elif field == "temperature" and isinstance(value, int | float):
            known["temperature"] = float(value)
        else:
            extra[field] = ingest(value)
        if field in _HELD_BY_SERVER:
            notes.append(f"{field}: the conversation before this request is kept by the provider and cannot be read")
    known |= _choice(body, extra)
    known |= _thinking(body, extra)
    return Options(**known, extra=extra)


def _is_ours(field: str, value: object) -> bool:
    return (field == "store" and value is False) or (field == "include" and value == [ENCRYPTED_REASONING])


def _choice(body: JsonObject, extra: JsonObject) -> dict[str, Any]:
    choice = body.get("tool_choice")
    if choice in ("auto", "none", "required"):
        return {"choice": Choice(choice)}
    chosen = as_object(choice)
    if chosen.get("type") in ("function", "custom") and as_text(chosen.get("name")):
        return {"tool": chosen["name"]}
    if choice is not None:
        extra["tool_choice"] = ingest(choice)
    return {}


def _thinking(body: JsonObject, extra: JsonObject) -> dict[str, Any]:
    reasoning = {name: value for name, value in as_object(body.get("reasoning")).items() if value is not None}
    effort = reasoning.get("effort")
    effort = effort_word(effort) if isinstance(effort, str) else effort
    if reasoning.keys() - {"effort", "summary"} or reasoning.get("summary", "auto") != "auto":
        extra["reasoning"] = ingest(reasoning)  # whole, because `extra` replaces the field
    known: dict[str, Any] = {}
    if effort == NONE:
        known["thinking"] = ThinkingSwitch.OFF
    elif isinstance(effort, str):
        known["effort"] = effort or None
    if reasoning.get("summary") == "auto" and effort != NONE:
        known["thinking"] = ThinkingSwitch.ON
    return known


def read_tools(body: JsonObject, notes: list[str]) -> list[ToolSpec]:
    """The tools of a request, and those that were added in the middle of it."""
    tools = _definitions(body.get("tools"), "tools", notes)
    for index, item in enumerate(as_objects(body.get("input"))):
        if item.get("type") == "additional_tools":
            tools += _definitions(item.get("tools"), f"input[{index}].tools", notes)
    return tools


def _definitions(source: object, path: str, notes: list[str], *, in_namespace: bool = False) -> list[ToolSpec]:
    tools: list[ToolSpec] = []
    for index, tool in enumerate(as_objects(source)):
        place = f"{path}[{index}]"
        kind = tool.get("type")
        if kind == "namespace" and not in_namespace:  # there is none inside another
            tools += _definitions(tool.get("tools"), f"{place}.tools", notes, in_namespace=True)
            notes.append(f"{place}: the namespace {tool.get('name')!r} is left out, its tools are not")
            continue
        name, description = as_text(tool.get("name")), as_text(tool.get("description"))
        if kind == "function" and name:
            parameters = as_object(ingest(tool.get("parameters")))
            tools.append(ToolSpec(name, description, parameters) if parameters else ToolSpec(name, description))
        elif kind == "custom" and name:
            tools.append(ToolSpec(name, description, _FREE_TEXT))
            notes.append(f"{place}: the custom tool {name!r} is read as a function of one text, `input`")
        else:
            notes.append(f"{place}: a tool of type {kind!r} is the provider's own and was left out")
    return tools


_FREE_TEXT: JsonObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
