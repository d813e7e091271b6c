"""Chats of Open WebUI: the branch that is shown, what an answer is made of, what was attached, and its database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from database_files import make
from legato.formats import detect, lint_document, read, read_all
from legato.model import (
    Authority,
    Media,
    MediaKind,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)
from session_files import OPEN_WEBUI, jsonl, webui_chat, webui_message, whole

PLACE = "[0].chat.history.messages"


def asked(own: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    return webui_message(own, parent, "user", content=text, **fields)


def answered(own: str, parent: str, text: str, **fields: Any) -> dict[str, Any]:
    return webui_message(own, parent, "assistant", content=text, model="gpt-4.1", **fields)


def made(*output: dict[str, Any], **fields: Any) -> bytes:
    """A chat of one question, and an answer that is made of these items."""
    return whole([webui_chat(asked("m1", None, "go"), answered("m2", "m1", "shown", output=list(output), **fields))])


def test_the_branch_that_is_shown_is_the_conversation() -> None:
    chat = webui_chat(
        asked("q1", None, "Say a word."),
        answered("a1", "q1", "One."),
        asked("q2", "a2", "Another."),
        answered("a2", "q1", "Two."),
        answered("a3", "q2", "Three."),
        answered("a4", "q2", "Four."),
        current="a3",
        params={"system": "Be brief."},
    )
    document = read(whole([chat]))
    assert [entry.text for entry in document.entries] == ["Say a word.", "Two.", "Another.", "Three."]
    assert document.places == [f"{PLACE}.{own}" for own in ("q1", "a2", "q2", "a3")]
    assert document.system == "Be brief."
    assert document.meta == {"session": "w1", "title": "Files"}
    assert (document.model, document.route) == ("gpt-4.1", "openai/gpt-4.1")
    assert document.times == dict.fromkeys(range(4), 1767225600.0)
    assert [str(note) for note in document.notes] == [
        f"{PLACE}.a1: 2 messages are on branches that were left behind and are not carried, here first"
    ]


def test_an_answer_is_what_its_items_say_and_not_what_is_shown() -> None:
    document = read(
        made(
            {"type": "reasoning", "summary": None, "content": [{"type": "output_text", "text": "Hm."}]},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "look",
                "arguments": '{"at":"a"}',
                "status": "completed",
            },
            {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"at":"b"}', "status": "failed"},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a cat"}]},
            {
                "type": "function_call_output",
                "call_id": "c2",
                "output": [{"type": "input_text", "text": "too dark"}],
                "status": "failed",
            },
            {"type": "message", "content": [{"type": "output_text", "text": "A cat."}]},
            {"type": "open_webui:hologram"},
        )
    )
    results = (
        ToolResponse(wire_id="c1", tool_name="look", result="a cat", is_complete=True),
        ToolResponse(wire_id="c2", tool_name="look", error="too dark", is_complete=True),
    )
    assert [(entry.speaker, entry.blocks) for entry in document.entries[1:]] == [
        (Speaker.AI, (Thinking("Hm."), ToolCall("look", {"at": "a"}, "c1"), ToolCall("look", {"at": "b"}, "c2"))),
        (Speaker.TOOL, results),
        (Speaker.AI, (Text("A cat."),)),
    ]
    assert document.places[1:] == [f"{PLACE}.m2.output[{index}]" for index in (0, 3, 5)]
    assert [str(note) for note in document.notes] == [
        f"{PLACE}.m2.output[6]: an item of type 'open_webui:hologram' is not understood and was left out"
    ]


def test_a_call_that_was_not_over_stays_open_and_open_webui_leaves_it_out() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}", "status": "in_progress"}
    (finding,) = lint_document(read(made(call)))
    assert finding.rule == "session/open-call"
    assert finding.repair.endswith("without it, its agent leaves the call out when it goes on")


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            {
                "prompt_tokens": 30,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 20},
                "input_tokens": 30,
                "output_tokens": 7,
            },
            Usage(input=30, output=7, cache_read=20),
        ),
        (
            {"prompt_eval_count": 5, "eval_count": 2, "input_tokens": 5, "output_tokens": 2},
            Usage(input=5, output=2),
        ),
    ],
)
def test_tokens_are_those_of_any_provider(counts: dict[str, Any], usage: Usage) -> None:
    assert read(whole([webui_chat(asked("m1", None, "go"), answered("m2", "m1", "ok", usage=counts))])).usages == {
        1: usage
    }


def test_an_answer_that_failed_is_named_and_takes_no_tokens_of_another() -> None:
    chat = webui_chat(
        asked("q1", None, "go"),
        answered("a1", "q1", "gone", usage={"input_tokens": 5, "output_tokens": 2}),
        asked("q2", "a1", "again"),
        answered("a2", "q2", "", error={"content": "overloaded"}, usage={"input_tokens": 9, "output_tokens": 9}),
    )
    document = read(whole([chat]))
    assert [entry.text for entry in document.entries] == ["go", "gone", "again"]
    assert document.usages == {1: Usage(input=5, output=2)}
    assert [str(note) for note in document.notes] == [f"{PLACE}.a2: the answer failed: overloaded"]


def test_a_picture_in_the_chat_is_carried_and_an_upload_is_named() -> None:
    files = [
        {"type": "image", "url": "data:image/png;base64,AAAA"},
        {"type": "file", "url": "8f", "id": "8f", "name": "notes.txt", "content_type": "text/plain"},
        {"type": "image", "url": "9a", "id": "9a", "name": "dot.png", "content_type": "image/png"},
    ]
    document = read(whole([webui_chat(asked("m1", None, "What is this?", files=files))]))
    assert [entry.blocks for entry in document.entries] == [
        (Text("What is this?"), Media(MediaKind.IMAGE, "image/png", data="AAAA"))
    ]
    assert [str(note) for note in document.notes] == [
        f"{PLACE}.m1.files[{index}]: the file {name!r} is kept by Open WebUI elsewhere and is not carried"
        for index, name in ((1, "notes.txt"), (2, "dot.png"))
    ]


def test_other_roles_and_summaries_are_told() -> None:
    chat = webui_chat(
        webui_message("s", None, "system", content="Be brief."),
        asked("q", "s", "go", contextSummary="They met."),
        webui_message("n", "q", "narrator", content="?"),
    )
    document = read(whole([chat]))
    assert [(entry.authority, entry.text) for entry in document.entries] == [
        (Authority.INSTRUCTION, "Be brief."),
        (Authority.PERSON, "go"),
    ]
    assert [(str(note), note.is_carried, note.is_unknown) for note in document.notes] == [
        (
            f"{PLACE}.q: Open WebUI put a summary in place of what came before; all of it is read here",
            True,
            False,
        ),
        (f"{PLACE}.n: a message of role 'narrator' is not understood and was left out", False, True),
    ]


# --- the files --------------------------------------------------------------------------------------------------------

SCHEMA = "CREATE TABLE chat (id, user_id, title, created_at, updated_at, share_id, archived, chat)"


def test_one_chat_lines_of_chats_and_a_list_of_them_are_the_same(tmp_path: Path) -> None:
    (chat,) = json.loads(OPEN_WEBUI)
    row = (chat["id"], "u", chat["title"], 1, 1, None, 0, json.dumps(chat["chat"]))
    database = make(tmp_path / "webui.db", SCHEMA, chat=[row])
    places = {
        whole(chat): "chat.history.messages.m1",
        jsonl(chat, chat): "line 1, chat.history.messages.m1",
        whole([chat, chat]): f"{PLACE}.m1",
        database: "chat w1, chat.history.messages.m1",
    }
    first = read(OPEN_WEBUI)
    for file, place in places.items():
        assert detect(file).format == "open-webui"
        document = read_all(file)[0]
        assert (document.entries, document.meta, document.times) == (first.entries, first.meta, first.times)
        assert document.places[0] == place


def test_every_chat_of_a_file_is_a_conversation_and_an_empty_one_is_named(tmp_path: Path) -> None:
    chat = json.dumps(webui_chat(asked("m", None, "go"))["chat"])
    rows = [
        (own, "u", "t", at, 1, None, 0, value) for own, at, value in (("b", 2, chat), ("a", 1, chat), ("c", 3, "{"))
    ]
    file = make(tmp_path / "webui.db", SCHEMA, chat=rows)
    documents = read_all(file)
    assert [(document.name, document.meta["session"], len(document.entries)) for document in documents] == [
        (f"{file}, chat a", "a", 1),
        (f"{file}, chat b", "b", 1),
        (f"{file}, chat c", "c", 0),
    ]
    assert [str(note) for note in documents[2].notes] == ["chat c: a chat without messages that can be read"]
