"""A transcript that is taken as a whole is recorded as if each of its entries had been recorded by itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from legato.ledger import Ledger
from legato.model import (
    UNMINTED,
    Authority,
    Block,
    CallId,
    ClosureReason,
    Ending,
    Entry,
    Media,
    MediaKind,
    Record,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.model.blocks import CallKind
from legato.model.records import Imported, Recorded
from legato.transcript import Conversation

from builders import ai, call, calls, response, result, talk, tool, units, user
from strategies import GOOD_ENDS, entries, interleaved, logs, turns

Change: TypeAlias = Callable[[Entry], list[Entry]]
CHANGES: tuple[Change, ...] = (
    lambda entry: [],
    lambda entry: [entry, entry],
    lambda entry: [replace(entry, answer="m1")],
    lambda entry: [replace(entry, ending=Ending.CUT)],
    lambda entry: [replace(entry, authority=Authority.INSTRUCTION)],
    lambda entry: [replace(entry, blocks=entry.blocks[::-1])],
    lambda entry: [replace(entry, speaker=Speaker.AI)],
    lambda entry: [replace(entry, speaker=Speaker.TOOL)],
    lambda entry: [replace(entry, blocks=(*entry.blocks, *entry.blocks))],
    lambda entry: [entry, replace(entry, speaker=Speaker.HUMAN)],
    lambda entry: [replace(entry, blocks=(Text(""),))],
    lambda entry: [replace(entry, blocks=(Text(" \n"),))],
    lambda entry: [replace(entry, blocks=(Thinking("hm"),))],
)


@st.composite
def changed_turns(draw: st.DrawFn) -> list[Entry]:
    """A turn of every day in which one entry is not as usual."""
    turn = draw(turns(GOOD_ENDS))
    if not turn:
        return turn
    index = draw(st.integers(0, len(turn) - 1))
    return [*turn[:index], *draw(st.sampled_from(CHANGES))(turn[index]), *turn[index + 1 :]]


conversation_module = import_module("legato.transcript.conversation")
TRANSCRIPTS = st.lists(
    st.one_of(turns(GOOD_ENDS), turns(), changed_turns(), entries().map(lambda entry: [entry])), max_size=8
).map(lambda parts: [entry for part in parts for entry in part])


ROW = [
    user("look at both"),
    ai("I will", call("call_a"), call("call_b", "grep")),
    tool(response("call_a"), response("call_b", name="grep")),
    ai("and once more", call("toolu_c"), call("toolu_d")),
    result("toolu_c"),
    result("toolu_d"),
    ai("done"),
    user("thanks"),
]


@pytest.mark.parametrize("index", range(len(ROW)))
@pytest.mark.parametrize("change", CHANGES)
def test_an_entry_that_is_not_as_usual_is_recorded_as_it_would_be(index: int, change: Change) -> None:
    news = [*ROW[:index], *change(ROW[index]), *ROW[index + 1 :]]
    for stop in range(len(news) + 1):
        assert_taken_as_recorded(talk(), talk(), news[:stop])


ODD_BLOCKS: tuple[Block, ...] = (
    Text("after the calls"),
    Text("signed", native={"signature": "c2ln"}),
    Text(""),
    Text(" \n"),
    Thinking("hm"),
    replace(call("call_b", "grep"), native={"thoughtSignature": "c2ln"}),
    replace(call("call_b", "grep"), raw="[1]"),
    replace(call("call_b", "grep"), adopts=CallId("hist_tool_x")),
    replace(call("call_b", "grep"), kind=CallKind.CUSTOM),
    call("toolu_a"),
    call("call_a"),
    call("call_a_2"),
    call(""),
    response("call_b", ""),
    response("call_b", " "),
    response("call_b", {"rows": 1}),
    response("call_b", "half of it", error="broken"),
    response("call_b", "half of it", reason=ClosureReason.DENIED),
    response("call_b", "by place", guessed=True),
    response("call_b", "seen", media=(Media(kind=MediaKind.IMAGE, mime="image/png", data="aGk="),)),
    response("call_b", "named", call_id=CallId("hist_tool_a")),
    response("call_b", "with a place of its own", ordinal=7),
    response("call_a", "the same once more"),
)


@pytest.mark.parametrize("block", ODD_BLOCKS)
@pytest.mark.parametrize("index", [1, 2, 3, 4])
def test_a_block_that_is_not_as_usual_is_recorded_as_it_would_be(index: int, block: Block) -> None:
    entry = ROW[index]
    for place in range(len(entry.blocks)):
        before, after = entry.blocks[:place], entry.blocks[place + 1 :]
        for blocks in ((*before, block, *after), (*before, block, entry.blocks[place], *after)):
            news = [*ROW[:index], replace(entry, blocks=blocks), *ROW[index + 1 :]]
            for stop in range(index, len(news) + 1):
                assert_taken_as_recorded(talk(), talk(), news[:stop])


def test_what_is_known_of_a_result_that_came_before_its_call_stays_so() -> None:
    before = [result("call_a"), calls("call_a"), user("go on")]
    assert_taken_as_recorded(talk(*before), talk(*before), [*ROW[3:], calls("call_e"), result("call_e")])


@pytest.mark.parametrize(
    ("once", "again"),
    [
        ("call_a", "call_a"),
        ("call_a", "toolu_a"),
        ("functions.read:0", "functions.read:0"),
        ("é", "call_é"),
        ("", ""),
        ("hist_tool_a", "hist_tool_a"),
        ("call_call_a", "hist_tool_call_a"),
        ("call_call_a_b", "hist_tool_call_a_b"),
        ("hist_tool_é", "toolu_é"),
    ],
)
def test_an_id_that_is_used_again_in_a_row_gets_another_name(once: str, again: str) -> None:
    news = [calls(once), result(once), user("go on"), calls(again), result(again), calls("call_b"), result(again)]
    for stop in range(len(news) + 1):
        assert_taken_as_recorded(talk(), talk(), news[:stop])


def test_an_id_of_ours_means_the_call_of_that_name() -> None:
    named = replace(call("q"), id=CallId("hist_tool_call_y"), ordinal=0)
    before = [Recorded(entry=ai(named)), Recorded(entry=user("go on"))]
    taken, recorded = Conversation(before), Conversation(before)
    assert_taken_as_recorded(taken, recorded, [calls("hist_tool_call_y"), result("hist_tool_call_y")])


def test_a_name_that_only_the_ledger_knows_is_not_new() -> None:
    unnoted = [
        replace(call("q1"), id=CallId("hist_tool_z"), ordinal=5),
        replace(call("q2"), id=CallId("hist_tool_a"), ordinal=0),
    ]
    before = [Recorded(entry=ai(block)) for block in unnoted] + [Recorded(entry=user("go"))]
    taken, recorded = Conversation(before), Conversation(before)
    assert_taken_as_recorded(taken, recorded, [calls("call_a"), result("call_a")])


def test_an_id_that_others_named_otherwise_is_not_new() -> None:
    twins = ai(*(replace(call("call_a"), id=CallId(f"hist_tool_x{n}"), ordinal=n, arguments={"n": n}) for n in (0, 1)))
    before = [Recorded(entry=twins), Recorded(entry=user("go on"))]
    taken, recorded = Conversation(before), Conversation(before)
    assert_taken_as_recorded(taken, recorded, ROW[1:3])


def test_a_name_that_stands_for_a_result_that_was_adopted_is_not_new() -> None:
    orphan = ToolResponse(call_id=CallId("hist_tool_a"), tool_name="read", result="early")
    adopter = replace(call("zzz"), id=CallId("hist_tool_b"), ordinal=0, adopts=CallId("hist_tool_a"))
    before = [Recorded(entry=tool(orphan)), Recorded(entry=ai(adopter)), Recorded(entry=user("go"))]
    taken, recorded = Conversation(before), Conversation(before)
    assert_taken_as_recorded(taken, recorded, [calls("call_a"), result("call_a", "mine"), user("x")])


def test_results_that_are_not_one_for_each_entry_are_recorded_as_they_would_be() -> None:
    three = calls("call_a", "call_b", "call_c")
    assert_taken_as_recorded(
        talk(), talk(), [three, tool(response("call_a"), response("call_b")), result("call_c"), user("go on")]
    )


@given(
    before=interleaved(max_size=4), imported=st.integers(0, 4), news=TRANSCRIPTS, cut=st.integers(0, 12), after=logs(4)
)
def test_a_taken_transcript_is_recorded_as_its_entries_would_be(
    before: list[Entry | Record], imported: int, news: list[Entry], cut: int, after: list[Entry]
) -> None:
    taken, recorded = talk(*before), talk(*before)
    for conversation in (taken, recorded):
        conversation.apply([Imported(format="x", digest="x", entries=imported)])
    news = with_safe_values(news)
    assert_taken_as_recorded(taken, recorded, news[:cut])
    assert_taken_as_recorded(taken, recorded, news[cut:])
    for conversation in (taken, recorded):
        conversation.apply(conversation.prepare(after))
    assert state(taken) == state(recorded)


def assert_taken_as_recorded(taken: Conversation, recorded: Conversation, news: list[Entry]) -> None:
    taken.take(news)
    for entry in news:
        recorded.record(entry)
    assert state(taken) == state(recorded)


def with_safe_values(news: list[Entry]) -> list[Entry]:
    """`news` as a reader would give them."""
    records = Conversation().prepare(news)
    return [
        replace(record.entry, blocks=tuple(unnamed(block) for block in record.entry.blocks))
        for record in records
        if isinstance(record, Recorded)
    ]


def unnamed(block: Block) -> Block:
    if isinstance(block, ToolCall):
        return replace(block, id=UNMINTED, ordinal=-1, adopts=None)
    if isinstance(block, ToolResponse):
        return replace(block, call_id=UNMINTED, ordinal=-1, guessed=False)
    return block


def state(conversation: Conversation) -> dict[str, Any]:
    composer = conversation.composer
    as_it_is = [(slot.is_stale, slot.revision, slot.cause, slot.unit) for slot in composer.slots]
    touched = [slot.first for slot in composer.touched]
    view = conversation.view()
    view.refresh()
    return {
        "log": list(conversation.log),
        "ledger": conversation.ledger,
        "replayed": conversation.ledger == Ledger.replay(conversation.log),
        "names": vars(conversation._identity),
        "instructions": conversation.instructions,
        "as it is": as_it_is,
        "touched": touched,
        "units": units(conversation),
        "slots": [(slot.kind, slot.first, slot.last, slot.blocks) for slot in composer.slots],
        "decisions": [view.decisions(index) for index in range(len(view.slots))],
    }
