"""Qwen at Alibaba Cloud (DashScope), through its compatible endpoint."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="qwen",
    title="Qwen",
    endpoint="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keys=("DASHSCOPE_API_KEY", "QWEN_API_KEY"),
    example="qwen3-max",
    sources=(
        Citation(
            "https://www.alibabacloud.com/help/doc-detail/2833609.html",
            "The base URL in Singapore; newer pages name one for each workspace, which a configuration can set.",
        ),
        Citation("QwenLM/qwen-code#606", "The arguments of a call have to be JSON."),
    ),
    capabilities={"window": 262_144},
)
