"""LM Studio, on this machine."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="lmstudio",
    title="LM Studio",
    endpoint="http://127.0.0.1:1234/v1",
    example="openai/gpt-oss-20b",
    sources=(
        Citation("https://www.lmstudio.ai/docs/developer", "The port, tools, structured output, and a model."),
        Citation("https://docs.agno.com/concepts/models/lmstudio", "A key is usually not needed."),
    ),
    capabilities={"window": 32_768},
)
