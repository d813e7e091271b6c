"""What a change does to a text, as a unified diff.

The person who is asked sees it before, and sees all of it; the model that made the change sees it after, shortened.
"""

from __future__ import annotations

from itertools import islice

FOR_A_MODEL = 400
"""lines of a difference that go back to the model"""
_MAX_TEXT = 2_000_000
"""characters up to which a change is shown line by line: our choice, beyond it the comparison takes seconds"""


def unified(before: str, after: str, *, path: str, most: int | None = None) -> str:
    """The difference, with three lines of context, in at most so many lines; empty if there is none."""
    if len(before) + len(after) > _MAX_TEXT:
        return f"{path}: {len(before):,} characters become {len(after):,}"
    from difflib import unified_diff  # slow to load, and many a session edits nothing

    lines = unified_diff(before.splitlines(), after.splitlines(), fromfile=f"a/{path}", tofile=f"b/{path}", lineterm="")
    kept = list(islice(lines, None if most is None else most + 1))
    if most is not None and len(kept) > most:
        kept[-1] = "[the rest of the difference is not shown]"
    if not kept and before != after:
        return f"{path}: only line ends differ"
    return "\n".join(kept)
