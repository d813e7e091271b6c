"""convert: a conversation from any format to a request body or a session file, with a report."""

from __future__ import annotations

import json
import time
import uuid
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from file_samples import OPEN_BODY, ClaudeSession, chat_body, open_session, save
from legato import render
from legato.errors import FormatError
from legato.files import convert, convert_all, install, lint
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


def test_a_model_is_refused_for_a_session_file(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    with pytest.raises(FormatError, match="a model is for request bodies, and codex is a session file"):
        convert(path, "codex", model="gpt-4o")


# --- from agent to agent ----------------------------------------------------------------------------------------------

SESSION = "11111111-2222-4333-8444-555555555555"


def compacted_session() -> list[dict[str, Any]]:
    """A session that its agent summarised after two turns, and that went on."""
    session = ClaudeSession().user("One.").model({"type": "text", "text": "1"}).user("Two.")
    session.model({"type": "text", "text": "2"}).add("user", "It was counted to two.").user("Three.")
    session.records[4] |= {"isCompactSummary": True, "parentUuid": None}
    session.records[4]["logicalParentUuid"] = session.records[3]["uuid"]
    return session.records


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("target", ["codex", "claude-code"])
def test_what_an_agent_had_summarised_stays_out_of_the_next_one_s_sight(target: str, tmp_path: Path):
    source = save(tmp_path / "session.jsonl", compacted_session())
    whole = read(source)

    there = read(convert(convert(source, "codex").data, target).data)

    (mark,) = there.compactions
    assert mark.text == "It was counted to two."
    said = render(there.conversation(compacted=True), "anthropic/claude-sonnet-4-5").json().decode()
    assert "Three." in said
    assert mark.text in said
    assert "One." not in said
    assert [entry.text for entry in there.entries][:4] == [entry.text for entry in whole.entries][:4]


def test_what_was_summarised_can_be_left_out_of_the_file(tmp_path: Path):
    source = save(tmp_path / "session.jsonl", compacted_session())

    for target in ("codex", "claude-code", "legato"):
        there = convert(source, target, compacted=True).data.decode()
        assert "It was counted to two." in there
        assert ("One." in there) == (target == "legato")  # a log holds everything, out of sight


def test_times_folder_and_id_of_a_session_are_kept(tmp_path: Path):
    source = save(tmp_path / "session.jsonl", ClaudeSession().user("One.").model({"type": "text", "text": "1"}).records)

    header, *_, message, event = lines(convert(source, "codex").data)

    assert header["payload"]["id"] == SESSION
    assert header["payload"]["cwd"] == "/work"
    assert header["payload"]["timestamp"] == "2025-01-01T00:00:00.000Z"
    assert (message["timestamp"], event["timestamp"]) == ("2025-01-01T00:00:01.001Z", "2025-01-01T00:00:01.002Z")


def test_a_session_that_does_not_tell_has_the_time_and_the_folder_in_which_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    before = time.time()

    (first, *_) = lines(convert(save(tmp_path / "body.json", OPEN_BODY), "claude-code").data)

    assert first["cwd"] == str(tmp_path)
    assert before - 1 <= datetime.fromisoformat(first["timestamp"]).timestamp() <= time.time() + 1


def test_an_id_that_is_no_uuid_is_replaced_by_one(tmp_path: Path):
    records = [{**record, "sessionId": "mine"} for record in ClaudeSession().user("One.").records]

    converted = convert(save(tmp_path / "session.jsonl", records), "codex")

    assert converted.session is not None
    assert str(uuid.UUID(converted.session.id)) == converted.session.id


@pytest.mark.parametrize(
    ("target", "variable", "place", "resume"),
    [
        ("codex", "CODEX_HOME", f"sessions/2025/01/01/rollout-2025-01-01T00-00-00-{SESSION}.jsonl", "codex resume"),
        ("claude-code", "CLAUDE_CONFIG_DIR", f"projects/-work/{SESSION}.jsonl", "claude --resume"),
        ("qwen-code", "QWEN_HOME", f"projects/-work/chats/{SESSION}.jsonl", "qwen --resume"),
        ("pi", "PI_CODING_AGENT_DIR", f"sessions/--work--/2025-01-01T00-00-00-000Z_{SESSION}.jsonl", "pi --session"),
    ],
)
def test_a_session_is_put_where_its_agent_looks(
    target: str, variable: str, place: str, resume: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(variable, str(tmp_path / "home"))
    converted = convert(save(tmp_path / "session.jsonl", open_session()), target)

    installed = install(converted)

    assert installed.path == tmp_path / "home" / place
    assert installed.path.read_bytes() == converted.data
    assert installed.resume == f"cd /work && {resume} {SESSION}"
    with pytest.raises(FormatError, match=r"exists already, and is not replaced; `cd .* goes on with it"):
        install(converted)


def test_gemini_cli_finds_a_session_under_its_name_for_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    chats = tmp_path / ".gemini" / "tmp"
    converted = convert(save(tmp_path / "session.jsonl", open_session()), "gemini-cli")

    unknown = install(converted)
    for name, owner in (("other", "/elsewhere"), ("work-2", "/work\n")):
        (chats / name).mkdir(parents=True)
        (chats / name / ".project_root").write_text(owner)
    known = install(converted)

    file = f"chats/session-2025-01-01T00-00-{SESSION[:8]}.jsonl"
    assert unknown.path == chats / sha256(b"/work").hexdigest() / file
    assert known.path == chats / "work-2" / file
    assert known.resume == f"cd /work && gemini --resume {SESSION}"


def test_kimi_code_gets_the_state_of_a_session_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KIMI_CODE_HOME", str(tmp_path))
    records = [{**record, "cwd": "/home/My Work!"} for record in open_session()]

    installed = install(convert(save(tmp_path / "session.jsonl", records), "kimi-code"))

    key = f"wd_my-work_{sha256(b'/home/My Work!').hexdigest()[:12]}"
    folder = tmp_path / "sessions" / key / f"session_{SESSION}"
    assert installed.path == folder / "agents" / "main" / "wire.jsonl"
    assert installed.resume == f"cd '/home/My Work!' && kimi --session session_{SESSION}"
    state = json.loads((folder / "state.json").read_text())
    assert (state["id"], state["cwd"], state["createdAt"]) == (f"session_{SESSION}", "/home/My Work!", 1735689600000)
    assert state["agents"]["main"]["homedir"] == str(installed.path.parent)


def test_what_has_no_place_is_not_put_anywhere(tmp_path: Path):
    with pytest.raises(FormatError, match="langchain has no place where files can just be put; those that have are "):
        install(convert(save(tmp_path / "session.jsonl", open_session()), "langchain"))
    for target in ("opencode", "legato"):
        with pytest.raises(FormatError, match=f"write one with -o OUT, and take it with `{target} import OUT`"):
            install(convert(save(tmp_path / "session.jsonl", open_session()), target))
    nameless = [{**record, "sessionId": ""} for record in ClaudeSession().user("One.").records]
    with pytest.raises(FormatError, match="has no id or folder by which Claude Code session could be filed"):
        install(convert(save(tmp_path / "session.jsonl", nameless), "claude-code"))


def test_what_was_done_to_make_a_body_is_told_in_words(tmp_path: Path):
    converted = convert(save(tmp_path / "body.json", OPEN_BODY), "gemini", model="gemini-3-pro-preview")

    assert converted.changes == ("1 call without a result closed", "a placeholder put in for a signature")


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
