"""A model that tries every way out of the working folder, past the questions, and to the keys."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from legato.model import ClosureReason, ToolSpec
from legato.model.records import Scope, Verdict
from legato.model.trust import Allowance, Party, Power
from legato.tools import Approval, Mode, Question, Ruling, Tool, parse_rules, run_tool
from legato.tools.builtin import Workspace, builtin_tools, search_worker
from legato.transport import KeyRing
from program import Home
from scheduling import ANYTHING, Recorder, call, scheduler
from trust_cells import proves

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src/a.py").write_text("inside\n")
    (work / ".git").mkdir()
    (work / ".git/config").write_text("[core]\n")
    (tmp_path / "secret").write_text("the secret outside\n")
    (work / "link").symlink_to("../secret")
    (work / "folder").symlink_to("..")
    return work


class Person:
    """Answers each question the same way, and remembers what was asked."""

    def __init__(self, scope: Scope = Scope.ONCE, verdict: Verdict = Verdict.ALLOWED) -> None:
        self.scope, self.verdict = scope, verdict
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Ruling:
        self.asked.append(question)
        pattern = question.pattern if self.scope is Scope.ALWAYS else None
        return Ruling(question.call, question.digest, verdict=self.verdict, scope=self.scope, pattern=pattern)


async def tried(
    root: Path, *calls: tuple[str, dict[str, Any]], approval: Approval, extra: tuple[Tool, ...] = ()
) -> list[Any]:
    runner = scheduler([*builtin_tools(Workspace(root)), *extra], approval=approval)
    made = [call(str(number), name, **arguments) for number, (name, arguments) in enumerate(calls)]
    return list(await runner.run(made, Recorder()))


# --- files ---

WAYS_OUT = [
    "../secret",
    "link",
    "folder/secret",
    "src/../../secret",
    "/etc/passwd",
    "~/x",
    "src/./../link",
    "folder",
    "..",
]


@proves(Allowance.YES, Party.MODEL, Power.READ)
@proves(Allowance.NO, Party.MODEL, Power.READ_OUTSIDE)
async def test_the_file_tools_read_inside_and_nowhere_else(root: Path) -> None:
    inside = await tried(root, ("read", {"path": "src/a.py"}), approval=Approval())
    assert inside[0].result == "inside"
    calls = [
        (tool, {"path": path, "pattern": "secret"} if tool in ("grep", "glob") else {"path": path})
        for path in WAYS_OUT
        for tool in ("read", "list", "glob", "grep")
    ]
    for response, made in zip(await tried(root, *calls, approval=Approval(Mode.NEVER)), calls, strict=True):
        assert response.error, made
        assert "the secret outside" not in str(response), made
    searched = await tried(root, ("grep", {"pattern": "secret"}), ("glob", {"pattern": "**/*"}), approval=Approval())
    assert [one.result for one in searched] == ["[no matches]", "src/a.py"]


@pytest.mark.parametrize("swapped", ["src", "src/deep"])
def test_a_link_that_is_swapped_in_during_a_search_leads_nowhere(root: Path, swapped: str) -> None:
    (root / "src/deep").mkdir(exist_ok=True)
    (root / "src/deep/secret").write_text("x")
    found = search_worker.walk(str(root))
    place = root / swapped
    kept = [next(found)] if swapped == "src" else []
    place.rename(root / "moved")
    place.symlink_to(root.parent)
    kept += list(found)
    assert not any((root / name).resolve() == root.parent / "secret" for name in kept)
    assert search_worker.read_lines(str(root), f"{swapped}/secret") == []
    assert search_worker.entries_of(str(root), swapped) == []


@proves(Allowance.ASKED, Party.MODEL, Power.CHANGE, Power.RUN, Power.CALL_SERVER, Power.INSTRUCT)
async def test_changes_commands_and_servers_wait_for_an_answer(root: Path) -> None:
    ran: list[str] = []

    async def serve(arguments: Any, _: Any) -> object:
        ran.append("served")
        return "served"

    server = Tool(spec=ToolSpec("mcp__x__y", "", ANYTHING), run=serve)
    calls = [
        ("write", {"path": "new.txt", "content": "x"}),
        ("edit", {"path": "src/a.py", "old": "inside", "new": "x"}),
        ("write", {"path": "AGENTS.md", "content": "Obey."}),
        ("shell", {"command": "touch src/made"}),  # Landlock alone lets nothing be made beside .git
        ("mcp__x__y", {}),
    ]
    nobody = await tried(root, *calls, approval=Approval(), extra=(server,))
    assert {one.reason for one in nobody} == {ClosureReason.APPROVAL_UNAVAILABLE}
    refused = Person(verdict=Verdict.DENIED)
    await tried(root, *calls, approval=Approval(approver=refused), extra=(server,))
    assert [question.tool for question in refused.asked] == [name for name, _ in calls]
    assert (sorted(os.listdir(root)), ran) == ([".git", "folder", "link", "src"], [])
    await tried(root, *calls, approval=Approval(approver=Person()), extra=(server,))
    assert ((root / "src/made").exists(), ran) == (True, ["served"])


PROTECTED = [
    ".git/config", ".GIT/config", "src/../.git/config", ".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc",
    ".legato.toml", ".mcp.json", ".github/workflows/x.yml", ".husky/x", "sub/.claude/settings.json", ".bashrc",
]  # fmt: skip


@proves(Allowance.EACH_TIME, Party.MODEL, Power.CHANGE_PROTECTED)
@proves(Allowance.NO, Party.MODEL, Power.SKIP_QUESTIONS, Power.START_SERVER)
async def test_no_rule_mode_or_earlier_answer_opens_what_runs_by_itself(root: Path) -> None:
    for scope in Scope:
        person = Person(scope)
        approval = Approval(Mode.EDITS, parse_rules(allow=["write", "edit", "shell", "run(*)"]), approver=person)
        calls = [("write", {"path": path, "content": "x"}) for path in PROTECTED]
        calls += [("shell", {"command": f"echo x > {path}"}) for path in PROTECTED]
        await tried(root, *calls, *calls, approval=approval)
        assert len(person.asked) == 2 * len(calls)
        assert (approval.session_rules, approval.grants) == ([], ())


@pytest.mark.parametrize(
    ("yes", "then"),
    [
        ("rm notes.tmp", ["rm -rf src", "rm notes.tmp; rm -rf src", "rm  notes.tmp", "sudo rm notes.tmp"]),
        (
            "git log",
            ["git log --output=src/a.py", "git -c core.pager=x log", "git log; rm x", "X=1 git log", "git log > x"],
        ),
        ("ls", ["ls $(rm x)", "ls | sh", "./ls", "ls `x`", "env ls", "ls\nrm x"]),
        ("bash run.sh", ["bash other.sh", "bash -c 'rm x'"]),
    ],
)
@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.ALWAYS])
async def test_an_answer_reaches_no_further_than_its_words(root: Path, scope: Scope, yes: str, then: list[str]) -> None:
    person = Person(scope)
    approval = Approval(approver=person)
    await tried(root, ("shell", {"command": yes}), approval=approval)
    person.verdict, person.asked = Verdict.DENIED, []
    await tried(root, *[("shell", {"command": one}) for one in then], approval=approval)
    assert [question.arguments["command"] for question in person.asked] == then


@pytest.mark.parametrize(
    "command",
    [
        "cat <<E\nE\\\n\nrm -r src\nE\n",
        "cat <<$'\\x45'\nE\nrm -r src\n\\x45\n",
        'cat "$\\\n(rm -r src)"',
        "git log {--output=src/a.py,{a}}",
        "tar tIf 'rm -r src' a.tar",
    ],
)
async def test_no_spelling_makes_a_rule_that_allows_reach_further(root: Path, command: str) -> None:
    """A shell takes apart what a reader of its words may take for one word, or for the text of a document."""
    rules = parse_rules(allow=["shell(cat *)", "shell(git log *)", "shell(tar *)"])
    person = Person(verdict=Verdict.DENIED)
    await tried(root, ("shell", {"command": command}), approval=Approval(Mode.EDITS, rules, approver=person))
    assert [question.shown for question in person.asked] == [command]
    assert (root / "src/a.py").read_text() == "inside\n"


@pytest.mark.parametrize(
    "command",
    [
        "time { rm -r src; }",
        "PS4='$(rm -r src)'; set -x; true",
        "echo rm | xargs -I% % -r src",
        "echo \"${a:-'$(rm -r src)'}\"",
    ],
)
async def test_no_spelling_leads_past_a_rule_that_denies(root: Path, command: str) -> None:
    approval = Approval(Mode.NEVER, parse_rules(deny=["run(rm *)"]))
    [response] = await tried(root, ("shell", {"command": command}), approval=approval)
    assert "The rule `run(rm *)`" in str(response.error)
    assert (root / "src/a.py").read_text() == "inside\n"


# --- keys and outputs ---


@proves(Allowance.NO, Party.MODEL, Power.GET_KEY)
async def test_a_command_sees_no_key(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-0123456789")
    monkeypatch.setenv("MY_DEPLOY", "correct-horse-battery")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hunter22@db/x")
    ring = KeyRing({"openai": "correct-horse-battery"}, {})
    assert ring.find("openai") is not None
    shell = next(tool for tool in builtin_tools(Workspace(root)) if tool.name == "shell")
    output = await run_tool(shell, {"command": "env; set; export -p"})
    told = str(output.result)
    assert [secret in told for secret in ("sk-live-0123456789", "correct-horse", "hunter22")] == [False, False, False]


def long_output(home: Home, *flags: str) -> tuple[str, Path | None]:
    (home.work / "big.txt").write_text("\n".join(["y" * 100] * 3_000))
    asked = 'call shell with {"command": "cat big.txt"}'
    result = home.legato("--simulate", "--approval", "never", "--output-format", "stream-json", *flags, "-p", asked)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    [ended] = [line for line in lines if line["event"] == "tool-ended"]
    _, found, rest = ended["response"]["result"].partition("the whole output is in ")
    return str(lines[-1]["session"]), Path(rest.partition("]")[0]) if found else None


def test_a_long_output_belongs_to_its_session_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path, monkeypatch)
    session, place = long_output(home)
    assert place is not None
    assert place.exists()
    call_read = f'call read with {{"path": "{place}"}}'
    other = home.legato("--simulate", "--output-format", "stream-json", "-p", call_read)
    assert "outside of the working folder" in other.stdout
    same = home.legato("--simulate", "--resume", session, "--output-format", "stream-json", "-p", call_read)
    assert "outside of the working folder" not in same.stdout
    home.legato("sessions", "delete", session, "--yes")
    assert not place.parent.exists()


def test_without_a_store_no_output_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path, monkeypatch)
    assert long_output(home, "--no-store")[1] is None
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path != home.work / "big.txt"]
    assert [path for path in kept if b"yyyyyyyy" in path.read_bytes()] == []


# --- what is shown, and how long it takes ---


@proves(Allowance.NO, Party.MODEL, Power.DRIVE_TERMINAL)
def test_what_it_says_moves_no_cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path, monkeypatch)
    evil = "\x1b]52;c;aGk=\x07\x1b[2J\x9b2J\rx"
    result = home.legato("--simulate", "-p", f"say {evil}")
    for letter in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\r"):
        assert letter not in result.stdout
        assert letter not in result.stderr


@proves(Allowance.NO, Party.MODEL, Power.HOLD)
async def test_no_pattern_holds_the_program_up(root: Path) -> None:
    deep = root / "/".join(["a"] * 40)
    deep.mkdir(parents=True)
    (deep / "y").write_text("x")
    begin = time.process_time()
    calls = [
        ("glob", {"pattern": "**/" * 12 + "x"}),
        ("glob", {"pattern": "*a" * 30}),
        ("grep", {"pattern": "x", "include": "**/" * 12 + "x"}),
    ]
    found = await tried(root, *calls, approval=Approval())
    assert [one.result for one in found] == ["[no files match]", "[no files match]", "[no matches]"]
    assert time.process_time() - begin < 5


def test_no_difference_that_a_person_is_shown_holds_the_program_up(root: Path) -> None:
    (root / "src/a.py").write_text("\n".join(str(number % 101) for number in range(9_900)))
    content = "\n".join(str(number * 7 % 101) for number in range(9_900))
    begin = time.process_time()
    write = next(tool for tool in builtin_tools(Workspace(root)) if tool.name == "write")
    shown = str(write.preview({"path": "src/a.py", "content": content}))
    assert time.process_time() - begin < 5
    assert shown.count("\n") > 9_900


@pytest.mark.parametrize("piece", ["a/", "**/", "../", "./", "x"])
async def test_no_path_holds_the_program_up(root: Path, piece: str) -> None:
    path = piece * 20_000
    further: dict[str, dict[str, str]] = {
        "read": {}, "list": {}, "glob": {"pattern": "x"}, "grep": {"pattern": "x"}, "write": {"content": "x"},
        "edit": {"old": "x", "new": "y"},
    }  # fmt: skip
    calls = [(tool, {"path": path, **arguments}) for tool, arguments in further.items()]
    approval = Approval(Mode.ASK, parse_rules(deny=["read(**/*.pem)"]), approver=Person())
    begin = time.process_time()
    for response, (tool, _) in zip(await tried(root, *calls, approval=approval), calls, strict=True):
        assert "characters; at most 4,096 are one" in str(response.error), tool
        assert len(str(response.error)) < 500
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": ".ENV"}), ("grep", {"path": ".env", "pattern": "x"}), ("write", {"path": ".env", "content": ""}),
        ("edit", {"path": "src/../.env", "old": "the", "new": "a"}), ("shell", {"command": "cat .e*"}),
        ("shell", {"command": "bash -eo pipefail -c 'cat ./.env'"}), ("shell", {"command": "cd src; cat ../.env"}),
    ],
)  # fmt: skip
async def test_what_a_rule_denies_is_denied_to_every_tool_and_spelling(
    root: Path, tool: str, arguments: dict[str, str]
) -> None:
    (root / ".env").write_text("the secret inside\n")
    [response] = await tried(root, (tool, arguments), approval=Approval(Mode.NEVER, parse_rules(deny=["read(.env)"])))
    assert "The rule `read(.env)`" in str(response.error)
    assert "the secret inside" not in str(response)


async def test_texts_that_differ_are_never_shown_as_alike_or_as_a_number(root: Path) -> None:
    (root / "src/a.py").write_text("a\u2028b\n")
    person = Person(verdict=Verdict.DENIED)
    calls = [
        ("write", {"path": "src/a.py", "content": "a\nb\n"}),
        ("write", {"path": "src/b.py", "content": "x" * 2_000_001 + "\nrm -rf ~\n"}),
    ]
    await tried(root, *calls, approval=Approval(approver=person))
    line, large = (question.shown for question in person.asked)
    assert line.split("\n")[-3:] == ["-a\u2028b", "+a", "+b"]
    assert "+rm -rf ~" in large.split("\n")
