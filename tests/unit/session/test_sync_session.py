"""Sessions for scripts and notebooks: what they do, who is asked where, what interrupts them, and how they end."""

from __future__ import annotations

import gc
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from interrupting import ctrl_c_raises, press_ctrl_c, told_by_child
from legato import Options, Session, SyncSession
from legato.errors import CallerError, SessionLocked, SessionNotFound, StoreError, Unauthorized, UnknownTarget
from legato.model import Entry, Speaker
from legato.model.records import Scope, TurnOutcome
from legato.portal import SHARED
from legato.session import SessionSettings, events
from legato.simulation import FaultKind, Faults, SimulatedTransport, SimulatedWorld
from legato.store import open_store
from legato.tools import Approval, Mode, Question, Ruling, ToolKind, tool
from session_support import CLAUDE, GPT, Library, Workshop, world

READ = "use read_file on a.txt"


def session(route: Any = CLAUDE, **settings: Any) -> SyncSession:
    settings = {"world": world(), "tools": [Library().read], **settings}
    return SyncSession(route, **settings)


def launcher(ran: list[str]) -> Any:
    """A tool that needs a person's word."""

    @tool(kind=ToolKind.EXECUTE)
    def launch(path: str) -> str:
        """Launch it."""
        ran.append(path)
        return "launched"

    return launch


def speakers(entries: list[Entry]) -> list[Speaker]:
    return [entry.speaker for entry in entries]


# --- talking ------------------------------------------------------------------------------------------------------------


def test_a_message_is_sent_and_its_turn_waited_for() -> None:
    with session() as talk:
        result = talk.send(READ)
        assert (result.outcome, result.steps, result.route) == (TurnOutcome.DONE, 2, CLAUDE)
        assert "contents of a.txt" in result.text
        assert speakers(talk.entries) == [Speaker.HUMAN, Speaker.AI, Speaker.TOOL, Speaker.AI]
        assert (talk.turns, talk.usage, talk.cost) == (1, result.usage, result.cost)
        assert talk.usage.input > 0
        assert talk.last is not None


def test_events_come_as_they_happen_and_the_result_behind_them() -> None:
    with session() as talk:
        turn = talk.stream(READ)
        seen = list(turn)
        assert [type(event) for event in seen if isinstance(event, events.ToolBegan | events.TurnFinished)] == [
            events.ToolBegan,
            events.TurnFinished,
        ]
        last = [event.text for event in seen if isinstance(event, events.TextShown)]
        assert turn.is_done
        assert turn.result().text in "".join(last)
        assert list(turn) == []


def test_a_turn_that_fails_raises_for_those_who_wait_and_for_those_who_watch() -> None:
    def refusing() -> SyncSession:
        return session(world=world(SimulatedTransport(SimulatedWorld(faults=Faults([FaultKind.KEY])))))

    with refusing() as talk, pytest.raises(Unauthorized, match="did not accept the key"):
        talk.send("Hello")
    seen: list[events.Event] = []
    with refusing() as talk, pytest.raises(Unauthorized):
        seen.extend(iter(talk.stream("Hello")))
    with refusing() as talk:
        stream = iter(talk.stream("Hello"))
        with pytest.raises(Unauthorized):
            for event in stream:
                seen.append(event)  # noqa: PERF402  # what came before the error is looked at
    assert isinstance(seen[-1], events.TurnFinished)


def test_another_route_answers_after_a_switch() -> None:
    with session() as talk:
        talk.send(READ)
        assert talk.preview_switch(GPT).fits
        assert not talk.switch(GPT).deferred
        assert talk.route == GPT
        assert talk.send("what did the first tool return?").route == GPT
        with pytest.raises(UnknownTarget):
            talk.switch("opnai/gpt-4o")


def test_history_and_settings_can_be_changed_between_turns() -> None:
    library = Library()
    with session(tools=[]) as talk:
        talk.tools = [library.read]
        talk.system = "be brief"
        talk.options = Options(max_tokens=100)
        talk.send(READ)
        assert library.read_paths == ["a.txt"]
        assert talk.last is not None
        assert talk.last.request.body["max_tokens"] == 100
        assert talk.last.request.body["system"][0]["text"] == "be brief"
        assert talk.undo()
        assert talk.entries == []
        assert talk.compact() is None


def test_settings_are_those_of_a_session() -> None:
    explicit = {"self", "route", "store", "session_id"}
    assert set(inspect.signature(Session.__init__).parameters) - explicit == set(SessionSettings.__annotations__)


def test_a_script_in_a_running_loop_is_served() -> None:
    async def cell() -> str:
        with session() as talk:
            return talk.send(READ).text

    assert "contents of a.txt" in anyio.run(cell)


# --- approval -----------------------------------------------------------------------------------------------------------


def test_a_plain_function_decides_what_may_run_in_the_thread_that_waits() -> None:
    ran: list[str] = []
    asked: list[tuple[str, object, bool]] = []

    def approve(question: Question) -> bool:
        asked.append((question.tool, question.arguments, threading.current_thread() is threading.main_thread()))
        return question.arguments["path"] == "kite"

    with session(tools=[launcher(ran)], approve=approve) as talk:
        talk.send("use launch on rocket")
        for _ in talk.stream("use launch on kite"):
            pass
    assert ran == ["kite"]
    assert asked == [("launch", {"path": "rocket"}, True), ("launch", {"path": "kite"}, True)]


def test_a_ruling_says_for_how_long() -> None:
    ran: list[str] = []
    asked: list[str] = []

    def approve(question: Question) -> Ruling:
        asked.append(question.tool)
        return Ruling(question.call, question.digest, scope=Scope.SESSION)

    with session(tools=[launcher(ran)], approve=approve, approval=Approval(Mode.ASK)) as talk:
        talk.send("use launch on kite")
        talk.send("use launch on kite")
    assert (ran, asked) == (["kite", "kite"], ["launch"])


@pytest.mark.parametrize("said", ["n", 1, None])
def test_only_true_is_a_yes(said: Any) -> None:
    ran: list[str] = []
    with session(tools=[launcher(ran)], approve=lambda _: said) as talk:
        with pytest.raises(CallerError, match="should return True, False or a Ruling"):
            talk.send("use launch on rocket")
        assert talk.send("Hello").outcome is TurnOutcome.DONE
    assert ran == []


def test_ctrl_c_at_the_prompt_cancels_the_turn_and_the_session_goes_on() -> None:
    ran: list[str] = []

    def approve(_: Question) -> bool:
        raise KeyboardInterrupt

    with session(tools=[launcher(ran)], approve=approve) as talk:
        with pytest.raises(KeyboardInterrupt):
            talk.send("use launch on rocket")
        assert (ran, talk.state.value) == ([], "idle")
        assert talk.send("Hello").outcome is TurnOutcome.DONE


# --- interruptions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [SyncSession.send, lambda talk, text: list(talk.stream(text))], ids=["send", "stream"])
def test_ctrl_c_cancels_the_turn_and_the_session_goes_on(ask: Callable[[SyncSession, str], object]) -> None:
    @tool(kind=ToolKind.READ)
    async def interrupted(path: str) -> None:
        """Never return."""
        press_ctrl_c()
        await anyio.sleep_forever()

    with session(tools=[interrupted]) as talk:
        with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
            ask(talk, "use interrupted on a.txt")
        assert talk.state.value == "idle"
        assert talk.send("Hello").outcome is TurnOutcome.DONE


def test_leaving_the_loop_ends_the_turn() -> None:
    with session(tools=[Workshop().hold]) as talk:
        turn = talk.stream("use hold_file on a.txt")
        for event in turn:
            if isinstance(event, events.ToolBegan):
                break
        gc.collect()
        assert turn.result().outcome is TurnOutcome.CANCELLED
        assert talk.send("Hello").outcome is TurnOutcome.DONE


def test_another_thread_can_cancel_or_join_a_turn() -> None:
    workshop = Workshop()
    with session(tools=[workshop.hold]) as talk:
        turn = talk.stream("use hold_file on a.txt")
        SHARED.call(workshop.until, lambda: workshop.began)
        other = threading.Thread(target=talk.cancel)
        other.start()
        other.join()
        assert turn.result().outcome is TurnOutcome.CANCELLED
        assert workshop.cancelled == ["a.txt"]


# --- stored, and closed -------------------------------------------------------------------------------------------------


def test_a_stored_session_is_resumed_by_its_id(tmp_path: Path) -> None:
    place = tmp_path / "sessions.db"
    with session(store=place) as talk:
        talk.send(READ)
        name, said = talk.id, talk.entries
        with pytest.raises(SessionLocked):
            SyncSession.resume(name or "", store=place, world=world())
    assert name is not None
    with SyncSession.resume(name, store=place, world=world()) as again:
        assert (again.id, again.route, again.entries) == (name, CLAUDE, said)
        assert "contents of a.txt" in again.send("what did the first tool return?").text
    with SyncSession(GPT, store=place, session_id=name, world=world()) as again:
        assert (again.turns, again.route) == (2, GPT)


def test_what_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound, match="no-such-session"):
        SyncSession.resume("no-such-session", store=open_store("memory:"), route=CLAUDE, world=world())
    with pytest.raises(StoreError, match="is a folder"):
        session(store=tmp_path)


def test_a_closed_session_can_be_read_and_sends_nothing() -> None:
    talk = session()
    talk.send(READ)
    talk.close()
    talk.close()
    assert len(talk.entries) == 4
    with pytest.raises(CallerError, match="the session is closed"):
        talk.send("Hello")
    with pytest.raises(CallerError, match="the session is closed"), talk:
        pass


def test_closing_cancels_the_turn_that_is_under_way() -> None:
    workshop = Workshop()
    with session(tools=[workshop.hold]) as talk:
        turn = talk.stream("use hold_file on a.txt")
        SHARED.call(workshop.until, lambda: workshop.began)
    assert turn.result().outcome is TurnOutcome.CANCELLED


def test_a_session_that_was_forgotten_lets_others_write(tmp_path: Path) -> None:
    place = tmp_path / "sessions.db"
    talk = session(store=place)
    name = talk.id or ""
    ended = threading.Event()
    talk._life.when_done(ended.set)
    del talk
    gc.collect()
    assert ended.wait(60)
    SyncSession.resume(name, store=place, route=CLAUDE, world=world()).close()


def test_a_forked_child_is_told_that_the_session_is_not_its_own() -> None:
    with session() as talk:
        turn = talk.stream(READ)
        assert "belongs to the process that was forked" in told_by_child(lambda: talk.send("Hello"))[1]
        assert "belongs to the process that was forked" in told_by_child(turn.result)[1]
        assert told_by_child(talk.close)[1] == "None"
        assert turn.result().outcome is TurnOutcome.DONE


AT_EXIT = """
import sys
from legato import SyncSession, World
from legato.simulation import SimulatedTransport
session = SyncSession("anthropic/claude-sonnet-4-5", store=sys.argv[1], world=World(transport=SimulatedTransport()))
session.send("Hello")
turn = session.stream("Hello again")
print(session.id)
"""


def test_a_script_that_just_ends_leaves_its_session_to_others(tmp_path: Path) -> None:
    place = os.fspath(tmp_path / "sessions.db")
    script = [sys.executable, "-W", "default", "-c", AT_EXIT, place]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr == ""
    with SyncSession.resume(ended.stdout.strip(), store=place, world=world()) as talk:
        assert talk.turns == 2
