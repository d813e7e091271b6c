"""Text from models and tools, made harmless for a terminal while it streams.

In:  text in pieces, cut anywhere, also in the middle of an escape sequence.
Out: the same text without anything that a terminal would obey: no cursor movement, no title, no clipboard, no colours,
     nothing that reverses the direction of writing or is there unseen. Lines, tabs and letters stay as they are.

A complete escape sequence is dropped: that is what a person sees of it in a terminal, too. One that is broken off, or
that would run on past the end of its line, is shown with `␛` in place of the escape, because otherwise it would be a
way to swallow the text behind it. Characters that reverse the direction of writing are shown as `\\u202e`: they are
rare, and a person should know. What is only invisible is dropped, except joiners, which scripts and emoji need.
"""

from __future__ import annotations

import re
from enum import Enum

from legato.cli.terminal.reveal import reveal_line

_HELD = 200
"""how much of an unfinished sequence is kept, to be shown if it never ends"""
_LONGEST_CSI = 64
"""characters after which an escape sequence that does not end is taken for text: our choice, real ones have a dozen"""

_SPECIAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
_LINE_ENDS = frozenset("\n\x0b\x0c\x85\u2028\u2029")
_REVERSING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STRING_STARTS = frozenset("]PX^_")
_C1_STRINGS = frozenset("\x90\x98\x9d\x9e\x9f")
_ABORTS = frozenset("\x18\x1a")


class _State(Enum):
    TEXT = "text"
    ESCAPE = "after an escape"
    CSI = "in a control sequence"
    STRING = "in a control string"
    STRING_ESCAPE = "in a control string, after an escape"


class TerminalFilter:
    """Filters one stream. `feed` takes a piece, `flush` ends the stream; however it is cut, the output is the same."""

    def __init__(self) -> None:
        self._state = _State.TEXT
        self._held = ""
        self._length = 0
        self._after_return = False

    def feed(self, piece: str) -> str:
        """What may be written of `piece`, and of what was held back before it."""
        out: list[str] = []
        at = 0
        while at < len(piece):
            if self._state is _State.TEXT:
                at = self._text(piece, at, out)
            else:
                at += self._sequence(piece[at], out)
        return "".join(out)

    def flush(self) -> str:
        """What is left at the end of the stream."""
        out: list[str] = []
        if self._after_return:
            out.append("\n")
            self._after_return = False
        self._break_off(out)
        return "".join(out)

    # --- plain text ---

    def _text(self, piece: str, at: int, out: list[str]) -> int:
        """Pass text on up to and including the next special character; where to go on."""
        if self._after_return:
            # A return before a line end is part of it; alone it would let the next text overwrite this line.
            self._after_return = False
            if piece[at] != "\n":
                out.append("\n")
        match = _SPECIAL.search(piece, at)
        if match is None:
            out.append(piece[at:])
            return len(piece)
        out.append(piece[at : match.start()])
        self._special(match[0], out)
        return match.end()

    def _special(self, character: str, out: list[str]) -> None:
        if character == "\x1b":
            self._begin(_State.ESCAPE, character)
        elif character == "\x9b":
            self._begin(_State.CSI, character)
        elif character in _C1_STRINGS:
            self._begin(_State.STRING, character)
        elif character == "\r":
            self._after_return = True
        elif character in _LINE_ENDS:
            out.append("\n")
        elif character in _REVERSING:
            out.append(f"\\u{ord(character):04x}")
        elif "\ud800" <= character <= "\udfff":
            out.append("\ufffd")
        elif character == "\x08":
            out.append("\\x08")  # it would put later text where earlier text was

    # --- escape sequences ---

    def _begin(self, state: _State, character: str) -> None:
        self._state, self._held, self._length = state, character, 1

    def _sequence(self, character: str, out: list[str]) -> int:
        """Take one character of a sequence; 0 if it belongs to what comes after it."""
        if character in _ABORTS:
            self._end()
            return 1
        match self._state:
            case _State.ESCAPE:
                return self._after_escape(character, out)
            case _State.CSI:
                return self._in_csi(character, out)
            case _State.STRING_ESCAPE:
                if character == "\\":
                    self._end()
                    return 1
                self._begin(_State.ESCAPE, "\x1b")  # the escape began something else, which ends the string
                return 0
            case _State.STRING | _State.TEXT:
                return self._in_string(character, out)

    def _after_escape(self, character: str, out: list[str]) -> int:
        if character == "[" and self._length == 1:
            self._go_on(_State.CSI, character)
        elif character in _STRING_STARTS and self._length == 1:
            self._go_on(_State.STRING, character)
        elif " " <= character <= "/" and self._length < _LONGEST_CSI:
            self._go_on(_State.ESCAPE, character)
        elif "0" <= character <= "~":
            self._end()
        elif character == "\x1b":
            self._begin(_State.ESCAPE, character)
        else:
            self._break_off(out)
            return 0
        return 1

    def _in_csi(self, character: str, out: list[str]) -> int:
        if "@" <= character <= "~":
            self._end()
        elif " " <= character <= "?" and self._length < _LONGEST_CSI:
            self._go_on(_State.CSI, character)
        else:
            self._break_off(out)
            return 0
        return 1

    def _in_string(self, character: str, out: list[str]) -> int:
        if character in "\x07\x9c":
            self._end()
        elif character == "\x1b":
            self._state = _State.STRING_ESCAPE
        elif character in _LINE_ENDS or character == "\r":
            self._break_off(out)
            return 0
        else:
            self._go_on(_State.STRING, character)
        return 1

    def _go_on(self, state: _State, character: str) -> None:
        self._state = state
        self._length += 1
        if len(self._held) < _HELD:
            self._held += character

    def _end(self) -> None:
        self._state, self._held, self._length = _State.TEXT, "", 0

    def _break_off(self, out: list[str]) -> None:
        """A sequence that never became one: show it."""
        if self._state is _State.TEXT:
            return
        held, missing = self._held[1:], self._length - len(self._held)
        self._end()
        out.append(f"␛{reveal_line(held)}" + (f"… ({missing} more characters)" if missing else ""))


def harmless(text: str) -> str:
    """`text` as a terminal may show it: a whole text at once."""
    stream = TerminalFilter()
    return stream.feed(text) + stream.flush()
