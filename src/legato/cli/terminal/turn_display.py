"""A turn as a person sees it: text as it comes, thinking dimmed, tools in a few lines, one status line.

In:  the events of a turn, in order.
Out: text on a screen, all of it passed through the filter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import assert_never

from msgspec import Struct

from legato.cli.terminal.cells import clip
from legato.cli.terminal.diffs import is_diff, style_of
from legato.cli.terminal.filter import TerminalFilter
from legato.cli.terminal.folding import fold
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.cli.terminal.verbose import Verbose
from legato.cli.terminal.words import about_route, dollars, is_failure, result_text, seconds, subject_of, tokens
from legato.model import CallId, Usage
from legato.model.records import TurnOutcome
from legato.request.prices import add
from legato.session import events

_MARGIN = "  "


class _Writing(Enum):
    """What is being streamed."""

    NOTHING = None
    TEXT = "text"
    THINKING = "thinking"

    @property
    def style(self) -> Style | None:
        return Style.DIM if self is _Writing.THINKING else None


class ShowSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What of a turn is shown."""

    thinking: bool = True
    """what the model thinks, dimmed"""
    lines: int = 8
    """lines of a tool's output before it is folded"""
    diff_lines: int = 60
    """lines of a difference before it is folded"""


class TurnDisplay:
    """Shows one turn after the other. `edits` holds the differences of edits, by call, if someone gathers them."""

    def __init__(
        self,
        screen: Screen,
        settings: ShowSettings | None = None,
        *,
        edits: Mapping[CallId, str] | None = None,
        answers: bool = True,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `answers`, the text of the model is left to someone else. `verbose` tells of each request."""
        self._screen = screen
        self._settings = settings or ShowSettings()
        self._edits: Mapping[CallId, str] = {} if edits is None else edits
        self._answers = answers
        self._verbose = Verbose() if verbose else None
        self._clock = clock
        self._filter = TerminalFilter()
        self._writing = _Writing.NOTHING
        self._began = clock()
        self._route = ""
        self._doing = ""
        self._usage = Usage()
        self._running: dict[CallId, str] = {}
        self.typed = ""
        """what a person has typed meanwhile; it is shown on the status line"""

    def begin(self, route: str) -> None:
        """A turn begins: the clock and the counters start anew."""
        self._began, self._route, self._doing = self._clock(), route, "waiting"
        self._usage = Usage()
        self._running.clear()

    def tick(self) -> None:
        """Bring the status line up to date."""
        if self._writing is _Writing.NOTHING:
            self._screen.status(self.status)

    @property
    def status(self) -> str:
        """Route, elapsed time, tokens, and what is being done."""
        parts = [self._route, seconds(self._clock() - self._began)]
        if self._usage.input or self._usage.output:
            parts.append(tokens(self._usage))
        parts.append(" | ".join(self._running.values()) or self._doing)
        return " · ".join(parts) + (f"  › {self.typed}" if self.typed else "")

    def show(self, event: events.Event) -> None:
        """Show one event."""
        match event:
            case events.TextShown():
                self._doing = "answering"
                if self._answers:
                    self._stream(event.text, _Writing.TEXT)
                else:
                    self.end_text()
            case events.Thought():
                self._doing = "thinking"
                if self._settings.thinking:
                    self._stream(event.text, _Writing.THINKING)
            case events.Calling():
                self._doing = f"writing a call of {event.name}" if event.name else self._doing
                self.end_text()
            case events.ToolBegan():
                self._show_began(event)
            case events.ToolProgress():
                name = self._running.get(event.call, "").partition(":")[0]
                last = event.text.rstrip().rpartition("\n")[2]
                self._running[event.call] = f"{name}: {clip(last, 60)}" if last else name
            case events.ToolEnded():
                self._show_ended(event)
            case events.Reported() | events.Refused():
                for line in self._verbose.lines(event) if self._verbose is not None else ():
                    self.note(line)
            case events.StepFinished():
                self._usage = add(self._usage, event.usage or Usage())
            case events.TurnFinished():
                self._show_end(event)
                return
            case _:
                self._show_news(event)
        self.tick()

    def note(self, text: str, style: Style | None = Style.DIM) -> None:
        """A line of our own between the model's."""
        self.end_text()
        self._screen.line(clip(text, self._screen.width * 4), style)

    # --- text that streams ---

    def _stream(self, text: str, writing: _Writing) -> None:
        if self._writing is not writing:
            self.end_text()
            self._screen.fresh_line()
            self._writing = writing
        self._screen.write(self._filter.feed(text), writing.style)

    def end_text(self) -> None:
        """Nothing more of the present text comes; what the filter held back is shown."""
        if self._writing is _Writing.NOTHING:
            return
        self._screen.write(self._filter.flush(), self._writing.style)
        self._filter = TerminalFilter()
        self._writing = _Writing.NOTHING
        self._screen.fresh_line()

    # --- tools ---

    def _show_began(self, event: events.ToolBegan) -> None:
        self.end_text()
        self._running[event.call] = event.name
        name = clip(event.name, 60)
        about = clip(subject_of(event.arguments), max(self._screen.width - len(name) - 4, 20))
        self._screen.line(f"{self._screen.painted(f'● {name}', Style.BOLD)} {about}".rstrip())

    def _show_ended(self, event: events.ToolEnded) -> None:
        self.end_text()
        began = self._running.pop(event.call, None)
        response = event.response
        several = bool(self._running)
        if began is None or several:
            # It never started, or others run beside it: say whose result this is.
            self._screen.line(f"{_MARGIN}{clip(event.name, 60)}:", Style.DIM)
        failed = is_failure(response)
        text = result_text(response)
        difference = "" if failed else self._edits.get(event.call, "")
        if difference:
            self.show_difference(difference)
            if is_diff(text.split("\n", 2)):
                return
        lines = fold(text, self._settings.lines)
        colours = is_diff(lines)
        for line in lines:
            style = Style.RED if failed else style_of(line) if colours else Style.DIM
            self._screen.line(f"{_MARGIN}{line}", style)
        self._doing = "waiting"

    def show_difference(self, text: str) -> None:
        """A difference, folded."""
        for line in fold(text, self._settings.diff_lines):
            self._screen.line(f"{_MARGIN}{line}", style_of(line))

    # --- the rest ---

    def _show_news(
        self,
        event: events.TurnStarted
        | events.StepStarted
        | events.CallsMade
        | events.Waiting
        | events.RouteLost
        | events.SwitchDeferred
        | events.HistoryCompacted
        | events.Notice,
    ) -> None:
        match event:
            case events.TurnStarted():
                self._route, self._doing = event.route, "waiting"
                if event.continues:
                    self.note(f"continues on {event.route}")
            case events.StepStarted():
                self._doing = "waiting" if event.attempt == 1 else f"waiting, attempt {event.attempt}"
            case events.CallsMade():
                self.end_text()
            case events.Waiting():
                self._doing = f"trying again in {event.seconds:.1f} s"
                self.note(f"{event.reason}; trying again in {event.seconds:.1f} s", Style.YELLOW)
            case events.RouteLost():
                self.note(f"{event.reason}; {event.following} goes on", Style.YELLOW)
            case events.SwitchDeferred():
                self.note(f"{event.route} answers from the next turn on")
            case events.HistoryCompacted():
                self.note(f"shortened the conversation: {event.before:,} to {event.after:,} tokens; {event.detail}")
            case events.Notice():
                self.note(event.text, Style.YELLOW)
            case _:
                assert_never(event)

    def _show_end(self, event: events.TurnFinished) -> None:
        self.end_text()
        self._screen.status("")
        if event.outcome not in (TurnOutcome.DONE, TurnOutcome.FAILED):  # what failed is told with its error
            self.note(event.detail or event.outcome, Style.YELLOW)
        elapsed = seconds(self._clock() - self._began)
        cost = f" · {dollars(event.cost)}" if event.cost or event.cost is None else ""
        used = f" · {tokens(event.usage)}" if event.usage.input or event.usage.output else ""
        self._screen.line(about_route(clip(self._route, 80), f"{elapsed}{used}{cost}", self._screen.width), Style.DIM)
        self._running.clear()
        self._doing = ""
