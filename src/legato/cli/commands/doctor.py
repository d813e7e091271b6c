"""`legato doctor`: check keys, routes, store and terminal."""

from __future__ import annotations

from pathlib import Path

import click

from legato.cli.exits import ExitCode


@click.command(short_help="Check keys, routes, store and terminal.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")
@click.option("--online", is_flag=True, help="Also send a very short message on each configured route.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(config: Path | None, online: bool, as_json: bool) -> int:
    """Check settings, keys, routes, store and terminal, and say what to do about what is not well.

    Nothing is sent unless --online asks for it, and no key is shown. Exit status: 0 if nothing is broken, 3 otherwise.
    """
    import msgspec

    from legato.cli.async_main import run_async
    from legato.cli.doctor import Health, examine
    from legato.cli.terminal.cells import one_line
    from legato.cli.terminal.styles import Style, paint

    found = run_async(lambda: examine(config, online=online))
    styles = {Health.WELL: Style.GREEN, Health.NOTE: Style.YELLOW, Health.BROKEN: Style.RED}
    for check in found:
        if as_json:
            click.echo(msgspec.json.encode(check).decode())
        else:
            # click takes the colours away again where they are unwanted.
            click.echo(f"{paint(f'{check.health:<7}', styles[check.health])} {check.about:<9} {one_line(check.told)}")
    return ExitCode.FINDINGS if any(check.health is Health.BROKEN for check in found) else ExitCode.OK
