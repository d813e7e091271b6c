"""`legato simulate`: strict simulated providers on this machine, for any SDK or agent."""

from __future__ import annotations

import click

from legato.cli.commands.pacing import read_pace_option
from legato.cli.exits import ExitCode


@click.command(short_help="Serve strict simulated providers on this machine.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=None, help="The port; 0 takes a free one.  [default: 8123]"
)
@click.option("--window", type=click.IntRange(min=1), metavar="TOKENS", help="Give every model a window of this size.")
@click.option(
    "--pace",
    callback=read_pace_option,
    metavar="N/s",
    help="Send N pieces of a streamed answer in a second.  [default: all at once]",
)
@click.option("--any-key/--need-key", default=False, help="Answer requests without a key, or refuse them.")
@click.option("--json", "as_json", is_flag=True, help="Print the base URLs as one JSON object.")
@click.option("-v", "--verbose", is_flag=True, help="Say what each request was answered with.")
def simulate(
    host: str, port: int | None, window: int | None, pace: float | None, any_key: bool, as_json: bool, verbose: bool
) -> int:
    """Serve strict simulated providers until Ctrl-C.

    They refuse what the real ones refuse, in the same words, and a small model behind them answers. Ask it in plain
    words for tools, thoughts or failures: `use read_file on a.txt`, `think first`, `fail with 503 twice`. Any key is
    right except one that begins with "bad".
    """
    import signal

    from legato.serving import require_extra

    require_extra("`legato simulate`")
    from legato.cli.async_main import run_async
    from legato.cli.simulation_server import serve_until_signalled

    number = run_async(
        lambda: serve_until_signalled(
            host,
            port,
            window=window,
            pace=pace,
            needs_keys=not any_key,
            as_json=as_json,
            verbose=verbose,
        )
    )
    return ExitCode.OK if number is signal.SIGINT else ExitCode.TERMINATED
