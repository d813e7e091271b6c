"""The gateway on a port, beside a proxy that only forwards, and beside LiteLLM's; the same backend for all.

Whoever is measured has one core, and the client and the backend have the other; the rest is stopped meanwhile, because
servers work also when nobody asks them for anything (LiteLLM's does several times a second). So the seconds are those
on the wall, of a machine that does nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles

from msgspec import Struct

from bench.cases.peers import ENVIRONMENTS, ROOT
from bench.figures import Figure, Goal, Outcome, Scale, milliseconds
from bench.gateway import growth, load
from bench.measure import not_collecting

GATEWAY, PROXY, LITELLM = "Legato's gateway", "a proxy that only forwards", "LiteLLM's proxy"
STREAMS, RATE = 50, 10
"""answers that are open, and new requests a second"""
TURNS = 5
"""in which everybody is measured beside open streams"""
CLIENTS = 8
"""that ask as fast as they are answered"""
IDLE = 1_000
REQUESTS = 500
_PEER = ENVIRONMENTS / "litellm_proxy"
_KEYLESS = "dangerously_permit_weak_or_unset_master_key"
"""without it LiteLLM's proxy does not start where it asks for no key, as Legato's gateway asks for none here"""


# --- processes --------------------------------------------------------------------------------------------------------


class Front(Struct, frozen=True):
    """Somebody who stands before the backend."""

    name: str
    port: int
    process: int


def _cores() -> tuple[set[int], set[int]]:
    """For whoever is measured, and for everybody else; the same where there is only one."""
    cores = sorted(os.sched_getaffinity(0))
    return {cores[0]}, {cores[-1]}


@contextmanager
def _running(command: Sequence[object], cores: set[int]) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*map(str, command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        os.sched_setaffinity(process.pid, cores)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _serving(kind: str, cores: set[int], *upstream: str) -> Generator[Front]:
    with _running([sys.executable, "-m", "bench.gateway.servers", kind, *upstream], cores) as process:
        port = int(process.stdout.readline()) if process.stdout else 0
        yield Front({"gateway": GATEWAY, "proxy": PROXY}.get(kind, kind), port, process.pid)


@contextmanager
def _litellm(cores: set[int], upstream: str) -> Generator[Front]:
    """LiteLLM's proxy in its own environment, with nothing switched on that it does beside forwarding."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        route = {"model": "anthropic/claude-opus-4-8", "api_base": upstream, "api_key": "none"}
        config = Path(folder) / "config.json"
        models = [{"model_name": "claude-opus-4-8", "litellm_params": route}]
        config.write_text(json.dumps({"model_list": models, "general_settings": {_KEYLESS: True}}))
        program = [_PEER / "bin" / "litellm", "--config", config, "--host", "127.0.0.1", "--port", port]
        quiet = ["env", "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_LOG=ERROR"]
        with _running([*quiet, *program], cores) as process:
            _wait_for(port, process)
            yield Front(LITELLM, port, process.pid)


def _wait_for(port: int, process: subprocess.Popen[str], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("LiteLLM's proxy does not start")


@contextmanager
def _alone(front: Front, fronts: Sequence[Front]) -> Generator[None]:
    """The others are stopped while `front` is measured."""
    others = [other.process for other in fronts if other is not front]
    for process in others:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in others:
            os.kill(process, signal.SIGCONT)


# --- the cases --------------------------------------------------------------------------------------------------------


def gateway(scale: Scale) -> Outcome:
    """A request of 80 kB through the gateway on one core, beside a proxy that only forwards."""
    figures, notes = list[Figure](), list[str]()
    measured, others = _cores()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, others)
    try:
        with ExitStack() as stack:
            upstream = f"http://127.0.0.1:{stack.enter_context(_serving('backend', others)).port}"
            fronts = [stack.enter_context(_serving(kind, measured, upstream)) for kind in ("proxy", "gateway")]
            if (_PEER / ".ready").exists():
                fronts.append(stack.enter_context(_litellm(measured, upstream)))
            else:
                notes.append("LiteLLM's proxy: left out, it is not installed (make bench-peers)")
            with not_collecting():  # the client is no part of what is measured
                asyncio.run(_measure(fronts, scale, figures, notes))
    finally:
        os.sched_setaffinity(0, before)
    if measured == others:
        notes.append("there is only one core: client, backend and whoever is measured share it")
    return Outcome(figures + _growth(scale), notes=notes)


async def _measure(fronts: Sequence[Front], scale: Scale, figures: list[Figure], notes: list[str]) -> None:
    """Measure everybody, by turns where that can be. Memory comes first: what was freed once is not asked for again."""
    figures.append(await _idle(next(front for front in fronts if front.name == GATEWAY), scale))
    taken: dict[str, list[load.FirstBytes]] = {front.name: [] for front in fronts}
    for number in range(scale.rounds + 1):
        for front in fronts:
            with _alone(front, fronts):
                one = await load.first_bytes(front.port, range(number * 10, number * 10 + 3))
            if number:  # the first round warms up
                taken[front.name].append(one)
    base = taken[PROXY]
    for name, ones in taken.items():
        if name != PROXY:
            kinds = ("cold", "warm")
            figures += [_more(name, kind, _all(ones, kind), _all(base, kind)) for kind in kinds]
    figures += [_times_more(taken, kind) for kind in ("cold", "warm") if LITELLM in taken]
    rates: dict[str, float] = {}
    for front in fronts:
        with _alone(front, fronts):
            rates[front.name] = await load.requests_a_second(front.port, CLIENTS, max(scale.rounds * 2 / 3, 1.0))
    figures += await _beside_open_streams(fronts, scale)
    for name, rate in rates.items():
        figures.append(Figure(f"{name}, requests a second on one core", rate, "/s"))
    if LITELLM in rates:
        times = rates[GATEWAY] / rates[LITELLM]
        figures.append(Figure(f"{GATEWAY}, requests a second", times, against=LITELLM, goal=Goal("at least", 5)))


async def _beside_open_streams(fronts: Sequence[Front], scale: Scale) -> list[Figure]:
    """The slowest first bytes of everybody beside open streams: of the ratios of all turns the median, as elsewhere."""
    beside: dict[str, list[list[float]]] = {front.name: [] for front in fronts}
    seconds = max((scale.rounds - 1) * 2.5, 1.0)
    for turn in range(TURNS):
        for front in fronts:
            with _alone(front, fronts):
                beside[front.name].append(await load.beside_open_streams(front.port, STREAMS, RATE, seconds, seed=turn))
    usual = [median(ones) for ones in beside[PROXY]]
    figures: list[Figure] = []
    for name, turns in beside.items():
        last = [quantiles(ones, n=100)[-1] for ones in turns]
        times = median(one / other for one, other in zip(last, usual, strict=True))
        middle = median(median(ones) for ones in turns)
        detail = f"{milliseconds(median(last))}, median {milliseconds(middle)} / {milliseconds(median(usual))}"
        named = f"{name}, {STREAMS} streams open and {RATE} new requests a second, the 99th of a hundred first bytes"
        goal = Goal("at most", 3) if name == GATEWAY else None
        figures.append(Figure(named, times, against=f"{PROXY}, median", detail=detail, goal=goal))
    return figures


async def _idle(front: Front, scale: Scale) -> Figure:
    """The memory of conversations that nobody comes back to."""
    await load.first_bytes(front.port, range(-3, 0))  # whatever is loaded at first use
    idle, held = round(IDLE * min(scale.rounds / 9, 1)), _resident(front)
    await load.leave_idle(front.port, idle)
    return Figure(f"{GATEWAY}, {idle:,} idle conversations", _resident(front) - held, "MB", goal=Goal("below", 200))


def _all(taken: Sequence[load.FirstBytes], kind: str) -> list[float]:
    return [seconds for one in taken for seconds in getattr(one, kind)]


def _more(name: str, kind: str, ones: Sequence[float], base: Sequence[float]) -> Figure:
    one, floor = median(ones), median(base)
    goal = Goal("at most", 3) if (name, kind) == (GATEWAY, "warm") else None
    told = f"{milliseconds(one)} - {milliseconds(floor)}"
    return Figure(f"{name}, first byte, {kind}", (one - floor) * 1000, "ms", PROXY, told, goal)


def _times_more(taken: Mapping[str, Sequence[load.FirstBytes]], kind: str) -> Figure:
    """What LiteLLM's proxy adds to a first byte, as a multiple of what the gateway adds."""
    usual = {name: median(_all(ones, kind)) for name, ones in taken.items()}
    added = {name: seconds - usual[PROXY] for name, seconds in usual.items()}
    detail = f"{milliseconds(added[LITELLM])} / {milliseconds(added[GATEWAY])}"
    named = f"{LITELLM}, what it adds to a first byte, {kind}"
    return Figure(named, added[LITELLM] / added[GATEWAY], against=GATEWAY, detail=detail, goal=Goal("at least", 5))


def _resident(front: Front) -> float:
    """Megabytes that it has in memory."""
    status = Path(f"/proc/{front.process}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


def _growth(scale: Scale) -> list[Figure]:
    """The last request of a long conversation beside the hundredth, for each API."""
    requests, early = (REQUESTS, 100) if scale.rounds > 2 else (40, 20)
    figures: list[Figure] = []
    for name, client in growth.CLIENTS.items():
        costs = growth.grow(client, requests)
        one, other = growth.around(costs, requests), growth.around(costs, early)
        detail = f"{milliseconds(one.beyond)} / {milliseconds(other.beyond)}, at {one.size / 1e6:.1f} MB"
        named = f"{name}, request {requests} of a conversation"
        figures.append(
            Figure(
                named,
                one.beyond / other.beyond,
                against=f"request {early}, both beyond decoding them",
                detail=detail,
                goal=Goal("at most", 1.5),
            )
        )
    return figures
