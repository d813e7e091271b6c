"""What the words of a shell command say, as far as that can be told without running a shell.

In:  the text of a command.
Out: its words, whether it is a single command, and which paths it may mention.

A shell computes what it runs: variables, substitutions and aliases are not looked through here. So nothing in this
module proves a command harmless. It finds reasons to ask.
"""

from __future__ import annotations

import re
from typing import NamedTuple

COMPOUND = frozenset(";&|`$<>(){}\n\r\\")
"""characters with which a shell begins something else than a further word: another command, a redirection, a
substitution; outside of quotes, and some of them inside"""

# Expressions are compiled when a first command is looked at: many a session never sees one.
_QUOTED = r"""'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)"""
_PIECES = rf"{_QUOTED}|(?P<space>\s+)|(?P<plain>.)"
_NEUTRAL = "\N{REPLACEMENT CHARACTER}"
"""takes the place of a wildcard that quotes have made an ordinary character"""
_BETWEEN_PATHS = r"[\s;&|<>(){}=,:@`$'\"!^#%]+"
_OPTION_BEFORE_PATH = r"^-{1,2}[A-Za-z]+(?=[./~])"

_FURTHER_OPTIONS: dict[str, tuple[str, ...]] = {
    "git": ("--output", "--no-index", "--contents", "--open-files-in-pager", "-O"),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("--exec", "--exec-batch", "-x", "-X"),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("--output", "--compress-program", "-o"),
    "tree": ("-o",),
}
"""options by which a program that is known for reading the project writes a file, runs a program, or reads elsewhere"""
_CLUSTERING = frozenset({"fd", "sort", "tree"})
"""programs that take several options of one letter behind one dash"""


class Word(NamedTuple):
    """A word without its quotes; `globs` says that the shell may replace it by names of files."""

    text: str
    globs: bool = False


def split_words(command: str) -> list[Word]:
    """The words of `command` as a shell separates them; other syntax than quotes is left in them."""
    words: list[Word] = []
    text, globs, begun = "", False, False
    for piece in re.finditer(_PIECES, f"{command} ", re.DOTALL):
        if piece["space"] is None:
            begun = True
            text += piece["plain"] or _content(piece)
            globs = globs or (piece["plain"] or " ") in "*?["
        elif begun:
            words.append(Word(text, globs))
            text, globs, begun = "", False, False
    return words


def _content(quoted: re.Match[str]) -> str:
    return quoted["single"] or quoted["double"] or quoted["escaped"] or ""


def is_single(command: str) -> bool:
    """Whether `command` is one command with plain words: nothing chained, redirected, substituted or on a new line."""
    return bool(command.strip()) and not COMPOUND & set(command)


def candidates(command: str) -> list[str]:
    """Every piece of `command` that may be a path, once each; wildcards in quotes are no wildcards any more."""
    unquoted = re.sub(_QUOTED, _without_wildcards, command, flags=re.DOTALL)
    pieces = dict.fromkeys(re.split(_BETWEEN_PATHS, unquoted))
    if unquoted != command:  # a path with spaces in it
        pieces |= dict.fromkeys(word.text for word in split_words(command) if " " in word.text and not word.globs)
    return [re.sub(_OPTION_BEFORE_PATH, "", piece) if piece[0] == "-" else piece for piece in pieces if piece]


def _without_wildcards(quoted: re.Match[str]) -> str:
    return re.sub(r"[*?\[]", _NEUTRAL, _content(quoted))


def goes_further(command: str, allowed: str) -> bool:
    """Whether `command` does more than its program is known for, by an option that the pattern `allowed` leaves out.

    A wildcard that the shell would replace counts where it may become an option: a file can be called `--output=x`.
    """
    words = split_words(command)
    program = words[0].text.rpartition("/")[2] if words else ""
    if program not in _FURTHER_OPTIONS:
        return False
    named = {word.text.partition("=")[0] for word in split_words(allowed)}
    is_diff = program == "git" and "diff" in [word.text for word in words]
    for word in words[1:]:
        name = word.text.partition("=")[0]
        if word.globs and word.text[0] in "-*?[":
            return True
        if is_diff and word.text not in named and _leads_out(word.text):
            return True
        if name not in named and any(_means(name, option, program) for option in _FURTHER_OPTIONS[program]):
            return True
    return False


def _leads_out(path: str) -> bool:
    """Whether `path` may be outside of the folder; `git diff` compares any two files if one of them is."""
    return path.startswith(("/", "~")) or ".." in path.split("/")


def _means(name: str, option: str, program: str) -> bool:
    """Whether `name` is `option`: abbreviated if it is a long one, with its value or with others if it is a letter."""
    if option.startswith("--"):
        return len(name) > 2 and option.startswith(name)
    is_cluster = program in _CLUSTERING and re.match(r"-[^-]", name) is not None
    return name.startswith(option) or (is_cluster and option[1] in name)
