"""What works as long as anything does: a breakage that these tests notice breaks everything, and proves nothing."""

from __future__ import annotations

import anyio
import pytest

from legato import Conversation, render
from legato.session import Session, World
from legato.simulation import SimulatedTransport
from legato.transport import KeyRing

ROUTES = ("openai/gpt-4o", "openai-responses/gpt-5.1", "anthropic/claude-sonnet-4-5", "gemini/gemini-3-pro-preview")


@pytest.mark.parametrize("route", ROUTES)
def test_a_conversation_without_tools_is_rendered(route: str) -> None:
    """One message, and nothing else to decide."""
    talk = Conversation()
    talk.human("Hello")
    assert b"Hello" in render(talk, route).json()


def test_a_message_is_answered() -> None:
    """One turn without tools."""

    async def scenario() -> str:
        world = World(transport=SimulatedTransport(), keys=KeyRing({}, {}))
        async with Session(ROUTES[0], world=world) as session:
            return (await session.send("Hello")).text

    assert "Hello" in anyio.run(scenario)
