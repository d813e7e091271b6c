"""Match globs in linear time, whatever they look like.

In:  a glob, what its wildcards may match, and a text.
Out: whether the whole text matches.

    path     `*` and `?` stay inside one folder, `**` crosses folders, `**/` may be nothing
    text     `*` and `?` match anything; a final ` *` also matches when nothing follows

`[` has no meaning, and `\\` takes the meaning from what follows it. A model writes globs, and so does a stranger's
project. As an expression, ten `**/` take minutes, so a glob with several wildcards is run as an automaton whose states
are the bits of one number: each character costs the same. What has one wildcard is an expression, which is faster.

This file imports the standard library alone: the process that searches files loads it without the package.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

PATH, TEXT = "path", "text"

_SHORT = 1_000
"""characters up to which an expression with two wildcards, which is quadratic, takes no time to speak of"""


class _Token(NamedTuple):
    """A character, or a wildcard: `*` and `?` inside a folder, `**` across them, `**/` that may be nothing."""

    text: str
    is_wild: bool = False


def matcher(glob: str, kind: str) -> Callable[[str], bool]:
    """What says whether a whole text matches `glob`."""
    return _Matcher(glob, kind).matches


@functools.lru_cache(maxsize=512)
def cached_matcher(glob: str, kind: str) -> Callable[[str], bool]:
    """The same, for a glob that is asked about again and again."""
    return matcher(glob, kind)


def covers(glob: str, path: str) -> bool:
    """Whether `glob` means `path` or a folder above it, as a careless file system compares names."""
    plain = _careless(glob).removeprefix("./").strip("/")
    name = _careless(path)
    return cached_matcher(plain, PATH)(name) or cached_matcher(f"{plain}/**", PATH)(name)


def _careless(name: str) -> str:
    return (name if name.isascii() else unicodedata.normalize("NFC", name)).casefold()


class _Matcher:
    def __init__(self, glob: str, kind: str) -> None:
        self._is_path = kind == PATH
        tokens = _tokens(glob, kind)
        self._has_end = kind == TEXT and [token.text for token in tokens[-2:]] == [" ", "*"] and tokens[-1].is_wild
        if self._has_end:
            tokens[-2:] = [_Token(" *", is_wild=True)]
        self._wild = sum(token.is_wild and token.text != "?" for token in tokens)
        self._expression = re.compile("".join(map(self._as_expression, tokens)), re.DOTALL)
        self._automaton: _Automaton | None = None
        self._tokens = tokens

    def matches(self, text: str) -> bool:
        if self._wild <= 1 or (self._wild == 2 and len(text) <= _SHORT):
            return self._expression.fullmatch(text) is not None
        if self._automaton is None:
            self._automaton = _Automaton(self._tokens, is_path=self._is_path)
        return self._automaton.matches(text)

    def _as_expression(self, token: _Token) -> str:
        one = "[^/]" if self._is_path else "."
        if not token.is_wild:
            return re.escape(token.text)
        return {"*": f"{one}*", "?": one, "**": ".*", "**/": "(?:.*/)?", " *": "(?: .*)?"}[token.text]


def _tokens(glob: str, kind: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(glob):
        wild = next((one for one in ("**/", "**", "*", "?") if glob.startswith(one, at)), "")
        if kind == TEXT and wild.startswith("*"):
            wild = "*"
        if wild:
            if not (tokens and wild != "?" and tokens[-1] == _Token(wild, is_wild=True)):  # twice is once
                tokens.append(_Token(wild, is_wild=True))
            at += len(wild)
            continue
        if glob[at] == "\\" and at + 1 < len(glob):
            at += 1
        tokens.append(_Token(glob[at]))
        at += 1
    return tokens


class _Automaton:
    """States are the places in a glob, as bits: a set bit says that everything before that place was matched."""

    def __init__(self, tokens: list[_Token], *, is_path: bool) -> None:
        self._on: dict[str, int] = {}
        """by character: the states from which it leads on"""
        self._on_any = self._on_inside = 0
        """the states from which every character leads on, and every one but `/`"""
        self._stays = self._stays_inside = 0
        """the states that every character, or every one but `/`, leaves as they are"""
        self._skips: list[tuple[int, int]] = []
        """from which state one is at the same time in which others"""
        state = 1
        for token in tokens:
            state = self._add(token, state, is_path=is_path)
        self._last = state

    def _add(self, token: _Token, state: int, *, is_path: bool) -> int:
        following = state << 1
        if not token.is_wild:
            self._on[token.text] = self._on.get(token.text, 0) | state
        elif token.text == "?":
            if is_path:
                self._on_inside |= state
            else:
                self._on_any |= state
        elif token.text in (
            "**/",
            " *",
        ):  # nothing, or an inner state; `**/` ends with its slash, ` *` begins with its space
            inner, following = following, following << 1
            self._stays |= inner
            if token.text == "**/":
                self._on["/"] = self._on.get("/", 0) | inner
                self._skips.append((state, inner | following))
            else:
                self._on[" "] = self._on.get(" ", 0) | state
                self._skips += [(state, following), (inner, following)]
        else:
            if is_path and token.text == "*":
                self._stays_inside |= state
            else:
                self._stays |= state
            self._skips.append((state, following))
        return following

    def matches(self, text: str) -> bool:
        states = self._closed(1)
        for letter in text:
            on, stays = self._on.get(letter, 0) | self._on_any, self._stays
            if letter != "/":
                on, stays = on | self._on_inside, stays | self._stays_inside
            states = self._closed(((states & on) << 1) | (states & stays))
            if not states:
                return False
        return bool(states & self._last)

    def _closed(self, states: int) -> int:
        # In the order of the glob: what one skip opens, a later one may skip further.
        for state, opened in self._skips:
            if states & state:
                states |= opened
        return states
