"""Run simulated providers on a port until a signal ends them, and say where they are."""

from __future__ import annotations

import signal
from functools import partial

import anyio
import click
import msgspec

from legato.cli.signals import handling_signals
from legato.cli.terminal.cells import one_line, table
from legato.simulation import Ask, Reply, SimulatedProvider, SimulatedWorld, base_urls, serve

_SHOWN = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL"}


class LoggingWorld(SimulatedWorld):
    """A world that says what it answers."""

    def reply(self, provider: SimulatedProvider, ask: Ask) -> Reply:
        """What `provider` replies; a line about it goes to standard error."""
        reply = super().reply(provider, ask)
        seen = self.requests[-1]
        why = ""
        if seen.refusal is not None:
            why = f": {seen.refusal.message}"
        elif seen.fault is not None:
            why = f": {seen.fault.kind}, as it was asked to"
        click.echo(one_line(f"{seen.status} {provider.name} {seen.model} {ask.method} {ask.path}{why}"), err=True)
        return reply


async def serve_until_signalled(
    host: str,
    port: int,
    *,
    window: int | None,
    pace: float | None,
    needs_keys: bool,
    as_json: bool,
    verbose: bool,
) -> signal.Signals:
    """Serve until a signal arrives; which one."""
    ended = anyio.Event()
    received: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        received.append(number)
        ended.set()

    kind = LoggingWorld if verbose else SimulatedWorld
    world = kind(window=window, needs_keys=needs_keys, keeps=200)
    async with handling_signals(end), anyio.create_task_group() as group:
        bound: int = await group.start(partial(serve, host, port, world=world, pace=pace))
        _announce(base_urls(host, bound), as_json=as_json)
        await ended.wait()
        group.cancel_scope.cancel()
    return received[0]


def _announce(urls: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(urls).decode())
        return
    click.echo("Simulated providers; Ctrl-C ends them.")
    for line in table([(name, url, _SHOWN.get(name, "")) for name, url in urls.items()], width=200):
        click.echo(f"  {line}")
