"""Gemini CLI, opencode, pi, Kimi CLI and Cline: what is particular to each."""

from __future__ import annotations

from typing import Any

import pytest

from legato.errors import FormatError
from legato.formats import Document, lint_document, read
from legato.model import (
    Authority,
    ClosureReason,
    Ending,
    Entry,
    Media,
    MediaKind,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from session_files import CLINE, GEMINI_CLI, KIMI_CLI, OPENCODE, PI, jsonl, text, whole

GEMINI = Origin(
    "gemini",
    "gemini",
    "https://generativelanguage.googleapis.com/v1beta",
    "",
    "gemini-3-pro-preview",
    "gemini-3-pro-preview",
)
CLAUDE = Origin("anthropic", "anthropic", "https://api.anthropic.com", "", "claude-sonnet-4-5")


# --- Gemini CLI -------------------------------------------------------------------------------------------------------


def test_gemini_keeps_call_and_result_of_one_record_apart() -> None:
    document = read(GEMINI_CLI)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (Thinking("Files\nI look"), Text("Looking."), ToolCall("ls", {"path": "."}, "ls-1")),
            GEMINI,
            "gemini-1",
            Ending.CALLS,
        ),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="ls-1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), GEMINI, "gemini-2"),
    ]
    assert document.places == ["messages[0]", "messages[1]", "messages[1]", "messages[2]"]
    assert (document.meta["session"], document.route) == ("g1", "gemini/gemini-3-pro-preview")


def gemini_call(status: str, **more: Any) -> bytes:
    call = {"id": "c", "name": "run", "args": {}, "status": status, **more}
    return whole(
        {"sessionId": "g", "projectHash": "h", "messages": [{"id": "1", "type": "gemini", "toolCalls": [call]}]}
    )


def answer(**response: Any) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": "c", "name": "run", "response": response}}]


def test_gemini_statuses_say_what_came_of_a_call() -> None:
    def result(data: bytes) -> ToolResponse | None:
        found = [block for entry in read(data).entries for block in entry.blocks if isinstance(block, ToolResponse)]
        return found[0] if found else None

    done = ToolResponse(wire_id="c", tool_name="run", result="x", is_complete=True)
    failed = ToolResponse(wire_id="c", tool_name="run", error="x", is_complete=True)
    assert result(gemini_call("success", result=answer(output="x"))) == done
    assert result(gemini_call("success", result=answer(result="x"))) == done
    assert result(gemini_call("success", result=[{"text": "x"}])) == done
    assert result(gemini_call("success", resultDisplay="x")) == done
    assert result(gemini_call("error", result=answer(error="x"))) == failed
    assert result(gemini_call("error", result=answer(output="x"))) == failed
    assert result(gemini_call("error", resultDisplay="x")) == failed
    assert result(gemini_call("cancelled", result=answer(error="x"))) == failed
    assert result(gemini_call("cancelled")) == ToolResponse(
        wire_id="c", tool_name="run", reason=ClosureReason.CANCELLED_RUNNING
    )
    for status in ("executing", "awaiting_approval", "scheduled", "validating"):
        assert result(gemini_call(status)) is None


DAMAGED: list[Any] = [
    None,
    5,
    [],
    [{}],
    [None],
    [{"functionResponse": None}],
    [{"functionResponse": {}}],
    [{"functionResponse": {"id": "c", "name": "run"}}],
    [{"functionResponse": {"id": "c", "name": "run", "response": 5}}],
    answer(),
    answer(output=None),
]


@pytest.mark.parametrize("result", DAMAGED)
@pytest.mark.parametrize("status", ["success", "error", "cancelled"])
def test_what_gemini_showed_of_a_result_stands_in_its_place_where_that_is_unreadable(status: str, result: Any) -> None:
    document = read(gemini_call(status, result=result, resultDisplay="x"))
    (call,) = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert (call.response.result if status == "success" else call.response.error) == "x"
    what = "messages[0]: the result of the call 'c' cannot be read; what was shown of it stands in its place"
    assert [str(note) for note in document.notes] == ([what] if result else [])


def test_what_gemini_showed_says_nothing_of_a_result_that_can_be_read() -> None:
    for result in (answer(output=""), answer(result=[]), answer(output={}), [{"text": "x"}]):
        (call,) = (
            read(gemini_call("success", result=result, resultDisplay="shown")).conversation().ledger.calls.values()
        )
        assert call.response is not None
        assert call.response.result != "shown"


def test_media_beside_a_result_of_gemini_that_is_unreadable_stay_with_what_was_shown() -> None:
    document = read(gemini_call("success", result=[{"functionResponse": None}, PICTURE], resultDisplay="x"))
    (call,) = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert (call.response.result, [item.mime for item in call.response.media]) == ("x", ["image/png"])


def test_a_result_that_gemini_sent_without_its_response_is_the_one_that_it_stored() -> None:
    sent = [{"functionResponse": {"id": "c", "name": "run", "response": None}}]
    head = {"sessionId": "g", "projectHash": "h"}
    call = {"id": "c", "name": "run", "args": {}, "status": "success", "result": [], "resultDisplay": "x"}
    asked = {"id": "1", "type": "gemini", "content": "", "toolCalls": [call]}
    document = read(jsonl(head, asked, {"id": "2", "type": "user", "content": sent}))
    (made,) = document.conversation().ledger.calls.values()
    assert made.response is not None
    assert made.response.result == "x"


PICTURE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def gemini_twice(status: str, result: list[dict[str, Any]], sent: list[dict[str, Any]]) -> Document:
    """A session as Gemini CLI records it: the result with its call, and once more as it was sent."""
    call = {"id": "c", "name": "run", "args": {}, "status": status, "result": result}
    return read(
        jsonl(
            {"sessionId": "g", "projectHash": "h"},
            {"id": "1", "type": "user", "content": [{"text": "do it"}]},
            {"id": "2", "type": "gemini", "content": "", "toolCalls": [call]},
            {"id": "3", "type": "user", "content": sent},
            {"id": "4", "type": "gemini", "content": "done"},
        )
    )


@pytest.mark.parametrize(
    ("status", "result"),
    [
        ("success", answer(output="x")),
        ("success", [*answer(output="x"), PICTURE]),
        ("success", [*answer(output="x"), {"text": "and more"}]),
        ("error", answer(error="x")),
        ("error", answer(output="x")),
    ],
)
def test_gemini_stores_every_result_twice_and_it_counts_once(status: str, result: list[dict[str, Any]]) -> None:
    document = gemini_twice(status, result, result)
    assert [entry.speaker for entry in document.entries] == ["human", "ai", "tool", "ai"]
    assert lint_document(document) == []


@pytest.mark.parametrize("status", ["cancelled", "executing", "success", "error"])
def test_what_gemini_sent_counts_where_it_stored_no_result_with_the_call(status: str) -> None:
    document = gemini_twice(status, [], answer(error="[Operation Cancelled]"))
    (call,) = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert call.response.error == "[Operation Cancelled]"
    assert lint_document(document) == []


def test_an_image_that_a_tool_returned_is_a_part_of_its_result() -> None:
    for document in (
        gemini_twice("success", [*answer(output="x"), PICTURE], [*answer(output="x"), PICTURE]),
        read(
            whole(
                [
                    {"role": "user", "parts": [{"text": "do it"}]},
                    {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "run", "args": {}}}]},
                    {"role": "user", "parts": [*answer(output="x"), PICTURE]},
                ]
            )
        ),
    ):
        (result,) = document.entries[2].blocks
        assert isinstance(result, ToolResponse)
        assert (result.result, [item.mime for item in result.media]) == ("x", ["image/png"])
        assert [entry.speaker for entry in document.entries].count(Speaker.HUMAN) == 1


def test_what_gemini_stored_with_a_call_and_what_it_sent_are_both_kept_if_they_differ() -> None:
    document = gemini_twice("success", answer(output="x"), answer(output="y"))
    assert [finding.rule for finding in lint_document(document)] == ["session/duplicate-result"]


def test_words_beside_a_result_that_was_stored_are_a_persons() -> None:
    document = gemini_twice("success", answer(output="x"), [*answer(output="x"), {"text": "and hurry"}])
    assert [entry.text for entry in document.entries if entry.speaker is Speaker.HUMAN] == ["do it", "and hurry"]


def test_gemini_lines_are_a_log_of_changes() -> None:
    data = jsonl(
        {"sessionId": "g", "projectHash": "h", "startTime": "t"},
        {"id": "1", "type": "user", "content": [{"text": "one"}]},
        {"id": "2", "type": "gemini", "content": "half"},
        {"id": "2", "type": "gemini", "content": "an answer"},
        {"id": "3", "type": "user", "content": "a mistake"},
        {"id": "4", "type": "gemini", "content": "an answer to a mistake"},
        {"$rewindTo": "3"},
        {"$set": {"summary": "A talk", "directories": ["/work"]}},
        {"id": "5", "type": "user", "content": "two"},
        {"id": "6", "type": "info", "content": "Request cancelled."},
    )
    document = read(data)
    assert [(entry.text, place) for entry, place in zip(document.entries, document.places, strict=True)] == [
        ("one", "line 2"),
        ("an answer", "line 4"),
        ("two", "line 9"),
    ]
    assert [str(note) for note in document.notes] == [
        "line 7: 2 messages were taken back here and are not carried",
        "line 10: a message of type 'info' was shown to the user alone",
    ]
    assert (document.meta["title"], document.meta["cwd"]) == ("A talk", "/work")


def test_gemini_rewinding_to_an_unknown_message_takes_everything_back() -> None:
    data = jsonl(
        {"sessionId": "g", "projectHash": "h"},
        {"id": "1", "type": "user", "content": "one"},
        {"$rewindTo": "nowhere"},
        {"id": "2", "type": "user", "content": "two"},
    )
    assert [entry.text for entry in read(data).entries] == ["two"]


@pytest.mark.parametrize("field", ["id", "type"])
def test_a_message_of_gemini_without_its_id_or_type_is_read_or_named(field: str) -> None:
    head, asked, answered, *rest = (
        {"sessionId": "s", "projectHash": "h"},
        {"id": "1", "type": "user", "content": "look"},
        {"id": "2", "type": "gemini", "content": "so", "toolCalls": []},
        {"id": "3", "type": "user", "content": "and?"},
    )
    odd = {name: value for name, value in answered.items() if name != field}
    document = read(jsonl(head, asked, odd, *rest), format="gemini-cli")
    kept = [] if field == "type" else ["so"]
    assert [entry.text for entry in document.entries] == ["look", *kept, "and?"]
    assert [note.place for note in document.notes] == ["line 3"] * (field == "type")


def test_gemini_set_messages_replaces_them_all() -> None:
    data = jsonl(
        {"sessionId": "g", "projectHash": "h"},
        {"id": "1", "type": "user", "content": "one"},
        {"id": "2", "type": "user", "content": "two"},
        {"$set": {"messages": [{"id": "2", "type": "user", "content": "two again"}]}},
    )
    document = read(data)
    assert [entry.text for entry in document.entries] == ["two again"]
    assert document.places == ["line 4, $set.messages[0]"]
    assert document.notes[0].place == "line 2"


def test_gemini_checkpoints_hold_contents_with_signatures() -> None:
    history = [
        {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True, "thoughtSignature": "AAAA"},
                                    {"functionCall": {"name": "run", "args": {"a": 1}}, "thoughtSignature": "BBBB"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": "ok"}}}]},
        {"role": "model", "parts": [{"text": "done"}, {"hologram": {"code": "x"}}]},
    ]  # fmt: skip
    for data in (whole({"history": history, "authType": "x"}), whole(history)):
        document = read(data)
        assert [entry.blocks for entry in document.entries] == [
            (Text("look"), Media(MediaKind.IMAGE, "image/png", data="AAAA")),
            (
                Thinking("hm", native={"thoughtSignature": "AAAA"}),
                ToolCall("run", {"a": 1}, native={"thoughtSignature": "BBBB"}),
            ),
            (ToolResponse(tool_name="run", result="ok", is_complete=True),),
            (Text("done"),),
        ]
        assert "part 1 (hologram)" in document.notes[0].message


# --- opencode ---------------------------------------------------------------------------------------------------------


def test_opencode_steps_are_answers_of_their_own() -> None:
    document = read(OPENCODE)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (Thinking("I look"), Text("Looking."), ToolCall("ls", {"path": "."}, "toolu_1")),
            CLAUDE,
            "m2/1",
        ),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="toolu_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), CLAUDE, "m2/2"),
    ]
    assert document.meta == {"session": "ses_1", "cwd": "/work", "title": "Files"}
    assert document.route == "anthropic/claude-sonnet-4-5"


def test_opencode_states_say_what_came_of_a_call() -> None:
    def part(number: int, **state: Any) -> dict[str, Any]:
        return {"type": "tool", "callID": f"c{number}", "tool": "run", "state": state}

    attached = [{"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}]
    parts = [
        part(1, status="pending", input={}, raw='{"a": 1'),
        part(2, status="running", input={"a": 1}),
        part(3, status="error", input={}, error="boom"),
        part(4, status="completed", input={}, output="ok", attachments=attached),
    ]
    failed = {"name": "MessageAbortedError", "data": {}}
    messages = [{"info": {"id": "m", "role": "assistant", "error": failed}, "parts": parts}]
    document = read(whole({"info": {"id": "s"}, "messages": messages}))
    answer, results = document.entries
    assert answer.ending is Ending.CANCELLED
    assert [(call.raw, call.finished) for call in answer.calls] == [
        ('{"a": 1', False), (None, True), (None, True), (None, True),
    ]  # fmt: skip
    assert results.blocks == (
        ToolResponse(wire_id="c3", tool_name="run", error="boom", is_complete=True),
        ToolResponse(
            wire_id="c4",
            tool_name="run",
            result="ok",
            is_complete=True,
            media=(Media(MediaKind.IMAGE, "image/png", data="AAAA"),),
        ),
    )
    assert [str(note) for note in document.notes] == ["messages[0]: the answer failed: MessageAbortedError"]


def opencode_result(**state: Any) -> tuple[ToolResponse | None, list[str]]:
    part = {"type": "tool", "callID": "c", "tool": "run", "state": {"input": {}, **state}}
    document = read(whole({"info": {"id": "s"}, "messages": [{"info": {"role": "assistant"}, "parts": [part]}]}))
    (call,) = document.conversation().ledger.calls.values()
    return call.response, [str(note) for note in document.notes]


@pytest.mark.parametrize("lost", [None, 5, [], {}])
@pytest.mark.parametrize("status", ["completed", "error", "odd"])
def test_what_opencode_showed_of_a_result_stands_in_its_place_where_that_is_unreadable(status: str, lost: Any) -> None:
    response, notes = opencode_result(status=status, output=lost, metadata={"output": "x"})
    assert response is not None
    assert (response.error if status == "error" else response.result) == "x"
    assert notes == ["messages[0].parts[0]: a result cannot be read; what was shown of it stands in its place"]


def test_what_opencode_showed_says_nothing_of_a_result_that_can_be_read() -> None:
    response, notes = opencode_result(status="completed", output="", metadata={"output": "x"})
    assert (response and response.result, notes) == ("", [])


def test_a_call_that_opencode_interrupted_has_what_it_printed_as_its_result() -> None:
    response, notes = opencode_result(status="error", error="aborted", metadata={"interrupted": True, "output": "half"})
    assert (response and response.result, notes) == ("half", [])
    response, notes = opencode_result(status="error", error="aborted", metadata={"interrupted": True})
    assert (response and response.error, notes) == ("aborted", [])


def test_opencode_files_of_its_storage_are_read_as_far_as_they_go() -> None:
    part = {"id": "p", "sessionID": "s", "messageID": "m", "type": "tool", "callID": "c", "tool": "run",
            "state": {"status": "completed", "input": {}, "output": "ok"}}  # fmt: skip
    assert [entry.speaker for entry in read(whole(part)).entries] == [Speaker.AI, Speaker.TOOL]
    with pytest.raises(FormatError, match="unknown format: one message of opencode's storage"):
        read(whole({"id": "m", "sessionID": "s", "role": "user", "time": {}}))


def test_opencode_notes_what_it_does_not_carry() -> None:
    parts = [
        {"type": "text", "text": "read it"},
        {"type": "text", "text": "not for you", "ignored": True},
        {"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "file:///a.txt"},
        {"type": "file"},
        {"type": "subtask"},
        {"type": "dance"},
    ]
    messages = [
        {"info": {"role": "user", "system": "x"}, "parts": parts},
        {"info": {"role": "ghost", "system": ["Be careful."]}, "parts": []},
    ]
    document = read(whole(messages))
    assert document.entries == [Entry(Speaker.HUMAN, (Text("read it"), Text("[file: a.txt]")))]
    assert document.system == "Be careful."
    assert [note.place for note in document.notes] == [
        "[0].parts[2]", "[0].parts[3]", "[0].parts[5]", "[1]", "[0].parts[4]",
    ]  # fmt: skip


# --- pi ---------------------------------------------------------------------------------------------------------------


def test_pi_answers_keep_their_signatures_and_endings() -> None:
    document = read(PI)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (
                Thinking("I look", native={"signature": "c2ln"}),
                Text("Looking."),
                ToolCall("ls", {"path": "."}, "toolu_1"),
            ),
            CLAUDE,
            "line 4",
            Ending.CALLS,
        ),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="toolu_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), CLAUDE, "line 6", Ending.DONE),
    ]
    assert document.meta == {"session": "p1", "cwd": "/work"}


def pi_message(own: str, parent: str | None, **message: Any) -> dict[str, Any]:
    return {"type": "message", "id": own, "parentId": parent, "timestamp": "t", "message": message}


HEAD = {"type": "session", "version": 3, "id": "p1", "timestamp": "t", "cwd": "/"}


def test_pi_follows_the_branch_of_the_last_message() -> None:
    data = jsonl(
        HEAD,
        pi_message("1", None, role="user", content="one"),
        pi_message("2", "1", role="user", content="left behind"),
        pi_message("3", "1", role="user", content="two"),
    )
    document = read(data)
    assert [entry.text for entry in document.entries] == ["one", "two"]
    assert document.notes[0].place == "line 3"


def test_pi_without_a_tree_is_read_in_order() -> None:
    records = [pi_message("", None, role="user", content=word) for word in ("one", "two")]
    for record in records:
        del record["id"], record["parentId"]
    assert [entry.text for entry in read(jsonl(HEAD, *records)).entries] == ["one", "two"]


def test_pi_aborted_and_failed_answers_are_marked() -> None:
    call = {"type": "toolCall", "id": "c", "name": "run", "arguments": {"a": "b"}, "partialJson": '{"a": "b'}
    data = jsonl(
        HEAD,
        pi_message("1", None, role="user", content="go"),
        pi_message("2", "1", role="assistant", content=[text("I"), call], stopReason="aborted", model="m"),
        pi_message(
            "3", "2", role="assistant", content=[text("x")], stopReason="error", errorMessage="400 no", model="m"
        ),
    )
    document = read(data)
    assert [entry.ending for entry in document.entries] == [None, Ending.CANCELLED, Ending.CUT]
    assert document.entries[1].calls == (ToolCall("run", {"a": "b"}, "c"),)
    assert [str(note) for note in document.notes] == [
        "line 3: the arguments of the call c break off; they are kept so far",
        "line 4: the answer failed: 400 no",
    ]


def test_pi_compactions_name_what_they_replaced() -> None:
    data = jsonl(
        HEAD,
        pi_message("1", None, role="user", content="one"),
        pi_message("2", "1", role="user", content="two"),
        {"type": "compaction", "id": "3", "parentId": "2", "summary": "short", "firstKeptEntryId": "2"},
        pi_message("4", "3", role="user", content="three"),
    )
    document = read(data)
    assert len(document.entries) == 3
    assert [(c.first, c.last, c.text) for c in document.compactions] == [(0, 0, "short")]


def test_pi_reasoning_items_and_the_rest_of_its_records() -> None:
    item = {"type": "reasoning", "encrypted_content": "x", "summary": []}
    thinking = {"type": "thinking", "thinking": "", "thinkingSignature": whole(item, indent=None).decode()}
    bad = {"type": "thinking", "thinking": "t", "thinkingSignature": "{"}
    answer = {"role": "assistant", "api": "openai-responses", "provider": "openai", "model": "gpt-5.1"}
    data = jsonl(
        HEAD,
        pi_message("1", None, **answer, content=[thinking, bad, {"type": "odd"}], stopReason="stop"),
        pi_message("2", "1", role="bashExecution", command="ls", output="a", exitCode=0, cancelled=False),
        pi_message("3", "2", role="system", content="be brief"),
        pi_message("4", "3", role="hookMessage", content="hooked"),
        {"type": "custom_message", "id": "5", "parentId": "4", "content": "context"},
        {"type": "branch_summary", "id": "6", "parentId": "5", "summary": "elsewhere"},
        pi_message("7", "6", role="oracle", content="?"),
        {"type": "mystery", "id": "8", "parentId": "7"},
    )
    document = read(data)
    origin = Origin("openai_responses", "openai-responses", "https://api.openai.com/v1", "", "gpt-5.1")
    assert document.entries[0] == Entry(
        Speaker.AI, (Thinking(native={"item": item}), Thinking("t")), origin, "line 2", Ending.DONE
    )
    assert [(entry.text, entry.authority) for entry in document.entries[1:]] == [
        ("[The user ran: ls (exit code 0)]\na", Authority.PERSON),
        ("be brief", Authority.INSTRUCTION),
        ("hooked", Authority.PERSON),
        ("context", Authority.INSTRUCTION),
        ("elsewhere", Authority.PERSON),
    ]
    assert [note.place for note in document.notes] == ["line 2", "line 8", "line 9"]


def test_one_message_of_pi_alone_is_read() -> None:
    message = {"role": "assistant", "content": [text("hi")], "api": "anthropic-messages", "provider": "anthropic",
               "model": "claude-sonnet-4-5", "stopReason": "stop"}  # fmt: skip
    for data in (whole(message), whole(message, indent=None)):
        assert [entry.text for entry in read(data).entries] == ["hi"]


# --- Kimi CLI and Cline -----------------------------------------------------------------------------------------------


def test_kimi_skips_its_pseudo_roles() -> None:
    document = read(KIMI_CLI)
    origin = Origin("openai_chat", "kimi", "https://api.moonshot.ai/v1")
    assert document.system == "You are careful."
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (Thinking("I look"), Text("Looking."), ToolCall("ls", {"path": "."}, "ls:0")),
            origin,
        ),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="ls:0", tool_name="ls", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), origin),
    ]
    assert document.notes == []


def test_kimi_media_are_read_and_new_pseudo_roles_are_noted() -> None:
    data = jsonl(
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": [text("see"), {"type": "image", "url": "data:image/png;base64,AAAA", "id": "i"},
                                     {"type": "audio_url", "audio_url": {"url": "https://x.test/a.wav"}}]},
        {"role": "_novelty"},
    )  # fmt: skip
    document = read(data)
    assert document.entries[0].blocks == (
        Text("see"),
        Media(MediaKind.IMAGE, "image/png", data="AAAA"),
        Media(MediaKind.AUDIO, "audio/wav", url="https://x.test/a.wav"),
    )
    assert [str(note) for note in document.notes] == [
        "line 3: a record of role '_novelty' is not part of the conversation"
    ]


def test_cline_sessions_name_model_and_system() -> None:
    assert [entry.speaker for entry in read(CLINE).entries] == [Speaker.HUMAN, Speaker.AI, Speaker.TOOL, Speaker.AI]
    info = {"id": "claude-sonnet-4-5", "provider": "anthropic"}
    session = {
        "version": 1,
        "agent": "lead",
        "sessionId": "c1",
        "system_prompt": "You are careful.",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [text("hello")], "modelInfo": info},
            {"role": "robot", "content": "?"},
            {"role": "user", "content": [{"type": "aroma"}]},
        ],
    }
    document = read(whole(session))
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("hi"),)),
        Entry(Speaker.AI, (Text("hello"),), CLAUDE),
    ]
    assert (document.system, document.route) == ("You are careful.", "anthropic/claude-sonnet-4-5")
    assert document.meta == {"session": "c1", "agent": "lead"}
    assert [note.place for note in document.notes] == ["messages[2]", "messages[3]"]


def test_messages_of_a_gemini_chat_that_share_an_id_are_all_read() -> None:
    messages = [
        {"id": number, "type": "user", "content": text} for number, text in ((1, "one"), (1, "two"), (2, "three"))
    ]
    document = read(whole({"sessionId": "g", "projectHash": "h", "messages": messages}))
    assert [entry.blocks for entry in document.entries] == [(Text("one"),), (Text("two"),), (Text("three"),)]


def test_a_gemini_chat_that_was_resumed_tells_calls_thoughts_and_results_once() -> None:
    call = {"functionCall": {"id": "c", "name": "ls", "args": {}}}
    came = {"functionResponse": {"id": "c", "name": "ls", "response": {"output": "a.txt"}}}
    thought = {"subject": "", "description": "hm"}
    messages: list[dict[str, Any]] = [
        {"id": "1", "type": "user", "content": [{"text": "go"}]},
        {
            "id": "2",
            "type": "gemini",
            "content": [{"text": "hm", "thought": True}, call],
            "thoughts": [thought],
        },
        {"id": "2_response", "type": "user", "content": [came]},
        {"id": "3", "type": "user", "content": [came]},
    ]
    head = {"sessionId": "s", "projectHash": "p"}
    for record in (
        messages[1],
        {**messages[1], "toolCalls": [{"id": "c", "name": "ls", "args": {}, "result": [came]}]},
    ):
        document = read(jsonl(head, {"$set": {"messages": [messages[0], record, *messages[2:]]}}))
        assert document.entries[1].blocks == (Thinking("hm"), ToolCall("ls", {}, "c"))
        assert [entry.speaker for entry in document.entries] == [Speaker.HUMAN, Speaker.AI, Speaker.TOOL]


def test_a_gemini_chat_that_was_resumed_has_all_results_of_a_turn_with_each_call() -> None:
    came = [{"functionResponse": {"id": own, "name": "ls", "response": {"output": own}}} for own in ("a", "b")]
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    calls = [{"id": own, "name": "ls", "args": {}, "status": "success", "result": [*came, image]} for own in ("a", "b")]
    document = read(whole({"sessionId": "s", "messages": [{"id": "1", "type": "gemini", "toolCalls": calls}]}))
    told = [block for block in document.entries[1].blocks if isinstance(block, ToolResponse)]
    assert [(one.wire_id, one.result, len(one.media)) for one in told] == [("a", "a", 0), ("b", "b", 1)]
