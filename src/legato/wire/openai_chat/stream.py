"""A streamed chat completion: chunks in, deltas out, the same answer as the body would give at the end.

A stream is complete when a chunk names a finish reason. Some servers never do; then `[DONE]`, or the usage that comes
with no choice at all, says that the answer was meant to end where it did.
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.model.json_access import as_list, as_object, as_string, as_text
from legato.wire.context import Names
from legato.wire.openai_chat.message import MessageReader
from legato.wire.openai_chat.pieces import PIECES, StreamPiece
from legato.wire.openai_chat.reading import raise_for_error, read_ending, read_usage
from legato.wire.stream import EventDecoder


class Decoder(EventDecoder):
    """Reads one streamed answer of the chat family."""

    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._reader = MessageReader(names)
        self.builder = self._reader.builder
        self._reason: str | None = None

    def read(self, event: JsonObject) -> None:
        """Take one chunk."""
        raise_for_error(event)
        if not self.served:
            self.served = as_text(event.get("model"))
        if not self.response_id:
            self.response_id = as_text(event.get("id"))
        choices = as_list(event.get("choices"))
        usage = event.get("usage")
        if "x_groq" in event:
            usage = usage or as_object(event["x_groq"]).get("usage")
        for choice in map(as_object, choices):
            if choice.get("index"):
                continue  # a second answer to the same request: one was asked for
            self._reader.read_delta(as_object(choice.get("delta")))
            usage = usage or choice.get("usage")  # Kimi puts it here
            raise_for_error(choice)
            self._reason = as_string(choice.get("finish_reason")) or self._reason
        if usage:
            self.usage = read_usage(usage) or self.usage
            if not choices and self._reason is None:
                self._reason = ""
        if self._reason is not None:
            self._settle(self._reason)

    def grow(self, piece: StreamPiece) -> bool:
        """Take a chunk that brings more of the message, once model and id are known and before it ends."""
        if self._reason is not None or not self.served or not self.response_id:
            return False
        return self._reader.grow(piece.choices[0].delta)

    def read_end_mark(self) -> None:
        """Take `[DONE]`: without a finish reason it is the end all the same."""
        self._reason = self._reason or ""
        self._settle(self._reason)

    def _settle(self, reason: str) -> None:
        self.ending, self.new_word = read_ending(
            reason, has_calls=self.builder.has_calls, is_refused=self._reader.is_refused
        )
