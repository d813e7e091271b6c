"""Where the region is after the window was made narrower."""

import pytest
from prompt_toolkit.data_structures import Point

from legato.cli.terminal.region import wrapped_cursor, wraps_on_resize


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
