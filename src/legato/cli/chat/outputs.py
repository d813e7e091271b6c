"""What a one-shot run writes to standard output: text, one JSON value, or a line of JSON for each event.

Only the answer goes there; all else goes to standard error. The JSON forms carry `"schema": 1`; a change that could
break a reader gets another number. docs/command-line.md describes them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from legato.cli.saying import escape_controls, unfinished_control
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.streamed_text import StreamedText
from legato.files.json_text import encode_json
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
    structured: Any = None
    """the value of an answer that fits the schema it was asked for"""
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


def output_for(form: PrintFormat, screen: Screen, *, is_structured: bool = False) -> Output:
    """The writer of that form; `screen` is standard output. Of a structured answer, text is its value alone."""
    match form:
        case PrintFormat.TEXT if is_structured:
            return StructuredText(screen)
        case PrintFormat.TEXT:
            return TerminalText(screen) if screen.is_terminal else PipedText(screen)
        case PrintFormat.JSON:
            return OneJson(screen)
        case PrintFormat.STREAM_JSON:
            return JsonLines(screen)


class PipedText:
    """The answer as it comes, line by line at first, without anything that a terminal would obey.

    Behind a pipe there may be a terminal again (`| tee`), and no program wants escape sequences in a text. Who needs
    every character reads JSON. A reader that has left (`| head -1`) ends the run with the next piece that is written.

    What a model says before it calls a tool ("I will look.") is no answer. It is usually a line, and nobody knows what
    it is until the call comes; so the first line is held back until it has ended, and dropped where a call follows it.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._held = ""
        """what came and is not written yet"""
        self._streams = False
        """whether the first line of the present answer has ended"""

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """More of the answer."""
        if isinstance(event, events.TextShown):
            self._held += event.text
            self._streams = self._streams or "\n" in self._held.strip()
            if self._streams:
                self._write(len(self._held) - len(unfinished_control(self._held)))
        elif isinstance(event, events.CallsMade):
            if not self._streams:
                self._held = ""
            self._end()
        elif isinstance(event, events.StepFinished | events.TurnFinished):
            self._end()

    def result(self, report: Report) -> None:
        """The end of the last line."""
        self._end()

    def _write(self, count: int) -> None:
        self._screen.write(escape_controls(self._held[:count]))
        self._held = self._held[count:]

    def _end(self) -> None:
        self._write(len(self._held))
        self._screen.fresh_line()
        self._streams = False


class TerminalText:
    """Every answer as it comes: what a person in front of a terminal wants."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._text: StreamedText | None = None

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """More of the answer."""
        if isinstance(event, events.TextShown):
            self._text = self._text or StreamedText(self._screen)
            self._text.feed(event.text)
        else:
            self._end()

    def result(self, report: Report) -> None:
        """The end of the last line."""
        self._end()

    def _end(self) -> None:
        if self._text is not None:
            self._text.end()
            self._text = None


class StructuredText:
    """The value of the last answer, if it fits the schema; a program that reads it gets nothing else."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def opened(self, facts: dict[str, Any]) -> None:
        """Nothing is written."""

    def event(self, event: events.Event) -> None:
        """Nothing is written."""

    def result(self, report: Report) -> None:
        """The value."""
        if report.exit_code == 0:
            self._screen.write(_line(report.structured))


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


def _line(value: Any) -> str:
    return encode_json(value).decode() + "\n"
