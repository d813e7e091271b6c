"""A person in front of a real terminal, and what that terminal shows."""

import os
import re
import sys
from pathlib import Path

import pexpect

PROMPT = "›"
SECONDS = 60
"""after which something hangs; nothing here takes long on a machine that is not busy"""

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>])")


class Person:
    """Somebody in front of a terminal."""

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.child = pexpect.spawn(
            sys.executable,
            ["-c", "from legato.cli import main; main()", *arguments],
            cwd=str(self.work),
            env={
                **kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "TERM": "xterm-256color",
                "XDG_DATA_HOME": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state"), "SHELL": "/bin/sh",
                "XDG_CACHE_HOME": str(folder / "cache"), "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONUTF8": "1", **variables,
            },
            encoding="utf-8", timeout=SECONDS, dimensions=(40, 120),
        )  # fmt: skip
        self.child.delaybeforesend = None

    def sees(self, text: str) -> str:
        """Wait until `text` is on the screen; what came before it."""
        self.child.expect_exact(text)
        return ESCAPES.sub("", str(self.child.before))

    def says(self, text: str) -> None:
        """Type a line at the prompt."""
        self.sees(PROMPT)
        self.child.send(f"{text}\r")

    def answers(self, text: str) -> str:
        """Answer the question that is asked next; what was shown before it."""
        shown = self.sees("allow?")
        self.child.send(f"{text}\r")
        return shown

    def turn(self) -> str:
        """Wait for the end of the turn, which tells time and tokens."""
        self.child.expect(r" · (?:\$|at least |price unknown)")
        before = ESCAPES.sub("", str(self.child.before))
        self.sees("\n")
        return before

    def left(self) -> int:
        """Wait until the program has left; its exit code."""
        self.child.expect(pexpect.EOF)
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
                case (_, "m") | ("?2004", "h" | "l"):
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
