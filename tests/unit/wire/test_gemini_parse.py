"""How a request body of `generateContent` becomes entries again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from block_support import assemble, context_for, gemini
from dialect_support import SAMPLES, call, exchange, failure, needs_samples, success
from legato.model import (
    Authority,
    CallId,
    Choice,
    ClosureReason,
    Entry,
    JsonObject,
    Media,
    MediaKind,
    Options,
    Speaker,
    SpecKind,
    Text,
    Thinking,
    ThinkingSwitch,
    ToolCall,
    ToolResponse,
    ToolSpec,
    closure_text,
)
from legato.transcript.units import Completion, CompletionKind, Said, Summary
from legato.wire.bounds import Bounds
from legato.wire.contract import Parsed
from legato.wire.gemini import DIALECT
from legato.wire.gemini.parse import parse

SIGNATURE = "CokDAb4+9vue"
CALL = {"functionCall": {"id": "f1", "name": "read", "args": {"path": "a"}}}


def human(*blocks: Any, authority: Authority = Authority.PERSON) -> Entry:
    return Entry(Speaker.HUMAN, tuple(Text(b) if isinstance(b, str) else b for b in blocks), authority=authority)


def content(role: str, *parts: Any) -> JsonObject:
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def gave(response: Any, **more: Any) -> JsonObject:
    return {"functionResponse": {"id": "f1", "name": "read", "response": response, **more}}


def entries(*contents: JsonObject) -> list[Entry]:
    return parse({"contents": list(contents)}).entries


def answered(response: Any, **more: Any) -> ToolResponse:
    (block,) = entries(content("user", gave(response, **more)))[0].blocks
    assert isinstance(block, ToolResponse)
    return block


CAMEL = {
    "model": "models/gemini-x",
    "systemInstruction": {"parts": [{"text": "be"}, {"text": "kind"}]},
    "tools": [
        {
            "functionDeclarations": [
                {"name": "read", "description": "Reads.", "parametersJsonSchema": {"type": "object"}}
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
    "generationConfig": {
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "thinkingConfig": {"thinkingBudget": 99, "includeThoughts": True, "thinkingLevel": "low"},
    },
    "contents": [
        content("user", "look"),
        content("model", {"text": "hm", "thought": True}, "I look", CALL | {"thoughtSignature": SIGNATURE}),
        content("user", gave({"result": "found"}), "and?"),
    ],
}
SNAKE = {
    "model": "models/gemini-x",
    "system_instruction": "be\n\nkind",
    "tools": {"function_declarations": [{"name": "read", "description": "Reads.", "parameters": {"type": "object"}}]},
    "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["read"]}},
    "generation_config": {
        "max_output_tokens": 100,
        "temperature": 0.5,
        "top_p": None,
        "thinking_config": {"thinking_budget": 99, "thinking_level": "low"},
    },
    "contents": [
        content("user", "look"),
        content(
            "model",
            {"text": "hm", "thought": True, "thought_signature": None},
            "I look",
            {"function_call": {"id": "f1", "name": "read", "args": {"path": "a"}}, "thought_signature": SIGNATURE},
        ),
        content("user", {"function_response": {"id": "f1", "name": "read", "response": {"result": "found"}}}, "and?"),
    ],
}


@pytest.mark.parametrize("body", [CAMEL, SNAKE])
def test_a_body_is_read_in_both_spellings_of_names(body: JsonObject) -> None:
    assert parse(body) == Parsed(
        entries=[
            human("look"),
            Entry(
                Speaker.AI,
                (
                    Thinking("hm"),
                    Text("I look"),
                    ToolCall("read", {"path": "a"}, "f1", native={"thoughtSignature": SIGNATURE}),
                ),
            ),
            Entry(Speaker.TOOL, (ToolResponse(wire_id="f1", tool_name="read", result="found", is_complete=True),)),
            human("and?"),
        ],
        system="be\n\nkind",
        tools=[ToolSpec("read", "Reads.", {"type": "object"})],
        model="models/gemini-x",
        options=Options(
            max_tokens=100,
            temperature=0.5,
            choice=Choice.REQUIRED,
            tool="read",
            thinking=ThinkingSwitch.ON,
            thinking_budget=99,
            effort="low",
        ),
        places=[0, 1, 2, 2],
    )


def test_a_placeholder_is_no_signature() -> None:
    for signature in ("skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="):
        assert entries(content("user", "x"), content("model", CALL | {"thoughtSignature": signature}))[1].blocks == (
            ToolCall("read", {"path": "a"}, "f1"),
        )


def test_thinking_that_is_switched_off_is_known_by_its_budget() -> None:
    body = {"contents": "hi", "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    assert parse(body) == Parsed(entries=[human("hi")], options=Options(thinking=ThinkingSwitch.OFF), places=[-1])


def test_neighbouring_answers_are_one() -> None:
    assert entries(content("user", "x"), content("model", "a"), content("model", CALL)) == [
        human("x"),
        Entry(Speaker.AI, (Text("a"), ToolCall("read", {"path": "a"}, "f1"))),
    ]


def test_bridges_and_the_tail_are_left_out_and_keep_answers_apart() -> None:
    assert entries(
        content("user", "(continued)"),
        content("model", "a"),
        content("user", "(continued)"),
        content("model", "b"),
        content("user", "Continue."),
    ) == [Entry(Speaker.AI, (Text("a"),)), Entry(Speaker.AI, (Text("b"),))]
    assert entries(content("user", "Continue."), content("model", "a"), content("user", "Continue.", "now")) == [
        human("Continue."),
        Entry(Speaker.AI, (Text("a"),)),
        human("Continue.", "now"),
    ]


def test_instructions_in_the_middle_are_known_by_their_mark() -> None:
    assert entries(content("user", "[Instruction] a", "", "b"), content("user", "c", "[Instruction] d")) == [
        human("a", "b", authority=Authority.INSTRUCTION),
        human("c", "[Instruction] d"),
    ]


def test_responses_are_read_by_what_they_hold() -> None:
    known: JsonObject = {"wire_id": "f1", "tool_name": "read"}
    closed = closure_text(ClosureReason.DENIED, "not now")
    closure = ToolResponse(**known, reason=ClosureReason.DENIED, said="not now", synthetic=True)
    assert answered({"result": "(no output)"}) == ToolResponse(**known, result="", is_complete=True)
    assert answered({"result": {"n": 1}}) == ToolResponse(**known, result={"n": 1}, is_complete=True)
    assert answered({"output": "x"}) == ToolResponse(**known, result={"output": "x"}, is_complete=True)
    assert answered({"result": 1, "error": "x"}) == ToolResponse(
        **known, result={"result": 1, "error": "x"}, is_complete=True
    )
    assert answered({}) == ToolResponse(**known, result={}, is_complete=True)
    assert answered({"error": "broke"}) == ToolResponse(**known, error="broke", is_complete=True)
    assert answered({"error": {"code": 1}}) == ToolResponse(**known, error='{"code":1}', is_complete=True)
    assert answered({"error": "(no output)"}) == ToolResponse(**known, error="", is_complete=True)
    assert answered({"error": closed}) == closure
    assert answered({"result": closed}) == closure
    image = {"inlineData": {"mimeType": "image/png", "data": "aa=="}}
    assert answered({"result": "x"}, parts=[image, {}]) == ToolResponse(
        **known, result="x", media=(Media(MediaKind.IMAGE, "image/png", data="aa=="),), is_complete=True
    )


def test_calls_and_responses_under_the_wrong_role_are_attributed() -> None:
    parsed = parse({"contents": [content("user", CALL), content("model", gave({"result": "x"}), "so")]})
    assert parsed.entries == [
        Entry(Speaker.AI, (ToolCall("read", {"path": "a"}, "f1"),)),
        Entry(Speaker.TOOL, (ToolResponse(wire_id="f1", tool_name="read", result="x", is_complete=True),)),
        Entry(Speaker.AI, (Text("so"),)),
    ]
    assert parsed.adjusted == [
        "contents[0]: calls stand in a content of the user",
        "contents[1]: responses stand in a content of the model",
    ]


def test_a_content_of_nothing_but_misplaced_responses_makes_no_answer() -> None:
    assert entries(content("model", gave({"result": "x"}))) == [
        Entry(Speaker.TOOL, (ToolResponse(wire_id="f1", tool_name="read", result="x", is_complete=True),))
    ]


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    parsed = parse(
        {
            "contents": [
                content("user", {"videoMetadata": {}}, {}, "x"),
                content("system", "y"),
                content("user"),
                5,
            ],
            "systemInstruction": {"parts": [{"functionCall": {}}]},
            "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "now"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}},
            "generationConfig": {"topP": 1, "maxOutputTokens": True, "temperature": "hot"},
            "cachedContent": "c",
        }
    )
    hosted = ToolSpec("googleSearch", kind=SpecKind.HOSTED, home="gemini", native={"googleSearch": {}})
    assert parsed.tools == [hosted, ToolSpec("now")]
    kept = {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["a", "b"]}}, "cachedContent": "c"}
    assert parsed.options == Options(choice=Choice.REQUIRED, top_p=1, extra=kept, home="gemini")
    assert parsed.notes == [
        "contents[0].parts[0]: a part with 'videoMetadata' is not understood",
        "contents[0].parts[1]: a part with nothing in it is not understood",
        "contents[1]: a content of role 'system' is not understood and was left out",
        "contents[2]: the content is empty",
        "contents[3]: the content is empty",
        "cachedContent: what comes before this request is kept by the provider and cannot be read",
        "systemInstruction: a part with 'functionCall' is not understood",
        "generationConfig.maxOutputTokens: not a number, so it was left out",
        "generationConfig.temperature: not a number, so it was left out",
    ]
    assert parse({}).notes == ["contents: there are none"]


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
    body, _ = assemble(DIALECT, units, context_for(gemini()))
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
                ToolResponse(wire_id="call_a", tool_name="read", result={"n": 1}, is_complete=True),
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
            if not recorded["host"].endswith("googleapis.com"):
                continue
            count += 1
            parsed = parse(recorded["request"])
            parts = [part for item in recorded["request"]["contents"] for part in item["parts"]]
            read = [block for entry in parsed.entries for block in entry.blocks]
            for names, ours in (
                (("functionCall", "function_call"), ToolCall),
                (("functionResponse", "function_response"), ToolResponse),
            ):
                assert sum(any(name in part for name in names) for part in parts) == sum(
                    isinstance(block, ours) for block in read
                )
            assert [note for note in parsed.notes if note.startswith("contents")] == []
    assert count > 60


def test_a_repeated_field_may_be_one_alone() -> None:
    content = {"role": "user", "parts": {"text": "hi"}}
    declared = {"name": "f", "description": "does f"}
    listed = {
        "system_instruction": {"parts": [{"text": "be brief"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"function_declarations": [declared]}],
    }
    for contents in (content, [content]):
        alone: JsonObject = {
            "system_instruction": {"parts": {"text": "be brief"}},
            "contents": contents,
            "tools": {"function_declarations": declared},
        }
        assert parse(alone) == parse(listed)


def test_numbers_in_quotes_are_numbers() -> None:
    quoted = {"maxOutputTokens": "77", "temperature": "0.5", "topP": "0.9", "seed": "7"}
    quoted_thinking = {**quoted, "thinking_config": {"thinking_budget": "128"}}
    written = {"maxOutputTokens": 77, "temperature": 0.5, "topP": 0.9, "seed": 7}
    written_thinking = {**written, "thinking_config": {"thinking_budget": 128}}
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    read = parse({"contents": contents, "generation_config": quoted_thinking})
    assert (read.options.max_tokens, read.options.temperature, read.options.thinking_budget) == (77, 0.5, 128)
    assert read == parse({"contents": contents, "generationConfig": written_thinking})
    assert quoted["maxOutputTokens"] == "77"


def test_a_content_may_hold_more_calls_than_an_answer_that_comes_in() -> None:
    parts = [{"functionCall": {"name": "look", "id": f"c{number}", "args": {}}} for number in range(Bounds().calls + 1)]
    (entry,) = parse({"contents": [{"role": "model", "parts": parts}]}).entries
    assert len(entry.calls) == len(parts)
