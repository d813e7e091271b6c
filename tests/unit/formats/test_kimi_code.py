"""Kimi Code: what is particular to its log, and to the older one of Kimi CLI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.files import lint
from legato.formats import detect, read, write
from legato.formats.document import CompactionMark
from legato.model import Ending, Entry, Media, MediaKind, Speaker, Text, Thinking, ToolCall, ToolResponse, ToolSpec
from session_files import KIMI_CODE, jsonl, kimi_loop, kimi_said

from builders import ai, call, origin, response, talk, thought, tool, user

FIRST = {"type": "metadata", "protocol_version": "1.5"}


def answered(key: str, words: str) -> list[dict[str, Any]]:
    part = {"type": "text", "text": words}
    return [kimi_loop("step.begin", uuid=key), kimi_loop("content.part", stepUuid=key, part=part)]


def texts(*records: dict[str, Any]) -> list[str]:
    return [entry.text for entry in read(jsonl(FIRST, *records)).entries]


def reminder(words: str, **origin: Any) -> dict[str, Any]:
    return kimi_said(words, origin={"kind": "injection", **origin})


def test_steps_are_answers_and_what_stands_around_them_is_known() -> None:
    document = read(KIMI_CODE)
    asked, listed, last = document.entries[1:]
    assert document.entries[0] == Entry(Speaker.HUMAN, (Text("List the files"),))
    assert asked.blocks == (Thinking("I look"), Text("Looking."), ToolCall("ls", {"path": "."}, "ls:0"))
    assert (asked.answer, asked.ending, last.answer, last.ending) == ("s1", Ending.CALLS, "s2", Ending.DONE)
    assert listed.blocks == (ToolResponse(wire_id="ls:0", tool_name="ls", result="a.txt\nb.txt", is_complete=True),)
    assert [entry.origin and entry.origin.asked for entry in (asked, last)] == ["kimi-k2-thinking"] * 2
    assert (document.system, document.meta["cwd"], document.route) == (
        "You are careful.", "/work", "kimi/kimi-k2-thinking",
    )  # fmt: skip
    assert document.notes == []


def test_what_is_said_while_calls_are_open_waits_for_their_results() -> None:
    document = read(
        jsonl(
            FIRST,
            kimi_said("go"),
            kimi_loop("step.begin", uuid="s"),
            kimi_loop("tool.call", stepUuid="s", toolCallId="a", name="ls", args={}),
            kimi_loop("tool.call", stepUuid="s", toolCallId="b", name="ls", args={}),
            kimi_said("by the way"),
            kimi_loop("tool.result", toolCallId="b", result={"output": "two"}),
            kimi_loop("tool.result", toolCallId="a", result={"output": "one"}),
        )
    )
    assert [entry.speaker for entry in document.entries] == [
        Speaker.HUMAN, Speaker.AI, Speaker.TOOL, Speaker.TOOL, Speaker.HUMAN,
    ]  # fmt: skip
    assert [call.response and call.response.result for call in document.conversation().ledger.calls.values()] == [
        "one",
        "two",
    ]


def test_a_record_of_the_conversation_whose_type_is_not_known_is_named() -> None:
    said, heard = {**kimi_said("more"), "type": "riddle"}, {**kimi_loop("tool.result", result={}), "type": None}
    document = read(jsonl(FIRST, kimi_said("go"), said, heard, {"type": "turn.began"}))
    assert [entry.text for entry in document.entries] == ["go"]
    assert [(note.place, note.message) for note in document.notes] == [
        ("line 3", "a record of type 'riddle' is not understood and was left out"),
        ("line 4", "a record of type '' is not understood and was left out"),
    ]


def test_a_result_tells_what_the_model_was_told() -> None:
    image = {"type": "image_url", "imageUrl": {"url": "data:image/png;base64,AAAA"}}
    results: list[dict[str, Any]] = [
        {"output": "text", "note": "<system>1 line</system>"},
        {"output": "boom", "isError": True},
        {"output": [{"type": "text", "text": "seen"}, image]},
    ]
    calls = [kimi_loop("tool.call", stepUuid="s", toolCallId=str(n), name="t", args={}) for n in range(3)]
    given = [kimi_loop("tool.result", toolCallId=str(n), result=result) for n, result in enumerate(results)]
    document = read(jsonl(FIRST, kimi_said("go"), kimi_loop("step.begin", uuid="s"), *calls, *given))
    told = [block for entry in document.entries[2:] for block in entry.blocks if isinstance(block, ToolResponse)]
    assert [(one.result, one.error, one.media) for one in told] == [
        ("text\n<system>1 line</system>", None, ()),
        (None, "boom", ()),
        ("seen", None, (Media(MediaKind.IMAGE, "image/png", data="AAAA"),)),
    ]


def test_turns_that_were_taken_back_are_gone_and_reminders_stay() -> None:
    records = [
        kimi_said("one", id="1"),
        *answered("s1", "two"),
        reminder("the date"),
        reminder("the mode", ownerPromptId="2"),
        kimi_said("three", id="2"),
        *answered("s2", "four"),
    ]
    assert texts(*records, {"type": "context.undo", "count": 1}) == ["one", "two", "the date"]
    assert texts(*records, {"type": "context.undo", "count": 2}) == ["the date"]
    assert texts(*records, {"type": "context.clear"}, kimi_said("anew")) == ["anew"]
    document = read(jsonl(FIRST, *records, {"type": "context.undo", "count": 1}))
    assert [str(note) for note in document.notes] == ["line 10: 3 messages were taken back here and are not carried"]
    assert texts(kimi_said("asked"), kimi_said("meant", origin={"kind": "user", "inTurn": True}), *answered("s", "x"),
                 {"type": "context.undo", "count": 1}) == []  # fmt: skip


@pytest.mark.parametrize(
    ("how", "last"),
    [
        ({"summary": "short", "compactedCount": 2}, 1),
        ({"contextSummary": "short", "summary": "for people", "compactedCount": 3, "keptUserMessageCount": 1}, 2),
        ({"summary": {"role": "user", "content": [{"type": "text", "text": "short"}]}, "count": 3}, 2),
    ],
)
def test_a_compaction_names_what_it_replaced(how: dict[str, Any], last: int) -> None:
    compaction = {"type": "context.apply_compaction", **how}
    records = [kimi_said("one"), *answered("s1", "two"), kimi_said("three")]
    document = read(jsonl(FIRST, *records, compaction, kimi_said("four")))
    assert [entry.text for entry in document.entries] == ["one", "two", "three", "four"]
    assert document.compactions == [CompactionMark(0, last, "short", "line 6")]
    assert texts(compaction, kimi_said("four")) == ["short", "four"]
    assert texts(kimi_said("one"), compaction, {"type": "context.undo", "count": 1}) == ["one"]


def test_a_second_compaction_counts_the_first_summary_as_one_message() -> None:
    first, second = ({"type": "context.apply_compaction", "summary": text, "compactedCount": 2} for text in ("a", "b"))
    records = [kimi_said("one"), kimi_said("two"), first, kimi_said("three"), kimi_said("four"), second]
    document = read(jsonl(FIRST, *records))
    assert [(mark.last, mark.text) for mark in document.compactions] == [(1, "a"), (2, "b")]


def test_attachments_in_other_files_are_named() -> None:
    kept = {"type": "image_url", "imageUrl": {"url": "blobref:image/png;abc"}}
    document = read(jsonl(FIRST, kimi_said("", content=[{"type": "text", "text": "look"}, kept])))
    assert document.entries[0].blocks == (Text("look"), Text("[image: blobref:image/png;abc]"))
    assert [str(note) for note in document.notes] == [
        "line 2: an attachment that is kept in another file; its name stands in its place"
    ]


def test_messages_may_also_stand_there_whole_and_thoughts_keep_the_seal_of_claude() -> None:
    sealed = {"type": "think", "think": "hm", "encrypted": "c2ln"}
    call = {"type": "function", "id": "c", "name": "ls", "arguments": '{"path": "."}'}
    messages = [
        {"role": "assistant", "content": [sealed], "toolCalls": [call]},
        {"role": "tool", "content": [{"type": "text", "text": "a.txt"}], "toolCallId": "c"},
    ]
    document = read(
        jsonl(
            FIRST,
            kimi_said("go"),
            {"type": "llm.request", "provider": "anthropic", "model": "claude-sonnet-4-5"},
            {"type": "llm.tools_snapshot", "tools": [{"name": "ls", "parameters": {"type": "object"}}]},
            *({"type": "context.append_message", "message": message} for message in messages),
        )
    )
    assert document.entries[1].blocks == (
        Thinking("hm", native={"signature": "c2ln"}),
        ToolCall("ls", {"path": "."}, "c"),
    )
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"]
    assert (document.route, document.tools) == ("anthropic/claude-sonnet-4-5", [ToolSpec("ls", "", {"type": "object"})])


def shown(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1.5, "message": {"type": kind, "payload": payload}}


def test_the_log_of_kimi_cli_gives_arguments_in_pieces() -> None:
    def call(wire_id: str, arguments: str | None) -> dict[str, Any]:
        return shown("ToolCall", type="function", id=wire_id, function={"name": "ls", "arguments": arguments})

    data = jsonl(
        shown("TurnBegin", user_input="go"),
        shown("StepBegin", n=1),
        shown("ContentPart", type="think", think="hm"),
        call("a", '{"path": '),
        shown("ToolCallPart", arguments_part='"."}'),
        call("b", None),
        shown("ToolResult", tool_call_id="a", return_value={"is_error": False, "output": "a.txt", "message": "1 file"}),
        shown("ToolCallPart", arguments_part='{"path": ".."}'),
        shown("ToolResult", tool_call_id="b", return_value={"is_error": True, "output": "", "message": "blocked"}),
        shown("SubagentEvent", event={}),
        shown("StepBegin", n=2),
        shown("ContentPart", type="text", text="so"),
        shown("StepInterrupted"),
        shown("SteerInput", user_input=[{"type": "text", "text": "wait"}]),
        shown("SomethingNew"),
    )
    assert detect(data).format == "kimi-code"
    document = read(data)
    assert document.entries[1].blocks == (
        Thinking("hm"),
        ToolCall("ls", {"path": "."}, "a"),
        ToolCall("ls", {"path": ".."}, "b"),
    )
    told = [block for entry in document.entries for block in entry.blocks if isinstance(block, ToolResponse)]
    assert [(one.result, one.error) for one in told] == [("a.txt", None), (None, "blocked")]
    assert [(entry.text, entry.ending) for entry in document.entries[4:]] == [("so", Ending.CANCELLED), ("wait", None)]
    assert [str(note) for note in document.notes] == [
        "line 10: events of subagents belong to conversations of their own",
        "line 15: an event of type 'SomethingNew' is not part of the conversation",
    ]


def test_a_call_without_a_result_is_no_error_because_kimi_code_closes_it() -> None:
    call = kimi_loop("tool.call", stepUuid="s", toolCallId="c", name="ls", args={})
    assert not lint(jsonl(FIRST, kimi_said("go"), kimi_loop("step.begin", uuid="s"), call)).errors


def test_what_is_written_are_turns_with_their_steps() -> None:
    image = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    told = talk(
        user("look", image),
        ai(thought("hm"), "Looking.", call("call_a", path="."), call("call_b"), origin=origin("kimi/kimi-k2-thinking")),
        tool(response("call_b", error="boom", value=None), response("call_a", "found", media=(image,))),
        user("and?"),
    )
    written = write(told, "kimi-code")
    records = [json.loads(line) for line in written.data.splitlines()]
    kinds = [record["event"]["type"] if "event" in record else record["type"] for record in records]
    assert kinds == [
        "metadata", "turn.prompt", "context.append_message", "step.begin", "llm.request", "content.part",
        "content.part", "tool.call", "tool.call", "tool.result", "tool.result", "step.end", "turn.ended", "turn.prompt",
        "context.append_message",
    ]  # fmt: skip
    seen = {"type": "image_url", "imageUrl": {"url": "data:image/png;base64,AAAA"}}
    assert records[2]["message"]["content"] == [{"type": "text", "text": "look"}, seen]
    results = [record["event"] for record in records if record.get("event", {}).get("type") == "tool.result"]
    assert [(one["toolCallId"], one["result"]) for one in results] == [
        ("call_a", {"output": [{"type": "text", "text": "found"}, seen]}),
        ("call_b", {"output": "boom", "isError": True}),
    ]
    # Records that lack a field are passed over when Kimi Code reads them.
    wanted = {"agentId", "kind", "provider", "model", "toolSelect", "systemPromptHash", "toolsHash", "messageCount"}
    assert wanted <= set(records[4])
    assert written.losses == []
    assert read(written.data).route == "kimi/kimi-k2-thinking"
