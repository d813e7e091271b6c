"""An answer of any provider, told again for one client while it arrives: deltas in, deltas out.

In:  the deltas of one attempt after the other, of which only the last may come to an end, and then the answer.
Out: deltas that the client's own `ReplyWriter` takes: calls under ids of ours, nothing of another provider's own, and
     carriers with what the client has to bring back.

Thinking that the client is shown stays open until something visible follows: as long as it is open, another route can
take over and its thinking goes on in the same block. So all thoughts in a row are one thought to the client, and its
carrier, which is sealed when it is closed, says which span of it each of them is.

What becomes known later (the native data of texts and calls; that of a thought whose provider ends it late) goes into
another carrier. Where it has a place depends on the client, see `manners`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from legato.gateway.call_ids import call_id
from legato.gateway.carrier_places import carrying_thought, spell
from legato.gateway.carriers import Kept, Sealer, SignedText, answer_digest, text_digest
from legato.gateway.contract import Delivery
from legato.gateway.own_calls import SIGNATURES
from legato.gateway.uncarried import ToldThought, Uncarried
from legato.model import Answer, Block, Dialect, JsonObject, Origin, Target, Text, Thinking, ToolCall, ToolResponse
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta
from legato.wire.growing import Part, Whole
from legato.wire.openai_responses.reply import ITEM_TYPE

GAP = "\n\n"
"""what separates two thoughts that are one to the client"""

_HIDDEN = frozenset({"thoughtSignature"})
"""native data that never goes out as it is, because a carrier takes its place"""


class _Said(Struct, eq=False):
    """A text while it is told."""

    start: int
    """how many characters of the visible text come before it"""
    calls: int
    part: Part
    is_begun: bool = False


class Retelling:
    """Tells one answer to one client."""

    quotes: ClassVar[bool] = False
    """whether the client gives thinking text back, so that thoughts are spans of that"""
    shows: bool = True
    """whether the client is shown what the model thinks"""

    def __init__(self, delivery: Delivery, sealer: Sealer, answer_id: str, told: Callable[[Whole], str]) -> None:
        self.visible = False
        """whether something beyond thinking was said"""
        self.served = ""
        """the model that answers, as soon as somebody knows"""
        self._delivery = delivery
        self._door = delivery.door
        self._sealer = sealer
        self._answer_id = answer_id
        self._told = told
        self._target: Target | None = None
        self._route = ""
        self._run = Part(Thinking())
        """what the client's open thought says so far"""
        self._call_ids: dict[int, str] = {}
        """by the number of the call"""
        self._carriers = 0
        self._digest: str | None = None
        """that of the visible answer, once all of it is known"""
        self._forget()

    def _forget(self) -> None:
        """Nothing was said in this attempt yet."""
        self._news = Uncarried(quotes=self.quotes)
        self._done_thoughts = 0
        self._texts: list[_Said] = []
        self._done_texts = 0
        self._chars = 0
        self._is_apart = False
        """whether the last text stood for another block"""
        self._begun_calls: set[int] = set()
        self._done_calls: set[int] = set()
        self._done_others: list[Block] = []

    def begin(self, target: Target, route: str) -> None:
        """An attempt at `target` begins. What an earlier one thought stays where it is, and is nobody's thought."""
        self._target, self._route, self.served = target, route, ""
        self._forget()

    # --- what it asks of its kinds ------------------------------------------------------------------------------------

    def _close_thoughts(self) -> list[Delta]:
        """Something visible follows, or the end."""
        if not self._run.pieces:
            return []
        run, self._run = self._run, Part(Thinking())
        return [BlockDone(replace(self._opening(), text=run.text))]

    def _before_call(self) -> list[Delta]:
        """A call is about to begin."""
        return []

    def _last(self) -> list[Delta]:
        """All is said."""
        return []

    def _ending(self) -> list[Delta]:
        """What ends the answer."""
        return [*self._close_thoughts(), *self._last()]

    def _opening(self) -> Thinking:
        """A thought of the client's as it begins."""
        return Thinking()

    # --- telling ------------------------------------------------------------------------------------------------------

    def tell(self, delta: Delta) -> list[Delta]:
        """What `delta` makes known, for the client."""
        match delta:
            case ThinkingDelta():
                return self._think(delta.text)
            case BlockStart(block=Thinking()):
                self._begin_thought()
                return []
            case BlockDone(block=Thinking() as thought):
                return self._finish_thought(thought)
            case TextDelta():
                return self._say(delta.text)
            case BlockStart(block=Text() as text):
                self._texts.append(self._announced(text))
                return []
            case BlockDone(block=Text() as text):
                return self._finish_text(text)
            case BlockStart(block=ToolCall() as call):
                return self._begin_call(call, delta.call)
            case CallDelta():
                begun = [] if delta.index in self._begun_calls else self._begin_call(ToolCall(""), delta.index)
                return [*begun, delta]
            case BlockDone(block=ToolCall() as call):
                return self._finish_call(call, delta.call)
            case _:
                return self._tell_whole(delta.block)

    def end(self, answer: Answer) -> list[Delta]:
        """What is still to say of `answer`."""
        self._know(answer)
        return [*self._tell_rest(answer), *self._ending()]

    def _tell_rest(self, answer: Answer) -> list[Delta]:
        """All of `answer` that was not told yet, block by block."""
        return [told for delta in self._untold(answer) for told in self.tell(delta)]

    def blocks(self, answer: Answer) -> tuple[Block, ...]:
        """`answer` as the client is given it, all at once: none of it was told before."""
        self._know(answer)
        self._foresee(answer)
        deltas = [*self._tell_rest(answer), *self._ending()]
        return tuple(delta.block for delta in deltas if isinstance(delta, BlockDone))

    def call(self, call: ToolCall, number: int) -> ToolCall:
        """`call`, the one of that number, under the id that the client knows it by."""
        if number not in self._call_ids:
            self._call_ids[number] = call_id(self._answer_id, number, self._door.call_ids)
        return replace(call, wire_id=self._call_ids[number])

    def _know(self, answer: Answer) -> None:
        """All of the answer is known."""
        self.served = answer.served
        said = [block for block in answer.entry.blocks if not isinstance(block, Thinking | ToolCall)]
        if self._door.dialect is Dialect.OPENAI_CHAT:  # where a refusal is a field of its own behind the content
            said.sort(key=_is_refusal)
        texts = [block.text if isinstance(block, Text) else self._told_text(self._shown(block)) for block in said]
        ids = [self.call(call, number).wire_id for number, call in enumerate(answer.calls)]
        self._digest = answer_digest(texts, ids)

    def _foresee(self, answer: Answer) -> None:
        """Let the first carrier hold what would be known only after it in a stream."""
        blocks = (block for block in answer.entry.blocks if isinstance(block, Text | ToolCall))
        if self._target is None or not any(map(self._carried, blocks)):
            return
        scout = Retelling(self._delivery, self._sealer, self._answer_id, self._told)
        scout.begin(self._target, self._route)
        scout._tell_rest(answer)
        self._news.foresee(scout._news)

    def _untold(self, answer: Answer) -> Iterator[Delta]:
        """What no delta called done: a stream may end before it says so of each block."""
        thoughts = texts = calls = 0
        others = list(self._done_others)
        for block in answer.entry.blocks:
            match block:
                case Thinking():
                    thoughts += 1
                    is_told = thoughts <= self._done_thoughts
                case Text():
                    texts += 1
                    is_told = texts <= self._done_texts
                case ToolCall():
                    calls += 1
                    is_told = calls - 1 in self._done_calls
                case _:
                    is_told = block in others
                    if is_told:
                        others.remove(block)
            if not is_told:
                yield BlockDone(block, calls - 1 if isinstance(block, ToolCall) else -1)

    # --- thoughts -----------------------------------------------------------------------------------------------------

    def _begin_thought(self) -> ToldThought:
        return self._news.begin_thought(self._chars, len(self._begun_calls))

    def _think(self, piece: str) -> list[Delta]:
        thoughts = self._news.thoughts
        thought = self._begin_thought() if not thoughts or thoughts[-1].is_done else thoughts[-1]
        return self._grow(thought, thought.part.readable(piece))

    def _grow(self, thought: ToldThought, piece: str) -> list[Delta]:
        if not piece:
            return []
        is_first = not thought.part.pieces
        thought.part.add(piece)
        self._news.grown(thought)
        if not self.shows:
            return []
        deltas: list[Delta] = []
        if not self._run.pieces:
            opening = self._opening()
            deltas += [BlockStart(opening)] if opening.native else []
        elif is_first:
            self._run.add(GAP)
            deltas.append(ThinkingDelta(GAP))
        if thought.start < 0:
            thought.start = thought.end = len(self._run.text)
        self._run.add(piece)
        thought.end += len(piece)
        return [*deltas, ThinkingDelta(piece)]

    def _finish_thought(self, block: Thinking) -> list[Delta]:
        thoughts, number = self._news.thoughts, self._done_thoughts
        thought = self._begin_thought() if number == len(thoughts) else thoughts[number]
        self._done_thoughts += 1
        deltas = self._grow(thought, thought.part.take_half())
        so_far = thought.part.text
        if block.text.startswith(so_far):
            deltas += self._grow(thought, block.text[len(so_far) :])
        self._news.done(thought, block)
        return deltas

    # --- texts --------------------------------------------------------------------------------------------------------

    def _announced(self, text: Text) -> _Said:
        return _Said(self._chars, len(self._begun_calls), Part(replace(text, native=self._passed_on(text))))

    def _say(self, piece: str) -> list[Delta]:
        if self._done_texts == len(self._texts):
            self._texts.append(self._announced(Text("")))
        said = self._texts[-1]
        return self._grow_text(said, said.part.readable(piece))

    def _grow_text(self, said: _Said, piece: str) -> list[Delta]:
        if not piece:
            return []
        self.visible = True
        deltas = self._close_thoughts()
        if not said.is_begun:
            said.is_begun = True
            said.start = self._chars = self._chars + self._gap(is_apart=False)
            deltas.append(BlockStart(said.part.begun))
        said.part.add(piece)
        self._chars += len(piece)
        return [*deltas, TextDelta(piece)]

    def _finish_text(self, block: Text) -> list[Delta]:
        number = self._done_texts
        if number == len(self._texts):
            self._texts.append(self._announced(block))
        said = self._texts[number]
        self._done_texts += 1
        deltas = self._grow_text(said, said.part.take_half())
        so_far = said.part.text
        if block.text.startswith(so_far):
            deltas += self._grow_text(said, block.text[len(so_far) :])
        passed_on = replace(block, native=self._passed_on(block))
        if passed_on.text or passed_on.native:
            self.visible = True
            deltas += [*self._close_thoughts(), BlockDone(passed_on)]
        if self._carried(block):
            end, native = said.start + len(block.text), block.native or {}
            self._news.note_text(number, SignedText(said.start, end, text_digest(block.text), native, said.calls))
        return deltas

    def _gap(self, *, is_apart: bool) -> int:
        """How many characters are between the last text and the next, where all of them are one to the client."""
        was_apart, self._is_apart = self._is_apart, is_apart
        is_one = self._door.dialect is Dialect.OPENAI_CHAT
        return len(GAP) if is_one and self._chars and (was_apart or is_apart) else 0

    # --- calls and other blocks ---------------------------------------------------------------------------------------

    def _begin_call(self, call: ToolCall, number: int) -> list[Delta]:
        self.visible = True
        self._begun_calls.add(number)
        self._note_call(call, number)
        begun = replace(self.call(call, number), native=self._native_of(call))
        return [*self._close_thoughts(), *self._before_call(), BlockStart(begun, number)]

    def _finish_call(self, call: ToolCall, number: int) -> list[Delta]:
        self.visible = True
        is_new = number not in self._begun_calls
        self._begun_calls.add(number)
        self._done_calls.add(number)
        self._note_call(call, number)
        before = [*self._close_thoughts(), *self._before_call()] if is_new else []
        return [*before, BlockDone(replace(self.call(call, number), native=self._native_of(call)), number)]

    def _note_call(self, call: ToolCall, number: int) -> None:
        if self._carried(call):
            self._news.note_call(number, call.native or {})

    def _tell_whole(self, block: Block) -> list[Delta]:
        """What a hosted tool did, an image, code."""
        self.visible = True
        self._done_others.append(block)
        shown = self._shown(block)
        if told := self._told_text(shown):
            self._chars += self._gap(is_apart=True) + len(told)
        return [*self._close_thoughts(), BlockDone(shown)]

    def _told_text(self, block: Block) -> str:
        """The text that the client reads in place of a block that never grows."""
        if isinstance(block, Text | Thinking | ToolCall | ToolResponse):
            return ""
        return self._told(block)

    # --- native data --------------------------------------------------------------------------------------------------

    @property
    def _is_own(self) -> bool:
        """Whether the answer comes from a provider of the client's own dialect."""
        return self._target is not None and self._target.dialect is self._door.dialect

    def _passed_on(self, block: Text | ToolCall) -> JsonObject | None:
        """The native data that the client may see: that of its own dialect, and whether a text is a refusal."""
        native = block.native or {}
        if self._is_own:
            return {name: value for name, value in native.items() if name not in _HIDDEN} or None
        return {"refusal": True} if native.get("refusal") else None

    def _native_of(self, call: ToolCall) -> JsonObject | None:
        """The native data of a call for the client, and of which type its item is, if that is one of its own."""
        native, kind = self._passed_on(call), self._delivery.own_calls.get(call.name)
        return native if kind is None else {**(native or {}), ITEM_TYPE: kind}

    def _carried(self, block: Text | ToolCall) -> bool:
        """Whether the native data of `block` has to be carried: the client would not give it back by itself."""
        native = block.native or {}
        # Reasoning goes into a carrier even if the client could give it back by itself.
        return bool(native.keys() & SIGNATURES if self._is_own else native.keys() - {"refusal"})

    def _shown(self, block: Block) -> Block:
        """A block that never grows, as the client may see it."""
        return block if self._is_own or block.native is None else replace(block, native=None)

    # --- carriers -----------------------------------------------------------------------------------------------------

    def _carrier(self, beside: str | None) -> str:
        """A carrier of all that is new; `beside` is the thinking text of the block that it is in."""
        news = self._news.take()
        kept = Kept(
            answer=self._answer_id,
            route=self._route,
            origin=Origin() if self._target is None else self._target.origin(self.served),
            thoughts=news.thoughts,
            texts=news.texts,
            calls=news.calls,
            beside=None if beside is None else text_digest(beside),
            visible=self._digest,
        )
        self._carriers += 1
        return spell(self._sealer.seal(kept, self._delivery.tenant))

    def _carrying(self, text: str) -> Thinking:
        """A thought of the client's that says `text` and carries all that is new."""
        number = self._carriers
        return carrying_thought(self._door, text, self._carrier(text if self.quotes else None), number)


def _is_refusal(block: Block) -> bool:
    return bool((block.native or {}).get("refusal"))
