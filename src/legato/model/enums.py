"""The enum that closed sets of words are made of.

Its members are strings and hash as fast as strings do: states, kinds and roles are looked up in tables all the
time, and the hash that Python gives to enums is a function written in Python. Loops that run for every block also keep
the members they need under names of their own: up to Python 3.11 the way from the class to a member is a slow one.
"""

from __future__ import annotations

from enum import StrEnum


class FastStrEnum(StrEnum):
    """An enum of strings with the hash of a string."""

    __hash__ = str.__hash__
