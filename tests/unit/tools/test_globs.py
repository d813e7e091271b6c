"""Globs match what their expression matches, in linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.tools.globs import PATH, TEXT, _Automaton, _Matcher, covers, matcher

GLOBS = st.lists(st.sampled_from(["*", "**", "**/", "?", "a", "b", "/", " ", "\\*"]), max_size=8).map("".join)
TEXTS = st.text("ab/ *", max_size=9)


def as_expression(glob: str, kind: str) -> str:
    """What a glob means, piece by piece, as slow as it may be."""
    one = "[^/]" if kind == PATH else "."
    pieces: dict[str, str] = (
        {"**/": "(?:.*/)?", "**": ".*", "*": f"{one}*", "?": one} if kind == PATH else {"*": ".*", "?": "."}
    )
    end = "(?: .*)?" if kind == TEXT and re.search(r"(?<!\\) \*+\Z", glob) else ""
    if end:
        glob = re.sub(r" \*+\Z", "", glob)
    found = re.findall(r"\\.|\*\*/|\*\*|." if kind == PATH else r"\\.|.", glob, re.DOTALL)
    return "".join(pieces.get(piece) or re.escape(piece[-1]) for piece in found) + end


@pytest.mark.parametrize("kind", [PATH, TEXT])
@given(glob=GLOBS, text=TEXTS)
def test_a_glob_matches_what_its_expression_matches(kind: str, glob: str, text: str) -> None:
    expected = re.fullmatch(as_expression(glob, kind), text, re.DOTALL) is not None
    made = _Matcher(glob, kind)
    assert (made.matches(text), _Automaton(made._tokens, is_path=kind == PATH).matches(text)) == (expected, expected)


@pytest.mark.parametrize(
    ("glob", "text"),
    [("**/" * 10 + "x", "a/" * 40 + "y"), ("*a" * 20 + "b", "a" * 4_000), ("**a" * 20, "b" * 4_000 + "/")],
)
def test_no_glob_takes_long(glob: str, text: str) -> None:
    begin = time.process_time()
    assert not matcher(glob, PATH)(text)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        (".env", ".ENV", True),
        ("./keys/", "keys/a/b", True),
        ("keys/*", "keys/a/b", True),
        ("*.pem", "a/b.pem", False),
        ("**/*.pem", "b.PEM", True),
        ("café", "cafe\u0301", True),
        ("keys", "keysx", False),
    ],
)
def test_a_file_is_withheld_under_every_name_that_a_file_system_may_know_it_by(
    glob: str, path: str, expected: bool
) -> None:
    assert covers(glob, path) is expected
