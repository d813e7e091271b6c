"""An answer of any provider, told again for one client while it arrives: deltas in, deltas out.

In:  the deltas of one attempt after the other, of which only the last may come to an end, and then the answer.
Out: deltas that the client's own `ReplyWriter` takes: calls under ids of ours, nothing of another provider's own, and
     carriers with what the client has to bring back.

Thinking that the client is shown stays open until something visible follows: as long as it is open, another route can
take over and its thinking goes on in the same block. So all thoughts in a row are one thought to the client, and its
carrier, which is sealed when it is closed, says which span of it each of them is.

What becomes known later (the native data of texts and calls; that of a thought whose provider ends it late) goes into
another carrier, and where that has a place depends on the client:

    InBlocks    Anthropic, Responses    a thought without text, before the next call or at the end
    OnParts     Gemini                  the next part that can be signed (see `last_part`)
    AtTheEnd    chat                    once for all, when the answer ends
    Nowhere     an Anthropic client     thinking is left out: programs that did not ask for it read `content[0].text`
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from legato.gateway.call_ids import call_id
from legato.gateway.carrier_places import carrying_thought, spell
from legato.gateway.carriers import Kept, Sealer, SignedText, Thought, answer_digest, text_digest
from legato.gateway.contract import Delivery
from legato.model import Answer, Block, Dialect, JsonObject, Origin, Target, Text, Thinking, ToolCall, ToolResponse
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of
from legato.wire.growing import Part, Whole

GAP = "\n\n"
"""what stands between two thoughts that are one to the client"""

_SIGNATURES = frozenset({"thoughtSignature", "extra_content"})
"""native data that is reasoning: it goes into a carrier even if the client could give it back by itself"""
_HIDDEN = frozenset({"thoughtSignature"})
"""native data that never goes out as it is, because a carrier takes its place"""


class _Thought(Struct, eq=False):
    """A thought while it is told."""

    number: int
    chars: int
    calls: int
    part: Part
    native: JsonObject | None = None
    text: str = ""
    """all of it, as its provider says in the end"""
    start: int = -1
    end: int = -1
    """which characters of the client's open thought are not carried yet; -1 if there are none"""
    carried: int = 0
    """how many characters were carried"""
    is_done: bool = False
    is_settled: bool = True
    """whether all that is known of it beside its text was carried"""


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
        self._carriers = 0
        self._digest: str | None = None
        """that of the visible answer, once all of it is known"""
        self._forget()

    def _forget(self) -> None:
        """Nothing was said in this attempt yet."""
        self._thoughts: list[_Thought] = []
        self._done_thoughts = 0
        self._touched: dict[int, _Thought] = {}
        """the thoughts of which there may be something that no carrier holds"""
        self._texts: list[_Said] = []
        self._done_texts = 0
        self._chars = 0
        self._is_apart = False
        """whether the last text stood for another block"""
        self._begun_calls: set[int] = set()
        self._done_calls: set[int] = set()
        self._done_others: list[Block] = []
        self._texts_known: set[int] = set()
        self._calls_known: dict[int, JsonObject] = {}
        self._new_texts: list[SignedText] = []
        self._new_calls: dict[int, JsonObject] = {}

    def begin(self, target: Target, route: str) -> None:
        """An attempt at `target` begins. What an earlier one thought stays where it is, and is nobody's thought."""
        self._target, self._route = target, route
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
        deltas = [told for delta in self._untold(answer) for told in self.tell(delta)]
        return [*deltas, *self._close_thoughts(), *self._last()]

    def blocks(self, answer: Answer) -> tuple[Block, ...]:
        """`answer` as the client is given it, all at once."""
        self._know(answer)
        self._foresee(answer)
        deltas = [told for delta in deltas_of(answer, sys.maxsize) for told in self.tell(delta)]
        return tuple(delta.block for delta in [*deltas, *self.end(answer)] if isinstance(delta, BlockDone))

    def call(self, call: ToolCall, number: int) -> ToolCall:
        """`call`, the one of that number, under the id that the client knows it by."""
        return replace(call, wire_id=call_id(self._answer_id, number, self._door.call_ids))

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
        if self._target is None:
            return
        scout = Nowhere(self._delivery, self._sealer, self._answer_id, self._told)
        scout.begin(self._target, self._route)
        for delta in deltas_of(answer, sys.maxsize):
            scout.tell(delta)
        self._new_texts, self._texts_known = scout._new_texts, scout._texts_known
        self._new_calls, self._calls_known = scout._new_calls, scout._calls_known

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

    def _begin_thought(self) -> _Thought:
        thought = _Thought(len(self._thoughts), self._chars, len(self._begun_calls), Part(Thinking()))
        self._thoughts.append(thought)
        return thought

    def _think(self, piece: str) -> list[Delta]:
        thought = self._thoughts[-1] if self._thoughts else None
        if thought is None or thought.is_done:
            thought = self._begin_thought()
        return self._grow(thought, thought.part.readable(piece))

    def _grow(self, thought: _Thought, piece: str) -> list[Delta]:
        if not piece:
            return []
        is_first = not thought.part.pieces
        thought.part.add(piece)
        self._touched[thought.number] = thought
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
        if self._done_thoughts == len(self._thoughts):
            self._begin_thought()
        thought = self._thoughts[self._done_thoughts]
        self._done_thoughts += 1
        deltas = self._grow(thought, thought.part.take_half())
        so_far = thought.part.text
        if block.text.startswith(so_far):
            deltas += self._grow(thought, block.text[len(so_far) :])
        thought.native, thought.text, thought.is_done = block.native, block.text, True
        # Where the provider says in the end that it thought something else, a span would not be that.
        thought.is_settled = block.native is None and block.text == thought.part.text
        self._touched[thought.number] = thought
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
        if self._carried(block) and number not in self._texts_known:
            self._texts_known.add(number)
            end, native = said.start + len(block.text), block.native or {}
            self._new_texts.append(SignedText(said.start, end, text_digest(block.text), native, said.calls))
        passed_on = replace(block, native=self._passed_on(block))
        if passed_on.text or passed_on.native:
            self.visible = True
            deltas += [*self._close_thoughts(), BlockDone(passed_on)]
        return deltas

    def _gap(self, *, is_apart: bool) -> int:
        """How many characters stand between the last text and the next, where all of them are one to the client."""
        was_apart, self._is_apart = self._is_apart, is_apart
        is_one = self._door.dialect is Dialect.OPENAI_CHAT
        return len(GAP) if is_one and self._chars and (was_apart or is_apart) else 0

    # --- calls and other blocks ---------------------------------------------------------------------------------------

    def _begin_call(self, call: ToolCall, number: int) -> list[Delta]:
        self.visible = True
        self._begun_calls.add(number)
        self._note_call(call, number)
        begun = replace(self.call(call, number), native=self._passed_on(call))
        return [*self._close_thoughts(), *self._before_call(), BlockStart(begun, number)]

    def _finish_call(self, call: ToolCall, number: int) -> list[Delta]:
        self.visible = True
        is_new = number not in self._begun_calls
        self._begun_calls.add(number)
        self._done_calls.add(number)
        self._note_call(call, number)
        before = [*self._close_thoughts(), *self._before_call()] if is_new else []
        return [*before, BlockDone(replace(self.call(call, number), native=self._passed_on(call)), number)]

    def _note_call(self, call: ToolCall, number: int) -> None:
        native = call.native
        if native is not None and self._carried(call) and self._calls_known.get(number) != native:
            self._new_calls[number] = self._calls_known[number] = native

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

    def _carried(self, block: Text | ToolCall) -> bool:
        """Whether the native data of `block` has to be carried: the client would not give it back by itself."""
        native = block.native or {}
        return bool(native.keys() & _SIGNATURES if self._is_own else native.keys() - {"refusal"})

    def _shown(self, block: Block) -> Block:
        """A block that never grows, as the client may see it."""
        return block if self._is_own or block.native is None else replace(block, native=None)

    # --- carriers -----------------------------------------------------------------------------------------------------

    @property
    def _has_news(self) -> bool:
        """Whether something is known that no carrier holds."""
        return bool(self._new_texts or self._new_calls or self._thought_more)

    @property
    def _thought_more(self) -> bool:
        return any(map(self._is_new, self._touched.values()))

    def _is_new(self, thought: _Thought) -> bool:
        if thought.is_done and not thought.is_settled:
            return True
        return thought.start >= 0 if self.quotes else len(thought.part.text) > thought.carried

    def _carrier(self, beside: str | None) -> str:
        """A carrier of all that is new; `beside` is the thinking text that it stands beside."""
        touched = [self._touched[number] for number in sorted(self._touched)]
        thoughts = tuple(self._carry(thought) for thought in touched if self._is_new(thought))
        kept = Kept(
            answer=self._answer_id,
            route=self._route,
            origin=Origin() if self._target is None else self._target.origin(self.served),
            thoughts=thoughts,
            texts=tuple(self._new_texts),
            calls=dict(self._new_calls),
            beside=None if beside is None else text_digest(beside),
            visible=self._digest,
        )
        self._touched.clear()
        self._new_texts.clear()
        self._new_calls.clear()
        self._carriers += 1
        return spell(self._sealer.seal(kept, self._delivery.tenant))

    def _carry(self, thought: _Thought) -> Thought:
        """`thought`, or what is new of it."""
        written = thought.part.text
        native = thought.native if not thought.is_settled else None
        is_other = thought.is_done and thought.text != written
        text = thought.text if is_other else None if self.quotes else written
        start, end = (0, 0) if thought.start < 0 or text is not None else (thought.start, thought.end)
        thought.start = thought.end = -1
        thought.carried = len(written)
        thought.is_settled = thought.is_done or thought.is_settled
        return Thought(thought.number, native, text, start, end, thought.chars, thought.calls)

    def _carrying(self, text: str) -> Thinking:
        """A thought of the client's that says `text` and carries all that is new."""
        number = self._carriers
        return carrying_thought(self._door, text, self._carrier(text if self.quotes else None), number)


class InBlocks(Retelling):
    """For clients whose thoughts are blocks of their own, which they send back whole."""

    quotes = True

    def _close_thoughts(self) -> list[Delta]:
        if not self._run.pieces:
            return self._standing_alone() if self._thought_more else []
        run, self._run = self._run, Part(Thinking())
        return [BlockDone(self._carrying(run.text))]

    def _before_call(self) -> list[Delta]:
        return self._standing_alone() if self._has_news else []

    def _last(self) -> list[Delta]:
        return self._standing_alone() if self._has_news else []

    def _standing_alone(self) -> list[Delta]:
        """A carrier where there is nothing to show."""
        return [BlockDone(self._carrying(""))]


class UnseenInBlocks(InBlocks):
    """The same for clients that did not ask to see what is thought: a carrier has the text, too."""

    quotes = False
    shows = False


class AtTheEnd(Retelling):
    """For clients of the chat family, whose messages have one field for everything that was thought."""

    def _last(self) -> list[Delta]:
        return [BlockDone(self._carrying(""))] if self._has_news else []


class InChunks(AtTheEnd):
    """For Mistral's client, to which a thought is a chunk of the content."""

    def _opening(self) -> Thinking:
        return Thinking(native={"chunk": True})


class Nowhere(Retelling):
    """For clients that did not ask for thinking and cannot pass over it."""

    shows = False


def _is_refusal(block: Block) -> bool:
    return bool((block.native or {}).get("refusal"))
