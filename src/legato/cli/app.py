"""The command `legato`: a table of names, and one place where every error becomes a line and an exit code.

A command's module is loaded when the command runs, so that `legato --help` costs little more than starting Python.
Without a command, or with an option or a message in its place, the chat begins.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import click

from legato.cli.exits import (
    ExitCode,
    Terminated,
    code_of,
    complain,
    drop_unwritten,
    is_debugging,
    line_of,
    silence_stdout,
)
from legato.cli.saying import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Listed(NamedTuple):
    """One command: where it lives, and what it does in a few words."""

    home: str
    summary: str


DEFAULT = "chat"
_NEAR = 0.6
"""how alike a word and a command are that is taken for a slip, from 0 to 1: our choice, "lnit" is and "hello" is not"""

COMMANDS: dict[str, Listed] = {
    "chat": Listed("legato.cli.commands.chat:chat", "Talk to a model; this runs when no command is named."),
    "lint": Listed("legato.cli.commands.lint:lint", "Say what is wrong with session files or request bodies."),
    "repair": Listed("legato.cli.commands.repair:repair", "Write a mended copy of a session file or request body."),
    "convert": Listed("legato.cli.commands.convert:convert", "Carry a conversation to another provider or agent."),
    "inspect": Listed("legato.cli.commands.inspect:inspect", "Show a conversation, its calls and every decision."),
    "formats": Listed("legato.cli.commands.formats:formats", "List the files that are understood, and where they are."),
    "sessions": Listed("legato.cli.commands.sessions:sessions", "List, show, export or delete stored sessions."),
    "import": Listed("legato.cli.commands.import_:import_", "Bring a session file into the store, to go on with it."),
    "models": Listed("legato.cli.commands.models:models", "List models: windows, prices, keys and retirement dates."),
    "mcp": Listed("legato.cli.commands.mcp:mcp", "Add, list or remove MCP servers of this project."),
    "config": Listed("legato.cli.commands.config:config", "Show the settings and where each comes from."),
    "doctor": Listed("legato.cli.commands.doctor:doctor", "Check keys, routes, store and terminal."),
    "serve": Listed("legato.cli.commands.serve:serve", "Let any client ask any provider, through a local gateway."),
    "simulate": Listed("legato.cli.commands.simulate:simulate", "Serve strict simulated providers on this machine."),
    "completion": Listed("legato.cli.commands.completion:completion", "Let a shell complete commands and names."),
    "demo": Listed("legato.cli.commands.demo:demo", "Watch one conversation move through every provider."),
}


class App(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, loaded now."""
        listed = COMMANDS.get(cmd_name)
        if listed is None:
            return None
        module, _, attribute = listed.home.partition(":")
        return cast(click.Command, getattr(import_module(module), attribute))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with. What is none is a message, unless it looks like a command misspelled."""
        name = args[0]
        if name in COMMANDS:
            return name, self.get_command(ctx, name), args[1:]
        if len(args) == 1 and not any(letter.isspace() for letter in name):
            from difflib import get_close_matches  # rarely needed, and slow to load

            if near := get_close_matches(name, COMMANDS, n=2, cutoff=_NEAR):
                hint = f"did you mean {' or '.join(near)}? To say it to a model: legato chat {name}"
                raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)
        return DEFAULT, self.get_command(ctx, DEFAULT), args

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """An option that is not the group's own, or nothing at all, belongs to the default command."""
        own = {*ctx.help_option_names, *(name for parameter in self.params for name in parameter.opts)}
        if not args and ctx.resilient_parsing:
            return super().parse_args(ctx, args)  # a shell asks for the first word
        if not args or (args[0].startswith("-") and args[0] not in own):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The first word: a command, or an option of the chat, which runs where no command is named."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            default = self.get_command(ctx, DEFAULT)
            assert default is not None
            own = super().shell_complete(ctx, incomplete)
            known = {item.value for item in own}
            rest = default.shell_complete(click.Context(default, parent=ctx), incomplete)
            return [*own, *(item for item in rest if item.value not in known)]
        return [
            CompletionItem(name, help=listed.summary)
            for name, listed in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without loading what it names."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.summary) for name, listed in COMMANDS.items()])

    def main(  # pyright: ignore[reportIncompatibleMethodOverride]  # it never returns, which is the point
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run, and leave with an exit code; no traceback reaches a person who did not ask for it."""
        extra["standalone_mode"] = False
        _open_missing_streams()
        before = _on_sigterm(_terminate)
        try:
            code = self._run(args, prog_name or "legato", extra)
            drop_unwritten()
            sys.exit(code)
        finally:
            _on_sigterm(before)

    def _run(self, args: Sequence[str] | None, prog_name: str, extra: dict[str, Any]) -> int:
        try:
            result = self._result(args, prog_name, extra)
            sys.stdout.flush()  # find out now, not while Python shuts down, that no one reads our output
        except click.ClickException as error:
            complain(_of_click(error))
            return ExitCode.USAGE if isinstance(error, click.UsageError | click.FileError) else error.exit_code
        except (click.Abort, KeyboardInterrupt):
            return ExitCode.INTERRUPTED
        except BrokenPipeError:
            silence_stdout()
            return ExitCode.FAILURE
        except Terminated:
            return ExitCode.TERMINATED
        except Exception as error:  # noqa: BLE001  # the last place that can turn an error into a line for a person
            if is_debugging():
                sys.excepthook(type(error), error, error.__traceback__)
            complain(line_of(error))
            return code_of(error)
        return result if isinstance(result, int) else ExitCode.OK

    def _result(self, args: Sequence[str] | None, prog_name: str, extra: dict[str, Any]) -> object:
        try:
            return super().main(args, prog_name, **extra)
        except click.exceptions.Exit as error:
            return error.exit_code


def _of_click(error: click.ClickException) -> str:
    from legato.files.text import one_line

    message = error.format_message().rstrip(".")
    line = f"{message[:1].lower()}{message[1:]}"
    context = error.ctx if isinstance(error, click.UsageError) else None
    is_advised = "--help" in message or "did you mean" in message.lower()
    return one_line(line if context is None or is_advised else f"{line}; see `{context.command_path} --help`")


def _open_missing_streams() -> None:
    """Put an empty stream in place of each standard one that was closed before the program began (`>&-`).

    Python has None there, which nobody expects; and the next file that is opened would get the number of the stream,
    so that what is printed would end up in a database.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # open as long as the program


_Answer = Callable[[int, FrameType | None], Any] | int | None


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _on_sigterm(answer: _Answer) -> _Answer:
    """Set what SIGTERM does; what it did before. Only the main thread may."""
    try:
        return signal.signal(signal.SIGTERM, answer)
    except ValueError:
        return None


def _wants_colour() -> bool | None:
    """False where colours are unwanted; None leaves it to whether a terminal is there."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from legato.version import __version__

        say(f"legato {__version__}")
        ctx.exit()


@click.group(
    name="legato",
    cls=App,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        '`legato "a message"` begins a conversation with it; `legato chat --help` lists the options of a conversation: '
        "-p, -m, -c, --simulate and others."
    ),
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """One conversation, any model: switch provider at any turn, and nothing breaks."""
    ctx.color = _wants_colour()
