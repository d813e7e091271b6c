"""A conversation in one line: `talk(user("hi"), calls("a", "b"), result("a"))`.

Calls and results are named by a short id; everything else has a default.
"""

from __future__ import annotations

from typing import Any

from legato.model import (
    Authority,
    Block,
    Entry,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.model.records import Record
from legato.request import resolve
from legato.transcript import Conversation, Unit

ROUTES = (
    "openai/gpt-4o",
    "openai-responses/gpt-5.1",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-3-pro-preview",
    "mistral/mistral-large-latest",
    "kimi/kimi-k2-thinking",
    "deepseek/deepseek-reasoner",
    "vercel/any",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
)
"""One route of every family."""

OTHER_ROUTES = (
    "vercel-gateway/openai/gpt-5.1",
    "openrouter/z-ai/glm-4.6",
    "groq/llama-3.3-70b-versatile",
    "xai/grok-4",
    "anthropic/claude-opus-4-8",
    "gemini/gemini-2.5-pro",
    "kimi/kimi-k2-0905-preview",
    "deepseek/deepseek-chat",
    "openrouter/mistralai/devstral-medium",
    "bedrock/us.amazon.nova-2-lite-v1:0",
    "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0",
)
"""Routes that write something differently from their family's first."""


def user(*parts: str | Block) -> Entry:
    return Entry(Speaker.HUMAN, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def instruction(text: str) -> Entry:
    return Entry(Speaker.HUMAN, (Text(text),), authority=Authority.INSTRUCTION)


def ai(*parts: str | Block, **fields: Any) -> Entry:
    return Entry(Speaker.AI, tuple(Text(part) if isinstance(part, str) else part for part in parts), **fields)


def call(wire_id: str = "a", name: str = "read", **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, wire_id)


def calls(*wire_ids: str, name: str = "read", **fields: Any) -> Entry:
    return ai(*(ToolCall(name, {"path": f"{wire_id}.txt"}, wire_id) for wire_id in wire_ids), **fields)


def response(wire_id: str = "a", value: Any = None, *, name: str = "read", **fields: Any) -> ToolResponse:
    value = f"result of {wire_id}" if value is None and not fields else value
    return ToolResponse(wire_id=wire_id, tool_name=name, result=value, **fields)


def result(wire_id: str = "a", value: Any = None, **fields: Any) -> Entry:
    return Entry(Speaker.TOOL, (response(wire_id, value, **fields),))


def tool(*blocks: Block) -> Entry:
    return Entry(Speaker.TOOL, blocks)


def thought(text: str = "hm", **native: Any) -> Thinking:
    return Thinking(text, native=native or None)


def origin(route: str, served: str = "") -> Origin:
    return resolve(route).origin(served)


def talk(*news: Entry | Record) -> Conversation:
    conversation = Conversation()
    for item in news:
        conversation.apply(conversation.prepare([item]))
    return conversation


def units(conversation: Conversation, window: int = 0) -> list[Unit]:
    view = conversation.view(window)
    view.refresh()
    return list(view.units())


def decisions(conversation: Conversation, window: int = 0) -> list[tuple[str, str]]:
    """What was decided, as (action, reason)."""
    view = conversation.view(window)
    view.refresh()
    made: list[tuple[str, str]] = []
    for place in range(len(view.slots)):
        view.unit(place)
        made += [(decision.action.value, decision.reason) for decision in view.decisions(place)]
    return made


def completions(conversation: Conversation) -> list[tuple[str, str, str]]:
    """Every completion as (our call id, kind, reason or result)."""
    return [
        (str(done.call_id), done.kind.value, done.reason.value if done.reason else str(done.error or done.result))
        for unit in units(conversation)
        for done in getattr(unit, "completions", ())
    ]
