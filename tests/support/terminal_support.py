"""A person in front of a real terminal, and what that terminal shows."""

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect

from emulator import Emulator

PROMPT = "›"
SECONDS = 60
"""after which something hangs; nothing here takes long on a machine that is not busy"""

END_OF_TURN = re.compile(r"^(?!waiting|thinking|answering)\S+[/-]\S+ · (?:\d+ min )?[\d.]+ s(?: · .*)?$")
"""the line that tells route, time, tokens and cost, and not the status line"""


class Person:
    """Somebody in front of a terminal. `sees` and the others look at what came since they looked last."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        size: tuple[int, int] = (120, 40),
        program: tuple[str, ...] = (sys.executable, "-c", "from legato.cli import main; main()"),
        **variables: str,
    ) -> None:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.screen = Emulator(*size)
        self.raw = ""
        """all that was written to the terminal"""
        self._seen = 0
        self.child = pexpect.spawn(
            program[0],
            [*program[1:], *arguments],
            cwd=str(self.work),
            env={
                **kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "TERM": "xterm-256color",
                "XDG_DATA_HOME": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state"), "SHELL": "/bin/sh",
                "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONUTF8": "1", **variables,
            },
            encoding="utf-8", timeout=SECONDS, dimensions=(size[1], size[0]),
        )  # fmt: skip
        self.child.delaybeforesend = None

    # --- looking ---

    def until(self, is_so: Callable[[], bool]) -> None:
        """Watch the terminal until something is so."""
        deadline = time.monotonic() + SECONDS
        while not is_so():
            assert time.monotonic() < deadline, "\n".join(["it did not come:", *self.screen.rows])
            self._watch()

    def _watch(self) -> None:
        try:
            written = self.child.read_nonblocking(100_000, timeout=1)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            raise AssertionError("\n".join(["it left:", *self.screen.rows])) from None
        self.raw += written
        self.screen.feed(written)

    @property
    def new_rows(self) -> list[str]:
        return self.screen.rows[self._seen :]

    def sees(self, text: str) -> str:
        """Wait until `text` is there; the rows up to it."""
        text = text.rstrip()  # as rows are
        self.until(lambda: any(text in row for row in self.new_rows))
        rows = self.new_rows
        at = next(number for number, row in enumerate(rows) if text in row)
        self._seen += at + 1
        return "\n".join(rows[: at + 1])

    def glimpses(self, text: str) -> None:
        """Wait until `text` is on the screen, where it may go away again."""
        self.until(lambda: any(text in row for row in self.screen.shown))

    def comes(self, text: str) -> None:
        """Wait until `text` was printed, on the screen or above it already."""
        self.until(lambda: any(text in row for row in self.screen.rows))

    def at_prompt(self) -> None:
        """Wait until a message is waited for."""
        self.until(lambda: self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether the box is there, and nothing runs."""
        rows = [row for row in self.screen.shown if row]
        return any(row.startswith(PROMPT) for row in rows[-2:]) and not self.screen.title.endswith("working")

    def turn(self) -> str:
        """Wait for the end of the turn, which tells time and tokens; what was shown."""
        self.until(lambda: any(map(END_OF_TURN.match, self.new_rows)))
        rows = self.new_rows
        at = next(number for number, row in enumerate(rows) if END_OF_TURN.match(row))
        self._seen += at + 1
        return "\n".join(rows[: at + 1])

    # --- typing ---

    def types(self, keys: str) -> None:
        self.child.send(keys)

    def says(self, text: str) -> None:
        """Type a line at the prompt."""
        self.at_prompt()
        self._seen = len(self.screen.rows) - 1
        self.types(f"{text}\r")

    def answers(self, text: str) -> str:
        """Answer the question that is asked next; what was shown before it."""
        shown = self.sees("allow?")
        self.types(f"{text}\r")
        return shown

    def resizes(self, columns: int, lines: int) -> None:
        self.screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    # --- leaving ---

    def left(self) -> int:
        """Wait until the program has left; its exit code."""
        with contextlib.suppress(AssertionError):
            while True:
                self._watch()
        self.child.close()
        if self.child.signalstatus is not None:
            return 128 + self.child.signalstatus
        assert self.child.exitstatus is not None
        return self.child.exitstatus

    def end(self) -> None:
        self.child.close(force=True)


_CONTROL = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


def shown_lines(raw: str) -> list[str]:
    """The lines that a terminal shows after `raw` was written to it.

    Only what `Screen` writes is understood: line ends, returns, colours, and erasing from the cursor to the end of the
    line; anything else is an error, so that no test passes for a reason that it does not know.
    """
    lines, column, at = [""], 0, 0
    while at < len(raw):
        letter = raw[at]
        if (control := _CONTROL.match(raw, at)) is not None:
            match control.groups():
                case ("" | "0", "K"):
                    lines[-1] = lines[-1][:column]
                case (_, "m"):
                    pass
                case other:
                    raise AssertionError(f"the terminal was told {other}")
            at = control.end()
            continue
        if letter == "\n":
            lines.append("")
            column = 0  # a terminal in its usual mode makes a return of it, too
        elif letter == "\r":
            column = 0
        else:
            assert letter.isprintable(), f"{letter!r} was written"
            lines[-1] = lines[-1][:column] + letter + lines[-1][column + 1 :]
            column += 1
        at += 1
    return lines if lines[-1] else lines[:-1]
