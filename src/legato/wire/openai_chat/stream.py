"""A streamed chat completion: chunks in, deltas out, the same answer as the body would give at the end.

A stream is complete when a chunk names a finish reason. Some servers never do; then `[DONE]`, or the usage that comes
with no choice at all, says that the answer was meant to end where it did.
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.model.json_access import as_object, as_objects, as_string
from legato.wire.contract import Delta
from legato.wire.openai_chat.message import MessageReader
from legato.wire.openai_chat.reading import raise_for_error, read_ending, read_usage
from legato.wire.sse import ServerSentEvent
from legato.wire.stream import EventDecoder
from legato.wire.voice import Names


class Decoder(EventDecoder):
    """Reads one streamed answer of the chat family."""

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._reader = MessageReader(names)
        self.builder = self._reader.builder
        self._reason: str | None = None

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one chunk."""
        raise_for_error(event)
        self.served = self.served or as_string(event.get("model"))
        self.response_id = self.response_id or as_string(event.get("id"))
        choices = as_objects(event.get("choices"))
        usage = event.get("usage") or as_object(event.get("x_groq")).get("usage")
        deltas: list[Delta] = []
        for choice in choices:
            if choice.get("index") not in (None, 0):
                continue  # a second answer to the same request: one was asked for
            deltas += self._reader.read_delta(as_object(choice.get("delta")))
            usage = usage or choice.get("usage")  # Kimi puts it here
            raise_for_error(choice)
            self._reason = as_string(choice.get("finish_reason")) or self._reason
        self.usage = read_usage(usage) or self.usage
        if not choices and usage and self._reason is None:
            self._reason = ""
        self._settle()
        return deltas

    def _events(self, events: list[ServerSentEvent]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            deltas += super()._events([event])
            if event.data.strip() == "[DONE]" and self._reason is None:
                self._reason = ""
                self._settle()
        return deltas

    def _settle(self) -> None:
        if self._reason is not None:
            self.ending = read_ending(
                self._reason, has_calls=self.builder.has_calls, is_refused=self._reader.is_refused
            )
