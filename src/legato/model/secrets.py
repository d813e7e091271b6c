"""Who holds secrets, so that what writes a log or a report can ask what to hide.

A key from a settings file is in no environment variable and may have any shape. Its holder enters
itself here and is forgotten with its last user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet


class Keeper(Protocol):
    """An object that holds secrets."""

    def secrets(self) -> Iterable[str]:
        """The secrets themselves, to be hidden wherever they are."""
        ...


KEEPERS: WeakSet[Keeper] = WeakSet()


def known_secrets() -> set[str]:
    """Every secret that is held at present."""
    return {secret for keeper in KEEPERS for secret in keeper.secrets()}
