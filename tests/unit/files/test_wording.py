"""What was decided is told in words of people: each kind once, and none that nothing decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from legato.files.wording import _TOLD, in_words
from legato.model import Action, Decision, Fault

ROOT = Path(__file__).resolve().parents[3]
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "legato").rglob("*.py"))


def decided(action: Action, reason: str) -> Decision:
    return Decision(action, reason, Fault.RENDERING)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (decided(Action.INSERTED, "tail"), "a last message of the human side put in"),
        (decided(Action.DEDUPED, "duplicate-tool"), "a second definition of a tool left out"),
        (decided(Action.DEDUPED, "something-new"), "something new left out, as it is there already"),
        (decided(Action.DROPPED, "extra-fields"), "extra fields left out"),
        (decided(Action.MATCHED, "matched-by-place"), "matched by place"),
        (decided(Action.RENAMED, "tool-name"), "tool name renamed"),
    ],
)
def test_a_decision_is_told_in_words(decision: Decision, words: str) -> None:
    assert list(in_words([decision])) == [words]


def test_each_kind_is_told_once_and_closed_calls_come_first() -> None:
    closed = [decided(Action.CLOSED, reason) for reason in ("interrupted", "missing-in-import")]
    tails = [decided(Action.INSERTED, "tail")] * 2
    assert list(in_words([*tails, *closed])) == [
        "2 calls without a result closed",
        "a last message of the human side put in (2 times)",
    ]


@pytest.mark.parametrize("reason", sorted({reason for _, reason in _TOLD}))
def test_there_are_words_only_for_what_is_decided_somewhere(reason: str) -> None:
    assert SOURCES.count(f'"{reason}"') > sum(known == reason for _, known in _TOLD)
