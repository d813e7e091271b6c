"""Long output, folded: the beginning, the end, and how much lies between them."""

from __future__ import annotations

from legato.cli.terminal.filter import harmless

MAX_COLUMNS = 400
"""a longer line is cut: no one reads it, and it would fill the screen"""


def fold(text: str, lines: int) -> list[str]:
    """`text` as at most `lines` harmless lines and one that says what is left out."""
    # Only what can be seen is looked at: an output may have megabytes.
    rows = text.split("\n")
    while rows and not rows[-1].strip():
        rows.pop()
    if len(rows) <= lines + 1:
        return [_row(row) for row in rows]
    head = max(lines * 2 // 3, 1)
    tail = lines - head
    folded = f"… {len(rows) - lines:,} more lines …"
    return [*map(_row, rows[:head]), folded, *(map(_row, rows[-tail:]) if tail else ())]


def _row(row: str) -> str:
    shown = harmless(row[: MAX_COLUMNS + 1]).replace("\n", " ").rstrip()
    return shown if len(row) <= MAX_COLUMNS else f"{shown[:MAX_COLUMNS]}… ({len(row):,} characters)"
