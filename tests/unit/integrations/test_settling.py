"""A settled history needs nothing more done to it, whatever was in it and whoever answers."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from legato.errors import ImpossibleRequest
from legato.formats.document import Document
from legato.integrations import settle
from legato.model import Authority, Entry, Speaker, Text, Thinking, safe
from legato.request import render, resolve
from legato.wire.findings import Severity

from builders import ROUTES, ai, calls, instruction, origin, result, talk, user
from strategies import logs

CLAUDE = "anthropic/claude-sonnet-4-5"


def document(*entries: Entry, system: str = "") -> Document:
    return Document(format="test", entries=list(entries), places=["" for _ in entries], system=system)


def said(entries: list[Entry]) -> list[tuple[Speaker, str]]:
    return [(entry.speaker, entry.text) for entry in entries if entry.text]


@settings(phases=[Phase.reuse, Phase.generate])
@given(entries=logs(), route=st.sampled_from(ROUTES), is_whole=st.booleans())
def test_what_is_settled_is_taken(entries: list[Entry], route: str, is_whole: bool) -> None:
    try:
        settled = settle(document(*map(safe, entries)), route, is_whole=is_whole)
    except ImpossibleRequest:
        return
    assert [one for one in render(settled.conversation, route).check() if one.severity is Severity.REFUSED] == []


def test_a_bridge_is_something_that_a_framework_sends() -> None:
    settled = settle(document(ai("before anyone asked", origin=origin(CLAUDE)), user("go on")), CLAUDE)
    assert said(settled.conversation.entries) == [
        (Speaker.HUMAN, "(Continued.)"),
        (Speaker.AI, "before anyone asked"),
        (Speaker.HUMAN, "go on"),
    ]


def test_a_history_that_ends_on_an_answer_ends_on_a_word_of_the_human_side_if_it_is_whole() -> None:
    history = document(user("hello"), ai("hi", origin=origin(CLAUDE)))
    ends = [settle(history, CLAUDE, is_whole=whole).conversation.entries[-1].text for whole in (True, False)]
    assert ends == ["Continue.", "hi"]


def test_an_instruction_in_the_middle_is_marked_text_where_no_other_form_is_taken() -> None:
    history = document(user("hello"), ai("hi"), instruction("Be brief."), user("go on"))
    there = {
        route: [entry.authority for entry in settle(history, route).conversation.entries if "brief" in entry.text]
        for route in (CLAUDE, "openai/gpt-4o")
    }
    assert there == {CLAUDE: [Authority.PERSON], "openai/gpt-4o": [Authority.INSTRUCTION]}


def test_an_answer_under_a_dated_name_is_of_the_model_that_was_asked() -> None:
    thought = Thinking("hm", native={"signature": "c2ln"})
    dated = origin("anthropic/claude-sonnet-4-5-20250929")
    other = origin("anthropic/claude-opus-4-1")
    kept = [
        [block for entry in settle(history, CLAUDE).conversation.entries for block in entry.blocks if block == thought]
        for history in (
            document(user("a"), ai(thought, "b", origin=dated), user("c")),
            document(user("a"), ai(thought, "b", origin=other), user("c")),
        )
    ]
    assert kept == [[thought], []]


def test_a_model_that_another_one_left_in_a_tool_loop_must_not_think() -> None:
    history = document(user("a"), calls("x", origin=origin("openai/gpt-4o")), result("x"))
    assert [settle(history, CLAUDE, thinks=thinks).must_not_think for thinks in (True, False, None)] == [
        True,
        False,
        False,
    ]


def test_a_model_that_is_offered_no_tools_and_demands_them_is_told_of_calls_in_words() -> None:
    history = document(user("a"), calls("x"), result("x", "the small hall"), user("b"))
    settled = settle(history, CLAUDE, offers_tools=False)
    assert [entry.calls for entry in settled.conversation.entries if entry.calls] == []
    assert "the small hall" in " ".join(entry.text for entry in settled.conversation.entries)


def test_what_an_agent_had_summarised_stays_out() -> None:
    from dataclasses import replace

    from legato.formats.document import CompactionMark

    history = replace(
        document(user("long ago"), ai("indeed"), user("now")), compactions=[CompactionMark(0, 1, "A summary.", "")]
    )
    request = render(settle(history, "openai/gpt-4o").conversation, "openai/gpt-4o")
    assert "long ago" not in str(request.body)
    assert "A summary." in str(request.body)


@pytest.mark.parametrize("route", ROUTES)
def test_every_settled_answer_is_of_the_target(route: str) -> None:
    history = document(user("a"), calls("x", origin=origin(CLAUDE)), result("x"), user("b"))
    answers = [entry for entry in settle(history, route).conversation.entries if entry.speaker is Speaker.AI]
    assert {entry.origin for entry in answers} == {resolve(route).origin()}


def test_the_system_prompt_goes_along() -> None:
    settled = settle(document(user("a"), system="Be brief."), "openai/gpt-4o")
    assert settled.conversation.instructions == "Be brief."
    assert talk(*settled.conversation.entries).instructions == "Be brief."
    assert isinstance(settled.conversation.entries[0].blocks[0], Text)
