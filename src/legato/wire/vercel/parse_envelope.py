"""Read what is around the messages: instructions, tools and options, by their names in any version of the SDK."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from legato.model import (
    Choice,
    Dialect,
    Json,
    JsonObject,
    Options,
    SpecKind,
    ThinkingSwitch,
    ToolSpec,
    clean_text,
    ingest,
)
from legato.model.json_access import as_object, as_objects, as_text
from legato.wire.options.efforts import NONE, effort_word
from legato.wire.options.paths import take
from legato.wire.options.table import home_for
from legato.wire.options.table import read_options as read_fields

_READ = frozenset(
    {
        "model",
        "modelId",
        "messages",
        "prompt",
        "system",
        "instructions",
        "tools",
        "stream",
        "allowSystemInMessages",
    }
)
_HOME = str(Dialect.VERCEL)
_DEFINED = frozenset({"type", "name", "description", "inputSchema", "parameters", "strict"})


def read_model(body: JsonObject) -> str:
    """The model's name, which may be in an object that the SDK made of it."""
    model = body.get("model")
    return as_text(model) or as_text(as_object(model).get("modelId")) or as_text(body.get("modelId"))


def read_system(body: JsonObject) -> str:
    """The instructions: text, a system message, or several."""
    source: Json = body.get("instructions") if body.get("instructions") is not None else body.get("system")
    if isinstance(source, str):
        return as_text(source)
    messages = [as_object(source)] if isinstance(source, dict) else as_objects(source)
    return "\n\n".join(text for message in messages if (text := as_text(message.get("content"))))


def read_options(body: JsonObject) -> Options:
    """The options; every field without a neutral word is kept in `extra` as it was."""
    unread = ((name, value) for name, value in body.items() if value is not None and name not in _READ)
    rest: JsonObject = {clean_text(name): ingest(value) for name, value in unread}
    known = read_fields(rest, Dialect.VERCEL)
    limit = take(rest, "maxOutputTokens", _count)
    known["max_tokens"] = take(rest, "maxTokens", _count) if limit is None else limit
    known["temperature"] = take(rest, "temperature", _number)
    known |= _choice(rest) | _thinking(rest)
    home = home_for(Dialect.VERCEL, known, rest)
    return Options(**known, stream=body.get("stream") is True, extra=rest, home=home)


def _choice(rest: JsonObject) -> dict[str, Any]:
    choice = as_object(rest.get("toolChoice"))
    named = as_text(rest.get("toolChoice")) or as_text(choice.get("type"))
    if named in ("auto", "none", "required"):
        known: dict[str, Any] = {"choice": Choice(named)}
    elif named == "tool" and as_text(choice.get("toolName")):
        known = {"tool": as_text(choice.get("toolName"))}
    else:
        return {}
    del rest["toolChoice"]
    return known


def _thinking(rest: JsonObject) -> dict[str, Any]:
    effort = take(rest, "reasoning", lambda value: effort_word(as_text(value)) or None)
    if effort is None or effort == "provider-default":
        return {}
    return {"thinking": ThinkingSwitch.OFF} if effort == NONE else {"effort": effort}


def _count(value: object) -> int | None:
    return value if type(value) is int else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_tools(body: JsonObject, notes: list[str]) -> list[ToolSpec]:
    """The tools: an object by name, as `generateText` takes them, or a list, as a language model gets them."""
    source = body.get("tools")
    if isinstance(source, dict):
        named = [(f"tools.{name}", name, as_object(ingest(tool))) for name, tool in as_object(source).items()]
    else:
        listed = enumerate(as_objects(ingest(source)))
        named = [(f"tools[{index}]", as_text(tool.get("name")), tool) for index, tool in listed]
    tools: list[ToolSpec] = []
    for path, name, tool in named:
        if not name:
            notes.append(f"{path}: a tool without a name was left out")
        elif tool.get("type") in ("provider-defined", "provider"):
            tools.append(ToolSpec(name, kind=SpecKind.HOSTED, home=_HOME, native=tool))
        else:
            tools.append(_tool(name, tool))
    return tools


def _tool(name: str, tool: JsonObject) -> ToolSpec:
    own = {field: value for field, value in tool.items() if field not in _DEFINED and value is not None}
    if tool.get("type") not in (None, "function"):
        own["type"] = tool["type"]
    strict = tool.get("strict")
    spec = ToolSpec(
        name,
        as_text(tool.get("description")),
        strict=strict if isinstance(strict, bool) else None,
        home=_HOME if own or strict is not None else "",
        native=own,
    )
    schema = as_object(tool.get("inputSchema")) or as_object(tool.get("parameters"))
    schema = as_object(schema.get("jsonSchema")) or schema
    return replace(spec, parameters=schema) if schema else spec
