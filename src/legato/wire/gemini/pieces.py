"""The piece of a response that brings more of a text or a thought.

Names may be in snake_case, so a field that is not known here may be one that is: it takes a closer look.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field
from msgspec.json import Decoder


class GrowingPart(Struct, gc=False):
    """A part of text; beside one, whatever else it holds is not looked at."""

    text: str
    thought: bool | None = None
    signature: None = field(name="thoughtSignature", default=None)
    thought_signature: None = None


class GrowingContent(Struct, gc=False):
    """What is said."""

    parts: tuple[GrowingPart]


class GrowingCandidate(Struct, forbid_unknown_fields=True, gc=False):
    """The one answer that was asked for, and that goes on."""

    content: GrowingContent
    index: Raw = Raw()
    ratings: Raw = field(name="safetyRatings", default=Raw())
    probability: Raw = field(name="avgLogprobs", default=Raw())
    tokens: Raw = field(name="tokenCount", default=Raw())


class StreamPiece(Struct, forbid_unknown_fields=True, gc=False):
    """The piece."""

    candidates: tuple[GrowingCandidate]
    usage: dict[str, Any] | None = field(name="usageMetadata", default=None)
    model: Raw = field(name="modelVersion", default=Raw())
    response: Raw = field(name="responseId", default=Raw())
    created: Raw = field(name="createTime", default=Raw())


PIECES = Decoder(StreamPiece)
