"""ZIP archives of JSON files, looked at one file at a time.

An archive says how large its files are, and may be wrong about it, so each is read up to the limit for one JSON value
and no further. What the standard library cannot unpack is told with its reason.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from legato.errors import FormatError, IngestError, UnknownFormat
from legato.formats.sources import Source
from legato.model import Json, read_json_leniently
from legato.model.ingestion import MAX_JSON_BYTES

if TYPE_CHECKING:
    import zipfile

MAGIC = b"PK\x03\x04"
_ZSTANDARD = 93
"""the number of that compression in a ZIP archive"""


class ZstandardArchive(FormatError):
    """The files in an archive are compressed with Zstandard, and this Python has nothing for it."""


class Archive:
    """An open archive. `names` are those of its files, in their order."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self._file = file
        self._name = name
        self.names = tuple(info.filename for info in file.infolist() if not info.is_dir())

    def value(self, member: str) -> Json:
        """The value of a JSON file in it; raises `FormatError` where there is none."""
        from zipfile import BadZipFile

        info = self._file.getinfo(member)
        try:
            with self._file.open(info) as stream:
                data = stream.read(MAX_JSON_BYTES + 1)
        except (NotImplementedError, RuntimeError) as error:
            if info.compress_type == _ZSTANDARD:
                raise ZstandardArchive(f"{self._name}: {member} is compressed with Zstandard") from None
            raise FormatError(f"{self._name}: {member} cannot be unpacked: {error}") from None
        except (BadZipFile, zlib.error, EOFError, OSError) as error:
            raise FormatError(f"{self._name}: {member} is damaged: {error}") from None
        if len(data) > MAX_JSON_BYTES:
            raise FormatError(f"{self._name}: {member} is larger than {MAX_JSON_BYTES // 2**20} MB and is not read")
        try:
            return read_json_leniently(data)
        except IngestError as error:
            raise FormatError(f"{self._name}: {member}: {error.message}") from None


@contextmanager
def open_archive(source: Source) -> Generator[Archive]:
    """The archive that `source` is."""
    from zipfile import BadZipFile, ZipFile

    try:
        file = ZipFile(source.path if source.path is not None else io.BytesIO(source.whole()))
    except (BadZipFile, NotImplementedError, OSError) as error:
        raise UnknownFormat(f"{source.name}: this begins as a ZIP archive, but is damaged: {error}") from None
    with file:
        yield Archive(file, source.name)
