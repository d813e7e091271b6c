"""The keys of the prompt, typed into a terminal that is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from prompt_toolkit.application import create_app_session, get_app
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from legato.cli.terminal.prompt import Prompt
from program import until

CTRL_C, CTRL_D, CTRL_E, CTRL_G, CTRL_R = "\x03", "\x04", "\x05", "\x07", "\x12"
ENTER, ESC, ALT_ENTER = "\r", "\x1b", "\x1b\r"


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


def test_esc_at_a_question_interrupts_whatever_stands_there():
    with pytest.raises(KeyboardInterrupt):
        answer(ESC, default="rm -r x")


def test_alt_enter_begins_a_line_in_an_answer_too():
    assert answer(f"one{ALT_ENTER}two{ENTER}") == "one\ntwo"


# --- searching with Ctrl-R ---


def searched(folder: Path, *prompts: str) -> list[str]:
    """What comes of each prompt in turn, if there is a history; `interrupted` where Ctrl-C ends it.

    A prompt whose keys end without Enter is withdrawn.
    """
    history = folder / "history"
    history.write_text("\n# then\n+first question\n\n# then\n+second question\n")
    results: list[str] = []

    async def ask(prompt: Prompt) -> None:
        try:
            results.append(await prompt.message())
        except KeyboardInterrupt:
            results.append("interrupted")

    async def main() -> None:
        prompt = Prompt(history=history)
        for keys in prompts:
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    group.start_soon(ask, prompt)
                    await anyio.wait_all_tasks_blocked()  # the history is loaded
                    keyboard.send_text(keys)
                    if not keys.endswith((ENTER, CTRL_C)):
                        await until(lambda: get_app().layout.is_searching)
                        group.cancel_scope.cancel()

    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        anyio.run(main)
    return results


@pytest.mark.parametrize("accept", [ENTER, ESC])
def test_what_a_search_found_is_put_into_the_line_and_not_sent(tmp_path: Path, accept: str):
    assert searched(tmp_path, f"draft{CTRL_R}first{accept}{CTRL_E} again{ENTER}") == ["first question again"]


@pytest.mark.parametrize("leave", [CTRL_C, CTRL_D, CTRL_G])
def test_a_search_that_is_left_leaves_the_line_as_it_was(tmp_path: Path, leave: str):
    assert searched(tmp_path, f"draft{CTRL_R}first{leave} on{ENTER}") == ["draft on"]
    assert searched(tmp_path, f"draft{CTRL_R}{leave} on{ENTER}") == ["draft on"]


def test_ctrl_c_in_a_search_leaves_the_search_and_the_next_one_is_meant_for_the_line(tmp_path: Path):
    assert searched(tmp_path, f"{CTRL_R}first{CTRL_C}{CTRL_C}", f"typed{ENTER}") == ["interrupted", "typed"]


def test_a_prompt_that_was_withdrawn_in_the_middle_of_a_search_leaves_the_next_one_its_keys(tmp_path: Path):
    assert searched(tmp_path, f"{CTRL_R}first", f"typed{ENTER}") == ["typed"]
