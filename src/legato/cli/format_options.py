"""Options that take the name of a format: their help lists what there is, looked up only when help is printed.

`{formats}` in a help text stands for all formats, `{bodies}` for request bodies, `{files}` for session files that can
be written. Loading the formats takes longer than any other help does.
"""

from __future__ import annotations

from typing import Any

import click

from legato.cli import completing


class FormatOption(click.Option):
    """An option whose help names formats."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help, with the names filled in."""
        from legato.formats import FORMATS
        from legato.formats.targets import FILES, WIRE

        record = super().get_help_record(ctx)
        if record is None:
            return None
        names = {"formats": FORMATS, "bodies": WIRE, "files": FILES}
        return record[0], record[1].format(**{name: ", ".join(known) for name, known in names.items()})


def from_option(command: Any) -> Any:
    """The option `--from`, the same for every command that reads a file."""
    return click.option(
        "--from",
        "format_",
        cls=FormatOption,
        metavar="FORMAT",
        shell_complete=completing.formats,
        help="Read the file as this format, whatever it looks like: {formats}.",
    )(command)
