"""The terminal that a conversation and its questions for approval share: while a question is there, nothing else is
written.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.screen import Screen
from legato.session import Turn


class SharedTerminal:
    """What an approver and a conversation share: the screen, who may write to it, and the turn that runs."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.gate = InputGate()
        self._taken = anyio.Lock()
        self.turn: Turn | None = None
        self.is_interrupted = False
        """whether the turn was cancelled: what was said meanwhile is then not for it"""
        self.take_back: Callable[[], None] = lambda: None
        """puts what waits back to where it can be edited"""

    async def take(self) -> None:
        """A question is about to be asked: it gets the screen, once nothing else has it (another one, a picker)."""
        await self._taken.acquire()
        await self.gate.close()
        self.screen.status("")
        self.screen.fresh_line()

    def give_back(self) -> None:
        """The question is answered, or withdrawn."""
        self.gate.open()
        self._taken.release()

    def interrupt(self) -> None:
        """Cancel the turn."""
        if self.turn is None:
            return
        if not self.is_interrupted:
            self.take_back()  # now: what is sent from here on is meant for what follows
        self.is_interrupted = True
        self.turn.cancel()
