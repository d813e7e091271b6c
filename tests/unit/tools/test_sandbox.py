"""The sandbox as the rest of the program meets it: what it protects, what is asked, and what is offered."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import CallId
from legato.model.records import Verdict
from legato.tools import Approval, Mode, Question, Ruling, Tool
from legato.tools.builtin import Workspace
from legato.tools.builtin.shell import shell_tool
from legato.tools.protected import Protection, may_be_protected
from legato.tools.rules import Effect, judge
from legato.tools.sandbox import SandboxMode, SandboxPolicy, places
from legato.tools.sandbox.denials import hint_of_denial
from legato.tools.sandbox.landlock import rules
from legato.tools.sandbox.places import ProtectedPlaces
from legato.tools.sandbox.sandbox import ChosenMechanism, Sandbox
from legato.tools.sandbox.seccomp import MACHINES, call_filter
from scheduling import Recorder, call, scheduler

pytestmark = pytest.mark.anyio


def found_in(folder: Path) -> dict[str, str]:
    return ProtectedPlaces(str(folder), Protection(folder=folder)).find()


def test_protected_places_are_found_at_any_depth_by_name_by_link_and_by_content(tmp_path: Path) -> None:
    for name in (
        ".git/hooks",
        "a/node_modules/x/.github/workflows",
        "a/b/.git",
        "a/.github/workflows",
        "bare/objects",
        "bare/refs",
        "conf",
        "a/.Vscode",
    ):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a/.envrc", "a/x.code-workspace", "bare/HEAD", "bare/config", "a/readme", ".github"):
        (tmp_path / name).touch()
    (tmp_path / ".idea").symlink_to("conf")
    assert found_in(tmp_path) == {
        ".git": "",
        ".idea": "conf",
        "a/.Vscode": "",
        "a/.envrc": "",
        "a/.github/workflows": "",
        "a/b/.git": "",
        "a/x.code-workspace": "",
        **{f"bare/{name}": "" for name in ("HEAD", "config", "objects", "refs")},
    }


@given(names=st.lists(st.sampled_from(["a", "a/b", ".git", "a/.git", "a/b/.envrc", "c/.vscode", "c"]), max_size=8))
def test_a_second_look_finds_what_a_first_one_would(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("places")
    known = ProtectedPlaces(str(folder), Protection(folder=folder))
    for name in names:
        if (folder / name).is_dir() and not any((folder / name).iterdir()):
            (folder / name).rmdir()
        else:
            (folder / name).mkdir(parents=True, exist_ok=True)
        assert known.find() == found_in(folder)


def test_a_folder_that_is_too_large_is_looked_at_from_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_ENTRIES", 3)
    (tmp_path / "a/b/c/.git").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    known = ProtectedPlaces(str(tmp_path), Protection(folder=tmp_path))
    assert (known.find(), known.is_complete) == ({".git": ""}, False)


def test_a_flood_of_files_takes_the_protection_from_nothing_that_had_it_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/.git").touch()
    (tmp_path / "a/b/.vscode").symlink_to("x")
    known = ProtectedPlaces(str(tmp_path), Protection(folder=tmp_path))
    before = known.find()
    monkeypatch.setattr(places, "MOST_ENTRIES", 3)
    for number in range(3):
        (tmp_path / f"{number}").touch()
    (tmp_path / ".envrc").touch()
    assert known.take_back(before) == ([".envrc"], [], True)
    assert known.find() == before == {"a/b/.git": "", "a/b/.vscode": "x"}
    assert known.take_back(before) == ([], [], False)  # it was so before
    (tmp_path / "a/b/.git").unlink()
    assert known.find() == {"a/b/.vscode": "x"}


def test_what_was_written_on_purpose_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    known = ProtectedPlaces(str(tmp_path), Protection(folder=tmp_path))
    before = known.find()
    for name in (".envrc", ".npmrc"):
        (tmp_path / name).touch()
    taken = known.take_back(before, spared=frozenset({str(tmp_path / ".envrc")}))
    assert (taken.moved, taken.stuck) == ([".npmrc"], [])
    assert sorted(os.listdir(tmp_path)) == [".envrc", ".legato-withheld"]


@pytest.mark.parametrize("name", [".git", ".LEGATO.toml", "workflows", "x.code-workspace", ".envrc. "])
def test_every_name_that_may_be_protected_is_looked_at(name: str) -> None:
    assert may_be_protected(name)


def test_with_landlock_rights_are_given_around_what_is_protected(tmp_path: Path) -> None:
    for name in ("src", "a/b/.git", "a/c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "notes").touch()
    given = {os.fsdecode(path) for path, _ in rules([str(tmp_path)], [str(tmp_path / "a/b/.git")])}
    inside = {path for path in given if path.startswith(str(tmp_path))}
    assert inside == {str(tmp_path / name) for name in ("src", "a/c", "notes")}


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_every_filter_is_a_program_that_the_kernel_would_take(machine: str) -> None:
    for network in (True, False):
        for own in (True, False):
            program = call_filter(machine, network=network, unix_sockets=own, own_namespaces=own)
            steps = [program[start : start + 8] for start in range(0, len(program), 8)]
            assert len(program) % 8 == 0
            assert len(steps) < 4096
            for number, step in enumerate(steps):
                code, jumps = int.from_bytes(step[:2], "little"), step[2:4]
                if code & 7 == 5:  # a jump, which may not lead behind the end
                    assert number + 1 + max(jumps) < len(steps)
            assert steps[-1][:2] == b"\x06\0"


@pytest.mark.parametrize(
    ("output", "network", "hint"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", False, "Read-only file system"),
        ("curl: (6) Could not resolve host: example.org", False, "Could not resolve host"),
        ("curl: (6) Could not resolve host: example.org", True, None),
        ("bash: /etc/x: permission denied", True, "Permission denied"),
        ("1 failed, 3 passed", False, None),
    ],
)
def test_an_output_suggests_a_refusal_or_does_not(output: str, network: bool, hint: str | None) -> None:
    assert hint_of_denial(output, SandboxPolicy(network=network)) == hint


# --- asking -----------------------------------------------------------------------------------------------------------


class Person:
    """Somebody who answers each question as told, and remembers what was asked."""

    is_person = True

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Ruling:
        self.asked.append(question)
        return Ruling(question.call, question.digest, verdict=self.verdicts.pop(0))


class Machine(Person):
    """The same, but nobody who knows what "outside" means."""

    is_person = False


def shell_in(folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str = "", **policy: Any) -> Tool:
    sandbox = Sandbox(folder, SandboxPolicy(**policy))
    if missing:
        monkeypatch.setattr(Sandbox, "choice", ChosenMechanism(None, missing))
    return shell_tool(Workspace(folder), environment=lambda: dict(os.environ), sandbox=sandbox)


async def test_a_question_says_whether_the_command_is_in_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str | None] = []
    for tool in (
        shell_in(tmp_path, monkeypatch, mode=SandboxMode.OFF),
        shell_in(tmp_path, monkeypatch, "nobody built one"),
    ):
        person = Person(Verdict.DENIED)
        await scheduler([tool], approval=Approval(approver=person)).run(
            [call("a", "shell", command="true")], Recorder()
        )
        told += [question.sandbox for question in person.asked]
    assert told == [
        "no sandbox: it is switched off, and this can do whatever you can",
        "no sandbox: nobody built one; this can do whatever you can",
    ]


def test_where_a_sandbox_is_wanted_and_missing_never_asks_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = {"command": "make"}
    off = shell_in(tmp_path, monkeypatch, mode=SandboxMode.OFF)
    assert judge(off, command, mode=Mode.NEVER, rules=()).effect is Effect.ALLOW
    missing = shell_in(tmp_path, monkeypatch, "nobody built one")
    assert judge(missing, command, mode=Mode.NEVER, rules=()).effect is Effect.ASK


def sandboxed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    if Sandbox(folder).choice.mechanism is None:
        pytest.skip("this system has no sandbox")
    return shell_in(folder, monkeypatch)


@pytest.mark.parametrize(
    ("person", "mode", "questions", "is_made"),
    [
        (Person(Verdict.ALLOWED, Verdict.ALLOWED), Mode.ASK, 2, True),
        (Person(Verdict.ALLOWED, Verdict.DENIED), Mode.ASK, 2, False),
        (Machine(Verdict.ALLOWED, Verdict.ALLOWED), Mode.ASK, 1, False),
        (Person(), Mode.NEVER, 0, False),
        (None, Mode.NEVER, 0, False),
    ],
    ids=["yes", "no", "no person", "nobody wants to be asked", "nobody is there"],
)
async def test_only_a_person_lets_a_command_run_again_outside(
    person: Person | None, mode: Mode, questions: int, is_made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    tool = sandboxed(folder, monkeypatch)
    made = Path("/var/tmp") / f"legato-test-{os.getpid()}"
    runner = scheduler([tool], approval=Approval(mode, approver=person))
    try:
        (response,) = await runner.run([call("a", "shell", command=f"echo x > {made} && echo done")], Recorder())
        assert made.exists() is is_made
    finally:
        made.unlink(missing_ok=True)
    assert len(person.asked if person else []) == questions
    if is_made:
        assert response.result == "[The user let this command run again, outside of the sandbox.]\ndone"
    else:
        assert "may be due to the sandbox, where commands cannot write outside" in str(response.error)
    if questions == 2:
        assert person is not None
        first, second = person.asked
        assert (first.outside, second.sandbox, second.pattern) == (None, None, None)
        assert second.outside is not None
        assert first.digest != second.digest


async def test_an_answer_to_the_first_question_is_none_to_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grant for the session, too, is one for the sandbox."""
    tool = shell_in(tmp_path, monkeypatch, mode=SandboxMode.OFF)

    class Stale(Person):
        async def ask(self, question: Question) -> Ruling:
            self.asked.append(question)
            return Ruling(question.call, "another digest")

    stale = Stale()
    approval = Approval(approver=stale)
    assert not await approval.offer_outside(CallId("hist_tool_a"), tool, {"command": "make"}, why="it failed")
    assert stale.asked


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="becomes another user, which only root can")
def test_the_environment_of_the_program_is_closed_to_other_processes_of_its_user() -> None:
    program = """
import ctypes, os, subprocess
from legato.tools.sandbox.hiding import hide_process
os.setgid(65534), os.setuid(65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # becoming somebody else hides a process already
look = ["/bin/sh", "-c", "cat /proc/$PPID/environ | tr '\\\\0' '\\\\n' | grep -c SOME_KEY"]
print(subprocess.run(look, env={}, stdout=-1, stderr=-3).stdout)
hide_process()
print(subprocess.run(look, env={}, stdout=-1, stderr=-3).stdout)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "SOME_KEY": "x"}, stdout=-1, text=True, check=True
    )
    assert told.stdout == "b'1\\n'\nb'0\\n'\n"


def test_a_machine_of_another_kind_has_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    assert Sandbox(tmp_path).choice.mechanism is None
