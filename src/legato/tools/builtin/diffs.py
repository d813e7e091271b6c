"""What a change does to a text, as a unified diff of bounded size.

The person who is asked sees it before, the model that made the change sees it after.
"""

from __future__ import annotations

import difflib
from itertools import islice

_MAX_LINES = 400
_MAX_TEXT = 2_000_000


def unified(before: str, after: str, *, path: str) -> str:
    """The difference, with three lines of context; empty if there is none."""
    if len(before) + len(after) > _MAX_TEXT:
        return f"{path}: {len(before):,} characters become {len(after):,}"
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), fromfile=f"a/{path}", tofile=f"b/{path}", lineterm=""
    )
    kept = list(islice(lines, _MAX_LINES + 1))
    if len(kept) > _MAX_LINES:
        kept[-1] = "[the rest of the difference is not shown]"
    if not kept and before != after:
        return f"{path}: only line ends differ"
    return "\n".join(kept)
