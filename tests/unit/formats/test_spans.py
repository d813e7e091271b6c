"""Where values are in a JSON text: every place of every value, found as it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.formats.patching.spans import Places, Span

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab c_é"), inner, max_size=3)),
    max_leaves=12,
)


def places(value: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    yield before, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, f"{before}.{name}" if before else name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, f"{before}[{index}]")


@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
def test_every_place_is_where_its_value_is(value: Any, indent: int | None, ascii_only: bool):
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = Places(data)

    for place, inner in places(value):
        span = found.span(place)
        assert span is not None
        assert json.loads(data[span.start : span.end].decode("utf-8", "surrogatepass")) == inner


def test_a_place_that_is_not_there_is_the_innermost_that_would_hold_it():
    data = b'{"a": [{"b": 1}]}'

    assert [Places(data).span(place) for place in ("a[0].c", "a[7].b", "c", "a[0].b.c")] == [
        Span(7, 15),
        Span(6, 16),
        Span(0, 17),
        Span(13, 14),
    ]


def test_of_two_members_with_one_name_the_last_one_counts():
    assert Places(b'{"a": 1, "a": 2}').span("a") == Span(14, 15)


@pytest.mark.parametrize("data", [b"", b'{"a": [1', b'{"a" 1}'])
def test_what_is_no_json_has_no_places(data: bytes):
    assert Places(data).span("a") is None
