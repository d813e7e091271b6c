"""Markdown within a line: code, bold, italic, struck text and links.

In:  one line, or the beginning of one that is still being written.
Out: pieces of text with their styles, and how much of the line cannot change any more, whatever follows.

Signs go away only where a style says what they said; whatever is no complete construct stays as it is written, so no
letter is ever lost. A construct ends within `_LONGEST` characters: then the time to read a line grows with its length
alone, and a sign that no one closes does not hold back the rest of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from legato.cli.terminal.spans import StyledText, join_sgr
from legato.cli.terminal.styles import Style

_LONGEST = 500
"""characters within which a construct ends: our choice, a long sentence"""
_DEEPEST = 4
"""constructs within each other that are looked at"""


class Piece(NamedTuple):
    """A part of the line from `start` to `end`; plain text is shown as it is written."""

    start: int
    end: int
    spans: tuple[StyledText, ...]
    is_plain: bool


class _Construct(NamedTuple):
    pattern: re.Pattern[str]
    style: Callable[[re.Match[str], str, int], tuple[StyledText, ...]]


def _inner(style: Style) -> Callable[[re.Match[str], str, int], tuple[StyledText, ...]]:
    def styled(match: re.Match[str], sgr: str, depth: int) -> tuple[StyledText, ...]:
        return inline_spans(match[1], join_sgr(sgr, style), depth + 1)

    return styled


def _code(match: re.Match[str], sgr: str, depth: int) -> tuple[StyledText, ...]:
    text = match[2]
    if len(text) > 2 and text[0] == text[-1] == " " and text.strip():
        text = text[1:-1]  # the spaces that let a code begin or end with a backtick
    return (StyledText(text, join_sgr(sgr, Style.CYAN)),)


def _link(match: re.Match[str], sgr: str, depth: int) -> tuple[StyledText, ...]:
    words, address = match[1], match[2]
    shown = inline_spans(words, join_sgr(sgr, Style.UNDERLINE), depth + 1)
    # The address is always there to be read: words can say anything.
    return shown if words == address else (*shown, StyledText(f" ({address})", join_sgr(sgr, Style.DIM)))


_CONSTRUCTS = {
    sign: [_Construct(re.compile(pattern.replace("MANY", f"{{0,{_LONGEST}}}?")), style) for pattern, style in patterns]
    for sign, patterns in {
        "`": [(r"(`+)(?!`)((?:.)MANY.)(?<!`)\1(?!`)", _code)],
        "*": [
            (r"\*\*(?=\S)((?:.)MANY\S)\*\*(?!\*)", _inner(Style.BOLD)),
            (r"\*(?=[^\s*])((?:.)MANY[^\s*])\*(?!\*)", _inner(Style.ITALIC)),
        ],
        "_": [
            (r"(?<![A-Za-z0-9_])__(?=\S)((?:.)MANY\S)__(?![A-Za-z0-9_])", _inner(Style.BOLD)),
            (r"(?<![A-Za-z0-9_])_(?=[^\s_])((?:.)MANY[^\s_])_(?![A-Za-z0-9_])", _inner(Style.ITALIC)),
        ],
        "~": [(r"~~(?=\S)((?:.)MANY\S)~~(?!~)", _inner(Style.STRUCK))],
        "[": [(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)", _link)],
    }.items()
}  # fmt: skip
_SIGN = re.compile(r"`+|\*+|_+|~+|\[|\\[!-/:-@\[-`{-~]")
_NO_LINK = re.compile(r"\[[^\[\]]*(?:\[|\][^(])")
_LONGEST_LINK = 2_400
"""characters behind a sign after which it begins nothing any more: our choice, room for a link of the longest kind"""


def inline_spans(text: str, sgr: str = "", depth: int = 0) -> tuple[StyledText, ...]:
    """`text` with its styles; `sgr` is the style around it."""
    if depth >= _DEEPEST:
        return (StyledText(text, sgr),)
    return tuple(span for piece in parse_inline(text, sgr, depth) for span in piece.spans)


def parse_inline(text: str, sgr: str = "", depth: int = 0, *, start: int = 0) -> list[Piece]:
    """The pieces of `text` from `start` on, one behind the other."""
    pieces: list[Piece] = []
    done = at = start

    def plain(until: int) -> None:
        if until > done:
            pieces.append(Piece(done, until, (StyledText(text[done:until], sgr),), is_plain=True))

    while (sign := _SIGN.search(text, at)) is not None:
        if sign[0][0] == "\\":
            plain(sign.start())
            pieces.append(Piece(sign.start(), sign.end(), (StyledText(sign[0][1], sgr),), is_plain=False))
            done = at = sign.end()
            continue
        found = _construct_at(text, sign.start())
        if found is None:
            at = sign.end()  # only the first of a run of signs begins something
            continue
        match, style = found
        plain(match.start())
        pieces.append(Piece(match.start(), match.end(), style(match, sgr, depth), is_plain=False))
        done = at = match.end()
    plain(len(text))
    return pieces


def _construct_at(
    text: str, at: int
) -> tuple[re.Match[str], Callable[[re.Match[str], str, int], tuple[StyledText, ...]]] | None:
    for pattern, style in _CONSTRUCTS[text[at]]:
        if (match := pattern.match(text, at)) is not None:
            return match, style
    return None


def settled(text: str, pieces: list[Piece]) -> int:
    """How much of `text`, counted from its beginning, means the same whatever is written behind it."""
    for piece in pieces:
        if not piece.is_plain:
            if piece.end == len(text):
                return piece.start  # the next letter may say that this is no end
            continue
        for sign in _SIGN.finditer(text, piece.start, piece.end):
            if _may_begin(text, sign):
                return sign.start()
    return len(text) - 1 if text.endswith("\\") else len(text)


def _may_begin(text: str, sign: re.Match[str]) -> bool:
    """Whether text that is still to come can make `sign`, which begins nothing yet, the beginning of something."""
    if len(text) - sign.start() > _LONGEST_LINK:
        return False
    kind, is_last = sign[0][0], sign.end() == len(text)
    if kind == "_" and sign.start() and re.match(r"[A-Za-z0-9_]", text[sign.start() - 1]):
        return False
    if kind == "[":
        return _NO_LINK.match(text, sign.start()) is None
    return kind == "`" or is_last or not text[sign.end()].isspace()
