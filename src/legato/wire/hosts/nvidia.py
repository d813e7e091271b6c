"""NVIDIA's hosted NIM models."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="nvidia",
    title="NVIDIA NIM",
    endpoint="https://integrate.api.nvidia.com/v1",
    keys=("NVIDIA_API_KEY", "NIM_API_KEY"),
    example="nvidia/llama-3.1-nemotron-70b-instruct",
    sources=(
        Citation(
            "https://docs.pipecat.ai/server/services/llm/nvidia",
            "The base URL, the variable of the key, and the model.",
        ),
        Citation("https://ai-sdk.dev/providers/openai-compatible-providers/nim", "Another variable of the key."),
    ),
    # What it refuses is not known here: it gets what all servers accept.
)
