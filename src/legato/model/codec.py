"""Records as bytes, and back.

A record is one JSON object; a file of records begins with a line that names the format and its version. What this
program does not know (a newer version, a record, a block or a field it has never heard of) is refused by name and
never dropped: see docs/decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import msgspec

from legato.errors import CodecError
from legato.model.records import Record

__all__ = [
    "check_header",
    "decode_record",
    "decode_records",
    "dump_log",
    "encode_record",
    "load_log",
]

FORMAT = "legato-log"
VERSION = 1
"""of the format of logs; a program reads this one and all before it"""

_encoder = msgspec.json.Encoder()


@cache
def _record_decoder() -> msgspec.json.Decoder[Record]:
    return msgspec.json.Decoder(Record)  # made when the first record is read: it takes a while


@cache
def _records_decoder() -> msgspec.json.Decoder[list[Record]]:
    return msgspec.json.Decoder(list[Record])


def encode_record(record: Record) -> bytes:
    """One record as one line of JSON, without the newline."""
    return _encoder.encode(record)


def decode_record(data: bytes | memoryview) -> Record:
    """The record in `data`; raises `CodecError` that names what is unknown or damaged."""
    try:
        return _record_decoder().decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _refusal("record", error) from None


def decode_records(data: Sequence[bytes]) -> list[Record]:
    """What `decode_record` gives for each of `data`, in one go; raises `CodecError` if one of them cannot be read."""
    try:
        records = _records_decoder().decode(b"".join((b"[", b",".join(data), b"]")))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _refusal("record", error) from None
    if len(records) != len(data):
        raise CodecError("several records where one should be")
    return records


def dump_log(records: Iterable[Record]) -> Iterator[bytes]:
    """The lines of a log file: the header, then a record a line."""
    yield _encoder.encode({"format": FORMAT, "version": VERSION}) + b"\n"
    for record in records:
        yield _encoder.encode(record) + b"\n"


def load_log(lines: Iterable[bytes]) -> Iterator[Record]:
    """The records in a log file; raises `CodecError` that names the line."""
    numbered = enumerate(lines, start=1)
    check_header(next(numbered, (1, b""))[1])
    for number, line in numbered:
        if line.strip():
            try:
                yield decode_record(line)
            except CodecError as error:
                raise CodecError(f"line {number}: {error.message}", line=number) from None


def check_header(line: bytes) -> None:
    """Raise `CodecError` unless `line` is the first line of a log that this program can read."""
    try:
        header = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        header = {}
    if header.get("format") != FORMAT:
        raise CodecError(f"not a Legato log: its first line does not say {FORMAT!r}")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise CodecError(
            f"this log is of version {version}, and this program reads up to version {VERSION}; upgrade Legato",
            version=version,
        )


def _refusal(what: str, error: Exception) -> CodecError:
    told = _in_one_line(error)
    if isinstance(error, msgspec.ValidationError):
        return CodecError(
            f"a {what} that this program does not know: {told}. It may come from a newer version of Legato"
        )
    return CodecError(f"a damaged {what}: {told}")


_LONGEST = 1_000
"""characters of a parser's words: our choice, what is quoted may be of any length"""


def _in_one_line(error: Exception) -> str:
    """What a parser says, which quotes the words and names that it does not know: those of whoever wrote the file."""
    said = str(error)
    told = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in said[:_LONGEST])
    return told if len(said) <= _LONGEST else f"{told}…"
