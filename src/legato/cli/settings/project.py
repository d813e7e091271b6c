"""A project's own settings: what of them is withheld, and the question whether to trust the file.

What a project's file wants beyond what anyone may set is shown with nothing hidden, and holds only after a person
agreed to exactly this content: the digest that is remembered is that of the bytes that were shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from legato.cli.exits import complain
from legato.cli.settings.files import load
from legato.cli.settings.layers import Loaded
from legato.cli.settings.refused import refusal
from legato.cli.settings.trust import Trust
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.reveal import reveal_line
from legato.cli.terminal.screen import Screen
from legato.errors import ConfigError


def withheld_note(loaded: Loaded) -> str:
    """What of the project's file is not used, and what to do about it."""
    keys = ", ".join(reveal_line(key) for key in loaded.withheld)
    return f"{loaded.project_file} is not trusted, so it does not set: {keys}; `legato config trust` shows it and asks"


def store_setting(config: Path | None) -> str | None:
    """Where the settings say that sessions stay; who says so in vain is named on standard error."""
    loaded = load(config=config)
    for note in loaded.unknown:
        complain(one_line(note))
    if "store" in loaded.withheld:
        complain(one_line(withheld_note(loaded)))
    return loaded.settings.store


def show_file(loaded: Loaded, screen: Screen) -> None:
    """Show all that the project's file sets, with nothing hidden; raises `ConfigError` for what no trust could give."""
    if loaded.project is None:
        return
    used = {key: value for key, value in loaded.project.values.items() if key not in loaded.withheld}
    screen.line(f"{reveal_line(str(loaded.project_file))} wants to set:")
    _quote(loaded.withheld, screen)
    if used:
        screen.line("It also sets, which needs no trust:")
        _quote(used, screen)
    for key, value in loaded.withheld.items():
        if told := refusal(key, value, by_project=True):
            raise ConfigError(f"{loaded.project_file} cannot be trusted: {told}")


def _quote(values: Mapping[str, Any], screen: Screen) -> None:
    for key, value in values.items():
        screen.quote(f"{reveal_line(key)} = {reveal_line(msgspec.json.encode(value).decode())}")


async def ask_to_trust(loaded: Loaded, *, screen: Screen, reader: PromptReader, trust: Trust | None = None) -> bool:
    """Ask whether the project's file is trusted, and remember a yes. It has to be loaded again then, and may ask again:
    a file that was changed while its user was reading is another file.
    """
    if not loaded.withheld or loaded.project_file is None or loaded.project is None:
        return False
    try:
        show_file(loaded, screen)
    except ConfigError as error:
        screen.line(error.message)
        return False
    while True:
        try:
            answer = (await reader.line("trust this file? [y] yes, as it is shown  [n] no ")).strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            return False
        if answer == "y":
            (trust or Trust()).remember(loaded.project_file.parent, loaded.project.digest)
            return True
        if answer == "n":
            return False
