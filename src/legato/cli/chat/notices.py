"""What a person has to know about settings and files of a project that are not used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from legato.cli.chat.instructions import nearest_agents
from legato.cli.settings.layers import Loaded
from legato.cli.settings.project import withheld_note
from legato.cli.settings.project_files import MCP_FILE, find_file


def notices(loaded: Loaded, folder: Path) -> Iterator[str]:
    """A line for each: environment variables that set nothing, withheld settings, files that are passed over."""
    yield from loaded.unknown
    if loaded.withheld:
        yield withheld_note(loaded)
    yield from loaded.passed_over
    yield from nearest_agents(folder).passed_over
    yield from find_file((MCP_FILE,), folder).passed_over
