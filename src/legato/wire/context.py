"""What an encoder may know about its target: all that shapes how a unit is encoded, beside the unit itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from legato.model import CallId, Foreign, Origin, Target
from legato.model.enums import FastStrEnum


class End(FastStrEnum):
    """How the last encoded unit ended: all that the next one may know about what came before."""

    START = "start"
    HUMAN = "human"
    ANSWER = "answer"
    RESULTS = "results"


class Thoughts(FastStrEnum):
    """What becomes of the thoughts of an answer."""

    SHOWN = "shown"
    """they are sent, as far as the target can read them"""
    HELD_BACK = "held-back"
    """the caller's policy leaves them out"""
    SILENCED = "silenced"
    """the model's own are left out: thinking is off, and the answer belongs to the open tool loop"""


class Names(Protocol):
    """The projection of tool names for one target."""

    def project(self, name: str, namespace: str = "") -> str:
        """The name that the target accepts for `name`; one name for both, where there is a namespace."""
        ...

    def restore(self, wire_name: str) -> str:
        """The name that `wire_name` stands for; that of a tool in a namespace stands for itself."""
        ...

    def namespaced(self, wire_name: str) -> tuple[str, str] | None:
        """The namespace and the name that `wire_name` stands for; None if it is no tool of a namespace."""
        ...


class EncodeContext(Struct, frozen=True):
    """What is known about one target.

    `ids` maps our call id to the target's. `thinking_on` says whether the model will think in its next answer.
    `is_home` says whether native data from an origin may be sent: it is the target's own, and not refused before.
    `withheld` are the calls whose media the target's provider refused.
    """

    target: Target
    ids: Mapping[CallId, str]
    names: Names
    is_home: Callable[[Origin | None], bool]
    thinking_on: bool = False
    foreign: Foreign = Foreign.DROP
    withheld: frozenset[CallId] = frozenset()
