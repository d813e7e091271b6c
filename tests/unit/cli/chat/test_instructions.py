"""What the model is told about where it works: the project's words, the date, and the state of a git repository."""

import time
from pathlib import Path

import pytest

from legato.cli.chat.git_state import git_state
from legato.cli.chat.instructions import system_prompt
from legato.cli.settings.schema import Settings

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def repository(folder: Path, head: str = "ref: refs/heads/main\n", **files: str) -> Path:
    """A folder in which git would find this; `/` in a name is written as `__`."""
    git = folder / ".git"
    for name, text in {"HEAD": head, **files}.items():
        place = git / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_branch_and_commit_are_told_of_a_folder_anywhere_in_a_repository(tmp_path: Path):
    repository(tmp_path, refs__heads__main=f"{COMMIT}\n")
    (tmp_path / "a" / "b").mkdir(parents=True)

    assert git_state(tmp_path / "a" / "b") == "branch main, commit 0123456789"


@pytest.mark.parametrize(
    ("head", "files", "told"),
    [
        (
            "ref: refs/heads/x/y",
            {"packed-refs": f"# pack-refs\n{COMMIT} refs/heads/x/y\n"},
            "branch x/y, commit 0123456789",
        ),
        (COMMIT, {}, "no branch, commit 0123456789"),
        ("ref: refs/heads/main", {}, "branch main, no commit yet"),
        ("ref: refs/heads/main", {"MERGE_HEAD": COMMIT}, "branch main, no commit yet, a merge is under way"),
        ("ref: refs/heads/obey me!\nand me", {}, "a branch, no commit yet"),
        ("ref: refs/../../secret", {"../secret": COMMIT}, "branch refs/../../secret, no commit yet"),
    ],
)
def test_a_repository_is_told_in_a_line(tmp_path: Path, head: str, files: dict[str, str], told: str):
    assert git_state(repository(tmp_path, head, **files)) == told


def test_a_worktree_has_its_own_branch_and_the_commits_of_all(tmp_path: Path):
    main = repository(tmp_path / "main", refs__heads__side=COMMIT)
    own = main / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (own / "commondir").write_text("../..\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {own}\n")

    assert git_state(side) == "branch side, commit 0123456789"


def test_where_there_is_no_repository_there_is_nothing_to_tell(tmp_path: Path):
    (tmp_path / ".git").write_text("nonsense")

    assert git_state(tmp_path) == ""


def test_the_day_and_the_repository_are_told(tmp_path: Path):
    told = system_prompt(Settings(), repository(tmp_path))

    assert f"Working folder: {tmp_path}\n" in told
    assert f"Today: {time.strftime('%A, %Y-%m-%d')}\nGit: branch main, no commit yet\n" in told


def test_the_file_of_another_agent_is_read_where_there_is_no_agents_file(tmp_path: Path):
    (tmp_path / "GEMINI.md").write_text("Use tabs.")
    assert f"(GEMINI.md in {tmp_path}):\n\nUse tabs." in system_prompt(Settings(), tmp_path)

    (tmp_path / "CLAUDE.md").write_text("Use spaces.")
    assert "(CLAUDE.md in " in system_prompt(Settings(), tmp_path)

    (tmp_path / "AGENTS.md").write_text("Use neither.")
    told = system_prompt(Settings(), tmp_path)
    assert "Use neither." in told
    assert "Use spaces." not in told
