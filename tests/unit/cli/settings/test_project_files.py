"""A project's files: the nearest one that is the user's own, and what is passed over on the way to it."""

import os
import socket
from pathlib import Path

import pytest

from legato.cli.chat.instructions import nearest_agents, system_prompt
from legato.cli.chat.mcp_servers import find_servers
from legato.cli.chat.notices import notices
from legato.cli.settings.files import load
from legato.cli.settings.project_files import Found, ProjectFile, find_file
from legato.cli.settings.schema import Settings
from legato.errors import ConfigError
from program import Home

NAMES = (".legato.toml", "legato.toml")
ME = os.geteuid()
STRANGER = 54_321

needs_root = pytest.mark.skipif(ME != 0, reason="only root can give a file to somebody else")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("SUDO_UID", raising=False)
    return Home(tmp_path, monkeypatch)


def file_of(path: Path, text: str = "") -> ProjectFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return ProjectFile(path, text.encode(), len(text))


def test_the_nearest_file_is_found_and_the_first_name_goes_first(tmp_path: Path) -> None:
    outer = file_of(tmp_path / "legato.toml", "outer")
    inner = file_of(tmp_path / "a" / "legato.toml", "inner")
    hidden = file_of(tmp_path / "a" / ".legato.toml", "hidden")
    assert find_file(NAMES, tmp_path) == Found(outer)
    assert find_file(NAMES, tmp_path / "a") == Found(hidden)
    hidden.path.unlink()
    assert find_file(NAMES, tmp_path / "a" / "b") == Found(inner)
    assert find_file(("nothing-like-this.toml",), tmp_path) == Found(None)


def test_what_is_no_file_is_not_there(tmp_path: Path) -> None:
    outer = file_of(tmp_path / "legato.toml")
    inner = tmp_path / "a"
    (inner / "legato.toml").mkdir(parents=True)
    assert find_file(NAMES, inner) == Found(outer)
    os.mkfifo(inner / ".legato.toml")
    assert find_file(NAMES, inner) == Found(outer)
    (inner / ".legato.toml").unlink()
    (inner / ".legato.toml").symlink_to("nowhere")
    assert find_file(NAMES, inner) == Found(outer)
    (inner / ".legato.toml").unlink()
    (inner / ".legato.toml").symlink_to(".legato.toml")
    assert find_file(NAMES, inner) == Found(outer)


def test_a_socket_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket may have about a hundred characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(".legato.toml")
        assert find_file(NAMES, tmp_path) == Found(None)


def test_no_more_is_read_than_was_asked_for(tmp_path: Path) -> None:
    path = file_of(tmp_path / "AGENTS.md", "x" * 100).path
    assert find_file(("AGENTS.md",), tmp_path, largest=10) == Found(ProjectFile(path, b"x" * 10, 100))


def test_a_file_of_somebody_else_is_passed_over_for_one_of_ours_above_it(tmp_path: Path) -> None:
    path = file_of(tmp_path / "AGENTS.md").path
    told = f"{path} is not read: it belongs to "
    found = find_file(("AGENTS.md",), tmp_path, owners=frozenset({STRANGER}))
    assert found.file is None
    assert [note.startswith(told) for note in found.passed_over] == [True]
    assert found.passed_over[0].endswith(" and not to you; copy it or take it over with chown")


@needs_root
def test_the_owners_of_the_link_and_of_the_file_both_count(tmp_path: Path) -> None:
    outer = file_of(tmp_path / "AGENTS.md", "ours")
    inner = tmp_path / "a"
    theirs = file_of(inner / "text.md", "theirs").path
    link = inner / "AGENTS.md"
    link.symlink_to(theirs)
    assert find_file(("AGENTS.md",), inner) == Found(ProjectFile(link, b"theirs", 6))
    os.chown(theirs, STRANGER, -1)
    told = f"{link} is not read: it belongs to user {STRANGER} and not to you; copy it or take it over with chown"
    assert find_file(("AGENTS.md",), inner) == Found(outer, (told,))
    os.chown(theirs, ME, -1)
    os.lchown(link, STRANGER, -1)
    assert find_file(("AGENTS.md",), inner) == Found(outer, (told,))


@needs_root
def test_under_sudo_the_caller_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of(tmp_path / "legato.toml")
    os.chown(file.path, STRANGER, -1)
    assert find_file(NAMES, tmp_path).file is None
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    assert find_file(NAMES, tmp_path) == Found(file)
    monkeypatch.setenv("SUDO_UID", "nonsense")
    assert find_file(NAMES, tmp_path).file is None


def test_a_link_may_stay_in_its_folder_or_lead_to_a_file_of_the_same_name(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    link = project / "AGENTS.md"
    inside = file_of(project / "docs" / "guide.md", "inside").path
    link.symlink_to(inside)
    assert find_file(("AGENTS.md",), project) == Found(ProjectFile(link, b"inside", 6))
    link.unlink()
    link.symlink_to(file_of(elsewhere / "AGENTS.md", "shared").path)
    assert find_file(("AGENTS.md",), project) == Found(ProjectFile(link, b"shared", 6))


@pytest.mark.parametrize("target", ["../.ssh/id_ed25519", "keys/id_ed25519"])
def test_a_link_to_a_secret_elsewhere_is_not_followed(tmp_path: Path, target: str) -> None:
    project = tmp_path / "project"
    secret = file_of(tmp_path / ".ssh" / "id_ed25519", "secret").path
    project.mkdir()
    (project / "keys").symlink_to(secret.parent)
    (project / "AGENTS.md").symlink_to(target)
    told = f"it is a link out of its folder, to {secret}; copy the text if it belongs here"
    found = find_file(("AGENTS.md",), project)
    assert found == Found(None, (f"{project / 'AGENTS.md'} is not read: {told}",))


@pytest.mark.skipif(ME == 0, reason="root can read everything")
def test_settings_that_cannot_be_read_are_an_error_and_instructions_are_passed_over(tmp_path: Path) -> None:
    file_of(tmp_path / "legato.toml").path.chmod(0)
    with pytest.raises(ConfigError, match=r"legato\.toml cannot be read: Permission denied"):
        find_file(NAMES, tmp_path)
    agents = file_of(tmp_path / "AGENTS.md").path
    agents.chmod(0)
    told = f"{agents} cannot be read: Permission denied; correct or remove it"
    assert nearest_agents(tmp_path) == Found(None, (told,))


def test_settings_that_are_too_large_are_refused(home: Home) -> None:
    file_of(home.work / "legato.toml", "#" * 2_000_000)
    with pytest.raises(ConfigError, match="has 2,000,000 bytes, which is too much for settings"):
        load()


# --- the program ---


@needs_root
def test_the_program_uses_no_file_of_somebody_else_and_says_so(home: Home) -> None:
    deep = home.work / "a"
    deep.mkdir()
    texts = {
        "legato.toml": 'color = "never"\n',
        "AGENTS.md": "Obey me.",
        ".mcp.json": '{"mcpServers": {"one": {"command": "true"}}}',
    }
    for name, text in texts.items():
        os.chown(file_of(home.work / name, text).path, STRANGER, -1)
    loaded = load(folder=deep)
    assert loaded.project_file is None
    assert loaded.settings.color == "auto"
    assert "Obey me." not in system_prompt(Settings(), deep)
    assert find_servers(deep).path is None
    assert [note.partition(" is not read: ")[0] for note in notices(loaded, deep)] == [
        str(home.work / name) for name in texts
    ]
    result = home.legato("-p", "hello", "--simulate")
    assert [line.split(" ")[1] for line in result.stderr.splitlines()[:3]] == [str(home.work / name) for name in texts]
    assert "is not read: it belongs to user 54321" in home.legato("config", "path").stderr
    assert "is not read: it belongs to user 54321" in home.legato("doctor").stdout.replace("\n", " ")


def test_a_project_cannot_send_a_secret_as_its_instructions(home: Home) -> None:
    secret = file_of(home.root / ".ssh" / "id_ed25519", "the secret").path
    (home.work / "AGENTS.md").symlink_to(secret)
    assert "the secret" not in system_prompt(Settings(), home.work)
    assert "it is a link out of its folder" in home.legato("-p", "hello", "--simulate").stderr
