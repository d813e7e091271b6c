"""The prompt of a conversation in a terminal that is none: keys are typed into a pipe, an emulator shows the screen."""

import io
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from emulator import Emulator
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.prompt import Prompt
from legato.cli.terminal.styles import ColorChoice
from program import until


class EmulatorStream(io.StringIO):
    """What is written here is shown by an emulator; lines end as a terminal's driver makes them end."""

    def __init__(self, emulator: Emulator) -> None:
        super().__init__()
        self._emulator = emulator

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._emulator.feed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
        return len(text)


class LiveTerminal:
    """A terminal with a prompt in it."""

    def __init__(self, columns: int, lines: int, keyboard: PipeInput, history: Path | None = None) -> None:
        self.emulator = Emulator(columns, lines)
        self.screen = screen_of(self.emulator)
        self.prompt = Prompt(self.screen, history=history)
        self.keyboard = keyboard

    def types(self, keys: str) -> None:
        self.keyboard.send_text(keys)

    async def shows(self, is_so: Callable[[list[str]], bool]) -> None:
        """Wait until the screen is so."""
        await until(lambda: is_so(self.emulator.rows))


def screen_of(emulator: Emulator, color: ColorChoice = ColorChoice.ALWAYS) -> LiveScreen:
    """A screen that an emulator shows."""
    screen = LiveScreen(
        EmulatorStream(emulator), color, size=lambda: os.terminal_size((emulator.columns, emulator.lines))
    )
    screen.is_live = True
    return screen


def in_terminal(
    act: Callable[[LiveTerminal], Awaitable[None]], columns: int = 80, lines: int = 24, history: Path | None = None
) -> Emulator:
    """Do something while a prompt is there; what the terminal shows in the end."""

    async def main() -> Emulator:
        terminal = LiveTerminal(columns, lines, keyboard, history)
        with anyio.fail_after(60):
            async with running(terminal):
                await act(terminal)
        return terminal.emulator

    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        return anyio.run(main)


@asynccontextmanager
async def running(terminal: LiveTerminal) -> AsyncIterator[None]:
    async with terminal.prompt.running():
        yield
