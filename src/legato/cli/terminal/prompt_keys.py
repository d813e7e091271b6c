"""What the keys of the prompt do. Those of a line, of a question, and of the field in which Ctrl-R searches differ."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_completions, has_focus, has_selection, is_searching
from prompt_toolkit.key_binding import (
    ConditionalKeyBindings,
    KeyBindings,
    KeyBindingsBase,
    KeyPressEvent,
    merge_key_bindings,
)
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import stop_search

from legato.cli.terminal.box import Box


def box_bindings(box: Box) -> KeyBindingsBase:
    """The keys of the input box."""
    bindings = _line_bindings(_when_complete(box.send))

    def on(key: str, act: Callable[[], None]) -> None:
        def pressed(event: KeyPressEvent) -> None:
            act()

        bindings.add(key, filter=~has_completions if key == "up" else True)(pressed)

    on("escape", box.escape)
    on("c-c", box.interrupt)
    on("c-d", box.leave)
    on("c-o", box.open_output)
    on("s-tab", box.next_mode)
    on("up", box.up)

    @bindings.add(Keys.BracketedPaste)
    def paste(event: KeyPressEvent) -> None:
        box.paste(event.data)

    @bindings.add("c-z")
    def suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @bindings.add("c-x", "c-e")
    def edit(event: KeyPressEvent) -> None:
        box.expand()
        event.current_buffer.open_in_editor()

    del paste, suspend, edit  # they live in the bindings
    return _with_search(bindings)


def answer_bindings() -> KeyBindingsBase:
    """The keys of a question: Ctrl-C and Esc withdraw it, whatever was typed, and so does Ctrl-D at an empty line."""
    bindings = _line_bindings(_when_complete(None))
    for key in ("c-c", "escape"):
        bindings.add(key)(_interrupt)

    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            _interrupt(event)  # a person is there, who gave no answer

    del leave  # it lives in the bindings
    return _with_search(bindings)


def _line_bindings(send: Callable[[KeyPressEvent], None]) -> KeyBindings:
    bindings = KeyBindings()
    bindings.add("enter", filter=~has_selection)(send)
    for keys in (("escape", "enter"), ("c-j",)):
        bindings.add(*keys)(_new_line)
    return bindings


def _when_complete(send: Callable[[], None] | None) -> Callable[[KeyPressEvent], None]:
    """Enter: takes the completion that is marked, or sends; without `send` it ends the prompt."""

    def entered(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif send is None:
            buffer.validate_and_handle()
        else:
            send()

    return entered


def _with_search(bindings: KeyBindings) -> KeyBindingsBase:
    """`bindings` for the line alone, and the one that prompt_toolkit does not bind where a search is under way."""
    searching = KeyBindings()
    searching.add("c-d", filter=is_searching)(_leave_search)
    return merge_key_bindings([ConditionalKeyBindings(bindings, has_focus(DEFAULT_BUFFER)), searching])


def _leave_search(event: KeyPressEvent) -> None:
    stop_search()


def _interrupt(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt())


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")
