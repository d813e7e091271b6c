"""Text of a model on a screen, while it streams: filtered, and on a terminal laid out as Markdown.

Where nothing can be erased (a pipe, a terminal that only has lines) the text is written as it comes. A live terminal
gets rows that are final, and a preview of the others.
"""

from __future__ import annotations

from legato.cli.terminal.filter import TerminalFilter, harmless
from legato.cli.terminal.markdown import MarkdownStream
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style


def text_rows(text: str, screen: Screen) -> list[str]:
    """A whole text as the rows that `screen` would have shown of it, had it streamed."""
    if not screen.is_live:
        return harmless(text).rstrip("\n").split("\n")
    rows, width = MarkdownStream(has_styles=screen.has_colour), screen.width - 1
    return [*rows.feed(harmless(text), width), *rows.end(width)]


class StreamedText:
    """One text, from its first piece to its end."""

    def __init__(self, screen: Screen, style: Style | None = None) -> None:
        """Text in a style of its own has no Markdown in it."""
        self._screen, self._style = screen, style
        self._filter = TerminalFilter()
        self._rows = MarkdownStream(style or "", has_styles=style is None and screen.has_colour)
        if style is not None and not screen.has_colour:
            self._rows = MarkdownStream(has_styles=False)

    def feed(self, text: str) -> None:
        """More of it."""
        self._write(self._filter.feed(text))

    def end(self) -> None:
        """Nothing more comes; what was held back is shown."""
        self._write(self._filter.flush())
        if self._screen.is_live:
            self._show(self._rows.end(self._width))
            self._screen.preview(())
        self._screen.fresh_line()

    @property
    def _width(self) -> int:
        return self._screen.width - 1  # terminals differ about a few letters

    def _write(self, harmless: str) -> None:
        if not self._screen.is_live:
            self._screen.write(harmless, self._style)
            return
        self._show(self._rows.feed(harmless, self._width))
        self._screen.preview(self._rows.pending(self._width))

    def _show(self, rows: list[str]) -> None:
        for row in rows:
            self._screen.row(row)
