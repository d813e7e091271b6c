"""What a person presses, read from what the terminal sends.

In:  bytes, cut anywhere, also in the middle of a letter or of the sequence that an arrow key sends.
Out: text that was typed or pasted, and the keys that mean something while a turn runs. Other keys (arrows, function
     keys) mean nothing and are left out.

The Esc key sends one byte, and the sequences of other keys begin with that same byte; only time tells them apart. A
sequence arrives at once, so `KeyParser.settle` is called when nothing followed for `ESCAPE_SECONDS`, and what was begun
is then taken for keys of its own. Alt with a letter sends Esc and the letter at once; Esc and then a letter arrive so
too, while the machine is busy. Nothing that was typed may get lost, so the letter is kept in either case; several
letters at once behind an Esc are no Alt, which would send an Esc with each.

The sequences are those of ECMA-48 (CSI) with the older SS3 for some keys, and of xterm's bracketed paste:
https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

from __future__ import annotations

import codecs
import re
from enum import Enum

ESCAPE_SECONDS = 0.1
"""long enough for a sequence to arrive over a slow line, too short to be noticed by one who presses Esc"""


class SpecialKey(Enum):
    """A key that is no text."""

    ENTER = "enter"
    ESCAPE = "escape"
    ERASE = "erase"
    ERASE_WORD = "erase a word"
    ERASE_LINE = "erase the line"


Press = str | SpecialKey
"""text, or a key"""

_CONTROLS = {
    "\r": SpecialKey.ENTER,
    "\n": SpecialKey.ENTER,
    "\x7f": SpecialKey.ERASE,
    "\x08": SpecialKey.ERASE,
    "\x17": SpecialKey.ERASE_WORD,
    "\x15": SpecialKey.ERASE_LINE,
}
_ESC = "\x1b"
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
# Two Escs: some terminals send Alt with an arrow so. `[[A` is F1 on Linux' console. Of SS3 only the finals of keys that
# send it without being asked to: "Ok" behind an Esc is a word.
_SEQUENCE = re.compile(r"\x1b{1,2}(?:\[\[[A-E]|\[[0-?]{0,32}[ -/]{0,4}[@-Z\\-~]|O[A-DFHP-S])")
_BEGUN = re.compile(r"\x1b{1,2}(?:\[\[?|\[[0-?]{1,32}[ -/]{0,4}|\[[ -/]{1,4}|O)?")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f]+|\t")


class KeyParser:
    """Reads the keys of one terminal."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest: str = ""
        self._is_pasting = False

    @property
    def is_waiting(self) -> bool:
        """Whether something was begun that may be a key of its own, if nothing follows soon."""
        return bool(self._rest) and not self._is_pasting

    def feed(self, data: bytes) -> list[Press]:
        """What `data` completes."""
        self._rest += self._decoder.decode(data)
        presses: list[Press] = []
        while self._rest:
            if self._is_pasting:
                if not self._take_pasted(presses):
                    break
            elif _BEGUN.fullmatch(self._rest):
                break
            else:
                self._take_typed(presses)
        return presses

    def settle(self) -> list[Press]:
        """Nothing followed: what was begun is no sequence."""
        if not self.is_waiting:
            return []
        rest, self._rest = self._rest, ""
        typed = rest.lstrip(_ESC)
        escapes = len(rest) - len(typed)
        # Esc directly before a letter is Alt with that letter.
        return [*[SpecialKey.ESCAPE] * (escapes - bool(typed)), *([typed] if typed else [])]

    def _take_typed(self, presses: list[Press]) -> None:
        rest = self._rest
        if (sequence := _SEQUENCE.match(rest)) is not None:
            self._rest = rest[sequence.end() :]
            self._is_pasting = sequence[0].endswith(_PASTE_BEGINS)
        elif (plain := _PLAIN.match(rest)) is not None:
            presses.append(plain[0])
            self._rest = rest[plain.end() :]
        elif rest[0] == _ESC:
            self._rest = rest[1:]
            self._take_after_escape(presses)
        else:
            if rest[0] in _CONTROLS:
                presses.append(_CONTROLS[rest[0]])
            self._rest = rest[1:]

    def _take_after_escape(self, presses: list[Press]) -> None:
        """An Esc with something behind it that is no sequence: Alt and a key, or Esc twice."""
        following = self._rest[0]
        if following == _ESC:
            presses.append(SpecialKey.ESCAPE)
        elif following in "\r\n":
            presses.append("\n")  # as at the prompt: a new line in the message
            self._rest = self._rest[1:]
        elif _CONTROLS.get(following) is SpecialKey.ERASE:
            presses.append(SpecialKey.ERASE_WORD)
            self._rest = self._rest[1:]
        elif (plain := _PLAIN.match(self._rest)) is not None and len(plain[0]) > 1:
            presses.append(SpecialKey.ESCAPE)
        # Of any other key the key alone counts, and is read next.

    def _take_pasted(self, presses: list[Press]) -> bool:
        """Take what was pasted; False if nothing more can be taken before the next bytes come."""
        pasted, end, behind = self._rest.partition(_PASTE_ENDS)
        held = "" if end else _beginning_of(_PASTE_ENDS, pasted)
        pasted = pasted[: len(pasted) - len(held)].replace("\r", "\n")
        text = "".join(letter for letter in pasted if letter == "\n" or _PLAIN.match(letter))
        if text:
            presses.append(text)
        self._rest = behind if end else held
        self._is_pasting = not end
        return bool(end)


def _beginning_of(mark: str, text: str) -> str:
    """The longest beginning of `mark` that `text` ends with."""
    return next((mark[:size] for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), "")
