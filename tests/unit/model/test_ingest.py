"""Any value becomes JSON-safe, once, with a defined outcome."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import math
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import IngestError
from legato.model import ingest, ingestion, read_json, read_json_leniently
from legato.model.ingestion import CYCLE, MAX_DEPTH, MAX_NODES, MAX_TEXT, TOO_DEEP, reads_plainly, refuse_parts
from legato.model.lasting import Lasting


class Name(str):
    pass


class Count(int):
    pass


class Share(float):
    pass


class Plain:
    """Dumps itself, and knows nothing of modes."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    y: list[int]


class Model(pydantic.BaseModel):
    name: str
    when: date


class Record(msgspec.Struct):
    a: int
    b: Any = None


def test_a_cycle_is_cut_where_it_closes() -> None:
    value: dict[str, Any] = {"name": "loop"}
    value["self"] = value
    assert ingest(value) == {"name": "loop", "self": CYCLE}


@pytest.mark.req("REQ-915-038")
def test_values_referenced_twice_without_a_cycle_stay_whole() -> None:
    shared = {"k": [1, 2]}
    assert ingest({"a": shared, "b": [shared, shared]}) == {"a": {"k": [1, 2]}, "b": [{"k": [1, 2]}, {"k": [1, 2]}]}


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("half \ud83d an emoji", "half \ufffd an emoji"),
        ("split \ud83d\ude00 pair", "split 😀 pair"),
        ("nul \0 byte", "nul \ufffd byte"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (b"text", "text"),
        (b"\xff\x00", "data:application/octet-stream;base64,/wA="),
        (bytearray(b"x"), "x"),
        (datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(seconds=90), 90.0),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Point(1, [2]), {"x": 1, "y": [2]}),
        (Model(name="n", when=date(2026, 1, 2)), {"name": "n", "when": "2026-01-02"}),
        (Record(1, {2}), {"a": 1, "b": [2]}),
        (Decimal("1.50"), "1.50"),
        (PurePosixPath("a/b"), "a/b"),
        (ValueError("no"), "ValueError: no"),
        ((1, "a", None), [1, "a", None]),
        (2**63, 2**63),
        (2**64, str(2**64)),
        (-(2**70), str(-(2**70))),
        ({1: "a", "1": "b", None: "c", (1, 2): "d"}, {"1": "a", "1'": "b", "null": "c", "[1, 2]": "d"}),
        ({}, {}),
        (iter([1, 2]), [1, 2]),
        (True, True),
        (Name("a\0b"), "a\ufffdb"),
        (Count(2**70), str(2**70)),
        (Share(0.5), 0.5),
        (Share("nan"), "NaN"),
        (Plain({"a": 1}), {"a": 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_value_has_a_defined_outcome(value: object, outcome: object) -> None:
    assert ingest(value) == outcome


def test_an_integer_with_more_digits_than_python_prints_stays_exact() -> None:
    assert ingest(10**5000) == hex(10**5000)


def test_nesting_beyond_the_cap_is_cut_with_a_marker() -> None:
    value: Any = "end"
    for _ in range(MAX_DEPTH + 5):
        value = [value]
    text = json.dumps(ingest(value))
    assert TOO_DEEP in text
    assert "end" not in text


def test_text_that_no_provider_takes_is_cut_and_says_so() -> None:
    cut = ingest("x" * (MAX_TEXT + 10))
    assert cut.endswith("[cut: 10 more characters of text]")
    assert ingest(cut) == cut


def test_a_value_with_too_many_parts_is_refused() -> None:
    with pytest.raises(IngestError, match="more than 1,000,000 parts"):
        ingest([0] * (MAX_NODES + 1))


def test_an_endless_iterator_is_refused() -> None:
    def endless() -> Any:
        while True:
            yield 1

    with pytest.raises(IngestError):
        ingest(endless())


def test_a_value_whose_own_code_fails_is_an_ingest_error() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("not today")

    with pytest.raises(IngestError, match="Broken"):
        ingest(Broken())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
        (b"\xff\xfe", "UTF-8 at byte 0"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":', "line 1, column 6"),
        (b"", "line 1, column 1"),
        (b"1" * 5000, "not readable"),
    ],
)
def test_malformed_bytes_are_a_legato_error_that_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(IngestError, match=message):
        read_json(data)


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_json(b"\xef\xbb\xbf[1]") == [1]
    assert read_json_leniently(b"\xef\xbb\xbf[1]") == [1]


def test_files_of_others_are_read_leniently() -> None:
    assert read_json_leniently(b'{"a": 1, "a": 2, "b": "\\ud83d"}') == {"a": 2, "b": "\ufffd"}


def test_json_beyond_the_limit_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[read_json.__module__], "MAX_JSON_BYTES", 10)
    with pytest.raises(IngestError, match="more than the 10"):
        read_json(b"[1, 2, 3, 4, 5]")


anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(codec=None, exclude_categories=[])),
        st.binary(),
        st.dates(),
        st.decimals(),
        st.uuids(),
        st.complex_numbers(),
    ),
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(), st.integers(), st.none(), st.booleans()), inner),
        st.sets(st.one_of(st.integers(), st.text())),
        st.builds(Point, st.integers(), st.lists(st.integers())),
    ),
    max_leaves=20,
)


@given(anything)
@pytest.mark.req("REQ-915-038")
def test_whatever_goes_in_comes_out_as_strict_json_and_only_once(value: object) -> None:
    once = ingest(value)
    assert ingest(once) == once
    assert msgspec.json.decode(msgspec.json.encode(once)) == once
    json.dumps(once, allow_nan=False)


@given(st.binary())
def test_no_bytes_make_reading_raise_anything_else(data: bytes) -> None:
    for read in (read_json, read_json_leniently):
        with contextlib.suppress(IngestError):
            msgspec.json.encode(read(data))


@pytest.mark.req("REQ-915-038")
def test_a_level_is_one_container_in_another_whatever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "MAX_DEPTH", 2)
    cut = [1, [2, [3, TOO_DEEP]]]
    assert ingest([1, [2, [3, [4]]]]) == cut
    assert ingest((1, (2, (3, (4,))))) == cut
    assert ingest({"a": {"b": {"c": {}}}}) == {"a": {"b": {"c": TOO_DEEP}}}
    assert ingest(frozenset({frozenset({frozenset({frozenset()})})})) == [[[TOO_DEEP]]]
    assert ingest(iter([iter([iter([iter([])])])])) == [[[TOO_DEEP]]]


# --- what need not be looked through, and what is too much -------------------------------------------------------------


def test_a_list_in_which_nothing_is_odd_is_taken_as_it_is() -> None:
    plain, odd = Lasting([{"name": "ls"}], is_plain=True), Lasting(["\x00"])
    assert ingest(plain) is plain
    assert ingest(odd) is not odd


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": [1, "\xc3\xa9", {"b": null}]}', True),
        (rb'["\u0000"]', False),
        (b"[1" + b"0" * 19 + b"]", False),
        (b"[" * (MAX_DEPTH + 1), False),
    ],
)
def test_json_reads_plainly_if_nothing_in_it_has_to_be_looked_at(data: bytes, expected: bool) -> None:
    assert reads_plainly(data) is expected


@pytest.mark.parametrize("data", [b"[" + b"[]," * 40 + b"[]]", "[" + "[]," * 40 + "[]]"])
def test_json_of_too_many_parts_is_refused_before_they_are_made(data: bytes | str) -> None:
    refuse_parts(data, 100)
    with pytest.raises(IngestError, match="parts"):
        refuse_parts(data, 40)


def test_what_a_text_holds_are_no_parts() -> None:
    refuse_parts(json.dumps(["[{,\\" * 100, '"', "," * 100]), 10)
