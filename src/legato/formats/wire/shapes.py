"""Tell the request bodies of the providers apart by their shapes.

In:  a JSON object.
Out: the name of a wire format and the evidence for it; None if it is no request body.

Shapes decide before names do: a Claude model may be asked through a router in the form of chat. Chat bodies look alike
for all who speak that dialect; the model's name says whose they are, and where there is none, the form of the call ids
does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from legato.formats.fields import as_list, as_object, as_objects, as_text
from legato.formats.origins import provider_of_model
from legato.model import Dialect, Json, JsonObject

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
_CHAT_ROLES = ("tool", "developer", "function")
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


class WireSign(NamedTuple):
    """Something in a body that speaks for a wire format, and where in the body it is."""

    format: str
    reason: str
    place: str


def wire_format(body: JsonObject) -> tuple[str, str] | None:
    """The wire format of a request body, and why."""
    first = next(wire_signs(body), None)
    if first is None:
        return None
    if first.format != _CHAT:
        return first.format, first.reason
    return _chat(body, as_objects(body.get("messages")))[:2]


def weighed_signs(body: JsonObject) -> list[WireSign]:
    """Everything in a body that speaks for a wire format, the weightiest first; that one decides."""
    messages = as_objects(body.get("messages"))
    chat = _chat(body, messages).format
    return [sign._replace(format=chat) if sign.format == _CHAT else sign for sign in wire_signs(body)]


def wire_signs(body: JsonObject) -> Iterator[WireSign]:
    """The signs of a body in the order of their weight; those of chat do not say yet whose chat it is."""
    if _ANSWERED & body.keys():
        return
    if (index := _first(body.get("contents"), lambda item: "parts" in item)) >= 0:
        yield WireSign("gemini", "contents with parts", f"contents[{index}]")
    if place := _responses_at(body):
        yield WireSign("openai-responses", "input items", place)
    messages = as_objects(body.get("messages"))
    if not messages or not any(as_text(item.get("role")) in _ROLES for item in messages):
        return
    yield from _signs_of_converse(body)
    yield from _shape_signs(body)
    if _is_claude(body) and "max_tokens" in body:
        yield WireSign("anthropic", "a Claude model and max_tokens", "model")
    yield WireSign(_CHAT, *_chat(body, messages)[1:])


def may_be_anthropic(body: JsonObject) -> bool:
    """Whether a body that counts as chat may as well be meant for Anthropic: a Claude model, and no shape of either.

    Such a body lacks `max_tokens`, or it would count as Anthropic's.
    """
    messages = as_objects(body.get("messages"))
    return bool(messages) and _is_claude(body) and next(_shape_signs(body), None) is None


def _first(items: Json, fits: Callable[[JsonObject], bool]) -> int:
    """The index of the first object in a list that fits, or -1."""
    objects = ((index, as_object(item)) for index, item in enumerate(as_list(items)) if isinstance(item, dict))
    return next((index for index, item in objects if fits(item)), -1)


def _responses_at(body: JsonObject) -> str:
    """Where a body shows that it is one of the Responses API; empty if it is none."""
    source = body.get("input")
    if isinstance(source, str):
        return "input" if "model" in body else ""
    index = _first(source, lambda item: _is_item(item) or as_text(item.get("role")) in _ROLES)
    if index >= 0:
        return f"input[{index}]"
    index = _first(body.get("messages"), _is_item)
    return f"messages[{index}]" if index >= 0 else ""


def _is_item(item: JsonObject) -> bool:
    return as_text(item.get("type")) in _RESPONSES_ITEMS


def _signs_of_converse(body: JsonObject) -> Iterator[WireSign]:
    """What gives Bedrock's Converse away, whose blocks are named by a key and not by a type."""
    if own := sorted(_BEDROCK & body.keys()):
        yield WireSign("bedrock", f"the field {own[0]}", own[0])
    if place := _part_at(body.get("messages"), _is_converse_block):
        yield WireSign("bedrock", "content blocks named by a key", place)


def _is_converse_block(part: JsonObject) -> bool:
    held = (as_object(part.get(kind)) for kind in _BEDROCK_MEDIA)
    return "type" not in part and (bool(_BEDROCK_BLOCKS & part.keys()) or any("source" in media for media in held))


def _is_claude(body: JsonObject) -> bool:
    """Whether the model is a Claude by the name that Anthropic gives it; with a slash, a router is asked for it."""
    model = as_text(body.get("model"))
    return "/" not in model and provider_of_model(model) == "anthropic"


_CHAT = "chat"
"""stands for the format of whoever speaks chat: the model's name or the ids say whose it is"""


def _shape_signs(body: JsonObject) -> Iterator[WireSign]:
    """What the shapes of a body say it is, those of its messages before those around them; none if they fit both."""
    yield from _signs_of_messages(body.get("messages"))
    yield from _signs_of_tools(body)
    yield from _signs_of_fields(body)


def _signs_of_messages(messages: Json) -> Iterator[WireSign]:
    if place := _part_at(messages, lambda part: as_text(part.get("type")) in _VERCEL_PARTS):
        yield WireSign("vercel", "content parts named tool-call or tool-result", place)
    index = _first(messages, lambda item: "tool_calls" in item or item.get("role") in _CHAT_ROLES)
    if index >= 0:
        yield WireSign(_CHAT, "tool_calls, or messages of role tool", f"messages[{index}]")
    if place := _part_at(messages, _is_anthropic_block):
        yield WireSign("anthropic", "content blocks named tool_use or tool_result", place)
    if place := _part_at(messages, _is_anthropic_medium):
        yield WireSign("anthropic", "media with a source", place)
    if place := _part_at(messages, lambda part: as_text(part.get("type")) in _CHAT_PARTS):
        yield WireSign(_CHAT, "content parts of its form", place)


def _is_anthropic_block(part: JsonObject) -> bool:
    """Whether a block has a type of Anthropic's. Mistral names its thoughts alike, and holds them as a list."""
    return as_text(part.get("type")) in _ANTHROPIC_BLOCKS and not isinstance(part.get("thinking"), list)


def _is_anthropic_medium(part: JsonObject) -> bool:
    return part.get("type") in ("image", "document") and isinstance(part.get("source"), dict)


def _signs_of_tools(body: JsonObject) -> Iterator[WireSign]:
    tools = body.get("tools")
    if (index := _first(tools, lambda tool: "input_schema" in tool)) >= 0:
        yield WireSign("anthropic", "tools with an input_schema", f"tools[{index}]")
    if (index := _first(tools, lambda tool: isinstance(tool.get("function"), dict))) >= 0:
        yield WireSign(_CHAT, "tools of type function", f"tools[{index}]")


def _signs_of_fields(body: JsonObject) -> Iterator[WireSign]:
    if isinstance(body.get("system"), str | list):
        yield WireSign("anthropic", "a system field", "system")
    for name in sorted(_ANTHROPIC_FIELDS & body.keys()):
        yield WireSign("anthropic", f"the field {name}", name)
    for name in sorted(_CHAT_FIELDS & body.keys()):
        yield WireSign(_CHAT, f"the field {name}", name)


def _part_at(messages: Json, fits: Callable[[JsonObject], bool]) -> str:
    """The place of the first content part that fits; empty if none does."""
    for number, item in enumerate(as_list(messages)):
        if (index := _first(as_object(item).get("content"), fits)) >= 0:
            return f"messages[{number}].content[{index}]"
    return ""


def _chat(body: JsonObject, messages: list[JsonObject]) -> WireSign:
    """Whose chat a body is, and what says so."""
    model = as_text(body.get("model"))
    provider = provider_of_model(model)
    if model:
        is_own = provider in ("mistral", "kimi", "deepseek") and "/" not in model  # a slash is a router's name for it
        return WireSign(provider if is_own else "openai-chat", f"messages, and the model {_shown(model)}", "model")
    ids = [as_text(call.get("id")) for item in messages for call in as_objects(item.get("tool_calls"))]
    if ids and all(_NINE.fullmatch(item) for item in ids):
        return WireSign("mistral", "call ids of nine characters", "messages")
    if ids and all(_KIMI.fullmatch(item) for item in ids):
        return WireSign("kimi", "call ids of the form functions.name:0", "messages")
    return WireSign("openai-chat", "messages with roles", "messages")


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
