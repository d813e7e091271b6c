"""The cases by name, in the order in which they are run and shown."""

from __future__ import annotations

from collections.abc import Callable

from bench.cases import (
    clients,
    confining,
    files,
    footprint,
    keeping,
    peers,
    reading,
    recording,
    rendering,
    serving,
    sessions,
    starting,
    stepping,
)
from bench.figures import Outcome, Scale

CASES: dict[str, Callable[[Scale], Outcome]] = {
    "cold": rendering.cold,
    "stages": rendering.stages,
    "sizes": rendering.sizes,
    "steady": rendering.steady,
    "step": stepping.step,
    "sessions": sessions.sessions,
    "corrupt": rendering.corrupt,
    "dialects": rendering.dialects,
    "gate": rendering.gate,
    "raw": recording.raw,
    "record": recording.record,
    "replay": recording.replay,
    "streams": reading.streams,
    "client": clients.client,
    "gateway": serving.gateway,
    "files": files.files,
    "pages": files.pages,
    "memory": footprint.memory,
    "imports": footprint.imports,
    "starting": starting.starting,
    "sandbox": confining.sandbox,
    "store": keeping.store,
    "compaction": keeping.compaction,
    "peers": peers.peers,
}
