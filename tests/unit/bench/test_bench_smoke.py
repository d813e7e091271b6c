"""The benchmarks run, and what they write can be read. How fast anything is, no test says."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import coding_agent, plain, plot, report, running, workload
from bench.cases import CASES
from bench.cases.rendering import request
from bench.figures import QUICK, Figure, Goal, Outcome, Scale, Series
from bench.measure import Samples
from legato.model import Block, ToolCall, ToolResponse
from legato.request import resolve

ROOT = Path(__file__).resolve().parents[3]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_a_quick_run_shows_a_table_and_writes_figures_page_and_plot(tmp_path: Path):
    finished = bench("--quick", "--only", "cold", "step", "sessions", "--out", str(tmp_path))

    assert finished.stdout.startswith("cold: The first render of a recorded conversation beside the floors.\n")
    assert "goals: " in finished.stdout
    found = json.loads((tmp_path / "benchmarks.json").read_bytes())
    assert list(found) == ["cold", "step", "sessions"]
    assert all(figure["value"] > 0 for case in found.values() for figure in case["figures"])
    page = (tmp_path / "benchmarks.md").read_text()
    assert page.startswith(report.BEGIN)
    assert page.endswith(f"{report.END}\n")
    assert ET.fromstring((tmp_path / "benchmarks.svg").read_text()).tag.endswith("svg")


@pytest.mark.slow
def test_a_case_alone_finds_the_same_figures():
    alone, beside = running.take_alone("store", QUICK, False), running.take("store", QUICK, False)

    assert [figure.name for figure in alone.figures] == [figure.name for figure in beside.figures]


@pytest.mark.slow
def test_a_run_of_one_case_keeps_what_was_found_in_the_others_and_the_words_around(tmp_path: Path):
    (tmp_path / "benchmarks.md").write_text(f"# Words before\n\n{report.BEGIN}\nold\n{report.END}\nWords after\n")
    bench("--quick", "--only", "replay", "--out", str(tmp_path))
    bench("--quick", "--only", "gate", "--out", str(tmp_path))

    assert list(json.loads((tmp_path / "benchmarks.json").read_bytes())) == ["gate", "replay"]
    page = (tmp_path / "benchmarks.md").read_text()
    assert page.startswith(f"# Words before\n\n{report.BEGIN}\n")
    assert page.endswith(f"{report.END}\nWords after\n")
    assert "old" not in page.split()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["record", "replay", "steady", "corrupt", "compaction", "client"])
def test_every_case_finds_something_on_little_work(name: str):
    tiny = Scale(small=20, large=100, huge=200, sessions=(2, 4), rounds=1, children=1, compaction=(2, 8_000))

    outcome = CASES[name](tiny)

    assert outcome.figures
    assert all(math.isfinite(figure.value) for figure in outcome.figures)  # what is added can be less than the noise


def test_the_plain_converter_and_legato_say_the_same_but_for_ids_and_cache_marks():
    target = resolve(workload.TARGET)
    talk = workload.recorded(workload.entries(50))
    around = (target.model, workload.SYSTEM, workload.TOOLS)

    of_entries = plain.body_of_entries(talk.entries, *around)
    of_chat = plain.body_of_chat(workload.chat_messages(50), *around)

    assert of_entries == of_chat
    expected = json.loads(json.dumps(of_entries["messages"]).replace('"call_', '"toolu_'))
    expected[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    assert request(talk, target).body["messages"] == expected


def test_the_workload_is_as_large_as_it_says():
    messages = workload.chat_messages(1_000)
    calls = messages[1]["tool_calls"]

    assert len(messages) == 1_000
    assert len(workload.entries(1_000)) == 1_000
    assert len(calls) == 3
    assert all(150 <= len(call["function"]["arguments"]) <= 250 for call in calls)
    assert all(1_800 <= len(message["content"]) <= 2_300 for message in messages if message["role"] == "tool")


@pytest.mark.parametrize("made", [coding_agent.anthropic_request, coding_agent.chat_request])
def test_a_coding_agents_request_has_eighty_kilobytes_and_shares_no_long_text_with_another(
    made: Callable[[int], dict[str, Any]],
):
    one, other = made(1), made(2)

    assert 75_000 <= len(json.dumps(one)) <= 85_000
    assert len(one["tools"]) == 24
    assert all(a != b for a, b in zip(one["tools"], other["tools"], strict=True))


def test_about_a_tenth_of_the_blocks_is_damaged_and_the_same_ones_every_time():
    def tools(blocks: list[Block]) -> set[tuple[str, str]]:
        return {(type(b).__name__, b.wire_id) for b in blocks if isinstance(b, ToolCall | ToolResponse)}

    whole = [block for entry in workload.entries(5_000) for block in entry.blocks]
    broken = [block for entry in workload.damaged(5_000) for block in entry.blocks]

    assert workload.damaged(5_000) == workload.damaged(5_000)
    # Of four kinds of damage two, a lost block and one with an id of nobody, take an id away.
    missing = len(tools(whole) - tools(broken)) / len(tools(whole))
    assert 0.035 < missing < 0.065


def test_a_ratio_is_the_median_of_the_rounds():
    taken = Samples({"one": [2.0, 30.0, 6.0], "other": [1.0, 1.0, 2.0]})

    assert taken.ratio("one", "other") == 3.0
    assert taken.median("one") == 6.0


@pytest.mark.parametrize(
    ("kind", "met", "missed"), [("at most", 2, 3), ("below", 1, 2), ("at least", 2, 1), ("above", 3, 2)]
)
def test_a_goal_is_met_or_not(kind: str, met: float, missed: float):
    goal = Goal(kind, 2)  # type: ignore[arg-type]

    assert Figure("f", met, goal=goal).verdict == "met"
    assert Figure("f", missed, goal=goal).verdict == "not met"
    assert Figure("f", missed).verdict == ""


def test_the_table_shows_value_goal_and_verdict():
    figure = Figure("render", 1.234, against="the floor", detail="5 ms / 4 ms", goal=Goal("at most", 1.5))

    assert report.table("cold", "A title.", Outcome([figure], notes=["a note"])) == (
        "cold: A title.\n  render  1.23 ×  the floor  at most 1.5 met  5 ms / 4 ms\n  (a note)\n"
    )


def test_the_plot_has_a_line_for_every_series():
    chance = random.Random(1)
    points = [(10.0**power, chance.random() + 0.1) for power in range(2, 6)]
    series = [Series("messages", name, points) for name in ("Legato", "a & b")] + [Series("turns", "c", [(200.0, 9.0)])]

    drawn = ET.fromstring(plot.plot(series))

    name = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{name}polyline")) == 3
    assert {"Legato", "a & b", "c"} <= {text.text for text in drawn.findall(f"{name}text")}


def test_the_sizes_grow_in_tens_up_to_the_largest():
    assert Scale().sizes == [100, 1_000, 10_000, 100_000]
    assert QUICK.sizes == [20, 200, 2_000]
