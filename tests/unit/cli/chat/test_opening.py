"""The prompt comes first: what it needs to be drawn is little."""

import subprocess
import sys

import pytest

from terminal_support import Person

SLOW = ("legato.session", "legato.request", "legato.tools", "legato.cli.settings.schema", "httpx2", "rich", "tomlkit")


def test_nothing_slow_is_loaded_before_the_prompt_is_drawn():
    needed = "legato.cli.app, legato.cli.commands.chat, legato.cli.chat.opening, legato.cli.terminal.prompt"
    loaded = f"[name for name in {SLOW!r} if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {needed}; print({loaded})"], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


def test_what_is_typed_before_all_is_loaded_is_answered(tmp_path_factory: pytest.TempPathFactory):
    """Keys that arrive as soon as the box is there are the first message."""
    person = Person(tmp_path_factory.mktemp("early"), "--simulate")
    try:
        person.until(lambda: any(row.startswith("›") for row in person.screen.rows))
        person.types("hello early bird\r")
        assert 'heard: "hello early bird"' in person.turn()
    finally:
        person.end()
