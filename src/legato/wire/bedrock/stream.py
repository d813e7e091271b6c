"""Read a streamed answer.

In:  events of AWS's binary stream: a message starts, blocks start, grow and stop under an index, the message stops, and
     its usage follows.
Out: deltas to show, and at the end the same `Answer` that the whole body would have given.

A block of text or reasoning has no event that starts it; it begins with its first delta.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, JsonObject, ingest
from legato.model.json_access import as_count, as_object, as_string, as_text
from legato.wire.bedrock.decode import SERVER_TOOL, read_block, read_ending, read_usage, settle
from legato.wire.bedrock.event_stream import FrameParser
from legato.wire.stream import EventDecoder


class Decoder(EventDecoder):
    """The stream decoder of this dialect."""

    framing = FrameParser

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
                self.builder.done(as_count(held.get("contentBlockIndex")))
            case "messageStop":
                self.ending = read_ending(held.get("stopReason"), has_calls=self.builder.has_calls)
            case "metadata":
                self.usage = read_usage(as_object(held.get("usage")))
            case _ if name.endswith("Exception"):
                said = as_text(held.get("message")) or "no reason given"
                raise BadAnswer(f"the provider broke off with {name}: {said}", layer="decode", error=ingest(event))
            case _:
                pass

    def _start_block(self, index: int, start: JsonObject) -> None:
        call = as_object(start.get("toolUse"))
        if call and call.get("type") != SERVER_TOOL:
            self.builder.call(index, name=as_string(call.get("name")), wire_id=as_string(call.get("toolUseId")))
        elif start:
            block = read_block(start, str)
            if block is not None:
                self.builder.put(index, block)

    def _grow_block(self, index: int, delta: JsonObject) -> None:
        if "text" in delta:
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
        elif data := as_text(content.get("redactedContent")):
            self.builder.thinking(index, "", {"data": data})

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        return super()._answer(settle(blocks, ending), ending)
