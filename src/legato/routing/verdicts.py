"""What to do after a request failed, as values.

The router decides, the session acts: it waits, sends, compacts or ends the turn, and records what it did.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from legato.errors import ProviderError
from legato.routing.routes import Route


class Retry(Struct, frozen=True):
    """Send the same request again on the same route, `after` so many seconds.

    `left` are the seconds for which it goes on being tried, where time and not a number of attempts is the limit.
    """

    after: float
    reason: str
    left: float | None = None


class NextRoute(Struct, frozen=True):
    """This route is lost for now: end the turn as failed and continue from the same log on `route`."""

    route: Route
    reason: str


class StripReasoning(Struct, frozen=True):
    """The provider refused its own reasoning: record that, and send once more on the same route without it."""


class ReplaceContent(Struct, frozen=True):
    """The provider cannot read what a tool's result holds: record that, and send once more with a note in its place."""


class Compact(Struct, frozen=True):
    """The conversation does not fit: compact it for this route's window, and send once more."""


class Stop(Struct, frozen=True):
    """The turn fails with `error`; no other route is asked."""

    reason: str
    error: ProviderError


RoutingVerdict: TypeAlias = Retry | NextRoute | StripReasoning | ReplaceContent | Compact | Stop
