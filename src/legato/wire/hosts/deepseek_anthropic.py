"""DeepSeek's Messages API: thinking that has to come back beside calls, with any signature or none."""

from __future__ import annotations

from legato.model import Dialect, JsonObject
from legato.wire.hosting import (
    MESSAGES,
    MESSAGES_OPTIONS,
    Citation,
    ErrorFacts,
    Host,
    MessagesStyle,
    Models,
    RefusalReason,
    ServerHabits,
)

_API = "https://api-docs.deepseek.com/guides/anthropic_api"
_THINKING_MODE = "https://api-docs.deepseek.com/guides/thinking_mode"


def _error(facts: ErrorFacts) -> JsonObject:
    """Errors have the shape of its Chat Completions also here (decolua/9router#2397)."""
    kind = "authentication_error" if facts.status == 401 else "invalid_request_error"
    return {"error": {"message": facts.message, "type": kind, "param": None, "code": "invalid_request_error"}}


HOST = Host(
    name="deepseek-anthropic",
    dialect=Dialect.ANTHROPIC,
    door_of="deepseek",
    title="DeepSeek, as Messages",
    endpoint="https://api.deepseek.com/anthropic",
    keys=("DEEPSEEK_API_KEY",),
    example="deepseek-v4-pro",
    sources=(
        Citation(
            _API,
            "The base URL; the key goes into `x-api-key`; of other names than its own models only Claude's are taken, "
            "and served by its models.",
        ),
        Citation(
            _THINKING_MODE,
            "Thinking is on unless `thinking` says `disabled`, and `output_config.effort` says how hard it thinks.",
        ),
        Citation(
            "QwenLM/qwen-code#3788",
            "An answer with calls needs a thinking block while thinking is on; one that is empty, with an empty "
            "signature, is taken.",
        ),
        Citation("NousResearch/hermes-agent#17510", "Blocks without a signature are taken, Claude's are not sent."),
        Citation("maximhq/bifrost#5177", "No tool can be forced while it thinks."),
        Citation("decolua/9router#2397", "Errors have the shape of Chat Completions."),
    ),
    profile="deepseek-anthropic",
    capabilities={**MESSAGES, "images": False, "window": 131_072},
    models=(
        Models(
            "DeepSeek that thinks",
            ("deepseek-reasoner*",),
            {"thinking": "always", "thinking_default": True, "reasoning_field": True},
        ),
        Models(
            "DeepSeek V4",
            ("deepseek-v4*", "deepseek-flash*"),
            {
                "window": 1_000_000,
                "max_output": 384_000,
                "thinking": "switch",
                "thinking_default": True,
                "efforts": ["low", "high", "max"],
                "reasoning_field": True,
            },
        ),
    ),
    messages_style=MessagesStyle(budgets=False, effort_beside_switch=True),
    options=MESSAGES_OPTIONS,
    words={
        "anthropic/thinking-missing": "The `content[].thinking` in the thinking mode must be passed back to the API.",
        "anthropic/forced-tool": "Thinking mode does not support this tool_choice",
    },
    server=ServerHabits(
        serves=("deepseek-*", "claude-*"),
        checks_signatures=False,
        frame="{said}",
        says={
            RefusalReason.KEY_MISSING: "Authentication Fails (no api key)",
            RefusalReason.KEY_WRONG: "Authentication Fails, your api key is invalid",
            RefusalReason.MODEL: "Model Not Exist",
            RefusalReason.QUOTA: "Insufficient Balance",
        },
        statuses={RefusalReason.MODEL: 400, RefusalReason.QUOTA: 402},
        error_body=_error,
    ),
)
