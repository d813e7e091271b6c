"""From what a request names to the profile that answers."""

from __future__ import annotations

import pytest

from legato.errors import ConfigError, UnknownTarget
from legato.gateway.naming import ModelNames
from legato.model import Options
from legato.request import default_catalogue
from legato.routing import Policy, Profile, Route

CLAUDE, KIMI, GPT = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking", "openai/gpt-4.1"
WARM = Route(KIMI, options=Options(temperature=0.5))
EVERYDAY = Profile("everyday", (Route(CLAUDE), WARM), Policy.FAILOVER)
CAREFUL = Profile("careful", (Route(GPT),))


def names(**patterns: str) -> ModelNames:
    return ModelNames(EVERYDAY, default_catalogue(), profiles=[CAREFUL], patterns=patterns)


def routes(profile: Profile) -> list[str]:
    return [route.name for route in profile.routes]


def test_a_model_may_be_a_profile() -> None:
    assert names().find("careful") is CAREFUL
    assert names().find("everyday") is EVERYDAY


def test_a_model_may_be_a_route() -> None:
    assert routes(names().find("mistral/mistral-large-latest")) == ["mistral/mistral-large-latest"]


def test_a_route_of_a_profile_keeps_what_is_set_for_it() -> None:
    assert names().find(KIMI).routes == (WARM,)


@pytest.mark.parametrize("model", ["claude-opus-4-1", "nobody/at-all", "anthropic/", "/x", "", "kimi"])
def test_every_other_name_is_answered_by_the_default(model: str) -> None:
    assert names().find(model) is EVERYDAY


def test_the_first_pattern_that_fits_wins() -> None:
    found = ModelNames(
        EVERYDAY,
        default_catalogue(),
        profiles=[CAREFUL],
        patterns={"claude-haiku-*": KIMI, "claude-*": "careful", "*": GPT},
    )
    assert found.find("claude-haiku-4-5").routes == (WARM,)
    assert found.find("claude-opus-4-1") is CAREFUL
    assert routes(found.find("gpt-5")) == [GPT]
    assert routes(found.find(CLAUDE)) == [CLAUDE]  # whoever names a route means it
    assert found.find("everyday") is EVERYDAY


def test_patterns_are_read_as_they_are_written() -> None:
    assert names(**{"Claude-*": "careful"}).find("claude-opus-4-1") is EVERYDAY


def test_a_pattern_to_nobody_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"'claude-\*' are to go to 'nobody'"):
        names(**{"claude-*": "nobody"})


def test_a_prefix_that_names_a_profile_comes_before_the_model() -> None:
    assert names().find(KIMI, prefix="careful") is CAREFUL
    assert names().find(KIMI, prefix="openai").routes == (WARM,)


def test_what_is_chosen_by_hand_comes_before_everything() -> None:
    assert names().find("everyday", by_hand="careful", prefix="everyday") is CAREFUL
    assert routes(names(**{"*": "careful"}).find("everyday", by_hand=CLAUDE)) == [CLAUDE]


@pytest.mark.parametrize("name", ["nobody", "nobody/at-all", "claude-opus-4-1"])
def test_what_is_chosen_by_hand_and_unknown_is_refused(name: str) -> None:
    with pytest.raises(UnknownTarget, match="profiles here are everyday, careful"):
        names().find("everyday", by_hand=name)


def test_profiles_are_offered_and_the_routes_in_them_each_once() -> None:
    assert names().offered == ["everyday", "careful", CLAUDE, KIMI, GPT]
