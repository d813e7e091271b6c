"""What `legato doctor` finds: one check for each thing that it looks at."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Health(StrEnum):
    """How a thing is."""

    WELL = "ok"
    NOTE = "note"
    """worth knowing; nothing is broken"""
    BROKEN = "broken"


class DoctorCheck(Struct, frozen=True):
    """What was looked at, how it is, and what to do about it."""

    about: str
    health: Health
    told: str
