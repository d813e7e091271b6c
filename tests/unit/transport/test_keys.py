from __future__ import annotations

import copy
import pickle

import msgspec
import pytest

from legato.errors import ConfigError
from legato.transport import Key, KeyRing, scrub, variables_of

SECRET = "sk-test-0123456789abcdef"


def test_nothing_shows_the_value_of_a_key_but_reveal() -> None:
    key = Key(SECRET)
    shown = [repr(key), str(key), f"{key}", f"{key:>40}", f"{key!r}", repr({"k": key}), repr([key])]
    assert not [text for text in shown if SECRET in text]
    assert key.reveal() == SECRET


def test_no_encoder_of_ours_takes_a_key() -> None:
    with pytest.raises(TypeError):
        msgspec.json.encode({"key": Key(SECRET)})


def test_keys_are_compared_by_value_and_survive_a_copy() -> None:
    key = Key(SECRET)
    assert key == Key(SECRET)
    assert hash(key) == hash(Key(SECRET))
    assert key != Key("another")
    assert key != SECRET
    assert copy.deepcopy(key) == key
    assert pickle.loads(pickle.dumps(key)) == key


def test_the_account_is_a_stable_fingerprint_that_holds_nothing_of_the_key() -> None:
    account = Key(SECRET).account
    assert account == Key(f" {SECRET}\n").account
    assert account != Key(SECRET + "x").account
    assert len(account) == 10
    assert account.isalnum()
    assert account not in SECRET


@pytest.mark.parametrize("value", ["", "   ", "two\nlines", "sk-\u00e9", "nul\0"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Key(value, source="the key configured for openai")
    assert caught.value.message.startswith("the key configured for openai is empty or holds characters")
    assert not value.strip() or value not in caught.value.message


def test_a_configured_key_comes_before_the_environment() -> None:
    ring = KeyRing({"openai": "from-config"}, {"OPENAI_API_KEY": "from-environment"})
    assert ring.find("openai") == Key("from-config")


def test_a_configured_key_may_name_a_variable() -> None:
    environment = {"WORK_KEY": "work", "OPENAI_API_KEY": "usual"}
    assert KeyRing({"openai": "$WORK_KEY"}, environment).find("openai") == Key("work")
    assert KeyRing({"openai": "${WORK_KEY}"}, environment).find("openai") == Key("work")
    # A name that leads nowhere does not fall back to another account.
    assert KeyRing({"openai": "$OTHER"}, environment).find("openai") is None


def test_each_provider_gets_its_own_key_only() -> None:
    environment = {
        "OPENAI_API_KEY": "one",
        "ANTHROPIC_API_KEY": "two",
        "GOOGLE_API_KEY": "three",
        "MY_BOX_API_KEY": "4",
    }
    ring = KeyRing({}, environment)
    assert {name: ring.find(name) for name in ("openai", "anthropic", "gemini", "my-box", "mistral")} == {
        "openai": Key("one"),
        "anthropic": Key("two"),
        "gemini": Key("three"),
        "my-box": Key("4"),
        "mistral": None,
    }
    assert ring.account("openai") == Key("one").account
    assert ring.account("mistral") == ""


def test_the_first_of_several_variables_wins_and_an_empty_one_counts_as_absent() -> None:
    assert variables_of("gemini") == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert KeyRing({}, {"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}).find("gemini") == Key("a")
    assert KeyRing({}, {"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "b"}).find("gemini") == Key("b")


def test_a_key_ring_shows_for_whom_it_has_keys_and_no_key() -> None:
    assert repr(KeyRing({"openai": SECRET}, {"MISTRAL_API_KEY": SECRET})) == "KeyRing(configured=['openai'])"


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"Incorrect key provided: {SECRET}.", "Incorrect key provided: [hidden]."),
        ("token my-gateway-token was refused", "token [hidden] was refused"),
        ("Bearer abcdef123456 is no token", "[hidden] is no token"),
        ("key gsk_0123456789 unknown", "key [hidden] unknown"),
        ("AIza" + "x" * 35, "[hidden]"),
        ("via https://user:pass@proxy.example:8080/", "via https://[hidden]@proxy.example:8080/"),
        ("the value 1 stays", "the value 1 stays"),
    ],
)
def test_scrubbing_hides_our_secrets_and_what_looks_like_one(text: str, scrubbed: str) -> None:
    assert scrub(text, [Key(SECRET), Key("my-gateway-token"), Key("1")]) == scrubbed
