"""Models whose templates want the human side and the model to take turns, wherever they are served."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Conversation, render, resolve
from legato.model import Entry, Media, MediaKind
from legato.wire.findings import Severity

from builders import ai, calls, instruction, result, talk, user

STRICT = (
    "openrouter/mistralai/devstral-medium",
    "ollama/gemma3",
    "llamacpp/ministral-8b",
    "vllm/mistralai/Mistral-7B-Instruct-v0.3",
)
LENIENT = ("openrouter/z-ai/glm-4.6", "vllm/qwen3", "openai/gpt-4o", "mistral/mistral-large-latest")
IMAGE = Media(MediaKind.IMAGE, "image/png", data="aGk=")


def messages(*entries: Entry, route: str = STRICT[0]) -> list[Any]:
    request = render(talk(*entries), route)
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []
    return request.body["messages"]


def sides(said: list[Any]) -> list[str]:
    """As a template sees the roles: calls and results aside."""
    return [one["role"] for one in said if one["role"] in ("user", "assistant") and not one.get("tool_calls")]


@pytest.mark.parametrize("route", STRICT)
def test_human_messages_in_a_row_are_one_message(route: str) -> None:
    assert messages(user("a"), user("b"), user("c"), route=route) == [{"role": "user", "content": "a\n\nb\n\nc"}]


@pytest.mark.parametrize("route", LENIENT)
def test_human_messages_in_a_row_stay_apart_where_they_may(route: str) -> None:
    assert [one["content"] for one in messages(user("a"), user("b"), route=route)] == ["a", "b"]


def test_a_message_with_an_image_joins_as_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    assert messages(user("a"), user("look", IMAGE), user("b")) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "text", "text": "look"},
                image,
                {"type": "text", "text": "b"},
            ],
        }
    ]


@pytest.mark.parametrize("route", STRICT)
def test_an_answer_stands_between_results_and_what_a_person_says(route: str) -> None:
    said = messages(user("go"), calls("x"), result("x"), user("stop"), route=route)
    assert sides(said) == ["user", "assistant", "user"]


@pytest.mark.parametrize("route", STRICT)
def test_a_conversation_that_begins_with_a_call_gets_a_human_message_first(route: str) -> None:
    assert sides(messages(calls("x"), result("x"), ai("done"), user("next"), route=route)) == [
        "user",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize(("route", "is_named"), [(STRICT[0], True), ("openrouter/z-ai/glm-4.6", False)])
def test_results_name_their_tool_for_mistrals_models_elsewhere(route: str, is_named: bool) -> None:
    (told,) = [one for one in messages(user("go"), calls("x"), result("x"), route=route) if one["role"] == "tool"]
    assert (told.get("name") == "read") is is_named


def test_what_joined_a_message_is_taken_away_again_with_its_record() -> None:
    conversation = talk(user("a"))
    render(conversation, STRICT[0]).verify()
    conversation.record(user("b"))
    joined = render(conversation, STRICT[0])
    joined.verify()
    conversation.record(ai("yes"))
    conversation.record(user("c"))
    later = render(conversation, STRICT[0])
    later.verify()
    assert joined.body["messages"] == [{"role": "user", "content": "a\n\nb"}]
    assert later.body["messages"][0] == joined.body["messages"][0]
    assert (joined.prefix_change, later.prefix_change) == (None, None)


KINDS = {
    "said": lambda number: [user(f"s{number}")],
    "looked": lambda number: [user(f"l{number}", IMAGE)],
    "told": lambda number: [instruction(f"i{number}")],
    "answered": lambda number: [ai(f"a{number}")],
    "called": lambda number: [calls(f"c{number}"), result(f"c{number}")],
    "spoke and called": lambda number: [ai(f"t{number}", *calls(f"d{number}").blocks), result(f"d{number}")],
}


SAYS = {"said": "s", "looked": "l", "told": "i", "answered": "a", "called": "c", "spoke and called": "t"}
"""what each of them puts into a request, before its number"""


@pytest.mark.parametrize("route", STRICT)
@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8))
def test_the_sides_take_turns_whatever_happened_and_nothing_is_lost(route: str, kinds: list[str]) -> None:
    conversation = Conversation()
    for number, kind in enumerate(kinds):
        for entry in KINDS[kind](number):
            conversation.record(entry)
        request = render(conversation, route)
        request.verify()
        body = request.body
        assert body == render(conversation.copy(), resolve(route)).body
        turns = sides(body["messages"])
        assert turns == (["user", "assistant"] * len(turns))[: len(turns)]
        text = request.json().decode()
        assert all(f"{SAYS[kind]}{place}" in text for place, kind in enumerate(kinds[: number + 1]))
