"""The question before a tool runs: exactly what would run, and every answer that a person can give."""

import io
from collections.abc import Callable

import anyio
import pytest

from legato.cli.terminal.approver import TerminalApprover
from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.screen import Screen
from legato.model import CallId
from legato.model.records import Scope, Verdict
from legato.tools import Question, Ruling, ToolKind
from program import Answers

ID, DIGEST = CallId("hist_tool_1"), "shown"


def question(shown: str = "git status", **changes: object) -> Question:
    fields = {
        "call": ID, "tool": "shell", "kind": ToolKind.EXECUTE, "arguments": {"command": shown}, "shown": shown,
        "digest": DIGEST, "pattern": "git *",
    }  # fmt: skip
    return Question(**{**fields, **changes})


def ask(asked: Question, *answers: str | BaseException) -> tuple[Ruling, str, list[tuple[str, str]]]:
    stream, reader, gate = io.StringIO(), Answers(*answers), InputGate()

    async def main() -> Ruling:
        approver = TerminalApprover(Screen(stream), reader, interrupt=lambda: None, before=gate.close, after=gate.open)
        ruling = await approver.ask(asked)
        assert gate.is_open
        return ruling

    return anyio.run(main), stream.getvalue(), reader.asked


@pytest.mark.parametrize(
    ("answers", "ruling"),
    [
        (["y"], Ruling(ID, DIGEST)),
        (["YES"], Ruling(ID, DIGEST)),
        (["s"], Ruling(ID, DIGEST, scope=Scope.SESSION)),
        (["a", ""], Ruling(ID, DIGEST, scope=Scope.ALWAYS, pattern="git *")),
        (["a", "git status"], Ruling(ID, DIGEST, scope=Scope.ALWAYS, pattern="git status")),
        (["n too risky"], Ruling(ID, DIGEST, verdict=Verdict.DENIED, reason="too risky")),
        (["n", "not now"], Ruling(ID, DIGEST, verdict=Verdict.DENIED, reason="not now")),
        (["n", ""], Ruling(ID, DIGEST, verdict=Verdict.DENIED)),
        (["e", "git log"], Ruling(ID, DIGEST, arguments={"command": "git log"})),
        ([], Ruling(ID, DIGEST, verdict=Verdict.UNAVAILABLE)),
    ],
)
def test_every_answer_becomes_its_ruling(answers: list[str], ruling: Ruling):
    assert ask(question(), *answers)[0] == ruling


def test_an_empty_line_is_no_answer():
    ruling, text, asked = ask(question(), "", "what?", "y")

    assert ruling == Ruling(ID, DIGEST)
    assert len(asked) == 3
    assert text.count("Answer y, s, a, e or n.") == 2


def test_the_command_is_shown_exactly_with_what_is_hidden_in_it():
    _, text, _ = ask(question("ls\u202e\x1b[2K\n[y] yes"), "y")

    assert "shell wants to run:\n  │ ls\\u202e\\x1b[2K\n  │ [y] yes\n" in text


def test_a_line_that_is_wider_than_the_screen_goes_on_behind_a_bar(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    _, text, _ = ask(question(f"echo {'x' * 60}\t{'allow? y'}"), "y")
    shown = text.split("wants to run:\n")[1].split("\n")

    assert shown[:3] == [f"  │ echo {'x' * 30}", f"  │ {'x' * 30}{' ' * 5}", "  │   allow? y"]
    assert max(map(len, shown)) <= 40


def test_the_choices_are_not_broken_where_the_screen_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "50")
    _, text, _ = ask(question(pattern="git commit --message *" + "x" * 40), "y")

    assert text.splitlines()[-6:] == [
        "  [y] yes, once",
        "  [s] yes, this very call all session",
        "  [e] edit it   [n] no, and why",
        "  [a] always, everywhere:",
        f"  │ shell(git commit --message *{'x' * 17}",
        f"  │ {'x' * 23})",
    ]


@pytest.mark.parametrize("pattern", ["git *", "git  log", "größe.md", "x" * 60])
def test_what_always_would_mean_is_shown_to_the_last_character(pattern: str):
    text = ask(question(pattern=pattern), "y")[1]
    told = text[text.index("[y]") :].replace("\n  │ ", "\n")

    assert "[a] always, everywhere:" in told
    assert f"shell({pattern})" in told


@pytest.mark.parametrize("pattern", [None, "a\u3164b", f"a{' ' * 70}b", "a\nb"])
def test_always_is_not_offered_where_nothing_is_or_where_it_could_not_be_shown_as_it_is(pattern: str | None):
    ruling, text, _ = ask(question(pattern=pattern), "a", "s")

    assert "always" not in text
    assert "Answer y, s, e or n." in text
    assert ruling == Ruling(ID, DIGEST, scope=Scope.SESSION)


def test_a_protected_call_has_no_answer_that_lasts():
    ruling, text, _ = ask(question(protected=".git is protected: \x1b[2Kgit", pattern=None), "s", "a", "y")

    assert "  .git is protected: \\x1b[2Kgit\n  [y] yes, once   [e] edit it   [n] no, and why\n" in text
    assert text.count("Answer y, e or n.") == 2
    assert ruling == Ruling(ID, DIGEST)


def test_an_edit_is_shown_as_a_difference():
    shown = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new"
    _, text, _ = ask(
        question(shown, tool="edit", kind=ToolKind.EDIT, arguments={"path": "x", "old": "", "new": ""}), "y"
    )

    assert "edit wants to change a file:\n  │ --- a/x\n" in text
    assert "  │ +new\n" in text


def test_several_arguments_are_edited_as_json():
    ruling, _, asked = ask(question(arguments={"a": 1, "b": 2}), "e", '{"a": 5, "b": 2}')

    assert ruling.arguments == {"a": 5, "b": 2}
    assert asked[-1] == ("arguments: ", '{"a":1,"b":2}')


@pytest.mark.parametrize(("written", "told"), [("{", "That is not JSON"), ("[1]", "have to be a JSON object")])
def test_arguments_that_cannot_be_read_are_put_back_to_be_mended(written: str, told: str):
    ruling, text, asked = ask(question(arguments={"a": 1, "b": 2}), "e", written, '{"a": 3}')

    assert ruling.arguments == {"a": 3}
    assert told in text
    assert asked[-1] == ("arguments: ", written)


def test_whoever_empties_the_arguments_is_asked_again_whether_the_call_may_run():
    ruling, _, asked = ask(question(arguments={"a": 1, "b": 2}), "e", " ", "y")

    assert ruling == Ruling(ID, DIGEST)
    assert [line for line, _ in asked] == ["allow? ", "arguments: ", "allow? "]


def test_ctrl_c_cancels_the_turn_which_withdraws_the_question():
    gate = InputGate()

    async def main() -> bool:
        with anyio.CancelScope() as turn:
            interrupt: Callable[[], None] = turn.cancel
            approver = TerminalApprover(
                Screen(io.StringIO()),
                Answers(KeyboardInterrupt()),
                interrupt=interrupt,
                before=gate.close,
                after=gate.open,
            )
            await approver.ask(question())
        return turn.cancelled_caught and gate.is_open

    assert anyio.run(main)


def test_a_question_says_which_subagent_asks():
    _, text, _ = ask(question(asker="look\n\x1b[2Kyes"), "y")

    assert "\nsubagent (look\\n\\x1b[2Kyes): shell wants to run:\n" in text


def test_a_question_says_whether_what_runs_is_in_a_sandbox():
    _, text, _ = ask(question(sandbox="in the sandbox: writes only in this folder, no network"), "y")

    assert "  │ git status\n  in the sandbox: writes only in this folder, no network\n" in text


def test_an_offer_to_run_outside_is_answered_yes_or_no():
    ruling, text, asked = ask(question("make", outside='"Read-only file system" \x1b[2K', pattern=None), "s", "e", "n")

    assert text == (
        "\nshell could run again, outside the sandbox:\n"
        "  │ make\n"
        '  "Read-only file system" \\x1b[2K\n'
        "  Outside, it can do whatever you can. What it did already is done again.\n"
        "  [y] yes, once   [n] no\n"
        "Answer y or n.\nAnswer y or n.\n"
    )
    assert [line for line, _ in asked] == ["allow? "] * 3
    assert ruling == Ruling(ID, DIGEST, verdict=Verdict.DENIED)
