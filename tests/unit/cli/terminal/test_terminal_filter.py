"""The filter between foreign text and the terminal: nothing that passes it is obeyed, and nothing visible is lost."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.cli.terminal.filter import TerminalFilter, harmless
from legato.cli.terminal.reveal import reveal, reveal_line

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)

PIECES = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]", "\x1b\\", "\x1bP", "\x9b", "\x9d", "\x9c", "\x07", "\x18", "[2J", "31m", "52;c;aGk=", "0;title",
     "\r", "\n", "\r\n", "\t", "\x08", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\U000e0041", "a", "ß", "漢", "🙂", " ", "\\", ";"]
)  # fmt: skip
TEXTS = st.one_of(st.text(st.characters(categories=None), max_size=60), st.lists(PIECES, max_size=25).map("".join))


def chunked(text: str, cuts: list[int]) -> str:
    stream = TerminalFilter()
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    out = [stream.feed(text[start:end]) for start, end in pairwise(places)]
    return "".join(out) + stream.flush()


@given(TEXTS, st.lists(st.integers(0, 1000), max_size=6))
def test_whatever_comes_and_however_it_is_cut_nothing_that_a_terminal_obeys_gets_through(text: str, cuts: list[int]):
    assert not FORBIDDEN.search(chunked(text, cuts))


@given(TEXTS, st.lists(st.integers(0, 1000), max_size=6))
def test_where_a_stream_is_cut_makes_no_difference(text: str, cuts: list[int]):
    assert chunked(text, cuts) == harmless(text)


@given(TEXTS)
def test_filtering_twice_is_filtering_once(text: str):
    assert harmless(harmless(text)) == harmless(text)


@given(
    st.text(
        st.characters(categories=("L", "M", "N", "P", "S"), include_characters=" \n\t", max_codepoint=0xDFFFF),
        max_size=80,
    )
)
def test_plain_text_passes_as_it_is(text: str):
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("x\x1b]0;new title\x07y", "xy"),
        ("x\x1b]52;c;ZXZpbA==\x1b\\y", "xy"),
        ("\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1bPq#0;2\x1b\\after", "after"),
        ("\x1b(Bplain", "plain"),
        ("\x1bcreset", "reset"),
        ("one\rtwo", "one\ntwo"),
        ("one\r\ntwo\r", "one\ntwo\n"),
        ("a\x0bb\x0cc\x85d\u2028e", "a\nb\nc\nd\ne"),
        ("pass\x08\x08\x08\x08evil", "pass\\x08\\x08\\x08\\x08evil"),
        ("a\x00b\x07c\x7f", "abc"),
        ("user\u202etxt.exe\u202c", "user\\u202etxt.exe\\u202c"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
        ("half \ud800 pair", "half \ufffd pair"),
    ],
)
def test_what_a_terminal_would_obey_is_dropped_and_what_deceives_is_shown(raw: str, shown: str):
    assert harmless(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;never ended\nnext line", "␛]0;never ended\nnext line"),
        ("\x1b[31", "␛[31"),
        ("\x1b[3ü1m", "␛[3ü1m"),
        ("\x1bü", "␛ü"),
        ("a\x1b", "a␛"),
        ("\x1b[12\x18m", "m"),
        ("\x1b\x1b[31mred", "red"),
        ("\x1b]0;x\x1b[31mred", "red"),
    ],
)
def test_a_sequence_that_never_becomes_one_swallows_nothing(raw: str, shown: str):
    assert harmless(raw) == shown


def test_an_endless_string_is_cut_and_counted():
    shown = harmless("\x1b]52;c;" + "A" * 1000 + "\nvisible")

    assert shown == "␛]52;c;" + "A" * 193 + "… (807 more characters)\nvisible"


def test_an_overlong_control_sequence_is_shown():
    assert harmless("\x1b[" + "1;" * 40 + "m") == "␛[" + "1;" * 40 + "m"


# --- reveal ---


@given(st.text(st.characters(categories=None), max_size=60))
def test_what_is_revealed_holds_nothing_hidden(text: str):
    assert not FORBIDDEN.search(reveal(text))


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), include_characters=" \n\t"), max_size=50))
def test_a_plain_command_is_shown_as_it_is(text: str):
    assert reveal(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("rm\u00a0-rf", "rm\\xa0-rf"),
        ("ls\u202e;", "ls\\u202e;"),
        ("a\u200bb", "a\\u200bb"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("a\u3164b", "a\\u3164b"),
        ("a\x1b[2Kb", "a\\x1b[2Kb"),
        ("a\rb", "a\\x0db"),
        ("echo" + " " * 500 + "rm", "echo⟨500 spaces⟩rm"),
        ("größe 漢字 🙂", "größe 漢字 🙂"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(raw: str, shown: str):
    assert reveal(raw) == shown


def test_a_revealed_line_is_one_line():
    assert reveal_line("a\nb\tc") == "a\\nb\\tc"
