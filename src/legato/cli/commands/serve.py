"""`legato serve`: a gateway on this machine, through which any client asks any provider."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from legato.cli import completing
from legato.cli.client_settings import CLIENTS, fish_lines, shell_lines, url_of
from legato.cli.exits import ExitCode
from legato.cli.saying import say, say_data
from legato.errors import CallerError

if TYPE_CHECKING:
    from legato.cli.settings.layers import Loaded
    from legato.cli.settings.schema import ServeSettings

_EVERYBODY = "all"
"""in place of a key's name"""


@click.command(short_help="Let any client ask any provider, through a local gateway.")
@click.option("--host", help="The address to listen on; 127.0.0.1 unless the settings say otherwise.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port; 8100 unless set otherwise, and 0 takes a free one."
)
@click.option(
    "--route",
    "--profile",
    "routes",
    multiple=True,
    metavar="NAME",
    shell_complete=completing.routes_and_profiles,
    help="Who answers: provider/model, or a configured profile; several take turns.",
)
@click.option("--simulate", is_flag=True, default=None, help="Simulated providers in this process: no key, no network.")
@click.option(
    "--switch",
    type=click.Choice(["turn", "request"]),
    help="When routes take turns: at each message of a person, or, to try it out, at every request.",
)
@click.option(
    "--pass-keys",
    is_flag=True,
    default=None,
    help="Use a client's own key where its own vendor answers, and only there.",
)
@click.option(
    "--passthrough",
    is_flag=True,
    default=None,
    help="Forward requests as they are, to compare: mend nothing, and say what would have been done.",
)
@click.option("--new-key", metavar="NAME", help="Make a key for NAME, add its digest to your settings, and leave.")
@click.option(
    "--store",
    type=click.Path(),
    metavar="FILE",
    help="Remember in FILE what was answered, so that a restart loses nothing; else it is in memory alone.",
)
@click.option("--retention", metavar="TIME", help="How long it stays there: 12h, 30d, 4w; 30d unless set otherwise.")
@click.option("--forget", metavar="NAME", help="Delete what the store has of the key NAME, or of `all`, and leave.")
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="A web page that may ask.")
@click.option(
    "--env",
    "client",
    type=click.Choice(list(CLIENTS)),
    help="Print the settings that point this client here, and leave.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use this in place of your settings.")
@click.option(
    "--log-file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Add requests and refusals to FILE, one JSON object a line.",
)
def serve(
    host: str | None,
    port: int | None,
    routes: tuple[str, ...],
    simulate: bool | None,
    switch: str | None,
    pass_keys: bool | None,
    passthrough: bool | None,
    new_key: str | None,
    store: str | None,
    retention: str | None,
    forget: str | None,
    origins: tuple[str, ...],
    client: str | None,
    config: Path | None,
    log_file: str | None,
) -> int:
    """Serve a gateway until Ctrl-C.

    Point a client at it, and nothing else changes: it is answered in its own API by whichever provider --route names.
    Each request is one line on standard error. Try it without a key: `legato serve --simulate`.

    All of this can be set under [serve] in your settings as well, and more: which route answers for which models,
    keys, limits. The command line wins.
    """
    if new_key is not None:
        return _add_key(new_key, config)
    flags: dict[str, tuple[str, Any]] = {
        "simulate": ("--simulate", simulate),
        "serve.host": ("--host", host),
        "serve.port": ("--port", port),
        "serve.routes": ("--route", routes or None),
        "serve.switch": ("--switch", switch),
        "serve.pass_keys": ("--pass-keys", pass_keys),
        "serve.passthrough": ("--passthrough", passthrough),
        "serve.store": ("--store", store),
        "serve.retention": ("--retention", retention),
        "serve.origins": ("--allow-origin", origins or None),
        "serve.log_file": ("--log-file", log_file),
    }
    from legato.cli.settings.files import load

    loaded = load(flags=flags, config=config)
    _tell_of_settings(loaded)
    if client is not None:
        return _print_settings(client, loaded.settings.serve)
    if forget is not None:
        return _forget(forget, loaded.settings.serve.store)
    return _serve(loaded)


def _serve(loaded: Loaded) -> int:
    import signal

    from legato.cli.async_main import run_async
    from legato.serving import require_extra

    require_extra("the gateway")
    from legato.cli.gateway_server import serve_until_signalled

    try:
        number = run_async(lambda: serve_until_signalled(loaded.settings))
    except CallerError as error:  # of settings that fit, and mean nothing
        place = _file_of(error.message, loaded)
        if not place:
            raise
        raise type(error)(f"{place}: {error.message}", **error.facts) from None
    return ExitCode.OK if number is signal.SIGINT else ExitCode.TERMINATED


def _file_of(message: str, loaded: Loaded) -> str:
    """The file with the setting that `message` begins with; empty if it was made elsewhere, or if there is none."""
    named = re.match(r"serve\.\w+", message)
    places = [place for key, place in loaded.origins.items() if named and f"{key}.".startswith(f"{named[0]}.")]
    return next((place for place in places if Path(place).is_file()), "")


def _add_key(name: str, config: Path | None) -> int:
    """Print a new key, of which the user's settings keep the digest."""
    from legato.cli.settings.files import user_file
    from legato.cli.settings.writing import add_serve_key
    from legato.gateway.gatekeeper import digest_of, new_key

    if not name or len(name.split()) != 1:
        raise click.UsageError(f"--new-key: {name!r} cannot be the name of a key: it is one word")
    if name == _EVERYBODY:
        raise click.UsageError(f"--new-key: {name} cannot be the name of a key: it means everybody for --forget")
    key, place = new_key(), user_file(config)
    add_serve_key(place, name, digest_of(key))
    say(f"{name} may ask with this key; it is not shown again, and {place} keeps its digest:", err=True)
    say_data(key)
    return ExitCode.OK


def _forget(name: str, store: str | None) -> int:
    """Delete what the store has of the key `name`, or of everybody, and say how much that was."""
    if store is None:
        raise click.UsageError("--forget needs to know the file: add --store FILE, or set serve.store")
    from legato.gateway.sqlite_state import forget

    removed = forget(store, None if name == _EVERYBODY else name)
    counted = [f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(removed.items())]
    whose = "everybody" if name == _EVERYBODY else name
    say(f"Deleted of {whose} in {store}: {', '.join(counted) or 'nothing, because there was nothing'}.")
    return ExitCode.OK


def _tell_of_settings(loaded: Loaded) -> None:
    """Say on standard error which settings are not used."""
    from legato.cli.exits import complain
    from legato.cli.settings.project import withheld_note
    from legato.cli.terminal.cells import one_line

    for note in (*loaded.unknown, *([withheld_note(loaded)] if loaded.withheld else ()), *loaded.passed_over):
        complain(one_line(note))


def _print_settings(client: str, wanted: ServeSettings) -> int:
    if wanted.port == 0:
        raise click.UsageError("--env needs the port that the gateway is on")
    lines = shell_lines(client, url_of(wanted.host, wanted.port), own_key=wanted.pass_keys)
    is_fish = Path(os.environ.get("SHELL", "")).name == "fish"
    say_data("\n".join(fish_lines(lines) if is_fish else lines))
    return ExitCode.OK
