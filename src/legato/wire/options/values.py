"""What a field of a body is taken for: the value if it has the right type, None if not, so that it is left alone."""

from __future__ import annotations

from legato.model.json_access import as_text
from legato.wire.options.efforts import effort_word


def number(value: object) -> float | None:
    """`value` if it is a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """`value` if it is a whole number."""
    return value if type(value) is int else None


def truth(value: object) -> bool | None:
    """`value` if it is true or false."""
    return value if type(value) is bool else None


def word(value: object) -> str | None:
    """`value` if it is a text with something in it."""
    return as_text(value) or None


def effort(value: object) -> str | None:
    """`value` as a word of the one scale of effort."""
    return effort_word(as_text(value)) or None
