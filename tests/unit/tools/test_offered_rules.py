"""What "always" may mean: the rule that a person is offered for a call, or none."""

import pytest

from legato.model import JsonObject, ToolSpec
from legato.tools import Effect, Rule, Tool, ToolContext, ToolKind
from legato.tools.offers import offered_pattern
from scheduling import ANYTHING


def named(name: str, kind: ToolKind) -> Tool:
    async def run(arguments: JsonObject, _: ToolContext) -> object:
        return arguments

    return Tool(
        spec=ToolSpec(name, "", ANYTHING), run=run, kind=kind, subject=lambda arguments: str(arguments.get("path", ""))
    )


SHELL = named("shell", ToolKind.EXECUTE)


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("git status", "git status *"),
        ("git log --oneline -5", "git log *"),
        ("git diff HEAD~1 -- src", "git diff *"),
        ("ls -la src", "ls *"),
        # The pattern would not cover the call, or not be what its words say: then the call alone.
        ("git log --output=x", "git log --output=x"),
        ("git  log", "git log *"),
        ("'ls' -l", "ls *"),
        # Nobody knows what another program does with other arguments.
        ("make test", "make test"),
        ("make", "make"),
        ("npm run build -- --watch", "npm run build -- --watch"),
        ("cat notes.txt", "cat notes.txt"),
        ("grep -r x *", "grep -r x \\*"),
        ("git push origin main", "git push origin main"),
    ],
)
def test_a_command_gets_a_wildcard_only_if_it_is_known_to_read(command: str, pattern: str) -> None:
    assert offered_pattern(SHELL, {"path": command}) == pattern


@pytest.mark.parametrize(
    "command",
    [
        "bash run.sh", "sh -c ls", "zsh", "/bin/bash x", "python3.12 x.py", "python -m pytest", "node x.js", "perl -e 1",
        "awk 1 x", "sed -i s/a/b/ x", "env make", "sudo apt install x", "xargs rm", "nohup make", "time make",
        "timeout 5 make", "ssh host ls", "docker run x", "docker exec x ls", "npx thing", "uvx thing", "uv run x",
        "nice make", "watch ls", "command ls", "rm notes.tmp", "rm -rf build", "/bin/rm x", "rmdir x", "shred x",
        "find . -name x", "find . -delete", "git clean -fd", "git reset --hard", "git checkout .", "mv a b", "dd if=x",
        "FOO=1 make", "eval x", ". x", "source x", "RM x", "ash run.sh", "mksh run.sh", "toybox rm x", "flock l rm x",
        "pkexec rm x", "run0 rm x", "systemd-run rm x", "Env make",
    ],
)  # fmt: skip
def test_nothing_lasting_is_offered_for_what_runs_or_deletes_what_it_is_given(command: str) -> None:
    assert offered_pattern(SHELL, {"path": command}) is None


@pytest.mark.parametrize(
    "command",
    [
        "ls; rm x", "ls && rm x", "ls & rm x", "ls | sh", "ls > x", "ls < x", "ls $(rm x)", "ls `rm x`", "ls $HOME",
        "ls\nrm x", "(ls)", "ls {a,b}", "ls \\x", "git status\r", "", "   ",
    ],
)  # fmt: skip
def test_nothing_lasting_is_offered_for_a_command_that_is_more_than_plain_words(command: str) -> None:
    assert offered_pattern(SHELL, {"path": command}) is None


@pytest.mark.parametrize(
    ("kind", "subject", "pattern"),
    [
        (ToolKind.EDIT, "src/a/b.py", "src/a/b.py"),
        (ToolKind.EDIT, "b.py", "b.py"),
        (ToolKind.EDIT, "what?/*.py", "what\\?/\\*.py"),
        (ToolKind.OTHER, '{"a":1}', '{"a":1}'),
        (ToolKind.OTHER, '{"a":"*"}', '{"a":"\\*"}'),
        (ToolKind.EDIT, "a\nb.py", None),
        (ToolKind.EDIT, "a\u202eb.py", None),
        (ToolKind.OTHER, "x" * 200, None),
    ],
)
def test_for_a_file_it_is_that_file_and_for_another_tool_that_call(
    kind: ToolKind, subject: str, pattern: str | None
) -> None:
    act = named("act", kind)
    assert offered_pattern(act, {"path": subject}) == pattern
    if pattern is not None:
        rule = Rule(Effect.ALLOW, "act", pattern)
        assert rule.covers(act, subject)
        assert not rule.covers(act, f"{subject}x")


def test_nothing_is_offered_where_the_rule_would_read_back_as_another_one() -> None:
    assert offered_pattern(named("odd(", ToolKind.OTHER), {"path": "x"}) is None
