"""Which model answers next: all that are configured or known by name, with what a person wants to know of each.

In:  the settings, the catalogue, and the session.
Out: rows for a picker. What a switch would leave out and cost is told of the row that is marked, because the whole
conversation is rendered for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from legato.cli.models import KeyState, key_states, price_of, short_count
from legato.cli.providers import profiles_of
from legato.cli.settings.schema import Settings
from legato.cli.terminal.picker import Row
from legato.cli.terminal.words import dollars
from legato.errors import LegatoError
from legato.model import Usage
from legato.request import Catalogue
from legato.request.model_list import ListedModel, describe_route, list_models
from legato.request.prices import cost
from legato.session import Session, SwitchPreview

COLUMNS = ("key", "window", "in/out per M", "model")
"""of the picker; the model is last, because its name may be long: what is said before it stays in sight"""
_KEYS = {KeyState.FOUND: "key", KeyState.NOT_NEEDED: "keyless", KeyState.MISSING: "no key"}


def models_to_pick(catalogue: Catalogue, settings: Settings) -> list[ListedModel]:
    """The routes of profiles first, then the models of providers that can be asked, then all others that are known."""
    named = [route.name for profile in profiles_of(settings).values() for route in profile.routes]
    state = key_states(catalogue, settings)
    configured = [describe_route(catalogue, route) for route in dict.fromkeys(named)]
    known = [model for model in list_models(catalogue) if model.route not in named]
    return [*configured, *sorted(known, key=lambda model: state(model.provider) is KeyState.MISSING)]


def picker_rows(models: Sequence[ListedModel], session: Session, settings: Settings) -> list[Row]:
    """Rows with window, price and key, and what a switch would do."""
    state = key_states(session.world.catalogue, settings)
    return [
        Row(
            (
                _KEYS[state(model.provider)],
                short_count(model.window),
                f"${price}" if (price := price_of(model)) != "unknown" else "unknown",
                model.route,
            ),
            cache(partial(_about, session, model.route)),
            is_present=model.route == session.route,
        )
        for model in models
    ]


def _about(session: Session, route: str) -> str:
    try:
        return in_words(session.preview_switch(route), session)
    except LegatoError as error:
        return error.message


def in_words(preview: SwitchPreview, session: Session) -> str:
    """What a switch would do: how much is sent anew and for how much, and what is dropped or converted."""
    tokens = preview.tokens
    spent = cost(Usage(tokens, 0, 0, 0, 0), session.world.prices(preview.route))
    told = [f"about {short_count(tokens)} of {short_count(preview.window)} tokens"]
    if preview.route != session.route:
        told[0] += f", {dollars(spent)} with a cold cache"
    if not preview.fits:
        told.append("too long for it, so it will be shortened")
    told += [f"{count} × {reason}" for reason, count in preview.losses.items()]
    return "; ".join(told)
