"""`legato doctor`: check keys, routes, store and terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from legato.cli.exits import ExitCode
from legato.cli.saying import say, say_data

_LEAST = 30
"""columns that a text gets beside what it is about, or it goes on at the left: our choice, a few words"""


@click.command(short_help="Check keys, routes, store and terminal.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")
@click.option("--online", is_flag=True, help="Also send a very short message on each configured route.")
@click.option(
    "--gateway",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Also check that clients get through to the gateway that runs there; without a URL, where [serve] puts it.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(config: Path | None, online: bool, gateway: str | None, as_json: bool) -> int:
    """Check settings, keys, routes, store and terminal, and say what to do about what is wrong.

    Nothing is sent unless --online or --gateway asks for it, and no key is shown. A gateway is asked for its models,
    and for an answer in each API if its providers are simulated; of real ones only with --online. Its key is taken from
    GATEWAY_KEY. Exit status: 0 if nothing is broken, 3 otherwise.
    """
    from legato.cli.gateway_check import is_address

    if gateway and not is_address(gateway):
        raise click.UsageError(f"--gateway: {gateway!r} is not an address such as http://127.0.0.1:8100")
    from legato.cli.async_main import run_async
    from legato.cli.checks import Health
    from legato.cli.doctor import examine
    from legato.cli.terminal.styles import Style, paint
    from legato.files.json_text import encode_json

    found = run_async(lambda: examine(config, online=online, gateway=gateway))
    styles = {Health.WELL: Style.GREEN, Health.NOTE: Style.YELLOW, Health.BROKEN: Style.RED}
    for check in found:
        if as_json:
            say_data(encode_json(check).decode())
        else:
            first, *rest = _rows(f"{check.health:<7} {check.about:<9} ", check.told)
            # click takes the colours away again where they are unwanted.
            say(f"{paint(first[:7], styles[check.health])}{first[7:]}")
            for row in rest:
                say(row)
    return ExitCode.FINDINGS if any(check.health is Health.BROKEN for check in found) else ExitCode.OK


def _rows(begin: str, told: str) -> list[str]:
    """A check as one line, or on a terminal as rows that fit it."""
    from legato.cli.terminal.cells import one_line
    from legato.cli.terminal.screen import Screen
    from legato.cli.terminal.spans import StyledText, wrapped

    if not sys.stdout.isatty():
        return [f"{begin}{one_line(told)}"]
    width = Screen(sys.stdout).width
    rest = " " * (len(begin) if width - len(begin) >= _LEAST else 2)
    rows = wrapped([StyledText(one_line(told))], width, first=begin, rest=rest)
    return ["".join(span.text for span in row) for row in rows]
