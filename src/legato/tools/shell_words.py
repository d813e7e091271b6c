"""Read the words of a shell command: quotes, escapes, expansions, and the commands in substitutions.

In:  a text, and who reads the commands of a substitution.
Out: words freed from quotes, each with whether it is what a program would get.

A word that a shell computes as it runs is not literal. What is malformed is `Unclear`.
"""

from __future__ import annotations

import re

from msgspec import Struct

_DEEPEST = 12
"""substitutions inside each other"""
_BETWEEN = frozenset(" \t\n;&|<>()")

# Compiled when a first command is looked at: many a session never sees one.
_NAME = r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]"
_COMPUTED = r"\$\{[#!]?\w*(?:\[(?!\d+\]|[@*]\])|\[?[@*]?\]?:(?![-+=?]|\s*-?\d+\s*(?::\s*-?\d+\s*)?\}))|@[A-Za-z]\}\Z"
"""an expansion in which the shell calculates, or expands a second time"""
_BY_NUMBER = r"\\[xuUc0-7]"
"""an escape that may stand for any character, also for one that begins a substitution"""
QUOTED_COMMAND = r"[$<>](?:\\\n)*\(|`"
"""what is a substitution where quotes are taken away"""
_CONTINUED = "\\\n"
"""what a shell takes out of a text before it reads it, but for what is in single quotes"""
_BRACKETS = frozenset({"[", "[["})
"""commands, where they stand alone, and no wildcards"""


class Word(Struct, frozen=True):
    """A word without its quotes.

    A literal one is what the program gets, unless it `globs`: then names of files may take its place.
    """

    text: str
    is_literal: bool = True
    globs: bool = False


class Redirection(Struct, frozen=True):
    """Where input comes from or output goes to."""

    operator: str
    target: Word


class SimpleCommand(Struct, frozen=True):
    """A simple command: variables that are set for it, its words, its redirections."""

    words: tuple[Word, ...]
    assignments: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()


class _Computed(str):
    """A piece of a word that a shell puts in as it runs."""

    __slots__ = ()


class Unclear(Exception):
    """Something is not understood; says what."""


class WordReader:
    """Goes through a text once. What is found in substitutions is added where it is found."""

    def __init__(self, text: str, depth: int) -> None:
        self.found: list[SimpleCommand] = []
        self._text, self._at, self._depth = text, 0, depth

    def read_commands(self, *, until: str) -> None:
        """Read commands up to the character `until`, or to the end if that is empty, and add them to `found`."""
        raise NotImplementedError

    def read_substitutions(self) -> None:
        """Read the whole text as data, and add what runs in its substitutions."""
        while self._at < len(self._text):
            self._read_piece([], in_quotes=True)

    def _peek(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _read_word(self) -> Word:
        parts: list[str] = []
        plain: list[str] = []
        """what is not quoted, as far as braces and wildcards go"""
        is_literal = True
        while letter := self._peek():
            if letter in _BETWEEN and self._peek(2) not in ("<(", ">("):
                break
            if letter == "'":
                parts.append(self._single())
                plain.append("'")
            elif letter == '"':
                is_literal = self._double(parts) and is_literal
                plain.append("'")
            elif letter == "\\":
                if self._peek(2) == "\\":
                    raise Unclear("it ends with a backslash")
                parts.append("" if self._peek(2) == _CONTINUED else self._peek(2)[1])
                self._at += 2
                plain.append("'")
            elif letter in "$`" or letter in "<>":
                is_literal = self._read_piece(parts, in_quotes=False) and is_literal
                plain.append("'")
            else:
                self._at += 1
                parts.append(letter)
                plain.append(letter)
        if not is_literal and re.search(QUOTED_COMMAND, "".join(part for part in parts if type(part) is str)):
            raise Unclear("it holds a substitution in quotes")
        unquoted = "".join(plain)
        is_literal = is_literal and not _expands(unquoted)
        return Word("".join(parts), is_literal, unquoted not in _BRACKETS and bool(set("*?[") & set(unquoted)))

    def _single(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise Unclear("a quote in it is not closed")
        content = self._text[self._at + 1 : end]
        self._at = end + 1
        return content

    def _double(self, parts: list[str]) -> bool:
        """What is in double quotes, added to `parts`; whether it is literal."""
        self._at += 1
        is_literal = True
        while self._peek() != '"':
            if not self._peek():
                raise Unclear("a quote in it is not closed")
            is_literal = self._read_piece(parts, in_quotes=True) and is_literal
        self._at += 1
        return is_literal

    def _read_piece(self, parts: list[str], *, in_quotes: bool) -> bool:
        """One piece of what is in double quotes, or an expansion outside of them; whether it is literal."""
        letter, two = self._peek(), self._peek(2)
        if letter == "\\":
            if two == _CONTINUED:
                self._at += 2
                return True
            is_escape = len(two) == 2 and two[1] in '$`"\\'
            parts.append(two[1] if is_escape else letter)
            self._at += 2 if is_escape else 1
            return True
        begin = self._at
        if letter == "$" and self._text.startswith(_CONTINUED, begin + 1):
            raise Unclear("a line in it is broken behind a dollar sign")
        if letter == "`":
            self._backticks()
        elif two == "$(" or (not in_quotes and two in ("<(", ">(")):
            self._substitution()
        elif two == "${":
            self._at += 2
            self._depth += 1
            self.refuse_depth()
            self._braced(in_quotes=in_quotes)
            self._depth -= 1
            if re.search(_COMPUTED, self._text[begin : self._at].replace(_CONTINUED, "")):
                raise Unclear("it holds arithmetic")
        elif two == "$[":
            raise Unclear("it holds arithmetic")
        elif not in_quotes and two in ("$'", '$"'):
            return self._special_quotes(parts)
        elif letter == "$" and (found := re.compile(_NAME).match(self._text, self._at + 1)):
            self._at = found.end()
        else:
            self._at += 1
            parts.append(letter)
            return True
        parts.append(_Computed(self._text[begin : self._at]))
        return False

    def _special_quotes(self, parts: list[str]) -> bool:
        """`$'...'`, whose escapes are not read, and `$"..."`."""
        self._at += 1
        if self._peek() == '"':
            return self._double(parts)
        found = re.compile(r"'((?:[^'\\]|\\.)*+)'", re.DOTALL).match(self._text, self._at)
        if found is None:
            raise Unclear("a quote in it is not closed")
        if re.search(_BY_NUMBER, found[1]):
            raise Unclear("it holds characters by their number")
        self._at = found.end()
        parts.append(found[1])
        return "\\" not in found[1]

    def _substitution(self) -> None:
        if self._text.startswith(("(", _CONTINUED), self._at + 2):
            raise Unclear("it holds arithmetic")
        self._at += 2
        self._depth += 1
        self.refuse_depth()
        self.read_commands(until=")")
        self._depth -= 1

    def refuse_depth(self) -> None:
        """Raise `Unclear` where too much is inside each other."""
        if self._depth > _DEEPEST:
            raise Unclear("it is nested too deeply")

    def _backticks(self) -> None:
        found = re.compile(r"`((?:[^`\\]|\\.)*+)`", re.DOTALL).match(self._text, self._at)
        if found is None:
            raise Unclear("a quote in it is not closed")
        self._at = found.end()
        inner = type(self)(re.sub(r"\\([`\\$])", r"\1", found[1]), self._depth + 1)
        try:
            inner.refuse_depth()
            inner.read_commands(until="")
        finally:
            self.found += inner.found

    def _braced(self, *, in_quotes: bool) -> None:
        """The rest of `${...}`: data, but for substitutions.

        What a single quote means there depends on what is around it; newer shells run what is behind `${ ` and `${|`.
        """
        if re.compile(r"(?:\\\n)*[\s|]").match(self._text, self._at):
            raise Unclear("it holds a substitution that is not read")
        while (letter := self._peek()) != "}":
            if not letter:
                raise Unclear("something in it is not closed")
            if (in_quotes and letter == "'") or self._peek(2) in ("$'", "<(", ">("):
                raise Unclear("it holds an expansion that is not read")
            quoted: list[str] = []
            if letter == "\\":
                quoted = [self._peek(2)[1:], "("]
                self._at += 2
            elif letter == "'":
                quoted = [self._single()]
            elif letter == '"':
                self._double(quoted)
            else:
                self._read_piece([], in_quotes=True)
            if re.search(QUOTED_COMMAND, "".join(part for part in quoted if type(part) is str)):
                raise Unclear("it holds a substitution in quotes")
        self._at += 1


def _expands(unquoted: str) -> bool:
    """Whether a shell may make several words of it: `{a,b}`, `{1..3}`, one in the other too."""
    begin, end = unquoted.find("{"), unquoted.rfind("}")
    inside = unquoted[begin + 1 : end] if 0 <= begin < end else ""
    return "," in inside or ".." in inside
