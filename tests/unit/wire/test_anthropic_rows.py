"""Units that are printed in a row: as far as they are plain, and as `spell` would print them."""

from __future__ import annotations

import pytest

from block_support import claude, voice_for
from dialect_support import NOT_PLAIN, call, failure, printed_in_a_row, success
from legato.model import Target, Text, ThinkingMode
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.anthropic import DIALECT
from legato.wire.assembly import Assembly
from legato.wire.contract import End

CALLED = Exchange(
    1,
    (Text("I look"), call("a"), call("b")),
    (success("a"), failure("b")),
    outputs=("fine", "it broke"),
    has_failed=True,
)
ASKED = Said(0, (Text("go on"),))
ANSWERED = Exchange(2, (Text("done "),), outputs=())
ODD = NOT_PLAIN | {
    "not plain": Exchange(1, (Text("hm"), call("a")), (success("a"),)),
    "renamed": Exchange(1, (call("a", name="a tool"),), (success("a"),), outputs=("fine",)),
}


def printed(units: list[Unit | None], target: Target) -> Assembly:
    return printed_in_a_row(DIALECT, units, voice_for(target))


def test_plain_units_are_printed_in_a_row_and_human_words_join_the_results_before_them() -> None:
    page = printed([ASKED, CALLED, ASKED, ANSWERED, ASKED], claude())
    assert [(message["role"], len(message["content"])) for message in page.messages] == [
        ("user", 1),
        ("assistant", 3),
        ("user", 3),
        ("assistant", 1),
        ("user", 1),
    ]
    assert page.ends == [End.HUMAN, End.RESULTS, End.HUMAN, End.ANSWER, End.HUMAN]


@pytest.mark.parametrize("unit", ODD.values(), ids=ODD)
def test_the_row_ends_before_a_unit_about_which_something_has_to_be_decided(unit: Unit | None) -> None:
    assert printed([ASKED, unit, ASKED], claude()).ends == [End.HUMAN]


@pytest.mark.parametrize(
    ("target", "stops"),
    [
        (claude(max_calls=1), CALLED),
        (claude(text_beside_calls=False), CALLED),
        (claude(native_tool_history=False), CALLED),
        (claude(prefill=True, thinking=ThinkingMode.NEVER), ANSWERED),
    ],
    ids=["too many calls", "text beside calls", "no tool history", "an answer to be continued"],
)
def test_the_row_ends_before_what_the_target_cannot_take_as_it_is(target: Target, stops: Exchange) -> None:
    goes_on = ANSWERED if stops is CALLED else CALLED
    assert printed([ASKED, goes_on, ASKED, stops, ASKED], target).ends[2:] == [End.HUMAN]


@pytest.mark.parametrize("units", [[CALLED], [ASKED, ANSWERED, CALLED]], ids=["first", "behind an answer"])
def test_an_answer_that_needs_a_bridge_is_not_plain(units: list[Unit | None]) -> None:
    assert len(printed(units, claude()).ends) == len(units) - 1
