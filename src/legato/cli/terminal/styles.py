"""A few styles, and where they are wanted.

Colours are for terminals that have them and people who want them: `--color`, then NO_COLOR, then what the terminal
says. What a colour says is said in words or signs as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO


class Style(StrEnum):
    """How a piece of text looks; the value is its SGR parameter."""

    DIM = "2"
    BOLD = "1"
    ITALIC = "3"
    UNDERLINE = "4"
    STRUCK = "9"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    BLUE = "34"
    MAGENTA = "35"
    CYAN = "36"


class ColorChoice(StrEnum):
    """When colours are used."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def paint(text: str, style: Style) -> str:
    """`text` in `style`, line by line, so that no style reaches over the end of a line."""
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if line else line for line in text.split("\n"))


def is_dumb(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal can do nothing but write lines."""
    variables = os.environ if environment is None else environment
    return variables.get("TERM", "").lower() in ("dumb", "unknown", "")


def wants_colour(stream: TextIO, choice: ColorChoice, environment: Mapping[str, str] | None = None) -> bool:
    """Whether text on `stream` is coloured."""
    variables = os.environ if environment is None else environment
    if choice is not ColorChoice.AUTO:
        return choice is ColorChoice.ALWAYS
    return not variables.get("NO_COLOR") and not is_dumb(variables) and stream.isatty()
