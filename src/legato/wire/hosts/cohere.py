"""Cohere, through its endpoint for OpenAI's clients."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host, ServerHabits

HOST = Host(
    name="cohere",
    title="Cohere",
    endpoint="https://api.cohere.ai/compatibility/v1",
    keys=("COHERE_API_KEY",),
    example="command-a-03-2025",
    sources=(
        Citation(
            "https://docs.cohere.com/docs/compatibility-api",
            "The base URL, the key and the model; function calling and structured outputs are supported.",
        ),
    ),
    # What it refuses is not known here: it gets what all servers accept.
    server=ServerHabits(serves=("command-*", "c4ai-*")),
)
