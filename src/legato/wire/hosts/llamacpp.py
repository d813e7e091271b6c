"""The server of llama.cpp, on this machine."""

from __future__ import annotations

from legato.wire.hosting import Acceptance, Citation, Host

HOST = Host(
    name="llamacpp",
    title="llama.cpp",
    endpoint="http://127.0.0.1:8080/v1",
    example="any",
    sources=(
        Citation("https://github.com/ggml-org/llama.cpp/tree/master/tools/server", "The port, and the API."),
        Citation("vllm-project/vllm#48922", "An empty array of tools is refused here as well."),
    ),
    capabilities={"window": 32_768},
    acceptance=Acceptance(refuses_empty_tools=True),
)
