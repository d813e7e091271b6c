"""A first day in a real terminal, at three sizes: answers that stream, tools, questions, keys, resizing, coming back.

The answers have a pace, because what goes wrong while text streams cannot be seen when it comes in one burst. What the
terminal shows is read from an emulator.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from terminal_support import Person

Sit = Callable[..., Person]
SIZES = [(80, 24), (40, 12), (120, 45)]
ESC, CTRL_C, CTRL_O, CTRL_R, CTRL_U, CTRL_Z = "\x1b", "\x03", "\x0f", "\x12", "\x15", "\x1a"
SHIFT_TAB, UP, DOWN = "\x1b[Z", "\x1b[A", "\x1b[B"
SERVER = """
import json, os, sys
TOOLS = [{"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in ("look", "die")]
for line in sys.stdin:
    message = json.loads(line)
    if message.get("params", {}).get("name") == "die":
        os._exit(1)
    first = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    results = {"initialize": first, "tools/list": {"tools": TOOLS}, "tools/call": {"content": [{"type": "text", "text": "seen"}]}}
    known, unknown = results.get(message["method"]), {"code": -32601, "message": "unknown"}
    if "id" in message:
        answer = {"error": unknown} if known is None else {"result": known}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """Sit down in front of a terminal."""
    people: list[Person] = []

    def run(*arguments: str, size: tuple[int, int] = (80, 24), **variables: Any) -> Person:
        people.append(Person(tmp_path, "--simulate", *arguments, size=size, **variables))
        return people[-1]

    yield run
    for person in people:
        person.end()


def joined(shown: str) -> str:
    """Words as they follow each other, wherever the rows end."""
    return " ".join(shown.split())


@pytest.mark.parametrize("size", SIZES)
def test_a_first_day(sit: Sit, size: tuple[int, int]):
    """Markdown, a draft and a queue while it streams, tools side by side, a denial, an interruption, and goodbye."""
    person = sit("--pace", "30/s", size=size)
    for name in ("a.txt", "b.txt"):
        (person.work / name).write_text(f"this is {name}\n")

    person.says("answer in Markdown")
    person.glimpses("answering")
    person.types("use read on a.txt and b.txt\r")
    person.glimpses("⋯ use read on")
    person.types("a dra")
    shown = joined(person.turn())
    for words in ("What claude-sonnet-4-5 can write", "• an item of a list", 'return f"Hello, {name}!" # and', "all."):
        assert words in shown
    assert "**" not in shown

    shown = joined(person.turn())
    for name in ("a.txt", "b.txt"):
        assert shown.count(f"● read {name}") == 1
        assert f"└ read {name} this is {name}" in shown or f"● read {name} this is {name}" in shown
    person.glimpses("› a dra")
    person.at_prompt()
    person.types(CTRL_C)
    person.until(lambda: "› a dra" not in person.screen.shown)

    person.says('call shell with {"command": "touch made.txt"}')
    person.answers("n not here")
    assert "└ shell touch made.txt denied: not here" in joined(person.turn())

    person.says("answer in 900 lines")
    person.comes("Line 3 of 900")
    person.types(f"never sent\r{ESC}")
    person.sees("cancelled")
    person.glimpses("› never sent")
    person.at_prompt()
    person.types(CTRL_C)
    person.until(lambda: "› never sent" not in person.screen.shown)

    assert len([row for row in person.screen.rows if row.startswith("›")]) == 5  # four messages and the box
    person.says("/quit")
    person.sees("Resume with: legato --resume")
    assert person.left() == 0
    assert not (person.work / "made.txt").exists()


@pytest.mark.parametrize("size", SIZES)
def test_resizing_while_it_answers_leaves_every_line_once(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "40/s", size=size)
    person.says("answer in 60 lines")
    for number, other in enumerate([(100, 30), (36, 14), (60, 10), size], 1):
        person.comes(f"Line {number * 10} of 60")
        person.resizes(*other)
    shown = joined(person.turn())

    assert [shown.count(f"Line {number} of 60, by claude-sonnet-4-5.") for number in range(1, 61)] == [1] * 60
    rows = person.screen.rows
    assert sum("answering" in row for row in rows) == 0
    assert len([row for row in rows if row.startswith("›")]) == 2


@pytest.mark.parametrize("size", SIZES)
def test_what_waits_is_edited_and_removed_and_given_back_by_an_interruption(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "40/s", size=size)
    person.says("answer in 900 lines")
    person.comes("Line 3 of 900")
    person.types("one\r/cost\rtwo\r")
    person.glimpses("⋯ two (↑ edits it)")
    person.comes("› /cost")  # it need not wait
    person.types(f"{UP} more")
    person.glimpses("› two more")
    person.glimpses("⋯ one (↑ edits it)")
    person.types("\r")
    person.glimpses("⋯ two more (↑ edits it)")
    person.types(UP)
    person.glimpses("› two more")
    person.types(f"{CTRL_U}{ESC}")
    person.sees("cancelled")
    person.glimpses("› one")
    person.at_prompt()
    person.types(CTRL_C)
    person.says("/model sonnet-5-5")
    person.glimpses("▸")
    person.types("\r")
    person.comes("anthropic/claude-sonnet-5-5 answers")
    person.says("/exit")
    assert person.left() == 0


@pytest.mark.parametrize("size", SIZES)
def test_keys_at_rest(sit: Sit, size: tuple[int, int]):
    """Esc twice, Shift-Tab, Ctrl-O, Ctrl-R, new lines, long pastes, an editor."""
    person = sit("--pace", "100/s", size=size, PAGER="cat", VISUAL="sed -i s/draft/letter/")
    (person.work / "long.txt").write_text("".join(f"row {number}\n" for number in range(40)))

    person.says("use read on long.txt")
    assert "more lines (Ctrl-O)" in person.turn()
    person.at_prompt()
    person.types(CTRL_O)
    person.sees("row 20")
    person.at_prompt()
    person.types(SHIFT_TAB)
    person.glimpses(" · edits · ")

    person.types(f"{ESC}{ESC}")
    person.glimpses("› use read on long.txt")
    person.glimpses("sending this takes the last message")
    person.types(f"{CTRL_U}one\ntwo\r")
    shown = joined(person.turn())
    assert "Undone: use read on long.txt" in shown
    assert 'heard: "one two"' in shown

    person.at_prompt()
    person.types(f"kept{CTRL_R}long")
    person.glimpses("› use read on long.txt")
    person.types(CTRL_C)
    person.glimpses("› kept")
    person.types(CTRL_C)

    person.at_prompt()
    pasted = "\r".join(f"pasted {number}" for number in range(12))
    person.types(f"see \x1b[200~{pasted}\x1b[201~")
    person.glimpses("› see [pasted text #1, 12 lines]")
    person.types("\r")
    assert "see pasted 0 pasted 1" in joined(person.turn())

    person.at_prompt()
    person.types("a draft")
    person.glimpses("› a draft")
    person.types("\x18\x05")
    person.glimpses("› a letter")
    person.types(CTRL_C)


@pytest.mark.parametrize("size", SIZES)
def test_ctrl_z_gives_the_shell_back_and_fg_goes_on(tmp_path: Path, size: tuple[int, int]):
    """In a shell with job control, and with a draft in the box."""
    bash = ("bash", "--norc", "--noprofile", "-i")
    shell = Person(tmp_path, program=bash, size=size, PS1="$ ", PYTHON=sys.executable)
    try:
        shell.sees("$")
        shell.types("\"$PYTHON\" -c 'from legato.cli import main; main()' --simulate\r")
        shell.sees("/help")
        shell.at_prompt()
        shell.types("half")
        shell.glimpses("› half")
        shell.types(CTRL_Z)
        shell.sees("Stopped")
        shell.sees("$")  # what is typed before the shell reads is shown twice: by the terminal, then by the shell
        shell.types("stty -a|grep -o ' -*echo '; echo sh\r")  # it fits the row of the prompt
        assert shell.sees("sh") == " echo\nsh"
        shell.types("fg\r")
        shell.glimpses("› half")
        shell.types(" a line\r")
        assert 'heard: "half a line"' in joined(shell.turn())
    finally:
        shell.end()


@pytest.mark.parametrize("size", SIZES)
def test_a_question_comes_in_the_same_screen_and_the_draft_is_there_afterwards(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "40/s", size=size)
    person.says('call shell with {"command": "echo hello"}')
    person.types("my dr")
    shown = person.answers("y")
    assert "shell wants to run:" in shown
    assert "│ echo hello" in shown
    assert "\a" in person.raw
    person.turn()
    person.glimpses("› my dr")
    person.types("aft\r")
    assert 'heard: "my draft"' in joined(person.turn())


@pytest.mark.parametrize("size", SIZES)
def test_who_comes_back_after_a_kill_is_told_what_the_model_is_told(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "100/s", size=size)
    person.says('call shell with {"command": "echo started; sleep 600"}')
    person.answers("y")
    person.glimpses("● shell echo started")
    person.child.kill(signal.SIGKILL)
    person.left()

    again = sit("-c", size=size)
    again.at_prompt()
    told = "└ shell echo started; sleep 600: interrupted: the program ended while it ran; it may have taken effect"
    again.until(lambda: told in joined("\n".join(again.screen.rows)))
    again.says("/quit")
    assert again.left() == 0


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LANG": "C", "LC_ALL": "C"}])
def test_plainer_terminals_get_the_whole_answer(sit: Sit, variables: dict[str, str]):
    person = sit("--pace", "100/s", size=(40, 12), **variables)
    person.says("answer in Markdown")
    shown = joined(person.turn())
    if "LANG" not in variables:  # its colours say what the signs said
        assert "**bold words**" in shown
        assert "- an item of a list" in shown
    assert "That was all." in shown
    person.says("/quit")
    assert person.left() == 0
    if "TERM" in variables:
        assert "\x1b" not in person.raw
    else:
        assert "\x1b[31m" not in person.raw


@pytest.mark.parametrize("size", SIZES)
def test_another_model_is_picked_and_told_what_the_switch_costs(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "100/s", size=size)
    person.says("think first, then hello")
    person.turn()

    person.says("/model")
    person.glimpses("▸")
    assert any("▸" in row and "claude-sonnet-4-5" in row for row in person.screen.shown), "it begins at who answers"
    drawn = len(person.raw)
    person.resizes(*((44, 14) if size[0] > 44 else (100, 30)))
    person.until(lambda: "Enter picks" in person.raw[drawn:])
    person.types("mistral large")
    person.glimpses("Who answers: mistral large")
    person.types("\r")
    person.comes("mistral/mistral-large-latest answers")
    person.says("/model nowhere/x")
    person.comes("no provider 'nowhere'")
    person.says("/route")
    person.comes("▸ mistral/mistral-large-latest: well")
    person.says("hello again")
    assert "mistral-large-latest (simulated) heard:" in joined(person.turn())
    assert not any("Who answers" in row for row in person.screen.rows), "the list leaves nothing behind"


@pytest.mark.parametrize("size", SIZES)
def test_a_failing_provider_is_waited_for_with_a_countdown_until_one_switches_or_asks_again(
    sit: Sit, size: tuple[int, int]
):
    person = sit("--pace", "100/s", size=size)
    person.says("fail 60 times with 529 on anthropic")
    person.glimpses("attempt 4 in ")
    person.types(ESC)
    person.sees("cancelled")
    person.says("/retry")
    person.glimpses("attempt 2 in ")
    person.types("/model mistral/mistral-large-latest\r")
    person.comes("goes on")
    shown = joined(person.turn())
    assert "is not waited for any longer" in shown
    assert "mistral-large-latest (simulated) heard:" in shown
    person.says("/undo")
    person.comes("Undone: fail 60 times with 529 on")
    person.says("/undo")
    person.comes("There is nothing to undo.")  # it was said once, however often it was asked


@pytest.mark.parametrize("size", SIZES)
def test_an_answer_that_is_not_whole_says_so(sit: Sit, size: tuple[int, int], tmp_path: Path):
    settings = tmp_path / "config" / "legato" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[options]\nmax_tokens = 20\n")
    person = sit("--pace", "100/s", "answer in 30 lines", size=size)
    assert "the answer was cut at the output limit; ask to go on" in joined(person.turn())


@pytest.mark.parametrize("size", SIZES)
def test_settings_of_the_conversation_are_changed_in_it_and_it_is_written_to_files(sit: Sit, size: tuple[int, int]):
    person = sit("--pace", "100/s", "use list on .", size=size)
    person.turn()
    for said, told in (
        ("/thinking on", "Thinking: on; effort: default."),
        ("/effort high", "Thinking: on; effort: high."),
        ("/effort hi", "effort is default, none, minimal, low,"),
        ("/history clip_length 50", "clip_length"),
        ("/export talk.md", "talk.md"),
        ("/export talk.html", "talk.html"),
        ("/export talk.json", "talk.json"),
        ("/last", "decisions:"),
        ("/status", "approval"),
        ("/cost", "together"),
        ("/help", "/quit"),
    ):
        person.says(said)
        person.sees(told)
    for ending in ("md", "html", "json"):
        assert (person.work / f"talk.{ending}").stat().st_size
    assert max(map(len, person.screen.rows)) <= size[0]


@pytest.mark.parametrize("size", SIZES)
def test_a_stored_session_is_found_with_arrows_and_a_search(sit: Sit, size: tuple[int, int]):
    for words in ("apples first", "pears then", "plums last"):
        person = sit(words, size=size)
        person.turn()
        person.says("/quit")
        assert person.left() == 0

    person = sit("-r", size=size)
    person.glimpses("▸")
    person.types(f"{DOWN}{DOWN}")
    person.until(lambda: any("▸" in row and "apples first" in row for row in person.screen.shown))
    person.types("pears")
    person.until(lambda: any("▸" in row and "pears then" in row for row in person.screen.shown))
    person.types("\r")
    person.comes("› pears then")
    person.says("/sessions")
    person.glimpses("plums last")
    time.sleep(0.5)  # a person looks first; an Esc within a tenth of a second after Enter is still the box's
    person.types(ESC)
    person.says("what now?")
    assert 'heard: "what now?"' in joined(person.turn())


@pytest.mark.parametrize("size", SIZES)
def test_a_server_starts_behind_the_prompt_and_again_when_it_dies(sit: Sit, size: tuple[int, int], tmp_path: Path):
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(SERVER)
    adding = Person(tmp_path, "mcp", "add", "s", "--", sys.executable, "-I", "-S", str(tmp_path / "server.py"))
    assert adding.left() == 0
    assert Person(tmp_path, "mcp", "add", "broken", "--", sys.executable, "-c", "").left() == 0

    person = sit("--pace", "100/s", "--approval", "never", size=size)
    person.comes("MCP server broken: ")
    person.says("call mcp__s__look with {}")
    assert "● mcp__s__look seen" in joined(person.turn())
    person.says("call mcp__s__die with {}")
    assert "MCP server s has ended and is started again" in joined(person.turn())
    told = ""
    while "connected" not in told:
        assert "failed" not in told
        time.sleep(0.3)
        person.says("/mcp")
        told = person.sees("again")
    person.says("call mcp__s__look with {}")
    assert "● mcp__s__look seen" in joined(person.turn())
