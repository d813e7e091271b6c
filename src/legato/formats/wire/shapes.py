"""Tell the request bodies of the providers apart by their shapes.

In:  a JSON object.
Out: the name of a wire format and the evidence for it; None if it is no request body.

Shapes decide before names do: a Claude model may be asked through a router in the form of chat. Chat bodies look alike
for all who speak that dialect; the model's name says whose they are, and where there is none, the form of the call ids
does.
"""

from __future__ import annotations

import re
from typing import TypeAlias

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
    "bedrock": "bedrock",
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
    "bedrock": Dialect.BEDROCK,
}

_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"}
)
_ANTHROPIC_FIELDS = frozenset(
    {"anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers", "context_management"}
)
_CHAT_PARTS = frozenset({"image_url", "input_audio", "file", "refusal"})
_CHAT_FIELDS = frozenset(
    {"response_format", "max_completion_tokens", "frequency_penalty", "presence_penalty", "logit_bias", "logprobs",
     "functions", "function_call", "parallel_tool_calls", "stream_options", "seed", "stop", "n"}
)  # fmt: skip
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
_BEDROCK_BLOCKS = frozenset({"toolUse", "toolResult", "cachePoint", "reasoningContent", "guardContent"})
_BEDROCK_MEDIA = ("image", "document", "video")


def wire_format(body: JsonObject) -> tuple[str, str] | None:
    """The wire format of a request body, and why."""
    if _ANSWERED & body.keys():
        return None
    if any("parts" in item for item in as_objects(body.get("contents"))):
        return "gemini", "contents with parts"
    if _is_responses(body):
        return "openai-responses", "input items"
    messages = as_objects(body.get("messages"))
    if not messages or not any(as_text(item.get("role")) in _ROLES for item in messages):
        return None
    if why := _told_by_converse(body, messages):
        return "bedrock", why
    found = _told_by_shapes(body, messages)
    if found is None and _is_claude(body) and "max_tokens" in body:
        return "anthropic", "a Claude model and max_tokens"
    return _chat(body, messages) if found is None or found[0] == _CHAT else found


def may_be_anthropic(body: JsonObject) -> bool:
    """Whether a body that counts as chat may as well be meant for Anthropic: a Claude model, and no shape of either.

    Such a body lacks `max_tokens`, or it would count as Anthropic's.
    """
    messages = as_objects(body.get("messages"))
    return bool(messages) and _is_claude(body) and _told_by_shapes(body, messages) is None


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


def _told_by_converse(body: JsonObject, messages: list[JsonObject]) -> str:
    """What gives Bedrock's Converse away, whose blocks are named by a key and not by a type; empty if nothing does."""
    if own := sorted(_BEDROCK & body.keys()):
        return f"the field {own[0]}"
    return "content blocks named by a key" if any(map(_is_converse_block, _parts(messages))) else ""


def _is_converse_block(part: JsonObject) -> bool:
    held = (as_object(part.get(kind)) for kind in _BEDROCK_MEDIA)
    return "type" not in part and (bool(_BEDROCK_BLOCKS & part.keys()) or any("source" in media for media in held))


def _is_claude(body: JsonObject) -> bool:
    """Whether the model is a Claude by the name that Anthropic gives it; with a slash, a router is asked for it."""
    model = as_text(body.get("model"))
    return "/" not in model and provider_of_model(model) == "anthropic"


_Said: TypeAlias = "tuple[str, str]"
_CHAT = "chat"


def _told_by_shapes(body: JsonObject, messages: list[JsonObject]) -> _Said | None:
    """What the shapes of a body say it is, those of its messages before those around them; None if they fit both."""
    return _told_by_messages(messages) or _told_by_tools(body) or _told_by_fields(body)


def _told_by_messages(messages: list[JsonObject]) -> _Said | None:
    parts = _parts(messages)
    kinds = {as_text(part.get("type")) for part in parts}
    if kinds & _VERCEL_PARTS:
        return "vercel", "content parts named tool-call or tool-result"
    if any("tool_calls" in item or item.get("role") in ("tool", "developer", "function") for item in messages):
        return _CHAT, "tool_calls, or messages of role tool"
    if any(map(_is_anthropic_block, parts)):
        return "anthropic", "content blocks named tool_use or tool_result"
    if any(part.get("type") in ("image", "document") and isinstance(part.get("source"), dict) for part in parts):
        return "anthropic", "media with a source"
    return (_CHAT, "content parts of its form") if kinds & _CHAT_PARTS else None


def _is_anthropic_block(part: JsonObject) -> bool:
    """Whether a block has a type of Anthropic's. Mistral names its thoughts alike, and holds them as a list."""
    return as_text(part.get("type")) in _ANTHROPIC_BLOCKS and not isinstance(part.get("thinking"), list)


def _told_by_tools(body: JsonObject) -> _Said | None:
    tools = as_objects(body.get("tools"))
    if any("input_schema" in tool for tool in tools):
        return "anthropic", "tools with an input_schema"
    is_chat = any(isinstance(tool.get("function"), dict) for tool in tools)
    return (_CHAT, "tools of type function") if is_chat else None


def _told_by_fields(body: JsonObject) -> _Said | None:
    if isinstance(body.get("system"), str | list):
        return "anthropic", "a system field"
    if own := sorted(_ANTHROPIC_FIELDS & body.keys()):
        return "anthropic", f"the field {own[0]}"
    if own := sorted(_CHAT_FIELDS & body.keys()):
        return _CHAT, f"the field {own[0]}"
    return None


def _parts(messages: list[JsonObject]) -> list[JsonObject]:
    return [part for item in messages for part in as_objects(item.get("content"))]


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
    """A name out of someone's file, for a message of one line."""
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
