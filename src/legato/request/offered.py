"""Give the calls of an answer back their tools, as they were offered.

In:  an answer that was decoded with the target's names.
Out: the same answer; a call of a tool that had to be offered in another form is a call of that tool again: it has its
     namespace, and free text where its tool takes free text.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.model import BROKEN_OFF, Answer, Block, CallKind, Ending, JsonObject, ToolCall
from legato.wire.bounds import Bounds
from legato.wire.context import Names
from legato.wire.contract import Delta, StreamDecoder


class OfferedTools:
    """What one request offered that its target has no form for."""

    __slots__ = ("_free_text", "_names")

    def __init__(self, names: Names, free_text: frozenset[tuple[str, str]]) -> None:
        self._names = names
        self._free_text = free_text

    def restore(self, answer: Answer) -> Answer:
        """`answer` with calls of the tools that were offered."""
        entry = answer.entry
        is_whole = entry.ending not in (*BROKEN_OFF, Ending.LENGTH)
        blocks = tuple(self._restored(block, is_whole) if type(block) is ToolCall else block for block in entry.blocks)
        if all(new is old for new, old in zip(blocks, entry.blocks, strict=True)):
            return answer
        return replace(answer, entry=replace(entry, blocks=blocks))

    def _restored(self, call: ToolCall, is_whole: bool) -> Block:
        tool = (call.namespace, call.name) if call.namespace else self._names.namespaced(call.name) or ("", call.name)
        if tool != (call.namespace, call.name):
            call = replace(call, namespace=tool[0], name=tool[1])
        if tool not in self._free_text or call.kind is CallKind.CUSTOM:
            return call
        text = call.arguments.get("input")
        if call.raw is None and isinstance(text, str) and len(call.arguments) == 1:
            return replace(call, kind=CallKind.CUSTOM)
        if is_whole and call.raw is not None and call.raw.lstrip()[:1] != "{":
            # The model wrote the text itself, without the JSON around it.
            return replace(call, kind=CallKind.CUSTOM, arguments={"input": call.raw}, raw=None, finished=True)
        return call


class RestoringDecoder:
    """A `StreamDecoder` whose answer has calls of the tools that were offered."""

    __slots__ = ("_decoder", "_offered")

    def __init__(self, decoder: StreamDecoder, offered: OfferedTools) -> None:
        self._decoder = decoder
        self._offered = offered

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds`."""
        self._decoder.limit(bounds)

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response."""
        return self._decoder.feed(data)

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event that is already parsed."""
        return self._decoder.event(event)

    def finish(self) -> Answer:
        """The whole answer."""
        return self._offered.restore(self._decoder.finish())

    def partial(self) -> Answer | None:
        """What has been visible so far."""
        answer = self._decoder.partial()
        return None if answer is None else self._offered.restore(answer)
