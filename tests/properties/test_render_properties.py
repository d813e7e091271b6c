"""What holds for every log, however corrupt, for every target."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from legato import Conversation, render, resolve
from legato.model import Entry, Foreign, IdScheme, Include, Options, Record, ThinkingPolicy, ToolResponse, ToolSpec
from legato.request import PrefixChange, Request
from legato.request.encoded_conversation import EncodedConversation
from legato.request.render_cache import RenderCache
from legato.transcript import Exchange
from legato.wire.assembly import encode_json
from legato.wire.dialects import dialect_parts
from legato.wire.encoder import EncodedUnit
from legato.wire.findings import Severity
from on_the_wire import calls_of, sent, unpaired

from builders import OTHER_ROUTES, ROUTES, talk, user
from strategies import NOT_UTF8, entries, interleaved, logs, turns

News = list[Entry | Record]
ALL_ROUTES = (*ROUTES, *OTHER_ROUTES)
POLICIES = st.builds(ThinkingPolicy, st.sampled_from(Include), st.sampled_from(Foreign))
routes = pytest.mark.parametrize("route", ALL_ROUTES)

FORMS = {
    IdScheme.CALL40: re.compile(r"call_[A-Za-z0-9_-]{1,35}"),
    IdScheme.CALL64: re.compile(r"call_[A-Za-z0-9_-]{1,59}"),
    IdScheme.TOOLU: re.compile(r"toolu_[A-Za-z0-9_-]{1,58}"),
    IdScheme.TOOLUSE: re.compile(r"tooluse_[A-Za-z0-9_-]{1,56}"),
    IdScheme.NINE: re.compile(r"[A-Za-z0-9]{9}"),
    IdScheme.KIMI: re.compile(r"functions\.[A-Za-z_][A-Za-z0-9_-]{0,63}:[0-9]+"),
}


def pairs(body: Any, route: str) -> list[tuple[str, str]]:
    """The body as a sequence of (role, block), cache marks aside: what a later render must extend."""
    parts = dialect_parts(resolve(route).dialect)
    found: list[tuple[str, str]] = []
    for message in body[parts.messages_field]:
        blocks = message.get(parts.blocks_field) if parts.blocks_field else None
        if resolve(route).capabilities.alternates and message["role"] == "user":  # what joined it stands behind it
            content = message["content"]
            parts_of_it = [{"text": content}] if isinstance(content, str) else content
            blocks = [
                {"text": text} if text is not None else part
                for part in parts_of_it
                for text in (part["text"].split("\n\n") if "text" in part else [None])
            ]
        for block in blocks if isinstance(blocks, list) else [message]:
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            if "cachePoint" not in plain:
                found.append((str(message.get("role", "")), json.dumps(plain, sort_keys=True)))
    return found


@routes
@given(news=interleaved(), policy=POLICIES)
@pytest.mark.req("REQ-915-004", "REQ-915-005", "REQ-915-023", "REQ-915-024", "REQ-915-025")
def test_no_provider_would_refuse_the_request(route: str, news: News, policy: ThinkingPolicy) -> None:
    request = render(talk(*news, user("and now?")), route, thinking=policy)
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []
    assert json.loads(request.json()) == request.body


ANY_TEXT = st.one_of(st.just(NOT_UTF8), st.text(st.characters(), max_size=4))
ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY_TEXT, inner, max_size=3)),
    max_leaves=6,
)


@routes
@given(
    system=ANY_TEXT,
    tools=st.lists(
        st.builds(ToolSpec, ANY_TEXT, ANY_TEXT, st.dictionaries(ANY_TEXT, ANY_JSON, max_size=2)),
        max_size=2,
        unique_by=lambda tool: tool.name,
    ),
    extra=st.dictionaries(ANY_TEXT, ANY_JSON, max_size=2),
    stop=st.lists(ANY_TEXT, max_size=2),
)
def test_whatever_comes_with_a_request_can_be_encoded(
    route: str, system: str, tools: list[ToolSpec], extra: dict[str, Any], stop: list[str]
) -> None:
    options = Options(extra={**extra, "stop": stop, "metadata": {"user": NOT_UTF8}})
    request = render(talk(user("hello")), route, system=system, tools=tools, options=options)
    assert json.loads(request.json()) == request.body


@routes
@given(news=interleaved())
@pytest.mark.req("REQ-915-010")
def test_rendering_twice_is_rendering_once(route: str, news: News) -> None:
    conversation = talk(*news, user("and now?"))
    first = render(conversation, route)
    again = render(conversation, route)
    fresh = render(conversation.copy(), route)
    assert first.body == fresh.body
    assert pairs(first.body, route) == pairs(again.body, route)
    assert again.prefix_change is None
    assert json.loads(first.json()) == first.body


@routes
@given(news=interleaved(max_size=8))
def test_a_request_stays_what_it_was_while_the_conversation_goes_on(route: str, news: News) -> None:
    conversation = Conversation()
    kept: list[tuple[Request, Request]] = []
    for item in news:
        conversation.apply(conversation.prepare([item]))
        # Made alike; one is looked at now, the other only when all is over.
        late, early = render(conversation, route), render(conversation, route)
        assert json.loads(early.json()) == early.body
        kept.append((early, late))
    for early, late in kept:
        assert pairs(late.body, route) == pairs(early.body, route)
        assert json.loads(late.json()) == late.body
        assert late.report.emitted == early.report.emitted
        assert late.report.decisions == early.report.decisions


@routes
@given(news=interleaved(max_size=8))
def test_a_later_render_extends_an_earlier_one_or_names_the_cause(route: str, news: News) -> None:
    conversation = Conversation()
    before: list[tuple[str, str]] = []
    for item in news:
        conversation.apply(conversation.prepare([item]))
        request = render(conversation, route)
        tail = {decision.reason for decision in request.report.decisions}
        now = pairs(request.body, route)
        body = now[:-1] if "tail" in tail else now
        if body[: len(before)] != before:
            assert isinstance(request.prefix_change, PrefixChange)
        before = body
        assert now == pairs(render(conversation.copy(), route).body, route)


@routes
@given(news=interleaved(), policy=POLICIES)
@pytest.mark.req("REQ-915-015", "REQ-915-016", "REQ-915-017", "REQ-915-022", "REQ-915-024", "REQ-915-049")
def test_ids_are_paired_one_to_one_and_of_the_targets_form_whatever_is_thought(
    route: str, news: News, policy: ThinkingPolicy
) -> None:
    conversation = talk(*news, user("and now?"))
    request = render(conversation, route, thinking=policy)
    report = request.report
    form = FORMS[resolve(route).capabilities.id_scheme]
    if resolve(route).capabilities.native_tool_history:
        items = sent(request)
        assert unpaired(items) == []
        if any(call.id for call in calls_of(items)):  # some models of Gemini's have none
            assert [call.id for call in calls_of(items)] == [call.wire_id for call in report.emitted]
    assert len({call.wire_id for call in report.emitted}) == len({call.call_id for call in report.emitted})
    assert all(form.fullmatch(call.wire_id) for call in report.emitted)
    units = [
        unit for unit in conversation.view(resolve(route).capabilities.window).units() if isinstance(unit, Exchange)
    ]
    assert [call.call_id for call in report.emitted] == [call.id for unit in units for call in unit.calls]


@routes
@given(news=logs(max_size=8))
@pytest.mark.req("REQ-915-008")
def test_every_real_result_is_shown_once_or_named_as_another_result_of_its_call(route: str, news: list[Entry]) -> None:
    conversation = talk(*marked_results(news), user("and now?"))
    request = render(conversation, route)
    body = request.json().decode()
    dropped = [drop.seq for call in conversation.ledger.calls.values() for drop in call.dropped]
    named = [decision for decision in request.report.decisions if decision.reason == "duplicate-result"]
    assert len(named) == len(dropped)
    for seq, entry in conversation.standing_entries():
        marks = [str(block.result) for block in entry.blocks if isinstance(block, ToolResponse)]
        shown = [body.count(mark) for mark in marks]
        assert all(count <= 1 for count in shown)
        assert shown.count(0) == dropped.count(seq)


def marked_results(news: list[Entry]) -> list[Entry]:
    """`news` in which every result is a real one that no other one equals."""
    numbers = count()
    return [
        replace(
            entry,
            blocks=tuple(
                replace(block, result=f"<{next(numbers)}>", error=None, reason=None, synthetic=False)
                if isinstance(block, ToolResponse)
                else block
                for block in entry.blocks
            ),
        )
        for entry in news
    ]


@routes
@given(news=logs(max_size=8), more=entries())
def test_recording_more_never_changes_an_id(route: str, news: list[Entry], more: Entry) -> None:
    conversation = talk(*news)
    before = {call.call_id: call.wire_id for call in render(conversation, route).report.emitted}
    conversation.record(more)
    after = {call.call_id: call.wire_id for call in render(conversation, route).report.emitted}
    assert all(after.get(call, wire_id) == wire_id for call, wire_id in before.items())


@routes
@given(news=logs(max_size=8))
def test_rendering_changes_nothing(route: str, news: list[Entry]) -> None:
    conversation = talk(*news)
    before = list(conversation.log)
    body = render(conversation, route).copy()
    body.clear()
    assert list(conversation.log) == before


def printed(conversation: Conversation, route: str, *, thinking_on: bool = False) -> EncodedConversation:
    """What a request to `route` is made from."""
    _, encoded = RenderCache.of(conversation).encoded(resolve(route), ThinkingPolicy(), thinking_on=thinking_on)
    encoded.advance()
    return encoded


@routes
@given(first=interleaved(max_size=3), rest=st.lists(turns(), max_size=6), thinks=st.booleans())
def test_units_in_a_row_are_printed_as_each_of_them_would_be_alone(
    route: str, first: News, rest: list[list[Entry]], thinks: bool
) -> None:
    encoded = printed(talk(*first, *(entry for turn in rest for entry in turn)), route, thinking_on=thinks)
    page = encoded.parts.assembly(encoded.encoder.grammar)
    for place, unit in enumerate(encoded.places.units):
        alone = EncodedUnit((), page.end) if unit is None else encoded.encoder.encode(unit, page.end)
        page.append(alone.messages, alone.end)
        assert encoded.places.projected.get(place, ()) == alone.decisions
    assert encode_json(encoded.assembly.messages) == encode_json(page.messages)
    assert (encoded.assembly.counts, encoded.assembly.fills) == (page.counts, page.fills)
    assert encoded.assembly.ends == page.ends


@routes
@given(news=interleaved(max_size=8), data=st.data())
def test_what_is_cut_off_and_put_back_is_what_it_was(route: str, news: News, data: st.DataObject) -> None:
    page = printed(talk(*news), route).assembly
    messages, starts, ends = list(page.messages), (list(page.counts), list(page.fills)), page.ends
    place = data.draw(st.integers(0, len(ends)))
    for groups, end in zip(page.cut(place), ends[place:], strict=True):
        page.append(groups, end)
    assert page.messages == messages
    assert (page.counts, page.fills) == starts
    assert page.ends == ends


@routes
@given(news=interleaved(max_size=8))
def test_the_shares_of_all_units_are_what_was_printed_for_each(route: str, news: News) -> None:
    encoded = printed(talk(*news, user("and now?")), route)
    page = encoded.assembly
    for unit in range(len(page.ends)):
        assert page.shares(unit) == [*map(encode_json, page.messages_of(unit))]
