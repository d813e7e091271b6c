"""The option `--pace 20/s`: how fast simulated answers arrive."""

from __future__ import annotations

import click

from legato.errors import ConfigError


def read_pace_option(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """The callback of the option: pieces in a second, or None where no pace was asked for."""
    if value is None:
        return None
    from legato.simulation.pace import read_pace  # only here: few runs have a pace

    try:
        return read_pace(value)
    except ConfigError as error:
        raise click.BadParameter(error.message, ctx, parameter) from None
