"""GitHub Copilot CLI: the events that its sessions are made of."""

from __future__ import annotations

from typing import Any

import pytest

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
)
from session_files import COPILOT_CLI, copilot, jsonl

IMAGE = {"type": "image", "mimeType": "image/png", "byteLength": 3}
START = copilot("session.start", sessionId="s", version=1, producer="copilot-agent", copilotVersion="1.0.102")


def asked(text: str, **more: Any) -> dict[str, Any]:
    return copilot("user.message", content=text, **more)


def answered(text: str = "", *calls: str, **more: Any) -> dict[str, Any]:
    requests = [{"toolCallId": own, "name": "bash", "arguments": {"n": own}, "type": "function"} for own in calls]
    return copilot("assistant.message", messageId=f"m-{text}-{calls}", content=text, toolRequests=requests, **more)


def ran(own: str, **more: Any) -> dict[str, Any]:
    return copilot("tool.execution_complete", toolCallId=own, success=True, result={"content": f"of {own}"}, **more)


def texts(*events: dict[str, Any]) -> list[str]:
    return [entry.text for entry in read(jsonl(START, *events)).entries]


def test_a_session_of_version_1_0_102_is_read() -> None:
    assert detect(COPILOT_CLI).reason == "a session.start of copilot-agent"
    document = read(COPILOT_CLI)
    own = document.entries[1].origin
    assert own is not None
    assert [(entry.speaker, entry.blocks) for entry in document.entries] == [
        (Speaker.HUMAN, (Text("List the files"),)),
        (
            Speaker.AI,
            (
                Thinking("I look", native={"signature": "c2ln"}),
                Text("Looking."),
                ToolCall("bash", {"command": "ls"}, "toolu_1"),
            ),
        ),
        (Speaker.TOOL, (ToolResponse(wire_id="toolu_1", tool_name="bash", result="a.txt\nb.txt", is_complete=True),)),
        (Speaker.AI, (Text("Two files."),)),
    ]
    assert (own.provider, document.route) == ("anthropic", "anthropic/claude-sonnet-4-5")
    assert document.meta == {"session": "c1", "version": "1.0.102", "cwd": "/work", "branch": "main"}
    assert (document.system, document.notes, lint_document(document)) == ("You are careful.", [], [])
    assert document.times[0] < document.times[1]


@pytest.mark.parametrize("lost", [{"name": None}, {"name": 5, "arguments": None}, {"arguments": None}])
def test_a_call_whose_request_is_unreadable_is_the_one_that_was_started(lost: dict[str, Any]) -> None:
    asked = answered("", "a")
    asked["data"]["toolRequests"][0] |= lost
    start = copilot("tool.execution_start", toolCallId="a", toolName="bash", arguments={"n": "a"})
    (call,) = read(jsonl(START, asked, start, ran("a"))).conversation().ledger.calls.values()
    assert (call.name, call.arguments, call.response and call.response.result) == ("bash", {"n": "a"}, "of a")


@pytest.mark.parametrize("content", [None, 5, []])
def test_what_was_shown_of_a_result_stands_in_its_place_where_that_is_unreadable(content: Any) -> None:
    result = copilot(
        "tool.execution_complete",
        toolCallId="a",
        success=True,
        result={"content": content, "detailedContent": "a.txt"},
    )
    document = read(jsonl(START, answered("", "a"), result))
    assert [call.response and call.response.result for call in document.conversation().ledger.in_order] == ["a.txt"]
    assert [str(note) for note in document.notes] == [
        "line 3: the result of the call 'a' cannot be read; what was shown of it stands in its place"
    ]


def test_results_come_in_any_order_with_errors_and_media() -> None:
    failed = copilot("tool.execution_complete", toolCallId="c", success=False, error={"message": "no such file"})
    seen = copilot(
        "tool.execution_complete",
        toolCallId="b",
        success=True,
        result={
            "content": "seen",
            "binaryResultsForLlm": [{**IMAGE, "assetId": "sha256:1"}, {**IMAGE, "data": "BBBB"}],
        },
    )
    asset = copilot("session.binary_asset", assetId="sha256:1", data="AAAA", **IMAGE)
    document = read(jsonl(START, asked("go"), answered("", "a", "b", "c"), failed, asset, seen, ran("a")))
    assert [block for entry in document.entries[2:] for block in entry.blocks] == [
        ToolResponse(wire_id="c", tool_name="bash", error="no such file", is_complete=True),
        ToolResponse(
            wire_id="b",
            tool_name="bash",
            result="seen",
            is_complete=True,
            media=tuple(Media(MediaKind.IMAGE, "image/png", data=data) for data in ("AAAA", "BBBB")),
        ),
        ToolResponse(wire_id="a", tool_name="bash", result="of a", is_complete=True),
    ]
    omitted = copilot("tool.execution_complete", toolCallId="a", success=True,
                      result={"content": "x", "binaryResultsForLlm": [{**IMAGE, "omittedReason": "size"}]})  # fmt: skip
    notes = read(jsonl(START, answered("", "a"), omitted)).notes
    assert [str(note) for note in notes] == ["line 3: 1 of the media of the call a are not in the file"]


def test_a_call_that_only_its_start_tells_of_is_carried() -> None:
    def start(own: str) -> dict[str, Any]:
        return copilot("tool.execution_start", toolCallId=own, toolName="bash", arguments={"n": own})

    early = read(jsonl(START, start("a"), answered("", "a"), ran("a")))
    assert [call.wire_id for call in early.conversation().ledger.calls.values()] == ["a"]
    alone = read(jsonl(START, asked("go"), start("b"), ran("b")))
    assert [(call.name, call.state) for call in alone.conversation().ledger.calls.values()] == [("bash", "complete")]


def test_what_a_person_ran_is_what_a_person_says() -> None:
    by_hand = copilot("tool.user_requested", toolCallId="h", toolName="bash", arguments={"command": "ls"})
    started = copilot("tool.execution_start", toolCallId="h", toolName="bash", arguments={"command": "ls"})
    assert texts(by_hand, started, ran("h")) == ["[The user ran bash]\nof h"]


def test_subagents_are_conversations_beside() -> None:
    task = answered("", "t")
    inner = [{**asked("inside"), "agentId": "x"}, {**answered("", "i"), "agentId": "x"}, {**ran("i"), "agentId": "x"}]
    older = [asked("before", parentToolCallId="t2"), answered("done", parentToolCallId="t2")]
    main, first, second = read_all(jsonl(START, asked("go"), task, *inner, ran("t"), *older))
    assert (main.meta["beside"], first.meta["sidechain"], second.meta["sidechain"]) == ("2", "x", "t2")
    assert [call.wire_id for call in main.conversation().ledger.calls.values()] == ["t"]
    assert [entry.text for entry in first.entries] == ["inside", "", ""]
    assert [entry.text for entry in second.entries] == ["before", "done"]
    assert first.meta["session"] == "s"


def test_pieces_of_one_answer_are_one() -> None:
    document = read(
        jsonl(START, asked("go"), answered("one", apiCallId="x"), answered("two", "a", apiCallId="x"), ran("a"))
    )
    assert [entry.answer for entry in document.entries] == [None, "x", "x", None]


@pytest.mark.parametrize(
    ("fields", "provider", "block"),
    [
        ({"reasoningText": "hm"}, "openai", Thinking("hm")),
        (
            {
                "reasoningText": "hm",
                "reasoningBlocks": {
                    "provider": "openai-responses",
                    "blocks": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}],
                },
            },
            "openai-responses",
            Thinking(native={"item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}}),
        ),
        ({"reasoningText": "hm", "reasoningBlocks": {"provider": "other", "blocks": [{}]}}, "openai", Thinking("hm")),
    ],
)
def test_thoughts_go_back_to_the_api_that_gave_them(fields: dict[str, Any], provider: str, block: Thinking) -> None:
    entry = read(jsonl(START, asked("go"), answered("x", model="gpt-5.1", **fields))).entries[1]
    assert entry.blocks == (block, Text("x"))
    assert entry.origin is not None
    assert entry.origin.provider == provider


def test_tools_of_the_provider_are_carried_or_named() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    known = answered("x", serverTools={"provider": "openai-responses", "items": [search]})
    blocks = read(jsonl(START, known)).entries[0].blocks
    assert [type(block) for block in blocks] == [Text, HostedTool]
    assert read(jsonl(START, answered("x", serverTools={"provider": "openai-responses"}))).notes == []
    unknown = answered("x", serverTools={"provider": "p", "items": [search]})
    assert [str(note) for note in read(jsonl(START, unknown)).notes] == [
        "line 2: what the provider's own tools did is not understood and was left out"
    ]


def test_attachments_are_carried_as_far_as_they_are_in_the_file() -> None:
    attachments = [
        {"type": "blob", "mimeType": "image/png", "data": "AAAA", "displayName": "a.png"},
        {"type": "file", "path": "/w/b.txt", "displayName": "b.txt", "taggedFilesEntry": "* /w/b.txt (3 lines)"},
        {"type": "directory", "path": "/w", "displayName": "w"},
    ]
    document = read(jsonl(START, asked("look", attachments=attachments)))
    assert document.entries[0].blocks == (
        Text("look"),
        Media(MediaKind.IMAGE, "image/png", data="AAAA", name="a.png"),
        Text("* /w/b.txt (3 lines)"),
    )
    assert [str(note) for note in document.notes] == [
        "line 2: the attachment '/w' is not in the file and is not carried"
    ]


def test_what_was_summarised_cut_off_or_taken_back() -> None:
    summary = copilot("session.compaction_complete", success=True, summaryContent="short")
    document = read(jsonl(START, asked("one"), answered("two"), summary, asked("three")))
    assert document.compactions == [CompactionMark(0, 1, "short", "line 4")]
    assert [note.is_carried for note in document.notes] == [True]
    asked_again = {**asked("wrong"), "id": "e9"}
    rewound = copilot("session.snapshot_rewind", upToEventId="e9", eventsRemoved=2)
    document = read(jsonl(START, asked("one"), asked_again, answered("no"), rewound, asked("right")))
    assert [entry.text for entry in document.entries] == ["one", "right"]
    assert [str(note) for note in document.notes] == ["line 5: 2 messages were taken back here and are not carried"]
    assert sorted(document.times) == [0, 1]
    gone = copilot("session.snapshot_rewind", upToEventId="not here", eventsRemoved=2)
    assert texts(asked("one"), gone) == ["one"]
    stopped = read(jsonl(START, asked("one"), answered("half"), copilot("abort", reason="user"))).entries[1]
    assert stopped.ending is Ending.CANCELLED


def test_events_about_the_program_are_passed_over_and_unknown_ones_are_said() -> None:
    noise = [copilot(kind) for kind in ("hook.start", "session.info", "assistant.turn_end", "permission.requested")]
    notice = copilot("system.message", content="careful")
    told = copilot("system.notification", content="<n>done</n>")
    document = read(jsonl(START, notice, asked("go"), *noise, told, copilot("omen.seen")))
    assert [(entry.authority, entry.text) for entry in document.entries] == [
        (Authority.INSTRUCTION, "careful"),
        (Authority.PERSON, "go"),
        (Authority.PERSON, "<n>done</n>"),
    ]
    assert [str(note) for note in document.notes] == [
        "line 9: an event of type 'omen.seen' is not understood and was left out"
    ]


def test_an_open_call_is_an_error_as_everywhere() -> None:
    document = read(jsonl(START, asked("go"), answered("", "a"), asked("stop")))
    assert Level.ERROR in [finding.level for finding in lint_document(document)]
