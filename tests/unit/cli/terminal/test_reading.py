"""Questions at a plain terminal, and the gate that keeps the screen for them."""

import os
import pty
import select
import sys
from collections.abc import Iterator

import anyio
import pytest

from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.reading import PlainReader
from legato.cli.terminal.screen import Screen
from program import until


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input; the end at which somebody types."""
    keyboard, terminal = pty.openpty()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield keyboard
    os.close(keyboard)


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
