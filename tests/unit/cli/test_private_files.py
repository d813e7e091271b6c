"""Files that only their owner can read, and what is never replaced by one."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from legato.cli.private_files import write_new, write_private
from legato.cli.settings.writing import write_file
from legato.errors import ConfigError
from program import Home


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_and_its_new_folders_are_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_private(path, b"one")
    assert (path.read_bytes(), mode_of(path), mode_of(path.parent)) == (b"one", 0o600, 0o700)
    path.chmod(0o644)
    write_private(path, b"two")
    assert (path.read_bytes(), mode_of(path)) == (b"two", 0o600)
    write_new(tmp_path / "b.txt", b"three")
    assert ((tmp_path / "b.txt").read_bytes(), mode_of(tmp_path / "b.txt")) == (b"three", 0o600)


def test_a_link_stays_a_link_and_may_lead_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("real")
    write_private(link, b"x")
    assert (link.is_symlink(), (tmp_path / "real").read_bytes()) == (True, b"x")


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_no_file_is_not_replaced_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_linked: bool
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket may have about a hundred characters
    path = tmp_path / "thing"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case _:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("thing")
    before = path.lstat()
    named = path
    if is_linked:
        named = tmp_path / "link"
        named.symlink_to("thing")
    names = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="it is no regular file"):
        write_private(named, b"x")
    with pytest.raises(ConfigError, match="cannot be written: it is no regular file, and is not replaced by one"):
        write_file(named, "x")
    with pytest.raises(FileExistsError):
        write_new(named, b"x")
    assert (path.lstat(), sorted(tmp_path.iterdir())) == (before, names)


def test_a_new_file_takes_the_place_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"mine")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("taken", "link"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / name, b"x")
    assert (tmp_path / "taken").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"before")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_private(tmp_path / "a", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"


def test_an_export_is_the_owners_alone_and_takes_the_place_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path, monkeypatch)
    home.legato("-p", "hello", "--simulate")
    (summary,) = home.legato("sessions", "list", "--json").stdout.splitlines()
    session = summary.partition('"id":"')[2].partition('"')[0]
    assert home.legato("sessions", "export", session, "-o", "out.jsonl").exit_code == 0
    assert mode_of(home.work / "out.jsonl") == 0o600
    os.mkfifo(home.work / "pipe")
    (home.work / "link").symlink_to("nowhere")
    for name in ("pipe", "link"):
        result = home.legato("sessions", "export", session, "-o", name)
        assert (result.exit_code, f"{name} exists already; name another file" in result.stderr) == (2, True)
    assert mode_of(home.work / "pipe") == 0o666
