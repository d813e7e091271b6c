"""What holds for every log, however corrupt, before any dialect speaks."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from msgspec.structs import replace

from legato.ledger import Ledger
from legato.model import Entry, Record, Speaker, Text, ToolCall, ToolResponse
from legato.model.codec import decode_record, encode_record
from legato.model.records import Compacted, Recorded, Restored, Rewound
from legato.transcript import Conversation, Exchange, Said, Summary

from builders import talk, units
from strategies import entries, interleaved, logs, restarting

News = list[Entry | Record]


def exchanges(conversation: Conversation) -> list[Exchange]:
    return [unit for unit in units(conversation) if isinstance(unit, Exchange)]


@given(interleaved())
@pytest.mark.req("REQ-915-006", "REQ-915-007", "REQ-915-009", "REQ-915-011", "REQ-915-028")
def test_every_call_has_one_completion_and_every_completion_one_earlier_call(news: News) -> None:
    conversation = talk(*news)
    seen: Counter[str] = Counter()
    for unit in exchanges(conversation):
        assert [call.id for call in unit.calls] == [done.call_id for done in unit.completions]
        seen.update(call.id for call in unit.calls)
    assert all(count == 1 for count in seen.values())


@given(logs())
@pytest.mark.req("REQ-915-008", "REQ-915-012")
def test_no_real_completion_is_lost_or_altered(news: list[Entry]) -> None:
    conversation = talk(*news)
    emitted = {done.call_id: done for unit in exchanges(conversation) for done in unit.completions}
    quoted = "\n".join(getattr(b, "text", "") for u in units(conversation) if isinstance(u, Said) for b in u.blocks)
    for call in conversation.ledger.calls.values():
        response = call.response
        if response is None or response.reason is not None:
            continue
        if call.id in conversation.ledger.orphans and not call.name:
            assert "[Result of a tool call that is not in this conversation]" in quoted
            continue
        done = emitted[call.id]
        assert (done.result, done.error, done.media) == (response.result, response.error, response.media)


@given(restarting())
@pytest.mark.req("REQ-915-006")
def test_no_result_stands_at_another_call_than_its_own(history: list[Entry]) -> None:
    conversation = talk(*history)
    asked = [call.arguments["path"] for entry in history for call in entry.calls]
    given = [block.result for entry in history for block in entry.blocks if isinstance(block, ToolResponse)]
    pairs: list[tuple[object, object]] = []
    quoted: list[object] = []
    for unit in units(conversation):
        if isinstance(unit, Exchange):
            pairs += [
                (call.arguments.get("path"), done.result)
                for call, done in zip(unit.calls, unit.completions, strict=True)
            ]
        elif isinstance(unit, Said):
            said = [block.text for block in unit.blocks if isinstance(block, Text)]
            quoted += [text.partition("\n")[2] for text in said if "\n" in text]
    alone = [*quoted, *(value for path, value in pairs if path is None)]
    assert [pair for pair in pairs if pair[0] is not None] == [(path, path) for path in asked]
    assert sorted(map(str, alone)) == sorted(map(str, set(given) - set(asked)))


@given(logs())
def test_every_response_is_the_effective_one_or_dropped_with_a_rationale(news: list[Entry]) -> None:
    conversation = talk(*news)
    responses = sum(
        isinstance(block, ToolResponse) and bool(block.error is not None or block.reason or block.is_complete
                                                 or block.result is not None or block.media)
        for entry in conversation.entries
        for block in entry.blocks
    )  # fmt: skip
    calls = conversation.ledger.calls.values()
    assert responses == sum(call.response is not None for call in calls) + sum(len(call.dropped) for call in calls)


@given(interleaved())
@pytest.mark.req("REQ-915-010")
def test_composing_twice_gives_equal_units_and_changes_nothing(news: News) -> None:
    conversation = talk(*news)
    before = [encode_record(record) for record in conversation.log]
    once = units(conversation)
    assert units(conversation) == once
    assert units(conversation.copy()) == once
    assert [encode_record(record) for record in conversation.log] == before


@given(interleaved())
@pytest.mark.req("REQ-915-046")
def test_replay_equals_live(news: News) -> None:
    conversation = talk(*news)
    assert Ledger.replay(conversation.log) == conversation.ledger
    stored = [decode_record(encode_record(record)) for record in conversation.log]
    again = Conversation(stored)
    assert again.ledger == conversation.ledger
    assert units(again) == units(conversation)


@given(interleaved(), entries())
def test_what_is_minted_after_a_replay_is_what_would_have_been_minted_live(news: News, more: Entry) -> None:
    live = talk(*news)
    replayed = Conversation(live.log)
    assert live.record(more) == replayed.record(more)


@given(interleaved())
def test_composing_step_by_step_equals_composing_at_once(news: News) -> None:
    growing = Conversation()
    view = growing.view(100_000)
    for length, item in enumerate(news, start=1):
        growing.apply(growing.prepare([item]))
        view.refresh()
        assert list(view.units()) == units(talk(*news[:length]), 100_000)


@given(logs())
@pytest.mark.req("REQ-915-009", "REQ-915-010")
def test_recording_the_same_completions_twice_changes_no_unit(news: list[Entry]) -> None:
    conversation = talk(*news)
    before = units(conversation)
    settled = [call for call in conversation.ledger.calls.values() if call.response and not call.response.synthetic]
    for call in settled:
        assert call.response is not None
        conversation.record(
            Entry(Speaker.TOOL, (replace(call.response, call_id=call.id, guessed=False, displaces=None),))
        )
    assert [u for u in units(conversation) if isinstance(u, Exchange)] == [u for u in before if isinstance(u, Exchange)]


@given(interleaved())
def test_ordinals_are_unique_and_in_order_and_ids_too(news: News) -> None:
    ledger = talk(*news).ledger
    ordinals = [call.ordinal for call in ledger.in_order]
    assert ordinals == list(range(len(ordinals)))
    assert len({call.id for call in ledger.in_order}) == len(ordinals)


@given(interleaved())
def test_a_later_view_extends_an_earlier_one_or_names_the_first_place_that_changed(news: News) -> None:
    conversation = Conversation()
    view = conversation.view(100_000)
    for item in news:
        before = [view.unit(place) for place in range(len(view.slots))]
        cursor = len(view.changes)
        conversation.apply(conversation.prepare([item]))
        view.refresh()
        after = [view.unit(place) for place in range(len(view.slots))]
        named = view.changes[cursor:]
        for place, unit in enumerate(before):
            if place >= len(after) or after[place] != unit:
                assert any(change.place == place or (change.shifts and change.place <= place) for change in named)


@given(interleaved())
def test_summaries_stand_only_where_a_compaction_that_holds_put_them(news: News) -> None:
    conversation = talk(*news)
    held = [record for record in conversation.composer.compactions.values() if record.window >= 100_000]
    summaries = [unit for unit in units(conversation, 100_000) if isinstance(unit, Summary)]
    assert len(summaries) <= len(held)
    has_undo = any(isinstance(item, Compacted | Restored | Rewound) for item in news)
    if not has_undo:
        assert units(conversation, 100_000) == units(conversation, 0)


@given(logs())
def test_calls_stay_with_their_answer_in_their_order(news: list[Entry]) -> None:
    conversation = talk(*news)
    emitted = [call.ordinal for unit in exchanges(conversation) for call in unit.calls]
    if all(entry.answer is None for entry in news):
        assert emitted == sorted(emitted)


@given(logs())
def test_every_recorded_record_is_an_entry_with_minted_ids(news: list[Entry]) -> None:
    for record in talk(*news).log:
        assert isinstance(record, Recorded)
        for block in record.entry.blocks:
            if isinstance(block, ToolCall):
                assert block.id.startswith("hist_tool_")
                assert block.ordinal >= 0
            if isinstance(block, ToolResponse):
                assert block.call_id.startswith("hist_tool_")
