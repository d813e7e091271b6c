"""convert: a conversation from any format to a request body or a session file, with a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from file_samples import OPEN_BODY, chat_body, open_session, save
from legato.errors import FormatError
from legato.files import convert, convert_all, lint
from legato.formats import read


def test_a_session_becomes_a_body_that_its_target_accepts(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    converted = convert(path, "mistral")

    assert (converted.name, converted.target, converted.output) == (str(path), "mistral", None)
    assert lint(converted.data, targets="mistral").errors == ()
    assert converted.report["to"] == "mistral"
    assert converted.report["input"] | {"cwd": ""} == {
        "name": str(path), "format": "claude-code", "entries": 6, "cwd": "", "session": open_session()[0]["sessionId"],
        "version": "2.0.0",
    }  # fmt: skip
    assert list(converted.report["synthetic"].values()) == ["missing-in-import"]


def test_the_model_of_a_body_can_be_named(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    assert json.loads(convert(path, "openai-chat", model="gpt-4o").data)["model"] == "gpt-4o"


@pytest.mark.parametrize("target", ["claude-code", "codex", "legato"])
def test_a_body_becomes_a_session_file_that_reads_as_the_same_conversation(target: str, tmp_path: Path):
    path, output = save(tmp_path / "body.json", OPEN_BODY), tmp_path / "session.jsonl"

    converted = convert(path, target, output=output)

    assert converted.output == output
    assert output.read_bytes() == converted.data
    written = read(output)
    assert written.format == target
    assert [entry.text for entry in written.conversation().entries if entry.text] == [
        entry.text for entry in read(path).conversation().entries if entry.text
    ]


def test_what_has_no_place_in_the_new_form_is_in_the_losses_and_in_the_report(tmp_path: Path):
    converted = convert(save(tmp_path / "body.json", OPEN_BODY), "codex")

    assert [str(loss) for loss in converted.losses if "max_tokens" in str(loss)]
    assert [item["message"] for item in converted.report["not_carried"]] == [
        note.message for note in (*converted.notes, *converted.losses)
    ]


def test_a_file_that_exists_is_replaced_only_where_that_is_said(tmp_path: Path):
    path, output = save(tmp_path / "body.json", OPEN_BODY), tmp_path / "out.json"
    output.write_text("precious")

    with pytest.raises(FormatError, match="this file exists already"):
        convert(path, "gemini", output=output)
    assert output.read_text() == "precious"
    with pytest.raises(FormatError, match="this is the input itself"):
        convert(path, "gemini", output=path, overwrite=True)

    assert convert(path, "gemini", output=output, overwrite=True).data == output.read_bytes()


def test_one_conversation_of_several_is_picked_by_its_number(tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])

    bodies = [json.loads(convert(path, "anthropic", pick=number).data) for number in (1, 2)]

    assert [body["messages"][1]["content"][0]["input"] for body in bodies] == [{"path": "a"}, {"path": "b"}]


def test_every_conversation_is_converted_in_order(tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])

    converted = list(convert_all(path, "anthropic"))

    assert [item.data for item in converted] == [convert(path, "anthropic", pick=number).data for number in (1, 2)]


@pytest.mark.parametrize("options", [{"model": "gpt-4o"}, {"compacted": True}])
def test_what_only_a_request_body_can_have_is_refused_for_a_session_file(options: dict[str, object], tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    with pytest.raises(FormatError, match="model and compacted are for request bodies, and codex is a session file"):
        convert(path, "codex", **options)  # pyright: ignore[reportArgumentType]


def test_several_conversations_do_not_become_one_session_file(tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])

    with pytest.raises(FormatError, match="a session file holds one conversation"):
        convert_all(path, "codex")


def test_a_secret_is_hidden_in_the_report_and_kept_in_the_conversation():
    key = "sk-" + "0a1b2c3d" * 4
    body = chat_body(key)

    converted = convert(json.dumps(body).encode(), "openai-chat", name=f"with {key}")

    assert key not in json.dumps(converted.report)
    assert key.encode() in converted.data
