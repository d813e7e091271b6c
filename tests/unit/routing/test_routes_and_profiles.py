from __future__ import annotations

import pytest
from rich.pretty import pretty_repr

from legato.errors import ConfigError, UnknownTarget
from legato.model import Options, ThinkingSwitch
from legato.routing import Policy, Profile, Route, only, read_profiles


def test_a_route_is_a_provider_and_a_model_which_may_hold_slashes() -> None:
    route = Route("openrouter/meta/llama-4")
    assert (route.provider, route.model) == ("openrouter", "meta/llama-4")


@pytest.mark.parametrize("name", ["", "mistral", "/model", "provider/"])
def test_a_name_without_provider_or_model_is_no_route(name: str) -> None:
    with pytest.raises(UnknownTarget, match="write it as provider/model"):
        Route(name)


def test_headers_of_a_route_are_shown_by_name_only() -> None:
    route = Route("p/m", headers={"x-token": "very-secret"})
    assert repr(route) == f"Route('p/m', options={Options()!r}, headers=['x-token'])"
    assert "very-secret" not in pretty_repr(route)


def test_settings_of_one_route_are_not_those_of_another() -> None:
    hot = Route("p/hot", Options(temperature=1.0), {"x-team": "a"})
    cold = Route("p/cold")
    assert (cold.options, cold.headers) == (Options(), {})
    assert hot.headers is not cold.headers


def test_one_route_by_hand_is_a_manual_profile() -> None:
    assert only("p/m") == Profile("p/m", (Route("p/m"),), Policy.MANUAL)
    assert only(Route("p/m", Options(max_tokens=5))).routes == (Route("p/m", Options(max_tokens=5)),)


def test_profiles_are_read_from_a_table() -> None:
    table = {
        "safe": {
            "policy": "failover",
            "routes": [
                "anthropic/claude-sonnet-4-5",
                {"route": "openai/gpt-5", "options": {"max_tokens": 900, "thinking": "on"}, "headers": {"x-a": "b"}},
            ],
        },
        "around": {"policy": "round-robin", "routes": ["p/a", "p/b"], "sticky_turns": 3},
    }
    assert read_profiles(table) == {
        "safe": Profile(
            "safe",
            (
                Route("anthropic/claude-sonnet-4-5"),
                Route("openai/gpt-5", Options(max_tokens=900, thinking=ThinkingSwitch.ON), {"x-a": "b"}),
            ),
            Policy.FAILOVER,
        ),
        "around": Profile("around", (Route("p/a"), Route("p/b")), Policy.ROUND_ROBIN, 3),
    }


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("p/m", "profiles.x is not a table"),
        ({"routes": "p/m"}, "profiles.x.routes is not a list"),
        ({}, "lists no routes"),
        ({"routes": []}, "lists no routes"),
        ({"routes": ["p/a", "p/a"]}, "lists a route twice"),
        ({"routes": ["p/a", "nonsense"]}, r"profiles.x.routes\[1\] cannot be used: 'nonsense' names no route"),
        ({"routes": [7]}, r"profiles.x.routes\[0\] names no route"),
        ({"routes": [{"options": {}}]}, r"profiles.x.routes\[0\] names no route"),
        ({"routes": [{"route": "p/a", "colour": 1}]}, "unknown field `colour`"),
        ({"routes": [{"route": "p/a", "options": {"max_token": 1}}]}, r"routes\[0\].options has no 'max_token'"),
        ({"routes": [{"route": "p/a", "options": 3}]}, "cannot be used: Expected `object`"),
        (
            {"routes": ["p/a"], "policy": "random"},
            "profiles.x.policy: there is no 'random'; it is one of manual, round",
        ),
        ({"routes": ["p/a"], "sticky_turns": 0}, "it is at least 1"),
        ({"routes": ["p/a"], "stickyturns": 2}, "unknown field `stickyturns`"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_place(profile: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_profiles({"x": profile})
