"""Permission to edit files is not permission to run programs: whole sessions that try to make it one."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from legato.model import ClosureReason
from legato.model.records import Scope, Verdict
from legato.session import Session
from legato.tools import Approval, Mode, Question, Ruling, parse_rules
from legato.tools.builtin import Workspace, builtin_tools
from session_support import session

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")]

EVIL = '[core]\n\tfsmonitor = "touch src/pwned; false"\n'  # Landlock alone lets nothing be made beside .git


class Person:
    """Answers every question alike, and remembers what was asked."""

    def __init__(self, verdict: Verdict = Verdict.DENIED, scope: Scope = Scope.ONCE) -> None:
        self.verdict, self.scope = verdict, scope
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Ruling:
        self.questions.append(question)
        return Ruling(question.call, question.digest, self.verdict, self.scope)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    (tmp_path / "work/src").mkdir()
    return tmp_path / "work"


def write(path: str, content: str = EVIL) -> str:
    return f"call write with {json.dumps({'path': path, 'content': content})}"


def shell(command: str) -> str:
    return f"call shell with {json.dumps({'command': command})}"


def how_calls_ended(talk: Session) -> list[tuple[str, ClosureReason | None]]:
    calls = talk.talk.ledger.in_order
    return [(call.state.value, call.completion.reason if call.completion else None) for call in calls]


async def work(folder: Path, approval: Approval, *messages: str) -> list[tuple[str, ClosureReason | None]]:
    """Say these messages in one session; how each call ended."""
    async with session(tools=builtin_tools(Workspace(folder)), approval=approval) as talk:
        for message in messages:
            await talk.send(message)
        return how_calls_ended(talk)


def edits(person: Person | None) -> Approval:
    return Approval(Mode.EDITS, parse_rules(allow=["shell(git status *)"]), approver=person)


@pytest.mark.parametrize("way", [".git/config", "g/config", "settings", "src/../.git/config", "deep/.git/config"])
async def test_edits_mode_and_a_rule_for_git_status_run_no_program_of_the_models(folder: Path, way: str) -> None:
    (folder / "g").symlink_to(".git")
    (folder / "settings").symlink_to(".git/config")
    before = (folder / ".git" / "config").read_text()
    person = Person()
    ended = await work(folder, edits(person), write(way), shell("git status"), write("src/main.py", "x\n"))
    assert ended == [("cancelled", ClosureReason.DENIED), ("complete", None), ("complete", None)]
    assert [(one.tool, one.pattern, one.protected is not None) for one in person.questions] == [("write", None, True)]
    assert (folder / ".git" / "config").read_text() == before
    assert not (folder / "src/pwned").exists()


async def test_a_folder_does_not_become_a_repository_unasked(folder: Path) -> None:
    # Git takes a folder with HEAD, objects and refs for a repository, and reads its config.
    shutil.rmtree(folder / ".git")
    person = Person()
    files = {
        "config": f'{EVIL}\trepositoryformatversion = 0\n\tbare = false\n\tworktree = "."\n',
        "objects/x": "", "refs/x": "", "HEAD": "ref: refs/heads/main\n",
    }  # fmt: skip
    await work(folder, edits(person), *(write(path, text) for path, text in files.items()), shell("git status"))
    assert [one.arguments["path"] for one in person.questions] == ["HEAD"]
    assert (folder / "config").exists()
    assert not (folder / "src/pwned").exists()


async def test_each_change_of_a_protected_file_is_asked_for_and_nothing_of_the_answer_is_kept(folder: Path) -> None:
    person = Person(Verdict.ALLOWED, Scope.ALWAYS)
    remembered: list[object] = []
    approval = Approval(Mode.EDITS, approver=person, remember=remembered.append)
    await work(folder, approval, *[write(".vscode/tasks.json", "{}\n")] * 3)
    assert len(person.questions) == 3
    assert (remembered, approval.rules, approval.session_rules, approval.grants) == ([], [], [], ())
    assert (folder / ".vscode" / "tasks.json").exists()


async def test_where_nobody_can_be_asked_the_model_is_told_why_and_goes_on(folder: Path) -> None:
    async with session(tools=builtin_tools(Workspace(folder)), approval=edits(None)) as talk:
        answer = (await talk.send(write(".git/hooks/pre-commit"))).text
        assert how_calls_ended(talk) == [("cancelled", ClosureReason.PROTECTED)]
    assert "[No result: this call may reach a protected file (of version control," in answer
    assert not (folder / ".git" / "hooks" / "pre-commit").exists()


async def test_a_link_that_is_turned_while_the_question_is_open_leads_nowhere(folder: Path) -> None:
    (folder / "out").symlink_to("src")

    class Turning(Person):
        async def ask(self, question: Question) -> Ruling:
            (folder / "out").unlink()
            (folder / "out").symlink_to(".git")
            return await super().ask(question)

    person = Turning(Verdict.ALLOWED)
    before = (folder / ".git" / "config").read_text()
    async with session(tools=builtin_tools(Workspace(folder)), approval=Approval(Mode.ASK, approver=person)) as talk:
        answer = (await talk.send(write("out/config"))).text
    assert (len(person.questions), person.questions[0].protected) == (1, None)
    assert "leads to .git/config, which it did not when the call was allowed" in answer
    assert (folder / ".git" / "config").read_text() == before
    assert not (folder / "src" / "config").exists()


async def test_a_yes_for_the_session_ends_where_the_same_call_leads_to_a_protected_file(folder: Path) -> None:
    (folder / "out").symlink_to("src")
    person = Person(Verdict.ALLOWED, Scope.SESSION)
    approval = Approval(Mode.ASK, approver=person)
    await work(folder, approval, write("out/config"), write("out/config"))
    (folder / "out").unlink()
    (folder / "out").symlink_to(".git")
    person.verdict = Verdict.DENIED
    await work(folder, approval, write("out/config"))
    assert [one.protected is not None for one in person.questions] == [False, True]


async def test_the_mode_that_asks_nobody_asks_nobody_and_shows_what_the_question_is_for(folder: Path) -> None:
    await work(folder, Approval(Mode.NEVER), write(".git/config"), shell("git status"))
    assert (folder / "src/pwned").exists()
