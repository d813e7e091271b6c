"""Run a gateway on a port until a signal ends it, and say what it does: where it is, and one line a request."""

from __future__ import annotations

import secrets
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from msgspec import Struct

from legato.cli.chat.log_file import logging_to
from legato.cli.client_settings import url_of
from legato.cli.private_files import write_private
from legato.cli.providers import find_profile, initial_profile, open_world, profiles_of, resolve_route
from legato.cli.settings.folders import state_folder
from legato.cli.settings.schema import Settings
from legato.cli.signals import handling_signals
from legato.cli.terminal.cells import one_line
from legato.diagnostics.emission import emit
from legato.errors import ConfigError
from legato.gateway.app import GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, is_loopback, key_line, new_key, read_keys
from legato.gateway.gateway import Gateway, SwitchAt
from legato.gateway.http_server import HttpServer, listen
from legato.routing import Policy, Profile, only

_TURNS = "turns"
"""the name of the profile in which several routes of the command line take turns"""


class ServeOptions(Struct, frozen=True, kw_only=True):
    """What the command line asks for."""

    host: str
    port: int
    routes: Sequence[str]
    switch: str
    keys: Path | None
    origins: Sequence[str]
    log_file: Path | None


async def serve_until_signalled(settings: Settings, wanted: ServeOptions) -> signal.Signals:
    """Serve until a signal arrives, and then until what runs has come to its end; which signal it was."""
    keeper = gatekeeper_of(wanted)
    profile = profile_of(settings, wanted.routes)
    received: list[signal.Signals] = []
    with logging_to(wanted.log_file), listen(wanted.host, wanted.port) as listener:
        async with open_world(settings) as world:
            gateway = Gateway(
                world,
                profile,
                profiles=profiles_of(settings).values(),
                switch=SwitchAt(wanted.switch),
                key=secrets.token_bytes(32) if settings.simulate else lasting_key(),
            )
            server = HttpServer(GatewayApp(gateway, keeper=keeper, finished=_tell), listener)
            async with handling_signals(_ending(server, received)):
                _announce(url_of(wanted.host, listener.getsockname()[1]), profile, settings)
                await server.run()
    return received[0] if received else signal.SIGTERM


def gatekeeper_of(wanted: ServeOptions) -> Gatekeeper:
    """Who may ask; raises `ConfigError` for a gateway that anybody on a network could use."""
    keys: dict[str, str] = {}
    if wanted.keys is not None:
        keys = read_keys(wanted.keys.read_text(encoding="utf-8").splitlines(), str(wanted.keys))
        if not keys:
            raise ConfigError(f"{wanted.keys} has no keys; add one with `legato serve --keys FILE --new-key NAME`")
    if not keys and not is_loopback(wanted.host):
        raise ConfigError(
            f"others could use your keys through {wanted.host}: give the gateway keys of its own, with --keys FILE "
            "(`legato serve --keys FILE --new-key NAME` makes one), or leave out --host"
        )
    return Gatekeeper(keys=keys, origins=frozenset(wanted.origins))


def add_key(path: Path, name: str) -> str:
    """A new key for `name`, of which the file at `path` keeps the digest."""
    if not name or len(name.split()) != 1 or "#" in name:
        raise ConfigError(f"{name!r} cannot be the name of a key: it is one word, without #")
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    key = new_key()
    lines = [*before.splitlines(), key_line(name, key)]
    write_private(path, ("\n".join(lines) + "\n").encode())
    return key


def profile_of(settings: Settings, names: Sequence[str]) -> Profile:
    """Who answers: what the settings say, or the routes and profiles that were named, which take turns."""
    if not names:
        return initial_profile(settings)
    named = [only(name) if "/" in name else find_profile(settings, name) for name in names]
    profile = named[0]
    if len(named) > 1:
        routes = {route.name: route for each in named for route in each.routes}
        profile = Profile(_TURNS, tuple(routes.values()), Policy.ROUND_ROBIN)
    for route in profile.routes:
        resolve_route(settings, route.name)  # a route that leads nowhere is refused now
    return profile


def request_line(served: Served) -> str:
    """One line about a request: how it ended, who asked, who answered, tokens, time, and what was done to it."""
    client = served.ask.headers.get("user-agent", "?").partition(" ")[0]
    words = [str(served.status), *([served.tenant] if served.tenant else []), client]
    report = served.report
    if report is None:
        words += [served.ask.method, served.ask.path]
    else:
        words += [report.asked, "→", report.route or "nobody"]
        if report.usage is not None:
            words.append(f"{report.usage.input:,} in, {report.usage.output:,} out")
    words.append(f"{served.seconds:.1f} s")
    if served.is_cut:
        words.append("broke off")
    if report is not None and report.decisions:
        counted = Counter(str(decision.action) for decision in report.decisions)
        words.append(f"({', '.join(f'{action} {count}' for action, count in counted.items())})")
    return one_line(" ".join(words))


def _tell(served: Served) -> None:
    click.echo(request_line(served), err=True)
    report = served.report
    emit(
        "gateway",
        {
            "method": served.ask.method,
            "path": served.ask.path,
            "client": served.ask.headers.get("user-agent", ""),
            "tenant": served.tenant,
            "status": served.status,
            "seconds": round(served.seconds, 3),
            "cut": served.is_cut,
            "request": report.id if report is not None else "",
            "asked": report.asked if report is not None else "",
            "route": report.route if report is not None else "",
            "attempts": len(report.attempts) if report is not None else 0,
        },
    )


def _ending(server: HttpServer, received: list[signal.Signals]) -> Callable[[signal.Signals], None]:
    """The first signal lets running answers end, the second does not."""

    def end(number: signal.Signals) -> None:
        received.append(number)
        if len(received) == 1:
            click.echo("Stopping when the running answers have ended; once more ends them now.", err=True)
            server.stop()
        else:
            server.abort()

    return end


def _announce(url: str, profile: Profile, settings: Settings) -> None:
    routes = ", ".join(route.name for route in profile.routes)
    simulated = " (simulated)" if settings.simulate else ""
    click.echo(f"Gateway on {url}; Ctrl-C ends it.")
    click.echo(f"  answered by {routes}{simulated}")
    click.echo(f"  ANTHROPIC_BASE_URL={url}  OPENAI_BASE_URL={url}/v1  GOOGLE_GEMINI_BASE_URL={url}")


def lasting_key() -> bytes:
    """What signs the carriers in answers: kept, so that conversations go on after a restart."""
    path = state_folder() / "gateway.key"
    if path.exists():
        return path.read_bytes()
    key = secrets.token_bytes(32)
    write_private(path, key)
    return key
