"""Google's Agent Development Kit: events, whichever way their fields are written, and its database."""

from __future__ import annotations

import json
from pathlib import Path

from database_files import make
from legato.formats import detect, lint_document, read, read_all
from legato.formats.document import CompactionMark
from legato.formats.google_adk import read_events
from legato.model import HostedTool, Media, MediaKind, Speaker, Text, Thinking, ToolCall, ToolResponse
from session_files import GOOGLE_ADK, adk

TABLES = """
CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT);
"""
"""the table of events of `DatabaseSessionService` in google-adk 2.13.0"""


def test_a_session_is_recognised_and_read() -> None:
    assert detect(GOOGLE_ADK).reason == "events beside an app and a user"
    document = read(GOOGLE_ADK)
    signed = ToolCall("ls", {"path": "."}, "adk-1", native={"thoughtSignature": "c2ln"})
    assert [(entry.speaker, entry.blocks) for entry in document.entries] == [
        (Speaker.HUMAN, (Text("List the files"),)),
        (Speaker.AI, (Thinking("I look"), Text("Looking."), signed)),
        (Speaker.TOOL, (ToolResponse(wire_id="adk-1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),)),
        (Speaker.AI, (Text("Two files."),)),
    ]
    assert document.places == [f"events[{index}]" for index in range(4)]
    assert (document.route, document.meta) == ("gemini/gemini-3-pro-preview", {"session": "s1"})
    assert (document.times[0], document.notes, lint_document(document)) == (1.8e9, [], [])


def test_fields_may_have_capitals_and_what_a_program_named_keeps_its_name() -> None:
    data = {"inlineData": {"data": "-_AA", "mimeType": "image/png"}}
    other = {"inline_data": {"data": "-_AA", "mime_type": "image/png"}}
    call = {"functionCall": {"id": "a", "name": "f", "args": {"snake_case": {"in_side": None}}}}
    gave = {"functionResponse": {"id": "a", "name": "f", "response": {"some_thing": 1}}}
    document = read_events(
        [adk("user", data, other), adk("main", call), {**adk("main"), "content": {"role": "user", "parts": [gave]}}]
    )
    image = Media(MediaKind.IMAGE, "image/png", data="+/AA")
    assert [entry.blocks for entry in document.entries] == [
        (image, image),
        (ToolCall("f", {"snake_case": {"in_side": None}}, "a"),),
        (ToolResponse(wire_id="a", tool_name="f", result={"some_thing": 1}, is_complete=True),),
    ]


def test_rewinds_and_summaries_are_acts_on_what_came_before() -> None:
    taken = adk("user", {"text": "again"}, invocation_id="e-3", actions={"rewind_before_invocation_id": "e-2"})
    events = [
        adk("user", {"text": "one"}),
        adk("user", {"text": "two"}, invocation_id="e-2"),
        adk("main", {"text": "no"}, invocation_id="e-2"),
        taken,
    ]
    document = read_events(events)
    assert [entry.text for entry in document.entries] == ["one", "again"]
    assert [str(note) for note in document.notes] == ["[3]: 2 messages were taken back here and are not carried"]
    compaction = {"compaction": {"start_timestamp": 1, "compacted_content": {"parts": [{"text": "short"}]}}}
    document = read_events([*events[:3], {"author": "user", "actions": compaction}])
    assert document.compactions == [CompactionMark(0, 2, "short", "[3]")]
    assert [note.is_carried for note in document.notes] == [True]


def test_what_is_not_carried_is_said() -> None:
    failed = {"author": "main", "error_code": "429", "error_message": "too much"}
    pieces = [adk("main", {"text": "ha"}, partial=True), adk("main", {"text": "half"}, partial=True)]
    document = read_events([*pieces, adk("main", {"text": "half"}, {"hologram": {}}), failed])
    assert [entry.text for entry in document.entries] == ["half"]
    assert [(str(note), note.is_carried) for note in document.notes] == [
        ("[2]: part 1 (hologram) is not understood and was left out", False),
        ("[3]: the answer failed: too much", True),
        ("[0]: a piece of an answer, which follows as a whole, was passed over (2 times, here first)", False),
    ]


def test_code_that_gemini_ran_is_one_block_with_what_came_of_it() -> None:
    code, outcome = {"code": "print(1)", "language": "PYTHON"}, {"outcome": "OUTCOME_OK", "output": "1"}
    parts = [{"executable_code": code}, {"code_execution_result": outcome}, {"text": "It is one."}]
    event = {"author": "agent", "content": {"role": "model", "parts": parts}, "model_version": "gemini-3-pro-preview"}
    document = read_events([event])
    [entry] = document.entries
    kept = {"parts": [{"executableCode": code}, {"codeExecutionResult": outcome}]}
    assert entry.blocks == (HostedTool("code_execution", code, outcome, native=kept), Text("It is one."))
    assert document.notes == []


def test_every_session_of_a_database_is_a_conversation(tmp_path: Path) -> None:
    def row(own: str, session: str, moment: str, data: str) -> tuple[str, ...]:
        return own, "app", "u", session, "e-1", moment, data

    rows = [
        row("b", "s1", "2026-01-01 00:00:02", json.dumps(adk("main", {"text": "two"}))),
        row("a", "s1", "2026-01-01 00:00:01", json.dumps(adk("user", {"text": "one"}))),
        row("c", "s2", "2026-01-01 00:00:01", json.dumps(adk("user", {"text": "other"}))),
        row("d", "s2", "2026-01-01 00:00:02", "{torn"),
    ]
    path = make(tmp_path / "adk.db", TABLES, events=rows)
    assert detect(path).format == "google-adk"
    first, second = read_all(path)
    assert ([entry.text for entry in first.entries], first.meta) == (["one", "two"], {"session": "s1"})
    assert ([entry.text for entry in second.entries], [str(note) for note in second.notes]) == (
        ["other"],
        ["row 4: is no JSON and was left out"],
    )
