"""The command line: thin faces over the library. Nothing heavy is loaded before a command needs it."""

from __future__ import annotations

import gc

_QUIET = 100_000
"""objects that may come before garbage is looked for; all that is loaded until a first request are fewer"""


def main() -> None:
    """The `legato` command."""
    # What a program loads stays until its end, so looking for garbage in it again and again only delays the start.
    gc.set_threshold(_QUIET, *gc.get_threshold()[1:])
    from legato.cli.app import app

    app()
