"""A file whose format is settled, on its way to a reader.

A reader asks for `lines()` or for `value()`, whichever the file is made of, and finishes its drafts here, so that
digest, damage and the original records come with every document.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from legato.errors import FormatError, IngestError
from legato.formats.archive import Archive, open_archive
from legato.formats.database import Database, open_database
from legato.formats.document import Document, FileNote, Original, RawRecord
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object
from legato.formats.head import LAYOUTS, Head, Layout
from legato.formats.lines import LineReader, Marks
from legato.formats.sources import Source, open_source
from legato.model import Json, JsonObject, read_json_leniently


class Item(NamedTuple):
    """One record with its place and its index among the records that are kept (-1 where none are)."""

    place: str
    value: JsonObject
    source: int = -1


class Content:
    """What a reader is given."""

    def __init__(
        self,
        source: Source,
        format: str,  # noqa: A002  # a format is a format
        layout: Layout,
        head: Head,
        *,
        marks: Marks,
        keep: bool,
        wire: str = "",
    ) -> None:
        self.format = format
        self.layout = layout
        self.wire = wire
        """the format that requests inside the file are in, where the caller named it"""
        self.name = source.name
        self._source = source
        self._head = head
        self._marks = marks
        self._keep = keep
        self._kept: list[RawRecord] = []
        self._damage: list[FileNote] = []
        self._data = b""
        self._left_out: list[RawRecord] = []
        self._tail = b""
        self._size = 0
        self._value: Json = None

    @contextmanager
    def database(self) -> Generator[Database]:
        """The file as the database that it is."""
        self._see_all()
        with open_database(self._source) as database:
            yield database

    @contextmanager
    def archive(self) -> Generator[Archive]:
        """The file as the archive that it is."""
        self._see_all()
        with open_archive(self._source) as archive:
            yield archive

    def _see_all(self) -> None:
        for _ in self._source.pieces():
            pass  # the digest is that of all bytes

    def lines(self) -> Iterator[Item]:
        """The records of a file of lines."""
        if self.layout in (Layout.DATABASE, Layout.ARCHIVE):
            raise FormatError(f"{self.name}: this is {LAYOUTS[self.layout]}, and files of {self.format} are none")
        reader = LineReader(self._source.pieces(), self._marks, name=self.name)
        if self._source.is_only_judged:
            for index, (number, value) in enumerate(reader.values()):
                yield Item(f"line {number}", value, index if self._keep else -1)
        else:
            for index, line in enumerate(reader):
                if self._keep:
                    self._kept.append(line.raw)
                yield Item(line.raw.place, line.value, index if self._keep else -1)
        self._damage = reader.damage
        self._left_out, self._tail, self._size = reader.left_out, reader.tail, reader.size

    def items(self, *lists: str) -> Iterator[Item]:
        """The records of a file of lines, or of a value: a list, the first of `lists` in it, or the value itself."""
        if self.layout is Layout.LINES:
            yield from self.lines()
            return
        value = self.value()
        prefix = ""
        if isinstance(value, dict):
            holder = as_object(value)
            prefix = next((name for name in lists if isinstance(holder.get(name), list)), "")
            value = holder[prefix] if prefix else [holder]
        for index, item in enumerate(as_list(value)):
            if isinstance(item, dict):
                yield Item(f"{prefix}[{index}]", as_object(item), index)
            else:
                self._damage.append(FileNote(f"{prefix}[{index}]", "is no object and was left out"))

    def beside(self, pattern: str) -> Iterator[Item]:
        """The objects in files of that pattern below the folder of this one, in the order of their names."""
        if self._source.path is None:
            raise FormatError(f"{self.name}: the rest of it is in files beside it; name it by its path")
        folder = self._source.path.resolve().parent
        for path in sorted(folder.glob(pattern)):
            place = path.relative_to(folder).as_posix()
            try:
                value = read_json_leniently(open_source(path).whole())
            except (FormatError, IngestError) as error:
                self._damage.append(
                    FileNote(place, f"cannot be read and was left out: {error.message}", is_damage=True)
                )
                continue
            yield Item(place, as_object(value))

    def value(self) -> Json:
        """The value of a file that is one."""
        if self._head.layout is not Layout.WHOLE or self._head.error:
            reason = self._head.error or f"this is {LAYOUTS[self.layout]}, and not one JSON value"
            raise FormatError(f"{self.name}: {reason}")
        self._value = self._head.value
        if self._keep:
            self._data = self._source.whole()
        return self._value

    def draft(self, name: str = "") -> DocumentDraft:
        """An empty draft of a document of this file."""
        return DocumentDraft(self.format, name or self.name)

    def finish(self, *drafts: DocumentDraft) -> list[Document]:
        """The drafts as documents, with all that is known about the file."""
        original = (
            Original(
                records=self._kept,
                data=self._data,
                value=self._value,
                tail=self._tail,
                size=self._size or len(self._data),
                left_out=self._left_out,
            )
            if self._keep
            else None
        )
        digest = self._source.digest()
        return [
            draft.finish(digest=digest, damage=self._damage if index == 0 else (), original=original)
            for index, draft in enumerate(drafts)
        ]
