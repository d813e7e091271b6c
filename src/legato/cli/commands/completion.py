"""`legato completion`: what a shell needs to complete commands, options, routes, sessions and formats."""

from __future__ import annotations

import click

from legato.cli.saying import say_data

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what lets a shell complete commands and names.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script for SHELL, which completes commands, options, routes, sessions, targets and formats.

    \b
    bash, in ~/.bashrc:  eval "$(legato completion bash)"
    zsh, in ~/.zshrc after compinit:  eval "$(legato completion zsh)"
    fish:  legato completion fish > ~/.config/fish/completions/legato.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    root = ctx.find_root()
    source = kind(root.command, {}, "legato", "_LEGATO_COMPLETE").source()
    # click's script for fish takes a word apart at every comma, so that what is told about it ends at the first.
    say_data(source.strip().replace('string split ","', 'string split --max 1 ","'))
