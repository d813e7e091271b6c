"""What our own parsers and readers give may be recorded as it is: its values are safe already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Conversation, render, resolve
from legato.errors import FormatError
from legato.formats import read_all
from legato.model import Entry, Record
from legato.wire.dialects import dialect_parts

from builders import ROUTES, talk, user
from strategies import logs

NASTY = ("\0", "half \ud83d of it", "\ud800", "ok", "", 2**70, float("nan"), b"raw", (1, "\0"), {1: "\0"})
SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"


@pytest.mark.parametrize("route", ROUTES)
@given(news=logs(max_size=6), data=st.data())
def test_a_parsed_body_is_recorded_the_same_with_and_without_another_check(
    route: str, news: list[Entry], data: st.DataObject
) -> None:
    body = render(talk(*news, user("and now?")), route).copy()
    parsed = dialect_parts(resolve(route).dialect).parse(spoiled(body, data))
    assert taken(parsed.entries) == Conversation().prepare(parsed.entries)


def taken(entries: list[Entry]) -> list[Record]:
    """The records of `entries` when nobody checks their values."""
    conversation = Conversation()
    conversation.take(entries)
    return list(conversation.log)


def spoiled(value: Any, data: st.DataObject) -> Any:
    """`value` with something that JSON lacks in place of a few of its texts."""
    if isinstance(value, dict):
        return {key: spoiled(item, data) for key, item in value.items()}
    if isinstance(value, list):
        return [spoiled(item, data) for item in value]
    if (
        isinstance(value, str)
        and value not in ("user", "assistant", "tool", "model")
        and data.draw(st.integers(0, 7)) == 0
    ):
        return data.draw(st.sampled_from(NASTY))
    return value


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples are not here")
def test_sample_files_are_recorded_the_same_with_and_without_another_check() -> None:
    read = 0
    for path in sorted(SAMPLES.rglob("*.json*")):
        try:
            documents = read_all(path.read_bytes())
        except FormatError:
            continue
        for document in documents:
            read += 1
            entries = document.entries
            assert taken(entries) == Conversation().prepare(entries), path
    assert read
