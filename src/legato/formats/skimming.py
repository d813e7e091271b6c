"""Know that nothing is wrong with the calls of a session, without building its conversation.

In:  what each record of a session has to do with calls, in the order in which it is said.
Out: that no fault can be found in it (see `faults`), or that this is not certain and takes a closer look.

Nearly every session is sound: each call has an id of its own and one result, which comes before anyone says anything
else. To see that, ids are enough, and comparing them takes a fraction of the time that recording the conversation
does. This never finds a fault and never calls one harmless: whatever it does not expect is left to `find_faults`, and a
property compares both (docs/decisions/0022).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from legato.formats.draft import DocumentDraft
from legato.formats.ids import is_plain_id
from legato.model import (
    Authority,
    Block,
    Ending,
    Entry,
    Media,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)


class Gist(Struct, gc=False):
    """What a record has to do with calls. Results come first in it, and what a person says after them.

    `answer` keys the answer that a record of the model is part of; an answer without a key is one record.
    `is_visible` says that there is a call in it, or a text that can be seen. What `is_odd` takes a closer look.
    """

    is_answer: bool = False
    answer: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    is_visible: bool = False
    has_words: bool = False
    is_odd: bool = False


ODD = Gist(is_odd=True)


def is_sound(gists: Iterable[Gist]) -> bool:
    """Whether the conversation of these records certainly has no fault in its calls."""
    seen: set[str] = set()
    waiting: set[str] = set()
    """calls of the newest answer that have no result yet"""
    visible: dict[str, bool] = {}
    """by the key of an answer, whether there is anything to be seen in it so far"""
    newest = ""
    """the key of the answer after which no one has said anything"""
    for gist in gists:
        if gist.is_odd:
            return False
        if gist.is_answer:
            key = gist.answer
            if key and key == newest:
                visible[key] |= gist.is_visible
            elif waiting or (key in visible if key else not gist.is_visible):
                return False  # it comes before all results, goes on behind what others said, or says nothing
            else:
                newest, visible[key] = key, gist.is_visible
            for call in gist.calls:
                if call in seen or not is_plain_id(call):
                    return False
                seen.add(call)
            waiting.update(gist.calls)
            continue
        for result in gist.results:
            if result not in waiting:
                return False
            waiting.remove(result)
        if gist.has_words:
            if waiting:
                return False
            newest = ""
    return not waiting and all(visible.values())


def gist_of(parts: Iterable[tuple[Speaker, Iterable[Block]]], *, answer: str = "") -> Gist:
    """The gist of a record that was read: the blocks of each speaker in it."""
    calls: list[str] = []
    results: list[str] = []
    is_answer = is_visible = has_words = False
    for speaker, blocks in parts:
        is_answer = speaker is Speaker.AI
        for block in blocks:
            match speaker, block:
                case Speaker.AI, ToolCall():
                    calls.append(block.wire_id)
                    is_visible = True
                case Speaker.AI, Text():
                    is_visible |= not (not block.text or block.text.isspace())
                case Speaker.AI, Thinking():
                    pass
                case Speaker.TOOL, ToolResponse(reason=None) if not has_words:
                    results.append(block.wire_id)
                case Speaker.HUMAN, Media():
                    has_words = True
                case Speaker.HUMAN, Text() if block.text and not block.text.isspace():
                    has_words = True
                case _:
                    return ODD
    return Gist(is_answer, answer, tuple(calls), tuple(results), is_visible, has_words)


class SkimmingDraft(DocumentDraft):
    """A draft for a reader that adds entries one after the other: the gist of each is kept in place of it."""

    def __init__(self, format: str, name: str) -> None:  # noqa: A002  # a format is a format
        super().__init__(format, name)
        self.gists: list[Gist] = []

    def say(
        self,
        speaker: Speaker,
        blocks: Iterable[Block],
        place: str,
        *,
        source: int = -1,
        origin: Origin | None = None,
        answer: str | None = None,
        ending: Ending | None = None,
        authority: Authority = Authority.PERSON,
    ) -> bool:
        """Tell the gist of an entry; whether there was anything in it."""
        kept = tuple(blocks)
        if kept:
            self.tell(gist_of([(speaker, kept)], answer=answer or ""))
        return bool(kept)

    def tell(self, gist: Gist) -> None:
        """Add the gist of an entry; all entries look alike, and their number is right."""
        self.gists.append(gist)
        self.entries.append(_ENTRY)

    def end_answer(self, ending: Ending) -> None:
        """How an answer ended makes no call right or wrong."""

    def count(self, usage: Usage) -> None:
        """Nor does what it took."""

    def keep_no_entries(self) -> bool:
        """Finish as a document that was skimmed; false, with nothing done, if it has to be read."""
        if not self.gists or not is_sound(self.gists):
            return False
        self.entries, self.compactions, self.is_skimmed = [], [], True
        return True


_ENTRY = Entry(Speaker.HUMAN, (Text("skimmed"),))
