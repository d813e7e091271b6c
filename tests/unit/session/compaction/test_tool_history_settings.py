"""Each setting of the tool history takes effect, and settings that contradict each other are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legato.errors import ConfigError
from legato.model import CallId
from legato.model.records import CompactionKind
from legato.request import resolve, with_capabilities
from legato.request.tokens import Estimator
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.tool_history import Compaction, ToolHistory
from legato.transcript import Conversation, Exchange
from legato.world import World

from builders import ai, call, response, talk, tool, units, user

WINDOW = 100_000


def at_work(calls: int, tokens: int, *, talk_tokens: int = 0) -> Conversation:
    """One message, then `calls` calls in answers of their own, each with an output of about so many tokens."""
    entries: list[Any] = [user("Find the bug.")]
    for number in range(calls):
        entries.append(ai("word " * max(talk_tokens * 3 // 4, 1), call(f"c{number}", path=f"{number}.py")))
        entries.append(tool(response(f"c{number}", f"{number:04d} " * (tokens * 18 // 25))))
    return talk(*entries)


def make_room(conversation: Conversation, *, window: int = WINDOW, **chosen: Any) -> Compaction | None:
    async def ask() -> Compaction | None:
        target = with_capabilities(resolve("openai/gpt-4o"), window=window)
        return await ToolHistory(HistorySettings(**chosen)).make_room(conversation, target, estimator=Estimator())

    return anyio.run(ask)


def stubbed(compaction: Compaction | None) -> list[CallId | None]:
    return [] if compaction is None else [r.call for r in compaction.records if r.kind is CompactionKind.STUB]


def kinds(compaction: Compaction | None) -> set[str]:
    return set() if compaction is None else {record.kind.value for record in compaction.records}


def test_the_defaults_are_those_that_are_promised() -> None:
    assert HistorySettings() == HistorySettings(
        max_tool_history_length=6,
        truncation_threshold=10_000,
        summary_cap=500,
        summarization_model=None,
        high_mark=0.8,
        low_mark=0.5,
        cover_mark=0.3,
        ceiling=0.95,
        min_gain=0.05,
        clip_length=1_000,
    )


@pytest.mark.parametrize("page", ["compaction.md", "configuration.md"])
def test_every_setting_is_documented_with_its_default(page: str) -> None:
    text = (Path(__file__).resolve().parents[4] / "docs" / page).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", text, re.MULTILINE))
    for name in HistorySettings.__struct_fields__:
        default = getattr(HistorySettings(), name)
        told = rows[name].removesuffix(" tokens").replace(",", "")
        assert told in ("unset", "not set") if default is None else float(told) == default


@pytest.mark.parametrize("kept", [0, 2, 6])
def test_max_tool_history_length_is_how_many_of_the_newest_outputs_stay_whole(kept: int) -> None:
    conversation = at_work(20, 1_000)
    every = [call.id for call in conversation.ledger.in_order]
    assert stubbed(make_room(conversation, max_tool_history_length=kept)) == every[: 20 - kept]


def test_max_tool_history_length_decides_whether_there_is_enough_to_stub_for_a_rewrite() -> None:
    conversation = at_work(8, 2_000)
    assert make_room(conversation, max_tool_history_length=6) is None
    assert len(stubbed(make_room(conversation, max_tool_history_length=2))) == 6


def test_truncation_threshold_is_how_many_tokens_of_tool_history_may_stand_before_old_outputs_are_stubbed() -> None:
    conversation = at_work(20, 1_000)
    assert make_room(conversation, truncation_threshold=30_000) is None
    assert kinds(make_room(conversation, truncation_threshold=15_000)) == {"stub"}


@settings(max_examples=30, deadline=None)
@given(
    window=st.sampled_from([200_000, 400_000, 1_048_576, 10_000_000]),
    calls=st.integers(0, 24),
    kept=st.integers(0, 8),
    threshold=st.sampled_from([0, 1_000, 10_000]),
)
def test_the_threshold_and_the_number_of_calls_that_stay_mean_the_same_in_a_window_of_any_size(
    window: int, calls: int, kept: int, threshold: int
) -> None:
    conversation = at_work(calls, 2_000)
    every = [call.id for call in conversation.ledger.in_order]
    old = every[: max(calls - kept, 0)]
    is_due = calls * 2_000 > threshold and len(old) * 1_900 > threshold / 2

    found = stubbed(
        make_room(conversation, window=window, truncation_threshold=threshold, max_tool_history_length=kept)
    )

    assert found == (old if is_due else [])


@pytest.mark.parametrize("cap", [60, 500])
def test_summary_cap_is_how_many_tokens_a_summary_may_have(cap: int) -> None:
    compaction = make_room(at_work(100, 20, talk_tokens=900), summary_cap=cap)
    assert compaction is not None
    texts = [record.text for record in compaction.records if record.kind is CompactionKind.COVER]
    longest = max(Estimator().tokens("", text.encode()) for text in texts)
    assert cap * 0.6 < longest <= cap


def test_summarization_model_unset_asks_nobody_and_set_needs_somebody_to_ask() -> None:
    assert ToolHistory(HistorySettings()).settings.summarization_model is None
    with pytest.raises(ConfigError, match="in_world"):
        ToolHistory(HistorySettings(summarization_model="openai/gpt-4o"))
    mine = HistorySettings(summarization_model="openai/gpt-4o")
    assert ToolHistory.in_world(World(), mine).settings is mine


def test_high_mark_is_where_compaction_begins() -> None:
    conversation = at_work(60, 20, talk_tokens=1_000)
    assert make_room(conversation, high_mark=0.8) is None
    assert kinds(make_room(conversation, high_mark=0.55)) == {"cover"}


@pytest.mark.parametrize("high", [0.6, 0.8])
def test_high_mark_is_how_far_it_goes_where_what_is_spared_has_to_be_covered(high: float) -> None:
    compaction = make_room(at_work(6, 20, talk_tokens=17_000), high_mark=high)
    assert kinds(compaction) == {"cover"}
    assert compaction is not None
    assert compaction.event.before > 0.95 * WINDOW
    assert (high - 0.18) * WINDOW < compaction.event.after <= high * WINDOW


@pytest.mark.parametrize(("low", "measures"), [(0.5, {"stub"}), (0.3, {"stub", "cover"})])
def test_low_mark_is_how_far_it_goes_and_units_are_covered_only_if_stubs_do_not_get_there(
    low: float, measures: set[str]
) -> None:
    conversation = at_work(60, 800, talk_tokens=500)
    assert kinds(make_room(conversation, low_mark=low)) == measures


@pytest.mark.parametrize("low", [0.2, 0.1])
def test_a_low_mark_below_the_cover_mark_is_how_far_units_are_covered(low: float) -> None:
    compaction = make_room(at_work(100, 20, talk_tokens=900), low_mark=low)
    assert compaction is not None
    assert (low - 0.03) * WINDOW < compaction.event.after <= low * WINDOW


@pytest.mark.parametrize("mark", [0.15, 0.3, 0.45])
def test_cover_mark_is_how_far_units_are_covered_once_that_has_to_be(mark: float) -> None:
    compaction = make_room(at_work(100, 20, talk_tokens=900), cover_mark=mark)
    assert kinds(compaction) == {"cover"}
    assert compaction is not None
    assert (mark - 0.03) * WINDOW < compaction.event.after <= mark * WINDOW


def test_ceiling_is_where_even_the_newest_outputs_are_shortened() -> None:
    conversation = at_work(6, 15_000)
    before = 6 * 15_000
    assert before < 0.95 * WINDOW
    assert make_room(conversation, ceiling=0.95) is None
    compaction = make_room(conversation, ceiling=0.85)
    assert kinds(compaction) == {"clip"}
    assert compaction is not None
    assert compaction.event.after <= 0.85 * WINDOW
    assert compaction.excess == 0


def test_above_the_ceiling_nothing_is_sent() -> None:
    conversation = talk(user("word " * 65_000))
    assert make_room(conversation, ceiling=0.95) is None
    compaction = make_room(conversation, ceiling=0.85)
    assert compaction is not None
    assert 0 < compaction.excess == compaction.event.after - round(0.85 * WINDOW)


def test_min_gain_is_what_a_rewrite_has_to_free() -> None:
    conversation = at_work(14, 6_000)  # above the high mark; stubs of eight outputs free less than half of the window
    assert make_room(conversation, min_gain=0.7) is None
    assert kinds(make_room(conversation, min_gain=0.1)) == {"stub"}


def test_min_gain_also_holds_for_the_threshold_where_it_asks_for_less() -> None:
    conversation = at_work(8, 2_000)  # two old outputs: less than half of the threshold
    assert make_room(conversation, min_gain=0.05) is None
    assert kinds(make_room(conversation, min_gain=0.02)) == {"stub"}


@pytest.mark.parametrize(("least", "measures"), [(0.01, {"clip"}), (0.2, {"clip", "stub"})])
def test_min_gain_is_freed_also_where_the_ceiling_forces_it(least: float, measures: set[str]) -> None:
    conversation = at_work(6, 16_500)
    compaction = make_room(conversation, min_gain=least, clip_length=14_000)
    assert kinds(compaction) == measures
    assert compaction is not None
    assert compaction.event.before > 0.95 * WINDOW
    assert compaction.event.before - compaction.event.after >= least * WINDOW


@pytest.mark.parametrize("length", [200, 2_000])
def test_clip_length_is_what_is_left_of_an_output_that_the_ceiling_forces_to_be_clipped(length: int) -> None:
    conversation = at_work(6, 17_000)
    compaction = make_room(conversation, clip_length=length)
    assert compaction is not None
    clipped = [r.text for r in compaction.records if r.kind is CompactionKind.CLIP]
    assert len(clipped) == 5  # the last unit stays as it is
    for text in clipped:
        assert length * 0.7 < Estimator().tokens("", text.encode()) < length * 1.3


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"low_mark": 0.9}, "low_mark"),
        ({"high_mark": 0.96}, "high_mark"),
        ({"ceiling": 1.2}, "ceiling"),
        ({"low_mark": 0.0}, "low_mark"),
        ({"cover_mark": -0.1}, "cover_mark"),
        ({"cover_mark": 1.1}, "cover_mark"),
        ({"min_gain": 0.9}, "min_gain"),
        ({"min_gain": -0.1}, "min_gain"),
        ({"max_tool_history_length": -1}, "max_tool_history_length"),
        ({"truncation_threshold": -1}, "truncation_threshold"),
        ({"summary_cap": 10}, "summary_cap"),
        ({"clip_length": 0}, "clip_length"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        HistorySettings(**settings)


def test_a_stub_keeps_the_place_and_the_id_of_its_call() -> None:
    conversation = at_work(20, 1_000)
    before = [unit for unit in units(conversation) if isinstance(unit, Exchange)]
    compaction = make_room(conversation)
    assert compaction is not None
    conversation.apply(conversation.prepare(compaction.records))
    after = [unit for unit in units(conversation, WINDOW) if isinstance(unit, Exchange)]
    assert [unit.blocks for unit in after] == [unit.blocks for unit in before]
    assert [d.call_id for unit in after for d in unit.completions] == [d.call_id for u in before for d in u.completions]
