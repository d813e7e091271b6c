"""A project's own settings: what of them is withheld, and the question whether to trust the file.

What a project's file wants beyond harmless settings (to run without asking, to send requests elsewhere) is shown with
nothing hidden, and holds only after a person agreed to exactly this content.
"""

from __future__ import annotations

import msgspec

from legato.cli.settings_layers import Loaded
from legato.cli.terminal.reading import LineReader
from legato.cli.terminal.reveal import reveal_line
from legato.cli.terminal.screen import Screen
from legato.cli.trust import Trust


def withheld_lines(loaded: Loaded) -> list[str]:
    """What the project's file wants and does not get yet, a line each."""
    return [
        f"{reveal_line(key)} = {reveal_line(msgspec.json.encode(value).decode())}"
        for key, value in loaded.withheld.items()
    ]


def withheld_note(loaded: Loaded) -> str:
    """What is said where nobody can be asked."""
    keys = ", ".join(reveal_line(key) for key in loaded.withheld)
    return f"not used of {loaded.project_file}, because nobody agreed to it yet: {keys}; `legato config trust` asks"


async def ask_to_trust(loaded: Loaded, *, screen: Screen, reader: LineReader, trust: Trust | None = None) -> bool:
    """Ask whether the project's file is trusted, and remember a yes."""
    if not loaded.withheld or loaded.project_file is None:
        return False
    screen.line(f"{loaded.project_file} wants to set:")
    for line in withheld_lines(loaded):
        screen.quote(line)
    while True:
        try:
            answer = (await reader.line("trust this file? [y] yes, as it is now  [n] no ")).strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            return False
        if answer == "y":
            (trust or Trust()).remember_file(loaded.project_file)
            return True
        if answer == "n":
            return False
