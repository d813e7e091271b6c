"""How the demonstration is shown: live, a line for everything that happens, and two tables.

With `plain` there are no colours, no pauses and no characters that a log file would mangle.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from rich.box import ASCII, ROUNDED
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from legato.cli.demo.tally import SeenId, Tally
from legato.model import ToolResponse
from legato.session import SwitchPreview, events

_PAUSES: dict[type[events.Event], float] = {
    events.TurnStarted: 0.45,
    events.ToolEnded: 0.12,
    events.RouteLost: 0.6,
    events.TurnFinished: 0.35,
}
_WIDEST = 84
"""columns: our choice, so that the picture in the docs and a small terminal show the same"""


class DemoConsole:
    """Where the demonstration is shown."""

    def __init__(self, *, plain: bool, color: bool = True) -> None:
        self._plain = plain
        self._console = Console(no_color=plain or not color, highlight=False, width=100 if plain else None, emoji=False)
        self._marks = ("->", "=>", "!", "x") if plain else ("▸", "⇄", "⚡", "✂")
        self._answer = ""

    def opening(self) -> None:
        """What is about to be seen."""
        text = (
            "One conversation with real tools moves through ten provider families.\n"
            "Each request is judged by a simulated provider that refuses what the real one refuses."
        )
        self._console.print(text if self._plain else Panel(text, title="[bold]legato demo[/]", border_style="cyan"))

    def chapter(self, title: str, subtitle: str) -> None:
        """A part begins."""
        self._console.print()
        if self._plain:
            self._console.print(f"== {title}: {subtitle}")
        else:
            self._console.rule(f"[bold cyan]{title}[/]  [dim]{subtitle}[/]", align="left")

    def said(self, text: str) -> None:
        """What the user says."""
        self._console.print(f"  [dim]you[/]  {_short(text)}")

    def switched(self, preview: SwitchPreview) -> None:
        """A switch by hand, with what it costs."""
        losses = ", ".join(f"{count} {reason}" for reason, count in preview.losses.items()) or "nothing"
        room = f"{preview.tokens:,} of {preview.window:,} tokens"
        self._console.print(
            f"{self._marks[1]} [bold magenta]{preview.route}[/]  [dim]leaves out {escape(losses)}; uses {room}[/]"
        )

    def show(self, event: events.Event) -> None:
        """What happens in a turn."""
        match event:
            case events.TurnStarted():
                note = " [yellow](continues)[/]" if event.continues else ""
                self._console.print(f"{self._marks[0]} [bold green]{event.route}[/]{note}")
                self._answer = ""
            case events.StepStarted() if event.closed:
                for call, reason in event.closed.items():
                    self._console.print(f"  [yellow]closed[/] {call}: {reason}")
            case events.TextShown():
                self._answer += event.text
            case events.CallsMade():
                self._answer = ""
            case events.ToolEnded():
                self._console.print(f"  [blue]{event.name}[/]  {_outcome(event.response)}")
            case events.RouteLost():
                self._console.print(f"{self._marks[2]} [red]{_short(event.reason)}[/] [dim]on to[/] {event.following}")
            case events.TurnFinished():
                if self._answer:
                    self._console.print(f"  [dim]says[/] {_short(self._answer)}")
            case _:
                pass

    def cancelling(self) -> None:
        """The user presses Ctrl-C."""
        self._console.print(f"{self._marks[3]} [red]cancelled by hand[/] [dim]while the fifth tool still runs[/]")

    def ids(self, tool: str, seen: Sequence[SeenId]) -> None:
        """The ids under which each provider knows one and the same call."""
        table = self._table(f"The first call ({tool}), as each provider sees it", "provider", "tool call id")
        for one in seen:
            table.add_row(one.route, one.wire_id)
        self._console.print(table)

    def summary(self, tally: Tally, *, requests: int, refused: int, remembered: bool) -> None:
        """What it came to."""
        table = self._table("What it came to", "", "")
        rows = [
            ("turns / requests sent", f"{tally.turns} / {requests}"),
            ("switches by hand / failovers", f"{tally.switches} / {tally.failovers}"),
            ("refused by a provider", f"[bold {'green' if not refused else 'red'}]{refused}[/]"),
            ("real results kept", str(tally.real_results)),
            ("calls closed without a result", _counts(tally.closed)),
            ("prefix of requests on a known route", _counts(tally.prefixes)),
            ("first turn remembered", "[bold green]yes[/]" if remembered else "[bold red]no[/]"),
        ]
        for row in rows:
            table.add_row(*row)
        self._console.print(table)

    async def breathe(self, event: events.Event) -> None:
        """Leave the eye a moment."""
        if not self._plain and self._console.is_terminal:
            await anyio.sleep(_PAUSES.get(type(event), 0.0))

    def _table(self, title: str, *columns: str) -> Table:
        table = Table(
            title=title, title_justify="left", box=ASCII if self._plain else ROUNDED, show_header=any(columns)
        )
        for column in columns:
            table.add_column(column)
        return table


def _outcome(response: ToolResponse) -> str:
    if response.reason is not None:
        return f"[yellow]{response.reason.value}[/]"
    if response.error is not None:
        return f"[red]{_short(response.error)}[/]"
    return f"[dim]{_short(str(response.result))}[/]"


def _counts(counter: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counter.items()) or "none"


def _short(text: str) -> str:
    """One line of `text`, safe to print as markup."""
    line = " ".join(text.split())
    return escape(line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…")
