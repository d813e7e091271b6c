"""What a request costs beside its bytes: it is judged and named for what is new in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Conversation, render
from legato.model import Options, ThinkingSwitch
from legato.model.hashing import RunningDigest, digest
from legato.request import Request, resolve
from legato.request.loop import OpenLoop
from legato.wire.context import End
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.judge import Judge

from builders import ROUTES, ai, calls, result, talk, units, user


class Counted:
    """Counts the messages that are judged and the bytes that are hashed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.messages = self.bytes = 0
        take, add = Judge._take, RunningDigest.add

        def counted_take(judge: Judge, messages: Any, number: int) -> None:
            self.messages += len(messages)
            take(judge, messages, number)

        def counted_add(running: RunningDigest, data: bytes) -> None:
            self.bytes += len(data)
            add(running, data)

        patch.setattr(Judge, "_take", counted_take)
        patch.setattr(RunningDigest, "add", counted_add)

    def of(self, request: Request) -> tuple[int, int]:
        """How many of each one request takes."""
        self.messages = self.bytes = 0
        request.verify()
        request.digest()
        return self.messages, self.bytes


def go_on(conversation: Conversation, number: int) -> None:
    conversation.record(calls(f"c{number}"))
    conversation.record(result(f"c{number}"))
    conversation.record(user("next"))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("cache", [True, False])
def test_a_step_is_judged_and_named_for_what_is_new_in_it(
    route: str, cache: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    conversation = talk(user("start"))
    options = Options(cache=cache, thinking=ThinkingSwitch.OFF)
    costs: list[tuple[int, int]] = []
    for number in range(100):
        go_on(conversation, number)
        costs.append(counted.of(render(conversation, route, options=options)))
    most = max(costs[:10])  # a few messages more at every step, and those at the end twice
    assert most[0] <= 12
    assert max(costs[10:]) <= (most[0], most[1] + 50)  # ids and numbers have grown by some digits
    # The options change, and back: from the start for the one, what is new for the other.
    go_on(conversation, 100)
    counted.of(render(conversation, route, options=Options(cache=cache)))
    go_on(conversation, 101)
    assert counted.of(render(conversation, route, options=options))[0] <= 2 * most[0]


def test_going_back_costs_what_was_taken_back_and_a_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    conversation = talk(user("start"))
    for number in range(100):
        go_on(conversation, number)
    conversation.record(calls("late"))
    conversation.record(user("never mind"))
    render(conversation, "openai/gpt-4o").verify()
    conversation.record(result("late", "here it is"))
    judged, _ = counted.of(render(conversation, "openai/gpt-4o"))
    assert judged <= 64 + 5


UNITS: dict[str, Any] = {
    "said": units(talk(user("hi")))[0],
    "answer": units(talk(user("hi"), ai("hello")))[1],
    "calls": units(talk(user("hi"), calls("a"), result("a")))[1],
    "nothing": None,
}
ENDS = {"said": End.HUMAN, "answer": End.ANSWER, "calls": End.RESULTS}


@given(st.lists(st.tuples(st.integers(0, 6), st.lists(st.sampled_from(sorted(UNITS)), max_size=4)), max_size=6))
def test_an_open_tool_loop_is_found_in_what_is_new_as_in_the_whole(history: list[tuple[int, list[str]]]) -> None:
    growing, names = OpenLoop(), list[str]()
    for less, more in history:
        kept = max(len(names) - less, 0)
        growing.cut(kept)
        names = [*names[:kept], *more]
        printed, ends = [UNITS[name] for name in names], list[End]()
        for name in names:
            ends.append(ENDS.get(name, ends[-1] if ends else End.START))
        loop = OpenLoop().find(printed, ends)
        assert growing.find(printed, ends) == loop
        # As one would look for it by hand: the first call since the last answer without any.
        begun = max((place + 1 for place, name in enumerate(names) if name == "answer"), default=0)
        assert loop == next((place for place in range(begun, len(names)) if names[place] == "calls"), None)


def test_a_request_that_was_left_behind_is_judged_by_itself() -> None:
    conversation = talk(user("hi"), calls("a"), result("a"))
    early = render(conversation, "openai/gpt-4o")
    name = digest(early.json())
    go_on(conversation, 1)
    render(conversation, "openai/gpt-4o").verify()
    early.verify()
    assert early.digest() == name


def test_a_judge_that_was_interrupted_goes_on_as_if_nothing_had_been(monkeypatch: pytest.MonkeyPatch) -> None:
    target = resolve("openai/gpt-4o")
    rules = dialect_parts(target.dialect).ruleset
    conversation = talk(user("start"))
    for number in range(40):
        go_on(conversation, number)
    body = render(conversation, target).body
    judge = Judge(rules, target, rules.mode({}, target))
    fold = judge._fold
    seen = fold.message

    def interrupted(index: int, message: Any) -> None:
        seen(index, message)
        if index == 99:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fold, "message", interrupted)
        with pytest.raises(KeyboardInterrupt):
            judge.move_to(body["messages"], 120)
    judge.move_to(body["messages"], 120)
    assert [found for found in judge.violations({}, ()) if found.severity is Severity.REFUSED] == []
