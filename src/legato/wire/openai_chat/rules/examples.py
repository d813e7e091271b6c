"""How the catalogue writes its examples: small words for messages, and rules whose bodies name their route's model."""

from __future__ import annotations

from collections.abc import Mapping

from legato.model import Json, JsonObject
from legato.wire.contract import Rule, Severity


def ask(*messages: Json, **fields: Json) -> JsonObject:
    """A body with `messages`, still without a model."""
    return {"messages": list(messages), **fields}


def user(text: str = "What does the file say?") -> JsonObject:
    """A user message."""
    return {"role": "user", "content": text}


def said(text: str = "Hello.", **fields: Json) -> JsonObject:
    """An assistant message without calls."""
    return {"role": "assistant", "content": text, **fields}


def read(call_id: str = "call_1", *, name: str = "read", arguments: str = '{"path": "a.txt"}') -> JsonObject:
    """A call."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: JsonObject, content: Json = None, **fields: Json) -> JsonObject:
    """An assistant message with calls: `read` with the id `call_1` if none are given."""
    return {"role": "assistant", "content": content, "tool_calls": list(made) or [read()], **fields}


def result(call_id: str = "call_1", content: Json = "The file is empty.", **fields: Json) -> JsonObject:
    """A tool message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def tool(name: str, schema: JsonObject | None = None) -> JsonObject:
    """A tool definition."""
    return {"type": "function", "function": {"name": name, "parameters": schema or {"type": "object"}}}


def body_with(text: str, schema: JsonObject) -> JsonObject:
    """A whole body with a text and the schema of a tool's arguments."""
    return {"model": "gpt-4o", **ask(user(text), tools=[tool("read", schema)])}


def refuses(
    rule: str, says: str, *, bad: Mapping[str, Json], good: Mapping[str, Json], error: str = "", route: str = ""
) -> Rule:
    """A rule that is refused when broken."""
    return _rule(rule, Severity.REFUSED, says, bad, good, error, route)


def risks(
    rule: str, says: str, *, bad: Mapping[str, Json], good: Mapping[str, Json], error: str = "", route: str = ""
) -> Rule:
    """A rule that is risky to break."""
    return _rule(rule, Severity.RISKY, says, bad, good, error, route)


def _rule(
    rule: str,
    severity: Severity,
    says: str,
    bad: Mapping[str, Json],
    good: Mapping[str, Json],
    error: str,
    route: str,
) -> Rule:
    route = route or "openai/gpt-4o"
    model = route.partition("/")[2]
    return Rule(rule, severity, says, {"model": model, **bad}, {"model": model, **good}, error, route)
