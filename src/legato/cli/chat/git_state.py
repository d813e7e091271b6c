"""Where a git repository is: its branch, its commit, and what is half done in it.

In:  a folder.
Out: a line about the repository that it is in, or nothing.

The files of the repository are read, and `git` is not run: it would run what the repository's own configuration names
(`core.fsmonitor`, filters), and a repository may come from a stranger. So files that were changed are not told; the
model can ask for them with a command, which a person allows.
"""

from __future__ import annotations

import re
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_NAME = re.compile(r"[\w./+@#-]{1,200}\Z")
"""what a branch is called: it is told to a model, so nothing that could be taken for an instruction"""
_LARGEST = 1024 * 1024
"""bytes that are read of a file of the repository: our choice, far more than any has but a list of packed branches"""

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


def git_state(folder: Path) -> str:
    """The branch and the commit of the repository that `folder` is in, in words; empty if it is in none."""
    place = next((found for one in (folder, *folder.parents) if (found := _repository(one)) is not None), None)
    if place is None:
        return ""
    head = _text(place / "HEAD")
    name = head.removeprefix("ref: ")
    commit = head if _HASH.match(head) else _commit(place, name)
    branch = name.removeprefix("refs/heads/")
    told = ["no branch" if name == head else f"branch {branch}" if _NAME.match(branch) else "a branch"]
    told += [f"commit {commit[:10]}" if commit else "no commit yet"]
    told += dict.fromkeys(f"{what} is under way" for mark, what in _UNDER_WAY.items() if (place / mark).exists())
    return ", ".join(told)


def _repository(folder: Path) -> Path | None:
    """The folder in which git keeps what it knows about `folder`; a worktree has a file that names it."""
    mark = folder / ".git"
    if mark.is_dir():
        return mark if (mark / "HEAD").is_file() else None
    named = _text(mark)
    if not named.startswith("gitdir: "):
        return None
    place = folder / named.removeprefix("gitdir: ")
    return place if (place / "HEAD").is_file() else None


def _commit(place: Path, name: str) -> str:
    """The commit that `name` is at; empty if there is none yet. A worktree shares its branches with the others."""
    if not name.startswith("refs/") or ".." in name:
        return ""
    common = place / (_text(place / "commondir") or ".")
    loose = _text(common / name)
    if _HASH.match(loose):
        return loose
    packed = (line.partition(" ") for line in _text(common / "packed-refs").splitlines())
    return next((found for found, _, known in packed if known == name and _HASH.match(found)), "")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""
