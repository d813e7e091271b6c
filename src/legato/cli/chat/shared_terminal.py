"""The terminal that a conversation and its questions for approval share: one of them has the screen and the keys."""

from __future__ import annotations

from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.typing_ahead import Keyboard
from legato.session import Turn


class SharedTerminal:
    """What an approver and a conversation share: the screen, who may write to it, and who reads the keys."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.gate = InputGate()
        self.keyboard = Keyboard(screen.mark_pastes)
        self.turn: Turn | None = None

    async def take(self) -> None:
        """A question is about to be asked: it gets the screen and the keys, unless it is withdrawn meanwhile."""
        await self.gate.close()
        try:
            await self.keyboard.lend()
        except BaseException:
            self.give_back()  # no one else will: a gate that stays closed would hide all that follows
            raise
        self.screen.status("")
        self.screen.fresh_line()

    def give_back(self) -> None:
        """The question is answered, or withdrawn."""
        self.keyboard.take_back()
        self.gate.open()

    def interrupt(self) -> None:
        """Cancel the turn."""
        if self.turn is not None:
            self.turn.cancel()
