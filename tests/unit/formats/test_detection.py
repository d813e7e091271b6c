"""What a file is may show anywhere in it; what it was taken for, and why, can be asked."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from file_samples import legato
from legato.errors import FormatError
from legato.files import explain
from legato.formats import FORMATS, detect, read
from session_files import CLAUDE, CODEX, EVERY_FILE, jsonl, whole

PLAIN: list[dict[str, Any]] = [
    {"role": "user" if index % 2 == 0 else "assistant", "content": f"message {index}"} for index in range(200)
]
"""what many programs write, and nothing that only one does"""
USAGE = {"role": "_usage", "token_count": 5}
"""what only Kimi's agent writes"""
QUEUED = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1"}
CHAT_TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}


# --- the whole file ---------------------------------------------------------------------------------------------------


def test_records_that_say_nothing_may_come_before_the_one_that_tells_the_format(tmp_path: Path) -> None:
    data = jsonl(*[QUEUED] * 300) + CLAUDE
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    for source in (data, path, io.BytesIO(data)):
        assert detect(source).format == "claude-code"
    assert len(read(path).entries) == len(read(CLAUDE).entries)


def test_what_many_programs_write_counts_only_if_the_whole_file_shows_nothing_else() -> None:
    assert detect(jsonl(*PLAIN)) == ("chat-records", "lines with a role and a content")
    assert detect(jsonl(*PLAIN, USAGE)) == ("kimi-cli", "a record of role _usage")


def test_one_odd_record_does_not_make_a_session_of_plain_messages_another() -> None:
    odd = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"role": "user", "content": "hi"}}
    assert detect(jsonl(*PLAIN, odd)).format == "chat-records"


def test_looking_through_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    record = json.dumps({"kind": "unknown", "text": "x" * 200_000}).encode() + b"\n"
    path.write_bytes(record * 200)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="unknown format"):
            detect(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 40_000_000
    assert peak < 30_000_000


def test_of_a_stream_the_beginning_is_kept_and_read_again() -> None:
    data = jsonl(*PLAIN, {"role": "assistant", "content": "x" * 200_000}, *PLAIN, USAGE)
    document = read(io.BytesIO(data))
    assert (document.format, len(document.entries)) == ("kimi-cli", 401)


# --- the explanation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_every_format_is_explained_by_something_in_the_file(name: str) -> None:
    told = explain(EVERY_FILE[name])
    assert (told.format, told.looks_like, told.error) == (name, name, "")
    assert told.evidence[0].reason
    assert {item.format for item in told.weighed} == FORMATS.keys() - {name}
    assert all(item.why_not for item in told.weighed)


def test_the_evidence_has_its_line_and_its_offset() -> None:
    head = jsonl(*[QUEUED] * 100)
    told = explain(head + CLAUDE)
    assert [str(item) for item in told.evidence] == [f"records with uuid and parentUuid (line 101, byte {len(head):,})"]
    assert (told.layout, told.looked_at, told.calls) == ("lines of JSON", 101, 1)


def test_a_body_is_explained_by_its_shapes_before_the_name_of_its_model() -> None:
    body = {"model": "claude-opus-4-7", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    told = explain(whole({**body, "tools": [CHAT_TOOL]}))
    assert (told.format, str(told.evidence[0])) == ("openai-chat", "tools of type function (tools[0])")
    other = told.weighed[0]
    assert (other.format, other.why_not) == ("anthropic", "what speaks for openai-chat counts for more")
    assert [str(item) for item in other.evidence] == ["a Claude model and max_tokens (model)"]


def test_a_place_counts_what_is_no_message_as_well() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    body = {"messages": ["rubbish", {"role": "user", "content": "hi"}, {"role": "assistant", "content": [1, call]}]}
    assert explain(whole(body)).evidence[0].place == "messages[2].content[1]"


def test_the_evidence_in_a_list_inside_a_value_has_its_index() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho", "ts": 5}]
    told = explain(whole({"messages": messages}))
    assert (told.format, str(told.evidence[0])) == ("cline", "messages with ts or modelInfo (messages[1])")


def test_what_the_caller_says_is_told_beside_what_the_file_looks_like() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [CHAT_TOOL]}
    told = explain(whole(body), format="anthropic")
    assert (told.format, told.asked, told.looks_like) == ("anthropic", "anthropic", "openai-chat")
    assert told.weighed[0].why_not == "the caller says that it is anthropic"


def test_what_was_left_out_is_counted_with_its_first_place() -> None:
    strange = {"role": "assistant", "content": [{"type": "strange"}]}
    left_out = explain(jsonl(PLAIN[0], strange, strange)).not_understood
    assert [(item.what, item.place) for item in left_out] == [
        ("content[0] of type 'strange' is not understood and was left out (2 times, here first)", "line 2")
    ]


def test_what_cannot_be_read_has_an_explanation_too() -> None:
    told = explain(b'{"some": "object"}', name="file.json")
    assert (told.format, told.looks_like, told.evidence) == ("", "", ())
    assert told.error.startswith("file.json: unknown format")
    broken = explain(whole({"messages": [{"role": "user", "content": "hi"}]}, indent=None)[:-4])
    assert "breaks off before its end" in broken.error


def test_secrets_are_hidden_in_explanations() -> None:
    key = "sk-ant-api03-" + "a" * 40
    body = {"model": key, "messages": [{"role": "user", "content": "hi"}]}
    assert key not in str(explain(whole(body)))


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_tells_evidence_and_what_was_left_out(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_bytes(jsonl(*PLAIN[:2], {"role": "assistant", "content": [{"type": "strange"}]}))
    done = legato("inspect", "--explain", path)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{path}: chat-records\n  it is lines of JSON, 3 records looked at\n")
    assert "  chat-records: lines with a role and a content (line 1, byte 0)\n" in done.stdout
    assert "  kimi-cli: 3 of 3 records have its fields (role), and none what only it has\n" in done.stdout
    assert "  line 3: content[0] of type 'strange' is not understood and was left out\n" in done.stdout


def test_the_command_explains_as_json(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(CODEX)
    told = json.loads(legato("inspect", "--explain", "--json", path).stdout)
    assert (told["format"], told["evidence"][0]["place"]) == ("codex", "line 1, byte 0")


def test_a_file_that_is_not_read_is_explained_and_refused(tmp_path: Path) -> None:
    path = tmp_path / "unknown.json"
    path.write_text('{"some": "object"}', encoding="utf-8")
    done = legato("inspect", "--explain", path)
    assert done.exit_code == 2
    assert done.stdout.startswith(f"{path}: not read\n")
    assert "unknown format" in done.stderr
    forced = legato("inspect", "--explain", "--from", "codex", path)
    assert forced.stdout.startswith(f"{path}: not read as codex\n")


@pytest.mark.parametrize("options", [["--html", "x.html"], ["--for", "gemini"], ["--pick", "1"]])
def test_an_explanation_is_about_the_file_alone(options: list[str]) -> None:
    done = legato("inspect", "--explain", "-", *options, stdin=CLAUDE)
    assert done.exit_code == 2
    assert "leave out" in done.stderr


def test_an_inspection_is_printed_as_json() -> None:
    asked = "x" * 1_000
    told = json.loads(
        legato("inspect", "--json", "-", stdin=jsonl(*PLAIN[:2], {"role": "user", "content": asked})).stdout
    )
    assert (told["format"], len(told["entries"])) == ("chat-records", 3)
    assert told["entries"][2]["blocks"][0]["text"] == asked
