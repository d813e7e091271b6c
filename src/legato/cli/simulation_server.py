"""Run simulated providers on a port until a signal ends them, and say where they are."""

from __future__ import annotations

import signal

import msgspec

from legato.cli.http_serving import run_until_signalled
from legato.cli.saying import say, say_data
from legato.cli.terminal.cells import one_line, table
from legato.serving.http_server import HttpServer, listen
from legato.simulation import Ask, Outcome, Reply, SimulatedProvider, SimulatedWorld, base_urls
from legato.simulation.app import SimulationApp
from legato.simulation.server import DEFAULT_PORT, KEPT

_SHOWN = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL"}


class LoggingWorld(SimulatedWorld):
    """A world that says what it answers."""

    def remember(self, provider: SimulatedProvider, ask: Ask, outcome: Outcome) -> Reply:
        """Note what became of a request; a line about it goes to standard error."""
        reply, why = super().remember(provider, ask, outcome), ""
        if outcome.refusal is not None:
            why = f": {outcome.refusal.message}"
        elif outcome.fault is not None:
            why = f": {outcome.fault.kind}, as it was asked to"
        say(one_line(f"{reply.status} {provider.name} {outcome.model} {ask.method} {ask.path}{why}"), err=True)
        return reply


async def serve_until_signalled(
    host: str,
    port: int | None,
    *,
    window: int | None,
    pace: float | None,
    needs_keys: bool,
    as_json: bool,
    verbose: bool,
) -> signal.Signals:
    """Serve until a signal arrives, and then until what runs has come to its end; which signal it was."""
    kind = LoggingWorld if verbose else SimulatedWorld
    world = kind(window=window, needs_keys=needs_keys, keeps=KEPT)
    with listen(host, DEFAULT_PORT if port is None else port) as listener:
        urls = base_urls(host, listener.getsockname()[1])
        server = HttpServer(SimulationApp(world, urls, pace=pace), listener)
        return await run_until_signalled(server, lambda: _announce(urls, as_json=as_json))


def _announce(urls: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        say_data(msgspec.json.encode(urls).decode())
        return
    say("Simulated providers; Ctrl-C ends them.")
    for line in table([(name, url, _SHOWN.get(name, "")) for name, url in urls.items()], width=200):
        say(f"  {line}")
