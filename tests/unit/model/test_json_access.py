"""Looking into JSON that others wrote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model.json_access import as_count, as_list, as_object, as_objects, as_string, as_text, present

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(ANY_JSON)
def test_what_has_the_type_is_given_as_it_is_and_all_else_is_empty(value: Any) -> None:
    assert as_object(value) == (value if isinstance(value, dict) else {})
    assert as_list(value) == (value if isinstance(value, list) else [])
    assert as_objects(value) == [item for item in as_list(value) if isinstance(item, dict)]
    assert as_string(value) == (value if isinstance(value, str) else "")


@pytest.mark.parametrize(("value", "count"), [(3, 3), (0, 0), (-1, 0), (True, 0), (2.0, 0), ("3", 0), (None, 0)])
def test_a_count_is_a_whole_number_of_things(value: Any, count: int) -> None:
    assert as_count(value) == count


def test_text_is_safe_to_store_and_a_string_is_left_alone() -> None:
    assert (as_text("a\ud800b"), as_string("a\ud800b")) == ("a\ufffdb", "a\ud800b")
    assert as_text(["a"]) == ""


def test_fields_that_are_present_are_those_that_are_not_null() -> None:
    assert present({"a": None, "b": 0, "c": ""}) == {"b": 0, "c": ""}
