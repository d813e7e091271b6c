"""Where the region is after the window was made narrower."""

import pytest
from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point

from emulator import Emulator
from legato.cli.terminal.region import draw_in_region, output_of, wrapped_cursor, wraps_on_resize
from live_terminal import screen_of


@pytest.mark.parametrize(
    ("environment", "wraps"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(379)"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen", "STY": "1.pts"}, False),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "XTERM_VERSION": "XTerm(379)"}, True),
    ],
)
def test_terminals_that_cut_rows_are_known(environment: dict[str, str], wraps: bool):
    assert wraps_on_resize(environment) is wraps


@pytest.mark.parametrize(
    ("sizes", "cursor", "columns", "now"),
    [
        ([], Point(5, 0), 10, Point(5, 0)),
        ([10, 10], Point(3, 2), 10, Point(3, 2)),
        ([11, 10, 1], Point(3, 3), 10, Point(3, 4)),
        ([80], Point(25, 1), 10, Point(5, 10)),
    ],
)
def test_rows_that_were_wrapped_are_counted(sizes: list[int], cursor: Point, columns: int, now: Point):
    assert wrapped_cursor(sizes, cursor, columns) == now


def test_a_region_that_is_not_there_erases_nothing_of_what_took_its_place():
    """A picker or a pager is on the screen, the cursor is in its first row, and the window was resized."""
    emulator = Emulator(80, 24)
    output = output_of(screen_of(emulator))
    renderer = draw_in_region(Application(output=output), output)
    emulator.feed("pick one: \r\nfirst\r\nsecond\x1b[2A")

    renderer.erase()

    assert emulator.rows == ["pick one:", "first", "second"]
