"""Closures, origins and names: small values with promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import (
    CLOSURE_TEXTS,
    Answer,
    Capabilities,
    ClosureReason,
    Dialect,
    Origin,
    Target,
    closure_text,
    normal_endpoint,
    recognise_closure,
)
from legato.model.hashing import base62, digest

from builders import ai, call, origin

HERE = Target(
    dialect=Dialect.ANTHROPIC,
    profile="anthropic",
    provider="anthropic",
    model="m",
    endpoint="https://host/v1",
    account="k",
)


def test_every_reason_has_a_text_of_its_own() -> None:
    assert set(CLOSURE_TEXTS) == set(ClosureReason)
    assert len(set(CLOSURE_TEXTS.values())) == len(ClosureReason)


def test_only_a_denial_speaks_of_the_user() -> None:
    assert [reason for reason, text in CLOSURE_TEXTS.items() if "user" in text.lower()] == [ClosureReason.DENIED]


@pytest.mark.parametrize("reason", ClosureReason)
@pytest.mark.parametrize("said", [None, "use the other file"])
@pytest.mark.parametrize("output", [None, "half of it"])
def test_a_closure_that_comes_back_is_recognised(reason: ClosureReason, said: str | None, output: str | None) -> None:
    assert recognise_closure(closure_text(reason, said, output)) == (reason, said, output)


@given(st.text())
def test_ordinary_text_is_no_closure(text: str) -> None:
    assert recognise_closure(text) is None or text.startswith("[No result")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://Host/v1", "https://host:443/v1/"),
        ("http://host:80", "HTTP://HOST/"),
        ("localhost:8000/v1/", "LOCALHOST:8000/v1"),
    ],
)
def test_endpoints_that_differ_in_nothing_that_matters_are_one(one: str, other: str) -> None:
    assert normal_endpoint(one) == normal_endpoint(other)


@pytest.mark.parametrize("url", ["https://host:8443/v1", "http://host/v1", "https://host/v2", "https://host:bad/v1"])
def test_other_endpoints_are_others(url: str) -> None:
    assert normal_endpoint(url) != normal_endpoint("https://other/v1")


@pytest.mark.parametrize(
    ("made", "is_home"),
    [
        (HERE.origin(), True),
        (HERE.origin("dated"), True),
        (Origin("anthropic", "anthropic", "HTTPS://HOST:443/v1/", "k", "alias", "m"), True),
        (Origin("anthropic", "anthropic", "https://host/v1", "k", "other", "other"), False),
        (Origin("anthropic", "anthropic", "https://elsewhere/v1", "k", "m", "m"), False),
        (Origin("anthropic", "anthropic", "https://host/v1", "another key", "m", "m"), False),
        (Origin("anthropic", "bedrock", "https://host/v1", "k", "m", "m"), False),
        (Origin("gemini", "anthropic", "https://host/v1", "k", "m", "m"), False),
        (Origin(), False),
        (None, False),
    ],
)
def test_a_thought_is_at_home_where_it_was_made(made: Origin | None, is_home: bool) -> None:
    assert HERE.is_home_of(made) is is_home


def test_behind_a_router_only_the_model_that_served_knows_its_thoughts() -> None:
    router = Target(
        dialect=Dialect.OPENAI_CHAT,
        profile="strict",
        provider="router",
        model="m",
        endpoint="e",
        capabilities=Capabilities(router=True),
    )
    assert not router.is_home_of(router.origin("other"))
    assert router.is_home_of(router.origin("m"))
    assert not router.is_home_of(router.origin())


@given(st.lists(st.one_of(st.text(), st.integers()), max_size=4), st.integers(1, 40))
def test_hashes_are_short_plain_and_repeatable(parts: list[str | int], length: int) -> None:
    name = base62(*parts, length=length)
    assert name == base62(*parts, length=length)
    assert len(name) == length
    assert name.isascii()
    assert name.isalnum()


def test_parts_are_not_confused() -> None:
    assert base62("ab", "c", length=20) != base62("a", "bc", length=20)
    assert digest(b"a") != digest(b"b")


def test_an_answer_shows_its_calls_and_its_text() -> None:
    answer = Answer(ai("one ", call("x"), "two", origin=origin("openai/gpt-4o")))
    assert (answer.text, [c.wire_id for c in answer.calls]) == ("one two", ["x"])


def test_a_target_names_its_route() -> None:
    assert HERE.route == "anthropic/m"
