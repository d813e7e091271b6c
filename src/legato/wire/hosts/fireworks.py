"""Fireworks AI: open models, under the name of an account."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host, RefusalReason, ServerHabits

_ERRORS = "https://docs.fireworks.ai/guides/inference-error-codes.md"

HOST = Host(
    name="fireworks",
    title="Fireworks AI",
    endpoint="https://api.fireworks.ai/inference/v1",
    keys=("FIREWORKS_API_KEY",),
    example="accounts/fireworks/models/gpt-oss-20b",
    sources=(
        Citation(
            "https://ai-sdk.dev/v7/providers/ai-sdk-providers/fireworks", "The base URL, and the variable of the key."
        ),
        Citation("https://docs.fireworks.ai/guides/reasoning", "Thinking comes in `reasoning_content`."),
        Citation(_ERRORS, "A used-up plan is told with 402, a model that is missing or not deployed with 404."),
    ),
    # Whether thinking may go back, and what else is refused, is not known here: it gets what all servers accept.
    server=ServerHabits(statuses={RefusalReason.QUOTA: 402, RefusalReason.MODEL: 404}),
)
