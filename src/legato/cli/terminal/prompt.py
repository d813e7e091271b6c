"""The prompt of a conversation: editing, history, completion, and a line below it.

Enter sends, Alt-Enter begins a new line. Ctrl-C empties the line, and at an empty one tells the caller. At a
question it always does, and Esc too: who means to stop must not find that the next thing they type is taken as the
answer. These keys are those of the line itself; the field in which Ctrl-R searches has its own: Enter and Esc put what
was found into the line, Ctrl-C, Ctrl-D and Ctrl-G leave the line as it was.
This is the one module that loads prompt_toolkit; only an interactive conversation imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus, has_selection, is_searching
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import (
    ConditionalKeyBindings,
    KeyBindings,
    KeyBindingsBase,
    KeyPressEvent,
    merge_key_bindings,
)
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.search import stop_search

from legato.cli.terminal.cells import one_line
from legato.cli.terminal.keys import ESCAPE_SECONDS
from legato.cli.terminal.reading import drop_typed_ahead


class Suggestion:
    """One completion: the text that replaces the last `length` characters, and a word about it."""

    __slots__ = ("about", "length", "text")

    def __init__(self, text: str, length: int, about: str = "") -> None:
        self.text, self.length, self.about = text, length, about


Suggest = Callable[[str], Iterable[Suggestion]]
"""what may be behind the text before the cursor"""


class Prompt:
    """Asks for the next message, and for answers to short questions. `below` gives the line below the prompt."""

    below: Callable[[], str]

    def __init__(
        self,
        *,
        suggest: Suggest = lambda _: (),
        history: Path | None = None,
        has_colour: bool = True,
    ) -> None:
        depth = ColorDepth.MONOCHROME if not has_colour else None
        self.below = lambda: ""
        self._messages: PromptSession[str] = PromptSession(
            history=_history(history),
            completer=_SuggestionCompleter(suggest),
            complete_while_typing=True,
            key_bindings=_bindings(_clear_or_interrupt),
            multiline=True,
            color_depth=depth,
            bottom_toolbar=self._toolbar,
            enable_open_in_editor=True,
            reserve_space_for_menu=4,
        )
        self._answers: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), color_depth=depth, key_bindings=_answer_bindings(), multiline=True
        )
        # Esc interrupts here, and must not have to wait for a key that could follow it.
        self._answers.app.ttimeoutlen = self._answers.app.timeoutlen = ESCAPE_SECONDS

    async def message(self, *, default: str = "") -> str:
        """The next message; raises `EOFError` on Ctrl-D and `KeyboardInterrupt` on Ctrl-C at an empty line."""
        return await _ask(self._messages, "› ", default)

    async def line(self, question: str, *, default: str = "") -> str:
        """The answer to a question; raises as `message` does, and on Ctrl-C and Esc whatever was typed."""
        drop_typed_ahead()
        return (await _ask(self._answers, question, default)).strip()

    def _toolbar(self) -> FormattedText:
        return FormattedText([("noreverse dim", one_line(self.below()))])


async def _ask(session: PromptSession[str], question: str, default: str) -> str:
    # A prompt that was withdrawn while someone searched would leave the next one with its keys in the search field.
    session.layout.focus(DEFAULT_BUFFER)
    session.search_buffer.reset()
    # Signals are the program's own business, so prompt_toolkit must not take them over.
    return await session.prompt_async(question, default=default, handle_sigint=False)


def _history(path: Path | None) -> History:
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()  # what was typed is then forgotten; no reason not to talk
    return FileHistory(str(path))


def _interrupt(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt())


def _clear_or_interrupt(event: KeyPressEvent) -> None:
    if event.current_buffer.text:
        event.current_buffer.reset()
    else:
        _interrupt(event)


def _bindings(on_interrupt: Callable[[KeyPressEvent], None]) -> KeyBindingsBase:
    """The keys of a line, and the one that prompt_toolkit does not bind where a search is under way."""
    searching = KeyBindings()
    searching.add("c-d", filter=is_searching)(_leave_search)
    return merge_key_bindings(
        [ConditionalKeyBindings(_line_bindings(on_interrupt), has_focus(DEFAULT_BUFFER)), searching]
    )


def _answer_bindings() -> KeyBindingsBase:
    escape = KeyBindings()
    escape.add("escape", filter=has_focus(DEFAULT_BUFFER))(_interrupt)
    return merge_key_bindings([_bindings(_interrupt), escape])


def _leave_search(event: KeyPressEvent) -> None:
    stop_search()


def _line_bindings(on_interrupt: Callable[[KeyPressEvent], None]) -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter", filter=~has_selection)
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
            return
        buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    bindings.add("c-c")(on_interrupt)

    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            event.app.exit(exception=EOFError())

    del send, new_line, leave  # they live in the bindings
    return bindings


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
