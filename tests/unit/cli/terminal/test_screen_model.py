"""The one screen: what is finished is in the terminal's history, once and whole, whatever happens below it."""

import random

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator import Emulator
from legato.cli.terminal.markdown import MarkdownStream
from legato.cli.terminal.streamed_text import StreamedText
from legato.cli.terminal.styles import Style
from live_terminal import LiveTerminal, in_terminal, screen_of

WORDS = st.sampled_from(
    [
        "a",
        "the",
        "an",
        "word",
        "words",
        "**bold**",
        "*it*",
        "`code`",
        "**two",
        "words**",
        "snake_case",
        "2",
        "*",
        "3",
        "[text](http://x.y/z)",
        "unclosed**",
        "`tick",
        "_x_",
        "extraordinarily-long-word-that-does-not-fit-into-forty-columns",
        "漢字かな交じり文",
        "~~no~~",
        "\\*",
        "end.",
    ]
)
PROSE = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
LINE = st.one_of(
    PROSE,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "-", "  -", "1.", "10)", ">", "    "]), PROSE),
    st.just(""),
    st.just("---"),
)
CODE = st.lists(st.sampled_from(["def f(x):", "    return 'y'  # z", "", '"""doc', "x" * 90]), max_size=6).map(
    lambda lines: "\n".join(["```python", *lines, "```"])
)
CELL = st.lists(WORDS, max_size=4).map(" ".join)
TABLE = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=4).map(
    lambda rows: "\n".join(["| one | two |", "|---|--:|", *(f"| {a} | {b} |" for a, b in rows)])
)
MARKDOWN = st.lists(st.one_of(LINE, LINE, CODE, TABLE), max_size=12).map("\n".join)
NO_TABLES = st.lists(st.one_of(LINE, LINE, CODE), max_size=12).map("\n".join)
SIZES = st.sampled_from([(80, 24), (40, 12), (120, 45), (23, 9)])
ROOMY = st.sampled_from([(80, 24), (40, 12), (120, 45), (23, 30)])
"""sizes between which the region stays lower than the window; see docs/decisions/0032-one-screen.md"""


def at_once(text: str, size: tuple[int, int], style: Style | None = None) -> list[str]:
    """What a terminal shows of a text that comes in one piece, without a prompt below it."""
    emulator = Emulator(*size)
    streamed = StreamedText(screen_of(emulator), style)
    streamed.feed(text)
    streamed.end()
    return emulator.rows


def pieces(text: str, seed: int) -> list[str]:
    dice = random.Random(seed)
    cut: list[str] = []
    while text:
        size = dice.choice([1, 2, 5, 17, 60])
        cut.append(text[:size])
        text = text[size:]
    return cut


@settings(max_examples=40)
@given(MARKDOWN, SIZES, st.integers(0, 2**32), st.sampled_from([None, Style.DIM]))
def test_however_a_text_is_cut_the_terminal_holds_what_it_would_hold_if_it_came_at_once(
    text: str, size: tuple[int, int], seed: int, style: Style | None
):
    async def stream(terminal: LiveTerminal) -> None:
        streamed = StreamedText(terminal.screen, style)
        for piece in pieces(text, seed):
            streamed.feed(piece)
            terminal.screen.status(f"answering {len(piece)}")
            if len(piece) > 2:
                await anyio.lowlevel.checkpoint()
        streamed.end()

    assert in_terminal(stream, *size).rows == at_once(text, size, style)


@pytest.mark.parametrize("begins", ["", "`", "|", "~~~ ", "- ", "> ", "-", "_", "```python\n", "| a |\n|---|\n|", "\\"])
@pytest.mark.parametrize("goes_on", ["x", "word ", "a_b ", "**", "漢", "| "])
@pytest.mark.parametrize("has_styles", [True, False])
def test_a_line_that_does_not_end_is_shown_as_it_comes_and_little_of_it_is_held(
    begins: str, goes_on: str, has_styles: bool
):
    text = begins + goes_on * (6_000 // len(goes_on)) + "\nthe end"
    once = MarkdownStream(has_styles=has_styles)
    whole = [*once.feed(text, 79), *once.end(79)]
    stream = MarkdownStream(has_styles=has_styles)
    rows: list[str] = []
    for at in range(0, len(text), 97):
        rows += stream.feed(text[at : at + 97], 79)
        assert sum(map(len, stream.pending(79))) < 6_000
    assert [*rows, *stream.end(79)] == whole


def words(rows: list[str]) -> str:
    return "".join("".join(rows).split()).replace("│", "").replace("─", "")


def resized(text: str, sizes: list[tuple[int, int]], seed: int) -> Emulator:
    """A terminal that was resized while `text` came."""
    dice = random.Random(seed)

    async def stream(terminal: LiveTerminal) -> None:
        streamed = StreamedText(terminal.screen)
        terminal.screen.status("answering · 1.2 s · anthropic/claude-sonnet-4-5 · 10.2k in, 345 out")
        terminal.types("a draft that is being typed meanwhile, and is longer than a narrow terminal")
        for piece in pieces(text, seed):
            streamed.feed(piece)
            if dice.random() < 0.2:
                columns, lines = dice.choice(sizes)
                terminal.emulator.resize(lines, columns)
                terminal.prompt.refresh()
            if dice.random() < 0.5:
                await anyio.lowlevel.checkpoint()
        streamed.end()

    return in_terminal(stream, *sizes[0])


@settings(max_examples=40)
@given(NO_TABLES, st.lists(ROOMY, min_size=2, max_size=6), st.integers(0, 2**32))
def test_resizing_tears_doubles_and_erases_nothing(text: str, sizes: list[tuple[int, int]], seed: int):
    shown = resized(text, sizes, seed)
    assert words(shown.rows) == words(at_once(text, (shown.columns, shown.lines)))


@settings(max_examples=20)
@given(MARKDOWN, st.lists(ROOMY, min_size=2, max_size=6), st.integers(0, 2**32))
def test_resizing_takes_nothing_from_a_table(text: str, sizes: list[tuple[int, int]], seed: int):
    """How a table's cells are folded depends on the width at which it was printed, and so does what follows what."""
    shown = resized(text, sizes, seed)
    assert sorted(words(shown.rows)) == sorted(words(at_once(text, (shown.columns, shown.lines))))


def test_a_region_in_the_first_row_leaves_nothing_in_the_history():
    async def act(terminal: LiveTerminal) -> None:
        terminal.types("draft")
        await terminal.shows(lambda rows: rows == ["› draft"])
        terminal.screen.line("finished")
        await terminal.shows(lambda rows: rows == ["finished", "› draft"])

    assert in_terminal(act).rows == ["finished"]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_the_region_is_below_what_is_finished_and_goes_away_without_a_trace(size: tuple[int, int]):
    async def act(terminal: LiveTerminal) -> None:
        terminal.prompt.actions.below = lambda: "a/b · ask"
        terminal.screen.line("finished")
        terminal.screen.write("unfin")
        terminal.screen.status("waiting · 1 s")
        terminal.types("draft")
        await terminal.shows(lambda rows: rows == ["finished", "unfin", "waiting · 1 s", "› draft", "a/b · ask"])
        terminal.screen.write("ished\n")
        await terminal.shows(lambda rows: rows == ["finished", "unfinished", "waiting · 1 s", "› draft", "a/b · ask"])

    assert in_terminal(act, *size).rows == ["finished", "unfinished"]
