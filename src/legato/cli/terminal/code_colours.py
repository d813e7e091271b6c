"""Code in colours, line by line, as it is being written.

A line is coloured when it is complete, by what precedes it: the colours of a line never change afterwards, however the
code goes on and in whatever pieces it comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from legato.cli.terminal.spans import StyledText
from legato.cli.terminal.styles import Style

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_BEFORE = 40
"""lines before a line that decide about its colours: our choice, longer strings and comments are rare"""
_LONGEST = 2_000
"""characters of a line that is still coloured"""


class CodeColours:
    """Colours the lines of one block of code in `language`, which may be unknown or empty."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._lines: list[str] = []

    def line(self, text: str) -> list[StyledText]:
        """The next line of the code, without its line end."""
        if self._lexer is None or len(text) > _LONGEST:
            return [StyledText(text)]
        self._lines = [*self._lines[-_BEFORE:], text]
        before = sum(len(line) + 1 for line in self._lines[:-1])
        spans: list[StyledText] = []
        at = 0
        for token, value in self._lexer.get_tokens("\n".join(self._lines)):
            seen = value[max(before - at, 0) :].rstrip("\n")
            if seen:
                spans.append(StyledText(seen, _style(str(token))))
            at += len(value)
        # A lexer may change what it reads (line ends, bytes that it cannot read): what is shown is what was written.
        return spans if "".join(span.text for span in spans) == text else [StyledText(text)]


def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    from pygments import lexers
    from pygments.util import ClassNotFound

    try:
        kind = cast("type[Lexer] | None", lexers.find_lexer_class_by_name(language.lower()))
        return None if kind is None else kind(stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_STYLES = (
    ("Token.Comment", Style.DIM),
    ("Token.Keyword", Style.MAGENTA),
    ("Token.Operator.Word", Style.MAGENTA),
    ("Token.Literal.String", Style.GREEN),
    ("Token.Literal.Number", Style.CYAN),
    ("Token.Name.Function", Style.BLUE),
    ("Token.Name.Class", Style.BLUE),
    ("Token.Name.Tag", Style.BLUE),
    ("Token.Name.Builtin", Style.CYAN),
    ("Token.Name.Decorator", Style.YELLOW),
    ("Token.Generic.Inserted", Style.GREEN),
    ("Token.Generic.Deleted", Style.RED),
    ("Token.Generic.Heading", Style.BOLD),
)


def _style(token: str) -> str:
    return next((style.value for kind, style in _STYLES if token.startswith(kind)), "")
