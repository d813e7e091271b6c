"""Read a streamed message.

In:  server-sent events: a message starts, blocks start, grow and stop under an index, the message ends.
Out: deltas to show, and at the end the same `Answer` that the whole body would have given.

The index of a block is its place in the message. Servers that translate into this protocol use one twice, and do not
always stop the first block before (ollama/ollama#14816, #17101); Anthropic itself did so behind the results of a search
(anthropics/anthropic-sdk-typescript#879). So a start begins another block, unless it repeats the one that is open.
"""

from __future__ import annotations

import msgspec

from legato.errors import IngestError
from legato.model import (
    Answer,
    Block,
    Ending,
    HostedTool,
    Json,
    JsonObject,
    Target,
    ingest,
    read_json_leniently,
)
from legato.model.json_access import as_count, as_list, as_object, as_string, as_text, present
from legato.wire.anthropic.decode import (
    read_block,
    read_caller,
    read_citations,
    read_ending,
    read_usage,
    refuse_error,
    settle,
)
from legato.wire.anthropic.hosted import is_result, is_use, joined, read_hosted
from legato.wire.anthropic.pieces import PIECES, MoreArguments, MoreText, StreamPiece
from legato.wire.context import Names
from legato.wire.stream import EventDecoder

_GROWING = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
"""blocks that are whole when they stop; a tool that the provider ran may still wait for its result"""


class Decoder(EventDecoder):
    """The stream decoder of this dialect."""

    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._kinds: dict[int, str] = {}
        self._ids: dict[int, str] = {}
        """what the blocks were started as"""
        self._again: dict[int, int] = {}
        """the key of the newest block at an index, where that is not the first one there: a negative number, so that it
        is nobody's index"""
        self._stopped: set[int] = set()
        """the keys of blocks that have stopped"""
        self._uses: dict[int, JsonObject] = {}
        """tools that the provider runs, whose arguments arrive in pieces"""
        self._pieces: dict[int, list[str]] = {}
        self._hosted: dict[str, tuple[int, HostedTool]] = {}
        """those that wait for their result, by id"""
        self._citations: dict[int, list[Json]] = {}
        self._usage: JsonObject = {}
        self._details: Json = None

    def read(self, event: JsonObject) -> None:
        """Take one event; kinds that are new to us are skipped."""
        match event.get("type"):
            case "content_block_delta":
                self._grow_block(self._key(event), as_object(event.get("delta")))
            case "content_block_start":
                block = as_object(event.get("content_block"))
                self._start_block(self._key_of_start(event, block), block)
            case "content_block_stop":
                self._stop_block(self._key(event))
            case "message_start":
                self._start(as_object(event.get("message")))
            case "message_delta":
                self._end(as_object(event.get("delta")), as_object(event.get("usage")))
            case "error":
                refuse_error(event)
            case _:
                pass

    def grow(self, piece: StreamPiece) -> bool:
        """Take a `content_block_delta` of text, thinking or arguments."""
        index, delta = self._again.get(piece.index, piece.index), piece.delta
        kind = self._kinds.get(index)
        if isinstance(delta, MoreText):
            if kind != "text":
                return False
            self.builder.text(index, delta.text)
        elif isinstance(delta, MoreArguments):
            return kind == "tool_use" and self.builder.arguments(index, delta.partial_json)
        else:
            if kind != "thinking":
                return False
            self.builder.thinking(index, delta.thinking)
        return True

    def _start(self, message: JsonObject) -> None:
        self.served = as_text(message.get("model"))
        self.response_id = as_text(message.get("id"))
        self._count(as_object(message.get("usage")))
        if message.get("stop_reason") is not None:
            self._end(message, {})

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _key(self, event: JsonObject) -> int:
        """The key of the newest block at the index that `event` names."""
        index = as_count(event.get("index"))
        return self._again.get(index, index)

    def _key_of_start(self, event: JsonObject, block: JsonObject) -> int:
        key = self._key(event)
        if key not in self._kinds or (key not in self._stopped and self._repeats(key, block)):
            return key
        self._stop_block(key)
        key = self._again[as_count(event.get("index"))] = -len(self._kinds)
        return key

    def _repeats(self, key: int, block: JsonObject) -> bool:
        """Whether `block` may be the one that is open under `key`, started once more."""
        return self._kinds[key] == as_text(block.get("type")) and self._ids[key] == as_text(block.get("id"))

    def _start_block(self, index: int, block: JsonObject) -> None:
        self._ids[index] = as_text(block.get("id"))
        kind = self._kinds[index] = as_text(block.get("type"))
        match kind:
            case "text":
                self.builder.text(index, as_string(block.get("text")))
                self._cite(index, as_list(block.get("citations")))
            case "thinking":
                signature = as_text(block.get("signature"))
                self.builder.thinking(index, as_string(block.get("thinking")), {"signature": signature})
            case "redacted_thinking":
                self.builder.thinking(index, "", {"data": as_text(block.get("data"))})
            case "tool_use":
                whole = as_object(block.get("input"))  # some servers send all of it here
                self.builder.call(
                    index,
                    name=as_string(block.get("name")),
                    wire_id=as_string(block.get("id")),
                    arguments=_json(whole) if whole else "",
                    native=read_caller(block.get("caller")),
                )
            case _:
                self._start_hosted(index, block)

    def _grow_block(self, index: int, delta: JsonObject) -> None:
        kind = self._kinds.get(index)
        match delta.get("type"):
            case "text_delta" if kind == "text":
                self.builder.text(index, as_string(delta.get("text")))
            case "input_json_delta" if kind == "tool_use":
                self.builder.call(index, arguments=as_string(delta.get("partial_json")))
            case "input_json_delta" if index in self._uses:
                self._pieces.setdefault(index, []).append(as_string(delta.get("partial_json")))
            case "thinking_delta" if kind == "thinking":
                self.builder.thinking(index, as_string(delta.get("thinking")))
            case "signature_delta" if kind == "thinking":
                self.builder.native(index, signature=as_text(delta.get("signature")))
            case "citations_delta" if kind == "text":
                self._cite(index, [delta.get("citation")])
            case _:
                pass

    def _stop_block(self, index: int) -> None:
        if index in self._kinds:
            self._stopped.add(index)
        use, written = self._uses.pop(index, None), "".join(self._pieces.pop(index, ()))
        if use is not None:
            self._stop_use(index, use, written)
        elif self._kinds.get(index) in _GROWING:
            self.builder.done(index)

    def _cite(self, index: int, citations: list[Json]) -> None:
        native = read_citations(citations)
        if native is not None:
            kept = self._citations.setdefault(index, [])
            kept += native["citations"]
            self.builder.native(index, citations=kept)

    # --- tools that the provider runs ---------------------------------------------------------------------------------

    def _start_hosted(self, index: int, block: JsonObject) -> None:
        if is_use(block):
            self._uses[index] = present(block)
        hosted = read_block(block, str)
        if not isinstance(hosted, HostedTool):
            return
        if is_result(block) and (known := self._hosted.pop(hosted.wire_id, None)) is not None:
            self.builder.put(known[0], joined(known[1], hosted))
        elif is_use(block):
            if hosted.wire_id:
                self._hosted[hosted.wire_id] = index, hosted
            self.builder.hold(index, hosted)
        else:
            self.builder.put(index, hosted)

    def _stop_use(self, index: int, use: JsonObject, written: str) -> None:
        """What the provider ran is known only now that its arguments are whole; its result may still come."""
        if written:
            try:
                hosted = read_hosted({**use, "input": read_json_leniently(written)})
            except IngestError:
                hosted = read_hosted(use)
            self._hosted[hosted.wire_id] = index, hosted
            self.builder.hold(index, hosted)

    # --- the message as a whole ---------------------------------------------------------------------------------------

    def _end(self, delta: JsonObject, usage: JsonObject) -> None:
        self._count(usage)
        if delta.get("stop_details") is not None:
            self._details = ingest(delta["stop_details"])
        if delta.get("stop_reason") is not None:
            self.ending, self.new_word = read_ending(delta["stop_reason"], has_calls=self.builder.has_calls)

    def _count(self, usage: JsonObject) -> None:
        self._usage |= present(usage)  # later events repeat the counts that have changed
        self.usage = read_usage(self._usage)

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        return super()._answer(*settle(blocks, ending, self._details))


def _json(value: JsonObject) -> str:
    return msgspec.json.encode(ingest(value)).decode()
