"""The prompt of a conversation: one region at the bottom of the terminal, drawn by prompt_toolkit.

From above: what is not finished of an answer, the messages that wait, the status while something runs, the input box,
and a line about who answers. Everything else is printed above it and belongs to the terminal.

Questions and pickers take the place of the region while they are there; what is printed meanwhile waits for them.
This module and those that it alone imports load prompt_toolkit; only an interactive conversation needs them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, FormattedText, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style as PromptStyle

from legato.cli.terminal.box import Box, shown_queue
from legato.cli.terminal.cells import clip, one_line
from legato.cli.terminal.chat_prompt import MARK, PromptActions, Suggest, Suggestion
from legato.cli.terminal.filter import harmless
from legato.cli.terminal.keys import ESCAPE_SECONDS
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.prompt_keys import answer_bindings, box_bindings
from legato.cli.terminal.reading import drop_typed_ahead
from legato.cli.terminal.region import draw_in_region, output_of
from legato.cli.terminal.spans import TAB, wrap_text
from legato.cli.terminal.styles import Style

_LIVE_ROWS = 8
"""rows of what is not finished that are shown: our choice, the end of it is what one reads"""
_LONGEST = 10_000
"""characters of a line of a message that are shown again: our choice, no one reads more"""
_GREY = "ansibrightblack"
_KEEP_TITLE, _OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""put the title of the window aside, and take it back (xterm's window operations)"""


class Prompt:
    """Asks for the next message, and for answers to short questions."""

    def __init__(self, screen: LiveScreen, *, history: Path | None = None) -> None:
        self._screen = screen
        depth = _depth(screen)
        self._output = output_of(screen)
        self._session: PromptSession[str] = PromptSession(
            message=self._above,
            history=history_of(history),
            completer=_SuggestionCompleter(self._suggest),
            complete_while_typing=Condition(self._may_complete),
            multiline=True,
            color_depth=depth,
            bottom_toolbar=self._toolbar,
            style=PromptStyle.from_dict({"bottom-toolbar": "noreverse"}),
            erase_when_done=True,
            reserve_space_for_menu=5,
            tempfile_suffix=".md",
            input_processors=[TabsProcessor(tabstop=TAB, char1=" ", char2=" ")],
            output=self._output,
        )
        app = self._app = self._session.app
        self._renderer = draw_in_region(app, self._output)
        app.ttimeoutlen = app.timeoutlen = ESCAPE_SECONDS
        self.box = Box(self._session.default_buffer, shown=self._show_sent, changed=self.refresh)
        self._session.key_bindings = box_bindings(self.box)
        app.key_processor.before_key_press += self.box.key
        self._answers: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),
            color_depth=depth,
            key_bindings=answer_bindings(),
            multiline=True,
            output=self._output,
        )
        # Esc interrupts here, and must not have to wait for a key that could follow it.
        self._answers.app.ttimeoutlen = self._answers.app.timeoutlen = ESCAPE_SECONDS
        self._title = "legato"
        self._above_lines: list[str] = []
        self._is_drawn = False
        self._asides = 0
        self._one_aside = anyio.Lock()

    # --- the region ---

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The region is there, and lines are printed above it, until this is left."""
        drawn = asyncio.Event()

        def ready() -> None:
            self._is_drawn = True
            drawn.set()

        task = asyncio.ensure_future(self._session.prompt_async(pre_run=ready, handle_sigint=False))
        task.add_done_callback(self._ended)
        await drawn.wait()
        self._output.write_raw(_KEEP_TITLE)
        self._screen.attach(self)
        try:
            yield
        finally:
            self._screen.detach()
            self._print()
            self._output.write_raw(_OLD_TITLE)
            self._is_drawn = False
            if not task.done():
                self._app.exit(result="")
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([task])

    def _ended(self, task: asyncio.Future[str]) -> None:
        self._is_drawn = False
        error = None if task.cancelled() else task.exception()
        self.box.end(error or EOFError())

    def print_above(self, text: str) -> None:
        """Print lines above the region, together with those that come at the same time."""
        if not self._above_lines and self._is_drawn:
            asyncio.get_running_loop().call_soon(self._print)
        self._above_lines.append(text)
        if not self._is_drawn:
            self._print()

    def refresh(self) -> None:
        """Draw the region anew."""
        self._app.invalidate()

    def _print(self) -> None:
        if not self._above_lines or self._asides:
            return
        text = "".join(self._above_lines).replace("\n", "\r\n")
        self._above_lines.clear()
        with self._output.held():
            if self._is_drawn:
                self._renderer.erase()
            self._output.write_raw(text)
            if self._is_drawn:
                self._app.render_counter += 1  # what was drawn before is not drawn from memory
                self._renderer.render(self._app, self._app.layout)

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[None]:
        """The region makes room for something else that reads keys."""
        async with self._one_aside:
            self._print()
            self._asides += 1
            try:
                async with in_terminal():
                    yield
            finally:
                self._asides -= 1
                self._print()

    def _above(self) -> StyleAndTextTuples:
        width = self._screen.width
        self._session.color_depth = _depth(self._screen)  # whether colours are wanted is known a moment later
        parts: StyleAndTextTuples = []
        for row in self._screen.live_rows[-_LIVE_ROWS:]:
            parts += [*to_formatted_text(ANSI(row)), ("", "\n")]
        doing = [clip(self._screen.doing, width - 1)] if self._screen.doing else []
        for line in [*shown_queue(self.box.queue, width - 1), *doing]:
            parts.append((_GREY, f"{line}\n"))
        return [*parts, ("bold", MARK)]

    def _toolbar(self) -> FormattedText:
        text = (
            "sending this takes the last message back · Ctrl-C leaves it" if self.box.replaces else self.actions.below()
        )
        return FormattedText([(_GREY, clip(text, self._screen.width - 1))])

    def _suggest(self, text: str) -> Iterable[Suggestion]:
        return self.actions.suggest(text)

    def _may_complete(self) -> bool:
        text = self._session.default_buffer.document.text_before_cursor
        return text.startswith("/") or "@" in text

    def _show_sent(self, text: str) -> None:
        self._screen.line()
        lines = (harmless(line[:_LONGEST].expandtabs(TAB)).rstrip() for line in text.split("\n"))
        rows = [row for line in lines for row in wrap_text(line, self._screen.width - len(MARK))]
        for number, row in enumerate(rows):
            self._screen.line(f"{MARK if not number else '  '}{row}".rstrip(), Style.BOLD)

    # --- what is said ---

    async def message(self, *, default: str = "") -> str:
        """The next message; raises `EOFError` on Ctrl-D and `KeyboardInterrupt` on Ctrl-C at an empty box."""
        if default and not self._session.default_buffer.text:
            self.box.put(default)
        self.refresh()
        return await self.box.message()

    @contextmanager
    def busy(self) -> Generator[None]:
        """Something runs that Esc and Ctrl-C interrupt."""
        self.box.is_busy = True
        try:
            yield
        finally:
            self.box.is_busy = False

    @property
    def actions(self) -> PromptActions:
        """What keys do outside of the box."""
        return self.box.actions

    def take_messages(self) -> list[str]:
        """The messages that were sent meanwhile, up to the first command; they wait no longer."""
        taken = self.box.take_messages()
        for text in taken:
            self._show_sent(text)
        return taken

    def take_back(self) -> None:
        """Put what waits back into the box."""
        self.box.take_back()

    def take_replacing(self) -> bool:
        """Whether the message that was just given takes the place of the last one."""
        replaces, self.box.replaces = self.box.replaces, False
        return replaces

    async def line(self, question: str, *, default: str = "") -> str:
        """The answer to a question; raises as `message` does, and on Ctrl-C and Esc whatever was typed."""
        await self.box.pause()
        async with self.aside():
            drop_typed_ahead()
            self._name_window(f"? {self._title}", bell=True)
            self._answers.layout.focus(DEFAULT_BUFFER)
            self._answers.search_buffer.reset()
            # Signals are the program's own business, so prompt_toolkit must not take them over.
            try:
                return (await self._answers.prompt_async(question, default=default, handle_sigint=False)).strip()
            finally:
                self._name_window(self._title)

    def tell(self, title: str, *, bell: bool = False) -> None:
        """Name the terminal's window, and ring if a person is waited for."""
        self._title = one_line(title)
        self._name_window(self._title, bell=bell)

    def _name_window(self, title: str, *, bell: bool = False) -> None:
        self._output.set_title(title)
        if bell:
            self._output.bell()
        self._output.flush()


def _depth(screen: LiveScreen) -> ColorDepth | None:
    return None if screen.has_colour else ColorDepth.MONOCHROME


def history_of(path: Path | None) -> History:
    """What was typed before, kept in `path`."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()  # what was typed is then forgotten; no reason not to talk
    return FileHistory(str(path))


class _SuggestionCompleter(Completer):
    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions for the text before the cursor."""
        for item in self._suggest(document.text_before_cursor):
            yield Completion(
                item.text,
                start_position=-item.length,
                display=one_line(item.text),
                display_meta=one_line(item.about),
            )
