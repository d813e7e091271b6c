"""Which models a provider is known to serve, what they cost there, and when they end.

In:  a provider's name.
Out: its `KnownModels`, from its file in `wire.hosts`, or from the table below for providers outside the chat family.

A vendor's price and dates hold where the vendor itself answers: a router or a cloud asks its own price for the same
model and ends it on a day of its own. So nothing here is looked up by the model's name alone.
"""

from __future__ import annotations

from legato.wire.hosting import KnownModels, Price, Retirement
from legato.wire.hosts import find_host

_CLAUDE = "https://platform.claude.com/docs/en/about-claude/pricing"
_CLAUDE_ENDS = "https://platform.claude.com/docs/en/about-claude/model-deprecations"
_GEMINI = "https://ai.google.dev/gemini-api/docs/pricing"
_GEMINI_ENDS = "https://ai.google.dev/gemini-api/docs/deprecations"

_ANTHROPIC = KnownModels(
    names=(
        "claude-fable-5-1",
        "claude-opus-5-5",
        "claude-opus-5",
        "claude-opus-4-8",
        "claude-opus-4-7",
        "claude-opus-4-6",
        "claude-opus-4-5",
        "claude-opus-4-1",
        "claude-sonnet-5-5",
        "claude-sonnet-5",
        "claude-sonnet-4-6",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    ),
    # Writing is to the cache that lasts five minutes.
    prices=(
        Price(("claude-fable-5-1*",), "2026-10-10", _CLAUDE, 10.0, 50.0, 0.25, 12.5),
        Price(("claude-fable-5*",), "2026-10-10", _CLAUDE, 10.0, 50.0, 1.0, 12.5),
        Price(("claude-opus-5-5*",), "2026-10-10", _CLAUDE, 4.0, 20.0, 0.2, 5.0),
        Price(
            ("claude-opus-5*", "claude-opus-4-8*", "claude-opus-4-7*", "claude-opus-4-6*", "claude-opus-4-5*"),
            "2026-10-10",
            _CLAUDE,
            5.0,
            25.0,
            0.5,
            6.25,
        ),
        Price(("claude-opus-4*", "claude-3-opus*"), "2026-10-10", _CLAUDE, 15.0, 75.0, 1.5, 18.75),
        Price(("claude-sonnet-5-5*",), "2026-10-10", _CLAUDE, 2.0, 10.0, cache_write=2.5),
        Price(("claude-sonnet-5*",), "2026-10-10", _CLAUDE, 2.0, 10.0, 0.2, 2.5),
        Price(("claude-sonnet-4*", "claude-3-7-*"), "2026-10-10", _CLAUDE, 3.0, 15.0, 0.3, 3.75),
        Price(("claude-haiku-4-5*",), "2026-10-10", _CLAUDE, 1.0, 5.0, 0.1, 1.25),
        Price(("claude-3-5-haiku*",), "2026-10-10", _CLAUDE, 0.8, 4.0, 0.08, 1.0),
        Price(("claude-3-haiku*",), "2026-10-10", _CLAUDE, 0.25, 1.25),
    ),
    retirements=(
        Retirement(
            ("claude-sonnet-4-5*",),
            "https://platform.claude.com/docs/en/models/sonnet-4-5/overview",
            retires="2026-11-30",
            instead="claude-sonnet-5-5",
        ),
        Retirement(("claude-opus-4-1*",), "Metaculus/forecasting-tools#321", "2026-08-05", instead="claude-opus-4-8"),
        Retirement(
            ("claude-sonnet-4-2*", "claude-sonnet-4", "claude-sonnet-4-0"),
            "https://platform.claude.com/docs/en/release-notes/overview",
            retires="2026-06-15",
            instead="claude-sonnet-4-6",
        ),
        Retirement(
            ("claude-opus-4-2*", "claude-opus-4", "claude-opus-4-0"),
            "https://platform.claude.com/docs/en/release-notes/overview",
            retires="2026-06-15",
            instead="claude-opus-4-8",
        ),
        Retirement(("claude-3-7-sonnet*",), _CLAUDE_ENDS, "2026-02-19", "2025-10-28"),
        Retirement(("claude-3-5-sonnet*",), _CLAUDE_ENDS, "2025-10-28"),
        Retirement(("claude-3-opus*",), _CLAUDE_ENDS, "2026-01-05", "2025-06-30"),
        Retirement(("claude-3-sonnet*", "claude-2*"), _CLAUDE_ENDS, "2025-07-21", "2025-01-21"),
    ),
)

_GOOGLE = KnownModels(
    names=(
        "gemini-3.8-flash",
        "gemini-3.7-flash",
        "gemini-3.6-flash",
        "gemini-3.5-flash",
        "gemini-3.5-flash-lite",
        "gemini-3.1-pro-preview",
        "gemini-3.1-flash-lite",
        "gemini-3-flash-preview",
        "gemini-3-pro-preview",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
        "gemini-2.5-flash-lite",
    ),
    # For prompts up to 200,000 tokens; the Pro models ask more for longer ones.
    prices=(
        Price(("gemini-3.8-flash",), "2026-10-07", _GEMINI, 0.75, 3.75, 0.075),
        Price(("gemini-3.1-pro-preview*",), "2026-04-19", _GEMINI, 2.0, 12.0),
        Price(("gemini-3.1-flash-lite*",), "2026-04-19", _GEMINI, 0.25, 1.5),
        Price(("gemini-3-flash-preview",), "2026-04-19", _GEMINI, 0.5, 3.0),
        Price(("gemini-2.5-flash-lite",), "2026-04-19", _GEMINI, 0.1, 0.4),
        Price(("gemini-2.5-flash",), "2026-04-19", _GEMINI, 0.3, 2.5),
        Price(("gemini-2.5-pro",), "2026-04-19", _GEMINI, 1.25, 10.0),
    ),
    retirements=(
        Retirement(("gemini-3.1-flash-lite",), _GEMINI_ENDS, "2027-05-07"),
        Retirement(
            ("gemini-3.1-flash-lite-preview",), _GEMINI_ENDS, retires="2026-05-25", instead="gemini-3.1-flash-lite"
        ),
        Retirement(("gemini-3-pro-preview",), _GEMINI_ENDS, retires="2026-03-09", instead="gemini-3.1-pro-preview"),
        Retirement(("gemini-2.5-pro-preview-*",), _GEMINI_ENDS, retires="2025-12-02", instead="gemini-3.1-pro-preview"),
        Retirement(
            ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
            "https://firebase.google.com/docs/ai-logic/locations",
            retires="2026-10",
            instead="gemini-3.6-flash",
        ),
        Retirement(
            ("gemini-2.0-flash*",),
            "https://firebase.google.com/docs/ai-logic/prompt-design",
            retires="2026-06-01",
            instead="gemini-3.1-flash-lite",
        ),
    ),
)

_TABLE = {"anthropic": _ANTHROPIC, "gemini": _GOOGLE}

_SAME_AS = {"openai-responses": "openai"}
"""providers that are another door to the same vendor"""

_NOTHING = KnownModels()


def known_models(provider: str) -> KnownModels:
    """What is known of the models of `provider`; nothing is known of those at a provider of a user's own."""
    found = _TABLE.get(provider)
    if found is not None:
        return found
    host = find_host(_SAME_AS.get(provider, provider))
    if host is not None and host.door_of:
        host = find_host(host.door_of)
    return _NOTHING if host is None else host.known
