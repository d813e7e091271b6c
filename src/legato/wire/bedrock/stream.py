"""Read a streamed answer.

In:  events of AWS's binary stream: a message starts, blocks start, grow and stop under an index, the message stops, and
     its usage follows.
Out: deltas to show, and at the end the same `Answer` that the whole body would have given.

A block of text or reasoning has no event that starts it; it begins with its first delta.
"""

from __future__ import annotations

from msgspec import UNSET

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, Json, JsonObject, Target, ingest
from legato.model.json_access import as_count, as_list, as_object, as_string, as_text
from legato.wire.arguments import read_arguments
from legato.wire.bedrock.decode import SERVER_TOOL, as_base64, kind_of, read_block, read_ending, read_usage, settle
from legato.wire.bedrock.pieces import PIECES, StreamPiece
from legato.wire.context import Names
from legato.wire.event_stream import FrameParser
from legato.wire.stream import EventDecoder


class _Served:
    """A block of a tool that the service ran itself: it starts without what its deltas bring."""

    def __init__(self, start: JsonObject) -> None:
        self._start = start
        self._input: list[str] = []
        self._content: list[Json] = []

    def grow(self, delta: JsonObject) -> None:
        self._input.append(as_string(as_object(delta.get("toolUse")).get("input")))
        self._content += as_list(delta.get("toolResult"))

    def whole(self) -> JsonObject:
        """The block as a body has it."""
        kind = kind_of(self._start)
        held = as_object(self._start[kind])
        if kind == "toolUse":
            given = read_arguments("".join(self._input) or held.get("input")).value
            return {**self._start, kind: {**held, "input": given}}
        return {**self._start, kind: {**held, "content": self._content}} if self._content else self._start


class Decoder(EventDecoder):
    """The stream decoder of this dialect."""

    framing = FrameParser
    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._served: dict[int, _Served] = {}
        """what the service's own tools were asked and gave, until it is whole"""

    def read(self, event: JsonObject) -> None:
        """Take one event; kinds that are new to us are skipped."""
        name, value = next(iter(event.items()), ("", None))
        held = as_object(value)
        match name:
            case "contentBlockDelta":
                self._grow_block(as_count(held.get("contentBlockIndex")), as_object(held.get("delta")))
            case "contentBlockStart":
                self._start_block(as_count(held.get("contentBlockIndex")), as_object(held.get("start")))
            case "contentBlockStop":
                self._stop_block(as_count(held.get("contentBlockIndex")))
            case "messageStop":
                for index in list(self._served):
                    self._stop_block(index)
                self.ending, self.new_word = read_ending(held.get("stopReason"), has_calls=self.builder.has_calls)
            case "metadata":
                self.usage = read_usage(as_object(held.get("usage")))
            case _ if name.endswith("Exception"):
                said, error = as_text(held.get("message")) or "no reason given", ingest({"type": name, **held})
                raise BadAnswer(f"the provider broke off with {name}: {said}", layer="decode", error=error)
            case _:
                pass

    def grow(self, piece: StreamPiece) -> bool:
        """Take a `contentBlockDelta` of text, reasoning or arguments."""
        index, delta = piece.grown.index, piece.grown.delta
        if index in self._served:
            return False
        if delta.text is not UNSET:
            self.builder.text(index, delta.text)
        elif delta.call is not UNSET:
            return self.builder.arguments(index, delta.call.input)
        elif delta.reasoning is not UNSET:
            self.builder.thinking(index, delta.reasoning.text)
        return True

    def _start_block(self, index: int, start: JsonObject) -> None:
        call = as_object(start.get("toolUse"))
        if call and call.get("type") != SERVER_TOOL:
            self.builder.call(index, name=as_string(call.get("name")), wire_id=as_string(call.get("toolUseId")))
        elif kind_of(start):
            self._served[index] = _Served(start)

    def _stop_block(self, index: int) -> None:
        served = self._served.pop(index, None)
        if served is None:
            self.builder.done(index)
        elif (block := read_block(served.whole(), str)) is not None:
            self.builder.put(index, block)

    def _grow_block(self, index: int, delta: JsonObject) -> None:
        if index in self._served:
            self._served[index].grow(delta)
        elif "text" in delta:
            self.builder.text(index, as_string(delta["text"]))
        elif "toolUse" in delta:
            self.builder.call(index, arguments=as_string(as_object(delta["toolUse"]).get("input")))
        elif "reasoningContent" in delta:
            self._reason(index, as_object(delta["reasoningContent"]))

    def _reason(self, index: int, content: JsonObject) -> None:
        if "text" in content:
            self.builder.thinking(index, as_string(content["text"]))
        elif signature := as_text(content.get("signature")):
            self.builder.thinking(index, "", {"signature": signature})
        elif data := as_base64(content.get("redactedContent")):
            self.builder.thinking(index, "", {"data": data})

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        return super()._answer(settle(blocks, ending), ending)
