"""xAI, with Grok: every message has a content."""

from __future__ import annotations

from legato.model import JsonObject
from legato.wire.hosting import Acceptance, Citation, ErrorFacts, Host, HostRule, RefusalReason, ServerHabits

_CODES: dict[RefusalReason, str] = {
    RefusalReason.MODEL: "The model was not found",
    RefusalReason.KEY_MISSING: "No credentials were given",
    RefusalReason.KEY_WRONG: "The credentials are not valid",
    RefusalReason.QUOTA: "Out of credits",
    RefusalReason.RATE: "Too many requests",
    RefusalReason.SERVER: "Internal server error",
    RefusalReason.OVERLOADED: "Service unavailable",
}


def _error(facts: ErrorFacts) -> JsonObject:
    """The message is the error itself, and the code is a sentence."""
    return {"code": _CODES.get(facts.reason, "The request is not valid"), "error": facts.message}


HOST = Host(
    name="xai",
    title="xAI",
    endpoint="https://api.x.ai/v1",
    keys=("XAI_API_KEY",),
    example="grok-4",
    sources=(
        Citation("https://docs.docker.com/ai/docker-agent/providers/xai.md", "The variable of the key."),
        Citation("https://docs.agora.io/en/conversational-ai/models/llm/xai", "The endpoint."),
        Citation("https://wavespeed.ai/zh-CN/llm/x-ai/grok-4", "Grok 4 has a window of 256,000 tokens."),
        Citation("langchain-ai/langchain#34140", "A content that is null is refused, also next to calls."),
    ),
    capabilities={"window": 256_000},
    acceptance=Acceptance(takes_null_beside_calls=False),
    rules=(
        HostRule(
            id="null-content",
            check="null-beside-calls",
            says="Each message has a content; next to calls an empty string will do, null will not.",
            sources=("langchain-ai/langchain#34140",),
            error="Each message must have at least one content element",
        ),
    ),
    server=ServerHabits(answers="", error_body=_error),
)
