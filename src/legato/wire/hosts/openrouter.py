"""OpenRouter, which passes requests on to the providers of many models."""

from __future__ import annotations

from legato.model import JsonObject
from legato.wire.hosting import Citation, ErrorFacts, Host, RefusalReason, ServerHabits


def _error(facts: ErrorFacts) -> JsonObject:
    return {"error": {"message": facts.message, "code": facts.status, "metadata": {}}}


HOST = Host(
    name="openrouter",
    title="OpenRouter",
    endpoint="https://openrouter.ai/api/v1",
    keys=("OPENROUTER_API_KEY",),
    example="z-ai/glm-4.6",
    sources=(
        Citation(
            "https://openrouter.ai/docs/api/reference/errors-and-debugging",
            "An error has a number as its code, and metadata.",
        ),
        Citation(
            "https://openrouter.ai/docs/use-cases/reasoning-tokens",
            "Thinking comes as `reasoning_details`, which go back as they came.",
        ),
    ),
    capabilities={"router": True},
    server=ServerHabits(
        answers="gen-",
        talks=True,
        says={
            RefusalReason.KEY_MISSING: "No auth credentials found",
            RefusalReason.MODEL: "{model} is not a valid model ID",
            RefusalReason.QUOTA: "Insufficient credits.",
        },
        statuses={RefusalReason.MODEL: 400},
        error_body=_error,
    ),
)
