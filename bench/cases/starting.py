"""How soon the command line is there: help on the screen, a prompt to type at, a first request on its way."""

from __future__ import annotations

import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.figures import Figure, Goal, Outcome, Scale

NOTHING = "python -c pass"
CLICK = "python -c 'import click'"
HELP = "legato --help"
PROMPT = "legato, until the prompt"
PROGRAM = [sys.executable, "-c", "from legato.cli import main; main()"]
PATIENCE = 60.0
"""seconds after which a program that sends nothing is given up"""


class Taken(NamedTuple):
    """What a new process took, in seconds: of the processor, and on the wall."""

    processor: float
    wall: float


def starting(scale: Scale) -> Outcome:
    """New processes of the command line until they show or send something, beside one that does nothing."""
    with TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as provider:
        provider.settimeout(PATIENCE)
        environment, settings = _home(Path(folder), provider.getsockname()[1])
        ask = [*PROGRAM, "-p", "hello", "--config", settings]
        chat = [*PROGRAM, "--config", settings]
        plain, served = Path(folder) / "plain", Path(folder) / "served"
        plain.mkdir()
        served.mkdir()
        for name in ("one", "two"):  # servers that are started and never answer
            add = [*PROGRAM, "mcp", "add", name, "--", sys.executable, "-c", "import sys; sys.stdin.read()"]
            subprocess.run(add, env=environment, cwd=served, check=True, capture_output=True)
        ways: dict[str, Callable[[], Taken]] = {
            NOTHING: lambda: _until_its_end([sys.executable, "-c", "pass"], environment),
            CLICK: lambda: _until_its_end([sys.executable, "-c", "import click"], environment),
            HELP: lambda: _until_its_end([*PROGRAM, "--help"], environment),
            PROMPT: lambda: _until_the_prompt(chat, environment, plain),
            f"{PROMPT}, two MCP servers": lambda: _until_the_prompt(chat, environment, served),
            "legato -p, until it asks": lambda: _until_it_asks([*ask, "--no-store"], environment, provider),
            "the same, and the session is kept": lambda: _until_it_asks(ask, environment, provider),
        }
        taken: dict[str, list[Taken]] = {name: [] for name in ways}
        for number in range(scale.children + 1):
            for name, way in ways.items():
                one = way()
                if number:  # the first round fills the caches of the file system
                    taken[name].append(one)
    goals = {
        HELP: Goal("at most", 150),
        PROMPT: Goal("at most", 250),
        f"{PROMPT}, two MCP servers": Goal("at most", 250),
        "legato -p, until it asks": Goal("at most", 300),
    }
    figures = [_figure(name, taken[name], taken[NOTHING], goals.get(name)) for name in ways if name != NOTHING]
    ratio = min(one.processor for one in taken[HELP]) / min(one.processor for one in taken[CLICK])
    return Outcome([*figures, Figure(f"{HELP}, the whole process", ratio, "×", CLICK, "", Goal("at most", 1.3))])


def _home(folder: Path, port: int) -> tuple[dict[str, str], str]:
    """The environment of somebody who has set up one provider, on this machine; and the file with their settings."""
    settings = folder / "settings.toml"
    settings.write_text(
        f'model = "openai/gpt-4o"\nstore = "{(folder / "sessions.db").as_posix()}"\n'
        f'[endpoints]\nopenai = "http://127.0.0.1:{port}/v1"\n'
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LEGATO_", "XDG_"))}
    return {**kept, "HOME": str(folder), "OPENAI_API_KEY": "sk-0123456789"}, str(settings)


def _until_its_end(command: list[str], environment: dict[str, str]) -> Taken:
    begin = time.perf_counter()
    return _spent(_start(command, environment), lambda: time.perf_counter() - begin)


def _until_it_asks(command: list[str], environment: dict[str, str], provider: socket.socket) -> Taken:
    begin = time.perf_counter()
    process = _start(command, environment)
    try:
        connection, _ = provider.accept()
        wall = time.perf_counter() - begin
    finally:
        process.kill()
    connection.close()
    return _spent(process, lambda: wall)


def _until_the_prompt(command: list[str], environment: dict[str, str], folder: Path) -> Taken:
    """Until there is something to type at, in a real terminal."""
    keyboard, terminal = pty.openpty()
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment | {"TERM": "xterm"}, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal,
        start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    try:
        shown = b""
        while "›".encode() not in shown:
            if not select.select([keyboard], [], [], PATIENCE)[0]:
                raise TimeoutError(f"there was no prompt, but {shown!r}")
            shown += os.read(keyboard, 65_536)
        wall = time.perf_counter() - begin
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        os.close(keyboard)
    return _spent(process, lambda: wall)


def _start(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    silent = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdin=silent, stdout=silent, stderr=silent)


def _spent(process: subprocess.Popen[bytes], wall: Callable[[], float]) -> Taken:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Taken(used.ru_utime + used.ru_stime, wall())


def _figure(name: str, taken: list[Taken], nothing: list[Taken], goal: Goal | None) -> Figure:
    pairs = list(zip(taken, nothing, strict=True))
    processor = median(one.processor - base.processor for one, base in pairs) * 1000
    wall = median(one.wall - base.wall for one, base in pairs) * 1000
    return Figure(name, processor, "ms", NOTHING, f"{wall:,.0f} ms on the wall", goal)
