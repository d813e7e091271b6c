"""Codex rollouts: items are the conversation, events are for the screen."""

from __future__ import annotations

from typing import Any

from legato.formats import read
from legato.model import (
    Authority,
    CallKind,
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
from session_files import CODEX, codex_message, item, jsonl

ORIGIN = Origin("openai_responses", "openai-responses", "https://api.openai.com/v1", "", "gpt-5.1")
META = {"timestamp": "t", "type": "session_meta", "payload": {"id": "c1", "cwd": "/work", "model_provider": "openai"}}


def test_items_become_entries_and_events_do_not() -> None:
    document = read(CODEX)
    reasoning = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "I look"}],
        "encrypted_content": "gAAA",
    }
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(Speaker.AI, (Thinking("I look", native={"item": reasoning}),), ORIGIN, "codex-1"),
        Entry(Speaker.AI, (Text("Looking."),), ORIGIN, "codex-1"),
        Entry(Speaker.AI, (ToolCall("shell", {"command": "ls"}, "call_1"),), ORIGIN, "codex-1"),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="call_1", tool_name="shell", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), ORIGIN, "codex-2"),
    ]
    assert document.places == ["line 3", "line 5", "line 6", "line 7", "line 8", "line 9"]
    assert (document.system, document.route) == ("You are careful.", "openai-responses/gpt-5.1")
    assert document.meta == {"session": "c1", "cwd": "/work", "version": "0.50.0"}


def test_every_kind_of_call_finds_its_output() -> None:
    data = jsonl(
        META,
        codex_message("user", "go"),
        item("custom_tool_call", call_id="c1", name="apply_patch", input="*** Begin Patch"),
        item("local_shell_call", call_id="c2", status="completed", action={"type": "exec", "command": ["ls"]}),
        item("tool_search_call", call_id="c3", execution="local", arguments={"query": "x"}),
        item("tool_call", function={"name": "run"}, arguments={"a": 1}),
        item("custom_tool_call_output", call_id="c1", output="Done"),
        item("function_call_output", call_id="c2", output={"content": "failed", "success": False}),
        item("tool_search_output", call_id="c3", tools=[{"name": "found"}]),
        item("tool_result", name="run", result={"stdout": "1"}),
    )
    document = read(data)
    calls = document.conversation().ledger.calls.values()
    assert [(call.name, call.state) for call in calls] == [
        ("apply_patch", "complete"),
        ("local_shell", "error"),
        ("tool_search", "complete"),
        ("run", "complete"),
    ]
    custom = document.entries[1].blocks[0]
    assert isinstance(custom, ToolCall)
    assert (custom.kind, custom.arguments) == (CallKind.CUSTOM, {"input": "*** Begin Patch"})
    assert document.entries[-1].blocks == (ToolResponse(tool_name="run", result={"stdout": "1"}, is_complete=True),)


def test_outputs_with_parts_keep_their_images() -> None:
    data = jsonl(
        META,
        item("function_call", name="shot", arguments="{}", call_id="c1"),
        item(
            "function_call_output",
            call_id="c1",
            output=[
                {"type": "input_text", "text": "here"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ],
        ),
    )
    medium = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert read(data).entries[1].blocks == (
        ToolResponse(wire_id="c1", tool_name="shot", result="here", is_complete=True, media=(medium,)),
    )


def test_tools_that_the_provider_ran_are_hosted() -> None:
    search = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}}
    data = jsonl(
        META,
        codex_message("user", "go"),
        item(kind="web_search_call", **{k: v for k, v in search.items() if k != "type"}),
    )
    assert read(data).entries[1].blocks == (
        HostedTool("web_search", {"action": search["action"]}, None, "ws", native={"item": search}),
    )


def test_developer_messages_are_instructions_and_an_abort_cancels_the_answer() -> None:
    data = jsonl(
        META,
        codex_message("user", "go"),
        codex_message("developer", "be brief"),
        codex_message("assistant", "I was"),
        {"timestamp": "t", "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}},
    )
    entries = read(data).entries
    assert [(entry.authority, entry.ending) for entry in entries] == [
        (Authority.PERSON, None),
        (Authority.INSTRUCTION, None),
        (Authority.PERSON, Ending.CANCELLED),
    ]


def test_a_compaction_is_known_and_what_it_replaced_is_kept() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "summary"}]}]
    data = jsonl(
        META,
        codex_message("user", "one"),
        codex_message("assistant", "two"),
        {"timestamp": "t", "type": "compacted", "payload": {"message": "", "replacement_history": history}},
        codex_message("user", "three"),
    )
    document = read(data)
    assert [entry.text for entry in document.entries] == ["one", "two", "three"]
    assert [(c.first, c.last, c.text, c.place) for c in document.compactions] == [(0, 1, "summary", "line 4")]


def test_a_compaction_at_the_beginning_is_all_there_is() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "before"}]}]
    kept = {"timestamp": "t", "type": "compacted", "payload": {"message": "m", "replacement_history": history}}
    bare = {"timestamp": "t", "type": "compacted", "payload": {"message": "only this"}}
    assert [entry.text for entry in read(jsonl(META, kept, codex_message("user", "on"))).entries] == ["before", "on"]
    assert [entry.text for entry in read(jsonl(META, bare, codex_message("user", "on"))).entries] == ["only this", "on"]


def test_the_old_form_without_envelopes_is_read() -> None:
    data = jsonl(
        {"id": "old", "timestamp": "t", "instructions": "Be careful.", "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    )
    document = read(data)
    assert (document.format, document.system) == ("codex", "Be careful.")
    assert [entry.speaker for entry in document.entries] == [Speaker.HUMAN, Speaker.AI, Speaker.TOOL]


def test_another_provider_and_dynamic_tools_are_known() -> None:
    tools = [{"name": "look", "description": "see", "inputSchema": {"type": "object"}}, {"name": ""}]
    meta = {"id": "c", "cwd": "/", "model_provider": "ollama", "dynamic_tools": tools}
    data = jsonl(
        {"timestamp": "t", "type": "session_meta", "payload": meta},
        {"timestamp": "t", "type": "turn_context", "payload": {"model": "gpt-oss"}},
        codex_message("assistant", "hi"),
    )
    document = read(data)
    assert document.route == "ollama/gpt-oss"
    assert document.tools == [ToolSpec("look", "see", {"type": "object"})]


def test_what_is_not_understood_is_noted() -> None:
    data = jsonl(
        META,
        item("message", role="user", content=[{"type": "input_text", "text": "x"}, {"type": "smell"}]),
        item("telepathy"),
        item("compaction", encrypted_content="x"),
        item("agent_message", content=[]),
        item("ghost_snapshot"),
        {"timestamp": "t", "type": "world_state", "payload": {"full": True}},
    )
    assert [str(note) for note in read(data).notes] == [
        "line 2: content[1] of type 'smell' is not understood and was left out",
        "line 3: an item of type 'telepathy' is not understood and was left out",
        "line 4: an encrypted summary that only its provider can read; it was left out",
        "line 5: a message between agents is not carried",
        "line 7: a record of type 'world_state' is not part of the conversation",
    ]


def test_a_result_takes_the_name_of_its_tool_from_a_later_call_only_if_that_must_be_its_own() -> None:
    def names(*records: dict[str, Any]) -> list[str]:
        entries = read(jsonl(codex_message("user", "go"), *records)).entries
        return [block.tool_name for entry in entries for block in entry.blocks if isinstance(block, ToolResponse)]

    came = item("function_call_output", call_id="c1", output="found")
    one, other = (item("function_call", name=name, arguments="{}", call_id="c1") for name in ("look", "find"))
    assert names(came, one) == ["look"]
    assert names(came, one, other) == [""]
    assert names(one, came, other) == ["look"]
