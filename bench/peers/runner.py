"""Run one converter on chat messages from a file and print how long it took, as JSON.

    python -P bench/peers/runner.py MODULE MESSAGES.json [--sizes 1000] [--rounds 3] [--sessions 200]

Only the standard library is used, because this runs inside the environments of other libraries. `-P` keeps this folder
off the import path, where a module has the name of the library that it measures.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUICK = 0.3
"""seconds"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("module", type=Path)
    parser.add_argument("messages", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000], help="how many of the messages to convert")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, nargs="*", default=[], help="also convert after each of so many turns")
    parser.add_argument("--gc", action="store_true", help="leave the garbage collector on")
    options = parser.parse_args()

    peer = _load(options.module)
    messages: list[dict[str, Any]] = json.loads(options.messages.read_bytes())
    results: list[dict[str, Any]] = []
    for label, (convert, repairs) in peer.CONVERTERS.items():
        for size in options.sizes:
            objects = peer.load(messages[:size])
            fresh = getattr(peer, "fresh", list)
            seconds = _samples(convert, lambda o=objects, f=fresh: f(o), options.rounds, options.gc)
            results.append({"label": label, "repairs": repairs, "messages": size, "seconds": seconds})
        for length in options.sessions:
            turns = [peer.load(turn) for turn in _turns(messages)[:length]]
            session: Callable[[list[list[Any]]], object] = getattr(peer, "session", lambda t, c=convert: _session(t, c))
            total = _timed(session, turns, options.gc)
            results.append({"label": label, "repairs": repairs, "turns": len(turns), "seconds": [total]})
    for label, convert in getattr(peer, "FROM_JSON", {}).items():
        for size in options.sizes:
            data = json.dumps(messages[:size]).encode()
            seconds = _samples(convert, lambda d=data: d, options.rounds, options.gc)
            results.append({"label": label, "repairs": False, "messages": size, "seconds": seconds})
    version = importlib.metadata.version(peer.DISTRIBUTION)
    print(json.dumps({"version": version, "python": sys.version.split()[0], "results": results}))


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"peer_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _samples(work: Callable[[Any], object], given: Callable[[], Any], rounds: int, collecting: bool) -> list[float]:
    """So many samples after one that warms up; three times as many where that takes hardly any time."""
    first = _timed(work, given(), collecting)
    return [_timed(work, given(), collecting) for _ in range(rounds * 3 if first < QUICK else rounds)]


def _timed(work: Callable[[Any], object], given: Any, collecting: bool) -> float:
    gc.collect()
    if not collecting:
        gc.disable()
    begin = time.process_time()
    result = work(given)
    seconds = time.process_time() - begin
    gc.enable()
    del result
    return seconds


def _turns(messages: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    turns: list[list[dict[str, Any]]] = []
    for message in messages:
        if message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    return turns


def _session(turns: list[list[Any]], convert: Callable[[list[Any]], object]) -> None:
    history: list[Any] = []
    for turn in turns:
        history += turn
        convert(list(history))


if __name__ == "__main__":
    main()
