"""What holds for every format: detection, the same story read alike, refusals in one line, bounded reading."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from legato.errors import FormatError
from legato.formats import FORMATS, WRITTEN, detect, read, read_all
from legato.model import Speaker, Text, ToolCall, ToolResponse
from legato.model.hashing import digest
from legato.model.ingestion import MAX_JSON_BYTES
from session_files import CHAT, CLAUDE, EVERY_FILE, claude, jsonl, said, whole

STORY = sorted(set(EVERY_FILE) - {"chat-records"})


@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_every_format_is_detected(name: str) -> None:
    found = detect(EVERY_FILE[name])
    assert (found.format, bool(found.reason)) == (name, True)


@pytest.mark.parametrize("model", ["\ngpt-4o", "gpt-4o\x1b[2J", "x" * 1_000, "mistral-large\n"])
def test_a_model_of_any_name_is_told_on_one_short_line(model: str) -> None:
    reason = detect(json.dumps({"model": model, "messages": [{"role": "user", "content": "hi"}]}).encode()).reason
    assert reason.startswith("messages, and the model ")
    assert reason.isprintable()
    assert len(reason) < 200


@pytest.mark.parametrize("name", STORY)
def test_every_reader_reads_the_same_story(name: str) -> None:
    document = read(EVERY_FILE[name])
    calls = [b for e in document.entries for b in e.blocks if isinstance(b, ToolCall)]
    results = [b for e in document.entries for b in e.blocks if isinstance(b, ToolResponse)]
    human = [b.text for e in document.entries if e.speaker is Speaker.HUMAN for b in e.blocks if isinstance(b, Text)]
    spoken = [b.text for e in document.entries if e.speaker is Speaker.AI for b in e.blocks if isinstance(b, Text)]
    assert [call.arguments for call in calls] in ([{"path": "."}], [{"command": "ls"}])
    assert [result.result for result in results] == ["a.txt\nb.txt"]
    assert "List the files" in human
    assert spoken[-1] == "Two files."
    assert len(document.places) == len(document.entries) == len(document.sources)
    assert all(document.places)
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"]


@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_a_document_names_its_bytes_by_their_digest(name: str) -> None:
    assert {document.digest for document in read_all(EVERY_FILE[name])} == {digest(EVERY_FILE[name])}


@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_naming_the_right_format_changes_nothing(name: str) -> None:
    asked, found = read_all(EVERY_FILE[name], format=name), read_all(EVERY_FILE[name])
    assert [document.entries for document in asked] == [document.entries for document in found]


def test_a_file_is_read_from_a_path_and_from_a_stream_alike(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(CLAUDE)
    from_path, from_stream, from_bytes = read(path), read(io.BytesIO(CLAUDE)), read(CLAUDE)
    assert from_path.entries == from_stream.entries == from_bytes.entries
    assert from_path.digest == from_stream.digest == from_bytes.digest
    assert (from_path.name, from_bytes.name) == (str(path), "input")


def test_progress_is_told_in_bytes() -> None:
    seen: list[int] = []
    read(CLAUDE, progress=seen.append)
    assert seen[-1] == len(CLAUDE)


def test_objects_on_lines_of_their_own_inside_a_value_are_no_lines() -> None:
    messages = CHAT["messages"]
    rows = ",\n".join(json.dumps(message) for message in messages)
    for data in (f'{{"messages": [\n{rows}\n]}}', f"[{rows}]", f"[\n{rows}\n]"):
        assert read(data.encode()).format == "openai-chat"
    contents = '{"history": [\n{"role":"user","parts":[{"text":"a"}]},\n{"role":"model","parts":[{"text":"b"}]}\n]}'
    assert [entry.text for entry in read(contents.encode()).entries] == ["a", "b"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi", "kimi-cli"])
def test_a_first_line_that_is_longer_than_the_head_is_known_by_its_beginning(name: str) -> None:
    first, rest = EVERY_FILE[name].split(b"\n", 1)
    record = json.loads(first)
    record["padding"] = "x" * 100_000
    data = json.dumps(record).encode() + b"\n" + rest
    assert (detect(data).format, len(read(data).entries)) == (name, len(read(EVERY_FILE[name]).entries))
    assert read(json.dumps(record).encode()).format == name


LONG = "x" * 3 * 2**20


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi", "kimi-cli"])
def test_what_tells_the_format_may_stand_behind_megabytes_on_the_first_line(name: str) -> None:
    first, rest = EVERY_FILE[name].split(b"\n", 1)
    data = json.dumps({"padding": LONG, **json.loads(first)}).encode() + b"\n" + rest
    for source in (data, data.split(b"\n")[0]):
        assert detect(source).format == name
    assert read(data).entries == read(EVERY_FILE[name]).entries


def test_a_session_that_begins_with_a_pasted_image_is_known() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": LONG}}
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "content": "look"}
    asked = said("u1", None, [image, {"type": "text", "text": "look"}])
    data = jsonl(queued, {"message": asked.pop("message"), **asked})
    assert detect(data).format == "claude-code"
    assert [entry.text for entry in read(data).entries] == ["look"]


def test_what_tells_the_format_of_a_request_may_stand_behind_megabytes_of_messages() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    anthropic = {
        "messages": [
            {"role": "user", "content": LONG},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
        "model": "m",
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    }
    for indent in (None, 1):
        document = read(whole(anthropic, indent=indent))
        assert (document.format, len(document.tools)) == ("anthropic", 1)
        assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"]
    converse = {"messages": [{"role": "user", "content": [{"text": LONG}]}], "toolConfig": {"tools": []}}
    assert read(whole(converse)).format == "bedrock"


def test_a_first_line_that_is_torn_does_not_hide_the_format() -> None:
    lines = CLAUDE.splitlines()
    for torn in (lines[0][:50], lines[0][50:]):
        document = read(b"\n".join([torn, *lines[1:]]))
        assert (document.format, len(document.entries)) == ("claude-code", 5)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b" \n\t\n", "the file is empty"),
        (b"\0" * 4096, "the file is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "an image"),
        (bytes(range(1, 256)) * 20, "binary data"),
        (b"\x1f\x8b\x08", "gzip"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"hello, this is prose\nand more of it\n", "unknown format"),
        (b'{"some": "object"}', "unknown format"),
        (b"[1, 2, 3]", "unknown format"),
        (b'{"a":1}\n{"b":2}\n', "unknown format"),
        (whole(CHAT)[:-40], "breaks off before its end"),
        (b'{"messages": [{"role": "user", "content": ', "breaks off before its end"),
        (b"{", "unknown format"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(data: bytes, says: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data, name="file.x")
    assert says in caught.value.message
    assert caught.value.message.startswith("file.x: ")
    assert "\n" not in caught.value.message


def test_a_directory_a_missing_file_and_an_unreadable_stream_are_refused(tmp_path: Path) -> None:
    class Broken:
        def read(self, size: int, /) -> bytes:
            raise OSError(5, "Input/output error")

    for source, says in (
        (tmp_path, "directory"),
        (tmp_path / "none.jsonl", "no such file"),
        (Broken(), "input/output error"),
    ):
        with pytest.raises(FormatError, match=says):
            read(source)


def formats_read(data: bytes, asked: str) -> set[str] | str:
    """The formats of the conversations that were read, or why none was."""
    try:
        documents = read_all(data, format=asked)
    except FormatError as error:
        return error.message.removeprefix("input: ")
    assert any(document.entries for document in documents)
    return {document.format for document in documents}


@pytest.mark.parametrize("asked", sorted(FORMATS))
@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_the_format_that_the_caller_names_wins_over_every_guess(name: str, asked: str) -> None:
    found = formats_read(EVERY_FILE[name], asked)
    looks = f"; it looks like {name} ({detect(EVERY_FILE[name]).reason})"
    if isinstance(found, str):
        assert found in (
            f"nothing in it could be read as {asked}{looks}",
            "this is made of lines, and not one JSON value",
            "unknown format: it holds requests, but none of a kind that is read here",
            "line 1: not a Legato log: its first line does not say 'legato-log'",
        )
    else:
        assert found == {asked} or asked == "chat-records"


def test_the_caller_says_what_the_requests_of_a_file_of_many_are() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    lines = jsonl({"custom_id": "1", "body": body}, {"custom_id": "2", "body": body})
    exchanges = whole({"interactions": [{"request": {"body": json.dumps(body)}}] * 2})
    for data in (lines, exchanges):
        assert [document.format for document in read_all(data)] == ["openai-chat"] * 2
        assert [document.format for document in read_all(data, format="anthropic")] == ["anthropic"] * 2


def test_a_file_of_which_most_is_damaged_is_read_as_what_the_caller_says() -> None:
    data = b"rubbish\n" * 3 + jsonl(said("u1", None, "one")) + b"rubbish\n"
    with pytest.raises(FormatError, match="neither JSON nor lines of JSON"):
        read(data)
    assert [entry.text for entry in read(data, format="claude-code").entries] == ["one"]


def test_an_unknown_name_of_a_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(FormatError, match=r"did you mean 'claude-code'\?"):
        read(CLAUDE, format="claude_code")


def test_wire_formats_of_one_dialect_do_not_contradict_each_other() -> None:
    assert read(whole(CHAT), format="mistral").route == "mistral/gpt-4o"


def test_reading_one_conversation_out_of_several_is_refused() -> None:
    with pytest.raises(FormatError, match="holds 2 conversations"):
        read(EVERY_FILE["chat-records"])


def test_formats_that_are_written_are_among_the_formats() -> None:
    assert set(WRITTEN) <= set(FORMATS)
    assert {"claude-code", "codex", "legato", "openai-chat", "vercel"} <= set(WRITTEN)


# --- bounds -----------------------------------------------------------------------------------------------------------


class Endless:
    """A stream of `total` bytes that are made up as they are read."""

    def __init__(self, first: bytes, piece: bytes, total: int) -> None:
        self._pieces = self._make(first, piece, total)

    @staticmethod
    def _make(first: bytes, piece: bytes, total: int) -> Iterator[bytes]:
        yield first
        for _ in range(total // len(piece)):
            yield piece

    def read(self, size: int, /) -> bytes:
        return next(self._pieces, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"", b"garbage without any end " * 40_000),
        (
            b'{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"hi"}}\n' * 2,
            b"x" * 1_000_000,
        ),
        (
            b'{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"hi"}}\n' * 2,
            b"junk\n" * 200_000,
        ),
        (b'{"messages": [{"role": "user", "content": "', b"y" * 1_000_000),
    ],
    ids=["garbage", "one endless line", "endless lines", "one endless value"],
)
def test_a_gigabyte_of_garbage_costs_bounded_memory(first: bytes, piece: bytes) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(FormatError):
            read(Endless(first, piece, 2**30))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600 * 2**20


def test_a_line_that_is_too_long_costs_only_itself() -> None:
    data = jsonl(said("u1", None, "one")) + b'{"x":"' + b"y" * (65 * 2**20) + b'"}\n' + jsonl(said("u2", "u1", "two"))
    document = read(data)
    assert [entry.text for entry in document.entries] == ["one", "two"]
    assert [note.message for note in document.notes if note.is_damage] == ["is longer than 64 MB and was left out"]


def test_a_claude_record_without_a_message_is_not_taken_for_one() -> None:
    with pytest.raises(FormatError, match="unknown format"):
        read(jsonl({"type": "system", "subtype": "init", "sessionId": "s"}, {"type": "message", "role": "user"}))
    assert claude("user", "u", None, {"role": "user", "content": "x"})["uuid"] == "u"


def test_one_value_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    path.write_bytes(b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "' + b"x" * 100_000)
    os.truncate(path, MAX_JSON_BYTES + 1)
    seen: list[int] = []
    with pytest.raises(FormatError, match="more than 256 MB is not read; split it"):
        read(path, progress=seen.append)
    assert seen == []
