"""Units that are printed in a row: as far as they are plain, and as `spell` would print them."""

from __future__ import annotations

from typing import Any

import pytest

from chat_support import call, failure, success, target, voice
from dialect_support import NOT_PLAIN, printed_in_a_row
from legato.model import CallKind, Text
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.contract import End
from legato.wire.openai_chat import DIALECT
from legato.wire.openai_chat.exchange import NO_THOUGHT

ASKED = Said(0, (Text("go on"),))
ANSWERED = Exchange(2, (Text("it is "), Text("done")), outputs=())
CALLED = Exchange(
    1,
    (Text("I look"), call("read", "a"), call("grep", "b")),
    (success("a"), failure("b")),
    None,
    ("done", "boom"),
    has_failed=True,
)
GREPPED = Exchange(3, (call("grep", "c"),), (success("c"),), outputs=("done",))
ODD = NOT_PLAIN | {
    "not plain": Exchange(1, (Text("hm"), call()), (success(),)),
    "renamed": Exchange(1, (call("a tool"),), (success(),), outputs=("done",)),
    "free text": Exchange(1, (call(kind=CallKind.CUSTOM, arguments={"input": "x"}),), (success(),), outputs=("done",)),
}


def printed(units: list[Unit | None], profile: str = "openai", *, thinking_on: bool = False, **caps: Any) -> Assembly:
    known = [unit for unit in units if unit is not None]
    return printed_in_a_row(DIALECT, units, voice(target(profile, **caps), known, thinking_on=thinking_on))


@pytest.mark.parametrize("profile", ["openai", "mistral", "kimi", "strict"])
def test_plain_units_are_printed_in_a_row(profile: str) -> None:
    page = printed([ASKED, CALLED, ANSWERED, ASKED, GREPPED], profile)
    assert page.ends == [End.HUMAN, End.RESULTS, End.ANSWER, End.HUMAN, End.RESULTS]
    assert page.starts == [(0, 0), (1, 0), (4, 0), (5, 0), (6, 0)]


@pytest.mark.parametrize("unit", ODD.values(), ids=ODD)
def test_the_row_ends_before_a_unit_about_which_something_has_to_be_decided(unit: Unit | None) -> None:
    assert printed([ASKED, unit, ASKED]).ends == [End.HUMAN]


@pytest.mark.parametrize(
    "limits",
    [
        {"max_calls": 1},
        {"text_beside_calls": False},
        {"native_tool_history": False},
    ],
    ids=["too many calls", "text beside calls", "no tool history"],
)
def test_the_row_ends_before_calls_that_the_target_cannot_take_as_they_are(limits: dict[str, Any]) -> None:
    assert printed([ASKED, ANSWERED, ASKED, CALLED, ASKED], **limits).ends == [End.HUMAN, End.ANSWER, End.HUMAN]


def test_where_no_human_may_follow_results_a_bridge_stands_between_them() -> None:
    page = printed([ASKED, CALLED, ASKED, ANSWERED, ASKED], user_after_tool=False)
    assert [message["role"] for message in page.messages[-4:]] == ["assistant", "user", "assistant", "user"]


def test_where_a_thought_is_demanded_a_placeholder_stands_with_calls_alone() -> None:
    page = printed([ASKED, CALLED, ANSWERED], "kimi", thinking_on=True)
    answers = [message for message in page.messages if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in answers] == [NO_THOUGHT, None]


def test_where_calls_may_not_come_first_the_row_does_not_begin_with_them() -> None:
    assert printed([CALLED], "mistral").ends == []
    assert printed([CALLED], "openai").ends == [End.RESULTS]
