"""A stored session is taken up again by its id, on whoever was selected last."""

from __future__ import annotations

import pytest

from legato import Session, World, open_store
from legato.errors import CallerError, SessionNotFound
from legato.simulation import SimulatedTransport
from legato.tools import Approval, Mode, tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool
async def read_file(path: str) -> str:
    """Read a file."""
    return f"what {path} says"


async def test_a_session_goes_on_where_it_was_on_the_route_that_was_selected_last() -> None:
    world = World(transport=SimulatedTransport())
    async with open_store("memory:") as store:
        first = Session("openai/gpt-4o", tools=[read_file], store=store, world=world, approval=Approval(Mode.NEVER))
        async with first:
            await first.send("use read_file on notes.txt")
            await first.switch("anthropic/claude-sonnet-4-5")
        assert first.id is not None
        again = await Session.resume(first.id, store=store, tools=[read_file], world=world)
        async with again:
            assert again.route == "anthropic/claude-sonnet-4-5"
            assert "what notes.txt says" in (await again.send("what did the first tool return?")).text
        other = await Session.resume(first.id, store=store, route="mistral/mistral-large-latest", world=world)
        async with other:
            assert "what notes.txt says" in (await other.send("what did the first tool return?")).text


async def test_a_session_in_which_nobody_answered_needs_a_route_and_an_unknown_one_is_named() -> None:
    async with open_store("memory:") as store:
        name = await store.create()
        with pytest.raises(CallerError, match="name a route"):
            await Session.resume(name, store=store)
        with pytest.raises(SessionNotFound):
            await Session.resume("nowhere", store=store)
