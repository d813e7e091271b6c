"""Give media that were printed after the results of an exchange back to the results they belong to.

A target that takes no images in results gets them in a message of their own, under a caption that names the tool; the
result says that its media follow. Reading such a request, the message is no word of a person.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from legato.model import Block, Entry, Media, Speaker, Text, ToolResponse
from legato.wire.phrases import MEDIA_CAPTION, MEDIA_FOLLOWS

_Place: TypeAlias = tuple[int, int]
"""an entry and a block in it"""

_Found: TypeAlias = dict[_Place, tuple[ToolResponse, list[Media]]]


def reunite(entries: list[Entry], blocks: list[Block]) -> bool:
    """Move the media in `blocks`, a message after `entries`, to their results; false if it is anything else."""
    found: _Found = {}
    place: _Place | None = None
    for block in blocks:
        if isinstance(block, Media) and place is not None:
            found[place][1].append(block)
            continue
        place = _announced(entries, block.text, found) if isinstance(block, Text) else None
        if place is None:
            return False
    for (at, index), (response, media) in found.items():
        responses = list(entries[at].blocks)
        responses[index] = msgspec.structs.replace(response, media=(*response.media, *media))
        entries[at] = msgspec.structs.replace(entries[at], blocks=tuple(responses))
    return bool(found)


def _announced(entries: list[Entry], caption: str, found: _Found) -> _Place | None:
    """The first result since the last human word that said that the media under `caption` follow; joins `found`."""
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
        return msgspec.structs.replace(response, result=text)
    return msgspec.structs.replace(response, error=text)
