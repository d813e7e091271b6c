"""What the stream decoders of all dialects share: from bytes to events, and from events to an answer.

A dialect subclasses `EventDecoder` and says in `read` what each event brings; the `AnswerBuilder` collects that and
tells it in deltas. An event is not made safe as a whole, because most of it is looked at and thrown away: what is kept
of it goes through `as_text` or `ingest`, as it must anyway for events that come from an SDK.

Nearly all events of a stream bring a few characters more of a block that is there, and nothing else. A dialect
describes these as a struct (`pieces`), so that the parser checks while it reads that an event is one of them, and makes
nothing of what nobody wants to know. Any other event goes the general way, and so does a piece that `grow` declines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import msgspec

from legato.errors import BadAnswer, IngestError
from legato.model import Answer, Block, Ending, Entry, JsonObject, Speaker, Target, Usage
from legato.model.json_access import as_object
from legato.wire.bounds import Bounds, load_bounded_json
from legato.wire.builder import AnswerBuilder
from legato.wire.carriage import Framing, carriage_of
from legato.wire.context import Names
from legato.wire.deltas import Delta
from legato.wire.endings import CUT_SHORT
from legato.wire.sse import SSEParser

_LONGEST_PIECE = 64 * 1024
"""bytes of an event that may be a piece; in longer ones parts are counted before they are made"""

_NO_PIECE = (msgspec.DecodeError, UnicodeError, RecursionError)


class EventDecoder(ABC):
    """A stream decoder whose stream is events with JSON data, mostly server-sent; implements `StreamDecoder`."""

    framing: ClassVar[type[Framing]] = SSEParser
    """what takes the bytes of a response apart, unless a platform has its own way"""
    pieces: ClassVar[msgspec.json.Decoder[Any] | None] = None
    """reads the events that bring more of a block, and raises for what may be anything else"""

    def __init__(self, target: Target, names: Names) -> None:
        self.target = target
        self.builder = AnswerBuilder(names)
        self.usage: Usage | None = None
        self.served = ""
        self.response_id = ""
        self.ending: Ending | None = None
        """set by the event that ends the answer; as long as it is None the answer is incomplete"""
        self.new_word = ""
        """the provider's word for that, if it is new to us"""
        self._frames: Framing = (carriage_of(target).framing or self.framing)()

    # --- what a dialect says ------------------------------------------------------------------------------------------

    @abstractmethod
    def read(self, event: JsonObject) -> None:
        """Take what one event brings."""

    def grow(self, piece: Any) -> bool:
        """Take what `pieces` made of an event, as `read` would; False, and nothing is changed, if it takes more."""
        return False

    def read_end_mark(self) -> None:  # noqa: B027 - nothing to do where every stream says how it ended
        """Take `[DONE]`, which comes behind the last event of some streams."""

    # --- what `StreamDecoder` asks for --------------------------------------------------------------------------------

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds` from now on."""
        self.builder.bounds = bounds
        self._frames.longest = bounds.event

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event that is already parsed."""
        self.read(event)
        return self._news()

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response."""
        self._take(self._frames.feed(data))
        return self._news()

    def finish(self) -> Answer:
        """The whole answer; raises `BadAnswer` if the stream ended before it did, or if it was empty."""
        self._take(self._frames.close())
        if self.ending is None:
            raise BadAnswer("the stream ended before the answer did", layer="decode")
        answer = self._answer(self._blocks(cut=self.ending in CUT_SHORT), self.ending)
        if not answer.entry.blocks and self.ending is not Ending.REFUSED:
            raise self._empty_answer(self.ending)
        return answer

    def partial(self) -> Answer | None:
        """What has been visible so far, as an answer that was cut; None if nothing was."""
        answer = self._answer(self._blocks(cut=True), Ending.CUT)
        return answer if answer.entry.blocks else None

    def _take(self, events: list[bytes]) -> None:
        decode, grow = self.pieces and self.pieces.decode, self.grow
        for data in events:
            try:
                piece = decode(data) if decode and len(data) <= _LONGEST_PIECE else None
            except _NO_PIECE:
                piece = None
            if piece is None or not grow(piece):
                self._read(data)

    def _read(self, data: bytes) -> None:
        try:
            event = load_bounded_json(data)
        except IngestError as error:
            if data.strip() == b"[DONE]":
                self.read_end_mark()
                return
            raise BadAnswer(f"an event of the stream is {error.message}", layer="decode") from None
        if fields := as_object(event):
            self.read(fields)

    def _news(self) -> list[Delta]:
        if self.ending is not None:
            self.builder.close(cut=self.ending in CUT_SHORT)
        return self.builder.take_deltas()

    # --- the answer ---------------------------------------------------------------------------------------------------

    def _blocks(self, *, cut: bool) -> tuple[Block, ...]:
        return self.builder.blocks(cut=cut)

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        entry = Entry(Speaker.AI, blocks, origin=self.target.origin(self.served), ending=ending)
        new_word = self.new_word if ending is self.ending else ""
        return Answer(entry, self.usage, self.served, self.response_id, new_word)

    def _empty_answer(self, ending: Ending) -> BadAnswer:
        return BadAnswer("the answer is empty", layer="decode")
