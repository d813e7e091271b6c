"""The input box: what is typed, what was sent and waits, and what the keys mean.

The box is there all the time, also while a turn runs; it only has no keys while a question has them. What is sent while
no one waits for it is queued: the queue is shown, Up in an empty box takes the last of it back, and an interruption
puts all of it back into the box, so that nothing is sent that a person no longer wants.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from prompt_toolkit.buffer import Buffer

from legato.cli.terminal.cells import clip
from legato.cli.terminal.chat_prompt import PromptActions
from legato.cli.terminal.keys import PAUSE_SECONDS, TWICE_SECONDS
from legato.cli.terminal.pastes import Pastes


class Box:
    """The text, the queue, and who waits for the next message. `shown` prints a line that was sent."""

    def __init__(self, buffer: Buffer, *, shown: Callable[[str], None], changed: Callable[[], None]) -> None:
        self.actions = PromptActions()
        self.queue: list[str] = []
        self.is_busy = False
        """whether something runs that Esc interrupts"""
        self.replaces = False
        """whether what is sent next takes the place of the last message"""
        self._buffer = buffer
        self._shown, self._changed = shown, changed
        self._pastes = Pastes()
        self._waiter: anyio.Event | None = None
        self._said: str | BaseException | None = None
        self._last_key = self._last_escape = float("-inf")

    # --- who reads it ---

    async def message(self) -> str:
        """The next message: of the queue, or what is sent next. Raises what the keys say."""
        if self.queue:
            said = self.queue.pop(0)
            self._show(said)
            return said
        self._waiter = anyio.Event()
        try:
            if self._said is None:  # no one wanted to leave before this was asked
                await self._waiter.wait()
        finally:
            self._waiter = None
        said, self._said = self._said, None
        if isinstance(said, BaseException):
            raise said
        return said or ""

    def take_messages(self) -> list[str]:
        """Take the messages from the beginning of the queue, up to the first command."""
        taken: list[str] = []
        while self.queue and not self.queue[0].startswith(("/", "!")):
            taken.append(self.queue.pop(0))
        return taken

    def take_back(self) -> None:
        """Put all that waits into the box, before what is there."""
        if self.queue:
            self.put("\n".join([*self.queue, *([self._buffer.text] if self._buffer.text else [])]))
            self.queue.clear()

    def put(self, text: str) -> None:
        """Put `text` into the box, in place of what is there."""
        self._buffer.text = text
        self._buffer.cursor_position = len(text)
        self._changed()

    def end(self, error: BaseException) -> None:
        """The box is gone, or someone wants to leave: who waits for a message gets `error`."""
        self._give(error)

    async def pause(self) -> None:
        """Wait while someone is in the middle of typing: the next key would be none for a question."""
        while self._buffer.text and (left := self._last_key + PAUSE_SECONDS - time.monotonic()) > 0:  # noqa: ASYNC110
            await anyio.sleep(left)  # each key puts the end off; there is nothing to wake up for before

    # --- keys ---

    def key(self, _: Any = None) -> None:
        """A key was pressed."""
        self._last_key = time.monotonic()

    def send(self) -> None:
        """Enter."""
        text = self._pastes.expand(self._buffer.text).strip()
        if text:
            self._buffer.history.append_string(text)
        shown = self._buffer.text.strip()
        self._buffer.reset()
        if self._waiter is not None and not self._waiter.is_set():
            self._show(shown)
            self._give(text)
        elif text and self.actions.submitted(text):
            self._show(shown)
        elif text:
            self.queue.append(text)
        self._changed()

    def escape(self) -> None:
        """Esc: interrupt what runs; twice, at rest and in an empty box, edit the last message."""
        if self._buffer.complete_state is not None:
            self._buffer.cancel_completion()
        elif self.is_busy:
            self.actions.interrupt()
            return  # whoever presses it again wants it to end sooner, and edits nothing
        elif time.monotonic() - self._last_escape < TWICE_SECONDS:
            self._edit_last()
        self._last_escape = time.monotonic()

    def _edit_last(self) -> None:
        last = "" if self._buffer.text else self.actions.last_message()
        if last:
            self.put(last)
            self.replaces = True

    def interrupt(self) -> None:
        """Ctrl-C: interrupt what runs, or empty the box, or tell who waits."""
        if self.is_busy:
            self.actions.interrupt()
        elif self._buffer.text or self.replaces:
            self._buffer.reset()
            self.replaces = False
        else:
            self._give(KeyboardInterrupt())

    def leave(self) -> None:
        """Ctrl-D."""
        if self._buffer.text:
            self._buffer.delete()
        elif not self.is_busy:
            self._give(EOFError())

    def up(self) -> None:
        """Up: in an empty box the last of the queue, else the line above or what was said before."""
        if self.queue and not self._buffer.text:
            self.put(self.queue.pop())
        else:
            self._buffer.auto_up()

    def paste(self, text: str) -> None:
        """A paste: long ones become a placeholder."""
        self._buffer.insert_text(self._pastes.shorten(text))

    def expand(self) -> None:
        """Put the texts of the placeholders into the box, to be edited elsewhere."""
        self.put(self._pastes.expand(self._buffer.text))

    def open_output(self) -> None:
        """Ctrl-O."""
        self.actions.open_output()

    def next_mode(self) -> None:
        """Shift-Tab."""
        self.actions.next_mode()
        self._changed()

    def _show(self, text: str) -> None:
        if text:
            self._shown(text)

    def _give(self, said: str | BaseException) -> None:
        self._said = said
        if self._waiter is not None:
            self._waiter.set()


def shown_queue(queue: Sequence[str], width: int) -> list[str]:
    """The queue as lines of at most `width` columns; the last one says how it is taken back."""
    if not queue:
        return []
    *others, last = queue
    hint = " (↑ edits it)"
    return [*(clip(f"⋯ {said}", width) for said in others), f"{clip(f'⋯ {last}', width - len(hint))}{hint}"]
