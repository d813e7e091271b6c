"""`make handover`: what one real client began, another goes on with, from a file that `legato convert` made.

In:  the clients that `make clients` installs.
Out: for each pair of them, whether the second knew what the first one's tool had returned.

The first client reads a file that holds a word nobody can guess. Its session is converted and put where the second one
looks, which is then asked, by the id of the session, what the first tool returned.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from legato.formats import FORMATS
from scripts.clients.clients import CLIENTS, Client, Going, Place
from scripts.clients.installing import NotInstalled, install, installed, version_of
from scripts.clients.isolation import is_inside, move_into_own_network
from scripts.clients.stage import LEGATO, Stage, open_stage
from scripts.clients.tasks import Failed, Run

AGENTS: Mapping[str, str] = {
    "Claude Code": "claude-code",
    "Codex, gpt-5.1-codex": "codex",
    "Gemini CLI": "gemini-cli",
    "OpenCode": "opencode",
    "Qwen Code": "qwen-code",
    "pi": "pi",
}
"""clients, and the formats of their sessions"""

_QUESTION = "what did the first tool return?"
_WORKERS = 2
"""clients that run at once: as many as `make clients` lets run"""


class Part(Run):
    """A client that begins a conversation, or takes it over."""

    def begin(self) -> Path:
        """Let it use a tool; the file that its session is in."""
        self.one_call()
        home = FORMATS[AGENTS[self._client.title]].home
        assert home is not None  # all of these keep files
        folder = self.place.home / Path(home.folder).relative_to("~")
        files = sorted(folder.glob(home.files), key=lambda file: file.stat().st_mtime)
        if not files:
            raise Failed(f"no session in {folder}")
        return files[-1]

    def take_over(self, session: Path, project: Path, word: str) -> None:
        """Go on with a session of another client; raises `Failed` if it does not know what was said there."""
        self.place = self.place._replace(project=project)
        self._session = self._install(session)
        said, traffic = self._ask(_QUESTION, Going.RESUMED)
        if word not in said.text:
            raise Failed(f"the answer does not know what was returned: {said.text[:200]}")
        if wrong := [*traffic.refused, *traffic.failed]:
            raise Failed("; ".join(wrong))

    def word(self) -> str:
        """What the tool returned, and nobody else knows."""
        return self._words["notes"]

    def _install(self, session: Path) -> str:
        """Convert a session and put it where this client looks; its id."""
        target = AGENTS[self._client.title]
        if FORMATS[target].place is not None:
            return self._legato(session, target, "--install").split()[-1]
        file = self.place.home / "session.json"
        self._legato(session, target, "-o", str(file))
        value = json.loads(file.read_text(encoding="utf-8"))
        done = self._run(["opencode", "import", str(file)], self._environment())
        if done.returncode:
            raise Failed(f"opencode import: {done.stderr.strip()[-300:]}")
        return value["info"]["id"]

    def _legato(self, session: Path, *options: str) -> str:
        target, *rest = options
        done = self._run([str(LEGATO), "convert", str(session), "--to", target, *rest], {"HOME": str(self.place.home)})
        if done.returncode:
            raise Failed(f"legato convert: {done.stderr.strip()[-300:]}")
        return done.stdout

    def _run(self, command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        path = {"PATH": os.environ.get("PATH", "")}
        return subprocess.run(
            command, cwd=self.place.project, env={**path, **environment}, capture_output=True, text=True, check=False
        )


def _client(title: str) -> Client:
    known = next(client for client in CLIENTS if client.title == title)
    if title != "OpenCode":
        return known

    def command(place: Place, message: str, going: Going, session: str) -> list[str]:
        # A session names the model that it was held with, which this client need not have.
        return [*known.command(place, message, going, session), "--model", "legato/default"]

    return replace(known, command=command)


def _play(giver: str, takers: Sequence[str]) -> list[tuple[str, str, str]]:
    """What one client began, for each other one: both titles, and why it could not go on, if it could not."""
    folder = Path(tempfile.mkdtemp(prefix="legato-handover-"))
    with open_stage(folder, "Anthropic") as stage:
        outcomes = [(giver, taker, why) for taker, why in _outcomes(giver, takers, stage, folder)]
    if not any(why for *_, why in outcomes):
        shutil.rmtree(folder)
    return outcomes


def _outcomes(giver: str, takers: Sequence[str], stage: Stage, folder: Path) -> Iterator[tuple[str, str]]:
    try:
        first = _part(giver, stage, folder / "first")
        session = first.begin()
    except Failed as failure:
        yield from ((taker, f"it did not begin: {failure}") for taker in takers)
        return
    for number, taker in enumerate(takers):
        try:
            _part(taker, stage, folder / str(number)).take_over(session, first.place.project, first.word())
            yield taker, ""
        except Failed as failure:
            yield taker, str(failure)


def _part(title: str, stage: Stage, folder: Path) -> Part:
    folder.mkdir()
    client = _client(title)
    programs = installed(client.package)
    if programs is None:
        raise Failed("it is not installed")
    return Part(client, stage, folder, programs)


def main() -> int:
    """Run, print, and judge."""
    asked = [part.strip().lower() for part in os.environ.get("CLIENTS", "").split(",") if part.strip()]
    titles = [title for title in AGENTS if not asked or any(part in title.lower() for part in asked)]
    if not is_inside():
        for title in titles:
            try:
                install(_client(title).package)
            except NotInstalled as error:
                print(f"{title}: left out, it cannot be installed here ({error})", flush=True)
    move_into_own_network(sys.argv[1:], "scripts.clients.handover")
    titles = [title for title in titles if installed(_client(title).package) is not None]
    print(", ".join(f"{title} {version_of(_client(title).package)}" for title in titles), flush=True)
    failures = 0
    with ThreadPoolExecutor(_WORKERS) as pool:
        running = [pool.submit(_play, title, [other for other in titles if other != title]) for title in titles]
        for done in as_completed(running):
            for giver, taker, why in done.result():
                failures += bool(why)
                print(f"{giver} -> {taker}: {why or 'goes on'}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
