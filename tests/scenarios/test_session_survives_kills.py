"""A session whose process is killed in the middle of its work goes on in the next one, on any route.

LEGATO_KILLS says how often a process is killed (`make fuzz` and patient people set it to hundreds).
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from legato.errors import Conflict, SessionLocked, StoreUnavailable
from legato.ledger import Ledger
from legato.model import ClosureReason, Speaker, ToolResponse
from legato.model.records import Recorded, Started, TurnOutcome
from legato.request import render
from legato.session import Session
from legato.simulation import SimulatedTransport
from legato.store import open_store
from legato.store.memory import MemoryStore, Shelf
from legato.store.postgres import PostgresStore
from legato.tools import Approval, Mode
from legato.wire.findings import Severity
from session_support import CLAUDE, GPT, Library, Workshop, session, told
from session_worker import surroundings, work_tool
from store_places import own_server
from tally import count

from builders import ROUTES

KILLS = int(os.environ.get("LEGATO_KILLS", "8"))
WORKER = Path(__file__).parents[1] / "support" / "session_worker.py"


def _work_and_die(place: str, session_id: str, ran: Path) -> list[str]:
    """Let a process work for a moment, kill it, and return what it was told is stored."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), place, session_id, str(ran)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines: list[str] = []
    for _ in range(random.choice((0, 1, 2, 3, 5, 9))):
        line = process.stdout.readline()
        assert line, "the worker ended by itself"
        lines.append(line)
    time.sleep(random.uniform(0, 0.05))
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    count("kills of a process in the middle of a session")
    return [line.strip() for line in lines if line.endswith("\n")]


async def _examine(place: str, session_id: str, ran: str, settled: list[str], route: str) -> None:
    """The session after a kill: whole, true about every call, accepted by everybody, and ready for the next message."""
    transport = SimulatedTransport()
    async with open_store(place) as store:
        assert list(await store.check(session_id)) == []
        talk = Session(
            route,
            tools=[work_tool(ran)],
            store=store,
            session_id=session_id,
            approval=Approval(Mode.NEVER),
            world=surroundings(transport),
        )
        async with talk:
            log = talk.talk.log
            assert talk.talk.ledger == Ledger.replay(log)
            done = _results(talk)
            assert [path for path in settled if path not in done] == [], "what was acknowledged is there"
            started = {record.call for record in log if isinstance(record, Started)}
            for call in talk.talk.ledger.in_order:
                if not call.is_settled and call.frozen is None:
                    is_started = call.id in started
                    expected = ClosureReason.INTERRUPTED if is_started else ClosureReason.NOT_STARTED
                    assert talk.talk.ledger.closure_reason(call) is expected
            for name in ROUTES if talk.talk.entries else ():  # it may have died before anything was said
                request = render(talk.talk, name, tools=talk.tools.specs)
                assert [found for found in request.check() if found.severity is Severity.REFUSED] == []
            path = f"z{len(log)}"
            result = await talk.send(f"use work on {path}")
            assert result.outcome is TurnOutcome.DONE
            assert f"worked on {path}" in result.text
    assert transport.refusals == []


def _results(talk: Session) -> set[str]:
    entries = [record.entry for record in talk.talk.log if isinstance(record, Recorded)]
    blocks = [block for entry in entries if entry.speaker is Speaker.TOOL for block in entry.blocks]
    return {str(block.result).rsplit(" ", 1)[-1] for block in blocks if isinstance(block, ToolResponse)}


async def _begin(place: str) -> str:
    async with open_store(place) as store:
        return await store.create()


@pytest.mark.req("REQ-915-046")
def test_a_killed_session_resumes_with_everything_that_was_acknowledged(tmp_path: Path) -> None:
    place, ran = str(tmp_path / "sessions.db"), tmp_path / "ran.txt"
    session_id = anyio.run(_begin, place)
    settled: list[str] = []
    for number in range(KILLS):
        lines = _work_and_die(place, session_id, ran)
        settled += [line.split()[1] for line in lines if line.startswith("settled")]
        anyio.run(_examine, place, session_id, str(ran), settled, ROUTES[number % len(ROUTES)])
    assert settled != []
    assert [path for path, times in Counter(ran.read_text().split()).items() if times > 1] == [], "run once each"


def test_a_session_that_somebody_else_holds_is_refused_and_can_be_forked(tmp_path: Path) -> None:
    async def scenario() -> None:
        place, library = tmp_path / "sessions.db", Library()
        async with open_store(place) as store, open_store(place) as other:
            async with session(CLAUDE, tools=[library.read], store=store) as first:
                await first.send("use read_file on a.txt")
                assert first.id is not None
                with pytest.raises(SessionLocked):
                    async with session(GPT, store=other, session_id=first.id):
                        raise AssertionError("never reached")
                fork = await other.fork(first.id)
                async with session(GPT, tools=[library.read], store=other, session_id=fork) as second:
                    assert "contents of a.txt" in (await second.send("What did the first tool return?")).text
                await first.send("Hello")
            assert [line for line in told(first.talk.log) if "read_file" in line] == ["human: use read_file on a.txt"]
            assert "human: Hello" not in told(await other.read(fork))

    anyio.run(scenario)


def test_a_writer_whose_session_was_taken_over_fails_cleanly_and_interleaves_nothing() -> None:
    async def scenario() -> None:
        shelf: Shelf = {}
        store, other = MemoryStore(shelf), MemoryStore(shelf)
        async with session(CLAUDE, store=store) as first:
            await first.send("Hello")
            await store.close()  # its lease is gone, as if it had been away for too long
            async with session(GPT, store=other, session_id=first.id) as second:
                await second.send("Somebody else is here")
            with pytest.raises(Conflict):
                await first.send("I am back")
        log = told(await other.read(second.id or ""))
        assert "human: I am back" not in log
        assert log[-1] == "turn 2 ended: done"

    anyio.run(scenario)


def test_a_turn_over_a_server_that_dies_finishes_or_fails_cleanly_and_loses_nothing() -> None:
    server = own_server()

    async def scenario() -> None:
        shop = Workshop()
        shop.release("c")
        async with (
            PostgresStore(server.url, patience=300.0) as store,
            session(CLAUDE, tools=[shop.hold], store=store) as talk,
        ):
            turn = talk.send("use hold_file on a")
            await shop.until(lambda: "a" in shop.running)
            await anyio.to_thread.run_sync(server.kill)
            shop.release("a")
            await anyio.to_thread.run_sync(server.restart)
            with anyio.fail_after(400):
                assert (await turn).outcome is TurnOutcome.DONE
            assert talk.id is not None
            assert list(talk.talk.log) == list(await store.read(talk.id))
        async with (
            PostgresStore(server.url, patience=300.0) as store,
            session(GPT, tools=[shop.hold], store=store, session_id=talk.id) as talk,
        ):
            turn = talk.send("use hold_file on b")
            await shop.until(lambda: "b" in shop.running)
            await anyio.to_thread.run_sync(server.kill)
            store._patience = 0.1  # only while it is away: a busy machine takes longer for what works
            shop.release("b")
            with anyio.fail_after(90), pytest.raises(StoreUnavailable):
                await turn
            acknowledged = list(talk.talk.log)
            await anyio.to_thread.run_sync(server.restart)
            store._patience = 300.0
            assert talk.id is not None
            assert list(await store.read(talk.id))[: len(acknowledged)] == acknowledged
            assert (await talk.send("use hold_file on c")).outcome is TurnOutcome.DONE
            assert list(talk.talk.log) == list(await store.read(talk.id))

    try:
        anyio.run(scenario)
    finally:
        server.stop()
