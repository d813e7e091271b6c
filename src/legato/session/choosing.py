"""Who answers, as far as a profile and a log can tell."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Record
from legato.model.records import RouteSelected, TurnBegan
from legato.routing import Profile, Router
from legato.world import World


def router_for(profile: Profile, world: World, log: Sequence[Record]) -> Router:
    """A router in `world`; a rotation goes on where the last turn in `log` was."""
    last = next((record.route for record in reversed(log) if isinstance(record, TurnBegan)), None)
    return Router(
        profile,
        clock=world.monotonic,
        chance=world.chance,
        health=world.health,
        budget=world.budget,
        patience=world.patience,
        last=last,
    )


def last_route(log: Sequence[Record]) -> str | None:
    """Who was selected, or answered, last; None if no one was."""
    return next((record.route for record in reversed(log) if isinstance(record, RouteSelected | TurnBegan)), None)
