"""A request costs what is new in it, and its answers are what they were when they were given."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from gateway_support import CLIENTS, at_once, sent_back
from legato.gateway.carriers import Sealer
from legato.gateway.giving_back import as_given, visible
from legato.gateway.recall import Recall, Recalled
from legato.gateway.speakers import AnswerSpeaker
from legato.gateway.state import GivenAnswer, MemoryState
from legato.model import Answer, Dialect, Entry, Media, MediaKind, Text, ToolCall
from legato.request import render, resolve
from legato.wire.contract import Parsed

from builders import ai, call, instruction, origin, response, result, thought, tool, user

KIMI, CLAUDE, GPT = "kimi/kimi-k2-thinking", "anthropic/claude-sonnet-4-5", "openai-responses/gpt-5.1"
PNG = Media(MediaKind.IMAGE, "image/png", data="aGk=")
GIVEN = ai(
    thought("which file?", signature="c2ln"),
    "I look",
    ToolCall("read", {"path": "x"}, "toolu_1", native={"caller": {"type": "direct"}}),
    origin=origin(CLAUDE),
)
SHOWN = ai("I look", call("toolu_1", path="x"))
"""the same without what the client cannot read"""
SEALER = Sealer(b"a key of this deployment")


def recall(state: MemoryState | None = None, **bounds: int) -> Recall:
    return Recall(SEALER, state or MemoryState(), **bounds)


def parsed(*entries: Entry, places: Sequence[int] = ()) -> Parsed:
    return Parsed(list(entries), places=list(places or range(len(entries))))


def take(memory: Recall, *entries: Entry, tenant: str = "t", places: Sequence[int] = ()) -> Recalled:
    return at_once(memory.take(parsed(*entries, places=places), Dialect.ANTHROPIC, tenant))


def answer(memory: Recall, *entries: Entry, given: Entry = GIVEN, route: str = CLAUDE, tenant: str = "t") -> Recalled:
    """A request that is answered."""
    recalled = take(memory, *entries, tenant=tenant)
    at_once(memory.keep(recalled, given, route, tenant))
    return recalled


def spoken(given: Entry, route: str) -> Entry:
    """What Anthropic's client sends back of an answer that it was given."""
    speaker = AnswerSpeaker(replace(CLIENTS["anthropic"], tenant="t"), SEALER, "an id of its own")
    speaker.begin(resolve(route), route)
    shown = sent_back(json.loads(speaker.whole(Answer(given))), Dialect.ANTHROPIC)
    assert shown is not None
    return shown


def bare(recalled: Recalled) -> list[Entry]:
    """The entries without the names that they were given when they were recorded."""
    return [replace(entry, blocks=tuple(map(_unnamed, entry.blocks))) for entry in recalled.talk.entries]


def _unnamed(block: object) -> object:
    if isinstance(block, ToolCall):
        return replace(block, id="", ordinal=-1)
    return block


# --- conversations ----------------------------------------------------------------------------------------------------


def test_the_next_request_finds_the_conversation_and_adds_what_is_new():
    memory = recall()
    first = answer(memory, user("hi"))
    second = take(memory, user("hi"), SHOWN, result("toolu_1"))

    assert (first.is_warm, first.new, second.is_warm, second.new) == (False, 1, True, 2)
    assert second.talk is first.talk
    assert bare(second)[1] == GIVEN


def test_a_request_that_comes_again_finds_the_conversation_as_it_was():
    memory = recall()
    first = answer(memory, user("hi"))
    again = take(memory, user("hi"))

    assert (again.is_warm, again.new, again.talk is first.talk) == (True, 0, True)
    assert bare(again) == [user("hi")]


def test_a_request_that_failed_leaves_the_conversation_for_the_next():
    memory = recall()
    first = take(memory, user("hi"))
    memory.give_back(first, "t")

    assert take(memory, user("hi")).talk is first.talk


def test_two_requests_at_once_do_not_share_a_conversation():
    memory = recall()
    answer(memory, user("hi"))
    one, other = take(memory, user("hi"), ai("a")), take(memory, user("hi"), ai("b"))

    assert one.talk is not other.talk
    assert (bare(one), bare(other)) == ([user("hi"), ai("a")], [user("hi"), ai("b")])


def test_a_conversation_that_was_given_back_is_not_given_back_again():
    memory = recall()
    first = answer(memory, user("hi"))
    again = take(memory, user("hi"))
    memory.give_back(first, "t")  # it belongs to the second request now

    assert take(memory, user("hi")).talk is not again.talk


def test_a_fork_leaves_the_conversation_that_goes_further_alone():
    memory = recall()
    long = answer(memory, user("hi"), ai("yes"), user("on"))
    fork = answer(memory, user("hi"), ai("yes"), user("back"), given=ai("so?"))

    assert not fork.is_warm
    assert bare(long) == [user("hi"), ai("yes"), user("on")]
    assert take(memory, user("hi"), ai("yes"), user("on"), SHOWN).talk is long.talk


def test_the_longest_beginning_wins():
    memory = recall()
    short = take(memory, user("hi"))
    long = take(memory, user("hi"), ai("yes"), user("on"))
    memory.give_back(short, "t")
    memory.give_back(long, "t")

    assert take(memory, user("hi"), ai("yes"), user("on"), ai("so?")).talk is long.talk


def test_an_edited_message_is_another_conversation():
    memory = recall()
    answer(memory, user("hi"))

    assert bare(take(memory, user("ho"), SHOWN))[0] == user("ho")


def test_tenants_do_not_share_conversations_or_answers():
    memory = recall()
    answer(memory, user("hi"))
    other = take(memory, user("hi"), SHOWN, result("toolu_1"), tenant="u")

    assert (other.is_warm, other.route, other.last) == (False, "", "")
    assert bare(other)[1] == SHOWN


def test_the_number_of_conversations_is_bounded():
    memory = recall(conversations=2)
    for text in ("a", "b", "c"):
        answer(memory, user(text))

    assert [take(memory, user(text)).is_warm for text in ("a", "b", "c")] == [False, True, True]


def test_the_bytes_of_conversations_are_bounded_with_what_was_rendered_of_them():
    memory = recall(max_bytes=4_000)
    plain = take(memory, user("x" * 1_500))
    memory.give_back(plain, "t")
    again = take(memory, user("x" * 1_500))
    for route in (KIMI, CLAUDE):
        render(again.talk, route).json()
    memory.give_back(again, "t")

    assert again.is_warm
    assert not take(memory, user("x" * 1_500)).is_warm


def test_a_request_without_entries_is_taken_and_nothing_is_kept():
    memory = recall()
    empty = answer(memory)

    assert (empty.route, len(empty.talk)) == ("", 0)
    assert not take(memory).is_warm


# --- answers ----------------------------------------------------------------------------------------------------------


def test_an_answer_is_known_by_the_id_of_a_call_wherever_it_stands():
    state = MemoryState()
    answer(recall(state), user("hi"))
    cold = take(recall(state), user("something else before it"), SHOWN, result("toolu_1"))

    assert bare(cold)[1] == GIVEN
    assert (cold.route, cold.last) == (CLAUDE, CLAUDE)


def test_an_answer_without_calls_is_known_by_its_words_and_its_place():
    state = MemoryState()
    given = ai(thought("easy", signature="c2ln"), "Done.", origin=origin(CLAUDE))
    answer(recall(state), user("hi"), given=given)

    assert bare(take(recall(state), user("hi"), ai("Done.")))[1] == given
    assert bare(take(recall(state), user("ho"), ai("Done.")))[1] == ai("Done.")
    assert bare(take(recall(state), user("hi"), ai("Done?")))[1] == ai("Done?")


def test_an_answer_whose_ids_the_client_lost_is_known_by_its_place():
    state = MemoryState()
    answer(recall(state), user("hi"))
    cold = take(recall(state), user("hi"), ai("I look", call("", path="x")), result(""))

    assert bare(cold)[1] == replace(GIVEN, blocks=(*GIVEN.blocks[:2], replace(GIVEN.calls[0], wire_id="")))
    assert cold.route == CLAUDE


def test_nothing_is_left_of_the_thoughts_of_somebody_unknown():
    strange = ai(thought("hm", signature="c2ln"), Text("I ", native={"citations": []}), "look", origin=origin(CLAUDE))
    cold = take(recall(), user("hi"), strange, ai(thought("alone")), user("on"))

    assert bare(cold) == [user("hi"), ai("I look"), user("on")]
    assert (cold.last, cold.turns) == ("", 0)


def test_a_carrier_needs_no_memory():
    given = ai(thought("easy", item={"type": "reasoning", "encrypted_content": "c2ln"}), "Done.", origin=origin(GPT))
    shown = spoken(given, GPT)
    cold = take(recall(), user("hi"), shown, user("on"))

    assert bare(cold)[1] == given
    assert (cold.last, cold.turns) == (GPT, 1)
    assert bare(take(recall(), user("hi"), shown, user("on"), tenant="u"))[1] == ai("Done.")


def test_a_carrier_tells_one_answer_from_another_with_the_same_words_at_the_same_place():
    one, two = (ai(thought(text), "Done.", origin=origin(CLAUDE)) for text in ("first", "second"))
    memory = recall()
    answer(memory, user("hi"), given=one)
    answer(memory, user("hi"), given=two)

    assert bare(take(memory, user("hi"), spoken(one, CLAUDE)))[1] == one
    assert bare(take(memory, user("hi"), ai("Done.")))[1] == two


def test_the_same_words_given_anew_at_the_same_place_are_the_newer_answer():
    memory = recall()
    one, two = (ai(thought(text), "Done.", origin=origin(CLAUDE)) for text in ("first", "second"))
    answer(memory, user("hi"), given=one)
    answer(memory, user("hi"), ai("Done."), user("on"), given=ai("yes"))
    answer(memory, user("hi"), given=two)

    assert bare(take(memory, user("hi"), ai("Done."), user("on")))[1] == two


def test_other_words_at_the_same_place_leave_a_branch_warm():
    memory = recall()
    answer(memory, user("hi"), given=ai("one"))
    branch = answer(memory, user("hi"), ai("one"), user("on"), given=ai("yes"))
    answer(memory, user("hi"), given=ai("two"))

    assert take(memory, user("hi"), ai("one"), user("on")).talk is branch.talk


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (SHOWN, GIVEN.blocks),
        (ai("I ", "look", call("toolu_1", path="x")), GIVEN.blocks),
        (ai(call("toolu_1", path="x"), "I look"), (GIVEN.blocks[0], GIVEN.blocks[2], GIVEN.blocks[1])),
        (ai("I look!", call("toolu_1", path="x")), (GIVEN.blocks[0], Text("I look!"), GIVEN.blocks[2])),
        (ai(call("toolu_1", path="y")), (GIVEN.blocks[0], replace(GIVEN.calls[0], arguments={"path": "y"}))),
        (
            ai("I look", call("toolu_1", path="x"), call("toolu_2")),
            (Text("I look"), GIVEN.blocks[2], call("toolu_2")),
        ),
    ],
)
def test_what_a_client_changed_keeps_what_still_fits(shown: Entry, expected: tuple[object, ...]):
    assert as_given(visible(shown), GivenAnswer(GIVEN, CLAUDE)) == replace(shown, blocks=expected, origin=GIVEN.origin)


def test_thoughts_between_words_are_back_in_their_place():
    given = ai(thought("a"), "one ", thought("b"), "two", origin=origin(CLAUDE))

    assert as_given(ai("one two"), GivenAnswer(given, CLAUDE)) == given


# --- turns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "places", "route"),
    [
        ([result("toolu_1")], [0, 1, 2], CLAUDE),
        ([result("toolu_1"), instruction("be brief")], [0, 1, 2, 3], CLAUDE),
        ([result("toolu_1"), user(PNG)], [0, 1, 2, 2], CLAUDE),
        ([result("toolu_1"), user("stop")], [0, 1, 2, 3], ""),
        ([result("toolu_1"), ai("done")], [0, 1, 2, 3], ""),
        ([user("go on")], [0, 1, 2], ""),
        ([], [0, 1], ""),
    ],
)
def test_a_request_belongs_to_a_turn_if_it_ends_in_results_of_its_calls(
    entries: list[Entry], places: list[int], route: str
):
    state = MemoryState()
    answer(recall(state), user("hi"))
    warm = recall(state)
    warm.give_back(take(warm, user("hi")), "t")

    for memory in (warm, recall(state)):
        assert take(memory, user("hi"), SHOWN, *entries, places=places).route == route


def test_results_find_their_turn_though_the_answer_is_not_shown():
    memory = recall()
    answer(memory, user("hi"))

    assert take(memory, user("ho"), tool(response("toolu_0"), response("toolu_1"))).route == CLAUDE


def test_turns_in_a_row_are_counted():
    memory = recall()
    said: list[Entry] = []
    counted: list[tuple[str, int]] = []
    for number, route in enumerate((CLAUDE, CLAUDE, KIMI, CLAUDE)):
        said.append(user(f"question {number}"))
        given = ai(call(f"toolu_{number}"), origin=origin(route))
        answer(memory, *said, given=given, route=route)
        said += [given, result(f"toolu_{number}")]
        answer(memory, *said, given=ai(f"answer {number}", origin=origin(route)), route=route)
        said.append(ai(f"answer {number}"))
        warm, cold = take(memory, *said), take(memory, *said)
        assert (warm.is_warm, cold.is_warm) == (True, False)
        assert (warm.last, warm.turns) == (cold.last, cold.turns)
        counted.append((warm.last, warm.turns))
        memory.give_back(warm, "t")

    assert counted == [(CLAUDE, 1), (CLAUDE, 2), (KIMI, 1), (CLAUDE, 1)]


# --- responses that are kept ------------------------------------------------------------------------------------------


def test_a_response_is_kept_for_its_tenant_until_it_is_forgotten():
    memory = recall()
    response_body, request = {"id": "resp_1", "output": []}, {"input": "hi"}
    at_once(memory.keep_response(response_body, request, "t"))
    stored = at_once(memory.stored("resp_1", "t"))

    assert stored is not None
    assert (stored.response, stored.body) == (response_body, request)
    assert at_once(memory.stored("resp_1", "u")) is None
    assert at_once(memory.stored("resp_2", "t")) is None
    assert at_once(memory.forget("resp_1", "t"))
    assert at_once(memory.stored("resp_1", "t")) is None
