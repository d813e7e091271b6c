"""One message, one answer, for scripts."""

import anyio
import pytest

import legato
from legato.errors import Unauthorized, UnknownTarget
from legato.model.records import TurnOutcome
from legato.simulation import FaultKind, Faults, SimulatedTransport, SimulatedWorld
from legato.store.memory import MemoryStore
from legato.tools import Approval, Mode, ToolKind, tool
from session_support import CLAUDE, Library, Workshop, session, world


def test_a_script_gets_the_result_of_the_turn() -> None:
    result = legato.run("use read_file on a.txt", CLAUDE, tools=[Library().read], world=world())
    assert (result.outcome, result.steps, result.route) == (TurnOutcome.DONE, 2, CLAUDE)
    assert "contents of a.txt" in result.text


def test_functions_are_tools_as_they_are() -> None:
    read: list[str] = []

    def read_file(path: str) -> str:
        """Read a file."""
        read.append(path)
        return f"contents of {path}"

    async def main() -> str:
        async with session(CLAUDE, tools=[read_file]) as talk:
            await talk.send("use read_file on a.txt")
            talk.tools = [read_file, Workshop().hold]
            return (await talk.send("use read_file on b.txt")).text

    assert "contents of b.txt" in anyio.run(main)
    assert read == ["a.txt", "b.txt"]


def test_a_script_gets_the_error_itself_and_not_a_group_of_errors() -> None:
    transport = SimulatedTransport(SimulatedWorld(faults=Faults([FaultKind.KEY])))
    with pytest.raises(Unauthorized, match="did not accept the key"):
        legato.run("Hello", CLAUDE, world=world(transport))
    with pytest.raises(UnknownTarget, match="did you mean"):
        legato.run("Hello", "antropic/claude", world=world())


def test_where_nobody_can_be_asked_what_changes_things_is_not_run() -> None:
    ran: list[str] = []

    @tool(kind=ToolKind.EXECUTE)
    async def launch(path: str) -> str:
        """Launch it."""
        ran.append(path)
        return "launched"

    refused = legato.run("use launch on rocket", CLAUDE, tools=[launch], world=world())
    assert ran == []
    assert "approv" in refused.text
    allowed = legato.run("use launch on rocket", CLAUDE, tools=[launch], world=world(), approval=Approval(Mode.NEVER))
    assert (ran, "launched" in allowed.text) == (["rocket"], True)


def test_a_script_can_keep_its_session() -> None:
    store = MemoryStore()
    legato.run("Hello", CLAUDE, world=world(), store=store, meta={"title": "a script"})
    import anyio

    assert [one.title for one in anyio.run(store.list)] == ["a script"]
