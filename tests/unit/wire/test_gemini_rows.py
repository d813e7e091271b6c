"""Units that are printed in a row: as far as they are plain, and as `spell` would print them."""

from __future__ import annotations

from typing import Any

import pytest

from block_support import gemini, voice_for
from dialect_support import NOT_PLAIN, call, failure, printed_in_a_row, success
from legato.model import Text
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.contract import End
from legato.wire.gemini import DIALECT
from legato.wire.gemini.signatures import PLACEHOLDER

FINE = success("a")
CALLED = Exchange(
    1,
    (Text("I look"), call("a"), call("b", "grep")),
    (FINE, success("b", "none")),
    outputs=("fine", "none"),
)
ASKED = Said(0, (Text("go on"),))
ANSWERED = Exchange(2, (Text("it is "), Text("done")), outputs=())
ODD = NOT_PLAIN | {
    "not plain": Exchange(1, (Text("hm"), call("a")), (FINE,)),
    "renamed": Exchange(1, (call("a", name="a tool"),), (FINE,), outputs=("fine",)),
    "failed": Exchange(1, (call("a"),), (failure("a"),), outputs=("it broke",), has_failed=True),
    "no text": Exchange(1, (call("a"),), (success("a", {"n": 1}),), outputs=('{"n":1}',)),
    "shortened": Exchange(1, (call("a"),), (success("a", "fine", shortened="…"),), outputs=("…",)),
}


def printed(units: list[Unit | None], **capabilities: Any) -> Assembly:
    return printed_in_a_row(DIALECT, units, voice_for(gemini(**capabilities)))


@pytest.mark.parametrize("call_ids", [True, False])
@pytest.mark.parametrize("call_signatures", [True, False])
def test_plain_units_are_printed_in_a_row(call_ids: bool, call_signatures: bool) -> None:
    page = printed([ASKED, CALLED, ASKED, ANSWERED, ASKED], call_ids=call_ids, call_signatures=call_signatures)
    assert page.ends == [End.HUMAN, End.RESULTS, End.HUMAN, End.ANSWER, End.HUMAN]
    assert page.starts == [(0, 0), (1, 0), (3, 0), (4, 0), (5, 0)]
    signatures = [part.get("thoughtSignature") for part in page.messages[1]["parts"]]
    assert signatures == [None, PLACEHOLDER if call_signatures else None, None]


@pytest.mark.parametrize("unit", ODD.values(), ids=ODD)
def test_the_row_ends_before_a_unit_that_is_not_plain(unit: Unit | None) -> None:
    assert printed([ASKED, unit, ASKED]).ends == [End.HUMAN]


@pytest.mark.parametrize(
    "limits",
    [{"max_calls": 1}, {"text_beside_calls": False}, {"native_tool_history": False}],
    ids=["too many calls", "text beside calls", "no tool history"],
)
def test_the_row_ends_before_calls_that_the_target_cannot_take_as_they_are(limits: dict[str, Any]) -> None:
    assert printed([ASKED, ANSWERED, ASKED, CALLED, ASKED], **limits).ends == [End.HUMAN, End.ANSWER, End.HUMAN]


@pytest.mark.parametrize("units", [[ANSWERED], [CALLED]], ids=["answer", "calls"])
def test_the_row_does_not_begin_with_an_answer(units: list[Unit | None]) -> None:
    assert printed(units).ends == []
