"""`legato demo`: one conversation moves through every provider family, with no key and no network."""

from __future__ import annotations

import click


@click.command()
@click.option("--plain", is_flag=True, help="No colours and no pauses, for logs.")
@click.pass_context
def demo(ctx: click.Context, plain: bool) -> None:
    """Watch one conversation move through every provider.

    Real tools, simulated providers that refuse what the real ones refuse. The exit code is 1 if any of them refused
    anything, or if the first turn was forgotten.
    """
    import anyio

    from legato.cli.demo.console import DemoConsole
    from legato.cli.demo.journey import Journey, rehearsal_folder

    console = DemoConsole(plain=plain)
    console.opening()
    with rehearsal_folder() as folder:
        went_well = anyio.run(Journey(console, folder).run)
    ctx.exit(0 if went_well else 1)
