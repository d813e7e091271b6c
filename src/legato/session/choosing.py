"""Who answers, and what is asked of them, as far as it follows from values alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.model import Options, Record
from legato.model.records import RouteSelected, TurnBegan
from legato.routing import Profile, Route, Router
from legato.session.world import World


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
    """Who was selected, or answered, last; None if nobody was."""
    return next((record.route for record in reversed(log) if isinstance(record, RouteSelected | TurnBegan)), None)


def options_for(route: Route, general: Options) -> Options:
    """The `general` options with those of `route` over them; nothing of another route is among them."""
    defaults = Options()
    own = {
        name: value
        for name in Options.__struct_fields__
        if (value := getattr(route.options, name)) != getattr(defaults, name)
    }
    return replace(general, **own) if own else general
