"""SambaNova Cloud: open models."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="sambanova",
    title="SambaNova",
    endpoint="https://api.sambanova.ai/v1",
    keys=("SAMBANOVA_API_KEY",),
    example="Meta-Llama-3.3-70B-Instruct",
    sources=(
        Citation("https://docs.pipecat.ai/server/services/llm/sambanova", "The base URL, and the variable of the key."),
        Citation("https://docs.sambanova.ai/docs/en/v1.0.57/features/openai-compatibility", "The model."),
    ),
    # What it refuses is not known here: it gets what all servers accept.
)
