"""What came of the clients' tasks: kept as data, and as a page to read.

In:  a cell for each client and backend.
Out: docs/clients.json, and docs/clients.md made from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill

import msgspec
from msgspec import Struct

from scripts.clients.stage import BACKENDS, ROUTES
from scripts.clients.tasks import TASKS, Outcome

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "clients.json"
PAGE = ROOT / "docs" / "clients.md"
WIDTH = 120


class Cell(Struct):
    """What one client did on one backend. `log` is where it can be read, if something was not done."""

    client: str
    backend: str
    outcomes: list[Outcome]
    log: str = ""

    @property
    def done(self) -> int:
        """How many tasks were done."""
        return sum(not outcome.why for outcome in self.outcomes)

    @property
    def is_done(self) -> bool:
        """Whether all were."""
        return self.done == len(self.outcomes)

    def lines(self) -> list[str]:
        """The cell in a line, and one for each task that was not done."""
        where = f" (see {self.log})" if self.log else ""
        failed = [f"    {outcome.task}: {outcome.why}" for outcome in self.outcomes if outcome.why]
        return [f"{self.client} on {self.backend}: {self.done}/{len(self.outcomes)}{where}", *failed]


class Record(Struct):
    """A whole run."""

    date: str
    is_alone: bool
    """whether it ran where there is no network but loopback"""
    versions: dict[str, str]
    cells: list[Cell]


def new_record(cells: Sequence[Cell], versions: Mapping[str, str], *, is_alone: bool) -> Record:
    """What is kept of a run that ends now; where its logs were is of no use to anybody else."""
    kept = [Cell(cell.client, cell.backend, cell.outcomes) for cell in cells]
    return Record(datetime.now(UTC).date().isoformat(), is_alone, dict(versions), kept)


def write(record: Record) -> None:
    """Keep `record`, and write the page."""
    RECORD.write_text(json.dumps(msgspec.to_builtins(record), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


def read() -> Record:
    """The record of the newest whole run."""
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


# --- the page ---------------------------------------------------------------------------------------------------------


def page(record: Record) -> str:
    """The page for `record`."""
    parts = [_INTRODUCTION, _numbers(record), "\n".join(table(record.cells, record.versions)), _TASKS, _by_task(record)]
    failures = [
        f"- {cell.client} on {cell.backend}, {o.task}: {o.why}" for cell in record.cells for o in cell.outcomes if o.why
    ]
    if failures:
        parts += ["## What was not done", "\n".join(failures)]
    return "\n\n".join([*parts, _HOW]) + "\n"


def table(cells: Iterable[Cell], versions: Mapping[str, str]) -> list[str]:
    """A row for each client, a column for each backend."""
    cells = list(cells)
    shown = [backend for backend in BACKENDS if any(cell.backend == backend for cell in cells)]
    found = {(cell.client, cell.backend): f"{cell.done}/{len(cell.outcomes)}" for cell in cells}
    lines = [f"| client | version | {' | '.join(shown)} |", f"|---|---|{'---|' * len(shown)}"]
    for client in dict.fromkeys(cell.client for cell in cells):
        values = [found.get((client, backend), "") for backend in shown]
        lines.append(f"| {client} | {versions.get(client, '')} | {' | '.join(values)} |")
    return lines


def summary(cells: Iterable[Cell]) -> str:
    """All tasks together."""
    cells = list(cells)
    return f"{sum(cell.done for cell in cells)}/{sum(len(cell.outcomes) for cell in cells)}"


def _numbers(record: Record) -> str:
    outcomes = [outcome for cell in record.cells for outcome in cell.outcomes]
    requests, thoughts = sum(o.requests for o in outcomes), sum(o.thoughts for o in outcomes)
    refused = sum(o.refused for o in outcomes)
    alone = "in a network that had nothing but loopback" if record.is_alone else "kept from the network by its settings"
    return fill(
        f"On {record.date}: **{summary(record.cells)}** tasks were done. Providers had {requests:,} requests, of which "
        f"they refused {refused or 'none'}. {thoughts:,} signed or encrypted thoughts came back to the models that had "
        f"them, which know their own and refuse any other. Every client ran {alone}.",
        WIDTH,
    )


def _by_task(record: Record) -> str:
    lines = ["| task | done |", "|---|---|"]
    for task in TASKS:
        outcomes = [o for cell in record.cells for o in cell.outcomes if o.task == task]
        lines.append(f"| {task} | {sum(not o.why for o in outcomes)}/{len(outcomes)} |")
    return "\n".join(lines)


_INTRODUCTION = f"""\
# Real clients, every backend

Written by `make clients`; do not edit by hand.

Coding clients as their vendors publish them, through [the gateway](gateway.md): each is led there by the lines of
`legato serve --env`, with no other change, and does the same tasks on each of {len(ROUTES)} families of backends, and
once more with another backend at every request. The providers are simulated, on connections of their own; they refuse
what the real ones refuse."""

_TASKS = """\
What each of them does:

- **one call** reads a file, **parallel calls** reads two at once, **two steps** runs a command and then reads a file;
- **continue** asks in the newest conversation what was read, **resume** goes on with an older one, named by its id;
- **an edit** changes a file with the client's own tool for that, **an MCP tool** calls a tool of a server that the
  client started."""

_HOW = """\
## How it is judged

Files and the MCP server hold words that nobody knows who has not looked, and the client has to print them; an edit has
to be in the file. What the providers were asked shows whether two results came back together, or one after the other. A
request that a provider refused, or that the gateway did not answer, fails the task, whatever the client made of it.

Codex offers other tools to other models: JavaScript that calls everything to its newest, plain functions, free text and
a search for tools to gpt-5.5, namespaces to gpt-5.1-codex. Gemini CLI speaks to Google in two ways, and after its
dialogue for logging in has been answered it takes the first. pi has no MCP servers, and no lines of `--env`: it was led
by its `models.json`."""
