"""The campaign of damaged answers: a case can be repeated, a poisoned one is seen, and the next campaign can go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import poisoning
from legato import Conversation
from poisoning import try_case

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "fuzz_answers.py"


def test_a_case_is_the_same_each_time() -> None:
    assert [try_case(7, index, recorded=False) for index in range(30)] == [
        try_case(7, index, recorded=False) for index in range(30)
    ]


def test_most_damaged_answers_are_still_read() -> None:
    read = [try_case(7, index, recorded=False).is_read for index in range(100)]
    assert 50 < sum(read) < 100


def test_a_conversation_that_cannot_be_rendered_counts_as_poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(conversation: Conversation, *args: object, **options: object) -> object:
        if len(conversation) > 1:
            raise KeyError("type")
        return render(conversation, *args, **options)  # type: ignore[arg-type]

    render = poisoning.render
    monkeypatch.setattr(poisoning, "render", broken)
    outcomes = [try_case(7, index, recorded=False) for index in range(40)]
    assert any("sent to" in outcome.fault and "KeyError" in outcome.fault for outcome in outcomes)


@pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")
def test_a_campaign_says_how_to_go_on() -> None:
    command = [sys.executable, str(SCRIPT), "--seed=7", "--start=40", "--cases=20", "--workers=1", "--own"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    first, *_, counted, following = done.stdout.splitlines()
    assert first == "fuzz: damaged answers: seed 7, from case 40 on, made from our own answers"
    assert counted.startswith("fuzz: damaged answers: 20 tried, ")
    assert counted.endswith(" 0 poisoned")
    assert following == "fuzz: damaged answers: to go on, FUZZ_SEED=7 FUZZ_START=60"
