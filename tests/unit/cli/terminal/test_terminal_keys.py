"""Keys from what a terminal sends: text is never lost, and Esc is told from the sequences that begin with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.cli.terminal.keys import KeyParser, Press, SpecialKey

MEANINGLESS = {
    "up": "\x1b[A",
    "up, in application mode": "\x1bOA",
    "delete": "\x1b[3~",
    "ctrl-right": "\x1b[1;5C",
    "alt-up, as rxvt sends it": "\x1b\x1b[A",
    "F1": "\x1bOP",
    "F1 on a Linux console": "\x1b[[A",
    "F5": "\x1b[15~",
    "shift-tab": "\x1b[Z",
    "the window got the focus": "\x1b[I",
    "where the cursor is": "\x1b[12;40R",
    "a mouse": "\x1b[<0;10;20M",
    "ctrl-g": "\x07",
}


def pressed(*pieces: str | bytes) -> list[Press]:
    """The keys, if nothing follows the last piece; text that arrived in pieces is joined."""
    parser = KeyParser()
    presses: list[Press] = []
    for piece in pieces:
        presses += parser.feed(piece.encode() if isinstance(piece, str) else piece)
    return joined([*presses, *parser.settle()])


def joined(presses: list[Press]) -> list[Press]:
    whole: list[Press] = []
    for press in presses:
        if isinstance(press, str) and whole and isinstance(whole[-1], str):
            whole[-1] += press
        else:
            whole.append(press)
    return whole


@pytest.mark.parametrize("sequence", MEANINGLESS.values(), ids=MEANINGLESS.keys())
def test_a_key_that_means_nothing_leaves_nothing_behind_wherever_it_is_cut(sequence: str):
    for at in range(len(sequence) + 1):
        assert pressed(f"a{sequence[:at]}", f"{sequence[at:]}b") == ["ab"]


def test_esc_alone_is_esc():
    assert pressed("\x1b") == [SpecialKey.ESCAPE]
    assert pressed("\x1b\x1b\x1b") == [SpecialKey.ESCAPE] * 3
    assert pressed("half a line\x1b") == ["half a line", SpecialKey.ESCAPE]


def test_esc_waits_for_what_may_follow_and_then_is_esc():
    parser = KeyParser()

    assert (parser.feed(b"\x1b"), parser.is_waiting) == ([], True)
    assert (parser.settle(), parser.is_waiting) == ([SpecialKey.ESCAPE], False)
    assert parser.settle() == []
    assert parser.feed(b"[A") == ["[A"]  # typed later, so it is text


@pytest.mark.parametrize("text", ["Please stop", "Ok, go on", "]P^_X", "[note] this", "größer", "no"])
def test_text_behind_an_esc_is_typed_text(text: str):
    parser = KeyParser()
    before = parser.feed(b"\x1b") + parser.settle()
    assert joined(before + parser.feed(text.encode())) == [SpecialKey.ESCAPE, text]


@pytest.mark.parametrize("text", ["Please stop", "Ok, go on", "]P^_X", "größer", "no"])
def test_esc_and_text_that_arrive_at_once_are_both_heard(text: str):
    assert pressed(f"\x1b{text}") == [SpecialKey.ESCAPE, text]


@pytest.mark.parametrize("letter", ["b", "P", "[", "O", "ä", "]"])
def test_alt_with_a_letter_does_not_interrupt_and_loses_nothing(letter: str):
    assert pressed(f"\x1b{letter}") == [letter]


def test_alt_enter_begins_a_line_and_alt_backspace_erases_a_word():
    assert pressed("one\x1b\rtwo") == ["one\ntwo"]
    assert pressed("one two\x1b\x7f") == ["one two", SpecialKey.ERASE_WORD]


def test_what_was_pasted_is_text_whatever_it_holds():
    assert pressed("a\x1b[200~one\rtwo\n\x1b[A\x03\x1b three\x1b[201~b\r") == ["aone\ntwo\n[A threeb", SpecialKey.ENTER]


def test_a_paste_that_is_cut_anywhere_is_the_same_paste():
    sent = b"\x1b[200~gr\xc3\xb6\xc3\x9fe\r[201~ \x1b[20\x1b[201~!"
    for at in range(len(sent) + 1):
        assert pressed(sent[:at], sent[at:]) == ["größe\n[201~ [20!"]


def test_letters_that_are_no_letters_are_shown_as_such():
    assert pressed(b"a\xffb") == ["a\ufffdb"]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=6)


@given(st.lists(WORDS | st.sampled_from([*MEANINGLESS.values(), "\x1b"]), max_size=8), st.data())
def test_no_letter_is_lost_and_each_esc_is_heard_however_the_bytes_are_cut(keys: list[str], data: st.DataObject):
    parser = KeyParser()
    presses: list[Press] = []
    for key in keys:  # each key is pressed for itself: before the next one, time passes
        sent = key.encode()
        cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=3)))
        for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
            presses += parser.feed(sent[start:end])
        presses += parser.settle()

    expected: list[Press] = [
        SpecialKey.ESCAPE if key == "\x1b" else key for key in keys if key not in MEANINGLESS.values()
    ]
    assert joined(presses) == joined(expected)
    assert not parser.is_waiting
