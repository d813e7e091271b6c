"""`legato serve`: a gateway on this machine, through which any client asks any provider."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from legato.cli.client_settings import CLIENTS, shell_lines, url_of
from legato.cli.exits import ExitCode

if TYPE_CHECKING:
    from legato.cli.gateway_server import ServeOptions

PORT = 8100
"""where the gateway listens: our choice, seldom taken"""


@click.command(short_help="Let any client ask any provider, through a local gateway.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option(
    "--route",
    "--profile",
    "routes",
    multiple=True,
    metavar="NAME",
    help="Who answers: provider/model, or a configured profile; several take turns.",
)
@click.option("--simulate", is_flag=True, default=None, help="Simulated providers in this process: no key, no network.")
@click.option(
    "--switch",
    type=click.Choice(["turn", "request"]),
    default="turn",
    show_default=True,
    help="When routes that take turns do so: at a person's messages, or, to try it out, at every request.",
)
@click.option(
    "--keys",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The keys that clients need; without them the gateway is for this machine alone.",
)
@click.option("--new-key", metavar="NAME", help="Make a key for NAME, add it to the file of --keys, and leave.")
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="A web page that may ask.")
@click.option(
    "--env",
    "client",
    type=click.Choice(list(CLIENTS)),
    help="Print the settings that lead this client here, and leave.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use this in place of your settings.")
@click.option(
    "--log-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Add requests and refusals to FILE, one JSON object a line.",
)
def serve(
    host: str,
    port: int,
    routes: tuple[str, ...],
    simulate: bool | None,
    switch: str,
    keys: Path | None,
    new_key: str | None,
    origins: tuple[str, ...],
    client: str | None,
    config: Path | None,
    log_file: Path | None,
) -> int:
    """Serve a gateway until Ctrl-C.

    Point a client at it, and nothing else changes: it is answered in its own API by whichever provider --route names.
    Each request is one line on standard error. Try it without a key: `legato serve --simulate`.
    """
    if client is not None:
        return _print_settings(client, host, port)
    if new_key is not None and keys is None:
        raise click.UsageError("--new-key needs to know the file: add --keys FILE")
    try:
        import starlette  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import uvicorn  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        from legato.errors import ConfigError

        message = f"the gateway needs the extra `serve` (pip install 'legato[serve]'): {error}"
        raise ConfigError(message) from None
    from legato.cli.gateway_server import ServeOptions, add_key

    if new_key is not None and keys is not None:
        click.echo(add_key(keys, new_key))
        return ExitCode.OK
    wanted = ServeOptions(
        host=host, port=port, routes=routes, switch=switch, keys=keys, origins=origins, log_file=log_file
    )
    return _serve(wanted, simulate, config)


def _serve(wanted: ServeOptions, simulate: bool | None, config: Path | None) -> int:
    import signal

    from legato.cli.async_main import run_async
    from legato.cli.gateway_server import serve_until_signalled
    from legato.cli.settings.files import load

    loaded = load(flags={"simulate": ("--simulate", simulate)}, config=config)
    number = run_async(lambda: serve_until_signalled(loaded.settings, wanted))
    return ExitCode.OK if number is signal.SIGINT else ExitCode.TERMINATED


def _print_settings(client: str, host: str, port: int) -> int:
    if port == 0:
        raise click.UsageError("--env needs the port that the gateway is on")
    click.echo("\n".join(shell_lines(client, url_of(host, port))))
    return ExitCode.OK
