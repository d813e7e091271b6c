"""Cells, folds, words and styles: text that keeps to its place."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from legato.cli.terminal.cells import barred, clip, flowing, one_line, table
from legato.cli.terminal.diffs import is_diff, style_of
from legato.cli.terminal.folding import fold
from legato.cli.terminal.styles import ColorChoice, Style, paint, wants_colour
from legato.cli.terminal.words import about_route, dollars, is_failure, result_text, seconds, subject_of, tokens
from legato.model import CallId, ClosureReason, Media, MediaKind, ToolResponse, Usage
from legato.tools.budget import cut


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


# --- cells ---


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=200), st.integers(20, 80))
def test_a_line_behind_a_bar_is_whole_and_leaves_no_room_beside_it(line: str, width: int):
    pieces = barred(line, width)

    assert "".join(piece.removeprefix("  │ ") for piece in pieces) == line
    assert all(piece.startswith("  │ ") and cell_len(piece) < width for piece in pieces)


def test_parts_that_do_not_fit_into_one_line_begin_another():
    assert flowing(["one", "two", "three"], 12) == ["  one   two", "  three"]
    assert flowing(["much too long for it", "x"], 10) == ["  much to…", "  x"]


def test_a_route_leaves_out_its_provider_where_space_is_short():
    assert about_route("mistral/large", "ask", 19) == "mistral/large · ask"
    assert about_route("mistral/large", "ask", 18) == "large · ask"


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=5), st.integers(20, 80))
def test_no_cell_leaves_its_row(rows: list[tuple[str, str]], width: int):
    lines = table(rows, width=width)

    assert len(lines) == len(rows)
    assert not any("\n" in line or "\x1b" in line for line in lines)


@given(st.text(max_size=50), st.integers(2, 40))
def test_a_clipped_text_fits(text: str, width: int):
    assert cell_len(clip(text, width)) <= width


def test_columns_stand_below_each_other():
    assert table([("a", "1"), ("long name", "2")], width=80) == ["a          1", "long name  2"]


def test_the_flexible_column_gives_way_where_space_is_short():
    assert table([("id", "x" * 50)], width=20) == ["id  xxxxxxxxxxxxxxx…"]


def test_an_empty_table_has_no_lines():
    assert table([], width=80) == []


def test_one_line_has_no_line_ends_and_no_escapes():
    assert one_line(" a\n\tb \x1b[31mc ") == "a b c"


# --- folding ---


def test_short_output_is_not_folded():
    assert fold("one\ntwo\n\n", 4) == ["one", "two"]


def test_long_output_keeps_its_beginning_and_its_end():
    text = "\n".join(str(number) for number in range(100))

    assert fold(text, 6) == ["0", "1", "2", "3", "… 94 more lines …", "98", "99"]


def test_a_very_long_line_is_cut():
    assert fold("x" * 1000, 3) == ["x" * 400 + "… (1,000 characters)"]


def test_one_line_of_room_shows_the_first():
    assert fold("a\nb\nc\nd", 1) == ["a", "… 3 more lines …"]


def test_what_was_cut_before_anyone_saw_it_is_told_too() -> None:
    text = cut("\n".join(map(str, range(100_000))), 4_000, kept="kept.txt")
    lines, lost = len(text.split("\n")), text.partition("[cut: ")[2].partition(" ")[0]
    assert fold(text, 3) == ["0", "1", f"… {lines - 3:,} more lines, and {lost} characters that were cut …", "99999"]
    assert fold("a\n[cut: 1,234 characters are left out here]\nb\nc", 1) == [
        "a",
        "… 3 more lines, and 1,234 characters that were cut …",
    ]


# --- differences ---


@pytest.mark.parametrize(
    ("line", "style"),
    [("+++ b/x", Style.BOLD), ("@@ -1 +1 @@", Style.CYAN), ("+new", Style.GREEN), ("-old", Style.RED), (" same", None)],
)
def test_lines_of_a_difference_have_the_usual_colours(line: str, style: Style | None):
    assert style_of(line) is style


def test_only_a_header_of_two_lines_makes_a_difference():
    assert is_diff(["--- a/x", "+++ b/x", "@@"])
    assert not is_diff(["- item", "+ item"])
    assert not is_diff([])


# --- words ---


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"command": "git status"}, "git status"),
        ({"path": "a.py", "limit": 3}, "a.py  (limit)"),
        ({"path": "a.py", "content": "text"}, "a.py"),
        ({"city": "Rome"}, '{"city":"Rome"}'),
        ({}, ""),
    ],
)
def test_the_subject_of_a_call_is_what_it_is_about(arguments: dict[str, object], subject: str):
    assert subject_of(arguments) == subject


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (ToolResponse(result="done"), "done"),
        (ToolResponse(result={"a": 1}), '{\n  "a": 1\n}'),
        (ToolResponse(error="broken", result="half"), "broken\nhalf"),
        (ToolResponse(reason=ClosureReason.DENIED, said="too risky"), "denied: too risky"),
        (ToolResponse(reason=ClosureReason.CANCELLED_RUNNING, result="so far"), "cancelled while it ran\nso far"),
        (ToolResponse(media=(Media(kind=MediaKind.IMAGE, mime="image/png", data=""),)), "[image image/png]"),
    ],
)
def test_a_result_reads_as_a_person_would_say_it(response: ToolResponse, text: str):
    assert result_text(response) == text


def test_every_closure_has_words_for_a_person():
    for reason in ClosureReason:
        assert result_text(ToolResponse(call_id=CallId("x"), reason=reason))


def test_errors_and_closures_are_failures():
    assert is_failure(ToolResponse(error="x"))
    assert is_failure(ToolResponse(reason=ClosureReason.DENIED))
    assert not is_failure(ToolResponse(result="x"))


def test_numbers_are_short():
    assert tokens(Usage(input=1234, output=5, cache_read=1000)) == "1.2k in (1.0k cached), 5 out"
    assert tokens(Usage(input=2_500_000, output=999)) == "2.5M in, 999 out"
    assert (dollars(0.01234), dollars(12.5)) == ("$0.0123", "$12.50")
    assert (dollars(None), dollars(None, known=0.5), dollars(0.0)) == ("price unknown", "at least $0.5000", "$0.0000")
    assert (seconds(4.25), seconds(59.94), seconds(185.0)) == ("4.2 s", "59.9 s", "3 min 5 s")
    assert (seconds(59.96), seconds(299.99)) == ("1 min", "5 min")


# --- colours ---


@pytest.mark.parametrize(
    ("choice", "environment", "wanted"),
    [
        (ColorChoice.AUTO, {"TERM": "xterm"}, True),
        (ColorChoice.AUTO, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (ColorChoice.AUTO, {"TERM": "dumb"}, False),
        (ColorChoice.AUTO, {}, False),
        (ColorChoice.ALWAYS, {"TERM": "dumb", "NO_COLOR": "1"}, True),
        (ColorChoice.NEVER, {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_used_where_they_are_wanted(choice: ColorChoice, environment: dict[str, str], wanted: bool):
    assert wants_colour(Terminal(), choice, environment) is wanted


def test_a_pipe_gets_no_colours():
    assert not wants_colour(io.StringIO(), ColorChoice.AUTO, {"TERM": "xterm"})


def test_a_style_never_reaches_over_the_end_of_a_line():
    assert paint("a\n\nb", Style.RED) == "\x1b[31ma\x1b[0m\n\n\x1b[31mb\x1b[0m"
