"""Responses bodies as answers."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import pytest
from openai.types.responses import Response

from dialect_support import SAMPLES, make_target, needs_samples
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    Block,
    CallKind,
    Dialect,
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
from legato.wire.names import NameTable
from legato.wire.openai_responses import DIALECT

TARGET = make_target(Dialect.OPENAI_RESPONSES)


def body(*output: JsonObject, **more: Any) -> JsonObject:
    return {
        "id": "resp_1",
        "object": "response",
        "model": "served-1",
        "status": "completed",
        "output": [*output],
        **more,
    }


def decode(data: JsonObject) -> Answer:
    return DIALECT.decode(data, TARGET, NameTable(NameRule.OPENAI))


def blocks(*output: JsonObject, **more: Any) -> tuple[Block, ...]:
    return decode(body(*output, **more)).entry.blocks


def message(*parts: JsonObject, **more: Any) -> JsonObject:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts), **more}


def said(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": []}


def called(**more: Any) -> JsonObject:
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{}", **more}


def test_an_answer_holds_the_items_in_order_with_their_origin_and_usage() -> None:
    reasoning: JsonObject = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "gA",
    }
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    answer = decode(body(reasoning, message(said("hi")), called(arguments='{"path":"x"}'), usage=usage))
    assert answer == Answer(
        Entry(
            Speaker.AI,
            (
                Thinking("a\n\nb", native={"item": reasoning}),
                Text("hi"),
                ToolCall("read", {"path": "x"}, "call_1"),
            ),
            origin=TARGET.origin("served-1"),
            ending=Ending.CALLS,
        ),
        usage=Usage(10, 5, 4, 2, 3),
        served="served-1",
        response_id="resp_1",
    )


def test_a_message_may_hold_several_texts_a_string_and_a_phase() -> None:
    assert blocks(message(said("a"), said(""), said("b"), phase="commentary")) == (
        Text("a", native={"phase": "commentary"}),
        Text("b", native={"phase": "commentary"}),
    )
    assert blocks({"role": "assistant", "content": "hi"}) == (Text("hi"),)


def test_reasoning_that_cannot_be_sent_back_carries_nothing_native() -> None:
    plain: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"text": "hm"}]}
    empty: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert blocks(plain, empty, message(said("x"))) == (Thinking("hm"), Text("x"))


def test_a_custom_call_keeps_its_free_text() -> None:
    item: JsonObject = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql", "input": "{x"}
    assert blocks(item) == (ToolCall("sql", {"input": "{x"}, "call_1", kind=CallKind.CUSTOM),)


def test_a_call_keeps_its_namespace_and_its_caller() -> None:
    caller = {"type": "program", "caller_id": "call_p"}
    assert blocks(called(namespace="crm", caller=caller)) == (
        ToolCall("read", {}, "call_1", namespace="crm", native={"caller": caller}),
    )


def test_a_projected_tool_name_is_restored() -> None:
    names = NameTable(NameRule.OPENAI)
    wire = names.project("files.read")
    answer = DIALECT.decode(body(called(name=wire)), TARGET, names)
    assert answer.calls == (ToolCall("files.read", {}, "call_1"),)


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
            ToolCall("local_shell", {"action": {"type": "exec", "command": ["ls"]}}, "c"),
        ),
        (
            {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}, "status": "completed"},
            ToolCall("shell", {"action": {"commands": ["ls"]}}, "c"),
        ),
        (
            {"type": "apply_patch_call", "id": "ap_1", "call_id": "c", "operation": {"type": "delete_file"}},
            ToolCall("apply_patch", {"operation": {"type": "delete_file"}}, "c"),
        ),
        (
            {"type": "tool_search_call", "id": "t_1", "call_id": "c", "execution": "client", "arguments": {"q": "x"}},
            ToolCall("tool_search", {"q": "x"}, "c"),
        ),
    ],
)
def test_what_the_client_has_to_execute_is_a_call(item: JsonObject, call: ToolCall) -> None:
    answer = decode(body(item))
    assert (answer.entry.blocks, answer.entry.ending) == ((call,), Ending.CALLS)


@pytest.mark.parametrize(
    ("item", "name", "arguments", "result"),
    [
        (
            {"type": "web_search_call", "id": "h", "action": {"type": "search", "query": "x"}},
            "web_search",
            {"action": {"type": "search", "query": "x"}},
            None,
        ),
        (
            {"type": "file_search_call", "id": "h", "queries": ["x"], "results": [{"text": "y"}]},
            "file_search",
            {"queries": ["x"]},
            [{"text": "y"}],
        ),
        (
            {"type": "mcp_call", "id": "h", "name": "shorten", "arguments": '{"a":1}', "error": None, "output": "ok"},
            "shorten",
            {"a": 1},
            "ok",
        ),
        ({"type": "tool_search_call", "id": "h", "execution": "server"}, "tool_search", {}, None),
        ({"type": "something_new_call", "id": "h"}, "something_new", {}, None),
    ],
)
def test_what_the_provider_executed_is_a_hosted_tool(
    item: JsonObject, name: str, arguments: JsonObject, result: Any
) -> None:
    answer = decode(body(item))
    assert answer.entry.blocks == (HostedTool(name, arguments, result, "h", native={"item": item}),)
    assert answer.entry.ending is Ending.DONE


def test_a_shell_whose_output_stands_beside_it_is_the_providers() -> None:
    shell: JsonObject = {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}}
    output: JsonObject = {"type": "shell_call_output", "id": "sho_1", "call_id": "c", "output": []}
    assert [type(block) for block in blocks(shell, output)] == [HostedTool, HostedTool]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ("", ToolCall("read", {}, "call_1", finished=False)),
        ('{"path":"x', ToolCall("read", {}, "call_1", raw='{"path":"x', finished=False)),
        ('{"path":"x"}', ToolCall("read", {"path": "x"}, "call_1")),
    ],
)
def test_a_call_that_breaks_off_is_not_finished(arguments: str, call: ToolCall) -> None:
    answer = decode(
        body(
            called(arguments=arguments, status="incomplete"),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        )
    )
    assert (answer.calls, answer.entry.ending) == ((call,), Ending.LENGTH)


def test_a_refusal_keeps_its_text() -> None:
    answer = decode(body(message({"type": "refusal", "refusal": "no"})))
    assert (answer.entry.blocks, answer.entry.ending) == ((Text("no", native={"refusal": True}),), Ending.REFUSED)


@pytest.mark.parametrize(
    ("more", "ending"),
    [
        ({"status": None}, Ending.DONE),
        ({"status": "cancelled"}, Ending.CANCELLED),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Ending.REFUSED),
        ({"status": "incomplete", "incomplete_details": None}, Ending.CUT),
        ({"status": "incomplete", "incomplete_details": {"reason": "something_new"}}, Ending.CUT),
    ],
)
def test_the_status_says_how_the_answer_ended(more: JsonObject, ending: Ending) -> None:
    assert decode(body(message(said("x")), **more)).entry.ending is ending


def test_usage_that_is_missing_is_unknown() -> None:
    assert decode(body(message(said("x")), usage=None)).usage is None


def test_an_answer_that_was_filtered_whole_is_refused_rather_than_empty() -> None:
    filtered = body(status="incomplete", incomplete_details={"reason": "content_filter"})
    assert decode(filtered).entry == Entry(Speaker.AI, (), origin=TARGET.origin("served-1"), ending=Ending.REFUSED)


@pytest.mark.parametrize(
    ("data", "says", "error"),
    [
        (body(), "the answer is empty", None),
        (body(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "went into thinking", None),
        (body(status="in_progress"), "is in_progress", None),
        (body(status="failed"), "does not say why", {}),
        ({"error": {"message": "bad", "code": "x"}}, "error: bad", {"message": "bad", "code": "x"}),
        ({"error": "bad"}, "error: bad", "bad"),
        ({"error": {"code": 3}}, "without a message", {"code": 3}),
    ],
)
def test_what_is_no_answer_is_a_bad_answer(data: JsonObject, says: str, error: object) -> None:
    with pytest.raises(BadAnswer, match=says) as caught:
        decode(data)
    assert caught.value.facts.get("error") == error


@needs_samples
def test_recorded_bodies_decode_as_such_and_as_the_sdk_dumps_them() -> None:
    count = 0
    for data in recorded_bodies():
        answer = decode(data)
        count += 1
        dumped = decode(Response.model_construct(**data).model_dump(warnings=False))
        assert (dumped.calls, dumped.text, dumped.usage) == (answer.calls, answer.text, answer.usage)
    assert count >= 40


def recorded_bodies() -> list[JsonObject]:
    bodies: list[JsonObject] = []
    for line in (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").read_text().splitlines():
        exchange = json.loads(line)
        if exchange["path"].endswith("/responses") and exchange.get("response"):
            bodies.append(exchange["response"])
    folder = SAMPLES / "vercel-ai-streams"
    bodies += [json.loads(path.read_text()) for path in sorted(folder.glob("*responses____fixtures__*.json"))]
    for path in sorted((SAMPLES / "llm-cassettes").glob("*responses*")):
        packed = re.findall(r"string: !!binary \|\n((?: +[A-Za-z0-9+/=]+\n)+)", path.read_text())
        bodies += [json.loads(gzip.decompress(base64.b64decode(data))) for data in packed]
    return bodies
