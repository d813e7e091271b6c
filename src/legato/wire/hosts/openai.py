"""OpenAI's own Chat Completions, and Azure's."""

from __future__ import annotations

from legato.wire.hosting import (
    ALL_EFFORTS,
    TEXT_PARTS,
    Acceptance,
    CacheHabit,
    Citation,
    Host,
    OptionField,
    RefusalReason,
    RequestStyle,
    ServerHabits,
    Switch,
)

_API = "https://platform.openai.com/docs/api-reference/chat/create"

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
