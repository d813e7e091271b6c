"""Together AI: open models, named after their makers."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

_COMPATIBILITY = "https://docs.together.ai/docs/inference/openai-compatibility"

HOST = Host(
    name="together",
    title="Together AI",
    endpoint="https://api.together.ai/v1",
    keys=("TOGETHER_API_KEY",),
    example="openai/gpt-oss-20b",
    sources=(
        Citation(_COMPATIBILITY, "The base URL, the variable of the key, and names of models with their maker's."),
        Citation(
            "https://docs.together.ai/docs/glm-5.3-quickstart",
            "Thinking comes in `reasoning_content` or `reasoning`, depending on the model.",
        ),
    ),
    # Whether thinking may go back, and what else is refused, is not documented: it gets what all servers accept.
)
