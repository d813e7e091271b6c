"""Files that something runs by itself, and that no rule, mode or grant lets a model change unasked.

In:  a path, or the text of a command.
Out: why it is protected, or None.

A name is in the table if a program runs what is written there although no one told it to run that file: a version
control command, an editor or an agent that opens the folder, a shell that starts or enters it, a commit, a push. With
such a file, permission to edit files becomes permission to run anything: `.git/config` may name a program that
`git status` starts. What runs only when someone builds or tests the project (a Makefile, package.json, conftest.py,
the source itself) is not in the table: changing that is the work, and running it has a question of its own.

Names are compared at any depth, so nested repositories are covered, and as a careless file system compares them:
without case, without invisible characters, without dots and spaces at the end of a name.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import cast

from legato.model import Json, JsonObject
from legato.tools.commands import candidates

PROTECTED: dict[str, tuple[str, ...]] = {
    "version control runs the programs that it names": (
        # git~1 is how NTFS abbreviates .git; a WSL mount may accept it.
        ".git", "git~1", ".gitconfig", ".gitmodules", ".hg", ".hgrc", ".svn", ".jj",
        ".config/git", ".config/hg", ".config/jj",
    ),
    "an agent takes permissions, hooks or servers to start from it": (
        ".legato*", "legato.toml", ".mcp.json", ".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".windsurf",
        ".continue", ".kiro", ".roo", ".opencode", "opencode.json", ".aider.conf.yml",
        ".config/legato", ".local/share/legato", ".local/state/legato", "Library/Application Support/legato",
    ),
    "an editor or debugger that opens the folder runs what it says": (
        ".vscode", ".idea", ".zed", ".fleet", ".vs", ".devcontainer", ".devcontainer.json", "*.code-workspace",
        ".vim", ".vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".exrc", ".config/nvim",
        ".emacs", ".emacs.d", ".dir-locals.el", ".dir-locals-2.el", ".gdbinit", ".lldbinit", ".pdbrc",
    ),
    "a shell or a login runs it": (
        ".envrc", ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
        ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout",
        ".inputrc", ".config/fish", ".config/direnv", ".config/mise", ".mise.toml", "mise.toml", ".mise",
        ".tmux.conf", ".screenrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment",
        ".ssh", ".gnupg", ".local/bin", ".config/autostart", ".config/systemd", ".config/environment.d",
        "Library/LaunchAgents",
    ),
    "every commit runs it": (
        ".husky", ".githooks", ".git-hooks", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml",
        "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", ".lefthook",
    ),
    "a CI service runs it, often with secrets": (
        ".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab-ci.yml",
        ".gitlab-ci.yaml", ".gitlab/ci", ".circleci", ".travis.yml", ".cirrus.yml", ".drone.yml", ".woodpecker",
        ".woodpecker.yml", ".woodpecker.yaml", ".buildkite", ".semaphore", ".teamcity", ".tekton", ".azure-pipelines",
        "azure-pipelines*.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml",
        "cloudbuild.yml", "buildspec.yml", "Jenkinsfile",
    ),
    "a program reads it at every start and runs what it names": (
        ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo", ".ripgreprc", ".psqlrc", ".sqliterc", ".irbrc",
        ".Rprofile", ".Renviron", "sitecustomize.py", "usercustomize.py",
    ),
}  # fmt: skip
"""why, and the names of which that is true; a name of several parts means these folders, one in the other"""

YOURS = "it holds your own settings, or what you agreed to"
_ENTRIES = tuple((why, tuple(name.casefold().split("/"))) for why, names in PROTECTED.items() for name in names)
NESTED = tuple(name for names in PROTECTED.values() for name in names if "/" in name)
"""the names of several parts"""
_LAST_PARTS = frozenset(entry[-1] for _, entry in _ENTRIES if "*" not in entry[-1])
_LAST_PATTERNS = tuple(entry[-1] for _, entry in _ENTRIES if "*" in entry[-1])
_HOLDERS = {
    entry[:count]: f"{'/'.join(entry)} is protected: {why}"
    for why, entry in _ENTRIES
    if entry[0].startswith(".")
    for count in range(1, len(entry))
}
"""hidden folders that hold something protected: a command that names one may mean what is in it"""
_LONGEST_PATH = 4_096
"""characters of a path: what Linux takes (PATH_MAX); a longer text is none"""

_LONGEST_COMMAND = 100_000
"""characters of a command that are looked through: our choice, a longer one is asked about as a whole"""

_GLOB = frozenset("*?[")


class Protection:
    """The table, and further files or folders that belong to the user of this program.

    `folder` is the one that is worked in. Its own path does not count: who opens a folder below `.config` wants to work
    there.
    """

    def __init__(
        self,
        further: Iterable[str | os.PathLike[str]] = (),
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._further = tuple(fold(os.path.realpath(path)) for path in further)
        self._above = f"{fold(os.path.realpath(folder))}/" if folder is not None else ""

    @property
    def folder(self) -> str:
        """The folder that is worked in, folded; empty if none was named."""
        return self._above.rstrip("/")

    def of_files(self, names: Iterable[str]) -> str | None:
        """Why a file must not be changed unasked that is known by all of these names."""
        return self._why(sorted(fold(name) for name in names))

    def of_command(self, command: str) -> str | None:
        """Why a command must not run unasked: a word of it names something protected.

        Only what the words say: a command can reach a file without naming it, and a shell can build a name as it runs.
        """
        if len(command) > _LONGEST_COMMAND:
            return "it is too long to be looked through for protected files"
        return self._why_mentioned([fold(name) for name in candidates(command)])

    def of_arguments(self, arguments: JsonObject) -> str | None:
        """The same for a tool of which no one knows what it does: each text among its arguments that may be a path."""
        return self._why_mentioned([fold(text) for text in texts_in(arguments) if _may_be_path(text)])

    def _why(self, names: list[str]) -> str | None:
        for place in self._further:
            here = place.removeprefix(self._above)
            if any(f"{name}/".startswith((f"{place}/", f"{here}/")) for name in names):
                return f"{place.rpartition('/')[2]} is protected: {YOURS}"
        return _why_by_name("\n".join(self._inside(names)))

    def _why_mentioned(self, names: list[str]) -> str | None:
        """As `_why`, for words that may be patterns too, or a folder with something protected in it."""
        if why := self._why(names):
            return why
        names = self._inside(names)
        for parts in (tuple(name.split("/")[-2:]) for name in names):
            if why := _HOLDERS.get(parts) or _HOLDERS.get(parts[-1:]):
                return why
        globs = [name for name in names if _GLOB & set(name)]
        if sum(map(len, globs)) > _LONGEST_PATH:
            return "it holds more file patterns than are looked through for protected files"
        return next((why for name in globs if (why := _why_by_pattern(name.split("/")))), None)

    def _inside(self, names: list[str]) -> list[str]:
        return [name.removeprefix(self._above) for name in names]


def is_protected_name(name: str) -> bool:
    """Whether a file or folder of that name is protected wherever it is, or holds something that is."""
    folded = fold(name)
    return _why_by_name(folded) is not None or (folded,) in _HOLDERS


def may_be_protected(name: str) -> bool:
    """Whether a file of that name is protected in some folder: quick, to look through many names."""
    folded = fold(name)
    return folded in _LAST_PARTS or any(fnmatchcase(folded, pattern) for pattern in _LAST_PATTERNS)


def _why_by_name(paths: str) -> str | None:
    """Why, for folded paths, one in each line."""
    for why, expression in _expressions():
        if found := expression.search(paths):
            return f"{found[1]} is protected: {why}"
    return None


@lru_cache(maxsize=1)
def _expressions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The table as one expression for each reason."""
    compiled: list[tuple[str, re.Pattern[str]]] = []
    for why in PROTECTED:
        names = ("/".join(parts) for other, parts in _ENTRIES if other == why)
        either = "|".join(re.escape(name).replace(r"\*", r"[^/\n]*") for name in names)
        compiled.append((why, re.compile(rf"(?:^|(?<=/))({either})(?:/|$)", re.MULTILINE)))
    return tuple(compiled)


def _why_by_pattern(parts: list[str]) -> str | None:
    """Why, for a folded path with wildcards. One that begins with a wildcard may mean anything, and is no mention."""
    for why, entry in _ENTRIES:
        for start in range(len(parts)):
            window = parts[start : start + len(entry)]
            if len(window) < len(entry) and not entry[0].startswith("."):
                continue
            if window[0][:1] not in _GLOB and all(map(may_mean, window, entry)):
                return f"{'/'.join(entry)} is protected: {why}"
    return None


def may_mean(word: str, name: str) -> bool:
    """Whether a shell may put `name` where `word` is; hidden names are not found by a wildcard at their beginning."""
    if not _GLOB & set(word):
        return fnmatchcase(word, name)
    return fnmatchcase(name, word) and (word.startswith(".") or not name.startswith("."))


def fold(name: str) -> str:
    """`name` as a file system compares it that cares for little."""
    if not name.isascii():
        plain = unicodedata.normalize("NFC", name)
        name = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    parts = (part.rstrip(" .") or part for part in re.split(r"[/\\\n]", name.casefold()))
    return "/".join(part for part in parts if part not in ("", "."))


def _may_be_path(text: str) -> bool:
    if len(text) > _LONGEST_PATH or "\n" in text:
        return False
    return len(text.split()) == 1 or text.startswith(("/", "~/", "./", "../"))


def texts_in(value: Json) -> Iterator[str]:
    """Every text in `value`, however deep; names of fields are not looked at."""
    todo: list[Json] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            todo.extend(cast("JsonObject", item).values() if isinstance(item, dict) else cast("list[Json]", item))
