"""repair: a mended copy, what changed, and nothing else touched."""

import json
import os
import stat
from pathlib import Path

import pytest

from file_samples import CLEAN_BODY, OPEN_BODY, ClaudeSession, legato, open_session, pi_session, save, use, used
from legato.files import writing
from legato.formats import read, write
from legato.model import closure_text
from legato.model.closures import ClosureReason

MISSING = closure_text(ClosureReason.MISSING_IN_IMPORT)
CACHED = {"type": "text", "text": "Read a and b.", "cache_control": {"type": "ephemeral"}}
CHANGE = "line 4: the call toolu_b of Read had no result; one that says so was put in (missing-in-import)"


def test_a_mended_copy_is_written_and_what_changed_is_told(tmp_path: Path):
    path, out = save(tmp_path / "session.jsonl", open_session()), tmp_path / "mended.jsonl"
    before = path.read_bytes()

    result = legato("repair", path, "-o", out)

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{path}: {CHANGE}\n{path}: 1 change\n"
    assert path.read_bytes() == before
    mended = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["message"] for record in mended[:4]] == [record["message"] for record in open_session()[:4]]
    assert mended[4]["message"]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_b", "content": MISSING, "is_error": True}
    ]
    assert [record["message"] for record in mended[5:]] == [record["message"] for record in open_session()[4:]]


def test_a_mended_file_lints_clean(tmp_path: Path):
    out = tmp_path / "mended.jsonl"
    legato("repair", save(tmp_path / "session.jsonl", open_session()), "-o", out)

    assert legato("lint", out).exit_code == 0


def test_repairing_twice_changes_nothing_more(tmp_path: Path):
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    legato("repair", save(tmp_path / "session.jsonl", open_session()), "-o", once)

    result = legato("repair", once, "-o", twice)

    assert result.stderr == f"{once}: nothing to mend\n"
    assert twice.read_bytes() == once.read_bytes()


def test_a_real_result_that_is_found_later_still_wins_over_a_closure(tmp_path: Path):
    out = tmp_path / "mended.jsonl"
    legato("repair", save(tmp_path / "session.jsonl", open_session()), "-o", out)
    late = ClaudeSession().user([used("toolu_b", "text of b")]).records[0]
    late |= {"uuid": "late", "parentUuid": json.loads(out.read_text().splitlines()[-1])["uuid"]}
    with out.open("a") as file:
        file.write(json.dumps(late) + "\n")

    again = tmp_path / "again.jsonl"
    legato("repair", out, "-o", again)

    calls = read(again).conversation().ledger.in_order
    assert [(call.wire_id, call.response.result if call.response else None) for call in calls] == [
        ("toolu_a", "text of a"),
        ("toolu_b", "text of b"),
    ]
    assert MISSING not in again.read_text()


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    result = legato("repair", path, "-o", tmp_path / "out.jsonl", "--dry-run")

    assert result.exit_code == 0
    assert result.stderr == f"{path}: {CHANGE}\n{path}: 1 change; nothing was written\n"
    assert [item.name for item in tmp_path.iterdir()] == ["session.jsonl"]


def test_a_file_is_mended_in_place_only_when_asked_with_a_backup_beside_it(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    path.chmod(0o640)
    before = path.read_bytes()

    result = legato("repair", path, "--write")

    backup = tmp_path / "session.jsonl.bak"
    assert result.exit_code == 0
    assert result.stderr.endswith(f"{path}: 1 change; the file as it was is {backup}\n")
    assert backup.read_bytes() == before
    assert MISSING in path.read_text()
    assert {stat.S_IMODE(item.stat().st_mode) for item in (path, backup)} == {0o640}
    assert sorted(item.name for item in tmp_path.iterdir()) == ["session.jsonl", "session.jsonl.bak"]


def test_an_older_backup_is_never_overwritten(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    (tmp_path / "session.jsonl.bak").write_text("older")

    legato("repair", path, "--write")

    assert (tmp_path / "session.jsonl.bak").read_text() == "older"
    assert (tmp_path / "session.jsonl.bak2").exists()


def test_a_file_that_is_right_is_left_alone(tmp_path: Path):
    path = save(tmp_path / "body.json", CLEAN_BODY)
    before = path.stat()

    result = legato("repair", path, "--write")

    assert result.stderr == f"{path}: nothing to mend\n"
    after = path.stat()  # that it was read shows in it, too
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert [item.name for item in tmp_path.iterdir()] == ["body.json"]


def test_a_link_stays_a_link(tmp_path: Path):
    real = save(tmp_path / "real.jsonl", open_session())
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)

    legato("repair", link, "--write")

    assert link.is_symlink()
    assert MISSING in real.read_text()
    assert (tmp_path / "real.jsonl.bak").exists()


def test_a_failure_while_writing_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = save(tmp_path / "session.jsonl", open_session())
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    result = legato("repair", path, "--write")

    assert result.exit_code == 2
    told = f"legato: {path}: cannot be written: no space left on device; nothing was changed\n"
    assert result.stderr == told
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["session.jsonl"]


def test_a_request_body_is_mended_and_what_stands_around_it_kept(tmp_path: Path):
    path, out = save(tmp_path / "body.json", {**OPEN_BODY, "metadata": {"user_id": "u"}}), tmp_path / "out.json"

    legato("repair", path, "-o", out)

    body = json.loads(out.read_text())
    assert {name: body[name] for name in ("model", "max_tokens", "metadata", "tools")} == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "metadata": {"user_id": "u"},
        "tools": OPEN_BODY["tools"],
    }
    results = [block for block in body["messages"][2]["content"] if block["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in results] == ["toolu_a", "toolu_b"]
    assert legato("lint", out).exit_code == 0


# --- what would be worse ----------------------------------------------------------------------------------------------

THOUGHTLESS = {**CLEAN_BODY, "max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2048}}
LOSS = 'thinking: the setting thinking={"budget_tokens": 2048, "type": "enabled"} would be lost'


def test_a_copy_that_would_lack_something_is_withheld_and_that_is_told(tmp_path: Path):
    path = save(tmp_path / "body.json", THOUGHTLESS)
    before = path.read_bytes()

    for options in (["-o", tmp_path / "out.json"], ["--write"], ["--dry-run"]):
        result = legato("repair", path, *options)

        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr == (
            f"{path}: {LOSS}\n"
            f"legato: {path}: not mended, because 1 thing would be lost or broken; nothing was written. "
            "Use `--force -o OUT` to write it anyway\n"
        )
        assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == {"body.json": before}


def test_force_writes_it_to_the_file_that_is_named(tmp_path: Path):
    path, out = save(tmp_path / "body.json", THOUGHTLESS), tmp_path / "out.json"
    before = path.read_bytes()

    result = legato("repair", path, "--force", "-o", out)

    assert result.exit_code == 0
    assert f"{path}: {LOSS}\n{path}: 2 changes; 1 objection overruled\n" in result.stderr
    assert path.read_bytes() == before
    assert json.loads(out.read_text()) == {**THOUGHTLESS, "thinking": {"type": "disabled"}}
    assert legato("lint", out).exit_code == 0


def test_many_losses_are_told_in_part(tmp_path: Path):
    marks = [{"role": "user", "content": [{**CACHED, "text": str(number)}]} for number in range(60)]
    path = save(tmp_path / "body.json", {**OPEN_BODY, "messages": [*marks, *OPEN_BODY["messages"]]})

    lines = legato("repair", path, "--dry-run").stderr.splitlines()

    assert len(lines) == 52
    assert lines[50] == f"{path}: and 11 more"


def test_a_loss_is_told_without_secrets(tmp_path: Path):
    odd = {"role": "user", "content": [{"kind": "text", "value": "the key is sk-a1b2c3d4e5f6"}]}
    path = save(tmp_path / "body.json", {"model": "gpt-4o", "messages": [odd, {"role": "user", "content": "hi"}]})

    assert 'value="the key is [hidden]"' in legato("repair", path, "--dry-run").stderr


def test_the_caller_says_what_a_file_is(tmp_path: Path):
    path = save(tmp_path / "body.json", {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]})

    assert legato("repair", path, "--dry-run").stderr == f"{path}: nothing to mend; nothing was written\n"
    result = legato("repair", path, "--from", "anthropic", "-o", tmp_path / "out.json")

    assert result.exit_code == 0
    assert "max_tokens: was added" in result.stderr
    assert json.loads((tmp_path / "out.json").read_text())["max_tokens"] > 0


def test_the_mended_copy_can_go_to_standard_output():
    result = legato("repair", "-", "-o", "-", stdin=json.dumps(OPEN_BODY).encode())

    assert MISSING in json.loads(result.stdout)["messages"][2]["content"][1]["content"]
    assert result.stderr == (
        "standard input: messages[1]: the call toolu_b of read had no result; one that says so was put in "
        "(missing-in-import)\n"
        "standard input: 1 change\n"
    )


def test_a_log_of_ours_is_never_rewritten(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(write(read(save(tmp_path / "session.jsonl", open_session())), "legato").data)

    result = legato("repair", path, "--dry-run")

    assert result.stderr == f"{path}: nothing to mend; nothing was written\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "say where to write: -o OUT, or --write to mend the file where it stands, or --dry-run"),
        (["--write", "-o", "x"], "--write mends a file where it stands; leave out --output, and name a file"),
        (["-o", "session.jsonl"], "session.jsonl: this is the input itself; use --write to mend it where it stands"),
        (["-o", "nowhere/out"], "nowhere/out: there is no directory nowhere"),
        (["--force", "--write"], "--force writes only to a named file: add -o OUT, and leave out --write"),
        (["--force", "--dry-run"], "--force writes only to a named file: add -o OUT, and leave out --write"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    options: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "session.jsonl", open_session())

    result = legato("repair", "session.jsonl", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"legato: {line}")
    assert os.listdir(tmp_path) == ["session.jsonl"]


def test_a_format_that_is_not_repaired_says_what_to_do_instead(tmp_path: Path):
    result = legato("repair", save(tmp_path / "session.jsonl", pi_session()), "-o", tmp_path / "out.jsonl")

    assert result.exit_code == 2
    assert "pi files are written but not repaired; convert it to one of" in result.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_what_is_told_hides_secrets(tmp_path: Path):
    session = ClaudeSession().user("Go.").model(use("toolu_a", "sk-a1b2c3d4e5f6")).user("Stop.").records

    result = legato("repair", save(tmp_path / "session.jsonl", session), "--dry-run")

    assert "the call toolu_a of [hidden] had no result" in result.stderr
