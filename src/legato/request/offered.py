"""Give the calls of an answer back their tools, as they were offered.

In:  an answer that was decoded with the target's names, or its deltas.
Out: the same; a call of a tool that had to be offered in another form is a call of that tool again: it has its
     namespace, and free text where its tool takes free text.

The deltas of such free text come when the call is whole: until then it is JSON that may still turn out to be anything.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.model import BROKEN_OFF, Answer, CallKind, Ending, JsonObject, ToolCall
from legato.wire.arguments import written_arguments
from legato.wire.bounds import Bounds
from legato.wire.context import Names
from legato.wire.contract import StreamDecoder
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of_call


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
        blocks = tuple(
            self.restored(block, is_whole=is_whole) if type(block) is ToolCall else block for block in entry.blocks
        )
        if all(new is old for new, old in zip(blocks, entry.blocks, strict=True)):
            return answer
        return replace(answer, entry=replace(entry, blocks=blocks))

    def takes_free_text(self, call: ToolCall) -> bool:
        """Whether the tool that was called takes free text and was offered as a function."""
        return call.kind is not CallKind.CUSTOM and self._tool(call) in self._free_text

    def named(self, call: ToolCall) -> ToolCall:
        """`call` under the namespace and the name of its tool."""
        namespace, name = self._tool(call)
        return (
            call if (namespace, name) == (call.namespace, call.name) else replace(call, namespace=namespace, name=name)
        )

    def restored(self, call: ToolCall, *, is_whole: bool) -> ToolCall:
        """`call` as a call of its tool. With `is_whole`, text that is no JSON is all that the model had to write.

        The client knows its tool as one that takes free text, and takes no other call of it: so what was not asked for
        is handed on as it was written, and the tool says what is wrong with it.
        """
        is_free, call = self.takes_free_text(call), self.named(call)
        if not is_free:
            return call
        written = written_arguments(call)
        is_text = call.raw is not None and written.lstrip()[:1] != "{"  # without the JSON around it
        values = tuple(call.arguments.values())
        text = values[0] if len(values) == 1 and isinstance(values[0], str) else written
        finished = call.finished or (is_whole and is_text)
        return replace(call, kind=CallKind.CUSTOM, arguments={"input": text}, raw=None, finished=finished)

    def _tool(self, call: ToolCall) -> tuple[str, str]:
        return (call.namespace, call.name) if call.namespace else self._names.namespaced(call.name) or ("", call.name)


class RestoringDecoder:
    """A `StreamDecoder` whose answer, and whose deltas, have calls of the tools that were offered."""

    __slots__ = ("_decoder", "_offered", "_waiting")

    def __init__(self, decoder: StreamDecoder, offered: OfferedTools) -> None:
        self._decoder = decoder
        self._offered = offered
        self._waiting: set[int] = set()
        """the calls of which nothing is told before they are whole"""

    @property
    def served(self) -> str:
        """The model that answers, as soon as it is known."""
        return self._decoder.served

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds`."""
        self._decoder.limit(bounds)

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response."""
        return self._restored(self._decoder.feed(data))

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event that is already parsed."""
        return self._restored(self._decoder.event(event))

    def finish(self) -> Answer:
        """The whole answer."""
        return self._offered.restore(self._decoder.finish())

    def partial(self) -> Answer | None:
        """What has been visible so far."""
        answer = self._decoder.partial()
        return None if answer is None else self._offered.restore(answer)

    def _restored(self, deltas: list[Delta]) -> list[Delta]:
        restored: list[Delta] = []
        for delta in deltas:
            if type(delta) is TextDelta or type(delta) is ThinkingDelta:
                restored.append(delta)  # nearly all are such
                continue
            match delta:
                case CallDelta() if delta.index in self._waiting:
                    pass
                case CallDelta() if delta.name:
                    restored.append(replace(delta, name=self._offered.named(ToolCall(delta.name)).name))
                case CallDelta():
                    restored.append(delta)
                case BlockStart(block=ToolCall() as call):
                    restored += self._begun(call, delta)
                case BlockDone(block=ToolCall() as call):
                    restored += self._done(call, delta.call)
                case _:
                    restored.append(delta)
        return restored

    def _begun(self, call: ToolCall, start: BlockStart) -> list[Delta]:
        if self._offered.takes_free_text(call):
            self._waiting.add(start.call)
            return []
        return [replace(start, block=self._offered.named(call))]

    def _done(self, call: ToolCall, number: int) -> list[Delta]:
        restored = self._offered.restored(call, is_whole=False)
        if number not in self._waiting:
            return [BlockDone(restored, number)]
        if call.raw is not None:
            return []  # only how the answer ends tells whether this is all of it, so it is in the answer alone
        return list(deltas_of_call(restored, number))
