"""What `make frameworks` rests on, without any framework: the pins, the damages, the verdicts, the page of the record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from legato.simulation import SimulatedWorld
from legato.transport.contract import Ask
from scripts.frameworks.damages import TOLD, Damage, Role, damaged
from scripts.frameworks.installing import LOCKS, cache, lock_of, version_in
from scripts.frameworks.judging import Judged, Verdict, judged
from scripts.frameworks.results import (
    FAMILIES,
    FRAMEWORKS,
    PAGE,
    RECORD,
    Cell,
    Journey,
    Record,
    Title,
    page,
    read,
    summary,
    table,
)
from scripts.frameworks.stage import ROOT, Played
from scripts.frameworks.tool import FILES

EACH = pytest.mark.parametrize("title", FRAMEWORKS, ids=lambda title: title.player)


@EACH
def test_every_package_of_a_framework_is_pinned_by_its_digest_and_no_host_is_named(title: Title) -> None:
    name, player, package, example = title
    lock = lock_of(player).read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z0-9._-]+(?:\[[a-z,]+\])?==.*$", lock, re.MULTILINE)
    assert len(pins) > 20
    assert [pin for pin in pins if not pin.endswith("\\")] == []  # a digest follows
    assert "://" not in lock
    assert re.fullmatch(r"\d+\.\d+\.\d+", version_in(player, package))
    assert (ROOT / "examples" / "frameworks" / example).exists(), name


def test_every_lock_has_a_player_and_what_it_was_made_of() -> None:
    players = {title.player for title in FRAMEWORKS}
    assert {path.stem for path in LOCKS.glob("*.txt")} == {path.stem for path in LOCKS.glob("*.in")} == players


def test_a_framework_is_installed_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEGATO_FRAMEWORKS_CACHE", str(tmp_path))
    assert cache() == tmp_path


@pytest.mark.parametrize(
    ("damage", "after"),
    [
        (Damage.NONE, ["said", "answer", "result 1", "result 2", "answer"]),
        (Damage.MISSING, ["said", "answer", "result 2", "answer"]),
        (Damage.LATE, ["said", "answer", "result 2", "answer", "result 1"]),
        (Damage.DUPLICATE, ["said", "answer", "result 1", "result 2", "result 1 again", "answer"]),
        (Damage.CANCELLED, ["said", "answer"]),
        (Damage.TRIMMED, ["result 1", "result 2", "answer"]),
    ],
)
def test_a_damage_is_what_it_is_called(damage: Damage, after: list[str]) -> None:
    history = ["said", "answer", "result 1", "result 2", "answer"]
    made = damaged(history, damage, role=lambda one: Role(one.split()[0]), twin=lambda one: f"{one} again")
    assert made == after
    assert set(TOLD) == set(Damage)


def asked(*results: str) -> Played:
    """A request with a call for each result, as a provider saw it."""
    calls = [
        {"id": f"call_{at}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for at, _ in enumerate(results)
    ]
    messages: list[Any] = [{"role": "user", "content": "go"}]
    if calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages += [{"role": "tool", "tool_call_id": f"call_{at}", "content": one} for at, one in enumerate(results)]
    world = SimulatedWorld()
    body = json.dumps({"model": "gpt-4.1", "messages": messages}).encode()
    ask = Ask(method="POST", path="/v1/chat/completions", headers={}, body=body)
    world.reply(world.provider("openai"), ask)
    return Played({}, world.requests)


def test_an_answer_counts_only_if_the_model_was_told_what_tools_returned() -> None:
    both = tuple(FILES.values())
    assert judged(asked(*both), Damage.LATE) == Judged(Verdict.ANSWERED)
    assert judged(asked(both[1]), Damage.LATE) == Judged(Verdict.LOST, f"not told: {both[0]}")
    assert judged(asked(both[1]), Damage.MISSING) == Judged(Verdict.ANSWERED)
    assert judged(asked(), Damage.CANCELLED) == Judged(Verdict.ANSWERED)
    assert judged(Played({"error": "ValueError: no\nmore"}, []), Damage.LATE) == Judged(
        Verdict.RAISED, "ValueError: no"
    )


def test_the_table_shows_the_worst_of_all_sources_without_and_with_legato() -> None:
    fine, bad = Judged(Verdict.ANSWERED), Judged(Verdict.REFUSED, "no", "mistral/id-form")
    cell = Cell.of("Any", Damage.FOREIGN_ID, "mistral", [fine, bad], [fine, fine])
    record = Record("2026-01-01", True, {"Any": "1.2.3"}, [cell], [])
    assert [line for line in table(record) if "foreign id" in line] == [
        "| Any | foreign id |  |  |  |  | refused → ok |"
    ]
    assert summary(record) == "1/1 with Legato, 0/1 without"
    assert record.is_clean


@pytest.mark.parametrize("broken", [{"error": "RuntimeError: no"}, {"refusals": ["mistral: no"]}])
def test_what_only_one_framework_has_fails_the_run_and_is_told(broken: dict[str, Any]) -> None:
    whole, streamed = (Journey("Any", about, True, 4, []) for about in ("3 turns", "3 turns streamed"))
    own = Journey("Any", "its store", True, 2, [], is_own=True)
    record = Record("2026-01-01", True, {"Any": "1.2.3"}, [], [whole, streamed, own])
    assert record.is_clean
    assert "- Any: its store (2 requests, none refused)." in page(record, "").splitlines()
    bad = msgspec.structs.replace(own, **broken)
    failed = Record("2026-01-01", True, {"Any": "1.2.3"}, [], [whole, streamed, bad])
    assert not failed.is_clean
    told = "it failed" if bad.error else "1 refused"
    assert f"- Any: its store (2 requests, {told})." in page(failed, "").splitlines()
    cut = msgspec.structs.replace(streamed, refusals=["gemini: no"])
    assert not Record("2026-01-01", True, {"Any": "1.2.3"}, [], [whole, cut, own]).is_clean


@pytest.mark.skipif(not RECORD.exists(), reason="the documentation is not here")
def test_the_page_says_what_the_newest_run_found() -> None:
    record = read()
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(record, text)
    assert record.is_clean
    assert record.versions == {title.name: version_in(title.player, title.package) for title in FRAMEWORKS}
    assert {cell.damage for cell in record.cells} == set(Damage)
    assert {cell.family for cell in record.cells} == set(FAMILIES)
    assert {one.framework for one in record.journeys if one.about.endswith("turns streamed")} == set(record.versions)
    assert {one.framework for one in record.journeys if one.is_own} == {"LangChain", "OpenAI Agents SDK", "LiteLLM"}
