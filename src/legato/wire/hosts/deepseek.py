"""DeepSeek: reasoning that has to come back on every answer of a turn with calls, and text alone in messages."""

from __future__ import annotations

from legato.wire.hosting import (
    ALL_EFFORTS,
    TEXT_PARTS,
    Acceptance,
    CacheHabit,
    Citation,
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

_API = "https://api-docs.deepseek.com/api/create-chat-completion"
_THINKING_MODE = "https://api-docs.deepseek.com/guides/thinking_mode"
_PRICES = "https://api-docs.deepseek.com/quick_start/pricing"
_ROLES = frozenset({"system", "user", "assistant", "tool", "latest_reminder"})
_PASSED_BACK = "The `reasoning_content` in the thinking mode must be passed back to the API"
_REASONER = "deepseek-reasoner"

_RULES = (
    HostRule(
        id="unknown-role",
        check="unknown-role",
        says="Roles are `system`, `user`, `assistant`, `tool` and `latest_reminder`.",
        sources=("decolua/9router#773",),
        error="unknown variant `{role}`, expected one of `system`, `user`, `assistant`, `tool`",
        model=_REASONER,
    ),
    HostRule(
        id="empty-answer",
        check="empty-answer",
        says="An assistant message has content or calls; an empty string counts as content.",
        sources=("carlrobertoh/ProxyAI#834",),
        error="Invalid assistant message: content or tool_calls must be set",
        model=_REASONER,
    ),
    HostRule(
        id="part-type",
        check="part-type",
        says="Content parts are `text`.",
        sources=("BenedictKing/ccx#95",),
        error="messages[{index}]: unknown variant `{type}`, expected `text`",
        model=_REASONER,
    ),
    HostRule(
        id="reasoning-missing",
        check="reasoning-missing",
        says="With thinking on, each assistant message of a turn in which calls were made has its "
        "`reasoning_content`, its final text and those of all earlier turns too.",
        sources=(_THINKING_MODE, "NousResearch/hermes-agent#15228"),
        error=_PASSED_BACK,
        model=_REASONER,
    ),
    # The documentation says that it is ignored there.
    HostRule(
        id="reasoning-everywhere",
        check="reasoning-everywhere",
        says="With thinking on, every assistant message has its `reasoning_content`, also where no calls were made.",
        sources=("openclaw/openclaw#73417", "danny-avila/LibreChat#12836"),
        error=_PASSED_BACK,
        is_risky=True,
        model=_REASONER,
    ),
    # Refused in the first report, the remedy in the second.
    HostRule(
        id="reasoning-empty",
        check="reasoning-empty",
        says="The `reasoning_content` next to calls is not empty; an empty one was sometimes refused.",
        sources=("earendil-works/pi#3743", "openclaw/openclaw#73417"),
        is_risky=True,
        model=_REASONER,
    ),
)

HOST = Host(
    name="deepseek",
    title="DeepSeek",
    endpoint="https://api.deepseek.com",
    keys=("DEEPSEEK_API_KEY",),
    example="deepseek-chat",
    sources=(
        Citation(_API, "Temperatures go from 0 to 2, stop sequences are at most sixteen; there is no seed."),
        Citation(_THINKING_MODE, "Reasoning is demanded on every answer of a turn with calls, ignored on the others."),
        Citation(_PRICES, "Prices, a window of a million tokens and answers of up to 384,000 since V4."),
        Citation("https://api-docs.deepseek.com/guides/kv_cache", "Prompts are cached in steps of 64 tokens."),
    ),
    profile="deepseek",
    capabilities={"images": False, "window": 131_072},
    known=KnownModels(
        names=("deepseek-flash", "deepseek-v4-pro", "deepseek-chat", "deepseek-reasoner"),
        # Half of these outside the peak hours of the day; a cost is better told too high than too low.
        prices=(
            Price(("deepseek-flash*", "deepseek-v4-flash*"), "2026-10-27", _PRICES, 0.3, 1.2, 0.006),
            Price(("deepseek-v4-pro*",), "2026-10-27", _PRICES, 1.32, 3.96, 0.044),
        ),
        retirements=(
            Retirement(
                ("deepseek-chat", "deepseek-reasoner"),
                "https://api-docs.deepseek.com/news/news260424",
                retires="2026-07-24",
                instead="deepseek-flash",
            ),
        ),
    ),
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
    style=RequestStyle(
        reasoning_content=True,
        # Demanded on every answer of a turn with calls, and reported as demanded on all of them
        # (openclaw/openclaw#73417).
        reasoning_on_every_answer=True,
        forced_choice_while_thinking=False,
        bare_prefill=False,
        temperatures=(0, 2),
        switch=Switch.FIELD_OR_EFFORT,
        max_stops=16,
        json_schemas=False,
    ),
    options={
        "seed": OptionField("seed", "the API has no seed"),
        "parallel_calls": OptionField("parallel_tool_calls", "the API has no switch for parallel calls"),
    },
    acceptance=Acceptance(
        roles=_ROLES,
        refuses_empty_tools=True,
        part_types=dict.fromkeys(_ROLES, TEXT_PARTS),
        watches_images=False,
        warns_of_empty_text=False,
        demands_reasoning=True,
        demands_reasoning_of_turns=True,
        takes_empty_reasoning=True,
        takes_reasoning=True,
        efforts=ALL_EFFORTS | {"ultra"},
        maps_efforts=True,
        counts_tools=False,
        final_mark="prefix",
    ),
    rules=_RULES,
    words={
        "json/lone-surrogate": "lone leading surrogate in hex escape",
        "openai-chat/unanswered-call": "An assistant message with 'tool_calls' must be followed by tool messages "
        "responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        "openai-chat/orphan-result": "Messages with role 'tool' must be a response to a preceding message with "
        "'tool_calls'",
    },
    server=ServerHabits(
        base="/deepseek",
        ids=IdHabit.PLACED,
        answers="",
        serves=("deepseek-*",),
        talks=True,
        thinks_unasked=(),
        cache=CacheHabit((("*", 64),), step=64),
        says={
            RefusalReason.KEY_MISSING: "Authentication Fails (no api key)",
            RefusalReason.KEY_WRONG: "Authentication Fails, your api key is invalid",
            RefusalReason.MODEL: "Model Not Exist",
            RefusalReason.QUOTA: "Insufficient Balance",
        },
        statuses={RefusalReason.MODEL: 400},
    ),
)
