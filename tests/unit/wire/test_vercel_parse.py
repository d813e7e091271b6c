"""ModelMessages read back into entries."""

from __future__ import annotations

from typing import Any

import pytest

from dialect_support import call, exchange, failure, make_context, make_target, printed, success
from legato.model import (
    Authority,
    CallId,
    CallKind,
    Choice,
    ClosureReason,
    Dialect,
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
from legato.transcript.units import Completion, CompletionKind, Said, Unit
from legato.wire.context import End
from legato.wire.contract import Parsed
from legato.wire.phrases import CONTINUE, EMPTY_RESULT, INSTRUCTION_MARK
from legato.wire.vercel import DIALECT

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")


def parse(*messages: Any, **fields: Any) -> Parsed:
    return DIALECT.parse({"messages": [*messages], **fields})


def entries(*messages: Any) -> list[Entry]:
    parsed = parse(*messages)
    assert parsed.notes == []
    return parsed.entries


def human(*blocks: Any, authority: Authority = Authority.PERSON) -> Entry:
    return Entry(Speaker.HUMAN, blocks, authority=authority)


def ai(*blocks: Any) -> Entry:
    return Entry(Speaker.AI, blocks)


def tool(*blocks: Any) -> Entry:
    return Entry(Speaker.TOOL, blocks)


def message(role: str, *parts: Any) -> JsonObject:
    return {"role": role, "content": [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]}


def called(key: str, **more: Any) -> JsonObject:
    return {"type": "tool-call", "toolCallId": key, "toolName": "read", "input": {}, **more}


def result(key: str, output: Any, **more: Any) -> JsonObject:
    return {"type": "tool-result", "toolCallId": key, "toolName": "read", "output": output, **more}


def answered(output: JsonObject) -> ToolResponse:
    block = entries(message("assistant", called("c1")), message("tool", result("c1", output)))[1].blocks[0]
    assert isinstance(block, ToolResponse)
    assert (block.wire_id, block.tool_name) == ("c1", "read")
    return block


def test_each_message_is_an_entry() -> None:
    metadata = {"acme": {"signature": "s"}}
    assert entries(
        {"role": "user", "content": "hi"},
        message("user", "look", {"type": "image", "image": "aGk=", "mediaType": "image/png"}),
        {"role": "assistant", "content": "ok"},
        message("assistant", {"type": "reasoning", "text": "hm", "providerOptions": metadata}, called("c1")),
        message("tool", result("c1", {"type": "json", "value": [1]})),
    ) == [
        human(Text("hi")),
        human(Text("look"), PICTURE),
        ai(Text("ok")),
        ai(Thinking("hm", native={"providerOptions": metadata}), ToolCall("read", {}, "c1")),
        tool(ToolResponse(wire_id="c1", tool_name="read", result=[1], is_complete=True)),
    ]


def test_a_prompt_is_a_human_message() -> None:
    assert DIALECT.parse({"prompt": "hi"}) == Parsed([human(Text("hi"))], places=[-1])
    assert DIALECT.parse({}) == Parsed([])
    assert parse({"role": "user", "content": ""}, {"role": "assistant", "content": ""}).entries == []


def test_instructions_at_the_beginning_are_the_system_and_later_ones_stay() -> None:
    parsed = parse(
        {"role": "system", "content": "a"},
        message("user", "hi"),
        {"role": "system", "content": "b"},
        message("user", INSTRUCTION_MARK + "c"),
        system="first",
    )
    assert parsed.system == "first\n\na"
    assert parsed.entries == [
        human(Text("hi")),
        human(Text("b"), authority=Authority.INSTRUCTION),
        human(Text("c"), authority=Authority.INSTRUCTION),
    ]


@pytest.mark.parametrize(
    "instructions", ["x", {"role": "system", "content": "x"}, [{"role": "system", "content": "x"}, {"content": ""}]]
)
def test_instructions_may_be_text_or_messages(instructions: Any) -> None:
    assert parse(instructions=instructions).system == "x"


@pytest.mark.parametrize(
    ("output", "response"),
    [
        ({"type": "text", "value": "fine"}, ToolResponse(result="fine", is_complete=True)),
        ({"type": "text", "value": EMPTY_RESULT}, ToolResponse(result="", is_complete=True)),
        ({"type": "json", "value": None}, ToolResponse(is_complete=True)),
        ({"type": "error-text", "value": "bad"}, ToolResponse(error="bad", is_complete=True)),
        ({"type": "error-json", "value": {"code": 1}}, ToolResponse(error='{"code":1}', is_complete=True)),
        (
            {"type": "error-text", "value": closure_text(ClosureReason.SKIPPED)},
            ToolResponse(reason=ClosureReason.SKIPPED, synthetic=True),
        ),
        ({"type": "execution-denied", "reason": "no"}, ToolResponse(reason=ClosureReason.DENIED, said="no")),
        (
            {
                "type": "content",
                "value": [
                    {"type": "text", "text": "a"},
                    {"type": "image-data", "data": "aGk=", "mediaType": "image/png"},
                    {"type": "image-url", "url": "https://a.example/b.png"},
                    {"type": "media", "data": "aGk=", "mediaType": "image/png"},
                    {"type": "file-id", "fileId": "f"},
                ],
            },
            ToolResponse(
                result='a\n{"type":"file-id","fileId":"f"}',
                media=(PICTURE, Media(MediaKind.IMAGE, "image/png", url="https://a.example/b.png"), PICTURE),
                is_complete=True,
            ),
        ),
    ],
)
def test_outputs_of_every_type_are_read(output: JsonObject, response: ToolResponse) -> None:
    found = answered(output)
    assert (found.result, found.error, found.media, found.reason, found.said, found.synthetic) == (
        response.result,
        response.error,
        response.media,
        response.reason,
        response.said,
        response.synthetic,
    )


def test_the_field_names_of_earlier_versions_are_read() -> None:
    old_call = {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {"a": 1}}
    old_result = {"type": "tool-result", "toolCallId": "c1", "result": "bad", "isError": True}
    assert entries(message("assistant", old_call), message("tool", old_result)) == [
        ai(ToolCall("read", {"a": 1}, "c1")),
        tool(ToolResponse(wire_id="c1", tool_name="read", error="bad", is_complete=True)),
    ]


def test_what_the_provider_executed_is_a_hosted_tool() -> None:
    parts = [called("ws", providerExecuted=True), result("ws", {"type": "text", "value": "found"})]
    assert entries(message("assistant", *parts)) == [
        ai(HostedTool("read", {}, "found", "ws", native={"parts": parts})),
    ]


def test_a_result_that_was_put_into_the_answer_is_still_a_result() -> None:
    misplaced = result("c1", {"type": "text", "value": "fine"})
    assert entries(message("assistant", called("c1"), misplaced)) == [
        ai(ToolCall("read", {}, "c1")),
        tool(ToolResponse(wire_id="c1", tool_name="read", result="fine", is_complete=True)),
    ]


def test_a_denied_approval_closes_its_call() -> None:
    request = {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}
    verdict = {"type": "tool-approval-response", "approvalId": "a1", "approved": False, "reason": "no"}
    denied = ToolResponse(wire_id="c1", tool_name="read", reason=ClosureReason.DENIED, said="no")
    asked = message("assistant", called("c1"), request)
    assert entries(asked, message("tool", verdict))[1:] == [tool(denied)]
    assert entries(asked, message("tool", verdict, result("c1", {"type": "execution-denied", "reason": "no"})))[1:] == [
        tool(denied)
    ]
    assert entries(asked, message("tool", {**verdict, "approved": True}))[1:] == []


def test_the_tail_is_taken_out() -> None:
    assert entries({"role": "assistant", "content": "x"}, message("user", CONTINUE)) == [ai(Text("x"))]
    assert entries(message("user", CONTINUE)) == [human(Text(CONTINUE))]


def test_what_is_not_understood_is_named_with_its_place() -> None:
    parsed = parse(
        3,
        message("narrator", "x"),
        message("user", {"type": "smell"}, {"type": "file", "mediaType": "a/b"}),
        message("assistant", {"type": "reasoning-file"}, {"type": "custom", "kind": "a.b"}),
        message("tool", {"type": "text", "text": "x"}),
        tools={"search": {"type": "provider-defined", "id": "a.search"}},
    )
    assert parsed.notes == [
        "messages[0]: not a message",
        "messages[2].content[0]: a part of type 'smell' was not understood",
        "messages[2].content[1]: a part of type 'file' was not understood",
        "messages[3].content[0]: a part of type 'reasoning-file' is kept only if its provider knows it",
        "messages[3].content[1]: a part of type 'custom' is kept only if its provider knows it",
        "messages[4].content[0]: a part of type 'text' was not understood",
    ]
    assert parsed.adjusted == ["messages[1].role: 'narrator' is read as user"]
    assert DIALECT.parse({"messages": 3}).notes == ["messages: not a list of messages"]


@pytest.mark.parametrize(
    "tools",
    [
        {"read": {"description": "reads", "inputSchema": {"type": "object"}}},
        {"read": {"description": "reads", "inputSchema": {"jsonSchema": {"type": "object"}}}},
        [{"type": "function", "name": "read", "description": "reads", "inputSchema": {"type": "object"}}],
        {"read": {"description": "reads", "parameters": {"type": "object"}}},
    ],
)
def test_tools_are_read_in_every_form(tools: Any) -> None:
    assert parse(tools=tools).tools == [ToolSpec("read", "reads", {"type": "object"})]


def test_a_tool_without_a_schema_takes_no_arguments() -> None:
    assert parse(tools={"read": {}}).tools == [ToolSpec("read")]


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"allowSystemInMessages": True, "topP": None}, Options()),
        ({"maxOutputTokens": 9, "temperature": 1, "stream": True}, Options(9, 1.0, stream=True)),
        ({"toolChoice": "none"}, Options(choice=Choice.NONE)),
        ({"toolChoice": {"type": "required"}}, Options(choice=Choice.REQUIRED)),
        ({"toolChoice": {"type": "tool", "toolName": "read"}}, Options(tool="read")),
        ({"reasoning": "none"}, Options(thinking=ThinkingSwitch.OFF)),
        ({"reasoning": "high"}, Options(effort="high")),
        ({"reasoning": "provider-default"}, Options()),
        ({"topP": 0.5}, Options(top_p=0.5, home="vercel")),
    ],
)
def test_options_are_read_in_neutral_words_and_the_rest_is_kept(fields: JsonObject, options: Options) -> None:
    assert parse(**fields) == Parsed([], options=options)


@pytest.mark.parametrize("model", ["m", {"modelId": "m", "provider": "acme"}])
def test_the_model_may_be_a_name_or_an_object(model: Any) -> None:
    assert parse(model=model).model == "m"


@pytest.mark.parametrize("capabilities", [{}, {"result_images": True}, {"max_calls": 2}, {"middle_system": False}])
def test_what_was_printed_is_read_back(capabilities: dict[str, Any]) -> None:
    target = make_target(Dialect.VERCEL, **capabilities)
    context = make_context(target)
    custom = ToolCall("sql", {"input": "select"}, "call_d", CallId("d"), kind=CallKind.CUSTOM)
    units: list[Unit] = [
        Said(1, (Text("hi"), PICTURE)),
        exchange(
            [Text("ok"), call("a", path="x"), call("b"), call("c", "write"), custom],
            success("a", "seen", media=(PICTURE,)),
            failure("b"),
            Completion(CallId("c"), CompletionKind.SYNTHETIC, reason=ClosureReason.INTERRUPTED),
            success("d", {"rows": 1}),
            origin=target.origin(),
        ),
        Said(2, (Text("be brief"),), Authority.INSTRUCTION),
        exchange([Text("done")]),
    ]
    messages = [item for unit in units for item in printed(DIALECT.encoder(context).encode(unit, End.HUMAN))]
    messages += printed(DIALECT.encoder(context).tail(End.ANSWER))
    assert DIALECT.check({"messages": messages}, target) == []
    parsed = parse(*messages)
    assert parsed.notes == []
    calls = [
        ToolCall("read", {"path": "x"}, "call_a"),
        ToolCall("read", {}, "call_b"),
        ToolCall("write", {}, "call_c"),
        ToolCall("sql", {"input": "select"}, "call_d", kind=CallKind.CUSTOM),
    ]
    results = [
        ToolResponse(wire_id="call_a", tool_name="read", result="seen", media=(PICTURE,), is_complete=True),
        ToolResponse(wire_id="call_b", tool_name="read", error="it broke", is_complete=True),
        ToolResponse(wire_id="call_c", tool_name="write", reason=ClosureReason.INTERRUPTED, synthetic=True),
        ToolResponse(wire_id="call_d", tool_name="sql", result={"rows": 1}, is_complete=True),
    ]
    split = capabilities == {"max_calls": 2}
    middle = [*calls[:2], *results[:2], *calls[2:], *results[2:]] if split else [*calls, *results]
    assert [block for entry in parsed.entries for block in entry.blocks] == [
        Text("hi"),
        PICTURE,
        Text("ok"),
        *middle,
        Text("be brief"),
        Text("done"),
    ]
    assert parsed.entries[-2].authority is Authority.INSTRUCTION
