"""What is typed while a turn runs, and who has the keys."""

import io
import os
import pty
import select
import sys
import termios
from collections.abc import Iterator
from functools import partial

import anyio
import pytest

from legato.cli.chat.shared_terminal import SharedTerminal
from legato.cli.terminal import typing_ahead
from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.keys import SpecialKey
from legato.cli.terminal.reading import PlainReader
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.typing_ahead import Keyboard, TypingAhead
from program import until


def test_keys_become_lines_and_the_rest_waits():
    ahead = TypingAhead()

    assert ahead.feed(b"first\rseco") == ["first"]
    assert ahead.typed == "seco"
    assert ahead.feed(b"nd\n") == ["second"]


def test_letters_that_arrive_in_pieces_are_put_together():
    ahead = TypingAhead()
    for byte in "größe".encode():
        ahead.feed(bytes([byte]))

    assert ahead.take() == "größe"
    assert ahead.typed == ""


def test_erasing_works_and_arrow_keys_leave_nothing_behind():
    ahead = TypingAhead()
    ahead.feed(b"abx\x7f\x1b[D\x1b[3~c")
    assert ahead.typed == "abc"
    ahead.feed(b"\x15")
    assert ahead.typed == ""


def test_esc_is_heard_and_what_was_typed_stays():
    ahead = TypingAhead()

    assert ahead.feed(b"one\rtwo\x1b") == ["one"]
    assert ahead.is_waiting
    assert ahead.settle() == [SpecialKey.ESCAPE]
    assert ahead.feed(b", Please") == []
    assert ahead.take() == "two, Please"


def test_a_word_can_be_erased():
    ahead = TypingAhead()
    ahead.feed(b"one two three \x17")
    assert ahead.typed == "one two"
    ahead.feed(b"\x17\x17\x17")
    assert ahead.typed == ""


def test_pasted_lines_are_one_message():
    ahead = TypingAhead()

    assert ahead.feed(b"\x1b[200~one\rtwo\r\x1b[201~") == []
    assert ahead.feed(b"\r") == ["one\ntwo\n"]


def test_an_empty_line_is_nothing():
    assert TypingAhead().feed(b"\r  \r") == []


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input; the end at which somebody types."""
    keyboard, terminal = pty.openpty()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield keyboard
    os.close(keyboard)


def echoes() -> bool:
    return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ECHO)


class Heard:
    """What was heard at a keyboard, in order, and how its pastes were marked."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.marked: list[bool] = []
        self.keyboard = Keyboard(self.marked.append)

    async def listen(self) -> None:
        await self.keyboard.listen(self.all.append, interrupted=lambda: self.all.append("(Esc)"))


def test_a_keyboard_hears_lines_and_gives_the_terminal_back_as_it_was(keys: int):
    heard = Heard()

    async def main() -> None:
        keyboard = heard.keyboard
        async with anyio.create_task_group() as group:
            group.start_soon(heard.listen)
            await anyio.wait_all_tasks_blocked()
            assert not echoes()
            os.write(keys, b"one\r")
            await until(lambda: bool(heard.all))
            await keyboard.lend()
            assert echoes()
            keyboard.take_back()
            await anyio.wait_all_tasks_blocked()
            assert not echoes()
            os.write(keys, b"two\rthr")
            await until(lambda: keyboard.ahead.typed == "thr")
            group.cancel_scope.cancel()

    anyio.run(main)
    assert heard.all == ["one", "two"]
    assert heard.marked == [True, False, True, False]
    assert echoes()


def test_esc_is_heard_when_nothing_follows_and_what_is_typed_then_is_kept(keys: int):
    heard = Heard()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(heard.listen)
            await anyio.wait_all_tasks_blocked()
            os.write(keys, b"half\x1b")
            await until(lambda: heard.all == ["(Esc)"])
            os.write(keys, b" Please\r")
            await until(lambda: len(heard.all) == 2)
            group.cancel_scope.cancel()

    anyio.run(main)
    assert heard.all == ["(Esc)", "half Please"]


def test_an_arrow_key_that_arrives_in_two_pieces_does_not_interrupt(keys: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(typing_ahead, "ESCAPE_SECONDS", 3_600)  # however busy this machine is
    heard = Heard()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(heard.listen)
            await anyio.wait_all_tasks_blocked()
            os.write(keys, b"a\x1b")
            await until(lambda: heard.keyboard.ahead.is_waiting)
            os.write(keys, b"[Ab\r")
            await until(lambda: bool(heard.all))
            group.cancel_scope.cancel()

    anyio.run(main)
    assert heard.all == ["ab"]


def test_esc_pressed_just_before_a_question_is_heard_at_once_and_not_after_the_answer(
    keys: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(typing_ahead, "ESCAPE_SECONDS", 3_600)
    heard = Heard()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(heard.listen)
            await anyio.wait_all_tasks_blocked()
            os.write(keys, b"\x1b")
            await until(lambda: heard.keyboard.ahead.is_waiting)
            await heard.keyboard.lend()
            assert heard.all == ["(Esc)"]
            group.cancel_scope.cancel()

    anyio.run(main)


def test_a_question_that_an_esc_withdraws_before_it_is_asked_gives_the_screen_and_the_keys_back(
    keys: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(typing_ahead, "ESCAPE_SECONDS", 3_600)

    async def main() -> None:
        terminal, asking = SharedTerminal(Screen(io.StringIO())), anyio.CancelScope()
        keyboard = terminal.keyboard
        async with anyio.create_task_group() as group:
            listen = partial(keyboard.listen, interrupted=asking.cancel)
            group.start_soon(listen, lambda _: None)
            await anyio.wait_all_tasks_blocked()
            os.write(keys, b"\x1b")
            await until(lambda: keyboard.ahead.is_waiting)
            with asking:
                await terminal.take()
            assert asking.cancelled_caught
            assert terminal.gate.is_open
            os.write(keys, b"go on")
            await until(lambda: keyboard.ahead.typed == "go on")
            group.cancel_scope.cancel()

    anyio.run(main)


def test_a_plain_reader_reads_one_line_and_forgets_what_was_typed_before_the_question(keys: int):
    os.write(keys, b"y\n")
    select.select([sys.stdin], [], [], 60)  # it has arrived: what is still on its way cannot be forgotten

    async def main() -> tuple[str, str]:
        reader = PlainReader(Screen(sys.stderr))
        answers: list[str] = []

        async def read() -> None:
            answers.append(await reader.line("first? "))
            answers.append(await reader.line("second? ", default="same"))

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for count, line in enumerate((b"n\n", b"\n"), 1):
                await anyio.wait_all_tasks_blocked()
                os.write(keys, line)
                await until(lambda: len(answers) == count)  # noqa: B023  # waited for at once
        return answers[0], answers[1]

    assert anyio.run(main) == ("n", "same")


def test_a_gate_opens_when_the_last_of_those_who_closed_it_is_done():
    passed: list[str] = []

    async def main() -> None:
        gate = InputGate()
        await gate.passed()
        await gate.close()
        await gate.close()

        async def go() -> None:
            await gate.passed()
            passed.append("through")

        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await anyio.wait_all_tasks_blocked()
            gate.open()
            await anyio.wait_all_tasks_blocked()
            assert passed == []
            gate.open()

    anyio.run(main)
    assert passed == ["through"]
