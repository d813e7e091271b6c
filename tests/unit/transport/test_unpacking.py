"""Compressed bodies are unpacked a little at a time, whatever they hold."""

from __future__ import annotations

import gzip
import itertools
import zlib
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import BadAnswer
from legato.transport.unpacking import STEP, unpacker_for


def bare(data: bytes) -> bytes:
    """`data` deflated without the envelope of zlib, as some servers understand the word."""
    engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return engine.compress(data) + engine.flush()


PACKERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("", bytes),
    ("identity", bytes),
    ("gzip", gzip.compress),
    (" X-GZip ", gzip.compress),
    ("identity, gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", bare),
]


@pytest.mark.parametrize(("encoding", "pack"), PACKERS)
@given(data=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_what_was_packed_comes_out_wherever_it_is_split(
    encoding: str, pack: Callable[[bytes], bytes], data: bytes, cuts: list[int]
) -> None:
    packed, unpack = pack(data), unpacker_for(encoding)
    places = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    pieces = [packed[start:end] for start, end in itertools.pairwise(places)]
    assert b"".join(step for piece in pieces for step in unpack(piece)) == data


@pytest.mark.parametrize(("encoding", "pack"), [PACKERS[2], *PACKERS[5:]])
def test_no_step_is_large_and_none_is_taken_before_it_is_asked_for(
    encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    size = 40 * STEP
    packed = pack(bytes(size))
    assert len(packed) < size / 500
    steps: Iterator[bytes] = unpacker_for(encoding)(packed)
    assert len(next(steps)) <= STEP
    assert sum(len(step) <= STEP for step in steps) >= size // STEP - 1


def test_what_follows_the_end_is_left_out() -> None:
    unpack = unpacker_for("gzip")
    assert b"".join(unpack(gzip.compress(b"all of it") + b"garbage")) == b"all of it"
    assert list(unpack(b"more garbage")) == []


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_damaged_body_is_a_bad_answer(encoding: str) -> None:
    with pytest.raises(BadAnswer, match="damaged on its way"):
        list(unpacker_for(encoding)(b"\xff" * 100))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_what_nobody_asked_for_is_named(encoding: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        unpacker_for(encoding)
    assert caught.value.message == f"it is packed with {encoding!r}, and the request allows only gzip, deflate"
