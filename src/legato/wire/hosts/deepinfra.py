"""DeepInfra: open models, named after their makers."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="deepinfra",
    title="DeepInfra",
    endpoint="https://api.deepinfra.com/v1/openai",
    keys=("DEEPINFRA_API_KEY", "DEEPINFRA_API_TOKEN"),
    example="deepseek-ai/DeepSeek-V3.2",
    sources=(
        Citation("https://deepinfra.com/docs/advanced/openai_api", "The base URL, for all recent models."),
        Citation("https://docs.openclaw.ai/de/providers/deepinfra.md", "The variable of the key, and the model."),
        Citation("https://docs.langchain.com/oss/python/integrations/chat/deepinfra", "Another variable of the key."),
    ),
    # What it refuses is not known here: it gets what all servers accept.
)
