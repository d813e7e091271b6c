"""The ranking of evidence, row by row: what speaks for a call, and what gives way to what."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations
from types import FrameType
from typing import Any, NamedTuple

import pytest

from legato.ledger import Evidence
from legato.ledger.evidence import evidence_of
from legato.model import CallId, Entry, Text, ToolResponse
from legato.model.records import Rewound
from legato.transcript import Conversation, Exchange, Said

from builders import ai, call, calls, completions, decisions, response, result, talk, tool, units, user

NAMED, EARLY, RESPELLED, PLACE, ELSEWHERE = Evidence
CALL = ai(call("call_x", path="asked"))


class Row(NamedTuple):
    """A result that is to belong to the call `call_x`: before it, in its round, or after a person spoke."""

    evidence: Evidence
    result: Entry
    when: str = "round"


ROWS = {
    "its id, after it": Row(NAMED, result("call_x", "the result")),
    "its id, after a person spoke": Row(NAMED, result("call_x", "the result"), "later"),
    "its id, before it": Row(EARLY, result("call_x", "the result"), "before"),
    "another prefix": Row(RESPELLED, result("toolu_x", "the result")),
    "no prefix": Row(RESPELLED, result("x", "the result")),
    "our own name for it": Row(RESPELLED, result("hist_tool_x", "the result")),
    "another prefix, before it": Row(RESPELLED, result("toolu_x", "the result"), "before"),
    "an unknown id": Row(PLACE, result("zz", "the result")),
    "no id": Row(PLACE, result("", "the result")),
    "no id and no tool": Row(PLACE, result("", "the result", name="")),
    "no id, after a person spoke": Row(ELSEWHERE, result("", "the result"), "later"),
}
BELONGS_TO_NOBODY = {
    "an unknown id without a tool": Row(PLACE, result("zz", "the result", name="")),
    "an unknown id of another tool": Row(PLACE, result("zz", "the result", name="grep")),
    "an unknown id, after a person spoke": Row(ELSEWHERE, result("zz", "the result"), "later"),
    "no id, another tool": Row(PLACE, result("", "the result", name="grep")),
    "its id in other letters": Row(PLACE, result("CALL_X", "the result", name="")),
    "its id with a space": Row(PLACE, result("call_x ", "the result", name="")),
}


def history(*rows: Row) -> list[Entry]:
    """The call with these results, each when it came."""
    at = {when: [row.result for row in rows if row.when == when] for when in ("before", "round", "later")}
    return [user("hi"), *at["before"], CALL, *at["round"], user("go on"), *at["later"]]


def outcome(conversation: Conversation) -> tuple[object, list[object]]:
    """What the call was given, and every other result that is shown, be it a pair of its own or quoted."""
    given: object = None
    others: list[object] = []
    for unit in units(conversation):
        if isinstance(unit, Exchange):
            for asked, done in zip(unit.calls, unit.completions, strict=True):
                if asked.arguments:
                    given = done.result
                else:
                    others.append(done.result)
        elif isinstance(unit, Said):
            said = [block.text for block in unit.blocks if isinstance(block, Text)]
            others += [text.partition("\n")[2] for text in said if "\n" in text]
    return given, others


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_result_alone_belongs_to_the_call_that_something_speaks_for(row: Row) -> None:
    conversation = talk(*history(row))
    assert outcome(conversation) == ("the result", [])
    (held,) = (known for known in conversation.ledger.calls.values() if known.arguments)
    # A record does not say whether somebody spoke before a result without an id.
    assert held.evidence is (PLACE if row.evidence is ELSEWHERE else row.evidence)


@pytest.mark.parametrize("row", BELONGS_TO_NOBODY.values(), ids=BELONGS_TO_NOBODY)
def test_a_result_that_nothing_speaks_for_is_shown_by_itself(row: Row) -> None:
    assert outcome(talk(*history(row))) == (None, ["the result"])


PAIRS = [(one, other) for one, other in combinations(ROWS, 2) if ROWS[one].evidence is not ROWS[other].evidence]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one} > {other}" for one, other in PAIRS])
@pytest.mark.parametrize("is_swapped", [False, True], ids=["in order", "swapped"])
@pytest.mark.req("REQ-915-008")
def test_the_better_evidence_has_the_call_and_the_other_result_is_shown_by_itself(
    one: str, other: str, is_swapped: bool
) -> None:
    better, worse = sorted((ROWS[one], ROWS[other]), key=lambda row: row.evidence)
    better = better._replace(result=says(better.result, "BETTER"))
    worse = worse._replace(result=says(worse.result, "WORSE"))
    rows = (worse, better) if is_swapped else (better, worse)
    assert outcome(talk(*history(*rows))) == ("BETTER", ["WORSE"])


def says(entry: Entry, value: str) -> Entry:
    (block,) = entry.blocks
    assert isinstance(block, ToolResponse)
    return result(block.wire_id, value, name=block.tool_name)


@pytest.mark.parametrize(
    ("given", "evidence"),
    [
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id="call_x"), NAMED),
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id=""), NAMED),
        (ToolResponse(call_id=CallId("hist_tool_x_2"), wire_id="call_x", ordinal=1), EARLY),
        (ToolResponse(call_id=CallId("hist_tool_y"), wire_id="call_x", guessed=True), EARLY),
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id="toolu_x", guessed=True), RESPELLED),
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id="hist_tool_x", guessed=True), RESPELLED),
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id="zz", guessed=True), PLACE),
        (ToolResponse(call_id=CallId("hist_tool_x"), wire_id="", guessed=True), PLACE),
    ],
)
def test_the_evidence_can_be_told_from_what_is_recorded(given: ToolResponse, evidence: Evidence) -> None:
    assert evidence_of(given, CallId("hist_tool_x"), "call_x") is evidence


# --- what follows from it ---------------------------------------------------------------------------------------------


def pairs(conversation: Conversation) -> list[tuple[str, str]]:
    return [(str(known.arguments.get("path", "")), str(known.response and known.response.result))
            for known in conversation.ledger.in_order if known.id in conversation.ledger.calls]  # fmt: skip


@pytest.mark.req("REQ-915-012")
@pytest.mark.parametrize("first", ["call_1", "toolu_1", "1", "hist_tool_1"])
@pytest.mark.parametrize("second", ["call_1", "toolu_1", "1", "hist_tool_1", "hist_tool_1_2"])
def test_ids_that_look_like_ours_never_take_each_others_results(first: str, second: str) -> None:
    conversation = talk(
        ai(call(first, path="a")), result(first, "A"), ai(call(second, path="b")), result(second, "B"), user("?")
    )
    assert pairs(conversation) == [("a", "A"), ("b", "B")]
    assert decisions(conversation) == []


def test_a_strange_id_that_is_our_name_for_an_answered_call_is_no_duplicate_of_its_result() -> None:
    conversation = talk(ai(call("call_1", path="a")), result("call_1", "A"), result("hist_tool_1", "B"))
    assert pairs(conversation) == [("a", "A"), ("", "B")]


def test_a_call_as_the_model_made_it_is_found_by_the_provider_s_id_even_if_that_looks_like_ours() -> None:
    asked = call("hist_tool_1", path="b")
    conversation = talk(ai(call("call_1", path="a")), result("call_1", "A"), ai(asked))
    conversation.result(asked, "B")
    assert pairs(conversation) == [("a", "A"), ("b", "B")]


def test_an_unknown_id_whose_call_comes_after_all_leaves_the_call_it_was_guessed_for() -> None:
    conversation = talk(ai(call("call_9", path="9")), result("call_1", "ONE"))
    assert pairs(conversation) == [("9", "ONE")]
    conversation.record(ai(call("call_1", path="1")))
    assert pairs(conversation) == [("9", "None"), ("1", "ONE")]
    assert ("moved", "result-before-call") in decisions(conversation)
    conversation.record(result("call_9", "NINE"))
    assert pairs(conversation) == [("9", "NINE"), ("1", "ONE")]


def test_a_result_that_is_displaced_again_goes_back_to_the_call_it_was_guessed_for() -> None:
    conversation = talk(
        ai(call("call_9", path="9")), result("call_1", "X"), ai(call("call_1", path="1")), result("call_1", "ONE")
    )
    assert pairs(conversation) == [("9", "X"), ("1", "ONE")]


def test_an_abandoned_call_does_not_shift_the_pairs_behind_it() -> None:
    conversation = talk(*(step for n in range(4) for step in round_of(n)))
    assert pairs(conversation) == [("0", "0"), ("1", "None"), ("2", "2"), ("3", "3")]


def round_of(n: int) -> list[Entry]:
    """A call without an id and its result; the second one is abandoned, and something else is done."""
    asked = ai(call("", path=str(n)))
    return [asked, user("go on")] if n == 1 else [asked, result("", str(n))]


def test_a_call_abandoned_while_the_model_goes_on_shifts_nothing_beyond_its_round() -> None:
    conversation = talk(
        ai(call("", path="0"), call("", "grep", path="1")),
        result("", "0"),
        ai(call("", "grep", path="2")),
        result("", "2", name="grep"),
    )
    assert pairs(conversation) == [("0", "0"), ("1", "None"), ("2", "2")]


@pytest.mark.parametrize("between", [[], [user("go on")]], ids=["at once", "after a person spoke"])
def test_results_without_ids_find_the_calls_of_every_round(between: list[Entry]) -> None:
    news: list[Entry] = []
    for n in range(3):
        asked = ai(call(f"call_{n}a", path=f"{n}a"), call(f"call_{n}b", path=f"{n}b"))
        news += [asked, result("", f"{n}a"), result(f"call_{n}b", f"{n}b"), *between]
    assert pairs(talk(*news)) == [(path, path) for path in ("0a", "0b", "1a", "1b", "2a", "2b")]


def test_equal_results_without_an_id_answer_as_many_calls_as_there_are_results() -> None:
    conversation = talk(calls("call_1", "call_2"), result("", "ok"), result("call_1", "ok"))
    assert [kind for _, kind, _ in completions(conversation)] == ["success", "success"]


def test_strange_results_are_matched_by_place_only_if_they_are_as_many_as_the_calls() -> None:
    conversation = talk(ai(call("a", path="a")), tool(response("u", "U"), response("v", "V")))
    assert pairs(conversation) == [("a", "None"), ("", "U"), ("", "V")]


def test_results_recorded_under_a_person_s_name_still_belong_to_the_round_before() -> None:
    conversation = talk(ai(call("a", path="a")), user(response("", "A"), Text("and so on")), result("", "B"))
    assert pairs(conversation) == [("a", "A"), ("", "B")]
    assert ("matched", "matched-by-order") in decisions(conversation)


@pytest.mark.parametrize("wire_id", ["call_0", "", "zz"])
def test_a_call_that_was_undone_takes_no_result_of_the_call_made_in_its_place(wire_id: str) -> None:
    asked = user("hi"), ai(call("call_0", path="undone"))
    conversation = talk(*asked, Rewound(to=1), ai(call("call_0", path="kept")), result(wire_id, "R"))
    assert outcome(conversation) == ("R", [])
    again = Conversation(conversation.log)
    assert again.record(result("", "S")) == conversation.record(result("", "S"))


def test_a_late_result_of_an_undone_call_stays_with_it() -> None:
    conversation = talk(user("hi"), ai(call("call_0", path="undone")), Rewound(to=1))
    conversation.result("call_0", "late")
    assert outcome(conversation) == (None, [])


# --- what it costs ----------------------------------------------------------------------------------------------------

Logs = dict[str, Callable[[range], list[Entry]]]
LOGS: Logs = {
    "one id in one answer": lambda each: [
        ai(*(call("c", path=str(n)) for n in each)), tool(*(response("c", n) for n in each))
    ],
    "one id in answers in a row": lambda each: [
        *(ai(call("c", path=str(n))) for n in each), *(result("c", n) for n in each)
    ],
    "one id in every round": lambda each: [
        step for n in each for step in (ai(call("c", path=str(n))), result("c", n))
    ],
    "no ids on results": lambda each: [
        ai(*(call(f"call_{n}", path=str(n)) for n in each)), *(result("", n) for n in each)
    ],
    "guesses that give way": lambda each: [
        ai(*(call(f"call_{n}", path=str(n)) for n in each)),
        *(result("", n) for n in each[::2]), *(result(f"call_{n}", -n) for n in each[::2]),
    ],
    "unknown ids in one entry": lambda each: [
        ai(*(call(f"call_{n}", path=str(n)) for n in each)), tool(*(response(f"u{n}", n) for n in each))
    ],
    "unknown ids one by one": lambda each: [
        ai(*(call(f"call_{n}", path=str(n)) for n in each)), *(result(f"u{n}", n) for n in each)
    ],
    "results without calls, under one id": lambda each: [
        *(result("c", n) for n in each), *(ai(call("c", path=str(n))) for n in each)
    ],
    "many results of one call": lambda each: [calls("c"), *(result("c", n) for n in each)],
    "abandoned calls": lambda each: [
        step for n in each for step in (calls(f"call_a{n}", f"call_b{n}"), result("", n))
    ],
}  # fmt: skip


@pytest.mark.parametrize("made", LOGS.values(), ids=LOGS)
def test_twice_the_calls_take_twice_the_steps(made: Callable[[range], list[Entry]]) -> None:
    small, large = (steps_to_record(made(range(count))) for count in (150, 300))
    assert large < 2.3 * small


def steps_to_record(news: list[Entry]) -> int:
    """How many lines of our code run while `news` are recorded and composed."""
    steps = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count if "legato" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(count)
    try:
        units(talk(*news))
    finally:
        sys.settrace(before)
    return steps
