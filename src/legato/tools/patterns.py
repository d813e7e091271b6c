"""Globs for paths, for commands and for names.

    path     `*` and `?` stay inside one folder, `**` crosses folders
    command  `*` crosses everything; a final ` *` also matches when nothing follows
    strict   as command, but `*` and `?` never match a character with which a shell begins something else

A rule that allows a command must not allow what is chained behind it: `git status *` is no permission for
`git status; rm -r .`. A rule that forbids one is tried on each command of a chain. That is a guard rail: a shell has
more ways to hide a command than a pattern can see.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum

from legato.tools.commands import COMPOUND

_CHAINING = "".join(map(re.escape, sorted(COMPOUND)))
_CHAIN = re.compile(r"&&|\|\||[;&|`\n\r(){}]|\$\(|<\(|>\(")


class GlobKind(StrEnum):
    """How wildcards are read."""

    PATH = "path"
    COMMAND = "command"
    STRICT = "strict"


_ONE = {GlobKind.PATH: "[^/]", GlobKind.COMMAND: ".", GlobKind.STRICT: f"[^{_CHAINING}]"}


def matches(glob: str, text: str, kind: GlobKind) -> bool:
    """Whether the whole of `text` matches `glob`."""
    return compile_glob(glob, kind).fullmatch(text) is not None


@functools.lru_cache(maxsize=512)
def compile_glob(glob: str, kind: GlobKind) -> re.Pattern[str]:
    """`glob` as an expression; `[` has no meaning, `\\` takes the meaning from what follows it."""
    one = _ONE[kind]
    end = ""
    if kind is not GlobKind.PATH and glob.endswith(" *") and not glob.endswith("\\ *"):
        glob, end = glob[:-2], f"(?: {one}*)?"
    parts: list[str] = []
    at = 0
    while at < len(glob):
        if kind is GlobKind.PATH and glob.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            parts.append(".*" if kind is GlobKind.PATH else f"{one}*")
            at += 2
        elif glob[at] in "*?":
            parts.append(f"{one}*" if glob[at] == "*" else one)
            at += 1
        else:
            if glob[at] == "\\" and at + 1 < len(glob):
                at += 1
            parts.append(re.escape(glob[at]))
            at += 1
    return re.compile("".join(parts) + end, re.DOTALL)


def escape(text: str) -> str:
    """The glob that matches `text` and nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def split_chain(command: str) -> list[str]:
    """The commands that a shell would probably run for `command`, one after the other or inside each other."""
    return [part.strip() for part in _CHAIN.split(command) if part.strip()]
