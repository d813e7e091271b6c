"""The working folder holds the file tools in: no path, link or race leads out of it."""

import errno
import os
import stat
from pathlib import Path

import pytest

from legato.errors import CallerError, UnsafeName
from legato.tools.builtin.workspace import MAX_FILE, Workspace


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, outside: Path) -> Workspace:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("inside")
    (root / "out").symlink_to(outside)
    (root / "link.txt").symlink_to(outside / "secret.txt")
    (root / "ok.txt").symlink_to("a.txt")
    (root / "loop").symlink_to("loop")
    return Workspace(root)


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "out/secret.txt",
        "link.txt",
        "/etc/passwd",
        "~/.bashrc",
        "loop",
        "loop/x",
        "",
        "a\0b",
    ],
)
def test_a_path_that_leads_out_is_neither_read_nor_written(workspace: Workspace, outside: Path, path: str) -> None:
    with pytest.raises(UnsafeName):
        workspace.read_bytes(path)
    with pytest.raises(UnsafeName):
        workspace.write_text(path, "changed")
    assert (outside / "secret.txt").read_text() == "secret"
    assert sorted(os.listdir(outside)) == ["secret.txt"]


def test_the_error_says_where_the_path_leads_and_what_is_allowed(workspace: Workspace, outside: Path) -> None:
    with pytest.raises(UnsafeName) as caught:
        workspace.read_bytes("out/secret.txt")
    assert caught.value.message == (
        f"the path 'out/secret.txt' leads to {outside}/secret.txt, outside of the working folder {workspace.root}; "
        "only files below that folder can be used"
    )


def test_links_and_dots_that_stay_inside_are_followed(workspace: Workspace) -> None:
    assert workspace.read_text("ok.txt") == "inside"
    assert workspace.read_text("sub/../a.txt") == "inside"
    assert workspace.read_text(str(workspace.root / "a.txt")) == "inside"
    workspace.write_text("ok.txt", "through the link")
    assert (workspace.root / "a.txt").read_text() == "through the link"
    assert (workspace.root / "ok.txt").is_symlink()


def test_a_link_that_appears_after_the_check_is_not_followed(
    workspace: Workspace, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is passed while the path is harmless; then somebody swaps a folder, or the file, for a link."""
    innocent = workspace.root / "swap"
    innocent.symlink_to(outside)
    monkeypatch.setattr(Workspace, "_resolve", lambda self, path, roots: self.root / path)
    for path in ("swap/secret.txt", "link.txt"):
        with pytest.raises(CallerError):
            workspace.read_bytes(path)
    with pytest.raises(CallerError):
        workspace.write_text("swap/new.txt", "x")
    with pytest.raises(CallerError, match="not a regular file"):
        workspace.write_text("link.txt", "x")
    assert sorted(os.listdir(outside)) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


def test_further_folders_can_be_read_but_not_written(workspace: Workspace, outside: Path) -> None:
    wider = Workspace(workspace.root, readable=[outside])
    assert wider.read_text(str(outside / "secret.txt")) == "secret"
    with pytest.raises(UnsafeName):
        wider.write_text(str(outside / "secret.txt"), "x")


def test_a_write_makes_folders_keeps_the_mode_and_leaves_no_traces(workspace: Workspace) -> None:
    workspace.write_text("new/deep/b.txt", "hello\n")
    script = workspace.root / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    workspace.write_text("run.sh", "new")
    assert (workspace.root / "new/deep/b.txt").read_text() == "hello\n"
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o750)
    assert os.listdir(workspace.root / "new/deep") == ["b.txt"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("A.TXT", "A.TXT does not exist; there is a.txt"),
        ("nowhere/b.txt", "nowhere/b.txt does not exist; neither does its folder 'nowhere'"),
        ("a.txt/b", "a.txt/b cannot exist: a part of its path is a file or a link, not a folder"),
        ("sub", "sub is a folder; use the list tool for it"),
        ("pipe", "pipe is not a regular file and is not read"),
        ("huge", f"huge has {MAX_FILE + 1:,} bytes; at most {MAX_FILE:,} are read"),
    ],
)
def test_what_cannot_be_read_says_why(workspace: Workspace, path: str, message: str) -> None:
    os.mkfifo(workspace.root / "pipe")
    with (workspace.root / "huge").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    with pytest.raises(CallerError) as caught:
        workspace.read_bytes(path)
    assert caught.value.message == message


def test_what_is_not_text_is_not_edited(workspace: Workspace) -> None:
    (workspace.root / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(CallerError, match="latin is not UTF-8 text"):
        workspace.change_text("latin", lambda text: text)


def test_a_folder_or_a_pipe_is_not_overwritten(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    for path in ("sub", "pipe"):
        with pytest.raises(CallerError, match="is not a regular file and is not overwritten"):
            workspace.write_text(path, "x")
    with pytest.raises(CallerError, match="is a folder"):
        workspace.write_text(".", "x")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(os.listdir(workspace.root))
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CallerError, match=r"a\.txt: No space left on device"):
        workspace.write_text("a.txt", "new")
    assert sorted(os.listdir(workspace.root)) == before
    assert workspace.read_text("a.txt") == "inside"


def test_a_path_is_named_as_rules_see_it_also_where_it_leads_out(workspace: Workspace) -> None:
    names = [workspace.name_of(path) for path in ("./sub/../a.txt", "ok.txt", "../x", ".")]
    assert names == ["a.txt", "a.txt", "../x", "."]
