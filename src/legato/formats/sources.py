"""Where bytes come from: a value in memory, a file, a stream such as standard input.

Only the beginning is looked at before someone decides how to read the rest. Where that does not say enough, the rest is
looked through piece by piece, so that a gigabyte of anything costs little memory. A file of lines is handed out in
pieces; a file that is one JSON value has to fit into memory and is refused above `MAX_JSON_BYTES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

from legato.errors import FormatError, UnknownFormat
from legato.model.hashing import RunningDigest
from legato.model.ingestion import MAX_JSON_BYTES

HEAD_BYTES = 64 * 1024
"""bytes of a file that are looked at to tell what it is: our choice, more than the first records take"""

MAX_HEAD_BYTES = 80 * 1024 * 1024
"""the longest beginning that is looked at: more than the longest line that is read"""
_PIECE = 1024 * 1024
"""bytes that are read at once: our choice, large enough that their number does not count"""


@runtime_checkable
class Readable(Protocol):
    """A binary stream."""

    def read(self, size: int, /) -> bytes: ...


Data: TypeAlias = "bytes | bytearray | memoryview | str | os.PathLike[str] | Readable"
"""bytes, the path of a file, or a binary stream; a `str` is a path"""

Progress: TypeAlias = "Callable[[int], None]"
"""called with the number of bytes that were read so far"""


class Source:
    """Bytes that are read once, after a look at the beginning."""

    def __init__(
        self,
        name: str,
        pieces: Iterator[bytes],
        size: int | None,
        progress: Progress | None = None,
        again: Callable[[], Iterator[bytes]] | None = None,
    ) -> None:
        self.name = name
        self.size = size
        self.path: Path | None = None
        """where the bytes are on the disk, if they are there"""
        self.is_only_judged = False
        """whether what is read is judged and let go: then no digest is made, and no line is kept to be written again"""
        self._pieces = pieces
        self._again = again
        self._progress = progress
        self._hash = RunningDigest()
        self._count = 0
        self._whole: bytes | None = None
        self.head = b""
        self.is_whole = False
        """whether `head` is everything"""
        self._look_ahead(HEAD_BYTES)

    def look_further(self) -> bool:
        """Make `head` several times as long; false if it is everything already, or as long as it may become."""
        before = len(self.head)
        if not self.is_whole and before < MAX_HEAD_BYTES:
            self._look_ahead(min(4 * before, MAX_HEAD_BYTES))
        return len(self.head) > before

    def _look_ahead(self, length: int) -> None:
        pieces = [self.head]
        count = len(self.head)
        while count < length:
            piece = next(self._pieces, b"")
            if not piece:
                self.is_whole = True
                break
            pieces.append(piece)
            count += len(piece)
        self.head = b"".join(pieces)

    def scan(self) -> Iterator[bytes]:
        """Everything in pieces, only to look at: `pieces` gives it all again.

        A stream can be read once, so of that only as much is shown as is kept in memory.
        """
        if self._again is not None:
            yield from self._again()
            return
        yield self.head
        seen = len(self.head)
        while self.look_further():
            yield self.head[seen:]
            seen = len(self.head)

    def pieces(self) -> Iterator[bytes]:
        """Everything, in pieces of about a megabyte; in one, where it was read as a whole before."""
        if self._whole is not None:
            yield self._whole
            return
        if self.head:
            yield self._seen(self.head)
        if not self.is_whole:
            for piece in self._pieces:
                yield self._seen(piece)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        return self._again is None

    def begin_again(self) -> None:
        """Let `pieces` give everything once more, unless it is a stream."""
        if self._again is not None:
            self._pieces, self.head, self.is_whole, self._count = self._again(), b"", False, 0
            self._look_ahead(HEAD_BYTES)

    def whole(self) -> bytes:
        """Everything at once, as often as it is asked for; raises `FormatError` if that is too much."""
        if self._whole is None:
            data = bytearray()
            self._refuse_more_than_fits(self.size or 0)
            for piece in self.pieces():
                data += piece
                self._refuse_more_than_fits(len(data))  # a stream does not say how long it is, and a file may grow
            self._whole = bytes(data)
        return self._whole

    def _refuse_more_than_fits(self, count: int) -> None:
        if count > MAX_JSON_BYTES:
            raise FormatError(
                f"{self.name}: one JSON value of more than {MAX_JSON_BYTES // 2**20} MB is not read; "
                "split it, or write it as lines"
            )

    def digest(self) -> str:
        """The digest of what was read so far; empty if it is only judged."""
        return "" if self.is_only_judged else self._hash.name()

    def _seen(self, piece: bytes) -> bytes:
        if not self.is_only_judged:
            self._hash.add(piece)
        self._count += len(piece)
        if self._progress is not None:
            self._progress(self._count)
        return piece


def open_source(data: Data, *, name: str = "", progress: Progress | None = None) -> Source:
    """`data` as a source; raises `FormatError` for what cannot be read or holds nothing."""
    if isinstance(data, bytes | bytearray | memoryview):
        whole = bytes(data)
        again = partial(_cut, whole)
        source = Source(name or "input", again(), len(whole), progress, again)
    elif isinstance(data, str | os.PathLike):
        path = Path(data)
        source = _open_file(path, name or str(path), progress)
    else:
        stream = data
        named = name or str(getattr(stream, "name", "")) or "input"
        source = Source(named, _read_stream(stream, named), None, progress)
    if source.is_whole and not source.head.strip(b"\0\xef\xbb\xbf \t\r\n"):
        raise UnknownFormat(f"{source.name}: the file is empty; there is nothing to read")
    return source


def _open_file(path: Path, name: str, progress: Progress | None) -> Source:
    if path.is_dir():
        raise FormatError(f"{name}: this is a directory; name a file in it")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise FormatError(f"{name}: {_reason(error)}") from None
    if not path.is_file():  # a pipe has a name, and can be read only once
        return Source(name, _read_path(path, name), None, progress)
    again = partial(_read_path, path, name)
    source = Source(name, again(), size, progress, again)
    source.path = path
    return source


def _cut(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))


def _read_path(path: Path, name: str) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from _read_stream(file, name)
    except OSError as error:
        raise FormatError(f"{name}: {_reason(error)}") from None


def _read_stream(stream: Readable, name: str) -> Iterator[bytes]:
    try:
        while piece := cast("bytes | str", stream.read(_PIECE)):
            yield piece.encode() if isinstance(piece, str) else piece
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{name}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {said[:1].lower()}{said[1:]}"
