"""Each stored record with a checksum over its place and its bytes.

In:  rows as a database returns them: (sequence number, checksum, bytes).
Out: records, or an error that names the session and the first sequence number that is not as it was written.

Databases detect a torn page, few detect a flipped bit, and none a row that some script moved or removed. The sequence
number is the checksum's start value, so a record in the wrong place does not match its own checksum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from zlib import crc32

from legato.errors import CodecError, StoreCorrupt
from legato.model.codec import decode_record, decode_records, encode_record
from legato.model.records import Record
from legato.store.contract import Problem

Row = tuple[int, int, bytes]
StoredRow = tuple[int, object, object]
"""What damage can make of a row."""

_AT_ONCE = 100
"""records that are decoded together: few enough to stay in the cache of a processor"""


def rows_of_records(records: Iterable[Record], start: int) -> list[Row]:
    """`records` as rows, the first one at sequence number `start`."""
    rows: list[Row] = []
    for sequence, record in enumerate(records, start):
        data = encode_record(record)
        rows.append((sequence, crc32(data, sequence), data))
    return rows


def checked_records(session_id: str, rows: Iterable[Row], *, start: int, stop: int) -> list[Record]:
    """The records in `rows`, which must be those from `start` up to `stop`, in order."""
    records: list[Record] = []
    expected, following = start, iter(rows)
    while some := list(islice(following, _AT_ONCE)):
        records += _check_at_once(some, expected) or _check_each(session_id, some, expected)
        expected += len(some)
    if expected < stop:
        raise _missing(session_id, expected)
    return records


def _check_at_once(rows: list[Row], start: int) -> list[Record]:
    """The records from `start` on; none if anything is wrong with one of them."""
    try:
        numbers, checksums, data = zip(*rows, strict=True)
        if numbers == tuple(range(start, start + len(rows))) and tuple(map(crc32, data, numbers)) == checksums:
            return decode_records(data)
    except (CodecError, TypeError, ValueError):
        pass
    return []


def _check_each(session_id: str, rows: list[Row], start: int) -> list[Record]:
    """The same, one by one, to say what is wrong and where."""
    records: list[Record] = []
    expected = start
    try:
        for sequence, checksum, data in rows:
            if sequence != expected:
                raise _missing(session_id, expected)
            if crc32(data, sequence) != checksum:
                raise _damaged(session_id, sequence)
            records.append(decode_record(data))
            expected += 1
    except TypeError:  # damage can make a number, or NULL, of what was bytes
        raise _damaged(session_id, expected) from None
    except CodecError as error:
        raise CodecError(
            f"record {expected} of session {session_id}: {error.message}", session=session_id, sequence=expected
        ) from None
    return records


def find_problems(session_id: str, rows: Iterable[StoredRow], *, length: int) -> Iterator[Problem]:
    """Everything that is wrong with a whole log of `length` records."""
    expected = 0
    for sequence, checksum, data in rows:
        if sequence > expected:
            yield from _gap(session_id, expected, min(sequence, length))
        if sequence >= length:
            yield Problem("this record lies beyond the end of the log", session_id, sequence)
        elif not isinstance(data, bytes) or crc32(data, sequence) != checksum:
            yield Problem("the bytes of this record do not match its checksum", session_id, sequence)
        else:
            try:
                decode_record(data)
            except CodecError as error:
                yield Problem(error.message, session_id, sequence)
        expected = sequence + 1
    yield from _gap(session_id, expected, length)


def checked_length(session_id: str, length: object) -> int:
    """`length` if it can be one; no checksum covers the column."""
    if isinstance(length, int) and length >= 0:
        return length
    raise StoreCorrupt(
        f"the length of session {session_id} is damaged; restore the session from a backup", session=session_id
    )


def beyond_end(session_id: str, length: int) -> StoreCorrupt:
    """There are records that the length of their session does not count."""
    return StoreCorrupt(
        f"session {session_id} holds records beyond its end, so its length is damaged; {_advice(session_id, length)}",
        session=session_id,
        sequence=length,
    )


def range_of(length: int, start: int, stop: int | None) -> tuple[int, int]:
    """The part of a log of `length` records that a reader asked for."""
    return min(max(start, 0), length), length if stop is None else min(max(stop, 0), length)


def _gap(session_id: str, first: int, end: int) -> Iterator[Problem]:
    if first < end:
        names = f"record {first} is missing" if end - first == 1 else f"records {first} to {end - 1} are missing"
        yield Problem(names, session_id, first)


def _missing(session_id: str, sequence: int) -> StoreCorrupt:
    return StoreCorrupt(
        f"record {sequence} of session {session_id} is missing; {_advice(session_id, sequence)}",
        session=session_id,
        sequence=sequence,
    )


def _damaged(session_id: str, sequence: int) -> StoreCorrupt:
    return StoreCorrupt(
        f"record {sequence} of session {session_id} is damaged: its bytes do not match their checksum;"
        f" {_advice(session_id, sequence)}",
        session=session_id,
        sequence=sequence,
    )


def _advice(session_id: str, sequence: int) -> str:
    if sequence == 0:
        return "restore the session from a backup"
    return f"restore it from a backup, or fork the session at {sequence} to go on with what came before"
