"""The catalogue: what a user says goes over what we know, and what means nothing is refused with its place."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import ConfigError
from legato.model import Capabilities, IdScheme, NameRule, ThinkingMode
from legato.request import default_catalogue
from legato.request.known_models import known_models

_WORDS = {"id_scheme": IdScheme, "name_rule": NameRule, "thinking": ThinkingMode}
_ROUTES = [
    "openai/gpt-4o",
    "openai/gpt-5.1",
    "anthropic/claude-opus-4-8",
    "gemini/gemini-3-pro-preview",
    "openrouter/moonshotai/kimi-k2",
    "openrouter/mistralai/mistral-large",
    "kimi/kimi-k2-thinking",
    "deepseek/deepseek-reasoner",
    "mistral/mistral-large-latest",
    "vercel-gateway/openai/gpt-5.1",
]


@st.composite
def overrides(draw: st.DrawFn) -> dict[str, Any]:
    """Some capabilities with values that are possible."""
    defaults = Capabilities()
    chosen: dict[str, Any] = {}
    for name in draw(st.sets(st.sampled_from(Capabilities.__struct_fields__), min_size=1, max_size=5)):
        default = getattr(defaults, name)
        if name in _WORDS:
            chosen[name] = draw(st.sampled_from(list(_WORDS[name]))).value
        elif isinstance(default, bool):
            chosen[name] = draw(st.booleans())
        elif isinstance(default, int):
            chosen[name] = draw(st.integers(1, 10**6))
        elif name.startswith("price_"):
            chosen[name] = float(draw(st.integers(0, 100)))
        elif name == "max_tokens_field":
            chosen[name] = draw(st.sampled_from(["max_tokens", "max_completion_tokens"]))
        else:
            chosen[name] = default
    return chosen


@given(st.sampled_from(_ROUTES), overrides())
def test_what_a_user_says_of_a_provider_goes_over_all_that_is_known_of_its_models(route: str, said: dict[str, Any]):
    provider = route.partition("/")[0]
    catalogue = default_catalogue().extended({"providers": {provider: {"capabilities": said}}})
    before, after = default_catalogue().resolve(route).capabilities, catalogue.resolve(route).capabilities

    assert {name: getattr(after, name) for name in said} == said
    assert {name: getattr(after, name) for name in Capabilities.__struct_fields__ if name not in said} == {
        name: getattr(before, name) for name in Capabilities.__struct_fields__ if name not in said
    }


def test_a_users_family_goes_over_what_the_user_says_of_the_provider():
    catalogue = default_catalogue().extended(
        {
            "providers": {"openai": {"capabilities": {"window": 32_000, "images": False}}},
            "families": [{"name": "mini", "match": ["*-mini"], "capabilities": {"window": 16_000}}],
        }
    )
    found = {name: catalogue.resolve(f"openai/{name}").capabilities for name in ("gpt-4o", "gpt-4o-mini")}

    assert {name: (one.window, one.images) for name, one in found.items()} == {
        "gpt-4o": (32_000, False),
        "gpt-4o-mini": (16_000, False),
    }


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        (
            {"providers": {"openai": {"capabilities": {"windwo": 1}}}},
            "mine.toml: providers.openai.capabilities: there is no capability 'windwo'; did you mean 'window'?",
        ),
        (
            {"providers": {"openai": {"capabilities": {"window": "big"}}}},
            "mine.toml: providers.openai.capabilities.window: expected `int`, got `str`",
        ),
        (
            {"providers": {"openai": {"capabilities": {"window": 0}}}},
            "mine.toml: providers.openai.capabilities.window: 0 is not possible; it has to be at least 1",
        ),
        (
            {"providers": {"openrouter": {"capabilities": {"id_scheme": "short"}}}},
            "mine.toml: providers.openrouter.capabilities.id_scheme: invalid enum value 'short'",
        ),
        (
            {"providers": {"openai": {"window": 1}}},
            "mine.toml: providers.openai: there is no field 'window'; did you mean capabilities.window?",
        ),
        ({"providers": {"openai": 5}}, "mine.toml: providers.openai: expected a table, not 5"),
        (
            {"providers": {"openai": {"capabilities": 5}}},
            "mine.toml: providers.openai.capabilities: expected a table, not 5",
        ),
        ({"providers": {"a/b": {}}}, "mine.toml: providers.a/b: a provider's name must not be empty or hold a slash"),
        ({"providers": {"new": {}}}, "mine.toml: providers.new: Object missing required field `dialect`"),
        (
            {"families": [{"name": "f", "match": ["*"], "on": ["opnai"], "capabilities": {}}]},
            "mine.toml: families: 'f': on: there is no provider 'opnai'; did you mean 'openai'?",
        ),
        (
            {"families": [{"name": "f", "match": ["*"], "capabilities": {"price_input": -1}}]},
            "mine.toml: families[0].capabilities.price_input: -1.0 is not possible; it has to be at least 0",
        ),
        ({"famlies": []}, "mine.toml: there is no table 'famlies'; did you mean 'families'?"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place_and_key(extra: dict[str, Any], told: str):
    with pytest.raises(ConfigError) as raised:
        default_catalogue().extended(extra, source="mine.toml")

    assert raised.value.message == told


@pytest.mark.parametrize("provider", sorted(default_catalogue().providers))
def test_every_packaged_price_and_end_names_its_day_and_its_source(provider: str):
    known = known_models(provider)
    facts = [(one.source, one.seen, "2999") for one in known.prices]
    facts += [(one.source, one.deprecated or one.retires, one.retires) for one in known.retirements]

    for source, earlier, later in facts:
        assert re.fullmatch(r"https://\S+|[\w.-]+/[\w.-]+#\d+", source)
        assert re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", earlier)
        assert earlier <= later


def test_no_family_and_no_host_says_a_price_without_a_source():
    without = [
        f"{provider}/{explained.name}"
        for provider, described in default_catalogue().providers.items()
        for explained in default_catalogue().explain(f"{provider}/{described.example or 'any'}")
        if explained.name.startswith("price_") and explained.value is not None and "seen 20" not in explained.source
    ]

    assert without == []


@pytest.mark.parametrize(
    ("route", "price", "seen"),
    [
        ("anthropic/claude-opus-4-8", (5.0, 25.0, 0.5, 6.25), "2026-10-10"),
        ("anthropic/claude-opus-4-1", (15.0, 75.0, 1.5, 18.75), "2026-10-10"),
        ("openai-responses/gpt-5.1", (1.25, 10.0, 0.125, None), "2026-05-12"),
        ("openai/gpt-5.1-codex-mini", (None, None, None, None), ""),
        ("ollama/mistral", (None, None, None, None), ""),
        ("openrouter/anthropic/claude-opus-4-8", (None, None, None, None), ""),
        ("openrouter/moonshotai/kimi-k3", (None, None, None, None), ""),
    ],
)
def test_a_price_holds_for_one_provider_and_one_model_and_is_else_unknown(
    route: str, price: tuple[float | None, ...], seen: str
):
    known = default_catalogue().resolve(route).capabilities

    assert (known.price_input, known.price_output, known.price_cache_read, known.price_cache_write) == price
    assert default_catalogue().priced(route) == seen


def test_a_users_price_goes_over_the_published_one_and_has_no_date():
    catalogue = default_catalogue().extended({"providers": {"anthropic": {"capabilities": {"price_input": 0.0}}}})

    assert catalogue.resolve("anthropic/claude-opus-4-8").capabilities.price_input == 0.0
    assert catalogue.priced("anthropic/claude-opus-4-8") == ""


def test_a_family_of_a_dialect_is_recognised_wherever_that_dialect_is_spoken():
    catalogue = default_catalogue().extended(
        {"providers": {"mycloud": {"dialect": "anthropic", "profile": "anthropic", "endpoint": "https://x.example"}}}
    )
    fields = ("thinking", "thinking_first", "efforts", "window", "prefill", "middle_system")

    def told(route: str) -> list[Any]:
        return [getattr(catalogue.resolve(route).capabilities, name) for name in fields]

    for model in ("claude-opus-4-8@20260528", "us.anthropic.claude-opus-4-8-v1:0", "anthropic/claude-opus-4-8"):
        assert told(f"mycloud/{model}") == told("anthropic/claude-opus-4-8")
    assert catalogue.resolve("openrouter/anthropic/claude-opus-4-8").capabilities.thinking is ThinkingMode.NEVER


def test_a_model_that_ends_says_when_and_what_comes_instead():
    ends = default_catalogue().retirement("anthropic/claude-sonnet-4-5-20250929")

    assert ends is not None
    assert (ends.retires, ends.instead) == ("2026-11-30", "claude-sonnet-5-5")
    assert default_catalogue().retirement("openrouter/anthropic/claude-sonnet-4-5") is None
