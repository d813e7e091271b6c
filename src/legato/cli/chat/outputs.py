"""What a one-shot run writes to standard output: text, one JSON value, or a line of JSON for each event.

Only the answer goes there; all else goes to standard error. The JSON forms carry `"schema": 1`; a change that could
break a reader gets another number. docs/command-line.md describes them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from legato.cli.terminal.filter import TerminalFilter
from legato.cli.terminal.screen import Screen
from legato.model import Usage
from legato.session import events

SCHEMA = 1
"""the version of the JSON that is printed; it grows when a field changes its meaning"""


class PrintFormat(StrEnum):
    """What standard output holds."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class Pending(Struct, frozen=True):
    """A call that was not run because no one was there to allow it."""

    call: str
    tool: str


class Failure(Struct, frozen=True, kw_only=True):
    """What made the run fail: the kind of error, and a line about it.

    `fault` is the layer of ours that is at fault, `why` the reason and `cause` the rule that was broken; all are empty
    where none of ours is.
    """

    type: str
    message: str
    fault: str = ""
    cause: str = ""
    why: str = ""
    calls: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """How a one-shot run ended."""

    outcome: str
    text: str
    exit_code: int
    session: str | None = None
    route: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    """dollars; null where a price is not known"""
    detail: str = ""
    ending: str | None = None
    approvals_needed: tuple[Pending, ...] = ()
    error: Failure | None = None
    request: dict[str, Any] | None = None
    """the last request: what was decided for it, and what was wrong with it; told where the run failed or is verbose"""


class Output(Protocol):
    """Who writes to standard output."""

    def opened(self, facts: dict[str, Any]) -> None:
        """The session is open; `facts` describe it."""
        ...

    def event(self, event: events.Event) -> None:
        """Something happened."""
        ...

    def result(self, report: Report) -> None:
        """The run is over."""
        ...


def output_for(form: PrintFormat, screen: Screen) -> Output:
    """The writer of that form; `screen` is standard output."""
    match form:
        case PrintFormat.TEXT:
            return TerminalText(screen) if screen.is_terminal else PipedText(screen)
        case PrintFormat.JSON:
            return OneJson(screen)
        case PrintFormat.STREAM_JSON:
            return JsonLines(screen)


class PipedText:
    """The last answer, as it is, when it is complete: what a program behind a pipe wants."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """Nothing is written."""

    def result(self, report: Report) -> None:
        """The answer."""
        if report.text:
            self._screen.write(report.text if report.text.endswith("\n") else f"{report.text}\n")


class TerminalText:
    """Every answer as it comes: what a person in front of a terminal wants."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._filter = TerminalFilter()

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """More of the answer."""
        if isinstance(event, events.TextShown):
            self._screen.write(self._filter.feed(event.text))
        elif isinstance(event, events.Calling | events.CallsMade | events.StepFinished | events.TurnFinished):
            self._end()

    def result(self, report: Report) -> None:
        """The end of the last line."""
        self._end()

    def _end(self) -> None:
        self._screen.write(self._filter.flush())
        self._screen.fresh_line()


class OneJson:
    """One JSON value at the end."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """Nothing is written."""

    def result(self, report: Report) -> None:
        """The report."""
        self._screen.write(_line({"schema": SCHEMA, "event": "result", **_plain(report)}))


class JsonLines:
    """A line for each event, the last one being the result."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def opened(self, facts: dict[str, Any]) -> None:
        """The first line."""
        self._write({"schema": SCHEMA, "event": "session", **facts})

    def event(self, event: events.Event) -> None:
        """One line."""
        self._write({"schema": SCHEMA, **_plain(event)})

    def result(self, report: Report) -> None:
        """The last line."""
        self._write({"schema": SCHEMA, "event": "result", **_plain(report)})

    def _write(self, value: dict[str, Any]) -> None:
        self._screen.write(_line(value))


def _plain(value: Struct) -> dict[str, Any]:
    plain = msgspec.to_builtins(value)
    # Structs leave out what has its default; a reader of usage wants every number.
    for name in ("usage",):
        usage = getattr(value, name, None)
        if isinstance(usage, Usage):
            plain[name] = {field: getattr(usage, field) for field in Usage.__struct_fields__}
    return plain


def _line(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode() + "\n"
