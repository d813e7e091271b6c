"""Ids, titles, metadata, checksums: what the backends share."""

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import CallerError, CodecError, StoreCorrupt
from legato.model.codec import encode_record
from legato.store.checksums import checked_records, find_problems, range_of, rows_of_records
from legato.store.contract import Problem
from legato.store.identity import encode_meta, is_session_id, mint_session_id
from legato.store.summary import MAX_TITLE, clean_title
from legato.store.testing.samples import EVERY_RECORD, say


def test_minted_ids_are_usable_and_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [0.0, 0.001, 0.0019, 59.999, 1_700_000_000.5, 1_700_000_000.75, 4_000_000_000.0]
    ids: list[str] = []
    for moment in moments:
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        ids.append(mint_session_id())
    stems = [one.rpartition("-")[0] for one in ids]
    assert stems == sorted(stems)
    assert all(is_session_id(one) for one in ids)
    assert stems[4] == "20231114-221320500"


@given(st.text())
def test_a_title_is_one_short_line_without_control_characters(text: str) -> None:
    title = clean_title(text)
    assert len(title) <= MAX_TITLE
    assert title.isprintable()
    assert title == title.strip()
    assert clean_title(title) == title


def test_metadata_that_is_not_small_is_refused() -> None:
    with pytest.raises(CallerError):
        encode_meta({"x": "y" * 70_000})


def test_records_with_their_checksums_come_back() -> None:
    rows = rows_of_records(EVERY_RECORD, 7)
    assert [row[0] for row in rows] == list(range(7, 7 + len(EVERY_RECORD)))
    assert checked_records("s", rows, start=7, stop=7 + len(EVERY_RECORD)) == list(EVERY_RECORD)
    assert list(find_problems("s", rows_of_records(EVERY_RECORD, 0), length=len(EVERY_RECORD))) == []


@given(st.integers(0, 2), st.data())
def test_no_flipped_bit_passes_its_seal(place: int, data: st.DataObject) -> None:
    rows = rows_of_records([say("one"), say("two"), say("three")], 0)
    sequence, seal, text = rows[place]
    bit = data.draw(st.integers(0, len(text) * 8 - 1))
    flipped = bytearray(text)
    flipped[bit // 8] ^= 1 << bit % 8
    rows[place] = (sequence, seal, bytes(flipped))
    with pytest.raises(StoreCorrupt) as caught:
        checked_records("s", rows, start=0, stop=3)
    assert caught.value.facts == {"session": "s", "sequence": place}
    assert [(one.session, one.sequence) for one in find_problems("s", rows, length=3)] == [("s", place)]


def test_a_record_in_another_ones_place_does_not_pass() -> None:
    first, second = rows_of_records([say("one"), say("two")], 0)
    swapped = [(0, second[1], second[2]), (1, first[1], first[2])]
    with pytest.raises(StoreCorrupt):
        checked_records("s", swapped, start=0, stop=2)
    assert [one.sequence for one in find_problems("s", swapped, length=2)] == [0, 1]


def test_missing_and_surplus_records_are_found() -> None:
    rows = rows_of_records([say(str(number)) for number in range(8)], 0)
    kept = [rows[number] for number in (1, 2, 5, 7)]
    assert list(find_problems("s", kept, length=7)) == [
        Problem("record 0 is missing", "s", 0),
        Problem("records 3 to 4 are missing", "s", 3),
        Problem("record 6 is missing", "s", 6),
        Problem("this record lies beyond the end of the log", "s", 7),
    ]
    for start, stop, sequence in ((0, 3, 0), (1, 4, 3), (5, 7, 6)):
        found = [row for row in kept if start <= row[0] < stop]
        with pytest.raises(StoreCorrupt) as caught:
            checked_records("s", found, start=start, stop=stop)
        assert caught.value.facts == {"session": "s", "sequence": sequence}


def test_a_whole_record_that_this_program_does_not_know_is_not_called_damaged() -> None:
    unknown = b'{"record":"teleported"}'
    rows = [*rows_of_records([say("one")], 0), (1, crc32(unknown, 1), unknown)]
    with pytest.raises(CodecError) as caught:
        checked_records("s", rows, start=0, stop=2)
    assert caught.value.facts == {"session": "s", "sequence": 1}
    assert "newer version" in caught.value.message
    (problem,) = find_problems("s", rows, length=2)
    assert (problem.session, problem.sequence) == ("s", 1)
    assert "newer version" in problem.message


def test_damage_that_leaves_no_bytes_is_damage() -> None:
    for data in (None, 5, "text"):
        rows = [(0, 1, data)]
        with pytest.raises(StoreCorrupt):
            checked_records("s", rows, start=0, stop=1)  # pyright: ignore[reportArgumentType]
        assert [one.sequence for one in find_problems("s", rows, length=1)] == [0]


def test_a_range_never_leaves_the_log() -> None:
    assert [range_of(5, *asked) for asked in ((0, None), (-3, 2), (2, -1), (9, None), (4, 99))] == [
        (0, 5),
        (0, 2),
        (2, 0),
        (5, 5),
        (4, 5),
    ]


def test_the_seal_is_a_checksum_that_starts_at_the_sequence_number() -> None:
    data = encode_record(say("one"))
    assert rows_of_records([say("one")], 9) == [(9, crc32(data, 9), data)]
