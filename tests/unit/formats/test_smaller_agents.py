"""Agents whose sessions are only read, and who need no file of their own: what is particular to each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from database_files import make
from legato.files import session_files
from legato.formats import Level, detect, lint_document, read, read_all
from legato.formats.document import CompactionMark
from legato.model import (
    Authority,
    Ending,
    HostedTool,
    Media,
    MediaKind,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
    Usage,
)
from linear_work import assert_linear, work_of
from session_files import CURSOR, EVERY_FILE, HERMES, INSPECT, SWE_AGENT, antigravity_step, jsonl, text, use, whole

SMALLER = (
    "antigravity",
    "continue",
    "cursor",
    "droid",
    "goose",
    "grok-cli",
    "hermes",
    "inspect",
    "mini-swe-agent",
    "open-webui",
    "openhands",
    "swe-agent",
    "vscode-chat",
)


@pytest.mark.parametrize("name", SMALLER)
def test_each_tells_the_same_story(name: str) -> None:
    assert detect(EVERY_FILE[name]).format == name
    document = read(EVERY_FILE[name])
    spoken = [entry for entry in document.entries if entry.authority == "person"]
    assert [(entry.speaker, entry.text) for entry in spoken] == [
        (Speaker.HUMAN, "List the files"),
        (Speaker.AI, "Looking."),
        (Speaker.TOOL, ""),
        (Speaker.AI, "Two files."),
    ]
    assert [
        (call.name.lower(), call.arguments, call.state) for call in document.conversation().ledger.calls.values()
    ] == [("ls", {"path": "."}, "complete")]
    assert document.notes == []
    assert lint_document(document) == []


# --- Continue ---------------------------------------------------------------------------------------------------------


def continued(*history: dict[str, Any]) -> bytes:
    return whole({"sessionId": "c", "history": [{"contextItems": [], **item} for item in history]})


def test_what_was_attached_in_continue_is_said_before_the_words() -> None:
    image = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,AAAA"}}
    message = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image, {"type": "hologram"}]}
    attached = [{"name": "a.py", "content": "x = 1"}, {"name": "b.py", "content": "y = 2"}]
    document = read(continued({"message": message, "contextItems": attached}))
    told = '<context name="a.py">\nx = 1\n</context>\n\n<context name="b.py">\ny = 2\n</context>'
    assert [entry.blocks for entry in document.entries] == [
        (Text(told), Text("What is this?"), Media(MediaKind.IMAGE, "image/png", data="AAAA"))
    ]
    assert [str(note) for note in document.notes] == [
        "history[0]: content[2] of type 'hologram' is not understood and was left out"
    ]


def test_calls_of_continue_fail_or_stay_open_as_their_states_say() -> None:
    calls = [{"id": own, "function": {"name": "run", "arguments": "{}"}} for own in ("a", "b", "c")]
    states = [
        {"toolCallId": "a", "status": "errored", "output": [{"content": "no"}, {"content": "such file"}]},
        {"toolCallId": "b", "status": "canceled"},
        {"toolCallId": "c", "status": "calling"},
    ]
    answer = {"message": {"role": "assistant", "content": "", "toolCalls": calls}, "toolCallStates": states}
    document = read(continued({"message": {"role": "user", "content": "go"}}, answer))
    found = document.conversation().ledger.in_order
    assert [call.response and call.response.error for call in found] == ["no\nsuch file", "Tool cancelled", None]
    states_at = "history[1].toolCallStates"
    assert document.places == ["history[0]", "history[1]", f"{states_at}[0]", f"{states_at}[1]"]
    (finding,) = lint_document(document)
    assert (finding.level, finding.rule, finding.calls) == (Level.RISK, "session/open-call", (found[2].id,))


@pytest.mark.parametrize(
    "listed",
    [
        None,
        "[]",
        [None, None],
        [{}, {}],
        [{"id": "a"}, {"id": "b", "function": "run"}],
        [{"id": "a", "function": {"name": "run"}}, {"id": "b", "function": {"arguments": "{}"}}],
        [{"function": {"name": "run", "arguments": '{"n": 1}'}}],
        [{"id": "b", "function": {"name": "run", "arguments": '{"n": 2}'}}],
    ],
)
def test_a_call_of_continue_that_is_unreadable_in_its_message_is_that_of_its_state(listed: Any) -> None:
    calls = [{"id": own, "function": {"name": "run", "arguments": f'{{"n": {n}}}'}} for own, n in (("a", 1), ("b", 2))]
    states = [
        {"toolCallId": call["id"], "toolCall": call, "status": "done", "output": [{"content": f"{call['id']}.txt"}]}
        for call in calls
    ]
    answer = {"message": {"role": "assistant", "content": "", "toolCalls": listed}, "toolCallStates": states}
    document = read(continued({"message": {"role": "user", "content": "go"}}, answer))
    ledger = document.conversation().ledger.calls.values()
    found = {call.wire_id: (call.name, call.arguments, call.response and call.response.result) for call in ledger}
    assert found == {"a": ("run", {"n": 1}, "a.txt"), "b": ("run", {"n": 2}, "b.txt")}
    assert lint_document(document) == []


def test_a_state_of_continue_belongs_to_the_call_that_either_of_its_ids_names() -> None:
    call = {"id": "a", "function": {"name": "run", "arguments": "{}"}}
    state = {"toolCallId": "?", "toolCall": call, "status": "done", "output": [{"content": "x"}]}
    answer = {"message": {"role": "assistant", "content": "", "toolCalls": [call]}, "toolCallStates": [state]}
    document = read(continued({"message": {"role": "user", "content": "go"}}, answer))
    assert [call.response and call.response.result for call in document.conversation().ledger.in_order] == ["x"]


def test_answers_of_continue_tell_their_thoughts_and_tokens() -> None:
    counts = {"model": "gpt-4.1", "prompt_tokens": 30, "completion_tokens": 7}
    details = {"prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 3}}
    message = {"role": "assistant", "content": "done", "usage": counts | details}
    document = read(
        continued(
            {"message": {"role": "system", "content": "Be brief."}},
            {"message": {"role": "thinking", "content": "First."}},
            {"message": message, "reasoning": {"text": "Then."}},
            {"message": {"role": "narrator", "content": "?"}},
        )
    )
    assert [entry.blocks for entry in document.entries] == [
        (Text("Be brief."),),
        (Thinking("First."),),
        (Thinking("Then."), Text("done")),
    ]
    assert document.entries[0].authority is Authority.INSTRUCTION
    assert document.usages == {2: Usage(input=30, output=7, cache_read=20, reasoning=3)}
    assert (document.model, document.route) == ("gpt-4.1", "openai/gpt-4.1")
    assert [str(note) for note in document.notes] == [
        "history[3]: a message of role 'narrator' is not understood and was left out"
    ]


# --- goose ------------------------------------------------------------------------------------------------------------


def said(role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "created": 1, "content": list(parts), **more}


def requested(own: str, **call: Any) -> dict[str, Any]:
    return {"type": "toolRequest", "id": own, "toolCall": call or {"status": "success", "value": {"name": "f"}}}


def returned(own: str, **result: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": own, "toolResult": result}


HEAD = {"working_dir": "/work", "description": "d", "message_count": 1}


def test_parts_of_goose_are_what_they_say() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
    document = read(
        jsonl(
            HEAD,
            said("user", text("look"), image),
            said(
                "assistant",
                {"type": "redactedThinking", "data": "d"},
                {"type": "systemNotification", "msg": "shown"},
                requested("a"),
                requested("b", status="error", error="bad arguments"),
                {**requested("c"), "thoughtSignature": "c2ln"},
                {"type": "riddle"},
            ),
            said(
                "user",
                returned("a", status="success", value={"content": [text("x"), image, resource], "isError": False}),
                returned("b", status="error", error="no"),
                returned("c", status="success", value={"content": [text("failed")], "isError": True}),
            ),
        )
    )
    seen = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert [entry.blocks for entry in document.entries] == [
        (Text("look"), seen),
        (
            Thinking(native={"data": "d"}),
            ToolCall("f", {}, "a"),
            ToolCall("", {}, "b"),
            ToolCall("f", {}, "c", native={"thoughtSignature": "c2ln"}),
        ),
        (
            ToolResponse(wire_id="a", tool_name="f", result="x\ninside", is_complete=True, media=(seen,)),
            ToolResponse(wire_id="b", error="no", is_complete=True),
            ToolResponse(wire_id="c", tool_name="f", error="failed", is_complete=True),
        ),
    ]
    assert [(str(note), note.is_carried) for note in document.notes] == [
        ("line 3, content[3]: a call that could not be made: bad arguments", True),
        ("line 3, content[5]: a part of type 'riddle' is not understood and was left out", False),
    ]


def test_a_message_of_goose_without_a_role_is_named() -> None:
    document = read(jsonl(HEAD, said("user", text("look")), {"content": [text("more")]}))
    assert [entry.text for entry in document.entries] == ["look"]
    assert [str(note) for note in document.notes] == ["line 3: a message of role '' is not understood and was left out"]


def test_what_goose_hid_from_itself_is_marked() -> None:
    hidden, summary = {"userVisible": True, "agentVisible": False}, {"userVisible": False, "agentVisible": True}
    document = read(
        jsonl(
            HEAD,
            said("user", text("one"), metadata=hidden),
            said("assistant", text("two"), metadata=hidden),
            said("assistant", text("short"), metadata=summary),
            said("user", text("three"), metadata={"userVisible": True, "agentVisible": True}),
        )
    )
    assert [entry.text for entry in document.entries] == ["one", "two", "three"]
    assert document.compactions == [CompactionMark(0, 1, "short", "line 4")]
    assert [note.is_carried for note in document.notes] == [True]


GOOSE_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT NOT NULL, provider_name TEXT, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
"""


def test_every_session_of_the_database_of_goose_is_a_conversation(tmp_path: Path) -> None:
    config = '{"model_name": "claude-sonnet-4-5"}'
    messages = [
        (1, "s1", "user", json.dumps([text("go")]), 1_735_689_600, "{}"),
        (2, "s2", "user", json.dumps([text("second")]), 1, None),
        (3, "s1", "assistant", json.dumps([requested("a")]), 2, "{}"),
        (4, "s1", "user", json.dumps([returned("a", status="success", value=[text("ok")])]), 3, "{}"),
        (5, "s2", "assistant", "[torn", 3, "{}"),
    ]
    sessions = [("s1", "/work", "anthropic", config), ("s2", "/other", None, None), ("s3", "/empty", None, None)]
    path = make(tmp_path / "sessions.db", GOOSE_TABLES, sessions=sessions, messages=messages)
    assert detect(path).format == "goose"
    first, second = read_all(path)
    assert (first.meta, first.route) == ({"session": "s1", "cwd": "/work"}, "anthropic/claude-sonnet-4-5")
    assert [call.state for call in first.conversation().ledger.calls.values()] == ["complete"]
    assert (first.places, first.times) == (["row 1", "row 3", "row 4"], {0: 1_735_689_600.0})
    assert ([entry.text for entry in second.entries], [str(note) for note in second.notes]) == (
        ["second"],
        ["row 5: is no JSON and was left out"],
    )


# --- Antigravity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [None, "two", True, 1, 2.5])
def test_a_step_of_antigravity_takes_no_other_step_away_whatever_its_number_is(number: Any) -> None:
    steps = [json.loads(line) for line in EVERY_FILE["antigravity"].splitlines()]
    steps[2]["step_index"] = number
    assert read(jsonl(*steps), format="antigravity").entries == read(EVERY_FILE["antigravity"]).entries


def test_steps_of_antigravity_without_numbers_keep_their_order() -> None:
    steps = [json.loads(line) for line in EVERY_FILE["antigravity"].splitlines()]
    bare = [{key: value for key, value in step.items() if key != "step_index"} for step in steps]
    assert read(jsonl(*bare), format="antigravity").entries == read(EVERY_FILE["antigravity"]).entries


def test_a_transcript_of_antigravity_is_read_in_the_order_of_its_steps() -> None:
    asked = "<USER_REQUEST>\nLook.\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nIt is noon.\n</ADDITIONAL_METADATA>"
    calls = [{"name": name, "args": {}} for name in ("write_to_file", "view_file", "run_command")]
    document = read(
        jsonl(
            antigravity_step(0, "USER_INPUT", content=asked),
            antigravity_step(4, "RUN_COMMAND", content="Output: hello"),
            antigravity_step(1, "PLANNER_RESPONSE", thinking="Hm.", tool_calls=calls, input_tokens=1, output_tokens=2),
            antigravity_step(2, "CODE_ACTION", content="Created file b.txt"),
            antigravity_step(3, "VIEW_FILE", content="no such file", status="ERROR"),
            antigravity_step(5, "CHECKPOINT", content="so far"),
        )
    )
    assert document.entries[0].blocks == (
        Text("Look."),
        Text("<ADDITIONAL_METADATA>\nIt is noon.\n</ADDITIONAL_METADATA>"),
    )
    ledger = document.conversation().ledger
    assert [(call.name, call.state, call.response and call.response.result) for call in ledger.in_order] == [
        ("write_to_file", "complete", "Created file b.txt"),
        ("view_file", "error", None),
        ("run_command", "complete", "Output: hello"),
    ]
    assert [str(note) for note in document.notes] == [
        "line 6: a step of type 'CHECKPOINT' is not understood and was left out"
    ]
    assert document.usages == {1: Usage(input=1, output=2)}
    assert len(document.times) == len(document.entries)


# --- the others -------------------------------------------------------------------------------------------------------


def test_a_transcript_of_cursor_is_healthy_without_results() -> None:
    document = read(b"\n".join(CURSOR.splitlines()[:2]))
    assert [finding.level for finding in lint_document(document)] == [Level.RISK]
    odd = read(CURSOR + jsonl({"type": "turn_ended", "status": "aborted"}, {"type": "omen"}))
    assert odd.entries[-1].ending is Ending.CANCELLED
    assert [str(note) for note in odd.notes] == ["line 7: a record of type 'omen' is not understood and was left out"]
    assert (
        detect(jsonl({"role": "user", "content": "x"}, {"role": "assistant", "content": "y"})).format == "chat-records"
    )


def test_a_stream_of_droid_ends_with_its_last_words_once() -> None:
    stream = [
        {"type": "system", "subtype": "init", "sessionId": "d", "model": "claude-sonnet-4-5", "cwd": "/work"},
        {"type": "message", "sessionId": "d", "role": "user", "text": "go"},
        {"type": "tool_call", "sessionId": "d", "id": "c1", "toolName": "Read", "parameters": {"path": "a"}},
        {"type": "tool_result", "sessionId": "d", "id": "c1", "isError": True, "value": "no"},
        {"type": "message", "sessionId": "d", "role": "assistant", "text": "Done"},
        {"type": "completion", "sessionId": "d", "finalText": "Done"},
        {"type": "error", "message": "lost"},
        {"type": "omen"},
    ]
    document = read(jsonl(*stream))
    assert [(entry.speaker, entry.text) for entry in document.entries] == [
        (Speaker.HUMAN, "go"),
        (Speaker.AI, ""),
        (Speaker.TOOL, ""),
        (Speaker.AI, "Done"),
    ]
    assert document.entries[2].blocks == (ToolResponse(wire_id="c1", tool_name="Read", error="no", is_complete=True),)
    assert (document.route, document.meta) == ("anthropic/claude-sonnet-4-5", {"session": "d", "cwd": "/work"})
    assert [(str(note), note.is_carried) for note in document.notes] == [
        ("line 7: the run failed: lost", True),
        ("line 8: a record of type 'omen' is not understood and was left out", False),
    ]
    assert [entry.text for entry in read(jsonl(*stream[:4], stream[5])).entries][-1] == "Done"


def test_thoughts_of_droid_and_unknown_records_of_grok() -> None:
    session = {"type": "session_start", "id": "d"}
    answer = {
        "type": "message",
        "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, use("a")]},
    }
    assert read(jsonl(session, answer)).entries[0].blocks == (Thinking("hm"), ToolCall("Bash", {}, "a"))
    history = jsonl({"type": "user", "content": "x", "prompt_index": 0}, {"type": "omen", "content": "?"})
    assert [str(note) for note in read(history).notes] == [
        "line 2: a record of type 'omen' is not understood and was left out"
    ]


def test_hermes_keeps_its_prompt_and_its_tools() -> None:
    document = read(HERMES)
    assert (document.system, document.tools) == ("You are careful.", [ToolSpec("ls", "", {"type": "object"})])
    assert (document.route, document.meta) == ("openai/gpt-5.2", {"session": "h1", "cwd": "/work", "platform": "cli"})


# --- Inspect ----------------------------------------------------------------------------------------------------------


def sample(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A sample as inspect_ai 0.3.285 logs it, without its events."""
    return {"id": "s", "epoch": 1, "input": "x", "target": "y", "messages": list(messages), **more}


def test_a_log_of_inspect_holds_a_conversation_for_each_sample() -> None:
    log = json.loads(INSPECT)
    assert detect(INSPECT).reason == "samples of an eval"
    log["samples"].append(sample({"role": "user", "content": "again"}))
    first, second = read_all(whole(log))
    assert (first.route, first.places[0]) == ("anthropic/claude-sonnet-4-5", "samples[0].messages[0]")
    assert first.entries[2].blocks[0] == Thinking("I look", native={"signature": "c2ln"})
    assert ([entry.text for entry in second.entries], second.meta) == (["again"], {"session": "s"})


def test_attachments_errors_and_tools_of_providers_in_a_sample() -> None:
    image = {"type": "image", "image": "attachment://1", "detail": "auto"}
    failed = {"type": "file_not_found", "message": "no such path"}
    search = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w",
        "name": "web_search",
        "arguments": '{"q": "x"}',
        "result": "r",
    }
    document = read(
        whole(
            sample(
                {"role": "user", "content": [text("look"), image, {"type": "data", "data": {}}]},
                {
                    "role": "assistant",
                    "content": [search, {"type": "reasoning", "reasoning": "gA==", "redacted": True}],
                    "tool_calls": [{"id": own, "function": "f", "arguments": {}} for own in ("a", "b")],
                },
                {"role": "tool", "content": "", "tool_call_id": "a", "function": "f", "error": failed},
                {"role": "tool", "content": [text("seen"), image], "tool_call_id": "b", "function": "f"},
                {"role": "narrator", "content": "?"},
                attachments={"1": "data:image/png;base64,AAAA"},
            )
        )
    )
    seen = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert [entry.blocks for entry in document.entries] == [
        (Text("look"), seen),
        (HostedTool("web_search", {"q": "x"}, "r", "w"), ToolCall("f", {}, "a"), ToolCall("f", {}, "b")),
        (ToolResponse(wire_id="a", tool_name="f", error="no such path", is_complete=True),),
        (ToolResponse(wire_id="b", tool_name="f", result="seen", is_complete=True, media=(seen,)),),
    ]
    assert [str(note) for note in document.notes] == [
        "messages[0]: content[2] of type 'data' is not understood and was left out",
        "messages[1]: a sealed thought is not carried",
        "messages[4]: a message of role 'narrator' is not understood and was left out",
    ]


# --- mini-swe-agent ---------------------------------------------------------------------------------------------------


def trajectory(*messages: dict[str, Any], model: str = "openai/gpt-5.1") -> bytes:
    """A run as mini-swe-agent 2.4.6 saves it."""
    info = {"config": {"model": {"model_name": model}}}
    ended = {"role": "exit", "content": "patch", "extra": {"exit_status": "Submitted"}}
    return whole({"info": info, "messages": [*messages, ended], "trajectory_format": "mini-swe-agent-1.1"})


def test_a_run_is_read_in_the_form_of_either_api() -> None:
    called = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]}
    document = read(
        trajectory(
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"object": "response", "output": [spoken, called], "extra": {}},
            {"type": "function_call_output", "call_id": "c1", "output": "hi", "extra": {}},
            {"object": "response", "output": [{**called, "call_id": "c2"}]},
        )
    )
    assert [(entry.speaker, entry.text) for entry in document.entries] == [
        (Speaker.HUMAN, "go"),
        (Speaker.AI, "Looking."),
        (Speaker.TOOL, ""),
        (Speaker.AI, ""),
    ]
    assert document.places[1:3] == ["messages[1].output[0] to messages[1].output[1]", "messages[2]"]
    states = [call.state for call in document.conversation().ledger.calls.values()]
    assert (states, document.notes) == (["complete", "pending"], [])
    assert {finding.level for finding in lint_document(document)} == {Level.RISK}
    told = read(trajectory({"role": "user", "content": "go"}, {"role": "assistant", "content": "ls"}, model="x/my-own"))
    assert ([entry.text for entry in told.entries], told.model, told.route) == (["go", "ls"], "my-own", "")


# --- SWE-agent --------------------------------------------------------------------------------------------------------


def test_a_run_without_tools_is_read_as_it_was_sent() -> None:
    history = [
        {"role": "system", "content": "Be brief.", "agent": "main"},
        {"role": "user", "content": "(Open file: n/a)\nbash-$", "agent": "main", "is_demo": True},
        {"role": "assistant", "content": "Look.\n```\nls\n```", "thought": "Look.", "action": "ls", "agent": "main"},
        {"role": "user", "content": "a.txt", "agent": "main"},
    ]
    for settings, model in (("{}", ""), ("no json", ""), ('{"agent": {"model": {"name": "claude-x"}}}', "claude-x")):
        run = {"trajectory": [], "history": history, "info": {}, "replay_config": settings}
        document = read(whole(run))
        assert (document.format, document.model, document.notes) == ("swe-agent", model, [])
        assert [entry.text for entry in document.entries] == [item["content"] for item in history]


def test_answers_that_no_step_of_the_trajectory_holds_are_looked_up_in_linear_work() -> None:
    def work(size: int) -> int:
        steps = [{"action": "ls", "response": f"Step {number}.", "observation": "a.txt"} for number in range(size)]
        answers = [{"role": "assistant", "content": f"Step {number}."} for number in range(size)]
        run = whole({"trajectory": steps, "history": answers, "info": {}, "replay_config": "{}"})
        return work_of(lambda: read(run))

    assert_linear(work, 200)


@pytest.mark.parametrize("history", [None, "?", [], [None], [{"role": "system", "content": "Be brief."}]])
def test_a_run_whose_history_has_no_answers_is_read_from_its_trajectory(history: Any) -> None:
    run = json.loads(SWE_AGENT)
    asked = {"role": "system", "content": "Be brief.", "agent": "main"}
    steps = [
        {
            "query": [asked],
            "response": "Look.\n```\nls\n```",
            "thought": "Look.",
            "action": "ls\n",
            "observation": "a.txt",
        },
        {
            "query": [asked, asked],
            "response": "Read it.",
            "thought": "Read it.",
            "action": "cat a.txt",
            "observation": 1,
        },
        {"query": [{}], "response": "", "thought": "Exit due to cost limit", "action": "", "observation": ""},
        "?",
    ]
    document = read(whole(run | {"history": history, "trajectory": steps}), format="swe-agent")
    told = ["Be brief.", "Look.\n```\nls\n```", "a.txt", "Read it.\n```\ncat a.txt\n```", "1"]
    assert [entry.text for entry in document.entries] == told
    assert [entry.speaker for entry in document.entries][1:] == ["ai", "human"] * 2
    assert [str(note) for note in document.notes][-2:] == [
        "trajectory[3]: is no object and was left out",
        "history: holds no answers; they are read from the trajectory, as text",
    ]


@pytest.mark.parametrize("content", [None, "", 5, [], [None], [{"type": "text"}], [{"type": "text", "text": 5}]])
def test_an_observation_that_a_history_has_lost_is_that_of_the_trajectory(content: Any) -> None:
    run = json.loads(SWE_AGENT)
    run["history"][3]["content"] = content
    refused = {"action": "", "observation": "", "response": "Hm.", "thought": "Hm."}
    run["trajectory"].insert(0, refused)
    document = read(whole(run))
    (call,) = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert call.response.result == "a.txt\nb.txt"
    assert [str(note) for note in document.notes] == [
        "history[3]: says nothing; the observation in the trajectory is read in its place"
    ]


def test_a_run_is_found_in_a_folder_by_the_name_that_it_has_there(tmp_path: Path) -> None:
    (tmp_path / "one.traj").write_bytes(SWE_AGENT)
    (tmp_path / "one.txt").write_bytes(SWE_AGENT)
    assert [path.name for path in session_files(tmp_path)] == ["one.traj"]
