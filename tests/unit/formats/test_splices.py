"""Splices change of a text what its new value demands, and nothing else."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from legato.formats import mend, read
from legato.formats.patching.splices import Splice, apply_splices, is_same, splices_between
from session_files import answered, gave, jsonl, said, use

_SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4)
)
_LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"indent": 4, "ensure_ascii": False}, {"separators": (",", ":")}])


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A value with something put in, taken out or replaced, anywhere in it."""
    if isinstance(value, list) and draw(st.booleans()):
        items: list[Any] = [draw(changed(item)) for item in value]
        place = draw(st.integers(0, len(items)))
        return items[:place] + draw(st.lists(_VALUES, max_size=2)) + items[place + draw(st.integers(0, 1)) :]
    if isinstance(value, dict) and draw(st.booleans()):
        kept = {name: draw(changed(item)) for name, item in value.items() if draw(st.integers(0, 3))}
        return kept | draw(st.dictionaries(st.text(max_size=2), _VALUES, max_size=1))
    return value if draw(st.booleans()) else draw(_VALUES)


@given(st.data(), _VALUES, _LAYOUTS)
def test_the_text_reads_as_the_new_value(data: st.DataObject, value: Any, layout: dict[str, Any]) -> None:
    wanted = data.draw(changed(value))
    text = f" {json.dumps(value, **layout)}\n".encode("utf-8", "surrogatepass")
    splices = splices_between(text, value, wanted)
    assert is_same(json.loads(apply_splices(text, splices).decode("utf-8", "surrogatepass")), wanted)
    assert all(one.start <= one.end <= other.start for one, other in pairwise(splices))
    assert splices_between(text, value, value) == []


def test_one_and_one_point_nought_and_true_are_three_values() -> None:
    assert not is_same(1, 1.0)
    assert not is_same(1, True)
    assert not is_same([{"a": 0}], [{"a": False}])
    assert is_same([{"a": 0, "b": None}], [{"b": None, "a": 0}])


def test_what_is_put_in_looks_like_what_is_around_it() -> None:
    text = json.dumps({"a": [{"id": 1}], "b": 2}, indent=4).encode()
    spliced = apply_splices(
        text, splices_between(text, json.loads(text), {"a": [{"id": 1}, {"id": 2}], "b": 2, "c": 3})
    )
    assert spliced.decode() == json.dumps({"a": [{"id": 1}, {"id": 2}], "b": 2, "c": 3}, indent=4)


def test_white_space_escapes_and_the_order_of_names_stay() -> None:
    text = b'{ "b" : 1.50, "a":"\\u00e9",\n "list": [ 1 ,2 , 3 ] }'
    splices = splices_between(text, json.loads(text), {"a": "é", "b": 1.5, "list": [1, 3]})
    assert apply_splices(text, splices) == b'{ "b" : 1.50, "a":"\\u00e9",\n "list": [ 1 , 3 ] }'


def test_of_a_name_that_is_there_twice_the_last_one_changes() -> None:
    text = b'{"a": 1, "a": 2, "b": 3}'
    assert apply_splices(text, splices_between(text, {"a": 2, "b": 3}, {"a": 4, "b": 3})) == b'{"a": 1, "a": 4, "b": 3}'
    assert apply_splices(text, splices_between(text, {"a": 2, "b": 3}, {"b": 3})) == b'{"b": 3}'


def test_a_text_that_is_not_what_was_read_is_replaced_as_a_whole() -> None:
    for text in (b'{"a": 1}', b"[1, 2", b"", b'{"a" 1}'):
        assert splices_between(text, {"b": 1}, {"b": 2}) == [Splice(0, len(text), b'{"b":2}')]


def test_of_a_file_of_lines_only_the_lines_that_change_are_spliced() -> None:
    data = (
        b"\n"
        + jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1"), use("t2")))
        + b"  "
        + jsonl(said("u2", "a1", [gave("t2", "two")]))
        + b"garbage\n"
        + jsonl(said("u3", "u2", "and?"))
    )
    mended = mend(read(data))
    assert mended.data == apply_splices(data, mended.splices)
    assert mended.changes
    assert b"garbage" not in mended.data
    outside = apply_splices(data, [splice._replace(data=b"\0") for splice in mended.splices]).split(b"\0")
    assert all(piece in mended.data for piece in outside)
    assert sum(map(len, outside)) > len(data) - 120
