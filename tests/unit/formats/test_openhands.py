"""OpenHands: a state with its events beside it, branches, several calls in an answer, failures and summaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from file_samples import legato
from legato.errors import FormatError
from legato.formats import detect, lint_document, read
from legato.formats.document import CompactionMark, FileNote
from legato.model import Authority, Media, MediaKind, Text, Thinking, ToolCall, ToolResponse
from session_files import OPENHANDS, OPENHANDS_EVENTS, event, jsonl, text, whole

STATE = {
    "id": "0b5c7f0e-8c53-4b5e-9f55-2f0d54c0a001",
    "agent": {"llm": {"model": "anthropic/claude-sonnet-4-5"}, "tools": []},
    "workspace": {"working_dir": "/work", "kind": "LocalWorkspace"},
    "execution_status": "finished",
    "leaf_event_id": "e4",
}


def conversation(folder: Path, *events: dict[str, Any], **state: Any) -> Path:
    """The folder of a conversation as OpenHands keeps it; what is returned is its state."""
    (folder / "events").mkdir()
    for number, item in enumerate(events):
        (folder / "events" / f"event-{number:05}-{item['id']}.json").write_text(json.dumps(item))
    (folder / "base_state.json").write_text(json.dumps({**STATE, **state}))
    return folder / "base_state.json"


def acted(number: int, own: str, response: str, **fields: Any) -> dict[str, Any]:
    call = {"id": own, "name": "run", "arguments": "{}", "origin": "completion"}
    more = {"tool_name": "run", "tool_call_id": own, "llm_response_id": response, "thought": [], **fields}
    return event(number, "ActionEvent", "agent", **{"tool_call": call, **more})


def asked(number: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return event(number, "MessageEvent", "user", llm_message={"role": "user", "content": list(parts)}, **more)


def test_a_state_is_read_with_the_events_beside_it(tmp_path: Path) -> None:
    path = conversation(tmp_path, *OPENHANDS_EVENTS)
    assert detect(path) == ("openhands", "the state of a conversation, with its agent and execution_status")
    document, told = read(path), read(OPENHANDS)
    assert [entry.blocks for entry in document.entries] == [entry.blocks for entry in told.entries]
    assert (document.system, document.route) == ("You are careful.", "anthropic/claude-sonnet-4-5")
    assert document.meta == {"session": STATE["id"], "cwd": "/work"}
    assert document.places[0] == "events/event-00001-e1.json"
    assert document.times[0] == 1767225601.0
    assert lint_document(document) == []


def test_the_conversation_is_the_branch_that_ends_where_the_state_says(tmp_path: Path) -> None:
    other = {**event(5, "MessageEvent", "user"), "parent_id": "e1", "llm_message": {"role": "user", "content": "no"}}
    path = conversation(tmp_path, *OPENHANDS_EVENTS, other)
    document = read(path)
    assert [entry.text for entry in document.entries] == ["List the files", "Looking.", "", "Two files."]
    assert [str(note) for note in document.notes] == [
        "events/event-00005-e5.json: events on branches that were left behind are not carried: 1, here first"
    ]


def test_what_an_event_passes_over_that_names_an_earlier_parent_is_told() -> None:
    *before, last = OPENHANDS_EVENTS
    document = read(whole([*before, {**last, "parent_id": before[0]["id"]}]))
    assert [str(note) for note in document.notes] == [
        "[1]: events on branches that were left behind are not carried: 3, here first"
    ]


def test_a_call_that_the_state_does_not_lead_to_is_not_open(tmp_path: Path) -> None:
    # OpenHands that is killed in a tool goes on from the last event that its state names, and leaves the call behind.
    path = conversation(tmp_path, *OPENHANDS_EVENTS[:3], leaf_event_id="e1", execution_status="running")
    document = read(path)
    assert [entry.text for entry in document.entries] == ["List the files"]
    assert [found.rule for found in lint_document(document)] == ["file/not-carried"]


def test_a_conversation_without_events_is_empty(tmp_path: Path) -> None:
    document = read(conversation(tmp_path, leaf_event_id=None))
    assert (document.entries, [found.rule for found in lint_document(document)]) == ([], ["file/empty"])


def test_one_event_alone_is_no_conversation(tmp_path: Path) -> None:
    path = conversation(tmp_path, *OPENHANDS_EVENTS)
    with pytest.raises(FormatError, match=r"one event of a conversation; name the base_state.json"):
        read(next((path.parent / "events").iterdir()))
    with pytest.raises(FormatError, match="the rest of it is in files beside it; name it by its path"):
        read(path.read_bytes())


def test_events_that_cannot_be_read_are_damage_and_folders_count_a_conversation_once(tmp_path: Path) -> None:
    path = conversation(tmp_path, *OPENHANDS_EVENTS)
    assert legato("lint", tmp_path).stderr.splitlines()[-1] == "1 file: nothing found"
    (tmp_path / "events" / "event-00003-e3.json").write_text("{")
    (damage,) = [note for note in read(path).notes if note.is_damage]
    assert (damage.place, damage.message.partition(":")[0]) == (
        "events/event-00003-e3.json",
        "cannot be read and was left out",
    )


def test_calls_of_one_response_are_one_answer_and_failures_are_errors() -> None:
    rejected = event(4, "UserRejectObservation", "environment", tool_name="run", tool_call_id="a", action_id="e2")
    failed = event(5, "AgentErrorEvent", "agent", tool_name="run", tool_call_id="b", error="no such tool")
    document = read(
        jsonl(
            asked(1, text("go"), {"type": "image", "image_urls": ["data:image/png;base64,AAAA"]}, {"type": "smell"}),
            acted(2, "a", "r1", thought=[text("Both.")]),
            acted(3, "b", "r1"),
            {**rejected, "rejection_reason": "not now"},
            failed,
        )
    )
    image = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert [entry.blocks for entry in document.entries] == [
        (Text("go"), image),
        (Text("Both."), ToolCall("run", {}, "a")),
        (ToolCall("run", {}, "b"),),
        (ToolResponse(wire_id="a", tool_name="run", error="Action rejected: not now", is_complete=True),),
        (ToolResponse(wire_id="b", tool_name="run", error="no such tool", is_complete=True),),
    ]
    assert [entry.answer for entry in document.entries] == [None, "r1", "r1", None, None]
    assert [note.message for note in document.notes] == [
        "content[2] of type 'smell' is not understood and was left out"
    ]
    assert lint_document(document, "anthropic")[0].rule == "file/not-understood"


def test_a_result_has_what_the_terminal_says_around_it() -> None:
    seen = {
        "content": [text("one"), {"type": "image", "image_urls": ["https://x.test/a.png"]}],
        "metadata": {"prefix": "[before] ", "suffix": " [exit code 0]"},
    }
    observed = event(3, "ObservationEvent", "environment", tool_name="run", tool_call_id="a", observation=seen)
    document = read(jsonl(asked(1, text("go")), acted(2, "a", "r"), {**observed, "extended_content": [text("hook")]}))
    (result,) = document.entries[2].blocks
    assert isinstance(result, ToolResponse)
    assert (result.result, [medium.url for medium in result.media]) == (
        "[before] one\nhook [exit code 0]",
        ["https://x.test/a.png"],
    )


def test_thoughts_are_those_of_the_provider(tmp_path: Path) -> None:
    signed = {"type": "thinking", "thinking": "I look", "signature": "c2ln"}
    item = {"id": "rs_1", "summary": ["First.", "Then."], "encrypted_content": "gAAA", "status": None}
    in_items = {"id": "b", "name": "run", "arguments": "{}", "origin": "responses"}
    path = conversation(
        tmp_path,
        event(0, "MessageEvent", "user", llm_message={"role": "system", "content": [text("Be brief.")]}),
        acted(1, "a", "r1", thinking_blocks=[signed], reasoning_content="I look"),
        acted(2, "b", "r2", tool_call=in_items, responses_reasoning_item=item),
        acted(3, "c", "r3", reasoning_content="Hm."),
        leaf_event_id="e3",
        agent={"llm": {"model": "openai/gpt-5"}},
    )
    first, *answers = read(path).entries
    assert (first.authority, first.text) == (Authority.INSTRUCTION, "Be brief.")
    told = [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}]
    native = {"type": "reasoning", "id": "rs_1", "summary": told, "encrypted_content": "gAAA"}
    assert [entry.blocks[0] for entry in answers] == [
        Thinking("I look", native={"signature": "c2ln"}),
        Thinking("First.\n\nThen.", native={"item": native}),
        Thinking("Hm."),
    ]
    assert [entry.origin and entry.origin.provider for entry in answers] == ["openai", "openai-responses", "openai"]


def test_a_summary_is_a_compaction_of_the_events_that_it_names() -> None:
    def condensed(number: int, forgotten: list[str], summary: str | None) -> dict[str, Any]:
        return event(number, "Condensation", "environment", forgotten_event_ids=forgotten, summary=summary)

    said = [asked(number, text(f"say {number}")) for number in range(4)]
    document = read(
        jsonl(
            *said,
            condensed(4, ["e2", "e1"], "One and two."),
            asked(5, text("say 5")),
            condensed(6, ["e4-summary", "e3"], "One to three."),
            condensed(7, ["e0", "e5"], "Not together."),
            condensed(8, ["e5"], None),
            event(9, "PauseEvent", "user"),
            event(9, "HologramEvent", "user") | {"id": "e10", "parent_id": "e9"},
        )
    )
    assert document.compactions == [
        CompactionMark(1, 2, "One and two.", "line 5"),
        CompactionMark(1, 3, "One to three.", "line 7"),
    ]
    assert document.notes == [
        FileNote("line 8", "a summary of messages that do not follow one another is not carried"),
        FileNote("line 11", "an event of kind 'HologramEvent' is not understood and was left out", is_unknown=True),
    ]


def test_a_list_of_events_is_read_whatever_they_miss() -> None:
    bare = [{key: value for key, value in item.items() if key != "parent_id"} for item in OPENHANDS_EVENTS]
    nameless = event(5, "MessageEvent", "user", llm_message={"role": "narrator", "content": "?"})
    document = read(whole([*bare, nameless]))
    assert (len(document.entries), [str(note) for note in document.notes]) == (
        4,
        ["[5]: a message of role 'narrator' is not understood and was left out"],
    )
