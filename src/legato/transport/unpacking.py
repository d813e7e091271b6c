"""Compressed bodies, unpacked a little at a time.

In:  the value of `Content-Encoding`, and the body as it arrives.
Out: the bytes that were packed, in steps of at most `STEP`.

A kilobyte of a compressed body can hold a megabyte, and one of a hostile server always will. So nothing is unpacked
before someone asks for the next step, and the reader counts what comes out.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from legato.errors import BadAnswer

ACCEPTED = "gzip, deflate"
"""what a request says that its answer may be packed with"""

STEP = 64 * 1024
"""bytes; our choice: as much as `intake` decodes in one go"""


def unpacker_for(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """What unpacks the pieces of a body with this `Content-Encoding`; raises `BadAnswer` if nothing here does."""
    applied = [name for part in encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    match applied:
        case []:
            return _as_it_is
        case ["gzip" | "x-gzip"]:
            return Unpacker(zlib.MAX_WBITS | 16).steps
        case ["deflate"]:
            return Unpacker(zlib.MAX_WBITS, -zlib.MAX_WBITS).steps
        case _:
            raise BadAnswer(f"it is packed with {encoding[:100]!r}, and the request allows only {ACCEPTED}")


def _as_it_is(data: bytes) -> Iterator[bytes]:
    yield data


class Unpacker:
    """Unpacks one body. `windows` are the forms that it may have, the likeliest first.

    Servers disagree what `deflate` means, with or without the envelope of zlib; the first bytes tell.
    """

    def __init__(self, *windows: int) -> None:
        self._windows = list(windows)
        self._engine = zlib.decompressobj(self._windows[0])
        self._has_begun = False

    def steps(self, data: bytes) -> Iterator[bytes]:
        """What `data` adds, step by step; raises `BadAnswer` if it is damaged. What follows the end is left out."""
        while data and not self._engine.eof:
            step = self._step(data)
            data = self._engine.unconsumed_tail
            if step:
                yield step

    def _step(self, data: bytes) -> bytes:
        try:
            step = self._engine.decompress(data, STEP)
        except zlib.error:
            if self._has_begun or len(self._windows) == 1:
                raise BadAnswer("it was packed, and damaged on its way") from None
            del self._windows[0]
            self._engine = zlib.decompressobj(self._windows[0])
            return self._step(data)
        self._has_begun = True
        return step
