"""Recognise what we put into a request ourselves, when such a request is read back in.

Bridges, the tail, the marks of instructions and failures, the words for an empty result, closures, attachments that
were moved behind their results: none of it was said by anybody. It is taken out or given back here, for every dialect
alike, so that a transcript that goes out and comes back does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from legato.model import (
    CLOSURE_TEXTS,
    UNMINTED,
    Block,
    Entry,
    Media,
    Speaker,
    Text,
    ToolResponse,
    recognise_closure,
)
from legato.wire.phrases import (
    ANSWER_BRIDGE,
    CONTINUE,
    EMPTY_RESULT,
    ERROR_MARK,
    HUMAN_BRIDGE,
    INSTRUCTION_MARK,
    MEDIA_CAPTION,
    MEDIA_FOLLOWS,
)

RESULT_OPENINGS = frozenset(mark[0] for mark in (*CLOSURE_TEXTS.values(), ERROR_MARK, EMPTY_RESULT))
"""the first letters of a result that may hold something of ours"""
HUMAN_OPENINGS = frozenset(mark[0] for mark in (HUMAN_BRIDGE, CONTINUE, MEDIA_CAPTION, INSTRUCTION_MARK))
"""the first letters of a human message that may"""
_BARE_MARK = INSTRUCTION_MARK.strip()


# --- results ----------------------------------------------------------------------------------------------------------


def read_result(
    text: str, wire_id: str, tool_name: str, media: tuple[Media, ...] = (), *, failed: bool = False
) -> ToolResponse:
    """The response that `text` stands for. `failed` says that it was flagged as a failure; else a mark may say so."""
    if not failed and text[:1] not in RESULT_OPENINGS:
        return ToolResponse(UNMINTED, wire_id, tool_name, text, None, True, media)  # it is complete
    closure = read_closure(text, wire_id=wire_id, tool_name=tool_name)
    if closure is not None:
        return closure
    if text.startswith(ERROR_MARK):
        text, failed = text.removeprefix(ERROR_MARK), True
    text = "" if text == EMPTY_RESULT else text
    result, error = (None, text) if failed else (text, None)
    return ToolResponse(UNMINTED, wire_id, tool_name, result, error, True, media)


def read_closure(text: str, *, wire_id: str, tool_name: str) -> ToolResponse | None:
    """The response that `text` stands for if it is one of our closures: none that counts against a real result."""
    closure = recognise_closure(text)
    if closure is None:
        return None
    return ToolResponse(
        wire_id=wire_id,
        tool_name=tool_name,
        result=closure.output,
        reason=closure.reason,
        said=closure.said,
        synthetic=True,
    )


# --- what nobody said -------------------------------------------------------------------------------------------------


def is_filler(blocks: Sequence[Block], before: Entry | None, *, is_last: bool) -> bool:
    """Whether a human message after `before` is a bridge, or the tail of a request that would end on an answer."""
    if len(blocks) != 1 or not isinstance(block := blocks[0], Text):
        return False
    if block.text == HUMAN_BRIDGE:
        return True
    ends_on_answer = is_last and before is not None and before.speaker is Speaker.AI and not before.calls
    return ends_on_answer and block.text == CONTINUE


def is_answer_bridge(text: object, before: Entry | None) -> bool:
    """Whether an answer of `text` only keeps the results in `before` and a human message apart."""
    return text == ANSWER_BRIDGE and before is not None and before.speaker is Speaker.TOOL


def read_instruction(blocks: Sequence[Block]) -> list[Block] | None:
    """What a marked human message instructs; None if it is not marked."""
    for number, block in enumerate(blocks):
        if isinstance(block, Text):
            if block.text.strip() == _BARE_MARK:
                return [*blocks[:number], *blocks[number + 1 :]]
            if not block.text.startswith(INSTRUCTION_MARK):
                return None
            return [*blocks[:number], Text(block.text.removeprefix(INSTRUCTION_MARK)), *blocks[number + 1 :]]
    return None


# --- attachments that were moved --------------------------------------------------------------------------------------

_Place: TypeAlias = tuple[int, int]
"""an entry and a block in it"""

_Found: TypeAlias = dict[_Place, tuple[ToolResponse, list[Media]]]


def reunite(
    entries: list[Entry], ends: dict[int, int], blocks: Sequence[Block], number: int, *, joined: bool = False
) -> list[Block]:
    """Give the media in `blocks`, the human message of that `number` after `entries`, back to their results.

    They stand under captions that name the tool, and the results say that their media follow. Their entry `ends` with
    this message then. Returns what remains of the message: all of it, if it holds anything else, unless words of a
    person were `joined` to ours.
    """
    found: _Found = {}
    place: _Place | None = None
    taken = 0
    for index, block in enumerate(blocks):
        if isinstance(block, Media) and place is not None:
            found[place][1].append(block)
            taken = index + 1
            continue
        place = _announced(entries, block.text, found) if isinstance(block, Text) else None
        if place is None:
            break
    if not joined and taken < len(blocks):
        return list(blocks)
    for (at, block_index), (response, media) in found.items():
        if media:
            responses = list(entries[at].blocks)
            responses[block_index] = replace(response, media=(*response.media, *media))
            entries[at] = replace(entries[at], blocks=tuple(responses))
            ends[at] = number
    return list(blocks[taken:])


def _announced(entries: list[Entry], caption: str, found: _Found) -> _Place | None:
    """The first result since the last human word that said that the media under `caption` follow; joins `found`."""
    if not caption.startswith(MEDIA_CAPTION[:1]):
        return None
    first = len(entries)
    while first and entries[first - 1].speaker is not Speaker.HUMAN:
        first -= 1
    for at in range(first, len(entries)):
        for index, response in enumerate(entries[at].blocks):
            if not isinstance(response, ToolResponse) or (at, index) in found:
                continue
            plain = _without_announcement(response)
            if plain is not None and caption == MEDIA_CAPTION.format(tool=response.tool_name):
                found[at, index] = (plain, [])
                return at, index
    return None


def _without_announcement(response: ToolResponse) -> ToolResponse | None:
    """A response without the line that says its media follow; None if it does not say so."""
    text = response.result if response.error is None else response.error
    if not isinstance(text, str) or not text.endswith(MEDIA_FOLLOWS):
        return None
    text = text.removesuffix(MEDIA_FOLLOWS).removesuffix("\n")
    if response.error is None:
        return replace(response, result=text)
    return replace(response, error=text)
