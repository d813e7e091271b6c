"""When things were said and what answers took, as far as a file tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from file_samples import ClaudeSession, used
from file_samples import use as call
from legato.formats import WRITTEN, read, write
from legato.formats.fields import as_seconds, as_time
from legato.model import Entry, Speaker, Text, Usage
from legato.model.codec import dump_log
from legato.model.records import Recorded, StepEnded

DAY = 1735689600.0
"""the first moment of 2025"""


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_claude_code_session_tells_when_each_record_was_written():
    session = ClaudeSession().user("Go.").model(call("toolu_a")).user([used("toolu_a")])

    document = read(lines(session.records))

    assert document.times == {0: DAY, 1: DAY + 1, 2: DAY + 2}


def test_the_tokens_of_an_answer_over_several_lines_are_counted_once_as_the_last_line_has_them():
    session = ClaudeSession().user("Go.")
    counts = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100}
    for output, block in ((1, {"type": "text", "text": "Well."}), (9, call("toolu_a"))):
        session.add(
            "assistant", [block], id="msg_1", model="claude-sonnet-4-5", usage={**counts, "output_tokens": output}
        )

    document = read(lines(session.user([used("toolu_a")]).records))

    assert document.usages == {1: Usage(input=123, output=9, cache_read=100, cache_write=20)}


def test_a_rollout_tells_the_tokens_of_an_answer_after_the_results_of_its_calls():
    def line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"2025-01-01T00:00:0{second}Z", "type": kind, "payload": payload}

    counts = {"input_tokens": 50, "cached_input_tokens": 30, "output_tokens": 7, "reasoning_output_tokens": 2}
    rollout = [
        line(0, "session_meta", id="s"),
        line(1, "response_item", type="message", role="user", content=[{"type": "input_text", "text": "Go."}]),
        line(2, "response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
        line(3, "response_item", type="function_call_output", call_id="c1", output="ok"),
        line(4, "event_msg", type="token_count", info={"last_token_usage": counts}),
        line(5, "event_msg", type="token_count", info=None),
    ]

    document = read(lines(rollout))

    assert document.times == {0: DAY + 1, 1: DAY + 2, 2: DAY + 3}
    assert document.usages == {1: Usage(input=50, output=7, cache_read=30, reasoning=2)}


def test_a_chat_of_gemini_cli_tells_times_and_tokens():
    def at(second: int) -> str:
        return f"2025-01-01T00:00:0{second}.000Z"

    result = {"functionResponse": {"id": "ls_1", "name": "ls", "response": {"output": "a.txt"}}}
    made = {"id": "ls_1", "name": "ls", "args": {}, "status": "success", "timestamp": at(4), "result": [result]}
    counts = {"input": 100, "output": 7, "cached": 60, "thoughts": 14, "tool": 0, "total": 121}
    chat = [
        {"sessionId": "s", "projectHash": "p", "startTime": at(0), "lastUpdated": at(0)},
        {"id": "u1", "timestamp": at(1), "type": "user", "content": [{"text": "Look."}]},
        {
            "id": "m1", "timestamp": at(2), "type": "gemini", "content": "", "toolCalls": [made], "tokens": counts,
            "model": "gemini-2.5-pro",
        },
        {"id": "m2", "timestamp": at(5), "type": "gemini", "content": "One file.", "model": "gemini-2.5-pro"},
    ]  # fmt: skip

    document = read(lines(chat))

    assert document.times == {0: DAY + 1, 1: DAY + 2, 2: DAY + 4, 3: DAY + 5}
    assert document.usages == {1: Usage(input=100, output=21, cache_read=60, reasoning=14)}


def test_messages_of_cline_and_goose_tell_when_they_were_written():
    cline = [{"role": "user", "content": "Go.", "ts": DAY * 1_000}, {"role": "assistant", "content": "Yes."}]
    said = {"role": "user", "content": [{"type": "text", "text": "Go."}], "created": int(DAY)}

    assert read(json.dumps(cline).encode()).times == {0: DAY}
    assert read(lines([{"working_dir": "/", "message_count": 1}, said])).times == {0: DAY}


def test_a_log_tells_the_time_of_its_records_and_the_tokens_of_its_steps():
    log = [
        Recorded(entry=Entry(Speaker.HUMAN, (Text("Go."),)), at=5.0),
        Recorded(entry=Entry(Speaker.AI, (Text("Done."),), answer="a"), at=6.5),
        StepEnded(step=1, usage=Usage(input=4, output=2)),
    ]

    document = read(b"".join(dump_log(log)))

    assert (document.times, document.usages) == ({0: 5.0, 1: 6.5}, {1: Usage(input=4, output=2)})


def test_a_log_that_is_made_of_a_session_keeps_its_times():
    session = ClaudeSession().user("Go.").model(call("toolu_a")).user([used("toolu_a")])
    document = read(lines(session.records))

    assert read(write(document, "legato").data).times == document.times


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2025-01-01T00:00:00Z", DAY),
        ("2025-01-01T01:00:00+01:00", DAY),
        ("2025-01-01T00:00:00", DAY),
        (1735689600000, DAY),
        ("[trimmed]", None),
        ("0001-01-01T00:00:00+23:00", None),
        (7, None),
        (True, None),
        (None, None),
        (10**400, None),
        (-(10**400), None),
        (float("inf"), None),
    ],
)
def test_a_moment_is_read_as_programs_write_it(written: Any, moment: float | None):
    assert as_time(written) == moment


@pytest.mark.parametrize(("written", "moment"), [(int(DAY), DAY), ("2025-01-01", None), (1e300, None), (10**400, None)])
def test_programs_that_count_seconds_are_read_as_such(written: Any, moment: float | None):
    assert as_seconds(written) == moment


@pytest.mark.parametrize("at", [1e300, -1e300, 1e17, -5.0])
def test_a_log_with_a_time_that_no_calendar_has_is_written_for_every_agent(at: float):
    document = read(b"".join(dump_log([Recorded(entry=Entry(Speaker.HUMAN, (Text("Go."),)), at=at)])))

    assert document.times == {}
    assert [read(write(document, format_).data).entries for format_ in WRITTEN] == [document.entries] * len(WRITTEN)


SPENT = Usage(input=123, output=9, cache_read=100, cache_write=20)


@pytest.mark.parametrize(
    ("records", "usage"),
    [
        pytest.param(
            [
                {"type": "session", "id": "s"},
                {
                    "type": "message",
                    "timestamp": "2025-01-01T00:00:00Z",
                    "message": {
                        "role": "assistant",
                        "content": "Well.",
                        "stopReason": "stop",
                        "usage": {"input": 3, "output": 9, "cacheRead": 100, "cacheWrite": 20},
                    },
                },
            ],
            SPENT,
            id="pi",
        ),
        pytest.param(
            [
                {
                    "info": {
                        "role": "assistant",
                        "time": {"created": DAY * 1_000},
                        "tokens": {"input": 3, "output": 9, "reasoning": 4, "cache": {"read": 100, "write": 20}},
                    },
                    "parts": [{"type": "text", "text": "Well."}],
                },
            ],
            Usage(input=123, output=9, cache_read=100, cache_write=20, reasoning=4),
            id="opencode",
        ),
        pytest.param(
            [
                {
                    "type": "assistant",
                    "uuid": "a",
                    "parentUuid": None,
                    "timestamp": "2025-01-01T00:00:00Z",
                    "message": {"parts": [{"text": "Well."}]},
                    "usageMetadata": {
                        "promptTokenCount": 123,
                        "candidatesTokenCount": 9,
                        "thoughtsTokenCount": 4,
                        "totalTokenCount": 132,
                        "cachedContentTokenCount": 100,
                    },
                },
            ],
            Usage(input=123, output=9, cache_read=100, reasoning=4),
            id="qwen-code",
        ),
        pytest.param(
            [
                {"type": "context.append_loop_event", "time": DAY * 1_000, "event": event}
                for event in (
                    {"type": "step.begin", "uuid": "s"},
                    {"type": "content.part", "stepUuid": "s", "part": {"type": "text", "text": "Well."}},
                    {
                        "type": "step.end",
                        "uuid": "s",
                        "usage": {"inputOther": 3, "output": 9, "inputCacheRead": 100, "inputCacheCreation": 20},
                    },
                )
            ],
            SPENT,
            id="kimi-code",
        ),
    ],
)
def test_other_agents_tell_it_in_their_own_words(records: list[dict[str, Any]], usage: Usage):
    document = read(lines(records))

    assert document.times == {0: DAY}
    assert document.usages == {0: usage}


def test_the_log_of_kimi_cli_counts_seconds():
    begun = {"timestamp": DAY, "message": {"type": "TurnBegin", "payload": {"user_input": "Go."}}}

    assert read(lines([begun, begun])).times == {0: DAY, 1: DAY}
