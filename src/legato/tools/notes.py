"""What happened beside the normal course of a batch: worth knowing, no part of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from legato.model import CallId


class NoteKind(StrEnum):
    """What it was."""

    LATE_RETURN = "late-return"
    DUPLICATE = "duplicate-call"
    NOT_COMMITTED = "not-committed"
    NOT_PUBLISHED = "not-published"
    NOT_SPILLED = "not-spilled"
    APPROVER_FAILED = "approver-failed"
    STRAY_RULING = "stray-ruling"


class ToolNote(Struct, frozen=True):
    """One such thing, and the call it concerns."""

    kind: NoteKind
    call: CallId
    detail: str


Noted: TypeAlias = Callable[[ToolNote], None]
