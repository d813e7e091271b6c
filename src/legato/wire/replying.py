"""Write an answer as a provider's response: the body, or the events of a stream while the answer arrives.

In:  an answer, or its deltas and then the answer.
Out: what the provider's own client reads. A dialect subclasses `EventWriter` and gives the shapes; what is decided
     about blocks (which of them a delta belongs to, when they begin and end, what becomes of one without a form) is
     decided here.

    BlockStart, or the first delta of a block      opens it, and closes the text or thought that was open; a text or
                                                   thought of which nothing is known yet opens with its first delta
    more deltas                                    grow it
    BlockDone                                      closes it; a block that was never opened is written whole
    the end of the answer                          does the same for every block that was not called done

Deltas without `BlockStart` and `BlockDone` do not say where one text ends and the next begins, so at the end blocks are
matched with what was written by counting characters. What a block turns out to carry after it was closed (a signature)
is passed to `seal` all the same; a dialect writes it if its clients can still read it there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import msgspec
from msgspec.structs import replace

from legato.errors import RenderError
from legato.model import Answer, Block, Ending, HostedTool, JsonObject, Text, Thinking, ToolCall, ToolResponse, Usage
from legato.wire.arguments import written_arguments
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta
from legato.wire.growing import Growing, Part, Whole, minted_id
from legato.wire.reply_queue import DeltaQueue
from legato.wire.text_forms import block_text

Event: TypeAlias = JsonObject | bytes
"""an event of the stream, or bytes that end it"""

DONE = b"data: [DONE]\n\n"


class EventWriter(ABC):
    """Writes one answer, whole or as server-sent events with JSON data; implements `ReplyWriter`."""

    interleaves: ClassVar[bool] = True
    """whether a block may begin while a call is open; if not, what comes next waits for the call to be done"""
    calls_come_whole: ClassVar[bool] = False
    """whether a call cannot be written in pieces at all"""
    free_text: ClassVar[tuple[str, str] | None] = ('{"input":"', '"}')
    """what makes JSON of the free text of a custom call; None where such calls have a form of their own"""
    signs_text: ClassVar[bool] = True
    """whether native data belongs to the exact text of its block, so that it is of no use with any other"""
    names_events: ClassVar[bool] = False
    """whether the type of an event is sent beside its data too"""
    newline: ClassVar[bytes] = b"\n"
    breaks_off: ClassVar[bool] = True
    """whether the stream of an answer that was cut stops without its end, by which its clients know that there
    was more to come: OpenAI's miss `[DONE]`, Claude Code misses `message_stop`, the Gemini CLI a finish reason. If not,
    the protocol has a word for such an answer."""
    id_prefix: ClassVar[str] = ""
    """what the id of every response begins with"""
    reasons: ClassVar[Mapping[Ending, str]] = {}
    """the provider's word for each way to end"""

    def __init__(
        self,
        model: str,
        response_id: str,
        usage: Usage | None = None,
        *,
        unsplit_calls: bool = False,
        joins_usage: bool = False,
        created: int = 0,
        repeated: JsonObject | None = None,
    ) -> None:
        self.model = model
        self.created = created
        self.repeated = repeated or {}
        is_theirs = response_id.startswith(self.id_prefix)
        self.response_id = response_id if is_theirs else minted_id(self.id_prefix, response_id, 0)
        self.usage = usage or Usage()
        """what is known of it before the answer is whole; if nobody says more, it is told at the end as well"""
        self.unsplit_calls = unsplit_calls or self.calls_come_whole
        self.joins_usage = joins_usage
        self.output: list[JsonObject] = []
        """the objects of the response so far, each at its place; one that grows is here as it was when it began"""
        self._run: Part | None = None
        """the text or thought that is open"""
        self._unclaimed: dict[type[Block], deque[Part]] = {Text: deque(), Thinking: deque()}
        self._calls: dict[int, Part] = {}
        self._queue = DeltaQueue(unsplit_calls=self.unsplit_calls)
        self._done: defaultdict[type[Block] | bytes, int] = defaultdict(int)
        """what was called done: texts and thoughts by their kind, what comes whole by what it is"""

    # --- what a dialect says ------------------------------------------------------------------------------------------

    @abstractmethod
    def item(self, block: Growing, place: int) -> JsonObject:
        """The object that `block` is, at `place` in the response."""

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """The objects of another block; None where it has no form here and is told as text."""
        return None

    @abstractmethod
    def body(self, answer: Answer) -> JsonObject:
        """The whole response, once all of `answer` is in `output`."""

    def begin(self) -> list[Event]:
        """The events before the first block."""
        return []

    def open(self, part: Part) -> list[Event]:
        """`part` begins, at its place in `output`."""
        return []

    def grow(self, part: Part, piece: str) -> list[Event]:
        """`piece` comes after what `part` holds so far."""
        return [{**part.growth, "delta": piece}]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """What is known of `block` only when it is whole; `part` may have been closed before."""
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """`part` ends; `block` is what became of it, and `part.text` what was written of it."""
        return []

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """One of a block's `own` objects, which comes whole."""
        return [item]

    @abstractmethod
    def end(self, answer: Answer) -> list[Event]:
        """The events after the last block."""

    def break_off(self) -> list[Event]:
        """What waited for those events, where the stream stops without them."""
        return []

    def reason(self, answer: Answer) -> str:
        """How `answer` ended, in the provider's word."""
        return self.reasons[answer.entry.ending or (Ending.CALLS if answer.calls else Ending.DONE)]

    # --- what `ReplyWriter` asks for ----------------------------------------------------------------------------------

    def whole(self, answer: Answer) -> JsonObject:
        """`answer` as a response body."""
        output = self.output
        for block in answer.entry.blocks:
            match block:
                case ToolCall() | Text() | Thinking():
                    output.append(self.item(block, len(output)))
                case _:
                    own, texts = self._own(block)
                    output += own or [self.item(text, len(output)) for text in texts]
        return self.body(answer)

    def told(self, block: Whole) -> str:
        """The text in which `block` is told; empty if it has a form of its own, or nothing to tell."""
        return "".join(text.text for text in self._own(block)[1])

    def start(self) -> list[bytes]:
        """What comes before the first block."""
        return self._framed(self.begin())

    def feed(self, delta: Delta) -> list[bytes]:
        """What `delta` makes known."""
        if type(delta) is BlockDone:
            self._done[_kind_of(delta.block)] += 1
        return self._framed(self._take(delta))

    def finish(self, answer: Answer) -> list[bytes]:
        """What is still to say of `answer`, and the end of the stream."""
        events: list[Event] = []
        calls = 0
        for block in answer.entry.blocks:
            if isinstance(block, ToolCall):
                events += self._take(BlockDone(block, calls))
                calls += 1
            elif self._done[kind := _kind_of(block)]:
                self._done[kind] -= 1
            else:
                events += self._take(BlockDone(block))
        while (call := self._queue.first_unfinished) is not None:
            part = self._calls[call]
            events += self._close_call(part, part.block()) + self._release()
        events += self._end_run()
        is_cut = answer.entry.ending in (Ending.CUT, Ending.CANCELLED)
        return self._framed(events + (self.break_off() if is_cut and self.breaks_off else self.end(answer)))

    def _framed(self, events: list[Event]) -> list[bytes]:
        return [event if isinstance(event, bytes) else self.frame(event) for event in events]

    def frame(self, event: JsonObject) -> bytes:
        """One event as it is sent."""
        name = b"event: " + event["type"].encode() + self.newline if self.names_events else b""
        return name + b"data: " + msgspec.json.encode(event) + 2 * self.newline

    # --- which block --------------------------------------------------------------------------------------------------

    def _take(self, delta: Delta) -> list[Event]:
        if self.interleaves and not self.unsplit_calls:
            return self._place(delta)  # nothing ever waits
        if self._queue.holds_back(delta):
            return []
        return self._place(delta) + self._release()

    def _release(self) -> list[Event]:
        """What needs to wait no longer."""
        return [event for delta in self._queue.released() for event in self._place(delta)]

    def _place(self, delta: Delta) -> list[Event]:
        match delta:
            case TextDelta():
                return self._grow_run(Text(""), delta.text)
            case ThinkingDelta():
                return self._grow_run(Thinking(), delta.text)
            case CallDelta():
                return self._grow_call(delta)
            case BlockStart(block=ToolCall() as block):
                return self._start(block, delta.call)
            case BlockStart():
                return self._start(delta.block) if delta.block.native else self._end_run()
            case BlockDone():
                return self._finish_block(delta.block, delta.call)

    def _finish_block(self, block: Block, call: int) -> list[Event]:
        match block:
            case Text() | Thinking():
                return self._finish_run(block)
            case ToolCall():
                return self._finish_call(block, call)
            case _:
                own, texts = self._own(block)
                events = self._end_run() if own else []
                for item in own:
                    events += self.put(item, len(self.output))
                    self.output.append(item)
                return events + [event for text in texts for event in self._write_whole(text)]

    def _own(self, block: Whole | ToolResponse) -> tuple[list[JsonObject], list[Text]]:
        """The objects of a block that never grows, or the text that stands for one without a form of its own."""
        if isinstance(block, ToolResponse):
            raise RenderError("a tool response stands in an answer, which cannot be printed as a reply", layer="reply")
        own = self.own(block, len(self.output))
        if own is not None or (isinstance(block, HostedTool) and block.silent):
            return own or [], []
        return [], [Text(block_text(block), native={"told": True})]

    # --- a part -------------------------------------------------------------------------------------------------------

    def _start(self, block: Growing, call: int = -1) -> list[Event]:
        part = Part(block, call)
        if isinstance(block, ToolCall):
            self._calls[call] = part
            self._queue.begin(call)
            return [] if self.unsplit_calls or not block.name else self._open(part)
        events = self._open(part)
        self._run = part
        self._unclaimed[type(block)].append(part)
        return events

    def _open(self, part: Part) -> list[Event]:
        events = self._end_run()
        part.place = len(self.output)
        self.output.append(self.item(part.begun, part.place))
        if isinstance(part.begun, ToolCall):
            self._queue.open(part.call)
        events += self.open(part)
        written, part.pieces = part.text, []
        return events + self._write(part, written)

    def _write(self, part: Part, piece: str) -> list[Event]:
        """`piece` is added to `part`, and goes out if it is open."""
        is_first = not part.pieces
        piece = part.readable(piece)
        if not piece:
            return []
        events: list[Event] = []
        if part.is_open:
            written = piece
            if part.is_free_text and self.free_text is not None:
                quoted = msgspec.json.encode(piece).decode()[1:-1]
                written = self.free_text[0] + quoted if is_first else quoted
            events = self.grow(part, written)
        part.add(piece)
        return events

    def _write_half(self, part: Part | None) -> list[Event]:
        return [] if part is None or not part.half else self._write(part, part.take_half())

    def _close(self, part: Part, block: Growing) -> list[Event]:
        events = self._write_half(part)
        if part.is_free_text and self.free_text is not None:
            before, after = self.free_text
            events += self.grow(part, after if part.pieces else before + after)
        events += self.seal(part, block)
        part.is_closed = True
        return events + self.close(part, block)

    # --- texts and thoughts -------------------------------------------------------------------------------------------

    def _grow_run(self, kind: Text | Thinking, piece: str) -> list[Event]:
        if not piece:
            return []
        is_same = self._run is not None and type(self._run.begun) is type(kind)
        events = [] if is_same else self._start(kind)
        assert self._run is not None  # a text or thought opens at once
        return events + self._write(self._run, piece)

    def _end_run(self) -> list[Event]:
        part, self._run = self._run, None
        return [] if part is None else self._close(part, part.block())

    def _finish_run(self, block: Text | Thinking) -> list[Event]:
        """`block` is whole: write what is missing of it, and close what it was written as."""
        events = self._write_half(self._run)
        part, missing = self._claim(block)
        if part is None and not block.text and not block.native:
            return events  # there was nothing in it
        if part is None or (missing and part.is_closed):
            return events + self._write_whole(replace(block, text=missing))
        if missing:
            events += self._write(part, missing)
            part.unclaimed = 0
        if part.unclaimed:
            return events  # it goes on with the text of the next block
        if block.text != part.text:
            block = replace(block, text=part.text, native=None if self.signs_text else block.native)
        if part.is_closed:
            return events + self.seal(part, block)
        self._run = None
        return events + self._close(part, block)

    def _claim(self, block: Text | Thinking) -> tuple[Part | None, str]:
        """The part in which `block` ends, and the end of its text that was not written yet."""
        parts = self._unclaimed[type(block)]
        found: Part | None = None
        left = len(block.text)
        while parts and (left or found is None) and (block.text or not parts[0].pieces):
            found = parts[0]
            claimed = min(left, found.unclaimed)
            found.unclaimed -= claimed
            left -= claimed
            if found.unclaimed:
                break
            parts.popleft()
        return found, block.text[len(block.text) - left :]

    def _write_whole(self, block: Text | Thinking) -> list[Event]:
        events = self._start(replace(block, text=""))
        part, self._run = self._unclaimed[type(block)].pop(), None
        return events + self._write(part, block.text) + self._close(part, block)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _grow_call(self, delta: CallDelta) -> list[Event]:
        is_new = delta.index not in self._calls
        events = self._start(ToolCall(delta.name), delta.index) if is_new else []
        part = self._calls[delta.index]
        if delta.name and isinstance(part.begun, ToolCall) and not part.begun.name:
            part.begun = replace(part.begun, name=delta.name)
            events += [] if self.unsplit_calls else self._open(part)
        return events + self._write(part, delta.arguments)

    def _finish_call(self, block: ToolCall, call: int) -> list[Event]:
        begun = replace(block, arguments={}, raw=None, finished=True)
        events = [] if call in self._calls else self._start(begun, call)
        part = self._calls[call]
        if part.is_closed:
            return events
        if not part.is_open:
            part.begun = begun
        elif isinstance(part.begun, ToolCall) and part.begun.kind is not block.kind:
            block = replace(block, kind=part.begun.kind)
        events += self._write_half(part)
        written, so_far = written_arguments(block), part.text
        if written.startswith(so_far):
            events += self._write(part, written[len(so_far) :])
        return events + self._close_call(part, block)

    def _close_call(self, part: Part, block: Growing) -> list[Event]:
        if part.is_closed:
            return []
        events = [] if part.is_open else self._open(part)
        self._queue.close(part.call)
        return events + self._close(part, block)


def _kind_of(block: Block) -> type[Block] | bytes:
    """By what a block is known again that was done before: texts are matched by counting, other blocks are equal."""
    return type(block) if isinstance(block, Growing) else msgspec.json.encode(block)
