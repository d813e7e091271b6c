"""Qwen's Messages API, at Alibaba Cloud: models that think unless they are told not to."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.hosting import MESSAGES, MESSAGES_OPTIONS, Citation, Host, Models, ServerHabits

_API = "https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages"

HOST = Host(
    name="qwen-anthropic",
    dialect=Dialect.ANTHROPIC,
    door_of="qwen",
    title="Qwen, as Messages",
    endpoint="https://dashscope-intl.aliyuncs.com/apps/anthropic",
    keys=("DASHSCOPE_API_KEY", "QWEN_API_KEY"),
    example="qwen3.7-plus",
    sources=(
        Citation(
            _API,
            "The base URL in Singapore, where newer pages name one for each workspace; a model; thinking is `enabled` "
            "with `budget_tokens`.",
        ),
        Citation(
            "ChatLab/ChatLab#483",
            "Thinking is on by default, and is counted in `max_tokens`: a short answer may be all thinking.",
        ),
    ),
    profile="qwen-anthropic",
    capabilities={**MESSAGES, "window": 262_144, "images": False},
    # Which model thinks by itself is known of the newest alone; whether signatures are checked is not known.
    models=(
        Models(
            "Qwen that thinks",
            ("qwen3.7*", "qwen3.8*"),
            {"thinking": "switch", "thinking_default": True, "thinking_first": True},
        ),
        Models("Qwen that can think", ("qwen-plus*",), {"thinking": "switch", "thinking_first": True}),
    ),
    options=MESSAGES_OPTIONS,
    server=ServerHabits(serves=("qwen*", "qwq*")),
)
