"""repair: the mended bytes, or a new file, or the same file with a backup; never anything else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from file_samples import CLEAN_BODY, open_session, pi_session, save
from legato.errors import FormatError, LegatoError, RepairRefused
from legato.files import Repaired, lint, repair, repair_in_place, repairing, writing
from legato.formats import FileNote, mend

CHANGE = FileNote("line 4", "the call toolu_b of Read had no result; one that says so was put in (missing-in-import)")


def test_the_mended_bytes_are_returned_and_nothing_is_written(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    repaired = repair(path)

    assert repaired == Repaired(name=str(path), data=repaired.data, changes=(CHANGE,))
    assert lint(repaired.data).errors == ()
    assert [item.name for item in tmp_path.iterdir()] == ["session.jsonl"]


def test_a_copy_is_written_to_a_new_file(tmp_path: Path):
    path, output = save(tmp_path / "session.jsonl", open_session()), tmp_path / "mended.jsonl"
    before = path.read_bytes()

    repaired = repair(path, output)

    assert repaired.output == output
    assert output.read_bytes() == repaired.data
    assert path.read_bytes() == before


def test_a_file_without_anything_to_mend_is_returned_as_it_was(tmp_path: Path):
    path = save(tmp_path / "body.json", CLEAN_BODY)

    assert repair(path) == Repaired(name=str(path), data=path.read_bytes())


def test_a_file_that_exists_is_replaced_only_where_that_is_said(tmp_path: Path):
    path, output = save(tmp_path / "session.jsonl", open_session()), tmp_path / "other.jsonl"
    output.write_text("precious")

    with pytest.raises(
        FormatError, match=r"other\.jsonl: this file exists already; name another one, or say overwrite"
    ):
        repair(path, output)
    assert output.read_text() == "precious"

    assert repair(path, output, overwrite=True).data == output.read_bytes()


def test_a_link_to_nowhere_counts_as_something_that_exists(tmp_path: Path):
    path, output = save(tmp_path / "session.jsonl", open_session()), tmp_path / "link"
    output.symlink_to(tmp_path / "nowhere")

    with pytest.raises(FormatError, match="exists already"):
        repair(path, output)


@pytest.mark.parametrize("name", ["session.jsonl", "link.jsonl"])
def test_the_source_is_never_overwritten(name: str, tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    (tmp_path / "link.jsonl").symlink_to(path)
    before = path.read_bytes()

    with pytest.raises(FormatError, match="this is the input itself; name another file"):
        repair(path, tmp_path / name, overwrite=True)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused_before_the_file_is_read(tmp_path: Path):
    with pytest.raises(FormatError, match="there is no directory"):
        repair(tmp_path / "missing.json", tmp_path / "no" / "out.json")
    with pytest.raises(FormatError, match="this is a directory"):
        repair(tmp_path / "missing.json", tmp_path)


def test_a_repair_that_would_lose_something_is_refused_with_the_reasons_and_writes_nothing(tmp_path: Path):
    path, output = _losing(tmp_path), tmp_path / "out.jsonl"

    with pytest.raises(RepairRefused) as caught:
        repair(path, output)

    assert caught.value.losses
    assert not output.exists()


def test_force_gives_the_file_with_what_it_loses(tmp_path: Path):
    path, output = _losing(tmp_path), tmp_path / "out.jsonl"

    repaired = repair(path, output, force=True)

    assert repaired.losses
    assert output.read_bytes() == repaired.data


def test_a_format_that_is_not_repaired_is_refused(tmp_path: Path):
    with pytest.raises(FormatError, match="pi files are written but not repaired; convert it to one of"):
        repair(save(tmp_path / "session.jsonl", pi_session()))
    with pytest.raises(FormatError, match="cline files are read but not written; convert it to one of"):
        repair(save(tmp_path / "cline.json", [{"role": "user", "content": "Hello.", "ts": 1}]))


def test_a_file_is_mended_in_place_with_a_backup_beside_it(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    before = path.read_bytes()

    repaired = repair_in_place(path)

    backup = tmp_path / "session.jsonl.bak"
    assert (repaired.output, repaired.backup, repaired.changes) == (path, backup, (CHANGE,))
    assert (path.read_bytes(), backup.read_bytes()) == (repaired.data, before)


def test_a_file_with_nothing_to_mend_is_not_touched_in_place(tmp_path: Path):
    path = save(tmp_path / "body.json", CLEAN_BODY)
    before = path.stat()

    repaired = repair_in_place(path)

    assert (repaired.output, repaired.backup) == (None, None)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert [item.name for item in tmp_path.iterdir()] == ["body.json"]


@pytest.mark.parametrize("in_place", [False, True], ids=["new file", "in place"])
def test_a_full_disk_is_an_error_of_ours_and_leaves_everything_as_it_was(
    in_place: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = save(tmp_path / "session.jsonl", open_session())
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(LegatoError, match="cannot be written: no space left on device; nothing was changed"):
        repair_in_place(path) if in_place else repair(path, tmp_path / "out.jsonl")
    assert os.listdir(tmp_path) == ["session.jsonl"]
    assert path.read_bytes() == before


def test_a_disk_that_fills_up_behind_the_backup_keeps_no_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = save(tmp_path / "session.jsonl", open_session())
    before, synced = path.read_bytes(), iter([True, False])

    def nearly_full(_: int) -> None:
        if not next(synced):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", nearly_full)
    with pytest.raises(FormatError, match="cannot be written: no space left on device; nothing was changed"):
        repair_in_place(path)
    assert os.listdir(tmp_path) == ["session.jsonl"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("moment", ["while it is mended", "while it is written"])
def test_what_its_agent_writes_meanwhile_is_not_replaced(moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = save(tmp_path / "session.jsonl", open_session())
    before, late = path.read_bytes(), b'{"type": "summary", "summary": "written meanwhile"}\n'

    def append(*_: object) -> bool:
        with path.open("ab") as file:
            file.write(late)
        return True

    if moment == "while it is mended":
        monkeypatch.setattr(repairing, "mend", lambda document, force: append() and mend(document, force=force))
    else:
        monkeypatch.setattr(writing.os, "fsync", append)
    with pytest.raises(FormatError, match="somebody has written to this file since it was read; nothing was changed"):
        repair_in_place(path)
    assert path.read_bytes().removeprefix(before).startswith(late)
    assert os.listdir(tmp_path) == ["session.jsonl"]


def _losing(folder: Path) -> Path:
    """A session whose repair would take out one of two different results of a call."""
    records = open_session()
    second = json.loads(json.dumps(records[2]))
    second |= {"uuid": "00000000-0000-4000-8000-000000000099", "parentUuid": records[2]["uuid"]}
    second["message"]["content"][0]["content"] = "another text of a"
    records[3]["parentUuid"] = second["uuid"]
    return save(folder / "session.jsonl", [*records[:3], second, *records[3:]])
