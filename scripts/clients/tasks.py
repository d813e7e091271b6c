"""What each client is asked to do, and how one sees that it was done.

In:  a client on a stage.
Out: for each task an `Outcome`: whether it was done, and if not, what was missing.

A file and the MCP server hold words that nobody knows who has not looked: what a client says in the end proves that
the calls, their results and the history were there. An edit is seen in the file. What a provider was asked shows
whether two results came back together or one after the other. And no provider may have refused anything.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from scripts.clients.clients import Client, Going, Place, Said
from scripts.clients.isolation import proxies
from scripts.clients.stage import LEGATO, Stage, Traffic
from scripts.clients.thoughts import thoughts_that_came_home

LONGEST = 180.0
"""seconds that a client has for a task: our choice, they take a few"""


class Outcome(Struct, frozen=True):
    """What came of a task. `why` is empty if it was done."""

    task: str
    why: str
    requests: int
    refused: int
    thoughts: int
    """those that providers got back, and knew as their own"""


class Failed(Exception):
    """A task that was not done, and why."""


class Run:
    """One client on one stage, from its first conversation to its last."""

    def __init__(self, client: Client, stage: Stage, folder: Path, programs: Path) -> None:
        self._client, self._stage, self._programs = client, stage, programs
        self._words = {name: _word(client.title, folder.name, name) for name in ("notes", "hall", "song")}
        home, project = folder / "home", folder / "project"
        self.place = Place(home, project, stage.port, folder / "songs.jsonl", self._words["song"])
        self._session = ""
        self._log = folder / "client.log"
        for path in (home, project):
            path.mkdir()
        self._notes, self._hall = project / "notes.txt", project / "hall.txt"
        self._notes.write_text(f"The rehearsal begins with {self._words['notes']}.\n", encoding="utf-8")
        self._hall.write_text(f"small {self._words['hall']}\n", encoding="utf-8")
        for name, text in client.files(self.place).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")

    def outcomes(self) -> Iterator[Outcome]:
        """Every task, in order: later ones go on with conversations of earlier ones."""
        for task, do in TASKS.items():
            if task == MCP and not self._client.song:
                continue
            mark = self._stage.mark()
            try:
                do(self)
                why = ""
            except Failed as failure:
                why = str(failure)
            traffic = self._stage.since(mark)
            why = "; ".join([*filter(None, [why]), *traffic.refused, *traffic.failed, *self._unexpected(traffic)])
            asked, thoughts = len(traffic.asked), thoughts_that_came_home(traffic.asked)
            yield Outcome(task, why, asked, len(traffic.refused), thoughts)

    # --- the tasks ----------------------------------------------------------------------------------------------------

    def one_call(self) -> None:
        said, _ = self._ask(f"think first, then {self._client.tools.read(self._notes)}")
        self._session = said.session
        self._expect(said, "notes")

    def parallel(self) -> None:
        said, traffic = self._ask(f"think first, then {self._client.tools.read_both(self._notes, self._hall)}")
        self._expect(said, "notes", "hall")
        if any(len(self._known(seen.body)) == 1 for seen in traffic.asked):
            raise Failed("the two results did not come back together")

    def continues(self) -> None:
        said, _ = self._ask("what did the first tool return?", Going.CONTINUED)
        self._expect(said, "notes")

    def two_steps(self) -> None:
        tools = self._client.tools
        said, traffic = self._ask(
            f"think first, then {tools.shell(f'cat {self._notes}')} then {tools.read(self._hall)}"
        )
        self._expect(said, "hall")
        if not any(self._known(seen.body) == {"notes"} for seen in traffic.asked):
            raise Failed("the second call did not wait for the first result")

    def edit(self) -> None:
        old, new = f"small {self._words['hall']}", f"large {self._words['hall']}"
        tools = self._client.tools
        self._ask(f"{tools.read(self._hall)} then {tools.edit(self._hall, old, new)}")
        if self._hall.read_text(encoding="utf-8").strip() != new:
            raise Failed("the file was not edited")

    def mcp(self) -> None:
        title = "Blue Hour"
        words = self._client.tools.find_song(self._client.song, title)
        said, _ = self._ask(f"{self._client.search} then {words}" if self._client.search else words)
        calls = self.place.song_calls
        if not calls.exists() or title not in calls.read_text(encoding="utf-8"):
            raise Failed(f"the MCP server was not called; the client said: {said.text[:200]}")
        self._expect(said, "song")

    def resumes(self) -> None:
        """The first conversation goes on: another call, and what was known before is still there.

        It is not the one that was continued: that one Gemini CLI (0.61.0) sometimes loses.
        """
        said, traffic = self._ask(f"think first, then {self._client.tools.read(self._hall)}", Going.RESUMED)
        self._expect(said, "hall")
        if not any(self._known(seen.body) == {"notes", "hall"} for seen in traffic.asked):
            raise Failed("what was known before is gone")

    # --- how ----------------------------------------------------------------------------------------------------------

    def _ask(self, message: str, going: Going = Going.NEW) -> tuple[Said, Traffic]:
        """Let the client work on `message`; raises `Failed` if it does not end well."""
        mark = self._stage.mark()
        command = shlex.join(self._client.command(self.place, message, going, self._session))
        lines = ["shopt -s expand_aliases"]
        if self._client.env:
            lines.append(f'eval "$({shlex.join(self._env_command())})"')
        # A shell, as a person has one: aliases hold from the next line on.
        typed = message if self._client.takes_stdin else ""
        status, printed, told = _run("\n".join([*lines, command]), typed, self.place.project, self._environment())
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {command}\n{printed}\n{told}\n(exit {status})\n\n")
        try:
            said = self._client.read(printed)
        except (ValueError, LookupError, TypeError):
            raise Failed(f"exit {status}: {(told or printed).strip()[-300:]}") from None
        if status:
            raise Failed(f"exit {status}: {(said.text or told).strip()[-300:]}")
        return said, self._stage.since(mark)

    def _env_command(self) -> list[str]:
        return [str(LEGATO), "serve", "--env", self._client.env, "--port", str(self._stage.port)]

    def _environment(self) -> dict[str, str]:
        node = shutil.which("node")
        folders = [
            str(self._programs),
            *([str(Path(node).parent)] if node else []),
            "/usr/local/bin",
            "/usr/bin",
            "/bin",
        ]
        here = {"HOME": str(self.place.home), "PATH": os.pathsep.join(folders), "LANG": "C.UTF-8", "TERM": "dumb"}
        around = proxies() if self._client.heeds_no_proxy else {}
        return {**here, **around, **self._client.environment}

    def _known(self, body: bytes) -> set[str]:
        """Which of the two files' words are in a request."""
        return {name for name in ("notes", "hall") if self._words[name].encode() in body}

    def _expect(self, said: Said, *names: str) -> None:
        missing = [name for name in names if self._words[name] not in said.text]
        if missing:
            raise Failed(f"the answer does not know {' and '.join(missing)}: {said.text[:200]}")

    def _unexpected(self, traffic: Traffic) -> Iterator[str]:
        """What the providers that were asked say about who asked them."""
        if not traffic.asked:
            yield "nobody was asked"
        asked = {f"{seen.provider}/{seen.model}" for seen in traffic.asked if seen.refusal is None}
        if others := asked - set(self._stage.routes):
            yield f"{', '.join(sorted(others))} answered"
        # Each conversation takes its turns, and an errand of the client's (a title, say) is a conversation of its own.
        if len(self._stage.routes) > 1 and len(traffic.asked) > 1 and len(asked) == 1:
            yield "every request went to the same provider"


MCP = "an MCP tool"
TASKS: dict[str, Callable[[Run], None]] = {
    "one call": Run.one_call,
    "parallel calls": Run.parallel,
    "continue": Run.continues,
    "two steps": Run.two_steps,
    "an edit": Run.edit,
    MCP: Run.mcp,
    "resume": Run.resumes,
}


def _word(*parts: str) -> str:
    """A word that nobody can guess, the same at every run."""
    return "W" + sha256("/".join(parts).encode()).hexdigest()[:12]


def _run(script: str, typed: str, folder: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """Exit status and what was printed; a client that hangs is ended with all that it started."""
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, told = process.communicate(typed, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, told = process.communicate()
        told += f"\nit did not end within {LONGEST:.0f} seconds"
    return process.returncode, printed, told
