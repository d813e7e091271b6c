"""How a response body of the Messages API becomes an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import Message

from block_support import claude
from dialect_support import SAMPLES, needs_samples
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.anthropic.decode import decode
from legato.wire.names import NameTable

TARGET = claude()
NAMES = NameTable(NameRule.ANTHROPIC)


def body(*content: JsonObject, stop: str | None = "end_turn", **more: Any) -> JsonObject:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1-20260101",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
        **more,
    }


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def blocks(*content: JsonObject, stop: str | None = "end_turn") -> tuple[Any, ...]:
    return decode(body(*content, stop=stop), TARGET, NAMES).entry.blocks


def test_an_answer_keeps_order_signatures_ids_and_usage() -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 100,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    read = decode(
        body(
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "secret"},
            text("I look"),
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}, "caller": {"type": "direct"}},
            stop="tool_use",
            usage=usage,
        ),
        TARGET,
        NAMES,
    )
    assert read == Answer(
        Entry(
            Speaker.AI,
            (
                Thinking("hm", native={"signature": "sig"}),
                Thinking(native={"data": "secret"}),
                Text("I look"),
                ToolCall("read", {"path": "a"}, "toolu_1"),
            ),
            origin=TARGET.origin("model-1-20260101"),
            ending=Ending.CALLS,
        ),
        Usage(input=113, output=5, cache_read=100, cache_write=10, reasoning=2),
        "model-1-20260101",
        "msg_1",
    )


@pytest.mark.parametrize(
    ("stop", "ending"),
    [
        ("end_turn", Ending.DONE),
        ("stop_sequence", Ending.DONE),
        ("max_tokens", Ending.LENGTH),
        ("model_context_window_exceeded", Ending.LENGTH),
        ("pause_turn", Ending.PAUSED),
        ("refusal", Ending.REFUSED),
        ("something_new", Ending.CUT),
        (None, Ending.DONE),
    ],
)
def test_each_stop_reason_is_an_ending(stop: str | None, ending: Ending) -> None:
    assert decode(body(text("x"), stop=stop), TARGET, NAMES).entry.ending is ending


def test_an_ordinary_end_after_calls_is_an_ending_with_calls() -> None:
    use = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    assert decode(body(use), TARGET, NAMES).entry.ending is Ending.CALLS


def test_a_call_at_the_end_of_an_answer_that_was_cut_is_unfinished() -> None:
    use = {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a"}}
    other = {**use, "id": "b"}
    assert blocks(use, other, stop="max_tokens") == (
        ToolCall("read", {"path": "a"}, "a"),
        ToolCall("read", {"path": "a"}, "b", finished=False),
    )


def test_names_are_restored() -> None:
    names = NameTable(NameRule.ANTHROPIC)
    use = {"type": "tool_use", "id": "a", "name": names.project("fs.read"), "input": {}}
    assert decode(body(use), TARGET, names).calls == (ToolCall("fs.read", {}, "a"),)


def test_arguments_that_are_no_object_are_kept_raw() -> None:
    assert blocks({"type": "tool_use", "id": "a", "name": "read", "input": [1]}) == (
        ToolCall("read", {}, "a", raw="[1]"),
    )


def test_a_call_made_by_the_providers_code_keeps_its_caller() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    assert blocks({"type": "tool_use", "id": "a", "name": "read", "input": {}, "caller": caller}) == (
        ToolCall("read", {}, "a", native={"caller": caller}),
    )


def test_what_the_provider_ran_is_one_block_with_both_of_its_own() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u"}]}
    assert blocks({**use, "caller": None}, text("so"), found) == (
        HostedTool("web_search", {"query": "q"}, [{"url": "u"}], "srvtoolu_1", native={"blocks": [use, found]}),
        Text("so"),
    )
    assert blocks(found, use) == (
        HostedTool("web_search", {}, [{"url": "u"}], "srvtoolu_1", native={"blocks": [found]}),
        HostedTool("web_search", {"query": "q"}, wire_id="srvtoolu_1", native={"blocks": [use]}),
    )


def test_a_kind_of_block_that_is_new_to_us_is_kept_for_its_provider() -> None:
    upload = {"type": "container_upload", "file_id": "file_1"}
    assert blocks(upload, text("x")) == (HostedTool("container_upload", native={"blocks": [upload]}), Text("x"))


def test_citations_are_kept_with_their_text() -> None:
    cited = {**text("so"), "citations": [{"type": "char_location", "cited_text": "x", "file_id": None}]}
    assert blocks(cited) == (Text("so", native={"citations": [{"type": "char_location", "cited_text": "x"}]}),)


def test_what_holds_nothing_is_left_out() -> None:
    assert blocks(text(""), {"type": "thinking", "thinking": "", "signature": ""}, {}, text("x")) == (Text("x"),)


def test_signed_thinking_without_text_is_kept() -> None:
    assert blocks({"type": "thinking", "thinking": "", "signature": "sig"}, text("x"))[0] == Thinking(
        native={"signature": "sig"}
    )


@pytest.mark.parametrize(
    ("details", "words"),
    [(None, "[The model refused to answer.]"), ({"type": "refusal", "explanation": "not that"}, "not that")],
)
def test_a_refusal_without_words_gets_some(details: Any, words: str) -> None:
    read = decode(body(stop="refusal", stop_details=details), TARGET, NAMES)
    assert (read.entry.ending, read.entry.blocks) == (Ending.REFUSED, (Text(words),))


def test_an_empty_answer_is_a_bad_one() -> None:
    with pytest.raises(BadAnswer, match="empty"):
        decode(body(), TARGET, NAMES)
    with pytest.raises(BadAnswer, match="empty"):
        decode({"content": None}, TARGET, NAMES)


@pytest.mark.parametrize(
    ("answered", "words", "facts"),
    [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "Overloaded",
            {"type": "overloaded_error", "message": "Overloaded"},
        ),
        ({"type": "error"}, "no reason given", {"type": "error"}),
    ],
)
def test_an_error_object_is_a_bad_answer_with_the_error(answered: JsonObject, words: str, facts: JsonObject) -> None:
    with pytest.raises(BadAnswer, match=words) as caught:
        decode(answered, TARGET, NAMES)
    assert caught.value.facts["error"] == facts


def test_what_the_official_client_dumps_is_read_like_the_body() -> None:
    whole = body(
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        text("x"),
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a"}},
        stop="tool_use",
    )
    dumped = Message.model_validate(whole).model_dump()
    assert decode(dumped, TARGET, NAMES) == decode(whole, TARGET, NAMES)


@needs_samples
def test_recorded_answers_are_read() -> None:
    kinds: set[str] = set()
    with (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").open() as lines:
        for line in lines:
            exchange = json.loads(line)
            answered = exchange.get("response")
            if exchange["host"] == "api.anthropic.com" and isinstance(answered, dict) and "content" in answered:
                read = decode(answered, TARGET, NAMES)
                kinds |= {type(block).__name__ for block in read.entry.blocks}
                assert len(read.calls) == sum(1 for block in answered["content"] if block["type"] == "tool_use")
    for path in (SAMPLES / "vercel-ai-streams").glob("packages__anthropic__*.json"):
        answered = json.loads(path.read_text())
        if "content" in answered:
            assert decode(answered, TARGET, NAMES).served == answered["model"]
    assert {"Text", "ToolCall", "HostedTool"} <= kinds
