"""What is typed while a turn runs, and who has the keys."""

import os
import pty
import select
import sys
import termios
from collections.abc import Iterator

import anyio
import pytest

from legato.cli.terminal.gate import Gate
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


def test_a_keyboard_hears_lines_and_gives_the_terminal_back_as_it_was(keys: int):
    heard: list[str] = []

    async def main() -> None:
        keyboard = Keyboard()
        async with anyio.create_task_group() as group:
            group.start_soon(keyboard.listen, heard.append)
            await anyio.wait_all_tasks_blocked()
            assert not echoes()
            os.write(keys, b"one\r")
            await until(lambda: bool(heard))
            await keyboard.lend()
            assert echoes()
            keyboard.take_back()
            await anyio.wait_all_tasks_blocked()
            assert not echoes()
            os.write(keys, b"two\rthr")
            await until(lambda: keyboard.ahead.typed == "thr")
            group.cancel_scope.cancel()

    anyio.run(main)
    assert heard == ["one", "two"]
    assert echoes()


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
        gate = Gate()
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
