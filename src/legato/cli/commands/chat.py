"""`legato`, `legato chat`: talk to a model, in a terminal or in one shot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from legato.cli import completing
from legato.cli.commands.pacing import read_pace_option

FORMATS = ("text", "json", "stream-json")
INPUTS = ("text", "stream-json")
MODES = ("ask", "edits", "plan", "never")
SANDBOXES = ("workspace", "read-only", "off")
COLORS = ("auto", "always", "never")


@click.command(short_help="Talk to a model; this runs when no command is named.")
@click.argument("message", nargs=-1)
@click.option("-p", "--prompt", metavar="PROMPT", help="Ask this, print the answer and leave.")
@click.option(
    "-m", "--model", metavar="ROUTE", shell_complete=completing.routes, help="Who answers, as provider/model."
)
@click.option(
    "--route",
    metavar="PROFILE",
    shell_complete=completing.profiles,
    help="The configured profile that chooses who answers.",
)
@click.option("--approval", type=click.Choice(MODES), help="What may run without asking.")
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where commands may write; off: no sandbox.")
@click.option("--max-turns", type=click.IntRange(min=1), metavar="N", help="At most so many requests for one message.")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="DOLLARS", help="End when this much was spent.")
@click.option(
    "--output-format", "output", type=click.Choice(FORMATS), help="What standard output holds, in one-shot use."
)
@click.option("--input-format", "form", type=click.Choice(INPUTS), help="What standard input holds, in one-shot use.")
@click.option(
    "--json-schema",
    "schema",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="In one-shot use: the answer is JSON that fits this schema.",
)
@click.option("-c", "--continue", "continues", is_flag=True, help="Go on with the last session of this folder.")
@click.option(
    "-r",
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    shell_complete=completing.sessions,
    help="Go on with a stored session.",
)
@click.option("--fork", is_flag=True, help="With -c or -r: go on in a copy, and leave the session as it is.")
@click.option("--system", metavar="TEXT", help="Use this in place of the built-in system prompt.")
@click.option("--append-system", metavar="TEXT", help="Add this to the system prompt.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use this in place of your settings.")
@click.option("--color", type=click.Choice(COLORS), help="Whether to use colours.")
@click.option("--simulate", is_flag=True, default=None, help="Simulated providers in this process: no key, no network.")
@click.option(
    "--pace",
    callback=read_pace_option,
    metavar="N/s",
    help="With --simulate: N pieces of an answer arrive in a second.",
)
@click.option("--no-store", is_flag=True, help="Do not keep this session.")
@click.option("-q", "--quiet", is_flag=True, help="In one-shot use: only errors on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Tell what was decided for each request, and why one is refused.")
@click.option(
    "--log-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Add requests, refusals and turns to FILE, one JSON object a line.",
)
def chat(
    message: tuple[str, ...],
    prompt: str | None,
    output: str | None,
    form: str | None,
    schema: Path | None,
    continues: bool,
    resume: str | None,
    fork: bool,
    config: Path | None,
    pace: float | None,
    no_store: bool,
    quiet: bool,
    verbose: bool,
    log_file: Path | None,
    **flags: Any,
) -> int:
    """Talk to a model.

    In a terminal a conversation begins, with MESSAGE if there is one; /help lists what can be done there. With -p, or
    where standard input or output is not a terminal, one answer is printed: only the answer on standard output,
    everything else on standard error.

    Exit status: 0 answered, 1 failure, 2 usage, 4 refused by all routes, 5 a tool needed an approval and no one was
    there to give it, 6 a limit was reached, 7 the session is locked or corrupt, 8 the answer is not whole, 9 the model
    refused to answer, 10 the answer does not fit the schema, 130 interrupted, 143 terminated.
    """
    from legato.cli.chat.options import ChatOptions

    takes_json = form == "stream-json"
    is_one_shot = prompt is not None or takes_json or not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout))
    _refuse_contradictions(
        {
            "-c and -r both name a session; use one of them": continues and resume is not None,
            "--fork copies a session; name it with -c or -r": fork and not continues and resume is None,
            "--no-store keeps nothing, so there is nothing to go on with; leave out -c and -r": no_store
            and (continues or resume is not None),
            "--output-format is for one-shot use; give a prompt with -p": output is not None and not is_one_shot,
            "--json-schema is for one-shot use; give a prompt with -p": schema is not None and not is_one_shot,
            "--input-format stream-json reads messages from standard input; leave out -p": takes_json
            and (prompt is not None or bool(message)),
            "-r without an ID asks which session is meant, and nobody is there to answer; give the ID": is_one_shot
            and resume == "",
            "-p and a message both say what is asked; use one of them": prompt is not None and bool(message),
            "-q and -v contradict each other; use one of them": quiet and verbose,
            "-m and --route both say who answers; use one of them": bool(flags["model"]) and bool(flags["route"]),
        }
    )
    wanted = ChatOptions(
        prompt=prompt if prompt is not None or not message else " ".join(message),
        output=output or "text",
        takes_json=takes_json,
        schema=schema,
        continues=continues,
        resume=resume,
        forks=fork,
        config=config,
        pace=pace,
        stores=not no_store,
        is_quiet=quiet,
        is_verbose=verbose,
        log_file=log_file,
        flags=_as_settings(flags),
    )
    if not is_one_shot:
        from legato.cli.chat.opening import open_conversation

        return open_conversation(wanted)
    from legato.cli.chat.startup import run_one_shot

    return run_one_shot(wanted)


_SETTINGS = {
    "model": ("model", "-m"),
    "route": ("route", "--route"),
    "system": ("system", "--system"),
    "append_system": ("append_system", "--append-system"),
    "color": ("color", "--color"),
    "simulate": ("simulate", "--simulate"),
    "approval": ("approval.mode", "--approval"),
    "sandbox": ("sandbox.mode", "--sandbox"),
    "max_turns": ("limits.max_turns", "--max-turns"),
    "max_cost": ("limits.max_cost", "--max-cost"),
}


def _as_settings(flags: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """The flags that are settings: by setting, the flag and its value."""
    return {key: (flag, flags[name]) for name, (key, flag) in _SETTINGS.items()}


def _refuse_contradictions(contradictions: dict[str, bool]) -> None:
    for message, is_so in contradictions.items():
        if is_so:
            raise click.UsageError(message)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False  # closed, or not there at all
