"""Responses requests read back into entries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialect_support import SAMPLES, call, exchange, failure, make_context, make_target, needs_samples, printed, success
from legato.model import (
    FREE_TEXT,
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
    SpecKind,
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
from legato.wire.openai_responses import DIALECT
from legato.wire.phrases import CONTINUE, EMPTY_RESULT, HUMAN_BRIDGE, INSTRUCTION_MARK, MEDIA_CAPTION, MEDIA_FOLLOWS

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
IMAGE_PART: JsonObject = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="}


def parse(*items: Any, **fields: Any) -> Parsed:
    return DIALECT.parse({"model": "m", "input": [*items], **fields})


def entries(*items: Any) -> list[Entry]:
    parsed = parse(*items)
    assert parsed.notes == []
    return parsed.entries


def human(*blocks: Any, authority: Authority = Authority.PERSON) -> Entry:
    return Entry(Speaker.HUMAN, blocks, authority=authority)


def ai(*blocks: Any) -> Entry:
    return Entry(Speaker.AI, blocks)


def tool(*blocks: Any) -> Entry:
    return Entry(Speaker.TOOL, blocks)


def called(key: str, name: str = "read") -> JsonObject:
    return {"type": "function_call", "call_id": key, "name": name, "arguments": "{}"}


def output(key: str, value: Any = "fine") -> JsonObject:
    return {"type": "function_call_output", "call_id": key, "output": value}


def user(*parts: Any) -> JsonObject:
    return {"role": "user", "content": [{"type": "input_text", "text": p} if isinstance(p, str) else p for p in parts]}


def test_a_string_is_a_human_message() -> None:
    assert DIALECT.parse({"model": "m", "input": "hi"}) == Parsed([human(Text("hi"))], model="m", places=[-1])
    assert DIALECT.parse({"input": ""}) == Parsed([])
    assert DIALECT.parse({}) == Parsed([])


def test_items_of_the_model_in_a_row_are_one_answer() -> None:
    reasoning: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}
    custom: JsonObject = {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "x"}
    assert entries(
        {"role": "user", "content": "hi"},
        reasoning,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
        called("c1"),
        custom,
        output("c1"),
        {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "y"}]},
        {"role": "assistant", "content": "done"},
    ) == [
        human(Text("hi")),
        ai(
            Thinking("", native={"item": reasoning}),
            Text("ok"),
            ToolCall("read", {}, "c1"),
            ToolCall("sql", {"input": "x"}, "c2", kind=CallKind.CUSTOM),
        ),
        tool(
            ToolResponse(wire_id="c1", tool_name="read", result="fine", is_complete=True),
            ToolResponse(wire_id="c2", tool_name="sql", result="y", is_complete=True),
        ),
        ai(Text("done")),
    ]


def test_instructions_at_the_beginning_are_the_system_and_later_ones_stay() -> None:
    parsed = parse(
        {"role": "developer", "content": "a"},
        {"role": "system", "content": [{"type": "input_text", "text": "b"}]},
        user("hi"),
        {"role": "developer", "content": "c"},
        user(INSTRUCTION_MARK + "d"),
        instructions="first",
    )
    assert parsed.system == "first\n\na\n\nb"
    assert parsed.entries == [
        human(Text("hi")),
        human(Text("c"), authority=Authority.INSTRUCTION),
        human(Text("d"), authority=Authority.INSTRUCTION),
    ]


def test_our_own_fixed_texts_are_taken_out() -> None:
    assert entries(
        {"role": "assistant", "content": "x"},
        user(HUMAN_BRIDGE),
        called("c1"),
        output("c1", EMPTY_RESULT),
    ) == [
        ai(Text("x")),
        ai(ToolCall("read", {}, "c1")),
        tool(ToolResponse(wire_id="c1", tool_name="read", result="", is_complete=True)),
    ]
    answer = {"role": "assistant", "content": "x"}
    assert entries(answer, user(CONTINUE)) == [ai(Text("x"))]
    assert entries(user(CONTINUE)) == [human(Text(CONTINUE))]
    assert entries(answer, user(CONTINUE), answer) == [ai(Text("x")), human(Text(CONTINUE)), ai(Text("x"))]


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("[Error] it broke", ToolResponse(wire_id="c1", tool_name="read", error="it broke", is_complete=True)),
        (
            closure_text(ClosureReason.DENIED, "no"),
            ToolResponse(wire_id="c1", tool_name="read", reason=ClosureReason.DENIED, said="no", synthetic=True),
        ),
    ],
)
def test_errors_and_closures_are_recognised(text: str, response: ToolResponse) -> None:
    assert entries(called("c1"), output("c1", text))[1] == tool(response)


def test_media_are_read_from_messages_and_outputs() -> None:
    pdf: JsonObject = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}
    bare: JsonObject = {"type": "input_file", "filename": "b.pdf", "file_data": "aGk="}
    link: JsonObject = {"type": "input_file", "file_url": "https://a.example/c.pdf"}
    assert entries(user("look", IMAGE_PART, pdf, bare, link), called("c1"), output("c1", [IMAGE_PART])) == [
        human(
            Text("look"),
            PICTURE,
            Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf"),
            Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="b.pdf"),
            Media(MediaKind.DOCUMENT, "application/pdf", url="https://a.example/c.pdf"),
        ),
        ai(ToolCall("read", {}, "c1")),
        tool(ToolResponse(wire_id="c1", tool_name="read", result="", media=(PICTURE,), is_complete=True)),
    ]


def test_media_that_followed_their_results_are_given_back_to_them() -> None:
    caption = MEDIA_CAPTION.format(tool="read")
    assert entries(
        called("c1"),
        called("c2"),
        called("c3", "write"),
        output("c1", f"seen\n{MEDIA_FOLLOWS}"),
        output("c2", f"[Error] {MEDIA_FOLLOWS}"),
        output("c3"),
        user(caption, IMAGE_PART, caption, IMAGE_PART, IMAGE_PART),
    )[1:] == [
        tool(
            ToolResponse(wire_id="c1", tool_name="read", result="seen", media=(PICTURE,), is_complete=True),
            ToolResponse(wire_id="c2", tool_name="read", error="", media=(PICTURE, PICTURE), is_complete=True),
            ToolResponse(wire_id="c3", tool_name="write", result="fine", is_complete=True),
        )
    ]


@pytest.mark.parametrize("said", [["look"], [IMAGE_PART], [MEDIA_CAPTION.format(tool="read"), IMAGE_PART, "and"]])
def test_a_message_after_results_that_is_not_about_their_media_stays(said: list[Any]) -> None:
    parsed = entries(called("c1"), output("c1", MEDIA_FOLLOWS), user(*said))
    assert parsed[1] == tool(ToolResponse(wire_id="c1", tool_name="read", result=MEDIA_FOLLOWS, is_complete=True))
    assert len(parsed[2].blocks) == len(said)


FOUND: JsonObject = {"type": "function", "name": "x", "parameters": {"type": "object"}}


def test_tools_that_the_client_executes_are_calls_with_results() -> None:
    shell: JsonObject = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}
    computer: JsonObject = {"type": "computer_call", "call_id": "c2", "action": {"type": "screenshot"}}
    blind: JsonObject = {"type": "computer_call", "call_id": "c3", "action": {"type": "wait"}}
    search: JsonObject = {"type": "tool_search_call", "call_id": "c4", "execution": "client", "arguments": {}}
    patch: JsonObject = {"type": "apply_patch_call", "call_id": "c5", "operation": {}}
    assert entries(
        shell,
        computer,
        blind,
        search,
        patch,
        {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "a"}]},
        {"type": "computer_call_output", "call_id": "c2", "output": {"image_url": "data:image/png;base64,aGk="}},
        {"type": "computer_call_output", "call_id": "c3", "output": {"file_id": "f"}},
        {"type": "tool_search_output", "call_id": "c4", "execution": "client", "tools": [FOUND]},
        {"type": "apply_patch_call_output", "call_id": "c5", "status": "completed"},
    ) == [
        ai(
            ToolCall("shell", {"action": {"commands": ["ls"]}}, "c1"),
            ToolCall("computer", {"action": {"type": "screenshot"}}, "c2"),
            ToolCall("computer", {"action": {"type": "wait"}}, "c3"),
            ToolCall("tool_search", {}, "c4"),
            ToolCall("apply_patch", {"operation": {}}, "c5"),
        ),
        tool(
            ToolResponse(wire_id="c1", tool_name="shell", result='[{"stdout":"a"}]', is_complete=True),
            ToolResponse(wire_id="c2", tool_name="computer", result="", media=(PICTURE,), is_complete=True),
            ToolResponse(wire_id="c3", tool_name="computer", result="", is_complete=True),
            ToolResponse(wire_id="c4", tool_name="tool_search", result=[FOUND], is_complete=True),
            ToolResponse(wire_id="c5", tool_name="apply_patch", result="", is_complete=True),
        ),
    ]


def test_tools_that_a_search_of_the_clients_has_found_are_offered() -> None:
    found = {"type": "tool_search_output", "call_id": "c", "tools": [FOUND]}
    assert [tool.name for tool in parse({**found, "execution": "client"}).tools] == ["x"]
    assert parse({**found, "execution": "server"}).tools == []


def test_what_is_not_understood_is_named_with_its_place() -> None:
    parsed = parse(
        3,
        {"type": "item_reference", "id": "msg_9"},
        {"content": "?"},
        {"role": "narrator", "content": [{"type": "input_image", "file_id": "file_1"}, {"type": "input_smell"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]},
        previous_response_id="resp_0",
    )
    assert parsed.notes == [
        "previous_response_id: the conversation before this request is kept by the provider and cannot be read",
        "input[0]: not an item",
        "input[1]: refers to the stored item 'msg_9', which cannot be read from here",
        "input[2]: an item without a type or a role",
        "input[3].content[0]: refers to the stored file 'file_1', which cannot be read from here",
        "input[3].content[1]: a part of type 'input_smell' was not understood",
        "input[4]: an item of type 'compaction' is kept for its own provider",
    ]
    assert parsed.adjusted == [
        "input[3].role: 'narrator' is read as user",
        "input[6]: its tools were added to those of the request",
    ]
    assert parsed.entries[0] == human(Text("[a file that the provider stores: file_1]"))
    assert [type(block) for block in parsed.entries[1].blocks] == [HostedTool, HostedTool]
    assert parsed.options.extra == {"previous_response_id": "resp_0"}
    assert parsed.tools == [ToolSpec("late")]
    assert DIALECT.parse({"input": 3}).notes == ["input: neither text nor a list of items"]


def test_tools_of_every_kind_are_read() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}
    parsed = parse(
        tools=[
            {"type": "function", "name": "read", "description": None, "parameters": schema, "strict": True},
            {"type": "function", "name": "bare"},
            {"type": "custom", "name": "sql"},
            {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}]},
            {"type": "web_search"},
            {"type": "mcp", "server_label": "x"},
            {"name": "nobody's"},
        ]
    )
    home = "openai_responses"
    assert parsed.tools == [
        ToolSpec("read", "", schema, strict=True, home=home),
        ToolSpec("bare"),
        ToolSpec("sql", "", FREE_TEXT, kind=SpecKind.CUSTOM),
        ToolSpec("find", namespace="crm"),
        ToolSpec("web_search", kind=SpecKind.HOSTED, home=home, native={"type": "web_search"}),
        ToolSpec("mcp", kind=SpecKind.HOSTED, home=home, native={"type": "mcp", "server_label": "x"}),
    ]
    assert parsed.notes == ["tools[6]: a tool without a type was left out"]


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"store": False, "include": ["reasoning.encrypted_content"], "stream": None}, Options()),
        ({"include": ["x"]}, Options(extra={"include": ["x"]}, home="openai_responses")),
        ({"max_output_tokens": 9, "temperature": 1, "stream": True}, Options(9, 1.0, stream=True)),
        ({"tool_choice": "none"}, Options(choice=Choice.NONE)),
        ({"tool_choice": {"type": "function", "name": "read"}}, Options(tool="read")),
        (
            {"tool_choice": {"type": "web_search"}},
            Options(extra={"tool_choice": {"type": "web_search"}}, home="openai_responses"),
        ),
        ({"reasoning": {"effort": "low", "summary": None}}, Options(effort="low")),
        ({"reasoning": {"effort": "none", "summary": "auto"}}, Options(thinking=ThinkingSwitch.OFF)),
        ({"reasoning": {"summary": "auto"}}, Options(thinking=ThinkingSwitch.ON)),
        (
            {"reasoning": {"effort": "low", "summary": "detailed"}},
            Options(effort="low", extra={"reasoning": {"summary": "detailed"}}, home="openai_responses"),
        ),
    ],
)
def test_options_are_read_in_neutral_words_and_the_rest_is_kept(fields: JsonObject, options: Options) -> None:
    assert parse(**fields) == Parsed([], model="m", options=options)


# --- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capabilities", [{}, {"result_images": True}, {"max_calls": 1}, {"middle_system": False}])
def test_what_was_printed_is_read_back(capabilities: dict[str, Any]) -> None:
    context = make_context(make_target(Dialect.OPENAI_RESPONSES, **capabilities))
    units: list[Unit] = [
        Said(1, (Text("hi"), PICTURE)),
        exchange(
            [Text("ok"), call("a", path="x"), call("b"), call("c", "write")],
            success("a", "seen", media=(PICTURE,)),
            failure("b"),
            Completion(CallId("c"), CompletionKind.SYNTHETIC, reason=ClosureReason.INTERRUPTED),
        ),
        Said(2, (Text("be brief"),), Authority.INSTRUCTION),
        exchange([Text("done")]),
    ]
    items = [item for unit in units for item in printed(DIALECT.encoder(context).encode(unit, End.HUMAN))]
    items += printed(DIALECT.encoder(context).tail(End.ANSWER))
    parsed = parse(*items)
    assert parsed.notes == []
    found = [block for entry in parsed.entries for block in entry.blocks]
    expected: list[Any] = [
        Text("hi"),
        PICTURE,
        Text("ok"),
        ToolCall("read", {"path": "x"}, "call_a"),
        ToolCall("read", {}, "call_b"),
        ToolCall("write", {}, "call_c"),
        ToolResponse(wire_id="call_a", tool_name="read", result="seen", media=(PICTURE,), is_complete=True),
        ToolResponse(wire_id="call_b", tool_name="read", error="it broke", is_complete=True),
        ToolResponse(wire_id="call_c", tool_name="write", reason=ClosureReason.INTERRUPTED, synthetic=True),
        Text("be brief"),
        Text("done"),
    ]
    if capabilities == {"max_calls": 1}:  # each call is followed by its own result
        calls, results = expected[3:6], expected[6:9]
        expected[3:9] = [block for pair in zip(calls, results, strict=True) for block in pair]
    assert found == expected
    assert parsed.entries[-2].authority is Authority.INSTRUCTION


@needs_samples
def test_recorded_requests_are_understood() -> None:
    notes: set[str] = set()
    count = 0
    for line in (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").read_text().splitlines():
        recorded = json.loads(line)
        if not recorded["path"].endswith("/responses"):
            continue
        parsed = DIALECT.parse(recorded["request"])
        count += 1
        notes |= {note.partition(":")[2] for note in parsed.notes}
        items = recorded["request"]["input"]
        calls = [item["call_id"] for item in items if item.get("type") == "function_call" or _is_clients(item, "call")]
        results = [
            item["call_id"]
            for item in items
            if item.get("type") == "function_call_output" or _is_clients(item, "output")
        ]
        found = [block for entry in parsed.entries for block in entry.blocks]
        assert [block.wire_id for block in found if isinstance(block, ToolCall)] == calls
        assert [block.wire_id for block in found if isinstance(block, ToolResponse)] == results
    assert count >= 40
    assert {note for note in notes if "not understood" in note or "without a type" in note} == set()


def _is_clients(item: JsonObject, side: str) -> bool:
    return item.get("type") == f"tool_search_{side}" and item["execution"] == "client"
