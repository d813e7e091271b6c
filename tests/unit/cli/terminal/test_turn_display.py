"""A turn on a screen: what each event looks like."""

import io

import pytest

from legato.cli.terminal.cells import clip
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import ColorChoice
from legato.cli.terminal.turn_display import Folded, ShowSettings, TurnDisplay
from legato.model import CallId, ClosureReason, ToolCall, ToolResponse, Usage
from legato.model.records import TurnOutcome
from legato.session import events

ID = CallId("hist_tool_1")
DIFF = "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-old\n+new"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(*happened: events.Event, settings: ShowSettings | None = None, edits: dict[CallId, str] | None = None) -> str:
    """What a pipe, which has no status line and no colours, gets to see."""
    stream = io.StringIO()
    show = TurnDisplay(Screen(stream), settings, edits=edits, clock=lambda: 0.0)
    show.begin("a/b")
    for event in happened:
        show.show(event)
    return stream.getvalue()


def test_text_is_shown_as_it_comes():
    assert shown(events.TextShown(text="Hel"), events.TextShown(text="lo")) == "Hello"


def test_thinking_is_dimmed_and_stands_apart_from_the_text(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    show = TurnDisplay(Screen(stream, ColorChoice.ALWAYS), clock=lambda: 0.0)
    for event in (events.Thought(text="hm *"), events.TextShown(text="y*e*s"), events.CallsMade(calls=())):
        show.show(event)

    assert [line for line in stream.getvalue().replace("\r\x1b[K", "\n").split("\n") if " · " not in line and line] == [
        "\x1b[2mhm *\x1b[0m",
        "y\x1b[3me\x1b[0ms",
    ]


def test_thinking_can_be_left_out():
    assert (
        shown(events.Thought(text="hm"), events.TextShown(text="yes"), settings=ShowSettings(thinking=False)) == "yes"
    )


def test_an_escape_sequence_that_is_split_over_two_deltas_does_not_pass():
    assert shown(events.TextShown(text="a\x1b]0;ti"), events.TextShown(text="tle\x07b")) == "ab"


def test_what_the_filter_held_back_is_shown_at_the_end_of_the_text():
    assert shown(events.TextShown(text="a\x1b[3"), events.CallsMade(calls=())) == "a␛[3\n"


def test_a_tool_is_named_with_what_it_is_about_and_its_result_follows():
    assert (
        shown(
            events.ToolBegan(call=ID, name="read", arguments={"path": "x.txt"}),
            events.ToolEnded(call=ID, name="read", response=ToolResponse(result="one\ntwo")),
        )
        == "● read x.txt\n  one\n  two\n"
    )


def test_long_output_is_folded():
    text = "\n".join("abcdefghij")
    told = shown(
        events.ToolBegan(call=ID, name="read", arguments={}),
        events.ToolEnded(call=ID, name="read", response=ToolResponse(result=text)),
        settings=ShowSettings(lines=3),
    )

    assert told == "● read\n  a\n  b\n  … 7 more lines …\n  j\n"


def test_an_edit_is_shown_as_its_difference_and_not_twice():
    began = events.ToolBegan(call=ID, name="edit", arguments={"path": "x.txt"})
    ended = events.ToolEnded(call=ID, name="edit", response=ToolResponse(result=DIFF))
    lines = "".join(f"  {line}\n" for line in DIFF.split("\n"))

    assert shown(began, ended, edits={ID: DIFF}) == f"● edit x.txt\n{lines}"
    assert shown(began, ended) == f"● edit x.txt\n{lines}"


def test_a_written_file_is_shown_as_its_difference_with_what_the_tool_said():
    ended = events.ToolEnded(call=ID, name="write", response=ToolResponse(result="Created x.txt (1 line)."))
    told = shown(events.ToolBegan(call=ID, name="write", arguments={"path": "x.txt"}), ended, edits={ID: DIFF})

    assert told.endswith("  -old\n  +new\n  Created x.txt (1 line).\n")


def test_an_edit_that_failed_shows_no_difference():
    ended = events.ToolEnded(call=ID, name="edit", response=ToolResponse(error="no such text"))
    told = shown(events.ToolBegan(call=ID, name="edit", arguments={"path": "x"}), ended, edits={ID: DIFF})

    assert told == "● edit x\n  no such text\n"


def test_a_call_that_never_started_is_named_with_its_end():
    ended = events.ToolEnded(call=ID, name="shell", response=ToolResponse(reason=ClosureReason.DENIED, said="no"))

    assert shown(ended) == "└ shell\n  denied: no\n"
    call = ToolCall(name="shell", id=ID, arguments={"command": "rm x"})
    assert shown(events.CallsMade(calls=(call,)), ended) == "└ shell rm x\n  denied: no\n"


def test_results_of_calls_that_ran_side_by_side_are_told_apart():
    one, two = CallId("hist_tool_1"), CallId("hist_tool_2")
    assert (
        shown(
            events.ToolBegan(call=one, name="read", arguments={"path": "a.txt"}),
            events.ToolBegan(call=two, name="read", arguments={"path": "b.txt"}),
            events.ToolEnded(call=one, name="read", response=ToolResponse(result="A")),
            events.ToolEnded(call=two, name="read", response=ToolResponse(result="B")),
        )
        == "● read a.txt\n● read b.txt\n└ read a.txt\n  A\n└ read b.txt\n  B\n"
    )


def test_what_was_folded_is_kept_whole():
    stream = io.StringIO()
    show = TurnDisplay(Screen(stream), ShowSettings(lines=2), clock=lambda: 0.0)
    text = "\n".join("abcdef")
    show.show(events.ToolBegan(call=ID, name="read", arguments={"path": "x"}))
    show.show(events.ToolEnded(call=ID, name="read", response=ToolResponse(result=text)))
    show.show(events.ToolEnded(call=ID, name="read", response=ToolResponse(result="short")))

    assert [*show.folded] == [Folded("read x", text)]


def test_news_stands_on_lines_of_its_own():
    assert shown(
        events.TurnStarted(turn=1, route="a/b"),
        events.TurnStarted(turn=2, route="c/d", continues=True),  # `RouteLost` told it
        events.StepStarted(step=1, route="c/d"),
        events.TextShown(text="text"),
        events.Waiting(seconds=2.0, reason="Overloaded", route="c/d"),
        events.RouteLost(route="c/d", reason="Unreachable", following="e/f"),
        events.SwitchDeferred(route="g/h"),
        events.HistoryCompacted(before=2000, after=900, detail="3 outputs"),
        events.Notice(text="by the way"),
        events.CallsMade(calls=(ToolCall("x"),)),
    ) == (
        "text\nc/d: Overloaded; trying again in 2.0 s\nUnreachable; e/f goes on\n"
        "g/h answers from the next turn on\nshortened the conversation: 2,000 to 900 tokens; 3 outputs\nby the way\n"
    )


def test_the_end_of_a_turn_says_route_time_tokens_and_cost():
    ended = events.TurnFinished(turn=1, outcome=TurnOutcome.DONE, usage=Usage(input=1500, output=20), cost=0.01)

    assert shown(events.TextShown(text="done"), ended) == "done\na/b · 0.0 s · 1.5k in, 20 out · $0.0100\n"


def test_the_end_of_a_turn_whose_price_is_not_known_says_so():
    ended = events.TurnFinished(turn=1, outcome=TurnOutcome.DONE, usage=Usage(input=1500, output=20), cost=None)

    assert shown(events.TextShown(text="done"), ended) == "done\na/b · 0.0 s · 1.5k in, 20 out · price unknown\n"


def test_a_cancelled_turn_says_so():
    ended = events.TurnFinished(turn=1, outcome=TurnOutcome.CANCELLED, detail="cancelled while tools ran")

    assert shown(ended) == "cancelled while tools ran\na/b · 0.0 s\n"


def test_the_status_line_tells_route_time_tokens_and_what_runs():
    now = [0.0]
    show = TurnDisplay(Screen(io.StringIO()), clock=lambda: now[0])
    show.begin("a/b")
    assert show.status == "waiting · 0.0 s · a/b"
    now[0] = 3.0
    show.show(events.Calling(index=0, name="shell"))
    assert show.status == "writing a call of shell · 3.0 s · a/b"
    show.show(events.StepFinished(step=1, usage=Usage(input=10, output=2), cost=0.01))
    show.show(events.ToolBegan(call=ID, name="shell", arguments={"command": "make"}))
    show.show(events.ToolProgress(call=ID, text="first\nsecond\x1b[2J\n"))
    assert show.status == "shell make: second · 3.0 s · a/b · 10 in, 2 out · $0.0100"


def test_however_narrow_the_screen_the_seconds_are_told_beside_what_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    show = TurnDisplay(Screen(io.StringIO()), clock=lambda: 0.0)
    show.begin("a/b")
    show.show(events.ToolBegan(call=ID, name="shell", arguments={"command": "make " + "x" * 90}))

    assert clip(show.status, 39).endswith("… · 0.0 s · a/b")


def test_the_status_line_says_how_to_stop_where_keys_are_read():
    screen = Screen(io.StringIO())
    screen.has_keys = True
    show = TurnDisplay(screen, clock=lambda: 0.0)
    show.begin("a/b")

    assert show.status == "waiting · 0.0 s · Esc stops · a/b"


def test_the_status_line_tells_that_nothing_comes_and_when_it_is_tried_again():
    now = [0.0]
    show = TurnDisplay(Screen(io.StringIO()), clock=lambda: now[0])
    show.begin("a/b")
    now[0] = 9.0
    assert show.status == "waiting · 9.0 s · a/b"
    now[0] = 12.0
    assert show.status == "waiting · nothing came for 12 s · 12.0 s · a/b"
    show.show(events.TextShown(text="hm"))
    assert show.status == "answering · 12.0 s · a/b"
    show.show(events.Waiting(seconds=20.0, reason="Overloaded"))
    now[0] = 25.0
    assert show.status == "attempt 2 in 7 s · Ctrl-C stops · 25.0 s · a/b"


def test_where_keys_are_read_a_wait_is_told_once_and_counted_down_with_what_the_keys_do():
    stream = io.StringIO()
    screen = Screen(stream)
    screen.is_live = screen.has_keys = True
    show = TurnDisplay(screen, clock=lambda: 0.0)
    show.begin("a/b")
    for attempt in (1, 2, 3):
        left = 300.0 - attempt / 100
        show.show(events.Waiting(seconds=0.02, reason="Overloaded", route="a/b", attempt=attempt, left=left))

    assert stream.getvalue().count("a/b: Overloaded; trying again at once, for up to 5 min\n") == 1
    assert stream.getvalue().count("trying again") == 1
    assert show.status == "attempt 4 in 0 s · Esc stops · /retry asks now · /model switches · 0.0 s · a/b"


def test_without_answers_the_text_of_the_model_is_left_to_somebody_else():
    stream = io.StringIO()
    show = TurnDisplay(Screen(stream), answers=False, clock=lambda: 0.0)
    show.show(events.TextShown(text="the answer"))

    assert stream.getvalue() == ""


def test_a_note_is_one_line_whatever_it_holds():
    stream = io.StringIO()
    TurnDisplay(Screen(stream)).note("a\nb\x1b[2J")

    assert stream.getvalue() == "a b\n"
