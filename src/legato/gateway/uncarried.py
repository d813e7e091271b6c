"""What is known of an answer and no carrier holds yet.

In:  thoughts while they are told, native data of texts and calls as it becomes known.
Out: what goes into the next carrier. Everything goes into one, once; of a thought that its provider has not ended when
     a carrier is sealed, the rest goes into a later one.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from legato.gateway.carriers import KeptThought, SignedText
from legato.model import JsonObject, Thinking
from legato.wire.growing import Part


class ToldThought(Struct, eq=False):
    """A thought while it is told."""

    number: int
    chars: int
    calls: int
    """how much of the visible answer came before it"""
    part: Part
    start: int = -1
    end: int = -1
    """which characters of the client's open thought belong to it and are not carried yet; -1 if there are none"""
    native: JsonObject | None = None
    text: str = ""
    """all of it, as its provider says in the end"""
    is_done: bool = False
    is_settled: bool = True
    """whether what its provider said in the end was carried"""
    carried: int = 0
    """how many characters were carried"""

    @property
    def is_other(self) -> bool:
        """Whether its provider says in the end that it was not what was told."""
        return self.is_done and self.text != self.part.text


class Taken(NamedTuple):
    """What a carrier is to hold."""

    thoughts: tuple[KeptThought, ...]
    texts: tuple[SignedText, ...]
    calls: dict[int, JsonObject]


class Uncarried:
    """Collects what is to be carried of one attempt. With `quotes`, thoughts are spans of what the client is shown."""

    def __init__(self, *, quotes: bool) -> None:
        self._quotes = quotes
        self.thoughts: list[ToldThought] = []
        self._touched: dict[int, ToldThought] = {}
        """those of which there may be something new"""
        self._known_texts: set[int] = set()
        self._known_calls: dict[int, JsonObject] = {}
        self._texts: list[SignedText] = []
        self._calls: dict[int, JsonObject] = {}

    def __bool__(self) -> bool:
        """Whether there is something to carry."""
        return bool(self._texts or self._calls or self.has_thoughts)

    @property
    def has_thoughts(self) -> bool:
        """Whether there are thoughts among it."""
        return any(map(self._is_new, self._touched.values()))

    def begin_thought(self, chars: int, calls: int) -> ToldThought:
        """Another thought begins, after so much of the visible answer."""
        self.thoughts.append(ToldThought(len(self.thoughts), chars, calls, Part(Thinking())))
        return self.thoughts[-1]

    def grown(self, thought: ToldThought) -> None:
        """There is more of `thought`."""
        self._touched[thought.number] = thought

    def done(self, thought: ToldThought, block: Thinking) -> None:
        """`block` is what `thought` came to."""
        thought.native, thought.text, thought.is_done = block.native, block.text, True
        thought.is_settled = block.native is None and not thought.is_other
        self._touched[thought.number] = thought

    def note_text(self, number: int, text: SignedText) -> None:
        """The text of that number has native data."""
        if number not in self._known_texts:
            self._known_texts.add(number)
            self._texts.append(text)

    def note_call(self, number: int, native: JsonObject) -> None:
        """The call of that number has native data, perhaps more than it seemed to have."""
        if self._known_calls.get(number) != native:
            self._calls[number] = self._known_calls[number] = native

    def foresee(self, other: Uncarried) -> None:
        """Texts and calls will be what `other` found them to be."""
        self._texts, self._known_texts = list(other._texts), set(other._known_texts)
        self._calls, self._known_calls = dict(other._calls), dict(other._known_calls)

    def take(self) -> Taken:
        """All of it, which is then carried."""
        touched = [self._touched[number] for number in sorted(self._touched)]
        taken = Taken(
            tuple(self._carried(thought) for thought in touched if self._is_new(thought)),
            tuple(self._texts),
            dict(self._calls),
        )
        self._touched.clear()
        self._texts.clear()
        self._calls.clear()
        return taken

    def _is_new(self, thought: ToldThought) -> bool:
        if thought.is_done and not thought.is_settled:
            return True
        return thought.start >= 0 if self._quotes else len(thought.part.text) > thought.carried

    def _carried(self, thought: ToldThought) -> KeptThought:
        """What is new of `thought`: a span more, or all of its text so far; and how it ended, if it has."""
        written = thought.part.text
        text = thought.text if thought.is_other else None if self._quotes else written
        start, end = (thought.start, thought.end) if text is None and thought.start >= 0 else (0, 0)
        native = None if thought.is_settled else thought.native
        thought.start = thought.end = -1
        thought.carried = len(written)
        thought.is_settled = thought.is_settled or thought.is_done
        return KeptThought(thought.number, native, text, start, end, thought.chars, thought.calls)
