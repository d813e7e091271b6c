"""Kimi's Messages API: thinking beside calls, as in its Chat Completions, and signatures that nobody checks."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.hosting import (
    MESSAGES,
    MESSAGES_OPTIONS,
    Citation,
    Host,
    MessagesStyle,
    Models,
    RefusalReason,
    ServerHabits,
)
from legato.wire.hosts.kimi import MODELS

_CLIENT = "https://metacpan.org/pod/Langertha::Engine::MoonshotAnthropic"

HOST = Host(
    name="kimi-anthropic",
    dialect=Dialect.ANTHROPIC,
    door_of="kimi",
    title="Kimi, as Messages",
    endpoint="https://api.moonshot.ai/anthropic",
    keys=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
    example="kimi-k2.6",
    sources=(
        Citation(
            "https://www.developersdigest.tech/reference/api-compatibility/moonshot",
            "The base URL, as platform.kimi.ai documents it; no limits of this door are documented.",
        ),
        Citation(
            _CLIENT,
            "K3 always thinks, in the degrees low, high and max of `output_config.effort`; K2 has a switch and no "
            "degrees, and K2.7 Code cannot be switched off.",
        ),
        Citation(
            "NousResearch/hermes-agent#14018",
            "With thinking on, calls without a thinking block were refused, with the words of Chat Completions.",
        ),
        Citation(
            "NousResearch/hermes-agent#49143",
            "Later they were taken, at the door for coding; a block that stands in for none does no harm there.",
        ),
        Citation("NousResearch/hermes-agent#67391", "Signatures of thoughts are not checked."),
    ),
    profile="kimi-anthropic",
    capabilities={**MESSAGES, "window": 262_144, "images": False},
    models=(
        # What the models were trained on (`functions.name:0`) is no id of the Messages API.
        Models("every Kimi", ("*",), {"id_scheme": "toolu"}),
        *MODELS,
    ),
    messages_style=MessagesStyle(budgets=False),
    options=MESSAGES_OPTIONS,
    words={
        "anthropic/thinking-missing": "thinking is enabled but reasoning_content is missing in assistant tool call "
        "message at index {index}",
    },
    server=ServerHabits(
        serves=("kimi-*", "moonshot-*", "k2*"),
        checks_signatures=False,
        frame="{said}",
        says={
            RefusalReason.KEY_MISSING: "Invalid Authentication",
            RefusalReason.KEY_WRONG: "Invalid Authentication",
            RefusalReason.MODEL: "Not found the model {model} or permission denied",
            RefusalReason.TOO_LONG: "Invalid request: Your request exceeded model token limit: {window}",
        },
    ),
)
