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


class RoughWord(NamedTuple):
    """A word without its quotes; `globs` says that the shell may replace it by names of files."""

    text: str
    globs: bool = False


def split_words(command: str) -> list[RoughWord]:
    """The words of `command` as a shell separates them; other syntax than quotes is left in them."""
    words: list[RoughWord] = []
    text, globs, begun = "", False, False
    for piece in re.finditer(_PIECES, f"{command} ", re.DOTALL):
        if piece["space"] is None:
            begun = True
            text += piece["plain"] or _content(piece)
            globs = globs or (piece["plain"] or " ") in "*?["
        elif begun:
            words.append(RoughWord(text, globs))
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
