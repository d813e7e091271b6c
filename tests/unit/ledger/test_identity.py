"""Every occurrence of a call has a name of its own, and every result finds its call."""

from __future__ import annotations

from itertools import permutations

import pytest

from legato.ledger.stems import PREFIX, bare
from legato.model import ClosureReason, Ending, Entry, PrefixCause, Text, ToolCall, ToolResponse
from legato.model.records import Rewound
from legato.transcript import Conversation, Exchange, Said

from builders import ai, call, calls, completions, decisions, response, result, talk, tool, units, user


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
    for wire_id in ("callABCDEFGH1", "call_callABCDEFGH1", "toolu_callABCDEFGH1"):
        conversation = talk(calls("call_other", "call_ABCDEFGH1"), result(wire_id))  # so that its place does not tell
        assert completions(conversation)[1] == ("hist_tool_ABCDEFGH1", "success", f"result of {wire_id}")


@pytest.mark.req("REQ-915-014")
def test_the_same_wire_id_in_a_later_answer_is_another_call() -> None:
    conversation = talk(calls("call_0"), result("call_0", "one"), calls("call_0"), result("call_0", "two"))
    assert completions(conversation) == [
        ("hist_tool_0", "success", "one"),
        ("hist_tool_0_2", "success", "two"),
    ]


@pytest.mark.req("REQ-915-014")
def test_a_name_that_was_undone_is_given_to_no_other_call() -> None:
    conversation = talk(user("hi"), calls("call_0"), result("call_0", "one"), Rewound(to=1))
    for _ in range(2):
        conversation.record(calls("call_0"))
        conversation.record(result("call_0", "two"))
    assert ids(conversation) == ["hist_tool_0", "hist_tool_0_2", "hist_tool_0_3"]
    assert ids(Conversation(conversation.log)) == ids(conversation)


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


@pytest.mark.parametrize(
    ("between", "outcomes"),
    [
        ([result("x", "first")], ["first", "second"]),
        ([result("", "first"), result("toolu_x", "again")], ["again", "second"]),
        # A result without an id consumes none: the next one with that id still means the first call.
        ([result("", "first"), result("zz", "stray")], ["second", "third"]),
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


# --- several calls under one id -------------------------------------------------------------------------------------


def outcomes(conversation: Conversation) -> list[str]:
    return [outcome for _, _, outcome in completions(conversation)]


def test_calls_of_different_answers_that_are_open_under_one_id_are_answered_in_their_order() -> None:
    conversation = talk(
        ai(call("call_0", "read")),
        ai(call("call_0", "grep")),
        result("call_0", "FIRST"),
        result("call_0", "SECOND"),
    )
    assert completions(conversation) == [
        ("hist_tool_0", "success", "FIRST"),
        ("hist_tool_0_2", "success", "SECOND"),
    ]
    assert decisions(conversation) == [("moved", "late-result")]


@pytest.mark.parametrize("came", range(4))
def test_of_three_open_calls_under_one_id_as_many_are_answered_as_results_came(came: int) -> None:
    asked = [ai(call("call_0", path=str(n))) for n in range(3)]
    conversation = talk(*asked, *(result("call_0", str(n)) for n in range(came)))
    assert outcomes(conversation) == [*map(str, range(came)), *["no-result-recorded"] * (3 - came)]


def test_a_third_result_for_two_calls_under_one_id_is_a_duplicate_of_the_second() -> None:
    conversation = talk(
        ai(call("call_0", path="a")), ai(call("call_0", path="b")), *(result("call_0", value) for value in "ABC")
    )
    assert outcomes(conversation) == ["A", "B"]
    assert ("deduped", "duplicate-result") in decisions(conversation)


def test_ids_that_share_a_stem_do_not_take_each_others_results() -> None:
    asked = ai(call("call_a", path="1"), call("call_a", path="2"), call("toolu_a", path="3"))
    conversation = talk(asked, result("call_a", "one"), result("call_a", "two"), result("toolu_a", "three"))
    assert outcomes(conversation) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "between",
    [[user("go on")], [result("call_1", "other")]],
    ids=["somebody spoke", "another result came"],
)
def test_a_call_of_a_former_round_leaves_its_id_to_the_next_one(between: list[Entry]) -> None:
    conversation = talk(calls("call_0", "call_1"), *between, calls("call_0"), result("call_0", "new"))
    assert completions(conversation)[-1] == ("hist_tool_0_2", "success", "new")


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED, Ending.REFUSED])
def test_a_call_of_an_answer_that_broke_off_leaves_its_id_to_the_next_one(ending: Ending) -> None:
    conversation = talk(calls("call_0", ending=ending), calls("call_0"), result("call_0", "new"))
    assert completions(conversation)[-1] == ("hist_tool_0_2", "success", "new")


def test_a_result_by_our_own_id_leaves_the_provider_s_id_to_the_next_call() -> None:
    conversation = talk(ai(call("x", path="1"), call("x", path="2")))
    first = conversation.ledger.in_order[0].id
    conversation.record(tool(ToolResponse(call_id=first, result="one")))
    conversation.record(result("x", "two"))
    assert outcomes(conversation) == ["one", "two"]


# --- a result that names its call and a guess ---------------------------------------------------------------------------

READ = "functions.read:0"


def reading(path: str) -> Entry:
    return ai(ToolCall("read", {"path": path}, READ))


def pairs(conversation: Conversation) -> list[tuple[str, object]]:
    """Every pair as (path asked for, result), and every quotation as (empty, what it quotes)."""
    found: list[tuple[str, object]] = []
    for unit in units(conversation):
        if isinstance(unit, Exchange):
            found += [
                (str(asked.arguments.get("path", "")), done.result)
                for asked, done in zip(unit.calls, unit.completions, strict=True)
            ]
        elif isinstance(unit, Said):
            found += [("", block.text.partition("\n")[2]) for block in unit.blocks if isinstance(block, Text)]
    return found


@pytest.mark.parametrize(("name", "action"), [("read", "reconstructed"), ("", "quoted")])
def test_a_trimmed_call_s_result_is_not_shown_as_that_of_the_next_call_with_its_id(name: str, action: str) -> None:
    conversation = talk(
        result(READ, "AAA", name=name),
        reading("b.txt"),
        result(READ, "BBB", name=name),
        reading("c.txt"),
        result(READ, "CCC", name=name),
    )
    assert pairs(conversation) == [("", "AAA"), ("b.txt", "BBB"), ("c.txt", "CCC")]
    assert decisions(conversation) == [(action, "result-without-call")]


def test_an_explicit_result_stands_before_one_that_came_before_its_call() -> None:
    conversation = talk(result(READ, "AAA"))
    asked = conversation.record(reading("b.txt")).calls[0]
    assert pairs(conversation) == [("b.txt", "AAA")]
    conversation.result(asked, "BBB")
    assert pairs(conversation) == [("", "AAA"), ("b.txt", "BBB")]


def test_a_failure_that_names_the_call_stands_before_a_success_that_came_early() -> None:
    conversation = talk(result(READ, "AAA"), reading("b.txt"), result(READ, None, error="no such file"))
    assert completions(conversation)[1][1:] == ("error", "no such file")
    assert pairs(conversation)[0] == ("", "AAA")


def test_an_early_result_that_comes_again_after_its_call_is_one_result() -> None:
    conversation = talk(result(READ, "AAA"), reading("a.txt"), result(READ, "AAA"))
    assert pairs(conversation) == [("a.txt", "AAA")]
    assert decisions(conversation) == [("deduped", "duplicate-result"), ("moved", "result-before-call")]


def test_a_closure_that_names_the_call_leaves_the_early_result_there() -> None:
    closure = response(READ, None, reason=ClosureReason.NO_RESULT, synthetic=True)
    conversation = talk(result(READ, "AAA"), reading("a.txt"), tool(closure))
    assert pairs(conversation) == [("a.txt", "AAA")]
    conversation.record(result(READ, "BBB"))
    assert pairs(conversation) == [("", "AAA"), ("a.txt", "BBB")]


def test_trimmed_results_and_calls_that_are_open_under_one_id_are_told_apart() -> None:
    conversation = talk(
        result(READ, "AAA"), reading("b.txt"), reading("c.txt"), result(READ, "BBB"), result(READ, "CCC")
    )
    assert pairs(conversation) == [("", "AAA"), ("b.txt", "BBB"), ("c.txt", "CCC")]


def test_different_results_of_trimmed_calls_with_one_id_are_both_kept() -> None:
    conversation = talk(result(READ, "AAA"), result(READ, "BBB"), result(READ, "AAA"), reading("c.txt"))
    assert pairs(conversation) == [("", "BBB"), ("c.txt", "AAA")]
    conversation.record(result(READ, "CCC"))
    assert pairs(conversation) == [("", "AAA"), ("", "BBB"), ("c.txt", "CCC")]


def test_a_result_without_an_id_gives_way_to_the_one_that_names_the_call() -> None:
    conversation = talk(calls("call_1"), result("", "X"), result("call_1", "REAL"))
    assert pairs(conversation) == [("call_1.txt", "REAL"), ("", "X")]
    assert decisions(conversation) == [("reconstructed", "result-without-call")]


@pytest.mark.parametrize("results", list(permutations([result("", "X"), result("call_1", "ONE")])), ids=lambda _: "")
def test_a_result_without_an_id_goes_to_the_call_that_no_other_result_names(results: tuple[Entry, ...]) -> None:
    conversation = talk(calls("call_1", "call_2"), *results)
    assert pairs(conversation) == [("call_1.txt", "ONE"), ("call_2.txt", "X")]
    assert decisions(conversation) == [("matched", "matched-by-order")]
    conversation.record(result("call_2", "TWO"))
    assert pairs(conversation) == [("call_1.txt", "ONE"), ("call_2.txt", "TWO"), ("", "X")]


def test_a_result_without_an_id_never_goes_to_a_call_that_came_after_it() -> None:
    conversation = talk(calls("call_1"), result("", "X"), calls("call_2"), result("call_1", "REAL"))
    assert pairs(conversation) == [("call_1.txt", "REAL"), ("call_2.txt", None), ("", "X")]


def test_where_a_call_has_no_id_either_the_order_is_no_guess() -> None:
    conversation = talk(calls(""), result("", "one"))
    assert decisions(conversation) == []
    conversation.result(conversation.ledger.in_order[0].id, "two")
    assert outcomes(conversation) == ["one"]
    assert decisions(conversation) == [("deduped", "duplicate-result")]


def test_a_guess_by_place_that_is_overruled_becomes_a_pair_of_its_own() -> None:
    conversation = talk(calls("call_42"), result("call_20", "R20"), result("call_42", "R42"))
    assert pairs(conversation) == [("call_42.txt", "R42"), ("", "R20")]
    assert [call.wire_id for call in conversation.ledger.in_order] == ["call_42", "call_20"]
    conversation.record(calls("call_20"))
    assert pairs(conversation) == [("call_42.txt", "R42"), ("call_20.txt", "R20")]


def test_a_guess_that_was_undone_does_not_come_back_when_it_gives_way() -> None:
    conversation = talk(calls("call_42"), result("call_20", "R20"), Rewound(to=1), result("call_42", "R42"))
    assert pairs(conversation) == [("call_42.txt", "R42")]


@pytest.mark.parametrize(
    "news",
    [
        [result(READ, "AAA"), reading("b.txt"), result(READ, "BBB")],
        [calls("call_1"), result("", "X"), result("call_1", "REAL")],
        [calls("call_1", "call_2"), result("", "X"), result("call_1", "REAL")],
        [calls("call_42"), result("call_20", "R20"), result("call_42", "R42")],
    ],
    ids=["early", "by order", "by order, to another call", "by place"],
)
def test_what_a_guess_had_shown_changes_with_a_cause(news: list[Entry]) -> None:
    conversation = talk(*news[:-1])
    view = conversation.view()
    view.refresh()
    before = [view.unit(place) for place in range(len(view.slots))]
    cursor = len(view.changes)
    conversation.record(news[-1])
    view.refresh()
    changed = {place for place, unit in enumerate(before) if view.unit(place) != unit}
    assert changed
    assert {(change.place, change.cause) for change in view.changes[cursor:]} == {
        (place, PrefixCause.LATE_RESULT) for place in changed
    }


# --- names ------------------------------------------------------------------------------------------------------------


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


# --- copies from another log ------------------------------------------------------------------------------------------


def asked_and_given(conversation: Conversation) -> list[tuple[object, object]]:
    return [(call.arguments["path"], call.response and call.response.result) for call in conversation.ledger.in_order]


@pytest.mark.parametrize("wire_id", ["call_0", ""])
@pytest.mark.parametrize("is_answered", [True, False])
def test_a_copied_result_follows_its_copied_call(wire_id: str, is_answered: bool) -> None:
    source = talk(user("go"), ai(ToolCall("read", {"path": "a"}, wire_id)), tool(response(wire_id, "of a")))
    target = talk(user("go"), ai(ToolCall("read", {"path": "b"}, wire_id)))
    if is_answered:
        target.record(tool(response(wire_id, "of b")))
    for _, entry in source.standing_entries():
        target.record(entry)
    assert asked_and_given(target) == [("b", "of b" if is_answered else None), ("a", "of a")]


@pytest.mark.parametrize("wire_id", ["call_0", ""])
def test_a_result_that_is_given_to_a_call_stays_with_it_beside_a_copy_of_the_same_name(wire_id: str) -> None:
    source = talk(user("go"), ai(ToolCall("read", {"path": "a"}, wire_id)), tool(response(wire_id, "of a")))
    target = talk(user("go"))
    own = target.record(ai(ToolCall("read", {"path": "b"}, wire_id)))
    _, copied_call, copied_result = (entry for _, entry in source.standing_entries())
    target.record(copied_call)
    target.result(own.calls[0], "of b")
    target.record(copied_result)
    assert asked_and_given(target) == [("b", "of b"), ("a", "of a")]
