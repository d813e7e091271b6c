"""The command line: thin faces over the library. Nothing heavy is loaded before a command needs it."""

from __future__ import annotations


def main() -> None:
    """The `legato` command."""
    from legato.cli.app import app

    app()
