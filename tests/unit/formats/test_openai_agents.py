"""The state of a run of the OpenAI Agents SDK; its databases are among the databases."""

from __future__ import annotations

from typing import Any

from legato.formats import Level, detect, lint_document, read
from legato.formats.openai_agents.reading import read_items
from legato.model import Media, MediaKind, Speaker, ToolResponse
from session_files import OPENAI_AGENTS, whole


def state(**fields: Any) -> dict[str, Any]:
    """As `RunState.to_string()` of openai-agents 0.24.0 gives it, without what says nothing about the conversation."""
    return {"$schemaVersion": "1.21", "current_turn": 1, "original_input": [], "pending_input": [], **fields}


def made(kind: str, **raw: Any) -> dict[str, Any]:
    return {"type": kind, "raw_item": raw, "agent": {"name": "main"}}


def called(wire_id: str, kind: str = "tool_call_item") -> dict[str, Any]:
    return made(kind, type="function_call", call_id=wire_id, name="ls", arguments="{}", id=f"fc_{wire_id}")


def gave(wire_id: str, output: Any = "ok") -> dict[str, Any]:
    return made("tool_call_output_item", type="function_call_output", call_id=wire_id, output=output)


def test_a_state_is_the_input_and_what_the_run_made_of_it() -> None:
    assert detect(OPENAI_AGENTS).reason == "a $schemaVersion and an original_input"
    document = read(OPENAI_AGENTS)
    assert [(entry.speaker, entry.text) for entry in document.entries] == [
        (Speaker.HUMAN, "List the files"),
        (Speaker.AI, "Looking."),
        (Speaker.TOOL, ""),
        (Speaker.AI, "Two files."),
    ]
    assert document.places == [
        "original_input",
        "session_items[0] to session_items[2]",
        "session_items[3]",
        "session_items[4]",
    ]
    assert document.notes == []


def test_a_call_that_waits_for_consent_is_one_open_call() -> None:
    items = [called("c1"), called("c2"), gave("c1"), called("c2", "tool_approval_item")]
    for session, generated in ((items, items), ([], items), (items, [])):
        document = read(whole(state(original_input="go", session_items=session, generated_items=generated)))
        calls = document.conversation().ledger.calls.values()
        assert [(call.wire_id, call.state) for call in calls] == [("c1", "complete"), ("c2", "pending")]
        assert [finding.level for finding in lint_document(document)] == [Level.RISK]
        assert Level.ERROR in [finding.level for finding in lint_document(document, "anthropic")]
    alone = read(whole(state(original_input="go", generated_items=[called("c3", "tool_approval_item")])))
    assert [call.wire_id for call in alone.conversation().ledger.calls.values()] == ["c3"]


def test_what_only_one_of_the_records_holds_is_carried() -> None:
    document = read(
        whole(
            state(
                original_input=[{"role": "user", "content": "go"}],
                session_items=[called("c1"), gave("c1")],
                generated_items=[called("c1"), gave("c1"), called("c2"), gave("c2"), gave("c2")],
                pending_input=[{"role": "user", "content": "later"}],
            )
        )
    )
    results = [b for entry in document.entries for b in entry.blocks if isinstance(b, ToolResponse)]
    assert [block.wire_id for block in results] == ["c1", "c2", "c2"]
    assert [entry.text for entry in document.entries if entry.speaker is Speaker.HUMAN] == ["go", "later"]
    assert document.places[-2:] == ["generated_items[3] to generated_items[4]", "pending_input[0]"]


def test_media_in_results_are_carried_and_what_is_not_understood_has_its_place() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "riddle"}]},
        {"type": "function_call", "call_id": "c", "name": "pic", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "seen"}, image]},
        {"type": "item_reference", "id": "x"},
    ]
    document = read_items(items)
    assert document.entries[2].blocks == (
        ToolResponse(
            wire_id="c",
            tool_name="pic",
            result="seen",
            is_complete=True,
            media=(Media(MediaKind.IMAGE, "image/png", data="AAAA"),),
        ),
    )
    assert [str(note) for note in document.notes] == [
        "[0].content[1]: a part of type 'riddle' was not understood",
        "[3]: refers to the stored item 'x', which cannot be read from here",
    ]
