"""Whatever an answer holds, it is read or refused, and what was recorded can be sent to anybody from then on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import render, resolve
from legato.errors import BadAnswer
from legato.model import Dialect, Entry, HostedTool, Speaker, Text, Thinking, ToolCall
from legato.wire.event_stream import write_frame

from builders import ROUTES, ai, origin, talk, thought, user
from strategies import ANY_NATIVE, NOT_UTF8, RECORDS, SMALL_JSON, Body


def anthropic(records: list[Body]) -> Body:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    return {"type": "message", "role": "assistant", "content": [thinking, *records], "stop_reason": "end_turn"}


def gemini(records: list[Body]) -> Body:
    parts = [{"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, *records]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


def responses(records: list[Body]) -> Body:
    thinking = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}
    return {"object": "response", "status": "completed", "output": [thinking, *records]}


def chat(records: list[Body]) -> Body:
    message = {"role": "assistant", "content": [{"type": "text", "text": "so"}, *records], "reasoning_details": records}
    calls = [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
    calls += [{**record, "function": {"name": "read", "arguments": "{}"}} for record in records[:1]]
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": {**message, "tool_calls": calls}}]}


def vercel(records: list[Body]) -> Body:
    return {"content": [{"type": "reasoning", "text": "hm"}, *records], "finishReason": "stop"}


def bedrock(records: list[Body]) -> Body:
    thinking = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    held = [{str(record.get("type", "text")): record} for record in records]
    return {"output": {"message": {"content": [thinking, *records, *held]}}, "stopReason": "end_turn"}


ANSWERS: dict[Dialect, Callable[[list[Body]], Body]] = {
    Dialect.ANTHROPIC: anthropic,
    Dialect.GEMINI: gemini,
    Dialect.OPENAI_RESPONSES: responses,
    Dialect.OPENAI_CHAT: chat,
    Dialect.VERCEL: vercel,
    Dialect.BEDROCK: bedrock,
}
routes = pytest.mark.parametrize("route", ROUTES)


def assert_anybody_takes(entries: list[Entry]) -> None:
    for route in ROUTES:
        request = render(talk(user("go"), *entries, user("and now?")), route)
        request.verify()
        assert json.loads(request.json()) == request.body


@routes
@given(records=st.lists(RECORDS, min_size=1, max_size=3))
def test_whatever_stands_in_an_answer_it_can_be_sent_on(route: str, records: list[Body]) -> None:
    request = render(talk(user("go")), route)
    try:
        answer = request.decode(ANSWERS[resolve(route).dialect](records))
    except BadAnswer:
        return
    assert_anybody_takes([answer.entry])


@routes
@given(natives=st.tuples(ANY_NATIVE, ANY_NATIVE, ANY_NATIVE, ANY_NATIVE))
def test_whatever_opaque_data_somebody_recorded_it_can_be_sent_on(route: str, natives: tuple[Body, ...]) -> None:
    entry = Entry(
        Speaker.AI,
        (
            Thinking("hm", native=natives[0]),
            Text("so", native=natives[1]),
            HostedTool("web_search", {"q": 1}, "found", native=natives[2]),
            ToolCall("read", {}, "call_1", native=natives[3]),
        ),
        origin=origin(route),
    )
    assert_anybody_takes([entry])


@routes
@given(text=st.one_of(st.just("\ud800"), st.text(st.characters(), max_size=20)), is_bytes=st.booleans())
def test_what_is_no_answer_is_a_bad_answer(route: str, text: str, is_bytes: bool) -> None:
    request = render(talk(user("go")), route)
    with pytest.raises(BadAnswer):
        request.decode(text.encode("utf-8", "surrogatepass") if is_bytes else text)


@routes
@given(value=SMALL_JSON, data=st.binary(max_size=40))
def test_what_is_no_stream_is_a_bad_answer(route: str, value: Any, data: bytes) -> None:
    request = render(talk(user("go")), route)
    framed = write_frame("contentBlockDelta", json.dumps(value).encode())
    for sent in (data, b"data: " + data + b"\n\n", f"data: {json.dumps(value)}\n\n".encode(), framed):
        decoder = request.decoder()
        with pytest.raises(BadAnswer):
            decoder.feed(sent)
            decoder.finish()


def test_an_answer_with_half_an_emoji_is_read() -> None:
    body = '{"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "half \\ud83d of it"}}]}'
    request = render(talk(user("go")), "openai/gpt-4o")
    assert request.decode(body).text == request.decode(body.encode()).text == "half \ufffd of it"


@pytest.mark.parametrize("route", ["anthropic/claude-sonnet-4-5"])
@pytest.mark.parametrize("kind", [None, 5, "", {"a": 1}, ["text"]])
@pytest.mark.parametrize("thoughts", [(), (thought("hm", signature="c2ln"),)])
def test_a_block_without_a_usable_type_is_quoted(route: str, kind: Any, thoughts: tuple[Thinking, ...]) -> None:
    request = render(talk(user("go")), route)
    odd = {"type": kind, "note": "kept"} if kind is not None else {"note": "kept"}
    entry = request.decode({"type": "message", "content": [odd, {"type": "text", "text": "so"}]}).entry
    conversation = talk(user("go"), ai(*thoughts, *entry.blocks, origin=entry.origin), user("and?"))
    again = render(conversation, route)
    again.verify()
    said = again.body["messages"][1]["content"]
    assert [block["type"] for block in said] == ["thinking"] * len(thoughts) + ["text", "text"]
    assert '"note":"kept"' in said[-2]["text"]
    assert {"malformed-native", "hosted-tool"} <= {decision.reason for decision in again.report.decisions}


def test_a_name_that_is_no_utf8_reaches_no_body() -> None:
    tools = [{"name": NOT_UTF8, "description": NOT_UTF8, "parameters": {"type": "object", "title": NOT_UTF8}}]
    request = render(talk(user("go")), "openai/gpt-4o", system=NOT_UTF8, tools=tools)
    assert "\ufffd" in request.body["messages"][0]["content"]
    assert request.body["tools"][0]["function"]["description"] == "caf\ufffd"
    request.verify()
