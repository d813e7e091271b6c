"""`legato models`: which models the catalogue knows, and whether their providers still list them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from legato.cli import completing
from legato.cli.exits import ExitCode
from legato.cli.saying import say, say_data

if TYPE_CHECKING:
    from legato.cli.settings.schema import Settings
    from legato.request import Catalogue

_ALL = "(all)"


@click.command(short_help="List models: windows, prices, keys and retirement dates.")
@click.argument("pattern", default="", shell_complete=completing.routes)
@click.option("--sort", type=click.Choice(["name", "window", "output", "price"]), default="name", help="Sort by this.")
@click.option("--provider", default="", metavar="NAME", shell_complete=completing.providers, help="Only its models.")
@click.option("--tools", is_flag=True, help="Only models that take tool calls in their own form.")
@click.option("--thinking", is_flag=True, help="Only models that can think.")
@click.option("--images", is_flag=True, help="Only models that take images.")
@click.option(
    "--check",
    is_flag=False,
    flag_value=_ALL,
    metavar="[PROVIDER]",
    shell_complete=completing.providers,
    help="Ask the provider, or every one with a key, for its own list, and compare.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def models(pattern: str, check: str | None, config: Path | None, as_json: bool, **wanted: Any) -> int:
    """List the models that are known by name, or those that match PATTERN: a part of the name, or one with * and ?.

    A route that is not listed can be used all the same: providers serve more models than are known here. A price is
    the one last seen at its provider's own page; `legato config explain ROUTE` says where.

    --check exits with 3 if a model of the catalogue is not listed by its provider any more.
    """
    from legato.cli.settings.files import load
    from legato.cli.settings.own_catalogue import catalogue_of

    loaded = load(config=config)
    catalogue = catalogue_of(loaded.settings, loaded.origins)
    if check is None:
        _list(catalogue, loaded.settings, pattern, as_json=as_json, **wanted)
        return ExitCode.OK
    if pattern:
        raise click.UsageError("--check compares whole providers; leave out the pattern")
    return _check(catalogue, loaded.settings, "" if check == _ALL else check, as_json=as_json)


def _list(catalogue: Catalogue, settings: Settings, pattern: str, *, sort: str, as_json: bool, **wanted: Any) -> None:
    from datetime import UTC, datetime

    from legato.cli.models import Sort, Wanted, as_lines, choose_models, key_states, legend
    from legato.cli.models import as_json as json_line
    from legato.cli.terminal.screen import Screen
    from legato.request.model_list import list_models, names_of

    chosen = choose_models(list_models(catalogue), Wanted(pattern=pattern, **wanted), Sort(sort))
    state = key_states(catalogue, settings)
    if as_json:
        for model in chosen:
            say_data(json_line(model, state(model.provider)))
        return
    if not chosen:
        say("No model is all of that.", err=True)
        return
    screen = Screen(sys.stdout)
    width = screen.width if sys.stdout.isatty() else 80
    for line in as_lines(chosen, state, width=width, today=datetime.now(UTC).date()):
        screen.line(line)
    for line in legend(width) if sys.stdout.isatty() else ():
        say(line, err=True)
    if not pattern and not wanted["provider"]:
        others = [name for name in sorted(catalogue.providers) if len(names_of(catalogue, name)) < 2]
        say(f"Any other model that they serve can be named at {', '.join(others)}.", err=True)


def _check(catalogue: Catalogue, settings: Settings, provider: str, *, as_json: bool) -> int:
    import msgspec

    from legato.cli.async_main import run_async
    from legato.cli.model_check import Comparison, as_lines, check_providers
    from legato.cli.models import KeyState, key_states
    from legato.cli.providers import open_world
    from legato.cli.terminal.screen import Screen
    from legato.request.catalogue_tables import near

    if provider and provider not in catalogue.providers:
        raise click.UsageError(f"there is no provider {provider!r}{near(provider, sorted(catalogue.providers))}")
    state = key_states(catalogue, settings)
    asked = [provider] if provider else [name for name in sorted(catalogue.providers) if state(name) is KeyState.FOUND]
    if not asked:
        raise click.UsageError("there is no key, so nobody can be asked; `legato doctor` shows which are looked for")

    async def compare() -> list[Comparison]:
        async with open_world(settings) as world:
            return [found async for found in check_providers(world, asked)]

    screen = Screen(sys.stdout)
    width = screen.width if sys.stdout.isatty() else 80
    comparisons = run_async(compare)
    for found in comparisons:
        if as_json:
            say_data(msgspec.json.encode(found).decode())
        else:
            for line in as_lines(found, width):
                screen.line(line)
    return max(found.exit_code for found in comparisons)
