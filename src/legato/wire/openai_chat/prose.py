"""The pieces that the content of a message is made of, for `encode` and `reply` alike.

A chat answer is one string and a tool message has no error flag, so code, hosted tools, media and failures become text.
"""

from __future__ import annotations

from legato.model import JsonObject, Thinking

ERROR_MARK = "[Error] "
"""before the text of a failed tool: the chat family has no flag for it"""


class Prose:
    """One string out of many pieces: a speaker's own text runs on, what we put in stands on lines of its own."""

    __slots__ = ("_is_apart", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._is_apart = False

    def add(self, text: str) -> None:
        """More of what the speaker said."""
        if self._is_apart:
            self._pieces.append("\n\n")
            self._is_apart = False
        self._pieces.append(text)

    def add_apart(self, text: str) -> None:
        """A piece of another kind."""
        if self._pieces:
            self._pieces.append("\n\n")
        self._pieces.append(text)
        self._is_apart = True

    def take(self) -> str:
        """The text so far; what comes next starts anew."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._is_apart = False
        return text


def thinking_chunk(block: Thinking) -> JsonObject:
    """A thought as a chunk of the content, as Mistral sends and takes it, with its signature if it has one."""
    chunk: JsonObject = {"type": "thinking", "thinking": [{"type": "text", "text": block.text}]}
    signature = (block.native or {}).get("signature")
    if signature is not None:
        chunk["signature"] = signature
    return chunk
