"""How many tokens a request has, before its provider counts them.

Bytes by default, corrected for each route by what its provider last reported for a request whose size we know. Only the
ratio is kept, never an absolute count, so a figure from before a compaction or from another model cannot mislead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from legato.model import Media, MediaKind

BYTES_PER_TOKEN = 3.6
"""a careful average over prose, code and JSON for current tokenizers"""

_PLAUSIBLE = (1.0, 12.0)

_MEDIUM_TOKENS = 1_600
"""what a picture of usual size costs; its bytes say nothing about it"""
_MEDIUM_BYTES_PER_TOKEN = 50
"""base64 of a document or a recording for one token, roughly"""


def medium_tokens(medium: Media) -> int:
    """What an attachment costs, roughly."""
    if medium.kind is MediaKind.IMAGE:
        return _MEDIUM_TOKENS
    return max(_MEDIUM_TOKENS, len(medium.data or "") // _MEDIUM_BYTES_PER_TOKEN)


class Estimator:
    """Estimates tokens from bytes, one ratio for each route. `count` is an exact tokenizer, where there is one."""

    def __init__(self, count: Callable[[bytes], int] | None = None) -> None:
        self._count = count
        self._ratios: dict[str, float] = {}

    def tokens(self, route: str, data: bytes) -> int:
        """The tokens of `data` on `route`."""
        return self._count(data) if self._count else self.of_size(route, len(data))

    def tokens_of(self, route: str, pieces: Sequence[bytes]) -> int:
        """The tokens of `pieces` of JSON with commas between them."""
        if self._count:
            return self._count(b",".join(pieces))
        return self.of_size(route, sum(map(len, pieces)) + max(len(pieces) - 1, 0))

    def tokens_of_text(self, route: str, text: str) -> int:
        """The tokens of `text`; it is encoded only where its length does not say how many bytes it has."""
        if self._count is None and text.isascii():
            return self.of_size(route, len(text))
        return self.tokens(route, text.encode())

    def tokens_with_media(self, route: str, data: bytes, media: Iterable[Media]) -> int:
        """The tokens of `data`, in which some of `media` may be printed."""
        extra = 0
        for medium in media:
            raw = (medium.data or "").encode()
            if raw in data:  # it is printed; what it costs does not follow from its bytes
                data = data.replace(raw, b"") if raw else data
                extra += medium_tokens(medium)
        return self.tokens(route, data) + extra

    def observe_with_media(self, route: str, data: bytes, media: Iterable[Media], tokens: int) -> None:
        """A provider counted `tokens` for the request `data`, in which some of `media` may be printed."""
        size = len(data)
        for medium in media:
            raw = (medium.data or "").encode()
            if raw and raw in data:
                size -= len(raw) * data.count(raw)
                tokens -= medium_tokens(medium)
        self.observe(route, size, tokens)

    def of_size(self, route: str, size: int) -> int:
        """The tokens of `size` bytes on `route`."""
        return round(size / self._ratios.get(route, BYTES_PER_TOKEN))

    def observe(self, route: str, size: int, tokens: int) -> None:
        """A provider counted `tokens` for a request of `size` bytes."""
        if tokens > 0 and _PLAUSIBLE[0] <= size / tokens <= _PLAUSIBLE[1]:
            self._ratios[route] = size / tokens
