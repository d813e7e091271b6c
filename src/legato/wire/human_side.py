"""What the human side said, as the parts of one message, for dialects whose messages stand alone.

In:  the blocks of a human-side unit, and the dialect's own text and media parts.
Out: a part for every block. A medium that the target cannot take is named instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from legato.model import Capabilities, Code, Decision, JsonObject, Media, Text
from legato.transcript.units import SaidBlock
from legato.wire.phrases import INSTRUCTION_MARK, media_omitted
from legato.wire.plain import fenced
from legato.wire.projections import MEDIA_OMITTED


class HumanParts:
    """The parts of one dialect: `text_part` and `media_part`, which gives None for what the target cannot take."""

    def __init__(
        self,
        text_part: Callable[[str], JsonObject],
        media_part: Callable[[Media, Capabilities], JsonObject | None],
    ) -> None:
        self._text = text_part
        self._media = media_part

    def printed(
        self, blocks: Iterable[SaidBlock], capabilities: Capabilities, decisions: list[Decision]
    ) -> list[JsonObject]:
        """A part for each of `blocks`."""
        return [self._part(block, capabilities, decisions) for block in blocks]

    def _part(self, block: SaidBlock, capabilities: Capabilities, decisions: list[Decision]) -> JsonObject:
        match block:
            case Text():
                return self._text(block.text)
            case Code():
                return self._text(fenced(block))
            case Media():
                part = self._media(block, capabilities)
                if part is None:
                    decisions.append(MEDIA_OMITTED)
                    return self._text(media_omitted(block.kind, block.mime))
                return part
            case _:
                assert_never(block)

    def mark(self, parts: list[JsonObject]) -> None:
        """Mark an instruction: its first text, or before parts that hold none."""
        for index, part in enumerate(parts):
            if "text" in part:
                parts[index] = self._text(INSTRUCTION_MARK + part["text"])
                return
        parts.insert(0, self._text(INSTRUCTION_MARK.strip()))
