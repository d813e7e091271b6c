"""Units that are printed in a row: as far as they are plain, and as `spell` would print them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dialect_support import NOT_PLAIN, call, failure, make_target, make_voice, printed_in_a_row, success
from legato.model import CallKind, Dialect, Text
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.contract import End
from legato.wire.openai_responses import DIALECT

ASKED = Said(0, (Text("go on"),))
ANSWERED = Exchange(2, (Text("it is "), Text("done")), outputs=())
CALLED = Exchange(
    1, (Text("I look"), call("a"), call("b", "grep")), (success("a"), success("b", "none")), outputs=("fine", "none")
)
FREE_TEXT = replace(call("a", input="x"), kind=CallKind.CUSTOM)
ODD = NOT_PLAIN | {
    "not plain": Exchange(1, (Text("hm"), call("a")), (success("a"),)),
    "renamed": Exchange(1, (call("a", name="a tool"),), (success("a"),), outputs=("fine",)),
    "free text": Exchange(1, (FREE_TEXT,), (success("a"),), outputs=("fine",)),
    "failed": Exchange(1, (call("a"),), (failure("a"),), outputs=("it broke",), has_failed=True),
}


def printed(units: list[Unit | None], **capabilities: Any) -> Assembly:
    return printed_in_a_row(DIALECT, units, make_voice(make_target(Dialect.OPENAI_RESPONSES, **capabilities)))


def test_plain_units_are_printed_in_a_row() -> None:
    page = printed([ASKED, CALLED, ANSWERED, ASKED])
    assert page.ends == [End.HUMAN, End.RESULTS, End.ANSWER, End.HUMAN]
    assert page.starts == [(0, 0), (1, 0), (6, 0), (8, 0)]


@pytest.mark.parametrize("unit", ODD.values(), ids=ODD)
def test_the_row_ends_before_a_unit_about_which_something_has_to_be_decided(unit: Unit | None) -> None:
    assert printed([ASKED, unit, ASKED]).ends == [End.HUMAN]


@pytest.mark.parametrize(
    "limits", [{"max_calls": 1}, {"native_tool_history": False}], ids=["too many calls", "no tool history"]
)
def test_the_row_ends_before_calls_that_the_target_cannot_take_as_they_are(limits: dict[str, Any]) -> None:
    assert printed([ASKED, ANSWERED, ASKED, CALLED, ASKED], **limits).ends == [End.HUMAN, End.ANSWER, End.HUMAN]
