"""What people are told about files: what is missing, each thing once; what was meant; what was not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from file_samples import CLEAN_BODY, legato, save
from legato.formats import FORMATS

STRANGE = {"role": "assistant", "content": [{"type": "text", "text": "so"}, {"type": "strange"}]}
ASKED = {"role": "user", "content": "hi"}
ASKED_CHAT = {"model": "gpt-4o", "messages": [ASKED], "tools": [{"type": "function", "function": {"name": "get"}}]}
EMPTY = [{"type": "summary", "summary": "x", "leafUuid": "u9"}, {"type": "file-history-snapshot", "messageId": "m"}]


def lines(stderr: str, path: Path) -> list[str]:
    return [line.removeprefix(f"{path}: ") for line in stderr.splitlines()]


# --- what is missing --------------------------------------------------------------------------------------------------


def test_what_was_not_understood_is_told_once_by_convert(tmp_path: Path) -> None:
    path = save(tmp_path / "plain.jsonl", [ASKED, *[STRANGE] * 103, ASKED])
    done = legato("convert", path, "--to", "openai-chat", "-o", tmp_path / "out.json")
    assert done.exit_code == 0
    assert lines(done.stderr, path) == [
        "line 2: content[1] of type 'strange' is not understood and was left out (103 times, here first)"
    ]


def test_what_was_not_understood_is_risky_and_told_once_by_lint(tmp_path: Path) -> None:
    path = save(tmp_path / "plain.jsonl", [ASKED, *[STRANGE] * 103, ASKED])
    done = legato("lint", path, "--for", "openai-chat")
    assert done.exit_code == 0
    told = "content[1] of type 'strange' is not understood and was left out (103 times, here first)"
    assert done.stdout == f"{path}:2: risky: {told} [file/not-understood]\n"
    assert "103 risky findings" in done.stderr


def test_errors_are_told_one_by_one(tmp_path: Path) -> None:
    said = {"role": "user", "content": [{"text": "one"}, {"text": "two"}]}
    done = legato("lint", save(tmp_path / "body.json", {"model": "gpt-4o", "messages": [said]}))
    assert done.stdout.count("error: a content part is an object with a `type` [openai-chat/part-form]") == 2


def test_what_a_session_file_has_no_place_for_is_said_to_be_left_behind(tmp_path: Path) -> None:
    path = save(tmp_path / "body.json", {**CLEAN_BODY, "system": "Be brief."})
    done = legato("convert", path, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    told = lines(done.stderr, path)
    assert told[:2] == ["not carried: the system prompt", "not carried: the definition of 1 tool"]
    assert all(line.startswith("not carried: ") for line in told)


def test_conversations_that_were_not_read_are_no_conversations_to_pick(tmp_path: Path) -> None:
    batch: list[dict[str, Any]] = [{"custom_id": str(number), "body": ASKED_CHAT} for number in range(2)]
    batch += [{"custom_id": f"x{number}", "body": {"strange": 1}} for number in range(33)]
    path = save(tmp_path / "batch.jsonl", batch)
    done = legato("convert", path, "--to", "kimi", "--all", "-o", tmp_path / "out.jsonl")
    assert done.exit_code == 0
    assert lines(done.stderr, path) == [
        "33 parts of it not read: line 3: a request that is not understood and was left out"
    ]
    one = legato("convert", path, "--to", "kimi", "--pick", "1", "-o", tmp_path / "out.json")
    assert "1 other conversation in it; --pick N takes the one of that number" in one.stderr
    assert "33 parts of it not read" in one.stderr


# --- what was meant ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["lint", "inspect", "repair", "convert", "import"])
def test_an_unknown_format_is_told_with_the_command_that_lists_them(command: str, tmp_path: Path) -> None:
    path = save(tmp_path / "strange.json", {"some": "object"})
    options = {"convert": ["--to", "kimi"], "repair": ["--dry-run"]}.get(command, [])
    done = legato(command, path, *options)
    assert done.exit_code == 2
    assert "--from" in done.stderr
    assert "`legato formats` lists them" in done.stderr
    assert done.stderr.count("\n") == 1


def test_of_many_unknown_files_the_first_says_how_to_name_the_format(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"strange-{number}.json", {"some": "object"}) for number in range(3)]
    first, *others = legato("lint", *paths).stderr.splitlines()
    assert "--from" in first
    assert others == [
        f"legato: {path}: unknown format: this is JSON, but not of a kind that Legato recognises" for path in paths[1:]
    ]


@pytest.mark.parametrize(
    ("arguments", "sign"),
    [
        (["lint"], "[anthropic/max-tokens]"),
        (["inspect"], ": anthropic, 1 turn"),
        (["repair", "--force", "-o", "-"], "max_tokens: was added"),
        (["convert", "--to", "legato"], '"provider":"anthropic"'),
        (["import"], ": anthropic, 2 entries"),
    ],
)
def test_what_the_caller_says_wins_over_the_guess_in_every_command(
    arguments: list[str], sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEGATO_STORE", str(tmp_path / "sessions.db"))
    path = save(tmp_path / "body.json", {**ASKED_CHAT, "messages": [ASKED, {"role": "assistant", "content": "ho"}]})
    assert sign not in legato(*arguments, path).output
    assert sign in legato(*arguments, path, "--from", "anthropic").output


def test_a_session_file_that_cannot_be_written_is_not_taken_for_a_misspelt_provider(tmp_path: Path) -> None:
    path = save(tmp_path / "body.json", CLEAN_BODY)
    done = legato("convert", path, "--to", "sharegpt")
    assert done.exit_code == 2
    written = ", ".join(known.name for known in FORMATS.values() if known.is_written and not known.is_wire)
    assert f"'sharegpt' files are only read; session files can be written as {written}" in done.stderr
    assert "did you mean 'sharegpt'?" in legato("convert", path, "--to", "sharegtp").stderr


def test_a_session_file_is_no_provider_to_judge_for(tmp_path: Path) -> None:
    done = legato("lint", save(tmp_path / "body.json", CLEAN_BODY), "--for", "codex")
    assert done.exit_code == 2
    assert "judge it for 'openai-responses', which its agent speaks to" in done.stderr


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"])
def test_what_is_packed_is_said_not_to_be_looked_into(magic: bytes, tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(magic + b"x" * 40)
    assert "which is not looked into; unpack it, and try" in legato("lint", path).stderr


# --- what was not read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["lint", "inspect", "convert", "import"])
def test_a_session_of_which_nothing_is_understood_is_not_read(command: str, tmp_path: Path) -> None:
    strange = {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": [{"type": "x"}]}}
    path = save(tmp_path / "session.jsonl", [strange, {**strange, "uuid": "2", "parentUuid": "1"}])
    done = legato(command, path, *(["--to", "codex"] if command == "convert" else []))
    assert done.exit_code == 2
    assert f"{path}: nothing in it could be read as claude-code: line 1: content[0] of type 'x'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["lint"], 0, "there is no conversation in it [file/empty]"),
        (["inspect"], 0, "claude-code, no conversation in it"),
        (["repair", "--dry-run"], 0, "nothing to mend"),
        (["convert", "--to", "codex"], 2, "there is no conversation in it, so there is nothing to convert"),
        (["convert", "--to", "kimi", "--all"], 2, "there is no conversation in it, so there is nothing to convert"),
        (["convert", "--to", "kimi"], 2, "it holds nothing that could be sent to a model"),
        (["import"], 2, "there is no conversation in it, so there is nothing to go on with"),
        (["import", "--all"], 2, "there is no conversation in it, so there is nothing to go on with"),
    ],
)
def test_a_session_without_a_conversation_is_said_to_be_one(
    arguments: list[str], status: int, told: str, tmp_path: Path
) -> None:
    done = legato(*arguments, save(tmp_path / "session.jsonl", EMPTY))
    assert (done.exit_code, told in done.output) == (status, True)


# --- what can be repaired ---------------------------------------------------------------------------------------------

FILES_PAGE = Path(__file__).parents[4] / "docs" / "files.md"


def test_help_and_docs_name_the_sessions_that_can_be_repaired() -> None:
    told = " ".join(legato("repair", "--help").stdout.split())
    table = [line for line in FILES_PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    for known in (known for known in FORMATS.values() if not known.is_wire):
        can = known.repair is not None
        assert (f"{known.title}s" in told) is can, known.name
        assert any(line.startswith(f"| {known.title}s |") for line in table) is can, known.name
    assert "request bodies can be mended" in told
