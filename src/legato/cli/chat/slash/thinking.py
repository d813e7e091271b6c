"""Slash commands about how hard a model thinks, and how much of the conversation it is sent: from the next turn on."""

from __future__ import annotations

import msgspec
from msgspec.structs import fields, replace

from legato.cli.chat.slash.contract import Chat, Next
from legato.cli.settings.schema import in_words
from legato.cli.terminal.cells import table
from legato.errors import CallerError
from legato.model import Options, ThinkingSwitch
from legato.session import ToolHistory
from legato.wire.options.efforts import SCALE, effort_word

_UNSET = "default"


async def thinking(chat: Chat, word: str) -> Next:
    """`/thinking`: whether the model thinks before it answers."""
    if word:
        if word not in [*ThinkingSwitch]:
            raise CallerError(f"thinking is {', '.join(ThinkingSwitch)}, not {word!r}")
        _ask_for(chat, replace(chat.session.options, thinking=ThinkingSwitch(word)))
    options = chat.session.options
    chat.screen.line(f"Thinking: {options.thinking}; effort: {options.effort or _UNSET}.")
    return None


async def effort(chat: Chat, word: str) -> Next:
    """`/effort`: how hard the model thinks."""
    if word:
        wanted = None if word == _UNSET else effort_word(word)
        if wanted is not None and wanted not in SCALE:
            raise CallerError(f"effort is {', '.join((_UNSET, *SCALE))}, not {word!r}")
        _ask_for(chat, replace(chat.session.options, effort=wanted))
    return await thinking(chat, "")


def _ask_for(chat: Chat, options: Options) -> None:
    """Ask for `options` from the next request on, and in sessions that are opened later."""
    chat.session.options = options
    chat.setup.settings = replace(chat.setup.settings, options=options)


async def history(chat: Chat, arguments: str) -> Next:
    """`/history`: how much of the conversation is kept for the model."""
    settings = chat.session.history.settings
    if arguments:
        name, _, text = arguments.partition(" ")
        kinds = {field.name: field.type for field in fields(settings)}
        if name not in kinds:
            raise CallerError(f"history has no {name!r}; there are {', '.join(kinds)}")
        if not text.strip():
            raise CallerError(f"/history {name} needs a value, such as {getattr(settings, name)}")
        try:
            value = msgspec.convert(text.strip(), kinds[name], strict=False)
        except msgspec.ValidationError as error:
            raise CallerError(in_words(error, above=f"history.{name}")) from None
        settings = replace(settings, **{name: value})
        chat.session.history = ToolHistory.in_world(chat.session.world, settings)
        chat.setup.settings = replace(chat.setup.settings, history=settings)
    rows = [(field.name, str(getattr(settings, field.name))) for field in fields(settings)]
    for line in table(rows, width=chat.screen.width):
        chat.screen.line(line)
    return None
