"""The prompt first: it is drawn before settings, sessions and providers are loaded, and can be typed into meanwhile.

Loading takes longer than anything else that happens before the first message, and nothing of it is needed to type one.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Awaitable, Callable
from io import TextIOWrapper

import anyio

from legato.cli.async_main import run_async
from legato.cli.chat.options import ChatOptions
from legato.cli.settings.folders import state_folder
from legato.cli.terminal.chat_prompt import ChatPrompt, PlainPrompt
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.styles import ColorChoice

_Converse = Callable[[ChatOptions, LiveScreen, ChatPrompt], Awaitable[int]]


def open_conversation(wanted: ChatOptions) -> int:
    """Draw the prompt and talk; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter still shows the others
    flag = wanted.flags.get("color", ("", None))[1]
    screen = LiveScreen(sys.stdout, ColorChoice(flag or ColorChoice.AUTO))
    try:
        return run_async(lambda: _talk(wanted, screen))
    finally:
        screen.leave()  # what went wrong is told next


async def _talk(wanted: ChatOptions, screen: LiveScreen) -> int:
    prompt = _prompt_for(screen)
    async with prompt.running():
        # In a thread, so that keys are read meanwhile.
        startup = await anyio.to_thread.run_sync(importlib.import_module, "legato.cli.chat.startup")
        converse: _Converse = startup.converse
        return await converse(wanted, screen, prompt)


def _prompt_for(screen: LiveScreen) -> ChatPrompt:
    """The prompt that `screen` can show."""
    if not screen.is_live:
        return PlainPrompt(screen)
    from legato.cli.terminal.prompt import Prompt  # slow to load

    return Prompt(screen, history=state_folder() / "history")
