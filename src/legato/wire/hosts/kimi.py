"""Kimi, by Moonshot AI: ids that count the calls, and reasoning that has to come back beside them."""

from __future__ import annotations

from legato.model import JsonObject
from legato.wire.hosting import (
    ALL_EFFORTS,
    Acceptance,
    CacheHabit,
    Citation,
    ErrorFacts,
    Host,
    HostRule,
    IdHabit,
    KnownModels,
    Models,
    OptionField,
    Price,
    RefusalReason,
    RequestStyle,
    Retirement,
    ServerHabits,
    Switch,
)

_API = "https://platform.moonshot.ai/docs/api/chat"
_IDS = "https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md"
_EFFORT = "https://platform.kimi.ai/docs/guide/use-reasoning-effort"
_THINKING = "kimi-k2-thinking"

_TYPES: dict[RefusalReason, str] = {
    RefusalReason.MODEL: "resource_not_found_error",
    RefusalReason.KEY_MISSING: "invalid_authentication_error",
    RefusalReason.KEY_WRONG: "invalid_authentication_error",
    RefusalReason.QUOTA: "exceeded_current_quota_error",
    RefusalReason.RATE: "rate_limit_reached_error",
    RefusalReason.SERVER: "server_error",
    RefusalReason.OVERLOADED: "engine_overloaded_error",
}


def _error(facts: ErrorFacts) -> JsonObject:
    return {"error": {"message": facts.message, "type": _TYPES.get(facts.reason, "invalid_request_error")}}


_RULES = (
    # An empty string counts as missing on k2.5 and k2.6, a single space does not.
    HostRule(
        id="reasoning-missing",
        check="reasoning-missing",
        says="With thinking on, each assistant message with calls has its `reasoning_content`, and not an "
        "empty one; a single space passes.",
        sources=("theopenco/llmgateway#2093",),
        error="thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}",
        model=_THINKING,
    ),
    # K3 takes `required` while it thinks, the models before it do not (UKGovernmentBEIS/inspect_ai#5152).
    HostRule(
        id="forced-tool",
        check="forced-tool",
        says="With thinking on, `tool_choice` does not force a tool.",
        sources=("can1357/oh-my-pi#1077", "AstrBotDevs/AstrBot#7805"),
        error="tool_choice '{value}' is incompatible with thinking enabled",
        model=_THINKING,
    ),
    HostRule(
        id="thinking-and-effort",
        check="thinking-and-effort",
        says="`thinking` and `reasoning_effort` are not sent together.",
        sources=("HKUDS/nanobot#3939",),
        error="cannot specify both 'thinking' and 'reasoning_effort'",
        model=_THINKING,
    ),
    HostRule(
        id="empty-message",
        check="empty-answer",
        says="No message is empty: an answer has text, calls or reasoning.",
        sources=("lobehub/lobehub#8419",),
        error="the message at position {index} with role '{role}' must not be empty",
        model=_THINKING,
    ),
    HostRule(
        id="name-form",
        check="name-form",
        says="A tool's name begins with a letter or an underscore, then up to 63 of `[a-zA-Z0-9_-]`.",
        sources=("MoonshotAI/kimi-cli#1773",),
        error="function name is invalid, must start with a letter and can contain letters, numbers, "
        "underscores, and dashes",
        model=_THINKING,
    ),
    HostRule(
        id="id-habit",
        check="id-habit",
        says="Ids read `functions.{name}:{index}`, where the index counts the calls of the conversation from "
        "0: the model was trained on them and may stop calling tools when it sees others.",
        sources=(_IDS,),
        is_risky=True,
        model=_THINKING,
    ),
    HostRule(
        id="index-repeats",
        check="index-repeats",
        says="The index in an id grows from call to call: it counts all calls of the conversation, whatever their "
        "tools, and does not begin anew.",
        sources=(_IDS,),
        is_risky=True,
        model=_THINKING,
    ),
)

MODELS = (
    Models(
        "Kimi that thinks",
        ("kimi-k2-thinking*", "kimi-thinking*", "kimi-k2.7-code*"),
        {"thinking": "always", "thinking_default": True, "reasoning_field": True},
    ),
    Models(
        "Kimi K2.5 and later",
        ("kimi-k2.5*", "kimi-k2.6*", "kimi-latest*"),
        {"thinking": "switch", "thinking_default": True, "reasoning_field": True, "images": True},
    ),
    Models(
        "Kimi K3",
        ("kimi-k3*",),
        {
            "window": 1_048_576,
            "max_output": 131_072,
            "thinking": "effort",
            "thinking_default": True,
            "efforts": ["low", "high", "max"],
            "reasoning_field": True,
            "images": True,
        },
    ),
)
"""what its models can do, at either of its doors"""

HOST = Host(
    name="kimi",
    title="Kimi",
    endpoint="https://api.moonshot.ai/v1",
    keys=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
    example=_THINKING,
    sources=(
        Citation(_API, "There is no seed and no switch for parallel calls; stop sequences are at most five."),
        Citation(_IDS, "Ids of calls read `functions.name:index`."),
        Citation(_EFFORT, "K3 always thinks, in degrees, and the switch of K2 is gone."),
    ),
    profile="kimi",
    capabilities={"id_scheme": "kimi", "name_rule": "kimi", "window": 262_144, "images": False},
    known=KnownModels(
        names=("kimi-k3", "kimi-k2.7-code", "kimi-k2.6", "kimi-k2.5", _THINKING),
        prices=(Price(("kimi-k3",), "2026-07-18", "https://platform.kimi.ai/docs/pricing/chat-k3", 3.0, 15.0, 0.3),),
        retirements=(
            Retirement(
                ("kimi-k2", "kimi-k2-*", "kimi-latest", "kimi-thinking*"),
                "https://www.chatbase.co/blog/kimi-k2-api",
                retires="2026-05-25",
                instead="kimi-k2.6",
            ),
        ),
    ),
    models=MODELS,
    style=RequestStyle(
        reasoning_content=True,
        forced_choice_while_thinking=False,
        bare_prefill=False,
        switch=Switch.FIELD_OR_EFFORT,
        max_stops=5,
        json_schemas=False,
    ),
    options={
        "seed": OptionField("seed", "the API has no seed"),
        "parallel_calls": OptionField("parallel_tool_calls", "the API has no switch for parallel calls"),
    },
    acceptance=Acceptance(
        id_habit=r"functions\.[a-zA-Z0-9_-]+:[0-9]+",
        id_index=r"(?s)functions\..+:([0-9]{1,18})",
        name_form=r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}",
        watches_images=False,
        takes_empty_answers=False,
        takes_empty_messages=False,
        demands_reasoning=True,
        takes_reasoning=True,
        thinking_forbids_force=True,
        efforts=ALL_EFFORTS,
        counts_tools=False,
        final_mark="partial",
    ),
    rules=_RULES,
    words={
        "openai-chat/orphan-result": "tool_call_id  is not found",
        "openai-chat/unknown-result": "tool_call_id  is not found",
    },
    server=ServerHabits(
        ids=IdHabit.NUMBERED,
        serves=("kimi-*", "moonshot-*", "k2*"),
        thinks_unasked=(),
        # It caches prefixes by itself; neither minimum nor steps are documented, so those of DeepSeek are used.
        cache=CacheHabit((("*", 64),), step=64),
        frame="Invalid request: {said}",
        says={
            RefusalReason.KEY_MISSING: "Invalid Authentication",
            RefusalReason.KEY_WRONG: "Invalid Authentication",
            RefusalReason.MODEL: "Not found the model {model} or permission denied",
            RefusalReason.QUOTA: "Your account is suspended because of insufficient balance.",
            RefusalReason.TOO_LONG: "Invalid request: Your request exceeded model token limit: {window}",
        },
        statuses={RefusalReason.QUOTA: 429},
        error_body=_error,
    ),
)
