"""Check that two files contain the same conversation.

In:  the documents of a file before and after repair.
Out: the first difference, or None.

What counts is what a model would be told: who said what in which order, and each call with its arguments and result. A
call without a result equals a call whose result says that there is none. Ids, thinking, the split of text into blocks,
and filler that only satisfies a provider do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from legato.formats.document import Document, FileNote
from legato.formats.faults import EVERYTHING, places_of
from legato.formats.patching.quotation import read_quotation
from legato.model import Authority, Code, HostedTool, Media, Text, ToolCall
from legato.transcript.slots import SlotKind
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Summary, Unit, completion_text
from legato.wire.phrases import BRIDGES

_RUNS = ("human", "model", "instruction")
_ORPHAN = "a result without a call"


class _Told(NamedTuple):
    """One element of a conversation: the speaker or call, its words, its place, and for a call the result."""

    who: str
    words: str
    place: str
    result: str = ""
    is_open: bool = False
    """a call to which nothing came back"""


def first_difference(before: Document, after: Document) -> FileNote | None:
    """The first difference, with its place in `before`."""
    one, other = _words_before_open_calls(_retold(before)), _words_before_open_calls(_retold(after))
    was_told = _joined(item for item in one if item.who != _ORPHAN)
    now_told = _joined(_without_orphans(one, other))
    for was, now in zip_longest(was_told, now_told):
        if was is None or now is None or was[:2] != now[:2]:
            place = was.place if was is not None else ""
            return FileNote(place, f"it would read as another conversation: {_shown(was)} would become {_shown(now)}")
    return None


def _retold(document: Document) -> Iterator[_Told]:
    """The elements of a conversation. Results without a call are marked as such, however the file writes them."""
    talk = document.conversation()
    view = talk.view(EVERYTHING)
    view.refresh()
    place = places_of(document)
    yield _Told("instruction", talk.instructions, "")
    for index, slot in enumerate(view.slots):
        unit = view.unit(index)
        for told in _of_unit(unit, place(slot.first)) if unit is not None else ():
            if (quoted := read_quotation(told.words)) is not None:
                yield _Told(_ORPHAN, quoted.words, told.place)
            elif slot.kind is SlotKind.ORPHANS and told.result:
                yield _Told(_ORPHAN, told.result, told.place)
            else:
                yield told


def _words_before_open_calls(told: Iterable[_Told]) -> list[_Told]:
    """The elements with what the model said behind open calls before them.

    Where nothing came back, a file may hold both as one answer or as two, and in one answer their order does not count.
    """
    ordered: list[_Told] = []
    for item in told:
        place = len(ordered)
        while item.who == "model" and place and ordered[place - 1].is_open:
            place -= 1
        ordered.insert(place, item)
    return ordered


def _without_orphans(before: list[_Told], after: list[_Told]) -> Iterator[_Told]:
    """The elements of `after` without results that had no call before, be they quoted or given a call now."""
    orphans = Counter(item.words for item in before if item.who == _ORPHAN)
    known = Counter((item.who, item.words) for item in before)
    for item in after:
        if item.who == _ORPHAN:
            continue
        if known[item.who, item.words] > 0:
            known[item.who, item.words] -= 1
        elif item.result and orphans[item.result] > 0:
            orphans[item.result] -= 1
            continue
        yield item


def _of_unit(unit: Unit, place: str) -> Iterator[_Told]:
    match unit:
        case Said():
            who = "instruction" if unit.authority is Authority.INSTRUCTION else "human"
            for block in unit.blocks:
                yield _of_block(who, block, place)
        case Exchange():
            done = {completion.call_id: completion for completion in unit.completions}
            said = [block for block in unit.blocks if isinstance(block, Text | Media | Code | HostedTool)]
            for block in said:  # text first: its position relative to the calls does not count
                yield _of_block("model", block, place)
            for call in unit.calls:
                yield _of_call(call, done[call.id], place)
        case Summary():
            yield _Told("summary", unit.text, place)


def _of_call(call: ToolCall, done: Completion, place: str) -> _Told:
    arguments = call.raw or msgspec.json.encode(call.arguments, order="sorted").decode()
    media = "".join(f" {item.data or item.url}" for item in done.media)
    result = completion_text(done) if done.is_real else ""
    kind = done.kind if done.is_real else "no result"
    return _Told(f"the call of {call.name}", f"{arguments} {kind} {result}{media}", place, result, not done.is_real)


def _of_block(who: str, block: AnswerBlock, place: str) -> _Told:
    match block:
        case Text():
            return _Told(who, block.text, place)
        case Media():
            return _Told(f"{who}'s attachment", f"{block.mime} {block.data or block.url}", place)
        case Code():
            return _Told(who, block.code, place)
        case HostedTool():
            return _Told("hosted tool", block.name, place)
        case _:
            return _Told(who, "", place)


def _joined(told: Iterable[_Told]) -> list[_Told]:
    """The elements with adjacent text of one speaker joined, and without white space and filler."""
    joined: list[_Told] = []
    for item in told:
        bare = "".join(item.words.split())
        if not bare or item.words in BRIDGES:
            continue
        if joined and joined[-1].who == item.who and item.who in _RUNS:
            joined[-1] = joined[-1]._replace(words=joined[-1].words + bare)
        else:
            joined.append(item._replace(words=bare))
    return joined


def _shown(told: _Told | None) -> str:
    if told is None:
        return "nothing"
    words = told.words if len(told.words) <= 40 else f"{told.words[:39]}…"
    return f"{told.who} ({words})"
