"""Every occurrence of a call has a name of its own, and every result finds its call."""

from __future__ import annotations

import pytest

from legato.ledger.identity import PREFIX, bare
from legato.model import Entry, ToolCall
from legato.transcript import Conversation

from builders import ai, call, calls, completions, decisions, response, result, talk, tool, user


def ids(conversation: Conversation) -> list[str]:
    return [call.id for call in conversation.ledger.in_order]


@pytest.mark.parametrize(
    ("wire_id", "stem"),
    [
        ("call_x", "x"),
        ("toolu_x", "x"),
        ("hist_tool_x", "x"),
        ("call_call_x", "x"),
        ("toolu_call_x", "x"),
        ("callABCDEFGH1", "ABCDEFGH1"),
        ("call_callABCDEFGH1", "ABCDEFGH1"),
        ("call_caller", "caller"),
        ("toolu_é", "é"),
        ("caller", "caller"),
        ("call_", "call_"),
        ("", ""),
    ],
)
def test_known_prefixes_are_taken_off_however_often_they_were_put_on(wire_id: str, stem: str) -> None:
    assert bare(wire_id) == stem


@pytest.mark.req("REQ-915-014")
def test_the_same_call_keeps_its_name_whatever_prefix_its_result_bears() -> None:
    for wire_id in ("x", "call_x", "toolu_x", "hist_tool_x", "call_call_x", "toolu_call_x"):
        conversation = talk(calls("call_x"), result(wire_id))
        assert completions(conversation) == [("hist_tool_x", "success", f"result of {wire_id}")]


@pytest.mark.req("REQ-915-014")
def test_the_same_wire_id_in_a_later_answer_is_another_call() -> None:
    conversation = talk(calls("call_0"), result("call_0", "one"), calls("call_0"), result("call_0", "two"))
    assert completions(conversation) == [
        ("hist_tool_0", "success", "one"),
        ("hist_tool_0_2", "success", "two"),
    ]


def test_a_reused_id_means_its_newest_call_even_if_the_older_was_never_answered() -> None:
    conversation = talk(calls("call_0"), user("go on"), calls("call_0"), result("call_0", "two"))
    assert completions(conversation) == [
        ("hist_tool_0", "synthetic", "no-result-recorded"),
        ("hist_tool_0_2", "success", "two"),
    ]


@pytest.mark.req("REQ-915-022")
def test_empty_ids_give_distinct_calls_each_with_its_result() -> None:
    conversation = talk(calls("", ""), tool(response("", "one"), response("", "two")))
    first, second = ids(conversation)
    assert first != second
    assert completions(conversation) == [(first, "success", "one"), (second, "success", "two")]


@pytest.mark.req("REQ-915-022")
def test_names_for_missing_ids_are_the_same_on_every_machine() -> None:
    def once() -> list[str]:
        return ids(talk(calls("", ""), user("x"), calls("weird id with spaces", "é", "x" * 200)))

    names = once()
    assert names == once()
    assert len(set(names)) == 5
    assert all(name.startswith(PREFIX) and len(name) <= 40 for name in names)


def test_a_result_without_an_id_goes_to_the_open_call_of_its_tool() -> None:
    conversation = talk(
        ai(call("a", "read"), call("b", "write")),
        tool(response("", "written", name="write"), response("", "was read", name="read")),
    )
    assert completions(conversation) == [
        ("hist_tool_a", "success", "was read"),
        ("hist_tool_b", "success", "written"),
    ]


def test_a_result_without_an_id_answers_the_current_turn_before_an_abandoned_call() -> None:
    conversation = talk(calls("old"), user("never mind"), calls("new"), result("", "fresh"))
    assert completions(conversation) == [
        ("hist_tool_old", "synthetic", "no-result-recorded"),
        ("hist_tool_new", "success", "fresh"),
    ]


def test_when_nothing_is_open_a_result_without_an_id_is_kept_as_a_pair_of_its_own() -> None:
    conversation = talk(calls("a"), result("a"), result("", "more", name="grep"))
    name = ids(conversation)[1]
    assert name
    assert completions(conversation)[1] == (name, "success", "more")
    assert ("reconstructed", "result-without-call") in decisions(conversation)


def test_the_same_call_twice_in_one_answer_is_a_replay() -> None:
    conversation = talk(calls("a", "a"), result("a"))
    assert completions(conversation) == [("hist_tool_a", "success", "result of a")]
    assert decisions(conversation) == [("deduped", "replayed-call")]


def test_a_replay_may_come_in_another_piece_of_the_same_answer() -> None:
    conversation = talk(calls("a", answer="k"), calls("a", answer="k"), result("a"))
    assert completions(conversation) == [("hist_tool_a", "success", "result of a")]


def test_the_same_id_with_other_arguments_in_one_answer_is_another_call() -> None:
    conversation = talk(
        ai(ToolCall("read", {"p": 1}, "a"), ToolCall("read", {"p": 2}, "a")),
        tool(response("a", "one"), response("a", "two")),
    )
    assert completions(conversation) == [
        ("hist_tool_a", "success", "one"),
        ("hist_tool_a_2", "success", "two"),
    ]


def test_two_calls_without_ids_are_no_replay_of_each_other() -> None:
    conversation = talk(ai(call("", "now"), call("", "now")))
    assert len(ids(conversation)) == 2


def test_a_result_that_came_before_its_call_is_adopted_by_it() -> None:
    conversation = talk(result("a", "early"), calls("a"))
    assert completions(conversation) == [("hist_tool_a_2", "success", "early")]
    assert ("moved", "result-before-call") in decisions(conversation)


def test_a_call_of_another_tool_does_not_adopt_a_result() -> None:
    conversation = talk(result("a", "early", name="grep"), calls("a", name="read"))
    assert [kind for _, kind, _ in completions(conversation)] == ["success", "synthetic"]


def test_a_result_waits_for_its_call_only_until_somebody_speaks() -> None:
    conversation = talk(result("a", "early"), user("hm"), calls("a"))
    assert [kind for _, kind, _ in completions(conversation)] == ["success", "synthetic"]


def test_an_early_result_that_comes_twice_is_one_result() -> None:
    conversation = talk(result("a", "early"), result("a", "early"), calls("a"))
    assert [kind for _, kind, _ in completions(conversation)] == ["success"]


def test_results_of_unknown_calls_in_different_turns_are_different() -> None:
    conversation = talk(result("x", "one"), user("go on"), result("x", "two"))
    assert [outcome for _, _, outcome in completions(conversation)] == ["one", "two"]


def test_wrong_ids_are_matched_by_place_if_counts_and_names_agree() -> None:
    conversation = talk(
        ai(call("a", "read"), call("b", "grep")),
        tool(response("wrong1", "A", name="read"), response("wrong2", "B", name="grep")),
    )
    assert [(kind, outcome) for _, kind, outcome in completions(conversation)] == [("success", "A"), ("success", "B")]
    assert decisions(conversation) == [("matched", "matched-by-place")] * 2


def test_wrong_ids_are_not_matched_if_the_names_disagree() -> None:
    conversation = talk(ai(call("a", "read")), tool(response("wrong", "A", name="grep")))
    assert [kind for _, kind, _ in completions(conversation)] == ["synthetic", "success"]


def test_an_exact_result_stands_before_one_that_was_matched_by_place() -> None:
    conversation = talk(calls("a"), result("wrong", "guess"), result("a", "true"))
    assert [outcome for _, _, outcome in completions(conversation)] == ["true"]


@pytest.mark.parametrize(
    ("between", "outcomes"),
    [
        ([result("x", "first")], ["first", "second"]),
        ([result("", "first"), result("toolu_x", "again")], ["first", "second"]),
        # A result without an id consumes none: the next one with that id still means the first call.
        ([result("", "first"), result("zz", "stray")], ["first", "third"]),
    ],
    ids=["under its id", "under its bare id", "under another id"],
)
def test_an_id_that_an_answer_uses_twice_is_armed_until_a_result_came_with_it(
    between: list[Entry], outcomes: list[str]
) -> None:
    pieces = calls("x", answer="m"), *between, calls("x", name="grep", answer="m")
    conversation = talk(*pieces, result("x", "second"), result("x", "third"))
    named = [(name, outcome) for name, _, outcome in completions(conversation) if name.startswith("hist_tool_x")]
    assert named == list(zip(["hist_tool_x", "hist_tool_x_2"], outcomes, strict=True))
    again = Conversation(conversation.log)
    assert again.record(result("x")) == conversation.record(result("x"))


def test_an_id_that_two_calls_shared_means_the_new_call_once_another_answer_uses_it() -> None:
    conversation = talk(ai(call("x"), call("x", "grep")), result("x", "one"), calls("x"), result("x", "new"))
    assert completions(conversation) == [
        ("hist_tool_x", "success", "one"),
        ("hist_tool_x_2", "synthetic", "no-result-recorded"),
        ("hist_tool_x_3", "success", "new"),
    ]


def test_a_canonical_id_passed_again_is_unchanged() -> None:
    conversation = talk(calls("hist_tool_x"), result("hist_tool_x"))
    assert completions(conversation) == [("hist_tool_x", "success", "result of hist_tool_x")]


def test_a_hundred_uses_of_one_constant_id_stay_a_hundred_calls() -> None:
    news: list[Entry] = []
    for number in range(100):
        news += [user(str(number)), calls("call_1"), result("call_1", number)]
    conversation = talk(*news)
    assert [outcome for _, _, outcome in completions(conversation)] == [str(number) for number in range(100)]
    assert len(set(ids(conversation))) == 100


def test_a_suffix_never_runs_into_a_literal_id() -> None:
    conversation = talk(calls("x"), user("."), calls("x_2"), user("."), calls("x"))
    assert ids(conversation) == ["hist_tool_x", "hist_tool_x_2", "hist_tool_x_3"]


@pytest.mark.req("REQ-915-046")
def test_replaying_the_log_gives_the_same_names() -> None:
    conversation = talk(calls("", "call_0"), result("call_0"), user("x"), calls("call_0"), result("zz", name="grep"))
    again = Conversation(conversation.log)
    assert ids(again) == ids(conversation)
    more, even_more = conversation.record(calls("call_0")), again.record(calls("call_0"))
    assert more == even_more
