"""The keys of the prompt, typed into a terminal that is none."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.pastes import MOST_LINES
from live_terminal import LiveTerminal, in_terminal
from program import until

CTRL_C, CTRL_D, CTRL_E, CTRL_G, CTRL_J, CTRL_R = "\x03", "\x04", "\x05", "\x07", "\n", "\x12"
ENTER, ESC, ALT_ENTER, UP, SHIFT_TAB, CTRL_O = "\r", "\x1b", "\x1b\r", "\x1b[A", "\x1b[Z", "\x0f"
INTERRUPTED, ENDED = "(interrupted)", "(ended)"


async def heard(asked: Awaitable[str]) -> str:
    try:
        return await asked
    except KeyboardInterrupt:
        return INTERRUPTED
    except EOFError:
        return ENDED


def messages(*keys: str, history: Path | None = None) -> list[str]:
    """What comes of each of several prompts."""
    said: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        for typed in keys:
            async with anyio.create_task_group() as group:

                async def ask() -> None:
                    said.append(await heard(terminal.prompt.message()))

                group.start_soon(ask)
                await anyio.wait_all_tasks_blocked()  # the history is loaded
                terminal.types(typed)

    in_terminal(act, history=history)
    return said


def answer(keys: str, default: str = "") -> str:
    said: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                said.append(await heard(terminal.prompt.line("command: ", default=default)))

            group.start_soon(ask)
            await terminal.shows(lambda rows: any(row.startswith("command:") for row in rows))
            terminal.types(keys)

    in_terminal(act)
    return said[0]


@pytest.mark.parametrize("begins_a_line", [ALT_ENTER, CTRL_J])
def test_enter_sends_and_other_keys_begin_a_line(begins_a_line: str):
    assert messages(f"one{begins_a_line}two{ENTER}") == ["one\ntwo"]


def test_ctrl_c_empties_a_message_and_interrupts_at_an_empty_one():
    assert messages(f"one{CTRL_C}two{ENTER}", f"one{CTRL_C}{CTRL_C}") == ["two", INTERRUPTED]


def test_ctrl_c_at_a_question_interrupts_whatever_is_typed_there():
    # Were the line only emptied, the next thing that is typed would be run as the edited command.
    assert answer(f"{CTRL_C}hello{ENTER}", default="rm -r x") == INTERRUPTED


def test_an_answer_begins_with_what_is_proposed():
    assert answer(f" -l{ENTER}", default="ls") == "ls -l"


def test_ctrl_d_at_an_empty_line_ends():
    assert messages(CTRL_D) == [ENDED]


def test_esc_at_a_question_interrupts_whatever_is_typed_there():
    assert answer(ESC, default="rm -r x") == INTERRUPTED


def test_ctrl_d_at_a_question_withdraws_it_because_somebody_is_there():
    assert answer(CTRL_D) == INTERRUPTED
    assert answer(f"ab\x1b[D{CTRL_D}{ENTER}") == "a"


def test_alt_enter_begins_a_line_in_an_answer_too():
    assert answer(f"one{ALT_ENTER}two{ENTER}") == "one\ntwo"


# --- searching with Ctrl-R ---


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history"
    path.write_text("\n# then\n+first question\n\n# then\n+second question\n")
    return path


@pytest.mark.parametrize("accept", [ENTER, ESC])
def test_what_a_search_found_is_put_into_the_line_and_not_sent(history: Path, accept: str):
    assert messages(f"draft{CTRL_R}first{accept}{CTRL_E} again{ENTER}", history=history) == ["first question again"]


@pytest.mark.parametrize("leave", [CTRL_C, CTRL_D, CTRL_G])
def test_a_search_that_is_left_leaves_the_line_as_it_was(history: Path, leave: str):
    typed = [f"draft{CTRL_R}first{leave} on{ENTER}", f"draft{CTRL_R}{leave} on{ENTER}"]

    assert messages(*typed, history=history) == ["draft on", "draft on"]


def test_ctrl_c_in_a_search_leaves_the_search_and_the_next_one_is_meant_for_the_line(history: Path):
    typed = [f"{CTRL_R}first{CTRL_C}{CTRL_C}", f"typed{ENTER}"]

    assert messages(*typed, history=history) == [INTERRUPTED, "typed"]


def test_what_was_sent_is_called_up_again(history: Path):
    assert messages(f"third{ENTER}", f"{UP}!{ENTER}", history=history) == ["third", "third!"]


# --- while something runs ---


def running(act: Callable[[LiveTerminal], Awaitable[None]]) -> list[str]:
    """What the terminal shows in the end, if something runs meanwhile."""

    async def busy(terminal: LiveTerminal) -> None:
        with terminal.prompt.busy():
            terminal.screen.status("answering")
            await act(terminal)

    return in_terminal(busy).rows


def test_what_is_sent_waits_in_sight_and_can_be_taken_back_edited_and_removed():
    async def act(terminal: LiveTerminal) -> None:
        terminal.types(f"one{ENTER}two{ENTER}draft")
        await terminal.shows(lambda rows: rows == ["⋯ one", "⋯ two (↑ edits it)", "answering", "› draft"])
        terminal.types(f"{CTRL_E}{CTRL_C}")  # interrupts: what is typed stays
        terminal.types("\x15")  # Ctrl-U empties the line
        terminal.types(f"{UP} more{ENTER}")
        await terminal.shows(lambda rows: rows == ["⋯ one", "⋯ two more (↑ edits it)", "answering", "›"])
        terminal.types(f"{UP}\x15")
        await terminal.shows(lambda rows: rows == ["⋯ one (↑ edits it)", "answering", "›"])
        assert terminal.prompt.take_messages() == ["one"]

    assert running(act) == ["", "› one"]


def test_how_a_long_message_is_taken_back_is_in_sight_too():
    async def act(terminal: LiveTerminal) -> None:
        terminal.types(f"{'word ' * 30}{ENTER}")
        await terminal.shows(lambda rows: rows[0].endswith("… (↑ edits it)") and len(rows[0]) == 79)

    running(act)


def test_messages_up_to_a_command_are_taken_and_the_rest_waits_for_the_next_prompt():
    async def act(terminal: LiveTerminal) -> None:
        terminal.types(f"one{ENTER}/two{ENTER}three{ENTER}")
        await until(lambda: len(terminal.prompt.box.queue) == 3)
        assert terminal.prompt.take_messages() == ["one"]
        assert [await terminal.prompt.message(), await terminal.prompt.message()] == ["/two", "three"]

    assert running(act) == ["", "› one", "", "› /two", "", "› three"]


def test_an_interruption_puts_what_waits_back_into_the_box():
    async def act(terminal: LiveTerminal) -> None:
        terminal.types(f"one{ENTER}two{ENTER}dra")
        await terminal.shows(lambda rows: rows[-1] == "› dra")
        terminal.prompt.take_back()
        await terminal.shows(lambda rows: rows == ["answering", "› one", "  two", "  dra"])

    assert running(act) == []


@pytest.mark.parametrize("key", [ESC, CTRL_C])
def test_esc_and_ctrl_c_interrupt_what_runs_and_leave_what_is_typed(key: str):
    interrupts: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.interrupt = lambda: interrupts.append("now")
        terminal.types(f"draft{key}")
        await until(lambda: bool(interrupts))
        await terminal.shows(lambda rows: rows[-1] == "› draft")

    running(act)
    assert interrupts == ["now"]


def test_esc_that_interrupted_is_not_the_first_of_two():
    """Whoever presses it again wants what runs to end; it has ended meanwhile, and nothing is to be edited."""

    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.last_message = lambda: "the last one"
        with terminal.prompt.busy():
            interrupted = anyio.Event()
            terminal.prompt.actions.interrupt = interrupted.set
            terminal.types(ESC)
            await interrupted.wait()
        opened = anyio.Event()
        terminal.prompt.actions.open_output = opened.set
        terminal.types(f"{ESC}{CTRL_O}")
        await opened.wait()
        terminal.types("hm")
        await terminal.shows(lambda rows: rows == ["› hm"])

    in_terminal(act)


def test_keys_that_begin_with_an_esc_do_not_interrupt():
    interrupts: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.interrupt = lambda: interrupts.append("now")
        terminal.types("\x1b[A\x1bOP\x1b[1;5Cjoin\x1b[D\x1b[C in")
        await terminal.shows(lambda rows: rows[-1] == "› join in")

    running(act)
    assert interrupts == []


def test_a_line_that_is_dealt_with_at_once_does_not_wait():
    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.submitted = lambda line: line == "/cost"
        terminal.types(f"/cost{ENTER}hello{ENTER}")
        await until(lambda: terminal.prompt.box.queue == ["hello"])

    assert running(act) == ["", "› /cost"], "what it tells has its subject"


def test_a_question_waits_until_someone_has_stopped_typing():
    said: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        terminal.types("ye")
        await terminal.shows(lambda rows: rows[-1] == "› ye")
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                said.append(await terminal.prompt.line("allow? "))

            group.start_soon(ask)
            await anyio.sleep(0.3)
            terminal.types(f"s please{ENTER}")
            await until(lambda: terminal.prompt.box.queue == ["yes please"])
            await terminal.shows(lambda rows: any(row.startswith("allow?") for row in rows))
            terminal.types(f"n{ENTER}")

    running(act)
    assert said == ["n"]


def test_what_is_printed_while_a_question_is_there_comes_after_it():
    async def act(terminal: LiveTerminal) -> None:
        terminal.screen.line("before")
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                assert await terminal.prompt.line("allow? ") == "y"

            group.start_soon(ask)
            await terminal.shows(lambda rows: rows == ["before", "allow?"])
            terminal.screen.line("meanwhile")
            await anyio.wait_all_tasks_blocked()
            assert terminal.emulator.rows == ["before", "allow?"]
            terminal.types(f"y{ENTER}")

    assert running(act) == ["before", "allow? y", "meanwhile"]


# --- other keys ---


def test_esc_twice_at_rest_edits_the_last_message_and_ctrl_c_leaves_it():
    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.last_message = lambda: "the last one"
        terminal.types(f"{ESC}{ESC}")
        await terminal.shows(
            lambda rows: rows == ["› the last one", "sending this takes the last message back · Ctrl-C leaves it"]
        )
        terminal.types(CTRL_C)
        await terminal.shows(lambda rows: rows == ["›"])
        assert not terminal.prompt.take_replacing()
        terminal.types(f"{ESC}{ESC}")
        await terminal.shows(lambda rows: rows[0] == "› the last one")
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                assert await terminal.prompt.message() == "the last one!"

            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            terminal.types(f"!{ENTER}")
        assert terminal.prompt.take_replacing()

    in_terminal(act)


def test_shift_tab_and_ctrl_o_are_for_the_conversation():
    pressed: list[str] = []

    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.next_mode = lambda: pressed.append("mode")
        terminal.prompt.actions.open_output = lambda: pressed.append("output")
        terminal.types(f"{SHIFT_TAB}{CTRL_O}")
        await until(lambda: len(pressed) == 2)

    in_terminal(act)
    assert pressed == ["mode", "output"]


def test_a_long_paste_is_a_placeholder_in_the_box_and_whole_in_the_message():
    short = "\r".join(f"line {number}" for number in range(MOST_LINES))
    long = "\r".join(f"line {number}" for number in range(MOST_LINES + 1))
    said = messages(f"see \x1b[200~{long}\x1b[201~ and{ENTER}", f"\x1b[200~{short}\x1b[201~{ENTER}")

    assert said == [f"see {long} and".replace("\r", "\n"), short.replace("\r", "\n")]

    async def act(terminal: LiveTerminal) -> None:
        terminal.types(f"see \x1b[200~{long}\x1b[201~")
        await terminal.shows(lambda rows: rows == ["› see [pasted text #1, 11 lines]"])

    in_terminal(act)


def test_what_was_sent_is_shown_as_it_was_written():
    """Indented, with its spaces and tabs, and wrapped beside the mark."""

    async def act(terminal: LiveTerminal) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(terminal.prompt.message)
            await anyio.wait_all_tasks_blocked()
            terminal.types("\x1b[200~def f():\r    return  1\r\tx\r" + "word " * 9 + "\x1b[201~")
            await terminal.shows(
                lambda rows: rows == ["› def f():", "      return  1", "      x", f"  {'word ' * 7}wor", "  d word"]
            )
            terminal.types(ENTER)

    assert in_terminal(act, 40).rows == [
        *("", "› def f():", "      return  1", "      x"),
        *(f"  {' '.join(['word'] * 7)}", "  word word"),
    ]


def test_an_editor_gets_the_whole_text_and_gives_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and more" >> "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))

    async def act(terminal: LiveTerminal) -> None:
        terminal.types("a draft\x18\x05")
        await terminal.shows(lambda rows: rows == ["› a draft and more"])

    in_terminal(act)


def test_the_window_gets_a_title_that_cannot_hold_more_than_text():
    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.tell("legato · \x1b]0;evil\x07 · work")
        assert terminal.emulator.title == "legato · · work"

    in_terminal(act)


def test_the_screen_is_an_ordinary_one_without_a_prompt():
    async def act(terminal: LiveTerminal) -> None:
        assert isinstance(terminal.screen, LiveScreen)

    emulator = in_terminal(act)
    assert emulator.rows == []
