"""One-shot use in a real terminal, where standard output and standard error share one cursor.

The answers have a pace: what two streams do to each other's lines cannot be seen when an answer comes in one burst.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from terminal_support import Person, shown_lines

PACE = ("--simulate", "--pace", "50/s")
Ask = Callable[..., Person]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    people: list[Person] = []

    def run(*arguments: str) -> Person:
        people.append(Person(tmp_path, *PACE, *arguments))
        return people[-1]

    yield run
    for person in people:
        person.end()


def finished(person: Person) -> tuple[list[str], int]:
    """What stands in the terminal at the end, without the time it took, and the exit code."""
    code = person.left()
    lines = shown_lines(person.raw)
    return [re.sub(r" · [\d.]+ s(?: · .*)?$", "", line) for line in lines], code


def lines_by(model: str, count: int) -> list[str]:
    return [f"Line {number} of {count}, by {model}." for number in range(1, count + 1)]


@pytest.mark.parametrize("route", ["anthropic/claude-sonnet-4-5", "openai/gpt-4o", "openai-responses/gpt-5"])
def test_an_answer_is_whole_in_the_terminal_in_which_the_status_line_is_drawn(ask: Ask, route: str):
    shown, code = finished(ask("-m", route, "-p", "answer in 6 lines"))

    assert (shown, code) == ([*lines_by(route.partition("/")[2], 6), route], 0)


def test_thoughts_and_tools_on_one_stream_and_answers_on_the_other_keep_to_their_own_lines(ask: Ask, tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("hello")
    shown, code = finished(ask("-m", "kimi/kimi-k2-thinking", "-p", "use read on a.txt"))

    said = 'They said: "use read on a.txt".'
    assert code == 0
    assert shown == [
        f"{said} I need read.",
        "● read a.txt",
        "  hello",
        f"{said} I can answer that now.",
        'read returned: "hello".',
        "kimi/kimi-k2-thinking",
    ]


def test_quiet_in_a_terminal_is_the_answer_alone(ask: Ask):
    assert finished(ask("-q", "-p", "answer in 2 lines")) == (lines_by("claude-sonnet-4-5", 2), 0)


def test_each_line_of_json_is_a_line_of_its_own_in_a_terminal(ask: Ask):
    shown, code = finished(ask("--output-format", "stream-json", "-p", "answer in 2 lines"))
    told = [msgspec.json.decode(line) for line in shown if line.startswith("{")]

    assert ([line for line in shown if not line.startswith("{")], code) == (["anthropic/claude-sonnet-4-5"], 0)
    assert (told[0]["event"], told[-1]["event"]) == ("session", "result")
    assert "".join(event["text"] for event in told if event["event"] == "text") == told[-1]["text"]


def test_an_error_in_the_middle_of_a_line_begins_one(ask: Ask):
    shown, code = finished(ask("-m", "openai/gpt-4o", "-p", "answer in 9 lines, cut the stream after 4 chunks"))

    told = "legato: the answer of openai/gpt-4o broke off: the connection to "
    assert code == 4
    assert shown[0] == "Line 1 of 9, by gpt-4o."
    assert [line for line in shown if line.startswith("legato: ")] == [shown[-2]]  # it is wrapped
    assert " ".join(shown[-2:]).startswith(told)


def test_ctrl_c_in_the_middle_of_a_line_leaves_it_as_it_is(ask: Ask):
    person = ask("-p", "answer in 900 lines")
    person.sees("Line 3 of")
    person.child.sendintr()
    shown, code = finished(person)

    assert (shown[-2:], code) == (["cancelled", "anthropic/claude-sonnet-4-5"], 130)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_what_goes_wrong_breaks_no_word(tmp_path: Path, size: tuple[int, int]):
    person = Person(tmp_path, "-m", "anthropic/claude-sonnet-4-5", "-p", "hello", size=size)
    assert person.left() == 4
    told = " ".join(" ".join(person.screen.rows).split())
    assert told.startswith("legato: there is no key for anthropic: set ANTHROPIC_API_KEY, or put one under [keys] in")


@pytest.mark.parametrize("size", [(80, 40), (40, 60)])
def test_the_formats_are_told_below_each_other_where_a_table_would_be_torn(tmp_path: Path, size: tuple[int, int]):
    person = Person(tmp_path, "formats", size=size)
    assert person.left() == 0
    told = [joined for row in person.screen.rows if (joined := row.strip())]
    assert "~/.claude/projects/*/*.jsonl" in told
    assert "  codex: Codex rollout; read, written," in "\n".join(person.screen.rows)


@pytest.mark.parametrize("size", [(80, 40), (40, 60)])
def test_what_the_doctor_says_breaks_no_word(tmp_path: Path, size: tuple[int, int]):
    person = Person(tmp_path, "doctor", size=size)
    assert person.left() == 0
    told = " ".join(" ".join(person.screen.rows).split())
    assert "AWS_BEARER_TOKEN_BEDROCK, GOOGLE_ACCESS_TOKEN" in told
    assert "set a key (export ANTHROPIC_API_KEY=...)" in told
