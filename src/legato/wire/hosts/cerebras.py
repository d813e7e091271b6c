"""Cerebras: open models, and no fields that Chat Completions does not know, except `reasoning`."""

from __future__ import annotations

from msgspec.structs import replace

from legato.wire.hosting import CHAT_ROLES, OPENAI_FIELDS, STRICT_STYLE, Acceptance, Citation, Host, HostRule

HOST = Host(
    name="cerebras",
    title="Cerebras",
    endpoint="https://api.cerebras.ai/v1",
    keys=("CEREBRAS_API_KEY",),
    example="gpt-oss-120b",
    sources=(
        Citation("https://inference-docs.cerebras.ai/resources/openai", "The base URL, and the variable of the key."),
        Citation("Kilo-Org/kilocode#10375", "A message with a field that is not known is refused."),
    ),
    style=replace(STRICT_STYLE, reasoning_details=False, undocumented_fields=False),
    acceptance=Acceptance(fields=dict.fromkeys(CHAT_ROLES, OPENAI_FIELDS | {"reasoning"})),
    rules=(
        HostRule(
            id="unknown-field",
            check="extra-field",
            says="Messages have no fields that Chat Completions does not know, except `reasoning`.",
            sources=("Kilo-Org/kilocode#10375",),
            error="property 'messages.{index}.{role}.{field}' is unsupported",
        ),
    ),
)
