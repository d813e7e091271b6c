"""Compare what the catalogue says of a provider's models with what the provider itself lists.

In:  a world, and the providers to ask.
Out: for each a `Comparison`: which models are gone, which are new, and where the limits differ; or why it failed.

Only the list of models is asked for; nothing is sent to a model.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

from msgspec import Struct

from legato.cli.exits import ExitCode, code_of, line_of
from legato.cli.models import short_count
from legato.cli.terminal.cells import clip, flowing
from legato.errors import LegatoError
from legato.request import Catalogue
from legato.request.model_list import describe_route, names_of
from legato.session import World
from legato.transport.model_lists import OfferedModel, fetch_models


class Comparison(Struct, frozen=True, kw_only=True):
    """A provider's own list beside the catalogue's."""

    provider: str
    listed: int = 0
    """models in the provider's list"""
    gone: tuple[str, ...] = ()
    """known to the catalogue, and not listed"""
    new: tuple[str, ...] = ()
    """listed, and not known to the catalogue"""
    differs: tuple[str, ...] = ()
    """what the list says otherwise, in words"""
    ends: tuple[str, ...] = ()
    """models that the list gives an end, in words"""
    error: str | None = None
    exit_code: int = 0


async def check_providers(world: World, providers: Iterable[str]) -> AsyncIterator[Comparison]:
    """Ask each of `providers` in turn; one that fails does not keep the others from being asked."""
    for name in providers:
        try:
            target = world.target(f"{name}/{world.catalogue.providers[name].example or 'any'}")
            offered = await fetch_models(world.transport, target, key=world.keys.find(name), clock=world.clock)
        except LegatoError as error:
            yield Comparison(provider=name, error=line_of(error), exit_code=code_of(error))
        else:
            yield compare(world.catalogue, name, offered)


def compare(catalogue: Catalogue, provider: str, offered: Sequence[OfferedModel]) -> Comparison:
    """What differs between the catalogue and a provider's list of its models."""
    known = names_of(catalogue, provider)
    gone = tuple(name for name in known if not any(_is_same(name, model.name) for model in offered))
    new = tuple(sorted(model.name for model in offered if not any(_is_same(name, model.name) for name in known)))
    return Comparison(
        provider=provider,
        listed=len(offered),
        gone=gone,
        new=new,
        differs=tuple(_differences(catalogue, provider, offered)),
        ends=tuple(f"{model.name} {model.retires}" for model in offered if model.retires),
        exit_code=ExitCode.FINDINGS if gone else ExitCode.OK,
    )


def _is_same(known: str, listed: str) -> bool:
    """Whether a listed name is a known one, or a version of it with a date."""
    one, other = known.lower(), listed.lower()
    if not other.startswith(one):
        return False
    return re.fullmatch(r"(-(\d{8}|\d{4}-\d{2}-\d{2}|\d{4}))?", other[len(one) :]) is not None


def _differences(catalogue: Catalogue, provider: str, offered: Sequence[OfferedModel]) -> Iterator[str]:
    known = {name.lower() for name in names_of(catalogue, provider)}
    for model in offered:
        if model.name.lower() not in known:
            continue
        ours = describe_route(catalogue, f"{provider}/{model.name}")
        limits = (("window", model.window, ours.window), ("output", model.max_output, ours.max_output))
        for word, said, believed in limits:
            if said is not None and said != believed:
                yield f"{model.name}: {word} {short_count(said)}, not {short_count(believed)}"


def as_lines(found: Comparison, width: int) -> Iterator[str]:
    """A comparison for a person; the names come from the provider, so they are made harmless."""
    if found.error is not None:
        yield clip(f"{found.provider}: {found.error}", 1_000)
        return
    agrees = not (found.gone or found.new or found.differs or found.ends)
    yield f"{found.provider}: lists {found.listed:,} models{', as the catalogue does' if agrees else ''}"
    parts = (("gone", found.gone), ("new", found.new), ("differs", found.differs), ("ends", found.ends))
    for title, names in parts:
        if names:
            yield f"  {title} ({len(names):,})"
            yield from (f"  {line}" for line in flowing(names, width - 2))
