"""Recognise what we put into a request ourselves, when such a request is read back in.

Bridges, the tail, the marks of instructions and failures, the words for an empty result, closures, attachments that
were moved behind their results: none of it was said by anyone. It is taken out or given back here, for every dialect
alike, so that a transcript that goes out and comes back does not grow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from legato.model import (
    CLOSURE_TEXTS,
    UNMINTED,
    Block,
    Entry,
    Json,
    JsonObject,
    Media,
    Speaker,
    Text,
    ToolResponse,
    clean_text,
    ingest,
    recognise_closure,
)
from legato.model.json_access import as_list, as_object, as_text
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
from legato.wire.undoable import UndoableMap

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


def read_parts(
    content: Json, path: str, read: Callable[[JsonObject, str], Text | Media | None], adjusted: list[str]
) -> tuple[list[str], tuple[Media, ...]]:
    """The texts and the media in the content of a result. `read` knows the parts of one dialect, with their places.

    One part that is in no list is a list of one. Anything else is what a tool gave all the same, so it is kept as its
    JSON, and `adjusted` says so; null is nothing.
    """
    is_list = isinstance(content, list)
    texts: list[str] = []
    media: list[Media] = []
    for at, item in enumerate(as_list(content) if is_list else [content]):
        place = f"{path}[{at}]" if is_list else path
        is_part = isinstance(item, dict)
        block = read(as_object(item), place) if is_part else Text(as_text(item)) if isinstance(item, str) else None
        if isinstance(block, Text):
            texts.append(block.text)
        elif block is not None:
            media.append(block)
        elif item is not None:
            texts.append(json_text(item))
            what = f"a part of type {as_object(item).get('type')!r}" if is_part else "what is neither text nor a part"
            adjusted.append(clean_text(f"{place}: {what} is kept as its JSON"))
    return texts, tuple(media)


def text_in(part: JsonObject) -> Text | None:
    """The text of a part that holds one; None if something else is in its place."""
    text = part.get("text")
    return Text(clean_text(text or "")) if isinstance(text, str | None) else None


def json_text(value: Json) -> str:
    """What a tool gave, other than text, as the model reads it."""
    return msgspec.json.encode(ingest(value)).decode()


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


# --- what no one said -------------------------------------------------------------------------------------------------


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


class _Announced(NamedTuple):
    """A result that said that its media follow: where it is, and what it is without saying so."""

    entry: int
    block: int
    response: ToolResponse


def reunite(
    entries: list[Entry], ends: UndoableMap[int, int], blocks: Sequence[Block], number: int, *, joined: bool = False
) -> list[Block]:
    """Give the media in `blocks`, the human message of that `number` after `entries`, back to their results.

    They are under captions that name the tool, and the results say that their media follow. Their entry `ends` with
    this message then. Returns what remains of the message: all of it, if it holds anything else, unless words of a
    person were `joined` to ours.
    """
    if not blocks or not _is_caption(blocks[0]):
        return list(blocks)
    announced = _announced(entries)
    found: list[tuple[_Announced, list[Media]]] = []
    taken = 0
    for index, block in enumerate(blocks):
        if isinstance(block, Media) and found:
            found[-1][1].append(block)
            taken = index + 1
        elif isinstance(block, Text) and (waiting := announced.get(block.text)):
            found.append((waiting.popleft(), []))
        else:
            break
    if not joined and taken < len(blocks):
        return list(blocks)
    _give_back(entries, ends, number, [(result, media) for result, media in found if media])
    return list(blocks[taken:])


def _is_caption(block: Block) -> bool:
    return isinstance(block, Text) and block.text.startswith(MEDIA_CAPTION[:1])


def _announced(entries: list[Entry]) -> dict[str, deque[_Announced]]:
    """The results since the last human word that said that their media follow, by the caption of those, in order."""
    first = len(entries)
    while first and entries[first - 1].speaker is not Speaker.HUMAN:
        first -= 1
    announced: dict[str, deque[_Announced]] = {}
    for at in range(first, len(entries)):
        for index, response in enumerate(entries[at].blocks):
            plain = _without_announcement(response) if isinstance(response, ToolResponse) else None
            if plain is not None:
                caption = MEDIA_CAPTION.format(tool=plain.tool_name)
                announced.setdefault(caption, deque()).append(_Announced(at, index, plain))
    return announced


def _give_back(
    entries: list[Entry], ends: UndoableMap[int, int], number: int, found: list[tuple[_Announced, list[Media]]]
) -> None:
    changed: dict[int, list[Block]] = {}
    for (at, index, response), media in found:
        if at not in changed:
            changed[at] = list(entries[at].blocks)
        changed[at][index] = replace(response, media=(*response.media, *media))
    for at, blocks in changed.items():
        entries[at] = replace(entries[at], blocks=tuple(blocks))
        ends.put(at, number)


def _without_announcement(response: ToolResponse) -> ToolResponse | None:
    """A response without the line that says its media follow; None if it does not say so."""
    text = response.result if response.error is None else response.error
    if not isinstance(text, str) or not text.endswith(MEDIA_FOLLOWS):
        return None
    text = text.removesuffix(MEDIA_FOLLOWS).removesuffix("\n")
    if response.error is None:
        return replace(response, result=text)
    return replace(response, error=text)
