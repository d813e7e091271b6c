"""Tell the request bodies of the providers apart by their shapes.

In:  a JSON object, whole or cut.
Out: the name of a wire format and what gave it away; None if it is no request body.

Chat bodies look alike for all who speak that dialect; the model's name says whose they are, and where there is none,
the form of the call ids does.
"""

from __future__ import annotations

import re

from legato.formats.fields import as_list, as_object, as_objects, as_text
from legato.formats.origins import provider_of_model
from legato.model import Dialect, JsonObject

WIRE_PROVIDERS: dict[str, str] = {
    "openai-chat": "openai",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "kimi": "kimi",
    "deepseek": "deepseek",
    "vercel": "vercel",
}
"""the wire formats, with the catalogue's provider that each is written for"""

WIRE_DIALECTS: dict[str, Dialect] = {
    "openai-chat": Dialect.OPENAI_CHAT,
    "openai-responses": Dialect.OPENAI_RESPONSES,
    "anthropic": Dialect.ANTHROPIC,
    "gemini": Dialect.GEMINI,
    "mistral": Dialect.OPENAI_CHAT,
    "kimi": Dialect.OPENAI_CHAT,
    "deepseek": Dialect.OPENAI_CHAT,
    "vercel": Dialect.VERCEL,
}

_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"}
)
_VERCEL_PARTS = frozenset({"tool-call", "tool-result", "reasoning", "tool-approval-request", "tool-approval-response"})
_RESPONSES_ITEMS = frozenset(
    {"function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output",
     "local_shell_call", "web_search_call", "item_reference"}
)  # fmt: skip
_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_KIMI = re.compile(r"functions\..+:\d+")
_ANSWERED = frozenset({"candidates", "choices", "output", "usageMetadata", "stop_reason", "object"})
"""fields of a provider's answer, which is no request"""
_BEDROCK = frozenset({"toolConfig", "inferenceConfig", "modelId", "additionalModelRequestFields"})


def wire_format(body: JsonObject) -> tuple[str, str] | None:
    """The wire format of a request body, and why."""
    if _ANSWERED & body.keys():
        return None
    if any("parts" in item for item in as_objects(body.get("contents"))):
        return "gemini", "contents with parts"
    if _is_responses(body):
        return "openai-responses", "input items"
    messages = as_objects(body.get("messages"))
    if not messages or _BEDROCK & body.keys() or not any(as_text(item.get("role")) in _ROLES for item in messages):
        return None
    return _of_messages(body, messages)


def _is_responses(body: JsonObject) -> bool:
    source = body.get("input")
    if isinstance(source, str):
        return "model" in body
    items = as_objects(source)
    if any(_is_item(item) or as_text(item.get("role")) in _ROLES for item in items):
        return True
    return any(map(_is_item, as_objects(body.get("messages"))))


def _is_item(item: JsonObject) -> bool:
    return as_text(item.get("type")) in _RESPONSES_ITEMS


def _of_messages(body: JsonObject, messages: list[JsonObject]) -> tuple[str, str]:
    parts = [part for item in messages for part in as_objects(item.get("content"))]
    kinds = {as_text(part.get("type")) for part in parts}
    if kinds & _VERCEL_PARTS:
        return "vercel", "content parts named tool-call or tool-result"
    if any("tool_calls" in item or item.get("role") in ("tool", "developer") for item in messages):
        return _chat(body, messages)
    if kinds & _ANTHROPIC_BLOCKS:
        return "anthropic", "content blocks named tool_use or tool_result"
    if isinstance(body.get("system"), str | list) or _has_input_schema(body) or "anthropic_version" in body:
        return "anthropic", "system or tools in its form"
    if provider_of_model(as_text(body.get("model"))) == "anthropic" and "max_tokens" in body:
        return "anthropic", "a Claude model and max_tokens"
    if any(part.get("type") in ("image", "document") and isinstance(part.get("source"), dict) for part in parts):
        return "anthropic", "media with a source"
    return _chat(body, messages)


def _has_input_schema(body: JsonObject) -> bool:
    return any("input_schema" in tool for tool in as_objects(body.get("tools")))


def _chat(body: JsonObject, messages: list[JsonObject]) -> tuple[str, str]:
    model = as_text(body.get("model"))
    provider = provider_of_model(model)
    if provider in ("mistral", "kimi", "deepseek") and "/" not in model:  # with a slash, it is a router's name for it
        return provider, f"messages, and the model {_shown(model)}"
    if model:
        return "openai-chat", f"messages, and the model {_shown(model)}"
    ids = [as_text(call.get("id")) for item in messages for call in as_objects(item.get("tool_calls"))]
    if ids and all(_NINE.fullmatch(item) for item in ids):
        return "mistral", "call ids of nine characters"
    if ids and all(_KIMI.fullmatch(item) for item in ids):
        return "kimi", "call ids of the form functions.name:0"
    return "openai-chat", "messages with roles"


def _shown(name: str) -> str:
    """A name out of somebody's file, for a message of one line."""
    return name if name.isprintable() and len(name) <= 80 else ascii(name[:80])


def body_of(value: object) -> JsonObject:
    """A request body from what a file holds: the body itself, or the bare list of its messages, contents or items."""
    if not isinstance(value, list):
        return as_object(value)
    items = as_objects(as_list(value))
    if any("parts" in item for item in items):
        return {"contents": as_list(value)}
    if any(map(_is_item, items)):
        return {"input": as_list(value)}
    return {"messages": as_list(value)}
