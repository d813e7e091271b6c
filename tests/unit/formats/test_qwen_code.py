"""Qwen Code: what is particular to its sessions."""

from __future__ import annotations

import json

import pytest

from legato.files import lint
from legato.formats import detect, read, write
from legato.formats.document import CompactionMark
from legato.model import Ending, Entry, Media, MediaKind, Origin, Speaker, Text, Thinking, ToolCall, ToolResponse
from legato.request.catalogue import default_catalogue
from session_files import QWEN_CODE, jsonl, qwen, qwen_response

from builders import ai, call, origin, response, talk, thought, tool, user

CODER = Origin(
    "openai_chat", "qwen", default_catalogue().providers["qwen"].endpoint, "", "qwen3-coder-plus", "qwen3-coder-plus"
)

CLAUDE = origin("anthropic/claude-sonnet-4-5")


def texts(*records: dict[str, object]) -> list[str]:
    return [entry.text for entry in read(jsonl(*records)).entries]


def test_contents_of_the_gemini_api_are_answers_of_another_provider() -> None:
    document = read(QWEN_CODE)
    listed = ToolResponse(wire_id="call_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True)
    call = ToolCall("ls", {"path": "."}, "call_1")
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(Speaker.AI, (Thinking("I look"), Text("Looking."), call), CODER, "q3", Ending.CALLS),
        Entry(Speaker.TOOL, (listed,)),
        Entry(Speaker.AI, (Text("Two files."),), CODER, "q5"),
    ]
    assert document.places == ["line 1", "line 3", "line 4", "line 5"]
    assert (document.meta["session"], document.meta["cwd"]) == ("q1", "/work")
    assert (document.route, document.notes) == ("qwen/qwen3-coder-plus", [])


def test_the_branch_of_the_last_record_counts_whatever_that_record_says() -> None:
    asked = [qwen("user", "1", None, {"text": "one"}), qwen("assistant", "2", "1", {"text": "two"})]
    left = [qwen("user", "3", "2", {"text": "three"}), qwen("assistant", "4", "3", {"text": "four"})]
    rewound = qwen("system", "5", "2", subtype="rewind", systemPayload={"truncatedCount": 2})
    assert texts(*asked, *left, rewound) == ["one", "two"]
    assert texts(*asked, *left, rewound, qwen("user", "6", "5", {"text": "again"})) == ["one", "two", "again"]
    document = read(jsonl(*asked, *left, rewound))
    assert [str(note) for note in document.notes] == [
        "line 3: 2 messages are on branches that were left behind and are not carried, here first"
    ]


@pytest.mark.parametrize(
    "parts",
    [
        None,
        5,
        [],
        [{}],
        [{"functionResponse": None}],
        [{"functionResponse": {"id": "call_1", "name": "ls"}}],
        [{"functionResponse": {"id": "call_1", "name": "ls", "response": {"output": None}}}],
    ],
)
@pytest.mark.parametrize("status", ["success", "error", "cancelled"])
def test_what_was_shown_of_a_result_stands_in_its_place_where_that_is_unreadable(parts: object, status: str) -> None:
    *asked, result, said = [json.loads(line) for line in QWEN_CODE.splitlines()]
    result["message"]["parts"] = parts
    result["toolCallResult"] |= {"status": status, "resultDisplay": "a.txt"}
    document = read(jsonl(*asked, result, said))
    (made,) = document.conversation().ledger.calls.values()
    assert made.response is not None
    assert (made.response.result if status == "success" else made.response.error) == "a.txt"
    assert "line 4: a result cannot be read; what was shown of it stands in its place" in map(str, document.notes)


def test_what_was_shown_says_nothing_of_an_empty_result() -> None:
    *asked, result, said = [json.loads(line) for line in QWEN_CODE.splitlines()]
    result["message"]["parts"] = [qwen_response("call_1", "ls", output="")]
    result["toolCallResult"]["resultDisplay"] = "nothing"
    document = read(jsonl(*asked, result, said))
    assert [call.response and call.response.result for call in document.conversation().ledger.in_order] == [""]


def test_records_about_artifacts_end_no_branch() -> None:
    asked = [qwen("user", "1", None, {"text": "one"}), qwen("assistant", "2", "1", {"text": "two"})]
    artifact = qwen("system", "3", "1", subtype="session_artifact_snapshot", systemPayload={"artifacts": []})
    assert texts(*asked, artifact) == ["one", "two"]


def test_lines_with_one_uuid_are_one_message() -> None:
    document = read(
        jsonl(
            qwen("user", "1", None, {"text": "go"}),
            qwen("assistant", "2", "1", {"text": "hm", "thought": True}),
            qwen("assistant", "2", "1", {"functionCall": {"id": "c", "name": "ls", "args": {}}}, model="qwen3-max"),
            qwen("tool_result", "3", "2", qwen_response("c", "ls", error="boom")),
        )
    )
    assert [(entry.answer, entry.origin and entry.origin.asked) for entry in document.entries[1:3]] == [
        ("2", "qwen3-max"),
        ("2", "qwen3-max"),
    ]
    call = next(iter(document.conversation().ledger.calls.values()))
    assert call.response is not None
    assert call.response.error == "boom"


def test_a_compression_names_what_it_replaced_and_all_of_that_is_read() -> None:
    short = [{"role": "user", "parts": [{"text": "short"}]}, {"role": "model", "parts": [{"text": "I see."}]}]
    compression = qwen("system", "3", "2", subtype="chat_compression", systemPayload={"compressedHistory": short})
    asked = [qwen("user", "1", None, {"text": "one"}), qwen("assistant", "2", "1", {"text": "two"})]
    document = read(jsonl(*asked, compression, qwen("user", "4", "3", {"text": "three"})))
    assert [entry.text for entry in document.entries] == ["one", "two", "three"]
    assert document.compactions == [CompactionMark(0, 1, "short\n\nI see.", "line 3")]
    # A session that was branched off may begin with it.
    alone = {**compression, "parentUuid": None}
    assert texts(alone, qwen("user", "4", "3", {"text": "three"})) == ["short\n\nI see.", "three"]


def test_media_are_in_messages_and_in_results() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    response = qwen_response("c", "see", output="Binary content provided (1 item(s)).")
    response["functionResponse"]["parts"] = [image]
    document = read(
        jsonl(
            qwen("user", "1", None, {"text": "look"}, image),
            qwen("assistant", "2", "1", {"functionCall": {"id": "c", "name": "see", "args": {}}}),
            qwen("tool_result", "3", "2", response),
        )
    )
    medium = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert document.entries[0].blocks == (Text("look"), medium)
    assert [block.media for block in document.entries[2].blocks if isinstance(block, ToolResponse)] == [(medium,)]


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ("claude-sonnet-4-5", {"signature": "c2ln"}),
        ("gemini-3-pro-preview", {"thoughtSignature": "c2ln"}),
        ("qwen3-max", None),
    ],
)
def test_a_signature_is_that_of_the_model_that_thought(model: str, native: dict[str, str] | None) -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": "c2ln"}
    document = read(jsonl(qwen("user", "1", None, {"text": "go"}), qwen("assistant", "2", "1", thought, model=model)))
    assert document.entries[1].blocks == (Thinking("hm", native=native),)


def test_records_of_the_program_about_itself_tell_the_format_and_the_title() -> None:
    titled = qwen("system", "1", None, subtype="custom_title", systemPayload={"customTitle": "Files"})
    spoken = qwen("user", "2", "1", {"text": "aloud"}, subtype="realtime_message")
    assert detect(jsonl(titled, spoken)).format == "qwen-code"
    said = qwen("user", "4", "3", {"text": "hi"})
    document = read(jsonl(titled, spoken, qwen("odd", "3", "2"), said), format="qwen-code")
    assert ([entry.text for entry in document.entries], document.meta["title"]) == (["hi"], "Files")
    assert [str(note) for note in document.notes] == [
        "line 3: a record of type 'odd' is not understood and was left out",
        "line 2: a message of a spoken conversation is not carried",
    ]


def test_a_call_without_a_result_is_no_error_because_qwen_code_closes_it() -> None:
    call = {"functionCall": {"id": "c", "name": "ls", "args": {}}}
    report = lint(jsonl(qwen("user", "1", None, {"text": "go"}), qwen("assistant", "2", "1", call)))
    assert not report.errors


def test_what_is_written_is_one_chain_of_whole_records() -> None:
    image = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    told = talk(
        user("look", image),
        ai(thought("hm", signature="c2ln"), "Looking.", call("call_a", path="."), call("call_b"), origin=CLAUDE),
        tool(response("call_b", error="boom", value=None), response("call_a", "found", media=(image,))),
    )
    written = write(told, "qwen-code")
    records = [json.loads(line) for line in written.data.splitlines()]
    assert [record["type"] for record in records] == ["user", "assistant", "tool_result", "tool_result"]
    assert [record["parentUuid"] for record in records] == [None, *(record["uuid"] for record in records[:-1])]
    assert len({record["sessionId"] for record in records}) == 1
    inline = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    found = {"id": "call_a", "name": "read", "response": {"output": "found"}, "parts": [inline]}
    boom = {"id": "call_b", "name": "read", "response": {"error": "boom"}}
    assert [record["message"]["parts"] for record in records] == [
        [{"text": "look"}, inline],
        [
            {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
            {"text": "Looking."},
            {"functionCall": {"name": "read", "args": {"path": "."}, "id": "call_a"}},
            {"functionCall": {"name": "read", "args": {}, "id": "call_b"}},
        ],
        [{"functionResponse": found}],
        [{"functionResponse": boom}],
    ]
    assert (records[1]["model"], records[3]["toolCallResult"]["status"]) == ("claude-sonnet-4-5", "error")
    assert written.losses == []
    assert read(written.data).entries[1].blocks[0] == Thinking("hm", native={"signature": "c2ln"})
