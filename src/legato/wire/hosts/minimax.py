"""MiniMax: thinking in `reasoning_details`, which go back as they came."""

from __future__ import annotations

from msgspec.structs import replace

from legato.wire.hosting import STRICT_STYLE, Citation, Host, OptionField, ServerHabits

_API = "https://platform.minimaxi.com/docs/api-reference/text-openai-api"
_UNDOCUMENTED = "https://java.agentscope.io/v2/en/integration/model/minimax"

HOST = Host(
    name="minimax",
    title="MiniMax",
    endpoint="https://api.minimax.io/v1",
    keys=("MINIMAX_API_KEY",),
    example="MiniMax-M2.7",
    sources=(
        Citation("https://ai-sdk.dev/providers/ai-sdk-providers/minimax", "The base URL, and the variable of the key."),
        Citation(_API, "Windows of 204,800 tokens; an answer goes back whole, with its `reasoning_details`."),
        Citation(
            _UNDOCUMENTED,
            "`max_tokens` is deprecated; `tool_choice`, `seed`, `parallel_tool_calls` and `response_format` are not "
            "documented.",
        ),
    ),
    capabilities={"window": 204_800, "max_tokens_field": "max_completion_tokens"},
    style=replace(STRICT_STYLE, forced_choice=False),
    options={
        "seed": OptionField("seed", "the API has no seed"),
        "output": OptionField(why="the API documents no form for an answer"),
        "parallel_calls": OptionField("parallel_tool_calls", "the API has no switch for parallel calls"),
    },
    server=ServerHabits(serves=("minimax-*",)),
)
