"""Every result of a history ends at exactly one place, and is shown there: whoever it came from, whoever it goes to."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from history_files import FILES, HistoryFile
from legato import parse, render
from legato.formats import read_all
from legato.ledger import Call, Evidence
from legato.ledger.evidence import evidence_of, is_real, says_the_same
from legato.model import Entry, ToolResponse, ToolSpec
from legato.model.records import Rewound
from legato.transcript import Conversation
from legato.wire.findings import Severity

from builders import OTHER_ROUTES, ROUTES, talk, user
from histories import SOURCES, Step, as_entries, histories, orderly, results_in
from strategies import logs

TOOLS = [ToolSpec("read", ""), ToolSpec("grep", "")]
TARGETS = st.sampled_from((*ROUTES, *OTHER_ROUTES))
sources = pytest.mark.parametrize("source", SOURCES)
files = pytest.mark.parametrize("source", FILES)


def read(source: str, steps: list[Step]) -> Conversation:
    conversation = parse(SOURCES[source](steps), source).conversation()
    conversation.human("and now?")
    return conversation


def read_file(source: str, steps: list[Step]) -> tuple[HistoryFile, Conversation]:
    """The steps in a file of that program, and the conversation in it."""
    format_, write = FILES[source]
    file = write([Step("say", "hello"), *steps])
    conversation = read_all(file.data, format=format_)[0].conversation()
    conversation.human("and now?")
    return file, conversation


def real_responses(conversation: Conversation) -> list[ToolResponse]:
    return [
        block
        for _, entry in conversation.standing_entries()
        for block in entry.blocks
        if isinstance(block, ToolResponse) and is_real(block)
    ]


def holders(conversation: Conversation, response: ToolResponse) -> list[tuple[Call, bool]]:
    """The calls that have `response`, each with whether it counts there."""
    return [
        (call, call.response is response)
        for call in conversation.ledger.calls.values()
        if call.response is response or any(drop.response is response for drop in call.dropped)
    ]


def check_places(conversation: Conversation, route: str) -> None:
    """Each real result counts at one call and is shown there, or it is a duplicate: it says the same, or names it."""
    request = render(conversation, route, tools=TOOLS)
    assert [found for found in request.check() if found.severity is Severity.REFUSED] == []
    body = request.json().decode()
    emitted = request.report.emitted
    shown = results_in(json.loads(body))
    assert [wire_id for wire_id, _ in shown] in ([], [call.result_wire_id for call in emitted], [None] * len(emitted))
    texts = {call.call_id: text for call, (_, text) in zip(emitted, shown, strict=bool(shown))}
    counting = [call.response for call in conversation.ledger.calls.values() if call.response is not None]
    for response in real_responses(conversation):
        (call, counts), *others = holders(conversation, response)
        assert others == []
        if not counts:
            assert call.response is not None
            assert says_the_same(response, call.response) or is_named(response, call)
        elif isinstance(response.result, str) and response.result.startswith("<"):
            assert body.count(response.result) == sum(says_the_same(response, one) for one in counting)
            is_quoted = call.id in conversation.ledger.orphans and not call.name
            assert is_quoted or not shown or response.result in texts[call.id]
            assert not is_quoted or call.id not in texts


def is_named(response: ToolResponse, call: Call) -> bool:
    """Whether both results of `call` have its very id."""
    return evidence_of(response, call.id, call.wire_id) in (Evidence.NAMED, Evidence.EARLY)


@sources
@given(steps=histories(), target=TARGETS)
@pytest.mark.req("REQ-915-006", "REQ-915-008", "REQ-915-012", "REQ-915-026")
def test_every_result_of_a_body_ends_at_one_place_and_is_shown_there(
    source: str, steps: list[Step], target: str
) -> None:
    conversation = read(source, steps)
    given = Counter(step.says for step in steps if step.kind == "result")
    assert Counter(str(response.result) for response in real_responses(conversation)) == given
    check_places(conversation, target)


@files
@given(steps=histories(), target=TARGETS)
@pytest.mark.req("REQ-915-006", "REQ-915-008", "REQ-915-012", "REQ-915-026")
def test_every_result_of_a_file_ends_at_one_place_and_is_shown_there(
    source: str, steps: list[Step], target: str
) -> None:
    file, conversation = read_file(source, steps)
    assert Counter(str(response.result) for response in real_responses(conversation)) == Counter(file.results)
    check_places(conversation, target)


@given(steps=histories(), apart=st.booleans(), target=TARGETS)
@pytest.mark.req("REQ-915-008", "REQ-915-012")
def test_every_result_of_a_history_ends_at_one_place_and_is_shown_there(
    steps: list[Step], apart: bool, target: str
) -> None:
    check_places(talk(*as_entries(steps, apart=apart), user("and now?")), target)


@given(steps=histories(), apart=st.booleans(), to=st.integers(0, 12), target=TARGETS)
@pytest.mark.req("REQ-915-008")
def test_no_result_that_stands_is_lost_by_an_undo(steps: list[Step], apart: bool, to: int, target: str) -> None:
    conversation = talk(*as_entries(steps, apart=apart), user("and now?"))
    conversation.apply(conversation.prepare([Rewound(to=to)]))
    conversation.human("go on")
    body = render(conversation, target, tools=TOOLS).json().decode()
    for response in real_responses(conversation):
        (_, counts), *_ = holders(conversation, response)
        if counts and isinstance(response.result, str) and response.result.startswith("<"):
            assert response.result in body


@given(news=logs(), target=TARGETS)
@pytest.mark.req("REQ-915-008")
def test_every_result_of_any_log_ends_at_one_place_and_is_shown_there(news: list[Entry], target: str) -> None:
    check_places(talk(*marked(news), user("and now?")), target)


def marked(news: list[Entry]) -> list[Entry]:
    """`news` in which every result is a real one that no other one equals."""
    numbers = iter(range(10_000))
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


def asked_and_given(conversation: Conversation) -> list[tuple[object, object]]:
    """The path that each call asked for, and what came back."""
    orphans = conversation.ledger.orphans
    return [
        (call.arguments.get("path"), call.response and call.response.result)
        for call in conversation.ledger.in_order
        if call.id in conversation.ledger.calls and call.id not in orphans
    ]


@sources
@given(steps=orderly())
@pytest.mark.req("REQ-915-006")
def test_what_was_right_stays_right(source: str, steps: list[Step]) -> None:
    conversation = read(source, steps)
    pairs = asked_and_given(conversation)
    assert pairs == [(step.says, f"<of {step.says[1:]}") for step in steps if step.kind == "call"]


@given(source=st.sampled_from(sorted(FILES)), steps=orderly())
@pytest.mark.req("REQ-915-006")
def test_what_was_right_in_a_file_stays_right(source: str, steps: list[Step]) -> None:
    file, conversation = read_file(source, steps)
    right = [(step.says, f"<of {step.says[1:]}") for step in steps if step.kind == "call"]
    if len(file.results) == len(right):
        assert asked_and_given(conversation) == right
