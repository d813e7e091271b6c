"""Ollama, on this machine."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host, ServerHabits

HOST = Host(
    name="ollama",
    title="Ollama",
    endpoint="http://127.0.0.1:11434/v1",
    example="qwen3",
    sources=(Citation("https://docs.ollama.com/api/openai-compatibility", "The port, and that any key will do."),),
    capabilities={"window": 32_768},
    server=ServerHabits(unsplit_calls=True),
)
