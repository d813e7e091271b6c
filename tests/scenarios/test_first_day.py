"""A first day in a real terminal, at three sizes: answers that stream, tools, questions, keys, resizing, coming back.

The answers have a pace, because what goes wrong while text streams cannot be seen when it comes in one burst. What the
terminal shows is read from an emulator.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from terminal_support import Person

Sit = Callable[..., Person]
SIZES = [(80, 24), (40, 12), (120, 45)]
ESC, CTRL_C, CTRL_J, CTRL_O, CTRL_Z, SHIFT_TAB, UP = "\x1b", "\x03", "\n", "\x0f", "\x1a", "\x1b[Z", "\x1b[A"


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """Sit down in front of a terminal."""
    people: list[Person] = []

    def run(*arguments: str, size: tuple[int, int] = (80, 24), **variables: Any) -> Person:
        people.append(Person(tmp_path, "--simulate", *arguments, size=size, **variables))
        return people[-1]

    yield run
    for person in people:
        person.end()


def joined(shown: str) -> str:
    """Words as they follow each other, wherever the rows end."""
    return " ".join(shown.split())


@pytest.mark.parametrize("size", SIZES)
def test_a_first_day(sit: Sit, size: tuple[int, int]):
    """Markdown, a draft and a queue while it streams, tools side by side, a denial, an interruption, and goodbye."""
    person = sit("--pace", "30/s", size=size)
    for name in ("a.txt", "b.txt"):
        (person.work / name).write_text(f"this is {name}\n")

    person.says("answer in Markdown")
    person.glimpses("answering")
    person.types("use read on a.txt and b.txt\r")
    person.glimpses("⋯ use read on")
    person.types("a dra")
    shown = joined(person.turn())
    for words in ("What claude-sonnet-4-5 can write", "• an item of a list", 'return f"Hello, {name}!" # and', "all."):
        assert words in shown
    assert "**" not in shown

    shown = joined(person.turn())
    for name in ("a.txt", "b.txt"):
        assert shown.count(f"● read {name}") == 1
        assert f"└ read {name} this is {name}" in shown or f"● read {name} this is {name}" in shown
    person.glimpses("› a dra")
    person.at_prompt()
    person.types(CTRL_C)
    person.until(lambda: "› a dra" not in person.screen.shown)

    person.says('call shell with {"command": "touch made.txt"}')
    person.answers("n not here")
    assert "└ shell touch made.txt denied: not here" in joined(person.turn())

    person.says("answer in 900 lines")
    person.comes("Line 3 of 900")
    person.types(f"never sent\r{ESC}")
    person.sees("cancelled")
    person.glimpses("› never sent")
    person.at_prompt()
    person.types(CTRL_C)
    person.until(lambda: "› never sent" not in person.screen.shown)

    assert len([row for row in person.screen.rows if row.startswith("›")]) == 5  # four messages and the box
    person.says("/quit")
    person.sees("Resume with: legato --resume")
    assert person.left() == 0
    assert not (person.work / "made.txt").exists()


@pytest.mark.parametrize("size", SIZES)
def test_resizing_while_it_answers_leaves_every_line_once(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "40/s", size=size)
    person.says("answer in 60 lines")
    for number, other in enumerate([(100, 30), (36, 14), (60, 10), size], 1):
        person.comes(f"Line {number * 10} of 60")
        person.resizes(*other)
    shown = joined(person.turn())

    assert [shown.count(f"Line {number} of 60, by claude-sonnet-4-5.") for number in range(1, 61)] == [1] * 60
    rows = person.screen.rows
    assert sum("answering" in row for row in rows) == 0
    assert len([row for row in rows if row.startswith("›")]) == 2


def test_keys_at_rest(sit: Sit):
    """Esc twice, Shift-Tab, Ctrl-O, new lines, long pastes, an editor."""
    person = sit(PAGER="cat", VISUAL="sed -i s/draft/letter/")
    (person.work / "long.txt").write_text("".join(f"row {number}\n" for number in range(40)))

    person.says("use read on long.txt")
    assert "more lines (Ctrl-O)" in person.turn()
    person.at_prompt()
    person.types(CTRL_O)
    person.sees("row 20")
    person.types(SHIFT_TAB)
    person.glimpses(" · edits · ")

    person.types(f"{ESC}{ESC}")
    person.glimpses("› use read on long.txt")
    person.glimpses("takes the last message back")
    person.types("\x15one\ntwo\r")
    shown = person.turn()
    assert "Undone: use read on long.txt" in shown
    assert 'heard: "one two"' in shown

    person.at_prompt()
    pasted = "\r".join(f"pasted {number}" for number in range(12))
    person.types(f"see \x1b[200~{pasted}\x1b[201~")
    person.glimpses("› see [pasted text #1, 12 lines]")
    person.types("\r")
    assert "see pasted 0 pasted 1" in joined(person.turn())

    person.at_prompt()
    person.types("a draft")
    person.glimpses("› a draft")
    person.types("\x18\x05")
    person.glimpses("› a letter")
    person.types(CTRL_C)


def test_ctrl_z_gives_the_shell_back_and_fg_goes_on(tmp_path: Path):
    """In a shell with job control, and with a draft in the box."""
    shell = Person(tmp_path, program=("bash", "--norc", "--noprofile", "-i"), PS1="$ ", PYTHON=sys.executable)
    try:
        shell.sees("$")
        shell.types("\"$PYTHON\" -c 'from legato.cli import main; main()' --simulate\r")
        shell.sees("/help")
        shell.at_prompt()
        shell.types("half")
        shell.glimpses("› half")
        shell.types(CTRL_Z)
        shell.sees("Stopped")
        shell.sees("$")  # what is typed before the shell reads is shown twice: by the terminal, then by the shell
        shell.types("stty -a | grep -o ' -*echo ' | tr -d ' '; echo shell\r")
        assert shell.sees("shell") == "echo\nshell"
        shell.types("fg\r")
        shell.glimpses("› half")
        shell.types(" a line\r")
        assert 'heard: "half a line"' in shell.turn()
    finally:
        shell.end()


def test_a_question_comes_in_the_same_screen_and_the_draft_is_there_afterwards(sit: Sit):
    person = sit("--pace", "40/s", size=(40, 12))
    person.says('call shell with {"command": "echo hello"}')
    person.types("my dr")
    shown = person.answers("y")
    assert "shell wants to run:" in shown
    assert "│ echo hello" in shown
    assert "\a" in person.raw
    person.turn()
    person.glimpses("› my dr")
    person.types("aft\r")
    assert 'heard: "my draft"' in joined(person.turn())


def test_who_comes_back_after_a_kill_is_told_what_the_model_is_told(sit: Sit):
    person = sit()
    person.says('call shell with {"command": "echo started; sleep 600"}')
    person.answers("y")
    person.glimpses("sleep 600: started")
    person.child.kill(signal.SIGKILL)
    person.left()

    again = sit("-c")
    again.sees("goes on")
    again.sees("└ shell echo started; sleep 600: interrupted: the program ended while it ran;")
    again.says("/quit")
    assert again.left() == 0


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LANG": "C", "LC_ALL": "C"}])
def test_plainer_terminals_get_the_whole_answer(sit: Sit, variables: dict[str, str]):
    person = sit("--pace", "100/s", size=(40, 12), **variables)
    person.says("answer in Markdown")
    shown = joined(person.turn())
    if "LANG" not in variables:  # its colours say what the signs said
        assert "**bold words**" in shown
        assert "- an item of a list" in shown
    assert "That was all." in shown
    person.says("/quit")
    assert person.left() == 0
    if "TERM" in variables:
        assert "\x1b" not in person.raw
    else:
        assert "\x1b[31m" not in person.raw
