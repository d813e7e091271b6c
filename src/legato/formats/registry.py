"""The formats by name: which module reads each, what its records look like, and whether it can be written."""

from __future__ import annotations

from dataclasses import dataclass

from legato.formats.lines import Marks
from legato.formats.wire.shapes import WIRE_PROVIDERS

_ANYTHING = Marks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format. `module` is loaded when a file of it is read."""

    name: str
    title: str
    module: str
    marks: Marks = _ANYTHING
    is_written: bool = False
    is_wire: bool = False
    is_lines: bool = False
    """a file of one line is a file of lines"""


def _marks(*sets: str) -> Marks:
    return Marks(tuple(frozenset(names.split()) for names in sets))


_TITLES = {
    "openai-chat": "OpenAI Chat Completions request",
    "openai-responses": "OpenAI Responses request",
    "anthropic": "Anthropic Messages request",
    "gemini": "Gemini generateContent request",
    "mistral": "Mistral chat request",
    "kimi": "Kimi chat request",
    "deepseek": "DeepSeek chat request",
    "vercel": "Vercel AI SDK model messages",
}

FORMATS: dict[str, Format] = {
    item.name: item
    for item in (
        Format(
            name="claude-code",
            is_lines=True,
            title="Claude Code session",
            module="claude_code.read",
            marks=_marks("type uuid", "type sessionId", "type message", "leafUuid"),
            is_written=True,
        ),
        Format(
            name="codex",
            is_lines=True,
            title="Codex rollout",
            module="codex.read",
            marks=_marks("type payload", "record_type", "id timestamp instructions"),
            is_written=True,
        ),
        Format(
            name="legato",
            is_lines=True,
            title="Legato log",
            module="log",
            marks=_marks("record", "format version"),
            is_written=True,
        ),
        Format(
            name="gemini-cli",
            is_lines=True,
            title="Gemini CLI chat",
            module="gemini_cli",
            marks=_marks("$set", "$rewindTo", "sessionId projectHash", "id type"),
        ),
        Format(name="opencode", title="opencode export", module="opencode", marks=_marks("info parts")),
        Format(
            name="pi",
            is_lines=True,
            title="pi session",
            module="pi",
            marks=_marks("type id", "type timestamp", "role content"),
        ),
        Format(name="kimi-cli", is_lines=True, title="Kimi CLI context", module="kimi_cli", marks=_marks("role")),
        Format(name="cline", title="Cline messages", module="cline", marks=_marks("role content")),
        Format(name="langchain", title="LangChain messages", module="langchain", marks=_marks("lc", "type data")),
        Format(name="sharegpt", title="ShareGPT conversations", module="sharegpt", marks=_marks("conversations")),
        Format(name="vercel-ui", title="Vercel AI SDK UI messages", module="vercel_ui", marks=_marks("role parts")),
        Format(
            name="chat-records",
            title="chat records, many in one file",
            module="chat.records",
            marks=_marks("messages", "body custom_id", "request", "role", "contents", "type name"),
        ),
        *(
            Format(name=name, title=_TITLES[name], module="wire.read", is_written=True, is_wire=True)
            for name in WIRE_PROVIDERS
        ),
    )
}

WRITTEN = tuple(name for name, item in FORMATS.items() if item.is_written)
"""the formats that can be written"""
