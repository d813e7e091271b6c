"""Read what stands around the messages: instructions, tools and options, by their names in any version of the SDK."""

from __future__ import annotations

from typing import Any

from legato.model import Choice, Json, JsonObject, Options, ThinkingSwitch, ToolSpec, ingest
from legato.model.json_access import as_object, as_objects, as_text
from legato.wire.options.efforts import NONE, effort_word

_READ = frozenset(
    {
        "model",
        "modelId",
        "messages",
        "prompt",
        "system",
        "instructions",
        "tools",
        "toolChoice",
        "stream",
        "reasoning",
        "allowSystemInMessages",
    }
)


def read_model(body: JsonObject) -> str:
    """The model's name, which may stand in an object that the SDK made of it."""
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
    known: dict[str, Any] = {"stream": body.get("stream") is True}
    extra: JsonObject = {}
    for field, value in body.items():
        if value is None or field in _READ:
            continue
        if field in ("maxOutputTokens", "maxTokens") and type(value) is int:
            known["max_tokens"] = value
        elif field == "temperature" and isinstance(value, int | float):
            known["temperature"] = float(value)
        else:
            extra[field] = ingest(value)
    choice = as_object(body.get("toolChoice"))
    named = as_text(body.get("toolChoice")) or as_text(choice.get("type"))
    if named in ("auto", "none", "required"):
        known["choice"] = Choice(named)
    elif choice.get("type") == "tool":
        known["tool"] = as_text(choice.get("toolName"))
    effort = effort_word(as_text(body.get("reasoning")))
    if effort == NONE:
        known["thinking"] = ThinkingSwitch.OFF
    elif effort and effort != "provider-default":
        known["effort"] = effort
    return Options(**known, extra=extra)


def read_tools(body: JsonObject, notes: list[str]) -> list[ToolSpec]:
    """The tools: an object by name, as `generateText` takes them, or a list, as a language model gets them."""
    source = body.get("tools")
    if isinstance(source, dict):
        named = [(f"tools.{name}", name, as_object(tool)) for name, tool in as_object(source).items()]
    else:
        listed = enumerate(as_objects(source))
        named = [(f"tools[{index}]", as_text(tool.get("name")), tool) for index, tool in listed]
    tools: list[ToolSpec] = []
    for path, name, tool in named:
        if not name or tool.get("type") in ("provider-defined", "provider"):
            notes.append(f"{path}: a tool of the provider's own was left out")
            continue
        schema = as_object(tool.get("inputSchema")) or as_object(tool.get("parameters"))
        schema = as_object(ingest(as_object(schema.get("jsonSchema")) or schema))
        description = as_text(tool.get("description"))
        tools.append(ToolSpec(name, description, schema) if schema else ToolSpec(name, description))
    return tools
