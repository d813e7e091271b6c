"""An answer for a Gemini client, whose parts carry what its thoughts cannot.

Gemini's clients do not send thoughts back; a signature they do, on the part that it came with. So a carrier is on a
call, or on the text that ends the answer. And no part may be an empty text, which the client would send back to be
refused, although the last event has to hold one: a content without parts makes Google's client forget the turn.

Both are solved in the same way: the last part is held back until it is known whether it is the last. Of a text that is
its last character alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from legato.gateway.carrier_places import carrying_part
from legato.gateway.carriers import Sealer
from legato.gateway.contract import Delivery
from legato.gateway.retelling import Retelling
from legato.model import Answer, Block, Media, Text, Thinking, ToolCall
from legato.wire.deltas import BlockDone, BlockStart, Delta, TextDelta, ThinkingDelta
from legato.wire.growing import Whole

B = TypeVar("B", bound=Block)


class OnParts(Retelling):
    """Tells one answer to a Gemini client."""

    def __init__(self, delivery: Delivery, sealer: Sealer, answer_id: str, told: Callable[[Whole], str]) -> None:
        super().__init__(delivery, sealer, answer_id, told)
        self.shows = delivery.asks_thinking
        self._held: TextDelta | ThinkingDelta | BlockDone | None = None

    def tell(self, delta: Delta) -> list[Delta]:
        """What `delta` makes known, the last part aside."""
        return [told for passed in super().tell(delta) for told in self._hold(passed)]

    def blocks(self, answer: Answer) -> tuple[Block, ...]:
        """`answer` in parts, one of which carries what there is to carry: the first call, or the last that can."""
        self._know(answer)
        self._foresee(answer)
        deltas = [told for delta in self._untold(answer) for told in super(OnParts, self).tell(delta)]
        deltas += super()._close_thoughts()
        blocks = [self._in_parts(delta.block) for delta in deltas if isinstance(delta, BlockDone)]
        place = _carrying_place(blocks)
        if place is not None and self._news:
            blocks[place] = self._signed(blocks[place])
        return tuple(blocks)

    def _in_parts(self, block: Block) -> Block:
        told = self._told_text(block)
        return Text(told) if told else block

    def _hold(self, delta: Delta) -> list[Delta]:
        match delta:
            case TextDelta() | ThinkingDelta():
                return self._hold_prose(delta)
            case BlockStart(block=Text() | Thinking()) | BlockDone(block=Text() | Thinking()):
                return []  # parts say nothing about where a text begins and ends
            case BlockDone(block=ToolCall()):
                released, self._held = self._release(), delta
                return released
            case BlockDone():
                if told := self._told_text(delta.block):
                    return self._hold_prose(TextDelta(told))
                released, self._held = self._release(), delta
                return released
            case _:
                return [delta]

    def _hold_prose(self, delta: TextDelta | ThinkingDelta) -> list[Delta]:
        held, kind, text = self._held, type(delta), delta.text
        released: list[Delta] = []
        if isinstance(held, kind):
            text = held.text + text
        else:
            released = self._release()
        self._held = kind(text[-1])
        return [*released, kind(text[:-1])] if len(text) > 1 else released

    def _release(self) -> list[Delta]:
        """What was held back is not the last part. A call may carry all the same: there may be no text to come."""
        held, self._held = self._held, None
        if isinstance(held, BlockDone) and isinstance(held.block, ToolCall) and self._news:
            return [replace(held, block=self._signed(held.block))]
        return [] if held is None else [held]

    def _last(self) -> list[Delta]:
        if not self._news:
            return self._release()
        held, self._held = self._held, None
        match held:
            case TextDelta() | ThinkingDelta():
                opening = Text("") if isinstance(held, TextDelta) else Thinking()
                return [BlockStart(self._signed(opening)), held, BlockStart(Text(""))]  # which ends the signed part
            case BlockDone(block=ToolCall() | Media()):
                return [replace(held, block=self._signed(held.block))]
            case _:
                return [] if held is None else [held]

    def _signed(self, block: B) -> B:
        return replace(block, native=(block.native or {}) | carrying_part(self._carrier(None)))


def _carrying_place(blocks: list[Block]) -> int | None:
    """Which of `blocks` carries: the first call, or the last text or image, or the last thought."""
    calls = [at for at, block in enumerate(blocks) if isinstance(block, ToolCall)]
    said = [at for at, block in enumerate(blocks) if isinstance(block, Text | Media)]
    thoughts = [at for at, block in enumerate(blocks) if isinstance(block, Thinking)]
    return next(iter([*calls[:1], *said[-1:], *thoughts[-1:]]), None)
