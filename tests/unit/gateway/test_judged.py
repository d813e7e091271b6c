"""What a client says is judged request by request; the properties say that it is judged as all of it at once."""

from __future__ import annotations

from typing import Any

from legato.gateway.judged import SaidJudge, shared_beginning
from legato.request import resolve

CLAUDE = resolve("anthropic/claude-sonnet-4-5")
HI: Any = {"role": "user", "content": "hi"}
SAID: Any = {"model": "claude-sonnet-4-5", "max_tokens": 1, "messages": [HI], "tools": []}


def test_fields_that_are_equal_to_python_alone_are_judged_again():
    judge = SaidJudge()
    assert [bool(judge.refusals({**SAID, "max_tokens": limit}, CLAUDE)) for limit in (1, True, 1)] == [
        False,
        True,
        False,
    ]


def test_a_message_counts_as_known_only_if_it_is_the_same_as_json():
    known: list[Any] = [{"n": 1}, {"n": 2}]
    assert shared_beginning(known, [{"n": 1}, {"n": 3}, {"n": 2}]) == 1
    assert shared_beginning(known, [{"n": True}, {"n": 2}]) == 0
    assert shared_beginning(known, [{"n": 1}, {"n": 2.0}]) == 0
    assert shared_beginning(known, []) == 0


def test_a_conversation_that_moves_to_another_model_is_judged_by_the_rules_for_that():
    judge = SaidJudge()
    prefilled = {**SAID, "messages": [HI, {"role": "assistant", "content": "I"}]}
    targets = [CLAUDE, resolve("anthropic/claude-3-5-sonnet-latest"), CLAUDE]
    assert [bool(judge.refusals(prefilled, target)) for target in targets] == [True, False, True]
