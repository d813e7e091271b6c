"""Picking one of many: with keys typed into a terminal that is none, and by number."""

import io
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.cells import cell_len

from legato.cli.terminal.picker import PickList, Row, pick
from legato.cli.terminal.screen import Screen
from program import Answers

UP, DOWN, PAGE_DOWN, ENTER, ESC, CTRL_C, BACKSPACE = "\x1b[A", "\x1b[B", "\x1b[6~", "\r", "\x1b", "\x03", "\x7f"
ROWS = [Row(("apple", "red")), Row(("banana", "yellow"), about="is bent"), Row(("cherry", "red"))]


def picked(keys: str, rows: Sequence[Row] = ROWS, search: str = "") -> int | None:
    screen = Screen(io.StringIO())
    screen.is_live = True

    async def main() -> int | None:
        with anyio.fail_after(60):
            return await pick("fruit", rows, screen=screen, reader=Answers(), search=search)

    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text(keys)
        return anyio.run(main)


@pytest.mark.parametrize(
    ("keys", "index"),
    [
        (ENTER, 0),
        (DOWN + ENTER, 1),
        (DOWN * 9 + ENTER, 2),
        (PAGE_DOWN + UP + ENTER, 1),
        (f"RED{DOWN}{ENTER}", 2),
        (f"red che{ENTER}", 2),
        (f"none{ENTER}{BACKSPACE * 4}{ENTER}", 0),
        (ESC, None),
        (CTRL_C, None),
    ],
)
def test_keys_move_and_search_and_pick(keys: str, index: int | None):
    assert picked(keys) == index


def test_what_is_picked_already_is_marked_until_one_searches():
    rows = [ROWS[0], Row(("banana", "yellow"), is_present=True), ROWS[2]]
    assert picked(ENTER, rows) == 1
    assert picked(f"e{ENTER}", rows) == 0
    assert picked(f"e{BACKSPACE}{ENTER}", rows) == 1
    assert PickList("", rows).lines(80, 9)[1] == ("▸ banana  yellow", True)
    choice = PickList("", rows)
    choice.move(1)
    assert choice.lines(80, 9) == [("  apple   red", False), ("• banana  yellow", False), ("▸ cherry  red", True)]


def test_a_search_can_be_begun_already():
    assert picked(ENTER, search="red che") == 2
    assert picked(f"{BACKSPACE * 3}{ENTER}", search="red che") == 0


def test_the_marked_row_is_described():
    choice = PickList("fruit", ROWS)
    assert choice.about(80) == ["3 of 3"]
    choice.move(1)
    assert choice.about(80) == ["is bent"]
    choice.search("zzz")
    assert (choice.about(80), choice.picked) == (["nothing fits"], None)


def test_in_a_narrow_terminal_the_name_is_there_and_other_columns_are_told_of_the_marked_row():
    rows = [
        Row(("key", "200k", "$5/25", "anthropic/claude-sonnet-4-5"), "about 3k tokens " * 9),
        Row(("", "1M", "?", "a/b")),
    ]
    choice = PickList("", rows, columns=("key", "window", "price", "model"))

    assert choice.heading(80) == "  key  window  price  model"
    assert choice.lines(80, 9)[0][0] == "▸ key  200k    $5/25  anthropic/claude-sonnet-4-5"
    assert choice.heading(40) == "  price  model"
    assert [line for line, _ in choice.lines(40, 9)] == ["▸ $5/25  anthropic/claude-sonnet-4-5", "  ?      a/b"]
    first, second, third = choice.about(40)
    assert (first, second) == ("key · 200k · about 3k tokens about 3k", "tokens about 3k tokens about 3k tokens")
    assert third.endswith("…")
    assert len(third) <= 39


def test_where_nothing_can_be_drawn_a_number_is_asked_for():
    stream = io.StringIO()
    screen = Screen(stream)

    async def main(*answers: str | BaseException) -> int | None:
        return await pick("fruit", ROWS, screen=screen, reader=Answers(*answers))

    assert anyio.run(main, "4", "x", "2") == 1
    assert anyio.run(main, "") is None
    assert anyio.run(main, KeyboardInterrupt()) is None
    assert stream.getvalue().startswith(
        "fruit\n1  apple   red\n2  banana  yellow\n3  cherry  red\nType a number from 1"
    )


def test_nothing_can_be_picked_from_nothing():
    async def main() -> int | None:
        return await pick("fruit", [], screen=Screen(io.StringIO()), reader=Answers())

    assert anyio.run(main) is None


@given(st.lists(st.text(max_size=30), min_size=1), st.integers(20, 200), st.integers(1, 20), st.integers(-50, 50))
def test_the_marked_row_is_always_among_the_lines_and_none_is_too_wide(
    texts: list[str], width: int, height: int, by: int
):
    choice = PickList("", [Row((text,)) for text in texts])
    choice.move(by)
    lines = choice.lines(width, height)

    assert [is_marked for _, is_marked in lines].count(True) == 1
    assert len(lines) == min(height, len(texts))
    assert all(not set(line) & set("\n\r\x1b\x9b") and cell_len(line) < width for line, _ in lines)
