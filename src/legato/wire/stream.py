"""What the stream decoders of all dialects share: from bytes to events, and from events to an answer.

A dialect subclasses `EventDecoder` and says what each event means; `AnswerBuilder` collects the pieces under keys of
the dialect's choosing (a content index, an output index, a call index) in the order in which they first appear.

The work for an answer grows with its length and not faster: pieces are collected and joined once, at the end. What goes
beyond the `Bounds` raises `BadAnswer`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Literal, cast

from msgspec import Struct, field

from legato.errors import BadAnswer, IngestError
from legato.model import (
    Answer,
    Block,
    CallKind,
    Ending,
    Entry,
    JsonObject,
    Speaker,
    Target,
    Text,
    Thinking,
    ToolCall,
    Usage,
    clean_text,
)
from legato.wire.arguments import read_arguments
from legato.wire.bounds import Bounds, read_bounded_json
from legato.wire.contract import CallDelta, Delta, TextDelta, ThinkingDelta
from legato.wire.sse import ServerSentEvent, SSEParser
from legato.wire.voice import Names


class _Draft(Struct):
    kind: Literal["text", "thinking", "call", "block"]
    pieces: list[str] = field(default_factory=list[str])
    native: JsonObject = field(default_factory=dict[str, object])
    later: dict[str, Callable[[], object]] = field(default_factory=dict[str, Callable[[], object]])
    name: str = ""
    wire_id: str = ""
    call_kind: CallKind = CallKind.FUNCTION
    index: int = -1
    is_done: bool = False
    block: Block | None = None


class AnswerBuilder:
    """The pieces of one streamed answer. Each method returns the deltas to show."""

    def __init__(self, names: Names, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._names = names
        self._drafts: dict[Hashable, _Draft] = {}
        self._calls = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._drafts

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all has arrived."""
        return not self._drafts

    @property
    def has_calls(self) -> bool:
        """Whether the answer asks for a tool."""
        return self._calls > 0

    def text(self, key: Hashable, piece: str) -> list[Delta]:
        """More text under `key`."""
        draft = self._draft(key, "text")
        if not piece:
            return []
        draft.pieces.append(piece)
        return [TextDelta(piece)]

    def thinking(self, key: Hashable, piece: str) -> list[Delta]:
        """More thinking under `key`."""
        draft = self._draft(key, "thinking")
        if not piece:
            return []
        draft.pieces.append(piece)
        return [ThinkingDelta(piece)]

    def call(
        self,
        key: Hashable,
        *,
        name: str = "",
        wire_id: str = "",
        arguments: str = "",
        kind: CallKind = CallKind.FUNCTION,
    ) -> list[Delta]:
        """More of the call under `key`. Its id and name are those of the fragment that brought them first."""
        draft = self._draft(key, "call")
        if draft.index < 0:
            draft.index = self._calls
            draft.call_kind = kind
            self._calls += 1
        news = not draft.name and bool(name)
        draft.name = draft.name or name
        draft.wire_id = draft.wire_id or wire_id
        if arguments:
            draft.pieces.append(arguments)
        if not news and not arguments:
            return []
        return [CallDelta(draft.index, self._names.restore(draft.name) if news else "", arguments)]

    def replace_arguments(self, key: Hashable, arguments: str) -> None:
        """The provider repeats the whole arguments at the end: they are what counts."""
        self._drafts[key].pieces[:] = [arguments]

    def put(self, key: Hashable, block: Block) -> list[Delta]:
        """A block that arrived whole."""
        draft = self._draft(key, "block")
        draft.block = block
        draft.is_done = True
        return []

    def native(self, key: Hashable, **data: object) -> None:
        """Opaque data for the block under `key`; an empty value never overwrites an earlier one."""
        draft = self._drafts[key]
        for name, value in data.items():
            if value not in (None, ""):
                draft.native[name] = value

    def native_later(self, key: Hashable, name: str, value: Callable[[], object]) -> None:
        """Opaque data that still grows: `value` is asked for it when the block is read."""
        self._drafts[key].later[name] = value

    def done(self, key: Hashable) -> None:
        """Nothing more will come under `key`."""
        if key in self._drafts:
            self._drafts[key].is_done = True

    def blocks(self, *, cut: bool = False) -> tuple[Block, ...]:
        """The blocks so far. With `cut`, a call that was not done counts as unfinished."""
        return tuple(block for draft in self._drafts.values() if (block := self._block(draft, cut)) is not None)

    def _draft(self, key: Hashable, kind: Literal["text", "thinking", "call", "block"]) -> _Draft:
        draft = self._drafts.get(key)
        if draft is None:
            self.bounds.allow(blocks=len(self._drafts) + 1, calls=self._calls + (kind == "call"))
            draft = self._drafts[key] = _Draft(kind)
        return draft

    def _block(self, draft: _Draft, cut: bool) -> Block | None:
        native = {**draft.native, **{name: value() for name, value in draft.later.items()}} or None
        joined = "".join(draft.pieces)
        match draft.kind:
            case "text":
                return Text(clean_text(joined), native=native) if joined or native else None
            case "thinking":
                return Thinking(clean_text(joined), native=native) if joined or native else None
            case "block":
                return draft.block
            case "call":
                if draft.call_kind is CallKind.CUSTOM:
                    value, raw, finished = {"input": clean_text(joined)}, None, True
                else:
                    value, raw, finished = read_arguments(joined)
                if cut and not draft.is_done and (raw is not None or not joined):
                    finished = False
                return ToolCall(
                    self._names.restore(clean_text(draft.name)),
                    value,
                    clean_text(draft.wire_id),
                    kind=draft.call_kind,
                    raw=raw,
                    finished=finished,
                    native=native,
                )


class EventDecoder(ABC):
    """A stream decoder whose stream is server-sent events with JSON data; implements `StreamDecoder`."""

    def __init__(self, target: Target, names: Names) -> None:
        self.target = target
        self.builder = AnswerBuilder(names)
        self.usage: Usage | None = None
        self.served = ""
        self.response_id = ""
        self.ending: Ending | None = None
        """set by the event that ends the answer; as long as it is None the answer is incomplete"""
        self._sse = SSEParser()

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds` from now on."""
        self.builder.bounds = bounds
        self._sse.longest = bounds.event

    @abstractmethod
    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event that is already parsed."""

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response."""
        return self._events(self._sse.feed(data))

    def finish(self) -> Answer:
        """The whole answer; raises `BadAnswer` if the stream ended before it did, or if it was empty."""
        self._events(self._sse.close())
        if self.ending is None:
            raise BadAnswer("the stream ended before the answer did", layer="decode")
        answer = self._answer(self.builder.blocks(cut=self.ending is Ending.LENGTH), self.ending)
        if not answer.entry.blocks and self.ending is not Ending.REFUSED:
            raise BadAnswer("the answer is empty", layer="decode")
        return answer

    def partial(self) -> Answer | None:
        """What has been visible so far, as an answer that was cut; None if nothing was."""
        answer = self._answer(self.builder.blocks(cut=True), Ending.CUT)
        return answer if answer.entry.blocks else None

    def _events(self, events: list[ServerSentEvent]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            if event.data.strip() == "[DONE]":
                continue
            try:
                value = read_bounded_json(event.data)
            except IngestError as error:
                raise BadAnswer(f"an event of the stream is {error.message}", layer="decode") from None
            if isinstance(value, dict):
                deltas += self.event(cast(JsonObject, value))
        return deltas

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        entry = Entry(Speaker.AI, blocks, origin=self.target.origin(self.served), ending=ending)
        return Answer(entry, usage=self.usage, served=self.served, response_id=self.response_id)
