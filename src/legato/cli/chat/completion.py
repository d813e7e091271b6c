"""What may follow the cursor: commands, routes, profiles, formats, files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.slash.table import COMMANDS
from legato.cli.providers import profiles_of
from legato.cli.terminal.chat_prompt import Suggestion
from legato.model import ThinkingSwitch
from legato.request.model_list import names_of
from legato.session.compaction.settings import HistorySettings
from legato.tools import Mode
from legato.wire.options.efforts import SCALE

_FILE = re.compile(r"(?:(?<=\s)|^)@(\S*)\Z")
_MAX_FILES = 50
"""names that are offered at once: our choice, more than fit a screen help no one"""


class Suggestions:
    """Suggestions for one setup; called with the text before the cursor."""

    def __init__(self, setup: ChatSetup) -> None:
        self._setup = setup
        self._arguments: dict[str, Callable[[], Iterable[str]]] = {
            "/model": self._routes,
            "/lint": self._routes,
            "/route": lambda: profiles_of(setup.settings),
            "/approval": lambda: [mode.value for mode in Mode],
            "/thinking": lambda: [switch.value for switch in ThinkingSwitch],
            "/effort": lambda: ("default", *SCALE),
            "/history": lambda: HistorySettings.__struct_fields__,
        }

    def __call__(self, text: str) -> Iterator[Suggestion]:
        """What `text` may become."""
        if text.startswith("/") and "\n" not in text:
            yield from self._commands(text)
        elif match := _FILE.search(text):
            yield from self._files(match[1])

    def _commands(self, text: str) -> Iterator[Suggestion]:
        name, space, argument = text.partition(" ")
        if not space:
            for command in COMMANDS.values():
                if command.name.startswith(name):
                    yield Suggestion(command.name, len(text), command.summary)
            return
        for item in self._arguments.get(name, tuple)():
            if item.startswith(argument) or ("/" in item and argument in item):
                yield Suggestion(item, len(argument))

    def _routes(self) -> Iterator[str]:
        """Routes of profiles first, then those known at each provider whose key is there, or that needs none."""
        setup = self._setup
        named = [route.name for profile in profiles_of(setup.settings).values() for route in profile.routes]
        catalogue = setup.world.catalogue
        reachable = [
            f"{name}/{model}"
            for name, provider in catalogue.providers.items()
            if setup.settings.simulate or not provider.keys or setup.world.keys.find(name) is not None
            for model in dict.fromkeys([provider.example, *names_of(catalogue, name)])
            if model
        ]
        yield from dict.fromkeys([*named, *reachable])

    def _files(self, begun: str) -> Iterator[Suggestion]:
        folder, _, start = begun.rpartition("/")
        place = self._setup.folder / Path(f"{folder}/" if folder or begun.startswith("/") else ".").expanduser()
        try:
            with os.scandir(place) as entries:
                found = sorted(
                    f"{entry.name}/" if entry.is_dir() else entry.name
                    for entry in entries
                    if entry.name.startswith(start) and (start.startswith(".") or not entry.name.startswith("."))
                )
        except OSError:
            return
        for name in found[:_MAX_FILES]:
            yield Suggestion(name, len(start))
