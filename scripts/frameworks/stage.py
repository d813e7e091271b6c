"""Simulated providers on a port, and a framework in its own environment that asks them.

In:  the Python of an environment, and the name of a player.
Out: for each order what the framework made of it, and what every provider was asked meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from anyio.from_thread import start_blocking_portal

from legato.simulation import Seen, SimulatedWorld, base_urls, serve
from scripts.clients.isolation import proxies

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Played:
    """What came of an order."""

    answer: dict[str, Any]
    asked: list[Seen]

    @property
    def refusals(self) -> list[str]:
        """What providers refused, in their words."""
        return [f"{seen.provider}: {seen.refusal.message}" for seen in self.asked if seen.refusal is not None]

    @property
    def rules(self) -> list[str]:
        """The rules that the refused requests broke; a refusal that is up to no rule has none."""
        return [seen.refusal.rule for seen in self.asked if seen.refusal is not None and seen.refusal.rule]

    @property
    def error(self) -> str:
        """What the framework raised; empty if nothing."""
        return str(self.answer.get("error", ""))


class Framework:
    """A player at the other end of a pipe; `around` is the environment that it runs in."""

    def __init__(
        self, python: Path, process: subprocess.Popen[str], world: SimulatedWorld, around: dict[str, str]
    ) -> None:
        self._python = python
        self._process = process
        self._world = world
        self._around = around

    def order(self, name: str, **arguments: Any) -> Played:
        """Have something done."""
        before = len(self._world.requests)
        self._send({"order": name, **arguments})
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise RuntimeError(f"the player ended in the middle of {name}")
        return Played(json.loads(line), self._world.requests[before:])

    def example(self, name: str) -> Played:
        """Run a program of examples/frameworks/, in the same environment."""
        return self._run([str(ROOT / "examples" / "frameworks" / name)])

    def program(self, code: str) -> Played:
        """Run a program, in a folder of its own, with variables that lead every client to the simulated providers."""
        with tempfile.TemporaryDirectory() as folder:
            return self._run(["-c", code], folder=Path(folder))

    def _run(self, arguments: list[str], *, folder: Path = ROOT) -> Played:
        before = len(self._world.requests)
        command, around = [str(self._python), *arguments], self._around | variables(self._around["LEGATO_SIMULATED"])
        done = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False)
        told = {"error": done.stderr.strip()[-500:] or f"status {done.returncode}"} if done.returncode else {}
        return Played({**told, "printed": done.stdout}, self._world.requests[before:])

    def _send(self, value: Any) -> None:
        pipe = _pipe(self._process.stdin)
        pipe.write(json.dumps(value) + "\n")
        pipe.flush()

    def begin(self, urls: dict[str, str]) -> None:
        """Say where the providers are."""
        self._send(urls)


def is_streamed(seen: Seen) -> bool:
    """Whether a request asks for the answer while it comes; Gemini's says so in its path."""
    return seen.json.get("stream") is True or "streamGenerateContent" in seen.path


def variables(base: str) -> dict[str, str]:
    """What leads the clients of the frameworks to simulated providers at `base`, as docs/integrations.md has it."""
    mistral = f"{base}/mistral/v1"
    urls = {
        "ANTHROPIC_BASE_URL": f"{base}/anthropic",
        "OPENAI_BASE_URL": f"{base}/openai/v1",
        "GOOGLE_GEMINI_BASE_URL": f"{base}/gemini",
        "MISTRAL_BASE_URL": mistral,
        "MISTRAL_AZURE_API_BASE": mistral,
    }
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"), "any")
    return urls | keys | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def open_framework(python: Path, player: str, log: Path) -> Generator[Framework]:
    """A framework for as long as the caller is in this context; what it prints goes to `log`."""
    world = SimulatedWorld(needs_keys=True, keeps=100_000)
    with start_blocking_portal() as portal, tempfile.TemporaryDirectory() as home:
        serving, port = portal.start_task(partial(serve, "127.0.0.1", 0, world=world))
        around = {
            "HOME": home,
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
            "LEGATO_SIMULATED": f"http://127.0.0.1:{port}",
            **proxies(),
        }
        command = [str(python), "-m", "scripts.frameworks.playing", player]
        with log.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=around,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            try:
                framework = Framework(python, process, world, around)
                framework.begin(base_urls("127.0.0.1", port))
                yield framework
            finally:
                _pipe(process.stdin).close()
                process.wait(30)
                _pipe(process.stdout).close()
                serving.cancel()
