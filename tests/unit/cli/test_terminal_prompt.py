"""The keys of the prompt, typed into a terminal that is none."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from legato.cli.terminal.prompt import Prompt

CTRL_C, CTRL_D, ENTER, ALT_ENTER = "\x03", "\x04", "\r", "\x1b\r"


def typed(keys: str, ask: Callable[[Prompt], Any]) -> str:
    async def main(prompt: Prompt) -> str:
        with anyio.fail_after(60):
            return await ask(prompt)

    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text(keys)
        return anyio.run(main, Prompt())


def message(keys: str) -> str:
    return typed(keys, lambda prompt: prompt.message())


def answer(keys: str, default: str = "") -> str:
    return typed(keys, lambda prompt: prompt.line("command: ", default=default))


def test_enter_sends_and_alt_enter_begins_a_line():
    assert message(f"one{ALT_ENTER}two{ENTER}") == "one\ntwo"


def test_ctrl_c_empties_a_message_and_interrupts_at_an_empty_one():
    assert message(f"one{CTRL_C}two{ENTER}") == "two"
    with pytest.raises(KeyboardInterrupt):
        message(f"one{CTRL_C}{CTRL_C}")


def test_ctrl_c_at_a_question_interrupts_whatever_stands_there():
    # Were the line only emptied, the next thing that is typed would be run as the edited command.
    with pytest.raises(KeyboardInterrupt):
        answer(f"{CTRL_C}hello{ENTER}", default="rm -r x")


def test_an_answer_begins_with_what_is_proposed():
    assert answer(f" -l{ENTER}", default="ls") == "ls -l"


@pytest.mark.parametrize("ask", [message, answer])
def test_ctrl_d_at_an_empty_line_ends(ask: Callable[[str], str]):
    with pytest.raises(EOFError):
        ask(CTRL_D)
