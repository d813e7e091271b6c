"""The sections of docs/integrations.md as programs: a reader of the page has one framework, and types what is there.

In:  the page.
Out: for each framework the blocks of Python in its section, and what the page says that each of them prints.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*(?:<!-- output -->\s*)?```text\n(?P<printed>.*?)^```\n)?", re.M | re.S
)
_MARK = "--- the next block ---"


class Shown(NamedTuple):
    """A block of a section; `printed` is None where the page does not say what it prints."""

    code: str
    printed: str | None


def section_of(page: str, heading: str) -> list[Shown]:
    """The blocks below the heading that begins with `heading`, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}.*?\n(?P<text>.*?)(?=^## |\Z)", page, re.M | re.S)
    text = found["text"] if found else ""
    return [Shown(block["code"], block["printed"]) for block in _BLOCK.finditer(text)]


def program(blocks: list[Shown]) -> str:
    """The blocks as one program, which marks where each of them ends."""
    return "\n".join(f"{block.code}\nprint({_MARK!r}, flush=True)" for block in blocks)


def differing(blocks: list[Shown], printed: str) -> list[str]:
    """What the program printed where the page says something else."""
    parts = [part.strip() for part in printed.split(f"{_MARK}\n")]
    told = [*parts, *([""] * len(blocks))]
    return [
        f"the page says {block.printed.strip()!r}, and it printed {part!r}"
        for block, part in zip(blocks, told, strict=False)
        if block.printed is not None and block.printed.strip() != part
    ]
