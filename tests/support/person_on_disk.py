"""Write what the program leaves on a person's disk: sessions, settings, grants, exports.

    python tests/person_on_disk.py FOLDER

FOLDER becomes a home as `program.Home` lays it out (config, state, cache, data), with a project and exported sessions
beside it. Everything goes through the program's own code: sessions talk to simulated providers and are stored as they
happen, grants are remembered where an answer of "always" puts them, and the last session ends in the middle of a
question, by the death of the process. No path or host of the machine that ran this is in it.

`tests/data/disk-0.1` was made this way and is never made again: later code must go on opening it. A release that changes
what is written adds a folder of its own beside it.
"""

from __future__ import annotations

import base64
import os
import platform
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from legato.cli.chat.mcp_servers import find_servers
from legato.cli.settings.trust import Trust
from legato.cli.settings.writing import EXAMPLE, add_rule, write_file
from legato.errors import BadAnswer
from legato.formats import read, write
from legato.model import JsonObject, Media, MediaKind, ToolCall, ToolSpec
from legato.model.hashing import digest
from legato.model.records import Scope, Verdict
from legato.session import Session, ToolHistory, World, events, task_tool
from legato.session.compaction.settings import HistorySettings
from legato.simulation import SimulatedTransport
from legato.store.sqlite import SqliteStore
from legato.store.testing.samples import EVERY_RECORD
from legato.tools import Approval, Mode, Question, Ruling, Tool, ToolBox, ToolContext, ToolKind, ToolOutput
from legato.transcript import Conversation
from legato.transport import KeyRing

from builders import ROUTES

HOME, PROJECT = "/home/ada", "/home/ada/engine"
"""where it all seems to have happened"""

VARIED, CANCELLED, COMPACTED, EVERY, IMPORTED, PARKED = (
    "Every provider, one after the other",
    "Cancelled",
    "Compacted and undone",
    "One record of each kind",
    "Imported",
    "A question is open",
)
"""the titles of the sessions"""

FIRST = "anthropic/claude-sonnet-4-5"

SETTINGS = """\
model = "anthropic/claude-sonnet-4-5"

[profiles.work]  # who answers when one of them is down
policy = "failover"
routes = [
    "anthropic/claude-sonnet-4-5",
    { route = "openai/gpt-5.1", options = { effort = "high" }, headers = { "x-team" = "docs" } },
]

[keys]
mistral = "$ADA_MISTRAL_KEY"

[limits]
max_turns = 40

[history]
summary_cap = 400
"""

PROJECT_SETTINGS = """\
route = "work"

[approval]
allow = ["shell(make test)"]
deny = ["shell(git push *)"]
"""

SERVERS = """\
{"mcpServers": {"notes": {"command": "notes-server", "args": ["--folder", "docs"], "env": {"NOTES": "all"}}}}
"""

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c63606060f80f0001050101a6ab0d0e0000000049454e44ae426082"
    )
).decode()
PICTURE = Media(kind=MediaKind.IMAGE, mime="image/png", data=PNG, name="plan.png")

_PATH: JsonObject = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def write_home(folder: Path) -> None:
    """Fill `folder`, in a process of its own, because that ends in the middle of a question."""
    done = subprocess.run([sys.executable, __file__, str(folder)], check=False, capture_output=True, text=True)
    if done.returncode != _DIES:
        raise AssertionError(f"the process should have died while it asked, with {_DIES}: {done}")


# --- settings and grants ----------------------------------------------------------------------------------------------


def _write_settings(home: Path) -> Path:
    settings = home / "config" / "legato" / "config.toml"
    write_file(settings, f"{EXAMPLE}\n{SETTINGS}")
    return settings


def _write_grants(home: Path) -> None:
    project = home / "project"
    project.mkdir(parents=True)
    (project / ".legato.toml").write_text(PROJECT_SETTINGS)
    (project / ".mcp.json").write_text(SERVERS)
    trust = Trust(home / "state" / "legato" / "trusted.json")
    trust.remember(Path(PROJECT), digest((project / ".legato.toml").read_bytes()))
    for server in find_servers(project, trust).unknown:
        trust.remember(Path(PROJECT), server.digest)


def _write_typed(home: Path) -> None:
    from prompt_toolkit.history import FileHistory

    history = FileHistory(str(home / "state" / "legato" / "history"))
    for line in ("What is in this folder?", "two lines\nin one message"):
        history.store_string(line)


# --- tools ------------------------------------------------------------------------------------------------------------


def _tool(name: str, run: Any, kind: ToolKind = ToolKind.READ) -> Tool:
    return Tool(spec=ToolSpec(name, f"{name} a file.", _PATH), run=run, kind=kind, subject=lambda given: given["path"])


async def _read(arguments: JsonObject, _: ToolContext) -> object:
    path = str(arguments["path"])
    if path.endswith(".png"):
        return ToolOutput("a picture", media=(PICTURE,))
    if path.startswith("missing"):
        raise FileNotFoundError(f"there is no {path}")
    if path.endswith((".log", ".list")):
        lines = 480 if path.endswith(".log") else 40
        return "".join(f"{number:04} the pump runs, nothing to report\n" for number in range(lines))
    if path.endswith(".json"):
        return {"path": path, "lines": [1, 2.5, None, True], "nested": {"é": "𝄞"}}
    return f"{path}: the rehearsal is on Thursday.\n"


async def _write(arguments: JsonObject, _: ToolContext) -> object:
    return f"wrote {arguments['path']}"


async def _wait(arguments: JsonObject, context: ToolContext) -> object:
    context.partial = f"{arguments['path']}: 40 %"
    await anyio.sleep_forever()


READ, WRITE, WAIT = _tool("read_file", _read), _tool("write_file", _write, ToolKind.EDIT), _tool("await_file", _wait)


class Answers:
    """Somebody who answers the questions in this order; at the end of the list the process dies."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)

    async def ask(self, question: Question) -> Ruling:
        if not self._answers:
            os._exit(_DIES)
        return Ruling(call=question.call, digest=question.digest, **self._answers.pop(0))


_DIES = 17
"""the exit status of the process that dies in the middle of a question"""


# --- sessions ---------------------------------------------------------------------------------------------------------


class Clock:
    """Seconds that pass one by one, in a past in which every lease has long expired."""

    def __init__(self) -> None:
        self._now = 1_700_000_000.0

    def __call__(self) -> float:
        self._now += 1
        return self._now


def surroundings() -> World:
    """Simulated providers, with a key that nobody uses, so that answers have an account."""
    return World(transport=SimulatedTransport(), keys=KeyRing({"anthropic": "sk-nobody"}, {}), clock=time.time)


@asynccontextmanager
async def _session(
    store: SqliteStore, title: str, *, tools: Sequence[Tool] | ToolBox = (READ, WRITE, WAIT), **settings: Any
) -> AsyncIterator[Session]:
    settings.setdefault("approval", Approval(Mode.NEVER))
    settings.setdefault("world", surroundings())
    async with Session(FIRST, tools=tools, store=store, meta={"cwd": PROJECT, "title": title}, **settings) as made:
        yield made


async def _talk_to_everybody(store: SqliteStore, home: Path, settings: Path) -> str:
    """A session that every provider has answered in, with media, failures, approvals, a subagent and a long output."""
    world = surroundings()
    asked = Answers(
        {"verdict": Verdict.ALLOWED, "scope": Scope.ALWAYS, "pattern": "notes/**"},
        {"verdict": Verdict.DENIED, "reason": "not this one"},
        {"verdict": Verdict.ALLOWED, "scope": Scope.SESSION, "arguments": {"path": "plan-2.md"}},
    )
    approval = Approval(approver=asked, remember=lambda rule: add_rule(settings, rule.effect.value, str(rule)))
    task = task_tool("mistral/mistral-large-latest", tools=ToolBox([READ]), world=world, approval=approval)

    def spill(text: str, call: ToolCall) -> str:
        place = Path("cache/legato/outputs") / "long" / f"{call.id}.txt"
        write_file(home / place, text)
        return f"{HOME}/.{place}"

    async with _session(
        store, VARIED, tools=[READ, WRITE, task], approval=approval, world=world, spill=spill
    ) as session:
        await session.send("What do you see?", PICTURE)
        for number, route in enumerate(ROUTES):
            await session.switch(route)
            name = f"{number}-{route.partition('/')[0]}"
            await session.send(f"think first, then use read_file on {name}.md, {name}.json and missing-{number}.md")
        await session.send("use read_file on plan.png")
        for path in ("notes/a.md", "secret.md", "plan.md"):
            await session.send(f"use write_file on {path}")
        await session.send('call task with {"prompt": "use read_file on inner.md"}')
        await session.switch(FIRST)
        await session.send("use read_file on pump.log, a.md, b.md, c.md, d.md, e.md and f.md")
        await session.send("write broken arguments once, then use read_file on last.md")
        assert session.id is not None
        return session.id


async def _cancel(store: SqliteStore) -> str:
    async with _session(store, CANCELLED) as session:
        await session.send("use read_file on a.md")
        turn = session.send("think first, then use await_file on slow.md; use read_file on quick.md")
        async for event in turn:
            if isinstance(event, events.ToolBegan):
                turn.cancel()
        turn = session.send("tell me a long story")
        async for event in turn:
            if isinstance(event, events.TextShown):
                turn.cancel()
        await session.switch("openai/gpt-4o")
        with suppress(BadAnswer):  # the turn failed, and what was visible of its answer stays
            await session.send("cut the stream after 3 chunks once")
        assert session.id is not None
        return session.id


async def _compact(store: SqliteStore) -> None:
    settings = HistorySettings(max_tool_history_length=2, truncation_threshold=1_000, summary_cap=200, min_gain=0.0)
    async with _session(store, COMPACTED, history=ToolHistory(settings)) as session:
        for number in range(6):
            await session.send(f"use read_file on a{number}.list")
        await session.send("use read_file on undone.md")
        await session.undo()
        await session.compact()
        await session.send("what did the first tool return?")


async def _export(store: SqliteStore, varied: str, cancelled: str, folder: Path) -> bytes:
    files = {"legato": b"".join([line async for line in store.export(varied)])}
    talk = Conversation(await store.read(cancelled))
    files |= {form: write(talk, form).data for form in ("claude-code", "codex")}
    for form, data in files.items():
        write_file(folder / f"session.{form}.jsonl", data.decode())
    return files["codex"]


async def _import(store: SqliteStore, data: bytes) -> None:
    log = read(data).conversation(compacted=True).log
    await store.create(meta={"title": IMPORTED, "cwd": PROJECT, "imported": "codex session.jsonl"}, records=log)


async def _write_sessions(home: Path, settings: Path) -> None:
    place = home / "data" / "legato" / "sessions.db"
    # The rollback journal whatever is linked here, so that all of it is in one file.
    async with SqliteStore(place, sqlite_version=(3, 40, 1)) as store:
        varied = await _talk_to_everybody(store, home, settings)
        cancelled = await _cancel(store)
        await _compact(store)
        await store.create(meta={"title": EVERY, "cwd": PROJECT}, records=EVERY_RECORD)
        await _import(store, await _export(store, varied, cancelled, home / "exported"))
        async with _session(store, PARKED, approval=Approval(approver=Answers({"verdict": Verdict.DENIED}))) as session:
            await session.send("use write_file on a.md, b.md and c.md")
    raise AssertionError("the process should have died while it asked")


def main(folder: Path) -> None:
    """Write everything, and die."""
    platform.node, time.time = lambda: "host.example", Clock()  # a lease names its host and its time
    settings = _write_settings(folder)
    _write_grants(folder)
    _write_typed(folder)
    anyio.run(_write_sessions, folder, settings)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
