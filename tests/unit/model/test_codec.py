"""Records survive a round trip, and what is unknown is refused by name."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from legato.errors import CodecError
from legato.model import CallId, Code, Entry, HostedTool, Media, MediaKind, Record, ToolCall, Usage
from legato.model.codec import (
    VERSION,
    decode_record,
    decode_records,
    dump_log,
    encode_record,
    load_log,
)
from legato.model.records import (
    Answered,
    Asked,
    Compacted,
    CompactionKind,
    ContentRefused,
    Imported,
    Opened,
    ReasoningRefused,
    Recorded,
    Restored,
    Rewound,
    RouteSelected,
    Scope,
    Started,
    StepBegan,
    StepEnded,
    TurnBegan,
    TurnCause,
    TurnEnded,
    TurnOutcome,
    Verdict,
)

from builders import ai, call, origin, response, thought, tool, user

RICH = Entry(
    "ai",  # type: ignore[arg-type]  # as it stands in a file
    (
        thought("why", signature="abc"),
        *ai("text").blocks,
        ToolCall("read", {"path": None}, "x", raw="{", finished=False, native={"thoughtSignature": "s"}),
        Code("print(1)", "python"),
        HostedTool("search", {"q": "x"}, {"hits": 2}, native={"item": {}}),
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
    ),
    origin=origin("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
    answer="msg_1",
)

RECORDS: list[Record] = [
    Opened(incarnation=2, parent="p", at=1.5),
    Imported(format="claude-code", digest="d", entries=3),
    Recorded(entry=RICH),
    Recorded(entry=tool(response("x", {"ok": True}, media=(Media(MediaKind.IMAGE, "image/png", url="u"),)))),
    RouteSelected(route="a/b"),
    TurnBegan(turn=1, route="a/b", cause=TurnCause.CONTINUATION),
    TurnEnded(turn=1, outcome=TurnOutcome.FAILED, detail="why"),
    StepBegan(step=1, target="a/b", attempt=2, digest="d", closures={"hist_tool_x": "interrupted"}),  # type: ignore[dict-item]
    StepEnded(step=1, usage=Usage(1, 2, 3, 4, 5), served="m"),
    Asked(call="hist_tool_x", digest="d"),  # type: ignore[arg-type]
    Answered(call="hist_tool_x", verdict=Verdict.DENIED, scope=Scope.SESSION, reason="no", arguments={"a": 1}),  # type: ignore[arg-type]
    Started(call="hist_tool_x", digest="d"),  # type: ignore[arg-type]
    Compacted(kind=CompactionKind.COVER, text="t", window=1, first=0, last=4, digest="d"),
    Restored(compaction=4),
    Rewound(to=3),
    ReasoningRefused(origin=origin("anthropic/claude-sonnet-4-5")),
    ContentRefused(provider="anthropic", calls=(CallId("hist_tool_a"),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_survives_a_round_trip(record: Record) -> None:
    again = decode_record(encode_record(record))
    assert encode_record(again) == encode_record(record)
    assert type(again) is type(record)


def test_the_examples_hold_every_kind_of_record() -> None:
    assert {type(record) for record in RECORDS} == set(get_args(Record))


def test_records_in_one_go_are_what_they_are_one_by_one() -> None:
    data = [encode_record(record) for record in RECORDS]
    assert decode_records(data) == [decode_record(one) for one in data]
    assert decode_records([]) == []


def test_a_damaged_record_among_others_is_refused() -> None:
    good = encode_record(RECORDS[0])
    for bad in (b"", b"{", b"null", b'{"record":"teleported"}', good + b"," + good):
        with pytest.raises(CodecError):
            decode_records([good, bad, good])


@pytest.mark.parametrize(
    ("damaged", "named"),
    [
        ({"record": "recorded", "entry": {"speaker": "ai", "blocks": [{"type": "hologram"}]}}, "hologram"),
        (
            {"record": "recorded", "entry": {"speaker": "ai", "blocks": [{"type": "text", "text": ""}], "mood": 1}},
            "mood",
        ),
        ({"record": "recorded", "entry": {"speaker": "oracle", "blocks": []}}, "oracle"),
        ({"record": "teleported"}, "teleported"),
        ({"record": "opened", "incarnation": 1, "planet": "x"}, "planet"),
    ],
)
def test_what_a_newer_version_wrote_is_refused_by_name(damaged: object, named: str) -> None:
    with pytest.raises(CodecError, match=named):
        decode_record(msgspec.json.encode(damaged))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b"null"])
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode_record(data)


def test_a_stored_entry_in_which_nobody_says_anything_is_refused() -> None:
    with pytest.raises(CodecError, match=r"length >= 1 - at `\$\.entry\.blocks`"):
        decode_record(b'{"record":"recorded","entry":{"speaker":"human","blocks":[]}}')


@pytest.mark.parametrize("name", ["result of call_a", "a", "hist_tool_", "hist_tool_a\n", "hist_tool_" + "a" * 36])
@pytest.mark.parametrize(
    ("block", "field"),
    [
        ({"type": "tool_call", "name": "ls"}, "id"),
        ({"type": "tool_call", "name": "ls"}, "adopts"),
        ({"type": "tool_response"}, "call_id"),
        ({"type": "tool_response"}, "displaces"),
    ],
)
def test_a_name_that_was_never_given_to_a_call_is_refused(block: dict[str, str], field: str, name: str) -> None:
    stored = {"record": "recorded", "entry": {"speaker": "ai", "blocks": [block | {field: name}]}}
    with pytest.raises(CodecError, match=rf"at `\$\.entry\.blocks\[0\]\.{field}`"):
        decode_record(msgspec.json.encode(stored))
    decode_record(msgspec.json.encode(stored).replace(msgspec.json.encode(name), b'"hist_tool_a_2"'))


def test_a_log_survives_a_round_trip() -> None:
    log = [Opened(incarnation=1), Recorded(entry=user("hi")), Recorded(entry=ai(call()))]
    assert list(load_log(dump_log(log))) == log


def test_a_newer_log_is_refused_with_both_versions() -> None:
    with pytest.raises(CodecError, match=f"version {VERSION + 1}.*version {VERSION}"):
        list(load_log([b'{"format":"legato-log","version":%d}' % (VERSION + 1)]))


@pytest.mark.parametrize("first", [b"", b"{}", b"nonsense", b"[]"])
def test_a_file_that_is_not_a_log_is_refused(first: bytes) -> None:
    with pytest.raises(CodecError, match="not a Legato log"):
        list(load_log([first]))


def test_a_damaged_line_is_named() -> None:
    lines = list(dump_log([Opened(incarnation=1)]))
    with pytest.raises(CodecError, match="line 3"):
        list(load_log([*lines, b"{\n"]))


def test_blank_lines_in_a_log_are_skipped() -> None:
    lines = list(dump_log([Opened(incarnation=1)]))
    assert list(load_log([lines[0], b"\n", lines[1], b"  \n"])) == [Opened(incarnation=1)]


@pytest.mark.parametrize(
    "record",
    [
        {"record": "one\ntwo"},
        {"record": "opened", "incarnation": 1, "a\x1b]52;c;\u202e": 1},
        {"record": "recorded", "entry": {"speaker": "a\r\nb", "blocks": []}},
        {"record": "x" * 100_000},
    ],
    ids=["tag", "field", "word", "long"],
)
def test_what_is_unknown_is_quoted_in_one_line_that_a_terminal_can_show(record: object) -> None:
    with pytest.raises(CodecError) as refused:
        decode_record(msgspec.json.encode(record))
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 2_000


@pytest.mark.parametrize(("length", "is_cut"), [(10, False), (100_000, True)])
def test_what_is_quoted_and_cut_is_marked_as_cut(length: int, is_cut: bool) -> None:
    with pytest.raises(CodecError) as refused:
        decode_record(msgspec.json.encode({"record": "x" * length}))
    assert ("x…" in refused.value.message) is is_cut
