"""Whether the programs that a tool starts are in a sandbox, as far as approval has to know."""

from __future__ import annotations

from msgspec import Struct


class Isolation(Struct, frozen=True):
    """What holds for the programs of a tool.

    `words` tell a person; `is_missing` says that a sandbox was wanted and this system has none.
    """

    holds: bool
    words: str
    is_missing: bool = False
