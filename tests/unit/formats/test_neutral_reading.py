"""LangChain, ShareGPT, Vercel UI messages, chat records, request bodies and Legato's own log."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from legato.errors import FormatError
from legato.formats import detect, read, read_all
from legato.model import (
    Authority,
    ClosureReason,
    Ending,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
)
from legato.model.codec import dump_log
from legato.model.records import RouteSelected
from session_files import (
    CHAT,
    CHAT_RECORDS,
    LANGCHAIN,
    SHAREGPT,
    VERCEL_UI,
    answered,
    gave,
    jsonl,
    lc,
    said,
    text,
    use,
    whole,
)

from builders import calls, talk, user

# --- LangChain --------------------------------------------------------------------------------------------------------


def test_langchain_dumps_are_read_as_data() -> None:
    before = set(sys.modules)
    document = read(LANGCHAIN)
    assert not [name for name in set(sys.modules) - before if name.startswith("langchain")]
    origin = Origin("openai_chat", "openai", "https://api.openai.com/v1", "", "gpt-4o")
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("You are careful."),), authority=Authority.INSTRUCTION),
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(Speaker.AI, (Text("Looking."), ToolCall("ls", {"path": "."}, "call_1"))),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="call_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), origin, ending=Ending.DONE),
    ]
    assert document.conversation().instructions == "You are careful."


def test_a_langchain_class_that_a_file_names_is_never_loaded() -> None:
    evil = {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}}
    document = read(whole([evil, lc("HumanMessage", content="hi")]))
    assert [entry.text for entry in document.entries] == ["hi"]
    assert document.notes[0].place == "[0]"


def test_messages_to_dict_and_a_state_with_messages_are_read() -> None:
    messages: list[dict[str, Any]] = [
        {"type": "human", "data": {"content": [{"type": "text", "text": "hi"}, {"type": "odd"}]}},
        {
            "type": "ai",
            "data": {
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "redacted_thinking", "data": "d"},
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "sum"}]},
                    {"type": "tool_use", "id": "c1", "name": "run", "input": {}},
                    {"type": "text", "text": "ok"},
                    {"type": "odd"},
                ],
                "additional_kwargs": {"reasoning_content": "r"},
                "tool_calls": [{"name": "run", "args": {}, "id": "c1"}],
                "invalid_tool_calls": [{"name": "bad", "args": "{", "id": "c2"}],
            },
        },
        {"type": "tool", "data": {"content": "boom", "tool_call_id": "c1", "status": "error"}},
        {"type": "chat", "data": {"role": "user", "content": "chatted"}},
        {"type": "chat", "data": {"role": "narrator", "content": "?"}},
    ]
    for data, prefix in ((whole(messages), ""), (whole({"messages": messages}), "messages")):
        document = read(data)
        assert document.entries == [
            Entry(Speaker.HUMAN, (Text("hi"),)),
            Entry(
                Speaker.AI,
                (
                    Thinking("r"),
                    Thinking("hm", native={"signature": "s"}),
                    Thinking(native={"data": "d"}),
                    Thinking("sum"),
                    ToolCall("run", {}, "c1"),
                    Text("ok"),
                    ToolCall("bad", {}, "c2", raw="{", finished=False),
                ),
            ),
            Entry(Speaker.TOOL, (ToolResponse(wire_id="c1", tool_name="run", error="boom", is_complete=True),)),
            Entry(Speaker.HUMAN, (Text("chatted"),)),
        ]
        assert [note.place for note in document.notes] == [f"{prefix}[{index}]" for index in (0, 1, 4)]


def test_older_langchain_calls_stand_in_additional_kwargs() -> None:
    chat = {"tool_calls": [{"id": "c1", "function": {"name": "run", "arguments": '{"a":1}'}}]}
    legacy = {"function_call": {"name": "run", "arguments": "{}"}}
    data = whole([lc("AIMessage", content="", additional_kwargs=extra) for extra in (chat, legacy)])
    assert [entry.calls for entry in read(data).entries] == [
        (ToolCall("run", {"a": 1}, "c1"),),
        (ToolCall("run", {}),),
    ]


def test_langchain_lines_are_a_message_or_a_conversation_each() -> None:
    human = {"type": "human", "data": {"content": "hi"}}
    assert [entry.text for entry in read(jsonl(human, human)).entries] == ["hi", "hi"]
    first, second = read_all(jsonl({"messages": [human]}, {"messages": [human, human]}))
    assert (first.places, second.places) == (
        ["line 1, messages[0]"],
        ["line 2, messages[0]", "line 2, messages[1]"],
    )


# --- ShareGPT ---------------------------------------------------------------------------------------------------------


def test_sharegpt_pairs_by_order() -> None:
    document = read(SHAREGPT)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("You are careful."),), authority=Authority.INSTRUCTION),
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(Speaker.AI, (ToolCall("ls", {"path": "."}),)),
        Entry(Speaker.TOOL, (ToolResponse(result="a.txt\nb.txt", is_complete=True),)),
        Entry(Speaker.AI, (Text("Two files."),)),
    ]
    assert document.tools == [ToolSpec("ls", "list", {"type": "object"})]
    assert document.places[0] == "[0].conversations[0]"


def test_sharegpt_lines_hold_a_conversation_each() -> None:
    record = {"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}], "system": "S"}
    calls_of_two = '[{"name": "a", "arguments": {}}, {"function": {"name": "b", "parameters": {"x": 1}}}]'
    other = {
        "conversations": [
            {"from": "tool_call", "value": calls_of_two},
            {"from": "function_call", "value": "not json"},
            {"from": "tool", "value": {"y": 2}},
            {"from": "spirit", "value": "boo"},
        ],
        "tools": "not json",
    }
    first, second = read_all(jsonl(record, other))
    assert (first.system, first.places) == ("S", ["line 1, conversations[0]", "line 1, conversations[1]"])
    assert second.entries == [
        Entry(Speaker.AI, (ToolCall("a", {}), ToolCall("b", {"x": 1}))),
        Entry(Speaker.AI, (Text("not json"),)),
        Entry(Speaker.TOOL, (ToolResponse(result={"y": 2}, is_complete=True),)),
    ]
    assert [str(note) for note in second.notes] == [
        "line 2, conversations[3]: a turn from 'spirit' is not understood and was left out"
    ]


def test_one_sharegpt_conversation_alone_is_read() -> None:
    document = read(whole({"conversation": [{"from": "user", "value": "hi"}]}))
    assert document.places == ["conversation[0]"]


# --- Vercel UI messages -----------------------------------------------------------------------------------------------


def test_ui_messages_are_split_into_steps() -> None:
    document = read(VERCEL_UI)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (Thinking("I look"), Text("Looking."), ToolCall("ls", {"path": "."}, "call_1")),
            answer="ui-2",
        ),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="call_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), answer="ui-3"),
    ]


def test_ui_states_say_what_came_of_a_call() -> None:
    def part(number: int, state: str, **more: Any) -> dict[str, Any]:
        return {"type": "tool-run", "toolCallId": f"c{number}", "state": state, "input": {"n": number}, **more}

    parts = [
        part(1, "input-streaming"),
        part(2, "input-available"),
        part(3, "output-error", errorText="boom"),
        part(4, "output-denied", approval={"id": "a", "approved": False, "reason": "not now"}),
        {
            "type": "dynamic-tool",
            "toolName": "dyn",
            "toolCallId": "c5",
            "state": "output-available",
            "output": {"x": 1},
        },
        part(6, "output-available", output="found", providerExecuted=True),
        {"type": "source-url", "url": "https://x.test"},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"},
        {"type": "puzzle"},
    ]
    document = read(whole({"id": "chat", "messages": [{"id": "1", "role": "assistant", "parts": parts}]}))
    answer, results = document.entries
    assert answer.blocks == (
        ToolCall("run", {"n": 1}, "c1", finished=False),
        ToolCall("run", {"n": 2}, "c2"),
        ToolCall("run", {"n": 3}, "c3"),
        ToolCall("run", {"n": 4}, "c4"),
        ToolCall("dyn", {}, "c5"),
        HostedTool("run", {"n": 6}, "found", "c6"),
        Media(MediaKind.IMAGE, "image/png", data="AAAA"),
    )
    assert results.blocks == (
        ToolResponse(wire_id="c3", tool_name="run", error="boom", is_complete=True),
        ToolResponse(wire_id="c4", tool_name="run", reason=ClosureReason.DENIED, said="not now"),
        ToolResponse(wire_id="c5", tool_name="dyn", result={"x": 1}, is_complete=True),
    )
    assert [str(note) for note in document.notes] == [
        "messages[0].parts[8]: a part of type 'puzzle' is not understood and was left out",
        "messages[0].parts[6]: a part of type 'source-url' is not carried",
    ]


def test_ui_messages_from_before_there_were_parts_are_read() -> None:
    invocation = {"state": "result", "toolCallId": "c1", "toolName": "run", "args": {}, "result": "ok"}
    messages = [
        {"id": "1", "role": "system", "content": "S"},
        {"id": "2", "role": "user", "content": "hi",
         "experimental_attachments": [{"name": "a", "contentType": "image/png", "url": "https://x.test/a.png"}]},
        {"id": "3", "role": "assistant", "reasoning": "hm", "content": "done", "toolInvocations": [invocation]},
        {"id": "4", "role": "data", "content": ""},
        {"id": "5", "role": "pet", "content": ""},
    ]  # fmt: skip
    document = read(whole(messages))
    assert [(entry.speaker, entry.text) for entry in document.entries] == [
        (Speaker.HUMAN, "S"),
        (Speaker.HUMAN, "hi"),
        (Speaker.AI, ""),
        (Speaker.TOOL, ""),
        (Speaker.AI, "done"),
    ]
    assert document.entries[2].blocks == (Thinking("hm"), ToolCall("run", {}, "c1"))
    assert [note.place for note in document.notes] == ["[4]", "[3]"]


# --- chat records -----------------------------------------------------------------------------------------------------


def test_fine_tuning_lines_are_a_conversation_each() -> None:
    first, second = read_all(CHAT_RECORDS)
    assert (first.format, first.route, first.system) == ("openai-chat", "openai/gpt-4o", "You are careful.")
    assert first.places == [f"line 1, messages[{index}]" for index in range(1, 6)]
    assert [call.state for call in second.conversation().ledger.calls.values()] == ["pending"]


def test_batch_lines_and_exchanges_and_runs_hold_bodies() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    contents = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    batch = read(jsonl({"custom_id": "b1", "method": "POST", "url": "/v1/messages", "body": body}))
    assert (batch.format, batch.meta["session"], batch.places) == ("anthropic", "b1", ["body.messages[0]"])
    exchange = read_all(
        jsonl(
            {"path": "/v1beta/models/gemini-3-pro-preview:generateContent", "request": contents, "response": {}},
            {"request": {"nothing": 1}},
        )
    )
    assert (exchange[0].route, exchange[0].places) == (
        "gemini/gemini-3-pro-preview",
        ["line 1, request.contents[0]"],
    )
    assert (exchange[1].entries, exchange[1].notes[0].place) == ([], "line 2")
    recorded = {"interactions": [{"request": {"url": "/v1/chat/completions", "body": json.dumps(CHAT)}}]}
    assert len(read(whole(recorded)).entries) == 5
    runs = read_all(whole([{"task_id": 1, "traj": CHAT["messages"]}, {"task_id": 2, "traj": CHAT["messages"]}]))
    assert [len(run.entries) for run in runs] == [5, 5]
    assert runs[1].places[0] == "[1].traj.messages[1]"


def test_a_message_a_line_is_one_conversation() -> None:
    data = jsonl(
        {"role": "user", "content": "hi", "model": "gpt-4o"},
        {"type": "tool_call", "function": {"name": "run"}, "arguments": {"a": 1}},
        {"type": "tool_result", "name": "run", "result": "ok"},
        {"role": "assistant", "message": {"content": [text("done"), use("", "more")]}},
        {"role": "user", "message": {"content": [gave("unknown", "yes"), text("thanks")]}},
        {"role": "assistant", "content": "bye", "finish_reason": "length", "reasoning_content": "hm"},
        {"role": "assistant", "content": None, "refusal": "no", "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "fine"},
        {"role": "system", "content": "be brief"},
        {"role": "wizard", "content": "?"},
        {"type": "noise"},
    )
    document = read(data)
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"] * 3
    assert [entry.text for entry in document.entries if entry.speaker is not Speaker.TOOL] == [
        "hi", "", "done", "thanks", "bye", "no", "be brief",
    ]  # fmt: skip
    assert [note.place for note in document.notes] == ["line 10", "line 11"]


# --- request bodies ---------------------------------------------------------------------------------------------------

ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "system": "S",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, use("toolu_1")]},
        {"role": "user", "content": [gave("toolu_1", "ok"), text("and?")]},
    ],
}
RESPONSES = {
    "model": "gpt-5.1",
    "input": [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    ],
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"result": "ok"}}}]},
    ]
}
VERCEL = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "call_1", "toolName": "run", "input": {}}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call_1",
                    "toolName": "run",
                    "output": {"type": "text", "value": "ok"},
                }
            ],
        },
    ]
}


BEDROCK = {
    "messages": [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "run", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "ok"}]}}]},
    ]
}


def chat_for(model: str, call_id: str = "call_1") -> dict[str, Any]:
    body = json.loads(json.dumps(CHAT).replace("call_1", call_id))
    body["model"] = model
    return body if model else {key: value for key, value in body.items() if key != "model"}


@pytest.mark.parametrize(
    ("body", "name", "route", "field"),
    [
        (CHAT, "openai-chat", "openai/gpt-4o", "messages"),
        (chat_for("mistral-small-latest"), "mistral", "mistral/mistral-small-latest", "messages"),
        (chat_for("kimi-k2-0905-preview"), "kimi", "kimi/kimi-k2-0905-preview", "messages"),
        (chat_for("deepseek-chat"), "deepseek", "deepseek/deepseek-chat", "messages"),
        (chat_for("grok-4"), "openai-chat", "xai/grok-4", "messages"),
        (chat_for("meta/llama-3"), "openai-chat", "openrouter/meta/llama-3", "messages"),
        (chat_for("my-own"), "openai-chat", "", "messages"),
        (chat_for("", "a1B2c3D4e"), "mistral", "mistral/mistral-large-latest", "messages"),
        (chat_for("", "functions.ls:0"), "kimi", "kimi/kimi-k2-thinking", "messages"),
        (chat_for(""), "openai-chat", "openai/gpt-5.1", "messages"),
        (ANTHROPIC, "anthropic", "anthropic/claude-sonnet-4-5", "messages"),
        (RESPONSES, "openai-responses", "openai-responses/gpt-5.1", "input"),
        (GEMINI, "gemini", "gemini/gemini-3-pro-preview", "contents"),
        (VERCEL, "vercel", "vercel/any", "messages"),
        (BEDROCK, "bedrock", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "messages"),
        (
            {**BEDROCK, "modelId": "us.amazon.nova-2-lite-v1:0"},
            "bedrock",
            "bedrock/us.amazon.nova-2-lite-v1:0",
            "messages",
        ),
    ],
)
def test_bodies_are_told_apart_and_read_through_their_dialects(
    body: dict[str, Any], name: str, route: str, field: str
) -> None:
    document = read(whole(body))
    assert (document.format, document.route) == (name, route)
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"]
    assert all(place.startswith(f"{field}[") for place in document.places)


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        (CHAT["messages"], "openai-chat"),
        (ANTHROPIC["messages"], "anthropic"),
        (RESPONSES["input"], "openai-responses"),
        (VERCEL["messages"], "vercel"),
        (BEDROCK["messages"], "bedrock"),
    ],
)
def test_bare_lists_of_messages_are_read_too(messages: list[Any], name: str) -> None:
    document = read(whole(messages))
    assert document.format == name
    assert len(document.conversation().ledger.calls) == 1


def test_an_answer_of_a_provider_is_no_request() -> None:
    for body in (
        {"id": "x", "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "hi"}}]},
        {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn"},
    ):
        with pytest.raises(FormatError, match="unknown format"):
            detect(whole(body))


def test_the_answers_of_a_body_are_at_home_with_its_provider() -> None:
    document = read(whole(ANTHROPIC))
    origin = Origin("anthropic", "anthropic", "https://api.anthropic.com", "", "claude-sonnet-4-5")
    assert [entry.origin for entry in document.entries] == [None, origin, None, None]
    assert document.places == ["messages[0]", "messages[1]", "messages[2]", "messages[2]"]


def test_an_entry_is_placed_at_its_own_message_whatever_the_others_say() -> None:
    messages = [
        {"role": "system", "content": "It is ok to look."},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "ok"},
    ]
    assert read(whole({"model": "gpt-5.1", "messages": messages})).places == [f"messages[{n}]" for n in (1, 2, 3)]


def test_an_entry_of_several_messages_is_placed_at_all_of_them() -> None:
    calls = [{"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for name in ("a", "b")]
    chat = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "y"},
        {"role": "assistant", "content": "done"},
    ]
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ]
    assert read(whole({"model": "gpt-5.1", "messages": chat})).places == [
        "messages[0]",
        "messages[1]",
        "messages[2:4]",
        "messages[4]",
    ]
    assert read(whole({"model": "gpt-5.1", "input": items})).places == ["input[0]", "input[1:3]", "input[3]"]


def test_a_request_of_one_text_has_no_message_to_place_it_at() -> None:
    assert read(whole({"model": "gpt-5.1", "input": "hi"})).places == ["input"]


# --- Legato's own -----------------------------------------------------------------------------------------------------


def test_a_log_comes_back_as_it_was() -> None:
    conversation = talk(user("hi"), calls("a"))
    conversation.apply([RouteSelected(route="mistral/mistral-large-latest")])
    document = read(b"".join(dump_log(conversation.log)))
    assert list(document.conversation().log) == list(conversation.log)
    assert document.entries == conversation.entries
    assert document.route == "mistral/mistral-large-latest"


def test_a_record_of_a_newer_version_is_refused_and_a_torn_one_is_not() -> None:
    data = b"".join(dump_log(talk(user("hi"), user("ho")).log))
    assert [entry.text for entry in read(data[:-20]).entries] == ["hi"]
    with pytest.raises(FormatError, match=r"line 4: .*newer version"):
        read(data + b'{"record":"prophecy"}\n')
    with pytest.raises(FormatError, match="version 99"):
        read(data.replace(b'"version":1', b'"version":99'))


def test_a_session_that_goes_through_a_log_keeps_its_signatures() -> None:
    session = read(
        jsonl(
            said("u", None, "hi"),
            answered("a", "u", "m", {"type": "thinking", "thinking": "t", "signature": "s"}, text("x")),
        )
    )
    data = b"".join(dump_log(session.conversation().log))
    assert read(data).entries[1].blocks == (Thinking("t", native={"signature": "s"}), Text("x"))
