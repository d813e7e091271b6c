"""Text exactly as it is, for a person who decides by it: what is hidden is made visible.

A command that is shown for approval must be the command that runs. Whatever a terminal would obey, would not show, or
would show as something else (a space that is none) is written as an escape; a long run of spaces, which would push the
rest out of sight, is counted. Nothing is left out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_KEPT = frozenset("\n\t")
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f")
_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_MANY_SPACES = re.compile(r" {61,}")


def reveal(text: str) -> str:
    """`text` with everything hidden in it shown as escapes; lines and tabs stay."""
    if text.isascii() and text.isprintable():
        return _count_spaces(text)
    return _count_spaces("".join(map(_shown, text)))


def reveal_line(text: str) -> str:
    """The same as one line: line ends and tabs are shown too."""
    return reveal(text).replace("\n", "\\n").replace("\t", "\\t")


@cache
def _shown(character: str) -> str:
    if character in _KEPT or (character.isascii() and character.isprintable()):
        return character
    # C: control, format, surrogate, private, unassigned; Z: separators, all but the plain space.
    if unicodedata.category(character)[0] in "CZ" or character in _BLANK_LETTERS or _SELECTORS.match(character):
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character


def _count_spaces(text: str) -> str:
    return _MANY_SPACES.sub(lambda match: f"⟨{len(match[0])} spaces⟩", text)
