"""MiniMax's Messages API: signed thinking that goes back with the whole answer."""

from __future__ import annotations

from legato.model import Dialect
from legato.wire.hosting import MESSAGES, MESSAGES_OPTIONS, Citation, Host, Models, ServerHabits

_API = "https://platform.minimax.io/docs/api-reference/text-anthropic-api"

HOST = Host(
    name="minimax-anthropic",
    dialect=Dialect.ANTHROPIC,
    door_of="minimax",
    title="MiniMax, as Messages",
    endpoint="https://api.minimax.io/anthropic",
    keys=("MINIMAX_API_KEY",),
    example="MiniMax-M3",
    sources=(
        Citation(_API, "The base URL, and that an answer goes back whole, with its thinking, where tools are called."),
        Citation(
            "NousResearch/hermes-agent#85251",
            "M3 thinks if it is asked to, with `adaptive` or with `enabled` and a budget; its thoughts are signed, and "
            "are taken back as they came.",
        ),
        Citation(
            "https://intl.cloud.tencent.com/ind/document/product/1300/80637",
            "The thinking of M2.5 and M2.7 cannot be switched off.",
        ),
    ),
    profile="minimax-anthropic",
    capabilities={**MESSAGES, "window": 204_800, "images": False},
    models=(
        Models("MiniMax M3", ("minimax-m3*",), {"thinking": "switch", "thinking_first": True}),
        Models("MiniMax M2", ("minimax-m2*",), {"thinking": "always", "thinking_default": True}),
    ),
    options=MESSAGES_OPTIONS,
    server=ServerHabits(serves=("minimax-*",)),
)
