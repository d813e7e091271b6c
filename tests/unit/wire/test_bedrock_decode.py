"""Answers of the Converse API, whole and streamed, and written again."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from event_frames import framed
from legato import parse, render, resolve
from legato.errors import BadAnswer
from legato.model import Answer, Dialect, Ending, HostedTool, Text, Thinking, ToolCall, Usage
from legato.wire.dialects import dialect_parts
from legato.wire.text_forms import REFUSED

from builders import talk, user

CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PARTS = dialect_parts(Dialect.BEDROCK)
RECORDINGS = Path(__file__).resolve().parents[4] / "shared" / "samples" / "opencode-recordings"
SEARCHED = {"toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {"q": "x"}, "type": "server_tool_use"}}
FOUND = {"toolResult": {"toolUseId": "tooluse_9", "type": "nova_grounding_result", "content": [{"text": "found"}]}}


def whole(*content: Any, stop: str = "end_turn", usage: Any = None) -> Any:
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": stop,
        **({"usage": usage} if usage else {}),
    }


def read(body: Any) -> Answer:
    return render(talk(user("go")), CLAUDE).decode(body)


def streamed(*events: Any) -> Answer:
    decoder = render(talk(user("go")), CLAUDE).decoder()
    for event in events:
        decoder.feed(framed(event, Dialect.BEDROCK))
    return decoder.finish()


def delta(at: int, **held: Any) -> Any:
    return {"contentBlockDelta": {"delta": held, "contentBlockIndex": at}}


STOP = {"messageStop": {"stopReason": "end_turn"}}


def test_an_answer_is_read_with_all_that_it_holds() -> None:
    usage = {"inputTokens": 3, "outputTokens": 5, "cacheReadInputTokens": 2, "cacheWriteInputTokens": 1}
    answer = read(
        whole(
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "aGlkZGVu"}},
            {"text": "I look"},
            {"citationsContent": {"content": [{"text": "as "}, {"text": "cited"}], "citations": []}},
            {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"path": "a"}}},
            stop="tool_use",
            usage=usage,
        )
    )
    assert answer.entry.blocks == (
        Thinking("hm", native={"signature": "c2ln"}),
        Thinking(native={"data": "aGlkZGVu"}),
        Text("I look"),
        Text("as cited"),
        ToolCall("read", {"path": "a"}, "tooluse_1"),
    )
    assert (answer.entry.ending, answer.usage) == (Ending.CALLS, Usage(6, 5, 2, 1))


def test_what_the_service_ran_itself_is_kept_for_it() -> None:
    ran, gave, said = read(whole(SEARCHED, FOUND, {"text": "so"})).entry.blocks
    assert [ran, gave, said] == [
        HostedTool("search", {"q": "x"}, wire_id="tooluse_9", native={"blocks": [SEARCHED]}),
        HostedTool("toolResult", result=[{"text": "found"}], wire_id="tooluse_9", native={"blocks": [FOUND]}),
        Text("so"),
    ]


def test_the_name_of_a_block_that_nobody_knows_is_safe_to_keep() -> None:
    (block,) = read(whole({"new\0": {"x": 1}})).entry.blocks
    assert isinstance(block, HostedTool)
    assert block.name == "new\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("stop", "ending"),
    [
        ("end_turn", Ending.DONE),
        ("stop_sequence", Ending.DONE),
        ("max_tokens", Ending.LENGTH),
        ("model_context_window_exceeded", Ending.LENGTH),
        ("guardrail_intervened", Ending.REFUSED),
        ("content_filtered", Ending.REFUSED),
    ],
)
def test_how_an_answer_ended_is_read(stop: str, ending: Ending) -> None:
    assert read(whole({"text": "so"}, stop=stop)).entry.ending is ending
    assert streamed(delta(0, text="so"), {"messageStop": {"stopReason": stop}}).entry.ending is ending


def test_a_call_that_the_limit_cut_is_not_finished() -> None:
    cut = {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {}}}
    (call,) = read(whole(cut, stop="max_tokens")).calls
    assert call.finished is False


def test_an_answer_that_a_guardrail_emptied_says_so() -> None:
    assert read(whole(stop="guardrail_intervened")).entry.blocks == (Text(REFUSED),)


@pytest.mark.parametrize("body", [whole(), {}, {"message": "no"}, {"output": {}, "stopReason": "end_turn"}])
def test_what_holds_no_answer_is_a_bad_one(body: Any) -> None:
    with pytest.raises(BadAnswer):
        read(body)


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_gives_the_answer_that_the_whole_body_gives() -> None:
    answer = streamed(
        {"messageStart": {"role": "assistant"}},
        delta(0, reasoningContent={"text": "h"}),
        delta(0, reasoningContent={"text": "m"}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        delta(1, reasoningContent={"redactedContent": "aGlkZGVu"}),
        delta(2, text="I "),
        delta(2, text="look"),
        {
            "contentBlockStart": {
                "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "read"}},
                "contentBlockIndex": 3,
            }
        },
        delta(3, toolUse={"input": '{"path"'}),
        delta(3, toolUse={"input": ':"a"}'}),
        {"contentBlockStop": {"contentBlockIndex": 3}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 5}}},
    )
    assert answer.entry.blocks == (
        Thinking("hm", native={"signature": "c2ln"}),
        Thinking(native={"data": "aGlkZGVu"}),
        Text("I look"),
        ToolCall("read", {"path": "a"}, "tooluse_1"),
    )
    assert (answer.entry.ending, answer.usage) == (Ending.CALLS, Usage(3, 5))


@pytest.mark.parametrize("events", [[], [delta(0, text="so")], [{"messageStart": {"role": "assistant"}}]])
def test_a_stream_that_breaks_off_is_a_bad_answer(events: list[Any]) -> None:
    with pytest.raises(BadAnswer):
        streamed(*events)


def test_what_was_visible_before_a_stream_broke_off_is_kept() -> None:
    decoder = render(talk(user("go")), CLAUDE).decoder()
    data = framed(delta(0, text="half"), Dialect.BEDROCK) + framed(STOP, Dialect.BEDROCK)[:-3]
    decoder.feed(data)
    partial = decoder.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("half", Ending.CUT)


@pytest.mark.parametrize(
    "name", ["throttlingException", "modelStreamErrorException", "internalServerException", "validationException"]
)
def test_an_exception_in_a_stream_is_told_with_its_name_and_words(name: str) -> None:
    with pytest.raises(BadAnswer, match=f"{name}: no more") as caught:
        streamed(delta(0, text="so"), {name: {"message": "no more"}})
    assert caught.value.facts["error"] == {"type": name, "message": "no more"}


def test_events_of_the_python_client_hold_bytes() -> None:
    decoder = render(talk(user("go")), CLAUDE).decoder()
    for event in (delta(0, reasoningContent={"redactedContent": b"hidden"}), delta(1, text="so"), STOP):
        decoder.event(event)
    assert decoder.finish().entry.blocks == (Thinking(native={"data": "aGlkZGVu"}), Text("so"))
    assert read(whole({"reasoningContent": {"redactedContent": b"hidden"}})).entry.blocks == (
        Thinking(native={"data": "aGlkZGVu"}),
    )


# --- written again ----------------------------------------------------------------------------------------------------

BODY = whole(
    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
    {"text": "so"},
    SEARCHED,
    FOUND,
    {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"path": "a"}}},
    stop="tool_use",
    usage={
        "inputTokens": 3,
        "outputTokens": 5,
        "totalTokens": 11,
        "cacheReadInputTokens": 2,
        "cacheWriteInputTokens": 1,
    },
)


def test_an_answer_is_written_as_it_came() -> None:
    assert PARTS.reply(read(BODY), "m") == {**BODY, "metrics": {"latencyMs": 0}}


def test_a_written_stream_says_what_the_answer_says() -> None:
    answer = read(BODY)
    decoder = render(talk(user("go")), CLAUDE).decoder()
    data = b"".join(PARTS.reply_stream(answer, "m"))
    for at in range(0, len(data), 7):
        decoder.feed(data[at : at + 7])
    again = decoder.finish()
    assert (again.entry, again.usage) == (answer.entry, answer.usage)


# --- recorded ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recorded streams are not on this machine")
def test_recorded_streams_are_read_and_written_again() -> None:
    seen: list[tuple[Ending | None, int]] = []
    for path in sorted(RECORDINGS.glob("*bedrock-converse*.json")):
        for exchange in json.loads(path.read_bytes())["interactions"]:
            route = resolve("bedrock/us.amazon.nova-micro-v1:0")
            parsed = parse(exchange["request"]["body"], route)
            request = render(parsed.conversation(), route, tools=parsed.tools, options=parsed.options)
            request.verify()
            decoder = request.decoder()
            decoder.feed(base64.b64decode(exchange["response"]["body"]))
            answer = decoder.finish()
            again = request.decoder()
            again.feed(b"".join(PARTS.reply_stream(answer, "m")))
            assert again.finish().entry == answer.entry
            seen.append((answer.entry.ending, len(answer.calls)))
    assert sorted(seen) == [(Ending.CALLS, 1), (Ending.CALLS, 1), (Ending.DONE, 0)]
