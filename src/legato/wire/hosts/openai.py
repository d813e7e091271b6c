"""OpenAI's own Chat Completions, and Azure's."""

from __future__ import annotations

from legato.wire.hosting import (
    ALL_EFFORTS,
    TEXT_PARTS,
    Acceptance,
    CacheHabit,
    Citation,
    Host,
    KnownModels,
    OptionField,
    Price,
    RefusalReason,
    RequestStyle,
    Retirement,
    ServerHabits,
    Switch,
)

_API = "https://platform.openai.com/docs/api-reference/chat/create"

_PAGE = "https://developers.openai.com/api/docs/pricing"
_ENDS = "https://developers.openai.com/api/docs/deprecations"

_NAMES = (
    "gpt-5.5",
    "gpt-5.5-pro",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
    "gpt-5.2",
    "gpt-5.1",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-5-pro",
    "o3",
    "o4-mini",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-4o",
    "gpt-4o-mini",
)

# For prompts up to 272,000 tokens; longer ones cost more with the newest models.
_PRICES = (
    Price(("gpt-6-sol*",), "2026-09-22", _PAGE, 2.0, 10.0, 0.2, 2.5),
    Price(("gpt-6-luna*",), "2026-09-22", _PAGE, 0.1, 0.5, 0.01, 0.125),
    Price(("gpt-5.5-pro*", "gpt-5.4-pro*"), "2026-06", _PAGE, 30.0, 180.0),
    Price(("gpt-5.5", "gpt-5.5-20*"), "2026-06", _PAGE, 5.0, 30.0, 0.5),
    Price(("gpt-5.4-mini*",), "2026-06", _PAGE, 0.75, 4.5, 0.075),
    Price(("gpt-5.4-nano*",), "2026-06", _PAGE, 0.2, 1.25, 0.02),
    Price(("gpt-5.4", "gpt-5.4-20*"), "2026-06", _PAGE, 2.5, 15.0, 0.25),
    Price(("gpt-5.2", "gpt-5.2-20*"), "2026-05-12", _PAGE, 1.75, 14.0, 0.175),
    Price(("gpt-5-pro*",), "2026-05-12", _PAGE, 15.0, 120.0),
    Price(("gpt-5.1", "gpt-5.1-20*", "gpt-5", "gpt-5-20*"), "2026-05-12", _PAGE, 1.25, 10.0, 0.125),
    Price(("gpt-4o-mini", "gpt-4o-mini-20*"), "2026-05-27", _PAGE, 0.15, 0.6, 0.075),
    Price(("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"), "2026-05-27", _PAGE, 2.5, 10.0, 1.25),
    Price(("gpt-4.1", "gpt-4.1-20*", "o3", "o3-20*"), "2026-03-21", _PAGE, 2.0, 8.0, 0.5),
)

_RETIREMENTS = (
    Retirement(
        (
            "gpt-3.5-turbo*",
            "gpt-4",
            "gpt-4-*",
            "gpt-4o-2024-05-13",
            "o1",
            "o1-*",
            "o3-mini*",
            "o4-mini*",
            "gpt-4.1-nano*",
        ),
        _ENDS,
        retires="2026-10-23",
    ),
    Retirement(
        ("gpt-5", "gpt-5-20*", "gpt-5-mini*", "gpt-5-nano*", "gpt-5-pro*", "o3", "o3-20*", "o3-pro*"),
        _ENDS,
        retires="2026-12-11",
        deprecated="2026-06-11",
        instead="gpt-5.6-sol",
    ),
    Retirement(
        ("gpt-4o", "gpt-4o-20*", "gpt-4o-mini", "gpt-4o-mini-20*", "gpt-4.1", "gpt-4.1-20*", "gpt-4.1-mini*"),
        _ENDS,
        retires="2027-01-14",
        deprecated="2026-10-14",
        instead="gpt-6-luna",
    ),
    Retirement(("gpt-5.1", "gpt-5.1-20*"), _ENDS, retires="2027-04-01"),
)

HOST = Host(
    name="openai",
    title="OpenAI",
    endpoint="https://api.openai.com/v1",
    keys=("OPENAI_API_KEY",),
    example="gpt-5.1",
    sources=(
        Citation(_API, "Temperatures go from 0 to 2, stop sequences are at most four, tools at most 128."),
        Citation(
            "https://platform.openai.com/docs/guides/prompt-caching", "Prompts of 1,024 tokens and more are cached."
        ),
        Citation("microsoft/autogen#6377", "The id of a call has at most 40 characters."),
    ),
    profile="openai",
    known=KnownModels(names=_NAMES, prices=_PRICES, retirements=_RETIREMENTS),
    capabilities={"developer_role": True, "documents": True, "max_tokens_field": "max_completion_tokens"},
    style=RequestStyle(
        null_beside_calls=True,
        developer=True,
        temperatures=(0, 2),
        switch=Switch.EFFORT,
        max_tools=128,
        custom_tools=True,
        strict_tools=True,
        max_stops=4,
    ),
    options={
        "verbosity": OptionField("verbosity"),
        "metadata": OptionField(why="OpenAI takes labels for answers that it stores, and nothing is left there"),
    },
    acceptance=Acceptance(
        refuses_empty_tools=True,
        efforts=ALL_EFFORTS,
        id_form=r"(?s).{1,40}",
        call_types=frozenset({"function", "custom"}),
        parses_arguments=False,
        warns_of_empty_text=False,
        part_types={
            "user": frozenset({"text", "image_url", "input_audio", "file"}),
            "assistant": frozenset({"text", "refusal"}),
            "developer": TEXT_PARTS,
            "system": TEXT_PARTS,
            "tool": TEXT_PARTS,
        },
    ),
    server=ServerHabits(
        serves=("gpt-*", "chatgpt-*", "o1*", "o3*", "o4*", "codex-*", "computer-use-*", "ft:*"),
        hides_thoughts=True,
        thinks_unasked=(),
        cache=CacheHabit((("*", 1024),), step=128),
        says={RefusalReason.QUOTA: "You exceeded your current quota, please check your plan and billing details."},
        statuses={RefusalReason.QUOTA: 429},
    ),
)
