"""Long pastes: a placeholder in the line, the whole text in the message."""

from __future__ import annotations

import re

MOST_LINES = 10
"""lines of a paste that are shown as they are: our choice, more would push the conversation off a small screen"""
_PLACEHOLDER = re.compile(r"\[pasted text #(\d+), [\d,]+ lines\]")


class Pastes:
    """What was pasted, by the number in its placeholder."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def shorten(self, pasted: str) -> str:
        """What stands in the line for `pasted`: the text itself, or a placeholder if it is long."""
        text = pasted.replace("\r\n", "\n").replace("\r", "\n")
        count = text.rstrip("\n").count("\n") + 1
        if count <= MOST_LINES:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        return f"[pasted text #{number}, {count:,} lines]"

    def expand(self, line: str) -> str:
        """`line` with the texts that its placeholders stand for."""
        return _PLACEHOLDER.sub(lambda match: self._texts.get(int(match[1]), match[0]), line)
