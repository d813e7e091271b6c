"""The one way in which commands print: text for people goes through a net, data for programs goes out as it is.

What a file, a provider or a project says is made printable where it is put into a line. This is the net behind that:
whatever a line was made of, a terminal obeys nothing in it but the few colours that this program uses.
"""

from __future__ import annotations

import re

_OURS = r"\x1b\[(?:[012]|3[0-7])m"
"""the colours of this program: none of them hides what is there"""
_OBEYED = re.compile(rf"{_OURS}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
"""and halves of surrogate pairs, as names that are not UTF-8 hold them: most terminals cannot be sent any"""


def escape_controls(text: str) -> str:
    """`text` with everything that a terminal would obey as escapes; lines, tabs and our own colours stay."""
    return _OBEYED.sub(_escaped, text)


_UNFINISHED = re.compile(r"(?:\r|\x1b(?:\[(?:3|[012])?[0-7]?)?)\Z")


def unfinished_control(text: str) -> str:
    """The end of `text` that what follows it may make into a line end or a colour; so it is escaped with that."""
    found = _UNFINISHED.search(text)
    return found[0] if found else ""


def say(text: str, *, err: bool = False) -> None:
    """Print a line for a person. Colours go away where they are unwanted."""
    import click

    click.echo(escape_controls(text), err=err)  # noqa: TID251  # this is the one place


def say_data(text: str) -> None:
    """Print what a program reads, such as JSON, to the letter."""
    import click

    click.echo(text)  # noqa: TID251  # this is the one place


def _escaped(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) > 1:
        return found  # a colour of ours
    code = ord(found)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
