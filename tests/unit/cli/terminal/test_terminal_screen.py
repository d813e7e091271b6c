"""What is written to a person: lines, a status line that comes and goes, and two streams that share a terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import ColorChoice, Style, is_dumb
from terminal_support import shown_lines


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_what_is_written_takes_the_place_of_the_status_line(terminal: Terminal):
    screen = Screen(terminal, ColorChoice.NEVER)
    screen.status("waiting")
    screen.write("text")

    assert terminal.getvalue() == "\r\x1b[Kwaiting\r\x1b[Ktext"


def test_the_status_line_is_not_drawn_into_a_line_that_is_being_written(terminal: Terminal):
    screen = Screen(terminal, ColorChoice.NEVER)
    screen.write("half a line")
    screen.status("waiting")

    assert terminal.getvalue() == "half a line"


def test_a_status_that_is_taken_away_leaves_an_empty_line(terminal: Terminal):
    screen = Screen(terminal, ColorChoice.NEVER)
    screen.status("waiting")
    screen.status("waiting")
    screen.status("")

    assert terminal.getvalue() == "\r\x1b[Kwaiting\r\x1b[K"


def test_a_dumb_terminal_gets_lines_and_nothing_else(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    screen = Screen(terminal)
    screen.status("waiting")
    screen.line("text", Style.RED)

    assert is_dumb()
    assert terminal.getvalue() == "text\n"


def test_a_line_of_its_own_begins_a_line(terminal: Terminal):
    screen = Screen(terminal, ColorChoice.ALWAYS)
    screen.write("half")
    screen.line("red", Style.RED)
    screen.fresh_line()

    assert terminal.getvalue() == "half\n\x1b[31mred\x1b[0m\n"


# --- two screens for one terminal ---


def test_no_status_line_is_drawn_over_what_the_other_stream_wrote(terminal: Terminal):
    errors = Screen(terminal, ColorChoice.NEVER)
    answer = Screen(terminal, ColorChoice.NEVER, beside=errors)
    errors.status("waiting")
    answer.write("half of")
    errors.status("answering")
    answer.write(" an answer")

    assert terminal.getvalue() == "\r\x1b[Kwaiting\r\x1b[Khalf of an answer"


def test_no_stream_goes_on_in_a_line_that_the_other_began(terminal: Terminal):
    errors = Screen(terminal, ColorChoice.NEVER)
    answer = Screen(terminal, ColorChoice.NEVER, beside=errors)
    errors.write("a thought")
    answer.write("an answer")
    errors.line("a note")
    answer.fresh_line()
    answer.write("more")
    errors.leave()

    assert terminal.getvalue() == "a thought\nan answer\na note\nmore\n"


def test_a_pipe_beside_a_terminal_has_its_own_lines(terminal: Terminal):
    pipe = io.StringIO()
    errors = Screen(terminal, ColorChoice.NEVER)
    answer = Screen(pipe, beside=errors)
    answer.write("half an answer")
    errors.status("waiting")
    answer.fresh_line()

    assert (terminal.getvalue(), pipe.getvalue()) == ("\r\x1b[Kwaiting", "half an answer\n")


def test_who_leaves_takes_the_status_line_along(terminal: Terminal):
    screen = Screen(terminal, ColorChoice.NEVER)
    screen.status("waiting")
    screen.leave()

    assert terminal.getvalue() == "\r\x1b[Kwaiting\r\x1b[K"


_WRITES = st.tuples(
    st.sampled_from(["answer", "errors"]),
    st.sampled_from(["write", "line", "status", "fresh_line"]),
    st.text("ab \n", max_size=5),
)


@given(st.lists(_WRITES, max_size=12))
def test_two_screens_for_one_terminal_never_lose_a_letter_of_each_other(writes: list[tuple[str, str, str]]):
    terminal = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        errors = Screen(terminal, ColorChoice.NEVER)
        screens = {"errors": errors, "answer": Screen(terminal, ColorChoice.NEVER, beside=errors)}
        written = ""
        for name, how, text in writes:
            match how:
                case "write":
                    screens[name].write(text)
                    written += text
                case "line":
                    screens[name].line(text)
                    written += text
                case "status":
                    screens[name].status(text.strip() and f"status {text}")
                case _:
                    screens[name].fresh_line()
        errors.leave()

    assert "".join(shown_lines(terminal.getvalue())) == written.replace("\n", "")
