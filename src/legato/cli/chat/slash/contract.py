"""What a slash command is: how it is written, what it is given, and what follows from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from legato.cli.chat.setup import ChatSetup
from legato.cli.terminal.picker import Row
from legato.cli.terminal.screen import Screen
from legato.routing import Profile
from legato.session import Session, Turn


class Leave(Struct, frozen=True):
    """The program ends."""

    code: int = 0


class Reopen(Struct, frozen=True):
    """Another session takes the place of this one: a stored one, or a new one. Without a profile, who answers stays."""

    session_id: str | None = None
    profile: Profile | None = None


Next = Leave | Reopen | None
"""what follows from a command: usually nothing"""


class Chat(Protocol):
    """What commands see of the conversation."""

    setup: ChatSetup
    screen: Screen
    servers: dict[str, str]
    """MCP servers by name, and how each is doing"""

    @property
    def session(self) -> Session:
        """The session that is open."""
        ...

    async def follow(self, turn: Turn) -> None:
        """Show a turn to its end."""
        ...

    async def pick(
        self, title: str, rows: Sequence[Row], *, columns: Sequence[str] = (), search: str = ""
    ) -> int | None:
        """Let the person pick one of `rows`, at first among those that fit `search`; None if they pick none."""
        ...


class Command(Struct, frozen=True):
    """One command: how it is written, what it does, and the function."""

    name: str
    arguments: str
    summary: str
    run: Callable[[Chat, str], Awaitable[Next]]
    at_once: bool = False
    """whether it makes sense while a turn is under way"""
