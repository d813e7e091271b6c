"""Each session has one scheduler, which runs every batch of it, in every face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from legato.model import Record, ToolCall
from legato.model.records import Recorded
from legato.session import Session, run, task_tool
from legato.session.batch_log import SessionBatchLog
from legato.tools import Approval, Mode, NoteKind, Tool, ToolBox, ToolNote, ToolScheduler
from session_support import CLAUDE, GPT, Library, session, world


class Watch:
    """Which schedulers were made, and which of them ran which calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[ToolScheduler] = []
        self.ran: list[tuple[ToolScheduler, list[str]]] = []
        self.sessions: list[Session] = []
        make, run_batch, open_session = ToolScheduler.__init__, ToolScheduler.run, Session.__aenter__

        def noted_make(scheduler: ToolScheduler, *arguments: Any, **more: Any) -> None:
            self.made.append(scheduler)
            make(scheduler, *arguments, **more)

        async def noted_run(scheduler: ToolScheduler, calls: Sequence[ToolCall], *rest: Any, **more: Any) -> Any:
            self.ran.append((scheduler, [call.arguments.get("path", call.name) for call in calls]))
            return await run_batch(scheduler, calls, *rest, **more)

        async def noted_open(opened: Session) -> Session:
            self.sessions.append(opened)
            return await open_session(opened)

        monkeypatch.setattr(ToolScheduler, "__init__", noted_make)
        monkeypatch.setattr(ToolScheduler, "run", noted_run)
        monkeypatch.setattr(Session, "__aenter__", noted_open)

    def batches(self) -> list[tuple[int, list[str]]]:
        """Each batch as the number of the session whose scheduler ran it, and its calls."""
        own = [opened.scheduler for opened in self.sessions]
        return [(own.index(scheduler), calls) for scheduler, calls in self.ran]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def delegate(read: Tool) -> Tool:
    return task_tool(GPT, tools=ToolBox([read]), world=world(), approval=Approval(Mode.NEVER))


@pytest.mark.req("REQ-915-030", "REQ-915-029")
def test_every_batch_of_every_turn_is_run_by_the_sessions_own_scheduler(watch: Watch) -> None:
    async def scenario() -> None:
        async with session(tools=[Library().read]) as talk:
            await talk.send("use read_file on a.txt and b.txt")
            await talk.send("use read_file on c.txt")
            await talk.switch(GPT)
            await talk.send("use read_file on d.txt")

    anyio.run(scenario)
    assert watch.batches() == [(0, ["a.txt", "b.txt"]), (0, ["c.txt"]), (0, ["d.txt"])]
    assert len(watch.made) == 1


@pytest.mark.req("REQ-915-030", "REQ-915-029", "REQ-915-045")
def test_a_one_shot_run_and_a_subagent_each_have_one_too(watch: Watch) -> None:
    library = Library()
    settings: dict[str, Any] = {"world": world(), "approval": Approval(Mode.NEVER)}
    run("use read_file on a.txt and b.txt", CLAUDE, tools=[library.read], **settings)

    async def scenario() -> None:
        async with session(tools=[delegate(library.read)]) as talk:
            await talk.send('call task with {"prompt": "use read_file on c.txt and d.txt"}')
            await talk.send('call task with {"prompt": "use read_file on e.txt"}')

    anyio.run(scenario)
    assert watch.batches() == [
        (0, ["a.txt", "b.txt"]),
        (1, ["task"]),
        (2, ["c.txt", "d.txt"]),
        (1, ["task"]),
        (3, ["e.txt"]),
    ]
    assert len(watch.made) == len(watch.sessions) == 4


@pytest.mark.req("REQ-915-030")
def test_a_session_remembers_over_its_batches_which_calls_it_has_run() -> None:
    """What a scheduler of its own for each batch could not know."""
    library, notes = Library(), list[ToolNote]()

    async def scenario() -> Sequence[Record]:
        async with session(tools=[library.read], noted=notes.append) as talk:
            turn = talk.send("use read_file on a.txt")
            await turn
            again = [call for record in talk.talk.log if isinstance(record, Recorded) for call in record.entry.calls]
            assert await talk.scheduler.run(again, SessionBatchLog(talk.journal, turn.show)) == ()
            return talk.talk.log

    anyio.run(scenario)
    assert library.read_paths == ["a.txt"]
    assert [note.kind for note in notes] == [NoteKind.DUPLICATE]
