"""The interactive program as a person meets it: a real terminal, real keys, simulated providers."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from terminal_support import PROMPT, Person


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def person(folder: Path) -> Iterator[Person]:
    somebody = Person(folder, "--simulate")
    yield somebody
    somebody.end()


def test_a_whole_conversation(person: Person):
    """A tool, an approval, a denial, Ctrl-C in a running tool, another family, a question of memory, and goodbye."""
    (person.work / "notes.txt").write_text("the treasure is under the old oak\n")

    person.says("use read on notes.txt")
    assert "● read notes.txt" in person.turn()

    person.says('call shell with {"command": "touch allowed.txt"}')
    shown = person.answers("y")
    assert "shell wants to run:" in shown
    assert "│ touch allowed.txt" in shown
    person.turn()
    assert (person.work / "allowed.txt").exists()

    person.says('call shell with {"command": "touch denied.txt"}')
    person.answers("n not in my folder")
    assert "denied: not in my folder" in person.turn()
    assert not (person.work / "denied.txt").exists()

    person.says('call shell with {"command": "echo started; touch running.txt; sleep 600"}')
    person.answers("y")
    person.glimpses("sleep 600: started")
    person.child.sendintr()
    assert "cancelled while it ran" in person.turn()

    person.says("/model mistral/mistral-large-latest")
    person.sees("mistral/mistral-large-latest answers from now on.")

    person.says("what did the first tool return?")
    assert "the treasure is under the old oak" in person.turn()

    person.says("/quit")
    assert person.left() == 0


# --- while an answer streams ---


@pytest.fixture
def streaming(folder: Path) -> Iterator[Person]:
    """Somebody whose answers take a while."""
    somebody = Person(folder, "--simulate", "--pace", "20/s")
    yield somebody
    somebody.end()


def test_esc_interrupts_an_answer_and_what_was_typed_is_the_beginning_of_the_next_message(streaming: Person):
    person = streaming
    person.says("answer in 900 lines")
    person.sees("Line 3 of 900")
    person.types("Please\x1b")
    person.sees("cancelled")
    person.sees(f"{PROMPT} Please")
    person.types(" go on\r")

    assert 'heard: "Please go on"' in person.turn()


def test_what_is_typed_behind_an_esc_is_never_lost(streaming: Person):
    person = streaming
    person.says("answer in 900 lines")
    person.sees("Line 3 of 900")
    person.types("\x1bPlease stop")
    person.sees("cancelled")
    person.sees(f"{PROMPT} Please stop")
    person.types("\r")

    assert 'heard: "Please stop"' in person.turn()
    person.says("answer in 2 lines")
    assert "Line 2 of 2" in person.turn()


def test_what_is_sent_while_it_answers_waits_in_sight_and_is_answered_behind_it(streaming: Person):
    person = streaming
    person.says("answer in 40 lines")
    person.sees("Line 3 of 40")
    person.types("\x1b[200~one\rtwo\x1b[201~\r")
    person.glimpses("⋯ one two (↑ edits it)")
    person.types("half a li")
    assert "Line 40 of 40" in person.turn()

    assert 'heard: "one two"' in person.turn()
    person.types("ne\r")
    assert 'heard: "half a line"' in person.turn()


def test_esc_at_a_question_withdraws_it(streaming: Person):
    person = streaming
    person.says('call shell with {"command": "touch made.txt"}')
    person.sees("allow?")
    person.types("\x1b")
    person.sees("cancelled")
    person.says("what did the last tool return?")
    person.turn()

    assert not (person.work / "made.txt").exists()


def test_esc_ends_a_tool_that_runs(streaming: Person):
    person = streaming
    person.says('call shell with {"command": "echo started; sleep 600"}')
    person.answers("y")
    person.glimpses("sleep 600: started")
    person.types("\x1b")

    assert "cancelled while it ran" in person.turn()


def test_a_search_in_the_history_ends_where_it_should(streaming: Person):
    person = streaming
    person.says("answer in 2 lines")
    person.turn()
    person.at_prompt()
    person.types("\x12")
    person.glimpses("I-search")
    person.types("answer\r\x05 please\r")

    assert "Line 2 of 2" in person.turn()
    person.at_prompt()
    person.types("\x12")
    person.glimpses("I-search")
    person.types("\x03\x03")
    person.sees("Press Ctrl-C again to leave.")
    person.says("can you see this")
    assert 'heard: "can you see this"' in person.turn()


# --- leaving ---


def test_ctrl_c_twice_at_an_empty_prompt_leaves(person: Person):
    person.at_prompt()
    person.types("half a line\x03")
    person.types("\x03")
    person.sees("Press Ctrl-C again to leave.")
    person.types("\x03")

    assert person.left() == 130


def test_sigterm_in_the_middle_of_a_tool_saves_and_leaves_and_the_session_goes_on_later(person: Person, folder: Path):
    person.says('call shell with {"command": "echo started; sleep 600"}')
    person.answers("y")
    person.glimpses("sleep 600: started")
    person.child.kill(signal.SIGTERM)
    assert person.left() == 143

    again = Person(folder, "--simulate", "-c", "-m", "gemini/gemini-3-pro-preview")
    try:
        again.sees("goes on:")
        again.says("what did the last tool return?")
        assert "cancelled while it was running" in again.turn()
        again.at_prompt()
        again.types("\x04")
        assert again.left() == 0
    finally:
        again.end()


def test_a_question_that_was_open_when_the_process_was_killed_is_asked_again(person: Person, folder: Path):
    person.says('call shell with {"command": "touch later.txt"}')
    person.sees("allow?")
    person.child.kill(signal.SIGKILL)
    person.left()

    again = Person(folder, "--simulate", "-c")
    try:
        again.sees("A question was open when this session ended; it is asked again.")
        again.answers("y")
        again.turn()
        assert (again.work / "later.txt").exists()
    finally:
        again.end()


def test_the_first_minute_works_without_a_key(folder: Path):
    person = Person(folder)
    try:
        person.sees("export ANTHROPIC_API_KEY=")
        person.sees("Try it now with a simulated model? [y/n] ")
        person.types("y\r")
        person.says("hello")
        assert 'heard: "hello"' in person.turn()
        person.says("/quit")
        assert person.left() == 0
    finally:
        person.end()


def test_without_a_key_and_without_a_wish_to_try_it_leaves(folder: Path):
    person = Person(folder)
    try:
        person.sees("[y/n] ")
        person.types("n\r")
        assert person.left() == 2
    finally:
        person.end()


def test_a_dumb_terminal_gets_no_escapes(folder: Path):
    person = Person(folder, "--simulate", TERM="dumb")
    try:
        person.says("use list on .")
        person.turn()
        person.says("/quit")
        assert person.left() == 0
        assert "\x1b" not in person.raw
    finally:
        person.end()


def test_a_hostile_tool_output_cannot_reach_the_terminal(person: Person):
    (person.work / "evil.txt").write_text("before\x1b]0;pwned\x07\x1b]52;c;ZXZpbA==\x07\x1b[2Jafter\u202e\n")
    person.says("use read on evil.txt")
    assert "beforeafter" in person.turn()

    assert "pwned" not in person.raw
    assert "\x1b]52" not in person.raw
    assert "\u202e" not in person.raw


def test_in_a_terminal_one_shot_use_asks_too(folder: Path):
    person = Person(folder, "--simulate", "-p", 'call shell with {"command": "touch made.txt"}')
    try:
        person.sees("│ touch made.txt")
        person.sees("allow?")
        person.types("y\n")
        person.sees('shell returned: "[no output]".')
        assert person.left() == 0
        assert (person.work / "made.txt").exists()
    finally:
        person.end()


def test_a_stored_session_is_picked_from_a_list(person: Person, folder: Path):
    person.says("remember apple_pie")
    person.turn()
    person.says("/quit")
    assert person.left() == 0

    again = Person(folder, "--simulate", "-r")
    try:
        again.sees("remember apple_pie")
        again.types("apple\r")
        again.sees("goes on:")
        again.says("/quit")
        assert again.left() == 0
    finally:
        again.end()


def test_a_server_and_the_settings_of_a_project_are_asked_for_before_anything_starts(folder: Path):
    work = folder / "work"
    work.mkdir()
    (work / "legato.toml").write_text('[approval]\nmode = "never"\n')
    (work / ".mcp.json").write_text('{"mcpServers": {"evil": {"command": "touch", "args": ["started.txt"]}}}')
    person = Person(folder, "--simulate")
    try:
        person.sees('│ approval.mode = "never"')
        person.sees("trust this file?")
        person.types("n\r")
        person.sees("│ touch started.txt")
        person.sees("start it?")
        person.types("n\r")
        person.sees("approval ask")
        person.says("/quit")
        assert person.left() == 0
        assert not (work / "started.txt").exists()
    finally:
        person.end()
