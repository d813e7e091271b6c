"""Text from files, made safe and short enough for a terminal.

What a file holds was written by someone else: control characters could move the cursor or hide what is there, and
marks of writing direction could show one thing and mean another. They are shown as escapes.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def printable(text: str) -> str:
    """`text` with what a terminal would obey, or would not show, as escapes; tabs and newlines stay."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str, limit: int = 2_000) -> str:
    """`text` as one printable line of at most `limit` characters."""
    line = _SPACE.sub(" ", text[: limit * 2]).strip()
    return printable(line if len(line) <= limit and len(text) <= limit * 2 else f"{line[: limit - 1]}…")


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
