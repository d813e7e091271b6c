"""A turn as a person sees it: text as it comes, thinking dimmed, tools in a few lines, one status line.

In:  the events of a turn, in order.
Out: text on a screen, all of it passed through the filter.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, assert_never

from msgspec import Meta, Struct

from legato.cli.terminal.cells import clip, one_line
from legato.cli.terminal.diffs import is_diff, style_of
from legato.cli.terminal.folding import fold, is_folded
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.streamed_text import StreamedText
from legato.cli.terminal.styles import Style
from legato.cli.terminal.verbose import Verbose
from legato.cli.terminal.words import about_route, dollars, is_failure, result_text, seconds, subject_of, tokens
from legato.model import CallId, JsonObject, ToolCall, Usage
from legato.model.records import TurnOutcome
from legato.request.prices import add
from legato.session import events

_MARGIN = "  "
_NAMED = 60
"""columns that a running call gets in the status line"""
_BESIDE = 20
"""columns that running calls leave for what follows them, above all the seconds: our choice"""
_STALLED = 10.0
"""seconds without anything from the provider that are told: our choice, a model thinks a few of them"""
_SOON = 0.1
"""seconds that no one waits for"""
_MOST_FOLDED = 50
"""folded outputs that can be opened again"""


class Folded(Struct, frozen=True):
    """An output that was not shown whole, and whose it is."""

    subject: str
    text: str


class ShowSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What of a turn is shown."""

    thinking: bool = True
    """what the model thinks, dimmed"""
    lines: Annotated[int, Meta(ge=0)] = 8
    """lines of a tool's output before it is folded"""
    diff_lines: Annotated[int, Meta(ge=0)] = 60
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
        self._text: StreamedText | None = None
        self._style: Style | None = None
        self._began = self._heard = clock()
        self._route = ""
        self._doing = ""
        self._again_at: float | None = None
        """when a request is tried again"""
        self._attempt = 0
        """which attempt that will be"""
        self._usage = Usage()
        self._cost: float | None = 0.0
        self._subjects: dict[CallId, str] = {}
        self._running: dict[CallId, str] = {}
        """calls that run, and the last line that each wrote"""
        self._last_named: CallId | None = None
        """the call whose name is on the line above"""
        self.folded: deque[Folded] = deque(maxlen=_MOST_FOLDED)
        """outputs that were not shown whole, the newest last"""

    def begin(self, route: str) -> None:
        """A turn begins: the clock and the counters start anew."""
        self._began = self._heard = self._clock()
        self._route, self._doing = route, "waiting"
        self._usage, self._cost, self._again_at = Usage(), 0.0, None
        self._running.clear()

    def tick(self) -> None:
        """Bring the status line up to date."""
        self._screen.status(self.status)

    @property
    def status(self) -> str:
        """What is being done, for how long, where, and what it has used; how long nothing has come, if it is long."""
        now = self._clock()
        doing = self._doing
        if self._again_at is not None:
            keys = "Esc stops · /retry asks now · /model switches" if self._screen.has_keys else "Ctrl-C stops"
            doing = f"attempt {self._attempt} in {max(self._again_at - now, 0):.0f} s · {keys}"
        running = " | ".join(self._named(call) for call in self._running)
        parts = [clip(running, max(self._screen.width - _BESIDE, _BESIDE)) or doing]
        silent = now - self._heard
        if silent >= _STALLED and not self._running and self._again_at is None:
            parts.append(f"nothing came for {silent:.0f} s")
        stops = ["Esc stops"] if self._screen.has_keys and self._again_at is None else []
        parts += [seconds(now - self._began), *stops, self._route]
        if self._usage.input or self._usage.output:
            parts += [tokens(self._usage), dollars(self._cost)]
        return " · ".join(parts)

    def _named(self, call: CallId) -> str:
        about, last = self._subjects.get(call, ""), self._running[call]
        return clip(f"{about}: {last}" if last else about, _NAMED)

    def show(self, event: events.Event) -> None:
        """Show one event."""
        self._heard, self._again_at = self._clock(), None
        match event:
            case events.TextShown():
                self._doing = "answering"
                if self._answers:
                    self._stream(event.text)
                else:
                    self.end_text()
            case events.Thought():
                self._doing = "thinking"
                if self._settings.thinking:
                    self._stream(event.text, Style.DIM)
            case events.Calling():
                self._doing = f"writing a call of {event.name}" if event.name else self._doing
                self.end_text()
            case events.ToolBegan():
                self._show_began(event)
            case events.ToolProgress():
                self._running[event.call] = event.text.rstrip().rpartition("\n")[2]
            case events.ToolEnded():
                self._show_ended(event)
            case events.Reported() | events.Refused():
                for line in self._verbose.lines(event) if self._verbose is not None else ():
                    self.note(line)
            case events.StepFinished():
                self._usage = add(self._usage, event.usage or Usage())
                self._cost = None if self._cost is None or event.cost is None else self._cost + event.cost
            case events.TurnFinished():
                self._show_end(event)
                return
            case _:
                self._show_news(event)
        self.tick()

    def note(self, text: str, style: Style | None = Style.DIM) -> None:
        """A line of our own beside the model's."""
        self._last_named = None
        self._screen.line(one_line(text), style)

    # --- text that streams ---

    def _stream(self, text: str, style: Style | None = None) -> None:
        if self._text is None or self._style is not style:
            self.end_text()
            self._screen.fresh_line()
            self._text, self._style, self._last_named = StreamedText(self._screen, style), style, None
        self._text.feed(text)

    def end_text(self) -> None:
        """Nothing more of the present text comes; what the filter held back is shown."""
        if self._text is not None:
            self._text.end()
            self._text = None

    # --- tools ---

    def _show_made(self, calls: Sequence[ToolCall]) -> None:
        self.end_text()
        for call in calls:
            self._subjects[call.id] = _subject(call.name, call.arguments)

    def _show_began(self, event: events.ToolBegan) -> None:
        self.end_text()
        self._running[event.call] = ""
        self._subjects[event.call] = _subject(event.name, event.arguments)
        self._name(event.call, "●", Style.BOLD)

    def _name(self, call: CallId, mark: str, style: Style) -> None:
        """A line that names a call: what follows is about it."""
        name, _, about = clip(self._subjects[call], max(self._screen.width - 3, 20)).partition(" ")
        self._screen.row(f"{self._screen.painted(f'{mark} {name}', style)} {about}".rstrip())
        self._last_named = call

    def _show_ended(self, event: events.ToolEnded) -> None:
        self.end_text()
        self._running.pop(event.call, None)
        self._subjects.setdefault(event.call, event.name)
        if self._last_named != event.call:  # it never started, or something else was shown since it began
            self._name(event.call, "└", Style.DIM)
        response = event.response
        failed = is_failure(response)
        text = result_text(response)
        difference = "" if failed else self._edits.get(event.call, "")
        if difference:
            self.show_difference(difference, event.call)
            if is_diff(text.split("\n", 2)):
                return
        lines = self._fold(text, self._settings.lines, event.call)
        colours = is_diff(lines)
        for line in lines:
            style = Style.RED if failed else style_of(line) if colours else Style.DIM
            self._screen.line(f"{_MARGIN}{line}", style)
        self._doing = "waiting"

    def _fold(self, text: str, most: int, call: CallId) -> list[str]:
        lines = fold(text, most, hint=" (Ctrl-O)" if self._screen.has_keys else "")
        if is_folded(text, most):
            self.folded.append(Folded(self._subjects.get(call, ""), text))
        return lines

    def show_difference(self, text: str, call: CallId) -> None:
        """A difference, folded."""
        for line in self._fold(text, self._settings.diff_lines, call):
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
        if not isinstance(event, events.SwitchDeferred | events.Notice):
            self.end_text()  # what was begun does not go on
        match event:
            case events.TurnStarted():
                self._route, self._doing = event.route, "waiting"
            case events.StepStarted():
                self._doing = "waiting" if event.attempt == 1 else f"waiting, attempt {event.attempt}"
            case events.CallsMade():
                self._show_made(event.calls)
            case events.Waiting():
                self._again_at, self._attempt = self._clock() + event.seconds, event.attempt + 1
                # Where it can be counted down, one line for a route that is waited for is enough.
                if event.attempt == 1 or not self._screen.is_live:
                    who = f"{event.route}: " if event.route else ""
                    self.note(f"{who}{event.reason}; {_again(event)}", Style.YELLOW)
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
        self._subjects.clear()
        self._doing = ""


def _again(event: events.Waiting) -> str:
    limit = f", for up to {seconds(event.left)}" if event.left else ""
    when = f"in {event.seconds:.1f} s" if event.seconds >= _SOON else "at once"
    return f"trying again {when}{limit}"


def _subject(name: str, arguments: JsonObject) -> str:
    """A call in one line: its tool, and what it is about."""
    return f"{clip(name, 60)} {one_line(subject_of(arguments))}".rstrip()
