"""Groq: open models, and no fields that Chat Completions does not know."""

from __future__ import annotations

from msgspec.structs import replace

from legato.wire.hosting import (
    CHAT_ROLES,
    OPENAI_FIELDS,
    STRICT_STYLE,
    Acceptance,
    Citation,
    Host,
    HostRule,
)

HOST = Host(
    name="groq",
    title="Groq",
    endpoint="https://api.groq.com/openai/v1",
    keys=("GROQ_API_KEY",),
    example="llama-3.3-70b-versatile",
    sources=(
        Citation("https://console.groq.com/docs/openai", "The base URL, and which fields of OpenAI's are not taken."),
        Citation("janhq/jan#8136", "A message with a field that is not known is refused."),
    ),
    style=replace(STRICT_STYLE, reasoning_details=False, undocumented_fields=False),
    acceptance=Acceptance(fields=dict.fromkeys(CHAT_ROLES, OPENAI_FIELDS)),
    rules=(
        HostRule(
            id="unknown-field",
            check="extra-field",
            says="Messages have no fields that Chat Completions does not know, such as `reasoning` or "
            "`reasoning_content`.",
            sources=("janhq/jan#8136",),
            error="property '{field}' is unsupported",
            model="openai/gpt-oss-120b",
        ),
    ),
)
