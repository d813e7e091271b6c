"""What whoever runs a gateway sets: when routes take turns, and how much may be asked.

Plain values that load nothing else: every command reads the settings, and few of them serve.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

AtLeastOne: TypeAlias = Annotated[int, Meta(ge=1)]

MOST_AT_ONCE = 128
"""requests that a gateway answers at the same time unless it is told otherwise: our choice, each may hold a body"""

FIRST_SIGN = 30.0
"""seconds after which a stream begins although nobody has said anything: our choice. Qwen Code gives up after 120, many
proxies after 60; until then a failure is a status, which clients understand best"""


class SwitchAt(StrEnum):
    """When a profile that takes turns moves on to its next route."""

    TURN = "turn"
    """at messages of a person: calls and their results stay with the route that asked for them"""
    REQUEST = "request"
    """at every request, which is for tests and demonstrations"""


class TrafficLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much may be asked; what is unset has no limit."""

    concurrent: AtLeastOne | None = None
    """requests at the same time"""
    requests_per_minute: AtLeastOne | None = None
    tokens_per_minute: AtLeastOne | None = None
    """what was sent and what was answered, together"""
    tokens_per_day: AtLeastOne | None = None
