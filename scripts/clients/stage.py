"""What a client meets: simulated providers on a port, and `legato serve` in front of them, as a process of its own.

In:  the routes that answer, and when they take turns.
Out: the gateway's port, what every provider was asked, and what the gateway says of each request.

Both ends are real connections: the gateway reaches the providers as it would reach real ones, by endpoint and key.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from legato.simulation import Seen, SimulatedWorld, base_urls, serve

ROUTES = {
    "Anthropic": "anthropic/claude-sonnet-4-5",
    "OpenAI chat": "openai/gpt-4.1",
    "Responses": "openai-responses/gpt-5",
    "Gemini": "gemini/gemini-3-pro-preview",
    "Mistral": "mistral/mistral-large-latest",
    "Kimi": "kimi/kimi-k2-thinking",
    "DeepSeek": "deepseek/deepseek-reasoner",
    "Bedrock": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
"""a route of each family of backends"""

EACH_REQUEST = "each in turn"
BACKENDS = (*ROUTES, EACH_REQUEST)
LEGATO = Path(sys.executable).with_name("legato")


class NoGateway(Exception):
    """The gateway did not start; the message is what it said."""


@dataclass
class Stage:
    """A gateway that runs, and the providers behind it."""

    port: int
    world: SimulatedWorld
    log: Path
    routes: Sequence[str]

    def mark(self) -> tuple[int, int]:
        """Where the records are now."""
        return len(self.world.requests), len(self._lines())

    def since(self, mark: tuple[int, int]) -> Traffic:
        """What happened since `mark`."""
        records = [json.loads(line) for line in self._lines()[mark[1] :]]
        return Traffic(self.world.requests[mark[0] :], [one for one in records if one["event"] == "legato.gateway"])

    def _lines(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []


@dataclass
class Traffic:
    """What providers were asked, and what the gateway says of the requests that it took."""

    asked: list[Seen]
    taken: list[dict[str, Any]]

    @property
    def refused(self) -> list[str]:
        """What a provider found wrong with a request: a bug of the gateway."""
        return [f"{seen.provider}: {seen.refusal.message}" for seen in self.asked if seen.refusal is not None]

    @property
    def failed(self) -> list[str]:
        """The requests that the gateway did not answer."""
        return [
            f"{one['legato.status']} for {one['legato.path']}"
            for one in self.taken
            if one["legato.status"] >= 400 or one["legato.cut"]
        ]


@contextmanager
def open_stage(folder: Path, backend: str) -> Generator[Stage]:
    """A stage for as long as the caller is in this context; what it keeps is in `folder`."""
    routes = list(ROUTES.values()) if backend == EACH_REQUEST else [ROUTES[backend]]
    world = SimulatedWorld(needs_keys=True)
    with start_blocking_portal() as portal:
        serving, port = portal.start_task(partial(serve, "127.0.0.1", 0, world=world))
        try:
            settings = folder / "legato.toml"
            settings.write_text(_settings(port, routes), encoding="utf-8")
            with _gateway(folder, settings, routes) as listening:
                yield Stage(listening, world, folder / "gateway.jsonl", routes)
        finally:
            serving.cancel()


def _settings(port: int, routes: Sequence[str]) -> str:
    urls = base_urls("127.0.0.1", port)
    names = [route.partition("/")[0] for route in routes]
    keys = [f'{name} = "a key of no value"' for name in names]
    return "\n".join(["[keys]", *keys, "[endpoints]", *(f'{name} = "{urls[name]}"' for name in names)]) + "\n"


@contextmanager
def _gateway(folder: Path, settings: Path, routes: Sequence[str]) -> Generator[int]:
    command = [LEGATO, "serve", "--port", "0", "--config", settings, "--log-file", folder / "gateway.jsonl"]
    command += [part for route in routes for part in ("--route", route)]
    if len(routes) > 1:
        command += ["--switch", "request"]
    home = {"HOME": str(folder), "PATH": os.environ.get("PATH", "")}
    with (folder / "gateway.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=home, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            if not first.startswith("Gateway on "):
                raise NoGateway((folder / "gateway.log").read_text(encoding="utf-8"))
            yield int(first.partition(";")[0].rpartition(":")[2])
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
