"""`make clients`: install the clients, let each do every task on every backend, and record what came of it.

CLIENTS and BACKENDS narrow the run, by any part of a name, separated by commas; only a whole run is recorded. The exit
status is 1 if a task was not done.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from scripts.clients.clients import CLIENTS, Client
from scripts.clients.installing import NotInstalled, install, installed, version_of
from scripts.clients.isolation import is_alone, is_inside, move_into_own_network
from scripts.clients.results import RECORD, Cell, new_record, summary, table, write
from scripts.clients.stage import BACKENDS, open_stage
from scripts.clients.tasks import Run


def main() -> int:
    """Run, print, record, and judge."""
    options = _options()
    clients = [client for client in CLIENTS if _is_meant(client.title, os.environ.get("CLIENTS", ""))]
    backends = [backend for backend in BACKENDS if _is_meant(backend, os.environ.get("BACKENDS", ""))]
    packages = list(dict.fromkeys(client.package for client in clients))
    if not is_inside():
        _install(packages)
    move_into_own_network(sys.argv[1:])
    programs = {package: folder for package in packages if (folder := installed(package)) is not None}
    print(
        "no network but loopback" if is_alone() else "clients are kept from the network by their settings", flush=True
    )
    wanted = [(client, backend) for client in clients if client.package in programs for backend in backends]
    cells: list[Cell] = []
    with ThreadPoolExecutor(options.workers) as pool:
        running = {pool.submit(_play, client, backend, programs[client.package]): client for client, backend in wanted}
        for done in as_completed(running):
            cells.append(done.result())
            print("\n".join(cells[-1].lines()), flush=True)
    titles = [client.title for client in CLIENTS]
    cells.sort(key=lambda cell: (titles.index(cell.client), BACKENDS.index(cell.backend)))
    versions = {client.title: version_of(client.package) for client in clients}
    print("\n".join(["", *table(cells, versions), "", summary(cells)]))
    if len(wanted) == len(CLIENTS) * len(BACKENDS):
        write(new_record(cells, versions, is_alone=is_alone()))
        print(f"recorded in {RECORD.name} and the page beside it")
    return int(len(programs) < len(packages) or any(outcome.why for cell in cells for outcome in cell.outcomes))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make clients", description="Real clients, through the gateway.")
    parser.add_argument("--workers", type=int, default=2, help="how many clients run at once (%(default)s)")
    return parser.parse_args()


def _install(packages: list[str]) -> None:
    for package in packages:
        try:
            install(package)
        except NotInstalled as error:
            print(f"{package}: left out, it cannot be installed here ({error})", flush=True)


def _is_meant(name: str, asked: str) -> bool:
    return not asked or any(part.strip().lower() in name.lower() for part in asked.split(","))


def _play(client: Client, backend: str, programs: Path) -> Cell:
    """Every task of `client` on `backend`; what it left behind is kept only if something was not done."""
    folder = Path(tempfile.mkdtemp(prefix="legato-clients-"))
    with open_stage(folder, backend) as stage:
        outcomes = list(Run(client, stage, folder, programs).outcomes())
    cell = Cell(client.title, backend, outcomes, log=str(folder))
    if cell.is_done:
        shutil.rmtree(folder)
        cell.log = ""
    return cell


if __name__ == "__main__":
    sys.exit(main())
