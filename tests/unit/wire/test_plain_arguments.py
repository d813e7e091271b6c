"""Arguments that the parser alone can read come out as the thorough way would have read them."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from legato.wire import arguments
from legato.wire.arguments import Arguments, read_arguments, read_plain_arguments

TEXTS = st.text(max_size=5) | st.text(st.sampled_from('\0\ud800\udc00\\"é'), max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.integers(2**62, 2**65) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=12
)


@given(
    st.dictionaries(TEXTS | st.just(arguments.RAW_KEY), VALUES, max_size=4) | VALUES, st.booleans(), st.integers(0, 9)
)
@example({"big": 2**63, "small": -(2**63)}, True, 0)
@example({arguments.RAW_KEY: '{"path": '}, True, 0)
@example({"float": 1e308, "whole": 1.0, "zero": -0.0}, True, 0)
@example({"deep": [[[[[[]]]]]]}, True, 0)
def test_text_is_read_the_same_with_and_without_a_second_walk(value, ascii_only, missing):
    text = json.dumps(value, ensure_ascii=ascii_only)
    for source in (text, text[: len(text) - missing], f" {text}\n"):
        assert repr(read_arguments(source)) == repr(arguments._read_thoroughly(source))


@pytest.mark.parametrize(
    "text", ["{}", '{"path": "a", "line": 3}', '{"edits": [{"old": "é\\u00e9", "new": null}], "all": true}']
)
def test_small_objects_take_no_second_walk(text):
    assert read_plain_arguments(text) == json.loads(text)
    assert read_arguments(text) == Arguments(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        '{"a": ',
        '{"a": "\\u0000"}',
        '{"a": 18446744073709551616}',
        '{"a": "\ud800"}',
        '{"a": [[[[1]]]]}',
        '{"raw_arguments": "x"}',
        '{"a": "' + "x" * 65_536 + '"}',
    ],
    ids=lambda text: ascii(text[:30]),
)
def test_what_takes_more_than_parsing_is_left_to_the_thorough_way(text):
    assert read_plain_arguments(text) is None
