"""Which format a file is in, told from its first records, or from the value that it is.

In:  the head of a file.
Out: the name of a format and what gave it away; None if nothing fits.

Each rule looks at shapes that only one program writes. More particular formats are asked first; the wire bodies, whose
fields are everybody's, come last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from legato.formats.fields import as_object, as_objects, as_text
from legato.formats.head import Head, Layout
from legato.formats.wire.shapes import wire_format
from legato.model import JsonObject


class Detected(NamedTuple):
    """A format, and why a file is taken to be in it."""

    format: str
    reason: str


_Rule: TypeAlias = "Callable[[list[JsonObject]], str]"

_CLAUDE_TYPES = frozenset({"user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot"})
_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_PI_TYPES = frozenset(
    {"message", "model_change", "thinking_level_change", "compaction", "custom", "custom_message", "branch_summary"}
)
_LANGCHAIN_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "HumanMessageChunk", "AIMessageChunk", "ToolMessageChunk"}
)
_CHAT_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_UI_PARTS = ("tool-", "dynamic-tool", "step-start", "reasoning", "file", "text", "source-", "data-", "tool-invocation")


def detect_head(head: Head) -> Detected | None:
    """The format of a file that begins with `head`."""
    if head.records:
        for name, rule in _RECORD_RULES.items():
            if reason := rule(list(head.records)):
                return Detected(name, reason)
    if head.layout is Layout.LINES:
        return None
    value = head.value
    items = as_objects(value) if isinstance(value, list) else []
    for name, rule in _LIST_RULES.items():
        if items and (reason := rule(items)):
            return Detected(name, reason)
    for name, rule in _VALUE_RULES.items():
        if isinstance(value, dict) and (reason := rule([as_object(value)])):
            return Detected(name, reason)
    body: JsonObject = {"messages": value} if isinstance(value, list) else as_object(value)
    found = wire_format(body)
    return Detected(*found) if found else None


# --- records ----------------------------------------------------------------------------------------------------------


def _legato(records: list[JsonObject]) -> str:
    return "its first line says legato-log" if records[0].get("format") == "legato-log" else ""


def is_claude_record(record: JsonObject) -> bool:
    """Whether a record is one of Claude Code's."""
    kind, message = as_text(record.get("type")), record.get("message")
    if kind not in _CLAUDE_TYPES or "systemPayload" in record:
        return False
    if isinstance(message, dict):
        return kind in ("user", "assistant") and "content" in message and "role" in message
    return "leafUuid" in record or ("uuid" in record and ("parentUuid" in record or "sessionId" in record))


def _claude(records: list[JsonObject]) -> str:
    return "records with uuid and parentUuid" if any(map(is_claude_record, records)) else ""


def _codex(records: list[JsonObject]) -> str:
    for record in records:
        if as_text(record.get("type")) in _CODEX_TYPES and isinstance(record.get("payload"), dict):
            return f"a record of type {record['type']} with a payload"
        if "record_type" in record:
            return "a record_type"
    first = records[0]
    if {"id", "timestamp", "instructions"} <= first.keys() and "role" not in first:
        return "a first line with id, timestamp and instructions"
    return ""


def _gemini_cli(records: list[JsonObject]) -> str:
    for record in records:
        if "$set" in record or "$rewindTo" in record:
            return "records with $set or $rewindTo"
        if "projectHash" in record and "sessionId" in record:
            return "a projectHash and a sessionId"
        if record.get("type") == "gemini" and "content" in record and "id" in record:
            return "a record of type gemini"
    return ""


def _pi(records: list[JsonObject]) -> str:
    if records[0].get("type") == "session" and "id" in records[0]:
        return "a first record of type session"
    for record in records:
        message = as_object(record.get("message"))
        if as_text(record.get("type")) in _PI_TYPES and message and _is_pi_message(message):
            return "messages with toolCall blocks or toolResult roles"
        if _is_pi_message(record):
            return "a message with api, provider and stopReason"
    return ""


def _is_pi_message(message: JsonObject) -> bool:
    if message.get("role") in ("toolResult", "bashExecution"):
        return True
    return message.get("role") == "assistant" and (
        "stopReason" in message or any(item.get("type") == "toolCall" for item in as_objects(message.get("content")))
    )


def _kimi_cli(records: list[JsonObject]) -> str:
    for record in records:
        if as_text(record.get("role")).startswith("_"):
            return f"a record of role {record['role']}"
    return ""


def is_langchain(item: JsonObject) -> bool:
    """Whether an object is a dumped LangChain message."""
    if "lc" in item and isinstance(item.get("id"), list):
        return True
    return as_text(item.get("type")) in _LANGCHAIN_TYPES and "content" in as_object(item.get("data"))


def _langchain(records: list[JsonObject]) -> str:
    if any(map(is_langchain, records)):
        return "dumped LangChain messages"
    holders = [item for record in records for item in as_objects(record.get("messages"))]
    return "dumped LangChain messages" if any(map(is_langchain, holders)) else ""


def _sharegpt(records: list[JsonObject]) -> str:
    for record in records:
        for item in as_objects(record.get("conversations") or record.get("conversation")):
            if "from" in item and "value" in item:
                return "conversations of from and value"
    return ""


def _opencode(records: list[JsonObject]) -> str:
    for record in records:
        if isinstance(record.get("info"), dict) and (
            isinstance(record.get("messages"), list) or isinstance(record.get("parts"), list)
        ):
            return "info beside messages or parts"
        if "sessionID" in record and ("messageID" in record or record.get("role") in ("user", "assistant")):
            return "a record of opencode's storage"
        if "messageID" in record and "type" in record:
            return "a part of opencode's storage"
    return ""


def _chat_records(records: list[JsonObject]) -> str:
    if len(records) < 2 and not any(name in records[0] for name in ("custom_id", "request", "interactions")):
        return ""
    for record in records:
        if reason := _holds_a_body(record):
            return reason
    flat = [record for record in records if as_text(record.get("role")) in _CHAT_ROLES and is_flat(record)]
    return "lines with a role and a content" if flat else ""


def is_flat(record: JsonObject) -> bool:
    """Whether a record is one message of a conversation that is written a message a line."""
    return "content" in record or "message" in record or "tool_calls" in record


def _holds_a_body(record: JsonObject) -> str:
    if isinstance(record.get("body"), dict) and ("custom_id" in record or "method" in record):
        return "batch lines with a body"
    if isinstance(record.get("request"), dict) and wire_format(record["request"]):
        return "lines with a request"
    if _cassette(record):
        return "recorded interactions"
    for name in ("messages", "contents", "input"):
        if isinstance(record.get(name), list) and wire_format(record):
            return f"lines with {name}"
    return ""


def _cassette(record: JsonObject) -> bool:
    return any(isinstance(item.get("request"), dict) for item in as_objects(record.get("interactions")))


_RECORD_RULES: dict[str, _Rule] = {
    "legato": _legato,
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "pi": _pi,
    "kimi-cli": _kimi_cli,
    "langchain": _langchain,
    "sharegpt": _sharegpt,
    "opencode": _opencode,
    "chat-records": _chat_records,
}


# --- one value --------------------------------------------------------------------------------------------------------


def _is_ui_part(part: JsonObject) -> bool:
    return as_text(part.get("type")).startswith(_UI_PARTS)


def _vercel_ui(items: list[JsonObject]) -> str:
    for item in items:
        parts = as_objects(item.get("parts"))
        if item.get("role") in ("user", "assistant", "system") and parts and any(map(_is_ui_part, parts)):
            return "messages with typed parts"
        if isinstance(item.get("toolInvocations"), list):
            return "messages with toolInvocations"
    return ""


def _gemini_contents(items: list[JsonObject]) -> str:
    return "contents with parts" if all("parts" in item and "role" in item for item in items) else ""


def _trajectories(items: list[JsonObject]) -> str:
    for item in items:
        if isinstance(item.get("traj"), list):
            return "a list of trajectories"
        if reason := _holds_a_body(item):
            return reason.replace("lines", "objects")
    return ""


def _cline_list(items: list[JsonObject]) -> str:
    if not all("role" in item and "content" in item for item in items):
        return ""
    if any("ts" in item or "modelInfo" in item for item in items):
        return "messages with ts or modelInfo"
    return ""


_LIST_RULES: dict[str, _Rule] = {
    "claude-code": _claude,
    "langchain": _langchain,
    "sharegpt": _sharegpt,
    "opencode": _opencode,
    "vercel-ui": _vercel_ui,
    "gemini-cli": _gemini_contents,
    "pi": _pi,
    "chat-records": _trajectories,
    "cline": _cline_list,
}


def _claude_value(values: list[JsonObject]) -> str:
    return "loglines" if as_objects(values[0].get("loglines")) else ""


def _gemini_value(values: list[JsonObject]) -> str:
    value = values[0]
    if any("parts" in item and "role" in item for item in as_objects(value.get("history"))):
        return "a history of contents"
    for item in as_objects(value.get("messages")):
        if item.get("type") in ("gemini", "model"):
            return f"messages of type {item['type']}"
    return ""


def _vercel_ui_value(values: list[JsonObject]) -> str:
    return _vercel_ui(as_objects(values[0].get("messages")))


def _cline_value(values: list[JsonObject]) -> str:
    value = values[0]
    messages = as_objects(value.get("messages"))
    if messages and "system_prompt" in value and ("agent" in value or "sessionId" in value):
        return "messages beside system_prompt and sessionId"
    return _cline_list(messages) if messages and "model" not in value else ""


_VALUE_RULES: dict[str, _Rule] = {
    "claude-code": _claude_value,
    "gemini-cli": _gemini_value,
    "vercel-ui": _vercel_ui_value,
    "cline": _cline_value,
}
