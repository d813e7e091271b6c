"""Z.ai, with the GLM models: thinking that is switched by a field and goes back with the results of tools."""

from __future__ import annotations

from msgspec.structs import replace

from legato.wire.hosting import (
    STRICT_STYLE,
    Acceptance,
    Citation,
    Host,
    Models,
    RefusalReason,
    ServerHabits,
    Switch,
)

_API = "https://docs.z.ai/api-reference/llm/chat-completion"
_THINKING = "https://docs.z.ai/guides/capabilities/thinking-mode"
_ERRORS = "https://docs.z.ai/api-reference/api-code"

HOST = Host(
    name="zai",
    title="Z.ai",
    endpoint="https://api.z.ai/api/paas/v4",
    keys=("ZAI_API_KEY", "Z_AI_API_KEY"),
    example="glm-4.7",
    sources=(
        Citation(_API, "The base URL, the model `glm-4.7`, and answers with `reasoning_content`."),
        Citation("https://docs.openclaw.ai/es/providers/zai.md", "Its clients look for the key in `ZAI_API_KEY`."),
        Citation(
            _THINKING,
            "Thinking is on by default since GLM-4.7, `thinking` switches it, and it should come back with the results "
            "of tools.",
        ),
        Citation(_ERRORS, "A used-up balance and too many requests are both told with 429."),
        Citation(
            "https://java.agentscope.io/v2/en/integration/model/glm",
            "Only `auto` is taken as `tool_choice`, and neither `stream_options` nor `strict` of a tool.",
        ),
    ),
    # Windows, prices and the exact words of refusals are not known here, so the usual ones are used.
    models=(
        Models(
            "GLM that thinks",
            ("glm-4.5*", "glm-4.6*", "glm-4.7*", "glm-5*"),
            {"thinking": "switch", "thinking_default": True, "reasoning_field": True},
        ),
    ),
    style=replace(
        STRICT_STYLE,
        reasoning_content=True,
        reasoning_demanded=False,
        switch=Switch.FIELD,
        forced_choice=False,
        stream_options=False,
    ),
    acceptance=Acceptance(takes_reasoning=True),
    server=ServerHabits(serves=("glm-*",), statuses={RefusalReason.QUOTA: 429}),
)
