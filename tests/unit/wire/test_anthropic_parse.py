"""How a request body of the Messages API becomes entries again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from block_support import assemble, claude, context_for
from dialect_support import SAMPLES, call, exchange, failure, needs_samples, success
from legato.model import (
    Authority,
    CallId,
    Choice,
    ClosureReason,
    Entry,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Options,
    Speaker,
    Text,
    Thinking,
    ThinkingSwitch,
    ToolCall,
    ToolResponse,
    ToolSpec,
    closure_text,
)
from legato.transcript.units import Completion, CompletionKind, Said, Summary
from legato.wire.anthropic import DIALECT
from legato.wire.anthropic.parse import parse
from legato.wire.contract import Parsed


def human(*blocks: Any, authority: Authority = Authority.PERSON) -> Entry:
    return Entry(Speaker.HUMAN, tuple(Text(b) if isinstance(b, str) else b for b in blocks), authority=authority)


def message(role: str, *content: Any) -> JsonObject:
    return {"role": role, "content": [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]}


def result(content: Any, **more: Any) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **more}


USE = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}}


def entries(*messages: JsonObject) -> list[Entry]:
    return parse({"messages": list(messages)}).entries


def answered(content: Any, **more: Any) -> ToolResponse:
    (response,) = entries(message("assistant", USE), message("user", result(content, **more)))[1].blocks
    assert isinstance(response, ToolResponse)
    return response


def test_a_body_is_read_into_entries_tools_and_options() -> None:
    body = {
        "model": "claude-x",
        "max_tokens": 100,
        "temperature": 0.5,
        "stream": True,
        "system": [
            {"type": "text", "text": "be", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "kind"},
        ],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "read"},
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "output_config": {"effort": "low"},
        "messages": [
            {"role": "user", "content": "look"},
            message("assistant", {"type": "thinking", "thinking": "hm", "signature": "s"}, "I look", USE),
            message("user", result("found"), "and?"),
        ],
    }
    assert parse(body) == Parsed(
        entries=[
            human("look"),
            Entry(
                Speaker.AI,
                (Thinking("hm", native={"signature": "s"}), Text("I look"), ToolCall("read", {"path": "a"}, "toolu_1")),
            ),
            Entry(Speaker.TOOL, (ToolResponse(wire_id="toolu_1", tool_name="read", result="found", is_complete=True),)),
            human("and?"),
        ],
        system="be\n\nkind",
        tools=[ToolSpec("read", "Reads.", {"type": "object"})],
        model="claude-x",
        options=Options(
            max_tokens=100,
            temperature=0.5,
            tool="read",
            thinking=ThinkingSwitch.ON,
            thinking_budget=2000,
            effort="low",
            stream=True,
        ),
        places=[0, 1, 2, 2],
    )


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"tool_choice": {"type": "any"}}, Options(choice=Choice.REQUIRED)),
        ({"tool_choice": {"type": "none"}}, Options(choice=Choice.NONE)),
        ({"thinking": {"type": "disabled"}}, Options(thinking=ThinkingSwitch.OFF)),
        ({"thinking": {"type": "adaptive"}}, Options(thinking=ThinkingSwitch.ON)),
        ({"max_tokens": True, "temperature": "hot", "tool_choice": None}, Options()),
    ],
)
def test_options_are_read_in_neutral_words(fields: JsonObject, options: Options) -> None:
    assert parse({"messages": [message("user", "x")], **fields}).options == options


def test_neighbouring_answers_are_one_turn() -> None:
    assert entries(message("user", "x"), message("assistant", "a"), message("assistant", USE)) == [
        human("x"),
        Entry(Speaker.AI, (Text("a"), ToolCall("read", {"path": "a"}, "toolu_1"))),
    ]


def test_bridges_and_the_tail_are_left_out_and_keep_answers_apart() -> None:
    assert entries(
        message("user", "(continued)"),
        message("assistant", "a"),
        {"role": "user", "content": "(continued)"},
        message("assistant", "b"),
        message("user", "Continue."),
    ) == [Entry(Speaker.AI, (Text("a"),)), Entry(Speaker.AI, (Text("b"),))]


def test_a_human_who_says_continue_is_heard() -> None:
    assert entries(message("user", "Continue."), message("assistant", "a"), message("user", "Continue.", "now")) == [
        human("Continue."),
        Entry(Speaker.AI, (Text("a"),)),
        human("Continue.", "now"),
    ]


def test_instructions_in_the_middle_are_known_by_their_mark_or_role() -> None:
    instruction = Authority.INSTRUCTION
    assert entries(
        message("user", "a", "[Instruction] b", "[Instruction] c", "d"),
        message("assistant", "e"),
        {"role": "system", "content": "f"},
    ) == [
        human("a"),
        human("b", "c", authority=instruction),
        human("d"),
        Entry(Speaker.AI, (Text("e"),)),
        human("f", authority=instruction),
    ]


def test_results_come_before_what_the_human_said_beside_them() -> None:
    assert [entry.speaker for entry in entries(message("assistant", USE), message("user", "x", result("y")))] == [
        Speaker.AI,
        Speaker.TOOL,
        Speaker.HUMAN,
    ]


def test_results_are_read_by_what_they_hold() -> None:
    closed = closure_text(ClosureReason.DENIED, "not now")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa=="}}
    known: JsonObject = {"wire_id": "toolu_1", "tool_name": "read"}
    assert answered("(no output)") == ToolResponse(**known, result="", is_complete=True)
    assert answered(None) == ToolResponse(**known, result="", is_complete=True)
    assert answered("broke", is_error=True) == ToolResponse(**known, error="broke", is_complete=True)
    assert answered("(no output)", is_error=True) == ToolResponse(**known, error="", is_complete=True)
    assert answered(closed, is_error=True) == ToolResponse(
        **known, reason=ClosureReason.DENIED, said="not now", synthetic=True
    )
    assert answered([{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]) == ToolResponse(
        **known, result="a\nb", media=(Media(MediaKind.IMAGE, "image/png", data="aa=="),), is_complete=True
    )
    assert answered([{"type": "tool_reference", "tool_name": "x"}]) == ToolResponse(
        **known, result='{"type":"tool_reference","tool_name":"x"}', is_complete=True
    )


def test_a_result_for_an_unknown_call_has_no_name() -> None:
    assert entries(message("user", result("x"))) == [
        Entry(Speaker.TOOL, (ToolResponse(wire_id="toolu_1", result="x", is_complete=True),))
    ]


@pytest.mark.parametrize(
    ("source", "kind", "media"),
    [
        ({"type": "url", "url": "https://a/b"}, "image", Media(MediaKind.IMAGE, "image/*", url="https://a/b")),
        (
            {"type": "base64", "media_type": "application/pdf", "data": "aa=="},
            "document",
            Media(MediaKind.DOCUMENT, "application/pdf", data="aa==", name="t"),
        ),
        (
            {"type": "text", "media_type": "text/plain", "data": "hi"},
            "document",
            Media(MediaKind.DOCUMENT, "text/plain", data="aGk=", name="t"),
        ),
        (
            {"type": "url", "url": "https://a/b"},
            "document",
            Media(MediaKind.DOCUMENT, "application/pdf", url="https://a/b", name="t"),
        ),
    ],
)
def test_media_are_read_by_their_source(source: JsonObject, kind: str, media: Media) -> None:
    assert entries(message("user", {"type": kind, "source": source, "title": "t"})) == [human(media)]


def test_what_the_provider_ran_is_read_as_one_block() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    assert entries(message("user", "x"), message("assistant", use, found))[1].blocks == (
        HostedTool("web_search", {"query": "q"}, [], "srvtoolu_1", native={"blocks": [use, found]}),
    )


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    parsed = parse(
        {
            "messages": [
                message("user", {"type": "image", "source": {"type": "file", "file_id": "f"}}, {"type": "new"}, "x"),
                message("tool", "y"),
                message("assistant", {"type": "new"}),
                message("assistant"),
                message("user"),
                "nonsense",
                message("assistant", USE),
                message("user", result([{"type": "new"}])),
            ],
            "tools": [{"type": "web_search_20250305", "name": "web_search"}, "nonsense"],
            "output_config": {"format": {}},
            "top_k": 3,
            "max_tokens": "many",
            "metadata": None,
        }
    )
    assert parsed.notes == [
        "messages[0].content[0]: a block of type 'image' from 'file' is not understood and was left out",
        "messages[0].content[1]: a block of type 'new' is not understood and was left out",
        "messages[1]: a message of role 'tool' is not understood and was left out",
        "messages[2].content[0]: a block of type 'new' is not understood",
        "messages[3]: the message is empty",
        "messages[4]: the message is empty",
        "messages[5]: a message of role None is not understood and was left out",
        "tools[1]: a tool without a name was left out",
        "max_tokens: not a number, so it was left out",
    ]
    assert parsed.adjusted == ["messages[7].content[0].content[0]: a part of type 'new' is kept as its JSON"]
    assert parse({}).notes == ["messages: there are none"]


def test_an_empty_answer_is_noted() -> None:
    assert parse({"messages": [message("user", "x"), message("assistant", "")]}).notes == [
        "messages[1]: the message is empty"
    ]


def test_what_was_printed_is_read_back() -> None:
    closed = Completion(CallId("c"), CompletionKind.CANCELLED, reason=ClosureReason.CANCELLED_RUNNING)
    units = [
        exchange(
            [Text("first"), call("a", path="x"), call("b"), call("c")], success("a", {"n": 1}), failure("b"), closed
        ),
        Summary(2, "so far"),
        Said(3, (Text("be brief"),), Authority.INSTRUCTION),
        exchange([Text("one")]),
        exchange([Text("two")]),
    ]
    body, _ = assemble(DIALECT, units, context_for(claude()))
    assert parse(body).entries == [
        Entry(
            Speaker.AI,
            (
                Text("first"),
                ToolCall("read", {"path": "x"}, "call_a"),
                ToolCall("read", {}, "call_b"),
                ToolCall("read", {}, "call_c"),
            ),
        ),
        Entry(
            Speaker.TOOL,
            (
                ToolResponse(wire_id="call_a", tool_name="read", result='{"n":1}', is_complete=True),
                ToolResponse(wire_id="call_b", tool_name="read", error="it broke", is_complete=True),
                ToolResponse(
                    wire_id="call_c", tool_name="read", reason=ClosureReason.CANCELLED_RUNNING, synthetic=True
                ),
            ),
        ),
        human("[Summary of the conversation so far]\nso far"),
        human("be brief", authority=Authority.INSTRUCTION),
        Entry(Speaker.AI, (Text("one"),)),
        Entry(Speaker.AI, (Text("two"),)),
    ]


@needs_samples
def test_bodies_that_the_api_accepted_are_read_without_loss_of_calls_or_results() -> None:
    count = 0
    with (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").open() as lines:
        for line in lines:
            recorded = json.loads(line)
            if recorded["host"] != "api.anthropic.com":
                continue
            count += 1
            parsed = parse(recorded["request"])
            blocks = [
                b for m in recorded["request"]["messages"] if isinstance(m["content"], list) for b in m["content"]
            ]
            read = [block for entry in parsed.entries for block in entry.blocks]
            for kind, ours in (("tool_use", ToolCall), ("tool_result", ToolResponse)):
                assert sum(b["type"] == kind for b in blocks) == sum(isinstance(b, ours) for b in read)
            odd = [note for note in parsed.notes if note.startswith("messages")]
            assert all("tool_addition" in note or "'image' from 'file'" in note for note in odd)
    assert count > 40
