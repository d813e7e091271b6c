"""What holds for every log, however corrupt, and every sequence of compactions."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from legato.model import (
    CallId,
    ClosureReason,
    Entry,
    Include,
    Media,
    MediaKind,
    Record,
    Speaker,
    Target,
    Text,
    ThinkingPolicy,
    ToolCall,
    ToolResponse,
    recognise_closure,
)
from legato.model.codec import encode_record
from legato.model.records import Compacted, CompactionKind, Restored, Rewound
from legato.request import Request, render, resolve, with_capabilities
from legato.request.tokens import Estimator
from legato.session.compaction.gauge import TokenGauge
from legato.session.compaction.retention import may_end_soon
from legato.session.compaction.settings import HistorySettings
from legato.session.compaction.tool_history import Compaction, ToolHistory
from legato.transcript import Conversation, Exchange, Said, Summary, completion_text
from legato.wire.findings import Severity

from builders import ROUTES, ai, calls, result, talk, units, user
from strategies import entries, interleaved

ANTHROPIC = "anthropic/claude-sonnet-4-5"
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")

T = TypeVar("T")
News = list["Entry | Record | Squeeze"]

EAGER = HistorySettings(
    max_tool_history_length=1,
    truncation_threshold=0,
    summary_cap=400,
    high_mark=0.5,
    low_mark=0.2,
    ceiling=0.9,
    min_gain=0.0,
    clip_length=50,
)
"""Compacts whenever it can, so that a short log is enough to see it."""

BYTES = Estimator(len)
"""Every byte is a token: short texts are long."""


class Squeeze(NamedTuple):
    """Somebody compacts: by the marks, because a provider refused, or because a person asked."""

    how: str
    window: int


def squeezes() -> st.SearchStrategy[Squeeze]:
    return st.builds(Squeeze, st.sampled_from(["marks", "overflowed", "now"]), st.sampled_from([600, 1_500, 4_000]))


@st.composite
def work(draw: st.DrawFn) -> list[Entry]:
    """A call and its long output, or its failure, or no answer at all."""
    wire_id, name = draw(st.sampled_from(["a", "b", "call_0", "x" * 80])), draw(st.sampled_from(["read", "run"]))
    path = f"{draw(st.integers(0, 3))}.py"
    asked = Entry(Speaker.AI, (Text("looking"), ToolCall(name, {"path": path, "content": "y" * 40}, wire_id)))
    output = "0123456789 " * draw(st.integers(1, 120))
    ended = draw(st.sampled_from(["well", "well", "well", "badly", "with a picture", "too early", "not"]))
    if ended == "not":
        return [asked]
    response = ToolResponse(
        wire_id=wire_id,
        tool_name=name,
        result=None if ended == "badly" else output,
        error=output if ended == "badly" else None,
        media=(Media(MediaKind.IMAGE, "image/png", data="aGk="),) if ended == "with a picture" else (),
        reason=ClosureReason.CANCELLED_RUNNING if ended == "too early" else None,
    )
    return [asked, Entry(Speaker.TOOL, (response,))]


def logs_of_work(max_size: int = 10) -> st.SearchStrategy[News]:
    """Arbitrary news, with long outputs among them."""
    single = interleaved(max_size=1)
    return st.lists(st.one_of(single, work(), work()), max_size=max_size).map(
        lambda parts: [n for p in parts for n in p]
    )


def squeezed_logs() -> st.SearchStrategy[News]:
    squeeze = squeezes().map(lambda one: [one])
    return st.tuples(logs_of_work(), squeeze, logs_of_work(4), squeeze, logs_of_work(3)).map(
        lambda parts: [item for part in parts for item in part]
    )


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """What `coroutine` returns; it never waits, because no model is asked."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited")


def compaction_of(conversation: Conversation, squeeze: Squeeze, *, route: str = ROUTES[0]) -> Compaction | None:
    target = small(route, squeeze.window)
    history = ToolHistory(EAGER)
    if squeeze.how == "now":
        return at_once(history.compact_now(conversation, target, estimator=BYTES))
    overflowed = squeeze.how == "overflowed"
    return at_once(history.make_room(conversation, target, estimator=BYTES, overflowed=overflowed))


def small(route: str, window: int) -> Target:
    return with_capabilities(resolve(route), window=window)


def take(conversation: Conversation, item: Entry | Record | Squeeze, *, route: str = ROUTES[0]) -> Compaction | None:
    """Apply one piece of news; the compaction, if it was one that did something."""
    if not isinstance(item, Squeeze):
        conversation.apply(conversation.prepare([item]))
        return None
    compaction = compaction_of(conversation, item, route=route)
    if compaction is not None:
        conversation.apply(conversation.prepare(compaction.records))
    return compaction


def squeezed(news: News, *, route: str = ROUTES[0]) -> Conversation:
    conversation = Conversation()
    for item in news:
        take(conversation, item, route=route)
    return conversation


def covered_spans(conversation: Conversation, window: int) -> list[range]:
    return [
        range(record.first, min(record.last, seq - 1) + 1)
        for seq, record in conversation.composer.compactions.items()
        if record.kind is CompactionKind.COVER and record.window >= window
    ]


def wire_ids(request: Request) -> dict[CallId, tuple[str, str]]:
    return {call.call_id: (call.wire_id, call.result_wire_id) for call in request.report.emitted}


@given(squeezed_logs(), st.permutations(ROUTES))
@pytest.mark.req("REQ-915-026", "REQ-915-027", "REQ-915-028")
def test_no_target_would_refuse_a_compacted_conversation(news: News, routes: list[str]) -> None:
    conversation = squeezed([*news, user("go on")], route=routes[0])
    for route, window in zip(routes, (600, 1_500, 4_000), strict=False):
        request = render(conversation, small(route, window))
        assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []


@given(squeezed_logs())
@pytest.mark.req("REQ-915-028")
def test_after_any_compactions_every_call_in_the_view_has_its_one_completion(news: News) -> None:
    conversation = squeezed(news)
    for window in (600, 4_000):
        seen: list[CallId] = []
        for unit in units(conversation, window):
            if isinstance(unit, Exchange):
                assert [call.id for call in unit.calls] == [done.call_id for done in unit.completions]
                seen += [call.id for call in unit.calls]
        assert len(seen) == len(set(seen))


@given(squeezed_logs())
@pytest.mark.req("REQ-915-026")
def test_no_real_result_of_an_uncovered_unit_is_lost(news: News) -> None:
    conversation = squeezed(news)
    window = 1_500
    spans = covered_spans(conversation, window)
    shown = {
        done.call_id: done
        for unit in units(conversation, window)
        if isinstance(unit, Exchange)
        for done in unit.completions
    }
    shortened = {record.call for record in conversation.composer.compactions.values() if record.window >= window}
    for unit in units(conversation, 100_000_000):
        if not isinstance(unit, Exchange) or any(unit.key in span for span in spans):
            continue
        for original in unit.completions:
            now = shown[original.call_id]
            assert (now.kind, now.result, now.error, now.reason) == (
                original.kind,
                original.result,
                original.error,
                original.reason,
            )
            assert now == original or (original.call_id in shortened and now.shortened is not None)
            if original.reason is not None:
                closure = recognise_closure(completion_text(now))
                assert closure is not None
                assert (closure.reason, closure.said) == (original.reason, original.said)


@given(st.sampled_from(ROUTES), logs_of_work(), squeezes())
def test_a_compaction_changes_no_id_of_what_remains(route: str, news: News, squeeze: Squeeze) -> None:
    conversation = squeezed(news, route=route)
    target = small(route, squeeze.window)
    before = wire_ids(render(conversation, target))
    take(conversation, squeeze, route=route)
    after = wire_ids(render(conversation, target))
    assert after.items() <= before.items()


@given(st.sampled_from([*ROUTES, "vercel-gateway/openai/gpt-5.1"]), squeezed_logs())
def test_between_two_compactions_each_render_extends_the_last_or_names_another_cause(route: str, news: News) -> None:
    conversation = Conversation()
    target = small(route, 1_500)
    render(conversation, target)
    for item in news:
        compaction = take(conversation, item, route=route)
        change = render(conversation, target).prefix_change
        is_compaction = compaction is not None or isinstance(item, Compacted)
        if change is not None and change.cause.value == "compaction":
            assert is_compaction or type(item).__name__ == "Restored"


@given(st.sampled_from([*ROUTES, "vercel-gateway/openai/gpt-5.1"]), logs_of_work(), squeezes())
def test_what_a_compaction_promises_is_what_is_measured_after_it(route: str, news: News, squeeze: Squeeze) -> None:
    conversation = talk(*news)  # type: ignore[arg-type]
    compaction = take(conversation, squeeze, route=route)
    if compaction is not None:
        target = small(route, squeeze.window)
        gauge = TokenGauge(conversation, target)
        gauge.refresh(BYTES)
        total = gauge.head_tokens((), "") + gauge.total
        assert abs(compaction.event.after - total) <= 2
        assert compaction.event.before >= compaction.event.after
        assert compaction.excess == max(compaction.event.after - round(EAGER.ceiling * squeeze.window), 0)


@given(logs_of_work(), st.lists(squeezes(), min_size=1, max_size=4))
def test_asking_again_and_again_comes_to_an_end(news: News, asked: list[Squeeze]) -> None:
    conversation = talk(*news)  # type: ignore[arg-type]
    for squeeze in asked:
        for _ in range(30):
            compaction = take(conversation, squeeze)
            if compaction is None or not compaction.records:
                break
        else:
            raise AssertionError("it never stopped")


@given(squeezed_logs())
def test_a_call_in_flight_is_never_covered(news: News) -> None:
    conversation = Conversation()
    for item in news:
        running = {
            call.id
            for call in conversation.ledger.in_order
            if not call.is_settled and may_end_soon(call, conversation.ledger)
        }
        window = item.window if isinstance(item, Squeeze) else 0
        before = calls_in_view(conversation, window) if window else set[CallId]()
        take(conversation, item)
        if window:
            assert running & before <= calls_in_view(conversation, window)


def calls_in_view(conversation: Conversation, window: int) -> set[CallId]:
    return {
        done.call_id for unit in units(conversation, window) if isinstance(unit, Exchange) for done in unit.completions
    }


@given(squeezed_logs())
def test_a_larger_window_sees_what_it_saw_before(news: News) -> None:
    conversation = Conversation()
    for item in news:
        before = units(conversation, 4_001)
        compaction = take(conversation, item)
        if isinstance(item, Squeeze):
            assert units(conversation, 4_001) == before
        if compaction is not None:
            assert all(record.window == item.window for record in compaction.records)  # type: ignore[union-attr]


@given(logs_of_work(), squeezes())
def test_the_same_log_is_compacted_the_same_way_and_nothing_is_written(news: News, squeeze: Squeeze) -> None:
    one, other = talk(*news), talk(*news)  # type: ignore[arg-type]
    log = [encode_record(record) for record in one.log]
    assert compaction_of(one, squeeze) == compaction_of(other, squeeze)
    assert [encode_record(record) for record in one.log] == log


@given(logs_of_work(), squeezes())
def test_no_summary_is_longer_than_it_may_be_and_none_is_empty(news: News, squeeze: Squeeze) -> None:
    compaction = compaction_of(talk(*news), squeeze)  # type: ignore[arg-type]
    for record in compaction.records if compaction else ():
        if record.kind is CompactionKind.COVER:
            assert 0 < len(record.text.encode()) <= EAGER.summary_cap
        else:
            assert record.text.strip()


@given(logs_of_work(6), st.lists(entries(), max_size=3), squeezes())
def test_measuring_step_by_step_is_measuring_at_once(news: News, more: list[Entry], squeeze: Squeeze) -> None:
    conversation = Conversation()
    target = small(ROUTES[0], squeeze.window)
    growing = TokenGauge(conversation, target)
    for item in [*news, squeeze, *more]:
        take(conversation, item)
        growing.refresh(BYTES)
        fresh = TokenGauge(conversation, target)
        fresh.refresh(BYTES)
        assert [place[1:] for place in growing.places] == [place[1:] for place in fresh.places]
        assert (growing.total, growing.tool_tokens) == (fresh.total, fresh.tool_tokens)
        assert growing.with_calls == fresh.with_calls
        assert growing.stub_gain(2) == fresh.stub_gain(2)


@example(
    ANTHROPIC, [user(ToolResponse(tool_name="read", media=(PDF,)))], Include.ALL
)  # printed as messages to be joined
@given(st.sampled_from(ROUTES), squeezed_logs(), st.sampled_from(Include))
def test_a_unit_weighs_in_its_place_what_it_would_weigh_if_it_were_put_there(
    route: str, news: News, include: Include
) -> None:
    conversation = Conversation()
    target = small(route, 1_500)
    gauge = TokenGauge(conversation, target)
    for item in news:
        take(conversation, item, route=route)
        gauge.refresh(BYTES, thinking=ThinkingPolicy(include))
        assert [(place.weight, place.end) for place in gauge.places] == [
            gauge.weigh(place.unit, place.before, number) for number, place in enumerate(gauge.places)
        ]


@given(st.sampled_from(ROUTES), squeezed_logs(), st.sampled_from(Include), st.lists(st.booleans(), min_size=1))
def test_measuring_changes_neither_a_request_nor_what_it_says_about_the_one_before(
    route: str, news: News, include: Include, rendered: list[bool]
) -> None:
    source, plain, measured = Conversation(), Conversation(), Conversation()
    target, policy = small(route, 1_500), ThinkingPolicy(include)
    gauge = TokenGauge(measured, target)
    for number, item in enumerate(news):
        take(source, item, route=route)
        for conversation in (plain, measured):
            conversation.apply(source.log[len(conversation) :])
        gauge.refresh(BYTES, thinking=policy)
        if rendered[number % len(rendered)]:
            one, other = render(plain, target, thinking=policy), render(measured, target, thinking=policy)
            assert other.body == one.body
            # Where two things changed one place either is named, so only the place is compared.
            changes = [request.prefix_change and request.prefix_change.first_unit for request in (one, other)]
            assert changes[0] == changes[1]


def layouts() -> st.SearchStrategy[News]:
    """Short talk, and compactions of it that overlap as they like, are taken back, and undone."""
    places = st.integers(0, 14)
    covers = st.builds(
        lambda first, length, window, text: Compacted(
            kind=CompactionKind.COVER, text=text, window=window, first=first, last=first + length
        ),
        places,
        places,
        st.sampled_from([10, 20]),
        st.sampled_from(["one", "another"]),
    )
    stubs = st.builds(
        lambda call, window: Compacted(kind=CompactionKind.STUB, text="stub", window=window, call=CallId(call)),
        st.sampled_from(["hist_tool_a", "hist_tool_b"]),
        st.sampled_from([10, 20]),
    )
    words = st.sampled_from([user("and"), ai("so"), calls("a"), calls("b"), result("a"), result("b", error="no")])
    taken_back = st.one_of(
        st.builds(lambda at: Restored(compaction=at), places), st.builds(lambda to: Rewound(to=to), places)
    )
    return st.lists(st.one_of(words, words, covers, covers, stubs, taken_back), max_size=24)


def cover(first: int, last: int) -> Compacted:
    return Compacted(kind=CompactionKind.COVER, text="covered", window=20, first=first, last=last)


@given(st.one_of(squeezed_logs(), layouts(), layouts()), st.integers(1, 4))
@example([*[user("and")] * 5, cover(0, 4), cover(3, 5), cover(0, 4)], 1)
def test_a_view_that_grew_with_the_log_is_the_view_made_at_once(news: News, often: int) -> None:
    conversation = Conversation()
    growing = {window: conversation.view(window) for window in (0, 15, 600, 1_500, 4_000)}
    for number, item in enumerate(news):
        take(conversation, item)
        if number % often:
            continue
        for window, view in growing.items():
            view.refresh()
            fresh = conversation.view(window)
            assert list(view.units()) == list(fresh.units())
            places = range(len(fresh.slots))
            assert [view.decisions(place) for place in places] == [fresh.decisions(place) for place in places]


@given(squeezed_logs())
@example([result("a", is_complete=False), calls("a")])
def test_the_pending_calls_are_those_without_a_completion(news: News) -> None:
    conversation = Conversation()
    for item in news:
        take(conversation, item)
        ledger = conversation.ledger
        assert ledger.pending == {call_id: call for call_id, call in ledger.calls.items() if not call.is_settled}


@given(squeezed_logs())
def test_the_view_never_holds_two_summaries_of_one_stretch(news: News) -> None:
    conversation = squeezed(news)
    view = conversation.view(600)
    view.refresh()
    said = [unit.key for unit in view.units() if isinstance(unit, Said | Exchange)]
    for slot in view.slots:
        if isinstance(slot.unit, Summary):
            assert not [key for key in said if slot.first < key < slot.last and _is_ours(conversation, slot.unit.text)]


def _is_ours(conversation: Conversation, text: str) -> bool:
    """Not one of the arbitrary compactions that the log itself holds, which may overlap as they like."""
    return text != "what happened so far" and not any(
        isinstance(record, Compacted) and record.text == "what happened so far" for record in conversation.log
    )
