"""When a conversation is compacted, what of it, and what becomes of it afterwards."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from legato.model import (
    Action,
    ClosureReason,
    Decision,
    Entry,
    JsonObject,
    Media,
    MediaKind,
    Options,
    OutputFormat,
    Record,
    Target,
    ToolResponse,
    ToolSpec,
    recognise_closure,
)
from legato.model.records import (
    Asked,
    Compacted,
    CompactionKind,
    Imported,
    Opened,
    Restored,
    Rewound,
    Started,
    StepBegan,
)
from legato.request import render, resolve, with_capabilities
from legato.request.render_cache import RenderCache
from legato.request.tokens import Estimator
from legato.session.compaction.gauge import TokenGauge
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.tool_history import Compaction, ToolHistory
from legato.transcript import Conversation, Exchange, Said, Summary, Unit, View, completion_text
from legato.wire import assembly
from legato.wire.assembly import encode_json
from legato.wire.findings import Severity
from legato.wire.phrases import EMBEDDED_RESULT

from builders import ROUTES, ai, call, calls, decisions, response, result, talk, tool, units, user

WINDOW = 20_000
NATIVE, EMBEDDED = "openai-responses/gpt-5.1", "vercel-gateway/openai/gpt-5.1"


def target(route: str = "openai/gpt-4o", window: int = WINDOW) -> Target:
    return with_capabilities(resolve(route), window=window)


def turns(count: int, *, tokens: int = 500, start: int = 0) -> list[Entry]:
    """So many turns of a message, a call, its output and an answer."""
    news: list[Entry] = []
    for number in range(start, start + count):
        wire_id = f"t{number}"
        news += [
            user(f"Question {number}?"),
            ai("Looking.", call(wire_id, path=f"{number}.py")),
            tool(response(wire_id, f"line {number}\n" * (tokens * 3 // 8))),
            ai(f"Answer {number}."),
        ]
    return news


def add(conversation: Conversation, *news: Entry | Record) -> None:
    conversation.apply(conversation.prepare(news))


def asked(
    conversation: Conversation,
    where: Target | None = None,
    *,
    history: ToolHistory | None = None,
    take: bool = True,
    **more: Any,
) -> Compaction | None:
    """What `make_room` says; what it says is applied."""

    async def ask() -> Compaction | None:
        return await (history or ToolHistory()).make_room(
            conversation, where or target(), estimator=more.pop("estimator", Estimator()), **more
        )

    compaction = anyio.run(ask)
    if take and compaction is not None:
        add(conversation, *compaction.records)
    return compaction


def seen(conversation: Conversation, window: int = WINDOW) -> list[Unit]:
    return units(conversation, window)


def summaries(conversation: Conversation, window: int = WINDOW) -> list[Summary]:
    return [unit for unit in seen(conversation, window) if isinstance(unit, Summary)]


def kinds(compaction: Compaction | None) -> list[str]:
    return [] if compaction is None else sorted({record.kind.value for record in compaction.records})


# --- when -------------------------------------------------------------------------------------------------------------


def test_a_conversation_with_room_is_left_alone() -> None:
    conversation = talk(*turns(10))
    assert asked(conversation) is None
    assert asked(Conversation()) is None


def test_above_the_high_mark_old_outputs_are_stubbed_and_if_that_is_enough_nothing_is_covered() -> None:
    conversation = talk(*turns(12, tokens=1_500))
    compaction = asked(conversation)
    assert kinds(compaction) == ["stub"]
    assert compaction is not None
    assert compaction.event.before > 0.8 * WINDOW
    assert compaction.event.after <= 0.5 * WINDOW
    assert summaries(conversation) == []


def test_where_stubs_are_not_enough_whole_units_are_covered_oldest_first_down_to_the_low_mark() -> None:
    conversation = talk(*turns(200, tokens=60))
    compaction = asked(conversation)
    assert compaction is not None
    assert compaction.event.after <= 0.5 * WINDOW
    assert isinstance(seen(conversation)[0], Summary)
    assert len(summaries(conversation)) == 1
    assert seen(conversation)[-1] == units(talk(*turns(200, tokens=60)))[-1]


def test_after_a_compaction_there_is_nothing_to_do_until_the_high_mark_is_passed_again() -> None:
    conversation = talk(*turns(200, tokens=60))
    history = ToolHistory()
    rewrites = 0
    assert asked(conversation, history=history) is not None
    for number in range(200, 260):
        assert asked(conversation, history=history) is None or number > 230
        add(conversation, *turns(1, tokens=60, start=number))
        rewrites += asked(conversation, history=history) is not None
    assert rewrites <= 2


def test_the_threshold_stubs_outputs_in_large_steps_though_the_window_has_room() -> None:
    conversation = Conversation()
    history = ToolHistory()
    wide = target(window=200_000)
    done: list[Compaction] = []
    for number in range(100):
        add(conversation, *turns(1, tokens=1_000, start=number))
        compaction = asked(conversation, wide, history=history)
        if compaction is not None:
            done.append(compaction)
    assert {kind for compaction in done for kind in kinds(compaction)} == {"stub"}
    assert all(compaction.event.before - compaction.event.after >= 10_000 / 2 for compaction in done)
    assert 5 <= len(done) <= 100_000 / (10_000 / 2)


def test_what_stands_around_the_units_counts() -> None:
    conversation = talk(*turns(90, tokens=60))
    assert asked(conversation, take=False) is None
    tools = [ToolSpec("huge", "word " * 10_000)]
    assert asked(conversation, take=False, tools=tools) is not None
    assert asked(conversation, take=False, system="word " * 10_000) is not None
    schema: JsonObject = {"type": "object", "description": "word " * 10_000}
    assert asked(conversation, take=False, options=Options(output=OutputFormat(schema))) is not None


@pytest.mark.parametrize("route", [*ROUTES, EMBEDDED])
def test_what_is_measured_is_what_would_be_sent(route: str) -> None:
    conversation = talk(*turns(50, tokens=60), calls("a", "b", "c"), result("b", error="it broke"), user("And now?"))
    where = target(route, window=1_000_000)
    gauge = TokenGauge(conversation, where)
    gauge.refresh(Estimator())
    measured = gauge.total + gauge.head_tokens((), "")
    sent = Estimator().tokens(where.route, render(conversation, where).json())
    assert 0.97 < measured / sent < 1.03


def test_the_estimate_follows_what_the_provider_counted() -> None:
    conversation = talk(*turns(90, tokens=60))
    estimator = Estimator()
    history = ToolHistory()
    assert asked(conversation, history=history, estimator=estimator, take=False) is None
    estimator.observe("openai/gpt-4o", 1_000, 600)
    assert asked(conversation, history=history, estimator=estimator, take=False) is not None


def test_an_exact_tokenizer_is_asked_instead_of_counting_bytes() -> None:
    conversation = talk(*turns(90, tokens=60))
    assert asked(conversation, estimator=Estimator(len), take=False) is not None
    assert asked(talk(*turns(300, tokens=60)), estimator=Estimator(lambda data: len(data) // 50), take=False) is None


def test_asking_costs_what_is_new_and_not_what_the_conversation_has_become(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = talk(*turns(300, tokens=20))
    history = ToolHistory()
    wide = target(window=1_000_000)
    assert asked(conversation, wide, history=history) is None
    counted: list[int] = []
    add(conversation, *turns(1, start=300))
    estimator = Estimator(lambda data: counted.append(1) or len(data) // 4)
    assert asked(conversation, wide, history=history, estimator=estimator) is None
    assert len(counted) < 15


@pytest.mark.parametrize("route", ROUTES)
def test_what_was_measured_is_not_printed_or_encoded_again_for_the_request(
    route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = talk(*turns(20, tokens=20))
    where = target(route, window=1_000_000)
    gauge = TokenGauge(conversation, where)
    render(conversation, where)  # the head is encoded once
    encoded_again: list[object] = []
    for number in range(20, 24):
        add(conversation, *turns(1, start=number))
        gauge.refresh(Estimator())
        [encoded] = RenderCache.of(conversation)._encoded.values()
        before = encoded.units_encoded
        with monkeypatch.context() as patch:
            patch.setattr(assembly, "encode_json", lambda value: encoded_again.append(value) or encode_json(value))
            render(conversation, where).json()
        assert encoded.units_encoded == before
        assert encoded_again == []
        assert list(RenderCache.of(conversation)._encoded.values()) == [encoded]


@pytest.mark.parametrize("route", ROUTES)
def test_each_new_call_is_encoded_once_in_a_step_whoever_asks_for_it(route: str) -> None:
    conversation = talk(*turns(20, tokens=20))
    where = target(route, window=1_000_000)
    gauge = TokenGauge(conversation, where)
    render(conversation, where)
    [encoded] = RenderCache.of(conversation)._encoded.values()
    shapes: Any = encoded.encoder._shapes
    encode_call, seen = shapes.call, list[str]()
    shapes.call = lambda wire_id, name, call: seen.append(wire_id) or encode_call(wire_id, name, call)
    for number in range(20, 24):
        add(conversation, *turns(1, start=number))
        gauge.refresh(Estimator())
        request = render(conversation, where)
        request.verify()
        request.json()
        request.digest()
    assert len(seen) == 4
    assert len(set(seen)) == 4


def test_an_overflow_frees_a_real_part_or_nothing_is_done() -> None:
    conversation = talk(*turns(40, tokens=60))
    assert asked(conversation, take=False) is None
    compaction = asked(conversation, overflowed=True)
    assert compaction is not None
    assert compaction.event.after <= compaction.event.before * 0.75
    assert asked(talk(user("Hello " * 300)), overflowed=True) is None


def test_an_overflow_of_one_huge_output_clips_that_output() -> None:
    conversation = talk(user("Read it."), calls("a"), result("a", "word " * 30_000))
    compaction = asked(conversation, overflowed=True)
    assert kinds(compaction) == ["clip"]
    assert compaction is not None
    assert compaction.excess == 0
    [unit] = [unit for unit in seen(conversation) if isinstance(unit, Exchange)]
    assert "characters are left out here" in completion_text(unit.completions[0])


def test_an_output_that_fills_the_window_is_clipped_before_older_things_are_lost() -> None:
    conversation = talk(*turns(10, tokens=100), user("Now this."), calls("big"), result("big", "word " * 30_000))
    compaction = asked(conversation)
    assert compaction is not None
    assert compaction.excess == 0
    assert "cover" not in kinds(compaction)
    assert CompactionKind.CLIP in {record.kind for record in compaction.records}


def test_what_cannot_be_shortened_is_said_to_be_too_long() -> None:
    conversation = talk(*turns(3), user("word " * 40_000))
    compaction = asked(conversation)
    assert compaction is not None
    assert compaction.excess == compaction.event.after - round(0.95 * WINDOW)
    assert compaction.excess > 0
    assert "too long" in compaction.event.detail
    again = asked(talk(user("word " * 40_000)), take=False)
    assert again is not None
    assert again.records == ()
    assert again.event.first_unit == -1


def test_compact_now_covers_all_that_is_not_spared_even_where_there_is_room() -> None:
    conversation = talk(*turns(30, tokens=60))

    async def compact() -> Compaction | None:
        return await ToolHistory().compact_now(conversation, target(), estimator=Estimator())

    compaction = anyio.run(compact)
    assert compaction is not None
    add(conversation, *compaction.records)
    first, *rest = seen(conversation)
    assert isinstance(first, Summary)
    assert sum(len(unit.completions) for unit in rest if isinstance(unit, Exchange)) == 6
    assert anyio.run(compact) is None


# --- what is spared ---------------------------------------------------------------------------------------------------


def test_the_newest_calls_and_the_newest_message_are_spared() -> None:
    conversation = talk(*turns(200, tokens=60))
    asked(conversation, history=ToolHistory(HistorySettings(low_mark=0.01)))
    shown = [done for unit in seen(conversation) if isinstance(unit, Exchange) for done in unit.completions]
    assert [done.shortened for done in shown[-6:]] == [None] * 6
    assert [unit.blocks[0].text for unit in seen(conversation) if isinstance(unit, Said)][-1] == "Question 199?"  # type: ignore[union-attr]


def test_in_a_long_turn_its_message_stays_while_its_older_steps_are_covered() -> None:
    steps: list[Entry] = []
    for number in range(200):
        steps += [ai("Going on.", call(f"s{number}", path=f"{number}.py")), tool(response(f"s{number}", "word " * 60))]
    conversation = talk(*turns(5), user("Do all of it."), *steps)
    asked(conversation)
    shape = [type(unit).__name__ for unit in seen(conversation)]
    assert shape[:4] == ["Summary", "Said", "Summary", "Exchange"]


def test_a_call_in_flight_stays_and_what_is_older_and_newer_is_covered() -> None:
    conversation = talk(Opened(incarnation=1), *turns(60, tokens=60))
    running = conversation.record(calls("slow"))
    add(conversation, Started(call=running.calls[0].id), *turns(140, tokens=60, start=60))
    asked(conversation, history=ToolHistory(HistorySettings(low_mark=0.1)))
    assert [type(unit).__name__ for unit in seen(conversation)][:3] == ["Summary", "Exchange", "Summary"]
    assert any(done.call_id == running.calls[0].id for done in exchange_at(conversation, 1).completions)


def test_a_question_that_waits_for_its_answer_stays() -> None:
    conversation = talk(Opened(incarnation=1), *turns(60, tokens=60))
    waiting = conversation.record(calls("risky"))
    add(conversation, Asked(call=waiting.calls[0].id, digest="d"), Opened(incarnation=2))
    add(conversation, *turns(140, tokens=60, start=60))
    history = ToolHistory(HistorySettings(low_mark=0.01, high_mark=0.02, ceiling=0.03, min_gain=0.0))
    asked(conversation, history=history)
    assert any(done.call_id == waiting.calls[0].id for done in exchange_at(conversation, 1).completions)


def test_an_old_call_that_nobody_answered_blocks_nothing_and_goes_last() -> None:
    conversation = talk(*turns(60, tokens=60), calls("lost"), *turns(140, tokens=60, start=60))
    lost = conversation.ledger.in_order[60].id
    asked(conversation)
    assert len(summaries(conversation)) >= 1
    assert any(done.call_id == lost for unit in seen(conversation) for done in getattr(unit, "completions", ()))
    asked(conversation, history=ToolHistory(HistorySettings(low_mark=0.01, high_mark=0.02, ceiling=0.03, min_gain=0.0)))
    assert not any(done.call_id == lost for unit in seen(conversation) for done in getattr(unit, "completions", ()))
    assert "no result (no-result-recorded)" in "".join(summary.text for summary in summaries(conversation))


def test_a_batch_of_calls_is_covered_whole_or_not_at_all() -> None:
    batches: list[Entry] = []
    for number in range(40):
        names = [f"{letter}{number}" for letter in "abcdefgh"]
        batches += [calls(*names), *(result(name, "word " * 60) for name in names)]
    conversation = talk(user("Go."), *batches)
    asked(conversation)
    for unit in seen(conversation):
        if isinstance(unit, Exchange):
            assert len(unit.completions) == 8


def test_what_was_recorded_in_one_entry_is_covered_together() -> None:
    mixed = [
        tool(call(f"m{number}", path="x"), response(f"m{number}", "word " * 60), *ai("said beside it").blocks)
        for number in range(200)
    ]
    conversation = talk(user("Go."), *mixed)
    compaction = asked(conversation)
    assert compaction is not None
    covered = {slot.first for slot in conversation.composer.slots} - {unit.key for unit in seen(conversation)}
    assert covered.isdisjoint(unit.key for unit in seen(conversation) if not isinstance(unit, Summary))


def test_few_units_are_not_worth_a_summary() -> None:
    conversation = talk(user("word " * 4_500), ai("word " * 4_500), user("word " * 3_500))
    assert asked(conversation) is None


def exchange_at(conversation: Conversation, place: int) -> Exchange:
    unit = seen(conversation)[place]
    assert isinstance(unit, Exchange)
    return unit


# --- switching --------------------------------------------------------------------------------------------------------


def before_switch(conversation: Conversation, old: Target, new: Target) -> Compaction | None:
    async def ask() -> Compaction | None:
        return await ToolHistory().make_room_for_switch(conversation, old, new, estimator=Estimator())

    return anyio.run(ask)


def test_before_a_switch_to_a_smaller_window_the_conversation_is_compacted_for_that_window() -> None:
    conversation = talk(*turns(200, tokens=60))
    large, small = target(window=200_000), target("mistral/mistral-large-latest")
    compaction = before_switch(conversation, large, small)
    assert compaction is not None
    assert {record.window for record in compaction.records} == {WINDOW}
    add(conversation, *compaction.records)
    assert asked(conversation, small) is None
    assert asked(conversation, large) is None
    assert seen(conversation, 200_000) == units(talk(*turns(200, tokens=60)))


def test_a_smaller_window_that_still_has_room_is_no_reason_to_compact() -> None:
    assert before_switch(talk(*turns(10)), target(window=200_000), target()) is None


def test_a_window_that_grew_is_never_a_reason_to_compact() -> None:
    conversation = talk(*turns(200, tokens=60))
    assert before_switch(conversation, target(), target(window=WINDOW)) is None
    assert before_switch(conversation, target(), target(window=WINDOW + 1)) is None


def test_a_larger_target_sees_the_originals_and_a_smaller_one_the_compaction() -> None:
    conversation = talk(*turns(200, tokens=60))
    asked(conversation)
    assert seen(conversation, WINDOW + 1) == units(talk(*turns(200, tokens=60)))
    assert seen(conversation, WINDOW - 1) == seen(conversation)
    body = render(conversation, target(window=WINDOW * 10)).body
    assert "Question 0?" in str(body)


# --- afterwards -------------------------------------------------------------------------------------------------------


def test_undo_past_a_summary_brings_the_originals_back() -> None:
    conversation = talk(*turns(200, tokens=60))
    whole = seen(conversation)
    compaction = asked(conversation)
    assert compaction is not None
    add(conversation, user("Something else."), ai("Yes."))
    last_turn = 199 * 4
    add(conversation, Rewound(to=last_turn))
    assert seen(conversation) == whole[: 199 * 3]
    assert summaries(conversation) == []


def test_undo_behind_a_summary_keeps_it() -> None:
    conversation = talk(*turns(200, tokens=60))
    asked(conversation)
    before = seen(conversation)
    said = len(conversation)
    add(conversation, user("Something else."), ai("Yes."), Rewound(to=said))
    assert seen(conversation) == before


def test_a_restored_compaction_no_longer_holds() -> None:
    conversation = talk(*turns(200, tokens=60))
    whole = seen(conversation)
    written = len(conversation)
    compaction = asked(conversation)
    assert compaction is not None
    add(conversation, *(Restored(compaction=written + place) for place in range(len(compaction.records))))
    assert seen(conversation) == whole


def test_a_later_cover_takes_the_earlier_summary_in_and_keeps_the_goal() -> None:
    conversation = talk(user("Goal: port the tax module, code word HELIOTROPE."), ai("Fine."), *turns(200, tokens=60))
    history = ToolHistory()
    for start in (200, 400, 600):
        assert asked(conversation, history=history) is not None
        add(conversation, *turns(200, tokens=60, start=start))
    assert asked(conversation, history=history) is not None
    [summary] = summaries(conversation)
    assert summary.key == 0
    assert "HELIOTROPE" in summary.text


def test_a_result_that_comes_late_for_a_pinned_call_is_shown() -> None:
    conversation = talk(Opened(incarnation=1), *turns(60, tokens=60))
    running = conversation.record(calls("slow"))
    add(conversation, Started(call=running.calls[0].id), *turns(140, tokens=60, start=60))
    asked(conversation)
    conversation.result(running.calls[0], "at last")
    late = [done for unit in seen(conversation) for done in getattr(unit, "completions", ())]
    assert next(done for done in late if done.call_id == running.calls[0].id).result == "at last"


def test_a_success_that_comes_late_for_a_stubbed_failure_is_shown_and_stubbed_anew() -> None:
    conversation = talk(*turns(3), calls("flaky"), result("flaky", error="it broke " * 100))
    add(conversation, *turns(12, tokens=1_500, start=3))
    failed = conversation.ledger.in_order[3].id
    asked(conversation)
    assert "failed: it broke" in completion_of(conversation, failed)
    conversation.result(failed, "it works " * 100)
    assert completion_of(conversation, failed) == "it works " * 100
    assert (Action.COMPACTED.value, "stub") not in [
        (decision.action.value, decision.reason) for decision in decisions_of(conversation, failed)
    ]
    add(conversation, *turns(8, tokens=1_500, start=15))
    assert kinds(asked(conversation, history=ToolHistory(HistorySettings(max_tool_history_length=2)))) == ["stub"]
    assert completion_of(conversation, failed).startswith("[Output of ")
    assert "failed" not in completion_of(conversation, failed)


def test_what_a_cancelled_call_had_put_out_is_stubbed_and_the_reason_stays() -> None:
    closed = ToolResponse(
        wire_id="long", tool_name="read", result="line\n" * 2_000, reason=ClosureReason.CANCELLED_RUNNING
    )
    conversation = talk(*turns(3), calls("long"), tool(closed), *turns(12, tokens=1_500, start=3))
    cancelled = conversation.ledger.in_order[3].id
    assert kinds(asked(conversation)) == ["stub"]
    closure = recognise_closure(completion_of(conversation, cancelled))
    assert closure is not None
    assert closure.reason is ClosureReason.CANCELLED_RUNNING
    assert closure.output is not None
    assert closure.output.startswith("[Output of ")
    assert "10,000 characters" in closure.output
    add(conversation, *turns(8, tokens=1_500, start=15))
    compaction = asked(conversation, history=ToolHistory(HistorySettings(max_tool_history_length=2)))
    assert kinds(compaction) == ["stub"]
    assert compaction is not None
    assert cancelled not in {record.call for record in compaction.records}  # a stub is not stubbed again


def test_what_a_cancelled_call_had_put_out_is_clipped_where_it_fills_the_window() -> None:
    closed = ToolResponse(wire_id="long", tool_name="read", result="word " * 30_000, reason=ClosureReason.TIMED_OUT)
    conversation = talk(user("Read it."), calls("long"), tool(closed))
    compaction = asked(conversation)
    assert kinds(compaction) == ["clip"]
    assert compaction is not None
    assert compaction.excess == 0
    closure = recognise_closure(completion_of(conversation, conversation.ledger.in_order[0].id))
    assert closure is not None
    assert closure.reason is ClosureReason.TIMED_OUT
    assert closure.output is not None
    assert "characters are left out here" in closure.output


def test_laying_out_a_compaction_costs_what_the_view_is_long_and_not_what_the_log_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conversation = Conversation()
    history = ToolHistory()
    rebuilt: list[int] = []
    rebuild = View._rebuild
    monkeypatch.setattr(View, "_rebuild", lambda view, *cause: rebuilt.append(1) or rebuild(view, *cause))
    rewrites = 0
    for number in range(150):
        add(conversation, *turns(1, tokens=400, start=number))
        rewrites += asked(conversation, history=history) is not None
    assert rewrites > 4
    assert len(rebuilt) == 1  # when the view was made
    assert seen(conversation) == units(Conversation(conversation.log), WINDOW)


@pytest.mark.req("REQ-915-027")
@pytest.mark.parametrize("route", ROUTES)
def test_a_history_that_somebody_else_cut_in_half_is_compacted_and_stays_valid(route: str) -> None:
    half = [
        *turns(80, tokens=60),
        calls("x", "y"),
        result("y"),
        result("gone"),
        tool(response("", "nameless", name="")),
    ]
    more = [*turns(80, tokens=60, start=80), calls("open")]
    conversation = Conversation()
    add(conversation, Imported(format="test", digest="", entries=len(half) + len(more)), *half, *more)
    where = target(route, window=12_000)
    assert asked(conversation, where) is not None
    add(conversation, user("Go on."))
    request = render(conversation, where)
    assert [v for v in request.check() if v.severity is Severity.REFUSED] == []
    emitted = request.report.emitted
    assert all(call.wire_id == call.result_wire_id for call in emitted)
    assert ("missing-in-import", "synthetic") in {(call.reason, call.completion) for call in emitted}


def test_the_same_compacted_history_is_spelled_natively_and_as_text() -> None:
    conversation = talk(*turns(12, tokens=1_500), user("And now?"))
    compaction = asked(conversation, target(NATIVE))
    assert compaction is not None
    native = render(conversation, target(NATIVE))
    embedded = render(conversation, target(EMBEDDED))
    assert (native.report.strategy, embedded.report.strategy) == ("native", "text-embed")
    stubs = [record.text for record in compaction.records if record.kind is CompactionKind.STUB]
    assert len(stubs) == 6
    outputs = [item["output"] for item in native.body["input"] if item["type"] == "function_call_output"]
    texts = [
        part["text"]
        for item in embedded.body["input"]
        if item.get("role") == "user"
        for part in item["content"]
        if part["text"].startswith(EMBEDDED_RESULT)
    ]
    assert outputs[:6] == stubs
    assert [text.removeprefix(EMBEDDED_RESULT) for text in texts] == outputs
    assert not [item for item in embedded.body["input"] if item["type"].startswith("function_call")]
    roles = [item["role"] for item in embedded.body["input"]]
    assert roles[:4] == ["user", "assistant", "user", "assistant"]


def test_the_event_tells_what_was_done_and_where_the_cache_ends() -> None:
    conversation = talk(*turns(200, tokens=200))
    compaction = asked(conversation, take=False)
    assert compaction is not None
    event = compaction.event
    covers = [record for record in compaction.records if record.kind is CompactionKind.COVER]
    stubs = [record for record in compaction.records if record.kind is CompactionKind.STUB]
    assert event.first_unit == covers[0].first == 0
    assert "units covered by 1 summary" in event.detail
    assert (f"{len(stubs)} outputs stubbed" in event.detail) == bool(stubs)
    before = render(conversation, target())
    add(conversation, *compaction.records)
    change = render(conversation, target()).prefix_change
    assert before.prefix_change is None
    assert change is not None
    assert (change.cause.value, change.first_unit) == ("compaction", event.first_unit)


def test_the_report_names_what_was_stubbed_and_covered() -> None:
    conversation = talk(*turns(200, tokens=300))
    asked(conversation)
    made = [reason for action, reason in decisions(conversation, WINDOW) if action == Action.COMPACTED.value]
    assert set(made) <= {"cover", "stub"}
    assert made[0] == "cover"


def test_a_picture_in_an_old_output_goes_with_it_and_is_named() -> None:
    picture = Media(MediaKind.IMAGE, "image/png", data="A" * 400_000)
    shots = [
        entry
        for number in range(20)
        for entry in (
            calls(f"p{number}", name="screenshot"),
            tool(response(f"p{number}", "", media=(picture,), is_complete=True)),
        )
    ]
    conversation = talk(user("Look."), *shots)
    compaction = asked(conversation, target(window=30_000))
    assert compaction is not None
    texts = [record.text for record in compaction.records]
    assert all("1 image" in text and "AAAA" not in text for text in texts)
    assert compaction.event.before < 60_000  # by what a picture costs, not by its bytes


def test_what_is_said_while_a_summary_is_written_is_not_lost_and_not_covered() -> None:
    conversation = talk(*turns(200, tokens=60))

    class Slow:
        name = "slow"

        async def summarise(self, text: object) -> str:
            add(conversation, user("Wait, one more thing."))
            return "all that happened"

    compaction = asked(conversation, history=ToolHistory(summariser=Slow()))
    assert compaction is not None
    last = seen(conversation)[-1]
    assert isinstance(last, Said)
    assert last.blocks == user("Wait, one more thing.").blocks


def test_the_conversation_may_be_measured_again_while_a_summary_is_written() -> None:
    conversation = talk(*turns(200, tokens=200))

    class Slow:
        name = "slow"

        async def summarise(self, text: object) -> str:
            add(conversation, *turns(3, start=200))
            await history.make_room(conversation, target(window=10**6), estimator=Estimator())
            history._watch(conversation, target(), Estimator())
            return "all that happened"

    history = ToolHistory(summariser=Slow())
    assert asked(conversation, history=history) is not None
    assert summaries(conversation)[0].text == "all that happened"
    assert sum(isinstance(unit, Said) for unit in seen(conversation)) > 3


def test_an_undo_while_a_summary_is_written_voids_it() -> None:
    conversation = talk(*turns(200, tokens=60))

    class Slow:
        name = "slow"

        async def summarise(self, text: object) -> str:
            add(conversation, Rewound(to=4))
            return "all that happened"

    assert asked(conversation, history=ToolHistory(summariser=Slow())) is None


def test_a_closed_call_that_was_told_to_a_provider_stays_closed_the_same_way() -> None:
    conversation = talk(Opened(incarnation=1), *turns(2), calls("a"), *turns(160, tokens=60, start=2))
    closed = conversation.ledger.in_order[2]
    add(conversation, StepBegan(step=1, target="x", closures={closed.id: conversation.ledger.closure_reason(closed)}))
    before = completion_of(conversation, closed.id)
    asked(conversation)
    assert completion_of(conversation, closed.id) == before


def completion_of(conversation: Conversation, call_id: str) -> str:
    found = [
        done for unit in seen(conversation) for done in getattr(unit, "completions", ()) if done.call_id == call_id
    ]
    return completion_text(found[0])


def decisions_of(conversation: Conversation, call_id: str) -> list[Decision]:
    view = conversation.view(WINDOW)
    view.refresh()
    return [made for place in range(len(view.slots)) for made in view.decisions(place) if call_id in made.calls]


def test_nothing_is_written_by_asking() -> None:
    conversation = talk(*turns(200, tokens=60))
    log = list(conversation.log)
    assert asked(conversation, take=False) is not None
    assert conversation.log == log
    assert not any(isinstance(record, Compacted) for record in log)
