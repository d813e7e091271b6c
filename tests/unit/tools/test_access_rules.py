"""Rules about what is touched, and about commands however they are spelled: every tool obeys them."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from legato.errors import ConfigError
from legato.model import JsonObject, ToolSpec
from legato.tools import Approval, Effect, Mode, Rule, Tool, ToolContext, ToolKind, parse_rules
from legato.tools.builtin import Workspace, builtin_tools
from legato.tools.protected import Protection
from legato.tools.rules import judge, unknown_tools
from scheduling import ANYTHING, Recorder, call, scheduler

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".env").write_text("TOKEN=secret\n")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/a.pem").write_text("secret\n")
    (tmp_path / "open.txt").write_text("secret\n")
    (tmp_path / "link").symlink_to(".env")
    return tmp_path


def remote(arguments: JsonObject, _: ToolContext) -> object:
    raise AssertionError("it is only judged")


def tools_of(root: Path) -> dict[str, Tool]:
    found = {tool.name: tool for tool in builtin_tools(Workspace(root))}
    found["mcp__x__y"] = Tool(spec=ToolSpec("mcp__x__y", "", ANYTHING), run=remote)  # type: ignore[arg-type]
    return found


def effect(root: Path, tool: str, arguments: JsonObject, mode: Mode = Mode.EDITS, **rules: list[str]) -> str:
    protection = Protection(folder=root)
    return judge(tools_of(root)[tool], arguments, mode=mode, rules=parse_rules(**rules), protection=protection).effect


@pytest.mark.parametrize("path", [".env", "./.env", "keys/../.env", ".ENV", "link", "ABSOLUTE", ".env/"])
@pytest.mark.parametrize(
    ("tool", "field"), [("read", "path"), ("grep", "path"), ("list", "path"), ("glob", "path"), ("mcp__x__y", "file")]
)
def test_what_may_not_be_read_is_read_by_no_tool(root: Path, tool: str, field: str, path: str) -> None:
    path = str(root / ".env") if path == "ABSOLUTE" else path
    if tool == "mcp__x__y" and path == "link":
        pytest.skip("where a link leads for a program elsewhere is not known")
    assert effect(root, tool, {field: path, "pattern": "x"}, deny=["read(.env)"]) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat './.env'",
        "head -1 <.env",
        "cp .env x",
        "X=1 cat $PWD/.env",
        "cat .e*",
        "cat .en?",
        "cat ./.[e]nv",
        "cat .e{n,x}v",
        "cd sub && cat ../.env",
        "cd .. && cat ABOVE/.env",
        "cat ~+/.env",
        "cat /proc/self/cwd/.env",
        "cat .e*/x",
    ],
)
def test_what_may_not_be_read_is_named_by_no_command(root: Path, command: str) -> None:
    command = command.replace("ABOVE", root.name)
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["read(.env)"]) == "deny"


@pytest.mark.parametrize(
    "command", ["cat *", "cat a*", "cat .e", "cat .e*x", "cat ?env", "cd sub; cat .e/v", "cat keys*/.env"]
)
def test_a_pattern_that_cannot_mean_it_may_be_read(root: Path, command: str) -> None:
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["read(.env)"]) == "allow"


@pytest.mark.parametrize(
    "command", ["cat keys/a", "cat k*/a", "cat keys/*", "cd keys; cat a", "cd keys/b; cat ../a", "cat keys*/b/c"]
)
def test_what_is_in_a_folder_may_not_be_read_by_a_pattern_either(root: Path, command: str) -> None:
    for rule in ("read(keys)", "read(keys/**)", "read(keys/*)"):
        assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=[rule]) == "deny"


async def test_a_search_leaves_out_what_may_not_be_read(root: Path) -> None:
    approval = Approval(Mode.ASK, parse_rules(deny=["read(.env)"], ask=["read(keys/**)"]), folder=root)
    runner = scheduler(builtin_tools(Workspace(root)), approval=approval)
    calls = [
        call("a", "grep", pattern="secret"),
        call("b", "glob", pattern="**/*"),
        call("c", "list", path="keys"),
        call("d", "list"),
    ]
    responses = await runner.run(calls, Recorder())
    assert [response.result for response in responses] == [
        "open.txt\n1: secret",
        "open.txt",
        "[the folder is empty]",
        "keys/\nlink\nopen.txt",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"path": ".env", "content": ""}),
        ("edit", {"path": ".env", "old": "a", "new": "b"}),
        ("edit", {"path": "link", "old": "a", "new": "b"}),
        ("write", {"path": ".ENV", "content": ""}),
        ("shell", {"command": "echo x > .env"}),
        ("mcp__x__y", {"to": {"file": ".env"}}),
    ],
)
def test_what_may_not_be_written_is_written_by_no_tool(root: Path, tool: str, arguments: JsonObject) -> None:
    assert effect(root, tool, arguments, Mode.NEVER, deny=["write(.env)"]) == "deny"
    assert effect(root, tool, arguments, Mode.NEVER, deny=["read(.env)"]) == "deny"
    assert effect(root, tool, arguments, Mode.NEVER, deny=["write(other)"]) == "allow"


def test_what_may_not_be_written_may_be_read(root: Path) -> None:
    assert effect(root, "read", {"path": ".env"}, deny=["write(.env)"]) == "allow"


def test_a_rule_that_allows_writing_allows_it_to_every_tool_that_edits_and_to_no_command(root: Path) -> None:
    rules = {"allow": ["write(docs/**)", "run(make test)"]}
    assert effect(root, "write", {"path": "docs/a", "content": ""}, Mode.ASK, **rules) == "allow"
    assert effect(root, "edit", {"path": "docs/a", "old": "a", "new": "b"}, Mode.ASK, **rules) == "allow"
    assert effect(root, "edit", {"path": "src/a", "old": "a", "new": "b"}, Mode.ASK, **rules) == "ask"
    assert effect(root, "shell", {"command": "touch docs/a"}, Mode.ASK, **rules) == "ask"
    assert effect(root, "shell", {"command": "make test"}, Mode.ASK, **rules) == "allow"
    assert effect(root, "mcp__x__y", {"path": "docs/a"}, Mode.ASK, **rules) == "ask"


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("shell", {"command": "curl https://api.example.com/x"}, "deny"),
        ("shell", {"command": "curl example.com:80/x"}, "deny"),
        ("shell", {"command": "ssh me@example.com ls"}, "deny"),
        ("shell", {"command": "git clone git@example.com:a/b"}, "deny"),
        ("shell", {"command": "curl https://other.org"}, "allow"),
        ("shell", {"command": "cat example.com"}, "allow"),
        ("mcp__x__y", {"url": "HTTPS://user@Example.com:8080/"}, "deny"),
    ],
)
def test_a_rule_about_hosts_is_about_every_call_that_names_one(
    root: Path, tool: str, arguments: JsonObject, expected: str
) -> None:
    assert effect(root, tool, arguments, Mode.NEVER, deny=["net(example.com)"]) == expected


def test_hosts_are_denied_or_asked_about_and_never_allowed_by_a_rule() -> None:
    with pytest.raises(ConfigError, match="`net` rules deny or ask"):
        parse_rules(allow=["net(example.com)"])


PIECES = ["cd a;", "cd a/..;b ", "a ", "[a]*", "a*/", "{a,b}", "$x/", "a", "a.", "a@", "://", "a://", "curl a.b "]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("tool", ["shell", "mcp__x__y"])
def test_what_a_long_text_touches_is_looked_through_in_linear_time(root: Path, tool: str, piece: str) -> None:
    denied = ["read(**/*.pem)", "write(k)", "net(example.com)", "net(*.a*b)"]

    def seconds(length: int) -> float:
        begin = time.process_time()
        effect(root, tool, {"command": piece * (length // len(piece))}, Mode.ASK, deny=denied)
        return time.process_time() - begin

    assert min(seconds(80_000) for _ in range(3)) < 40 * min(seconds(8_000) for _ in range(3)) + 0.05


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "rm  -rf x", "FOO=1 rm x", "command rm x", "'rm' x", "/bin/rm x", "\\rm x", "r''m x", "rm\tx", "RM x", "env rm x",
        "sudo -n rm x", "ls | xargs rm", "nohup rm x", "timeout 5 rm x", "echo $(rm x)", "echo `rm x`", "bash -c 'rm x'",
        "if true; then rm x; fi", "eval rm x", "{ rm x; }", "(rm x)", "! rm x", "find . -exec rm {} +", "a && rm x",
        "cat <<E\n$(rm x)\nE", "diff <(rm x) y", "rm $x", "for i in a; do rm $i; done",
    ],
)  # fmt: skip
def test_a_command_that_is_denied_is_denied_however_it_is_spelled(root: Path, command: str) -> None:
    for rule in ("shell(rm *)", "run(rm *)"):
        assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=[rule]) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "bash -eo pipefail -c 'rm x'", "bash -o errexit -c 'rm x'", "bash -O extglob -c 'rm x'", "sh +o errexit -c 'rm x'",
        "bash --rcfile y -c 'rm x'", "bash -c -e 'rm x'", "bash -c -- 'rm x'", "bash -oc errexit 'rm x'",
        "bash <<E\nrm x\nE", "bash <<< 'rm x'", "echo 'rm x' | bash", "echo 'rm x' | sh -s a", "echo 'rm x' | sh -",
        "bash /dev/stdin <<< 'rm x'", ". /dev/stdin <<< 'rm x'", "source <(echo rm x)", "fish -C 'rm x'",
        "set -- 1; for i do rm x; done", "rm {fd}>/dev/null x", "alias a=rm; a x", "hash -p /bin/rm a; a x",
        "x='$(rm y)'; echo ${x@P}", "x='a[$(rm y)]'; echo $[x]", "x='a[$(rm y)]'; echo ${z:x}", "echo ${z[x]}",
        "[[ 'a[$(rm x)]' -eq 0 ]]", "let 'a[0`rm x`]'", "printf -v 'a[$(rm x)]' y", "jobs -x rm x",
        "mapfile -C 'rm x' y", "compgen -C 'rm x'", "fc -s rm", "enable -f x y",
        "git -c alias.x='!rm y' x", "git --config-env=alias.x=Y x", "git --exec-path=. status",
        "time { rm x; }", "time ! rm x", "time if rm x; then a; fi", "time -p A=1 rm x", "2>&1 [[ a; rm x; ]]",
        "{rm,x,{y}}", "F\\\nOO=1 rm x", "i\\\nf rm x; then a; fi", "{\\\n rm x; }", "echo \"$\\\n(rm x)\"",
        "cat <<E $(echo a\nrm x\nE\n)\nb\nE\n", "cat <<E\nE\\\n\nrm x\nE\n", "cat <<$'\\x45'\nE\nrm x\n\\x45\n",
        "cat <<\\\n-E\nE\nrm x\n-E\n", "echo $(cat <<E)\nrm x\nE\n",
        "echo \"${a:-'$(rm x)'}\"", "echo \"${a:-'}\"; rm x; echo \"'}\"", "echo ${a:-<(rm x)}", "echo ${ rm x; }",
        "echo ${| rm x; }", "echo ${a:-$'\\''}; rm x; echo \"}'\" \"}\" # \"", "echo ${a:-b\\'c}; rm x; echo \"'}\" \"}\" # \"",
        "PS4='$(rm x)'; set -x; a", "BASH_ENV='$(rm x)' bash -c a", "declare -a 'a=($(rm x))'", "PS4=$'\\x24(rm x)'; set -x; a",
        "env 'BASH_FUNC_a%%=() { rm x; }' bash -c a", "env 1=1 rm x", "env -S 'rm\\_x'", "setarch -R rm x", "sg a -c 'rm x'",
        "a='a[$'; b='(rm x)]'; [[ $a$b -eq 0 ]]", "let x", "zsh -c '=rm x'", "tcsh -c 'rm x'",
        "echo 'rm x' | xargs -I{} sh -c '{}'", "echo rm | xargs -I% % x", "echo rm | xargs --replace=R R x", "echo rm | xargs -0i {} x",
        "find . -name rm -exec {} x +", "find . -exec sh -c '{}' +", "fdfind -x rm x", "fd -Hx rm x", "fd --exec=rm x", "fd -xrm x",
        "env --uns X rm x", "timeout $a--preserve-status 5 rm x", "env -u $a b rm x", "timeout [5] 5 rm x", "x86_64 rm x",
        "cat <<E\\\n\n$(rm x)\nE\n", "2\\\n>a rm x", "find . $a rm x ';'", "git $a alias.b='!rm x' b",
        "a 2>&'b[$(rm x)]'", "a >&2b'$(rm x)'", "declare -A ${a:-'b=([$(rm x)]=1)'}", "env -uXa rm x", "env -uSa rm x", "declare -a 'a=(<(rm x))'",
        "[ -v a$(b)'c[$(rm x)]' ]", "a='b['; read $a'$(rm x)]'", "bash -o $a -c rm x",
        "echo 'rm x' | parallel", "parallel ::: 'rm x'", "parallel 'rm x' ::: a", "git --shallow-file a -c alias.b='!rm x' b",
    ],
)  # fmt: skip
def test_a_command_that_hides_what_it_runs_is_no_way_around_a_rule(root: Path, command: str) -> None:
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["run(rm x)"]) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "bash script.sh rm", "bash -e ./script.sh x", "bash --version", "bash -euo pipefail -c 'ls x'", "source env.sh",
        "echo ${x:-y} ${x:0:3} ${x: -1} ${#x} ${x%.*} ${a[0]} ${a[@]} ${x^^}", "for i in a b; do ls; done", "for i\ndo ls; done",
        "[[ -f a && $x =~ ^[a-z]+$ ]]", "mapfile -t a < x", "printf '%s' a", "git -c user.name=x commit -m y", "ls {a}",
        "echo \"[$(date)] done\"", "hash -r", "jobs", "a=$(date) b", "a='x y' b", "time git log", "[[ $# -eq 0 && ${#a} -gt 3 ]]",
        "cat <<E\na \\\n  b\nE\n", "find . -exec ls {} +", "ls | xargs -I{} ls {}", "parallel ls {} ::: a", "IFS=$'\\n' ls",
        "echo ${a:-\\}} ${a:-'}'} ${a:-\"b c\"}", "echo {} {a} a{b", "env -u A B=1 ls",
    ],
)  # fmt: skip
def test_a_rule_about_one_program_leaves_others_alone(root: Path, command: str) -> None:
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["run(rm x)"]) == "allow"


@pytest.mark.parametrize(
    "command", ["$(echo rm) x", "$X", 'eval "$x"', "case a in b) c;; esac", "f() { a; }", "git $x"]
)
def test_a_command_that_may_be_denied_is_asked_about_and_refused_where_no_one_can_be_asked(
    root: Path, command: str
) -> None:
    rules = {"deny": ["shell(git push *)"], "allow": ["shell"]}
    assert effect(root, "shell", {"command": command}, Mode.ASK, **rules) == "ask"
    assert effect(root, "shell", {"command": command}, Mode.NEVER, **rules) == "deny"
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["write(zz)"]) == "allow"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git -C x push", "deny"),
        ("git -c a=b --no-pager push origin", "deny"),
        ("git commit -m \"$x\"", "allow"),
        ("git commit -m 'git push'", "allow"),
        ("echo git push", "allow"),
        ("./git push", "deny"),
    ],
)  # fmt: skip
def test_a_subcommand_is_found_behind_options_and_not_in_other_words(root: Path, command: str, expected: str) -> None:
    assert effect(root, "shell", {"command": command}, Mode.NEVER, deny=["shell(git push *)"]) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status && git log | head -3", "allow"),
        ("git status 2>&1 >/dev/null", "allow"),
        ("timeout 5 nice -n 3 git log", "allow"),
        ("git log --grep='a; b'", "allow"),
        ("git status; rm -r .", "ask"),
        ("git log > x", "ask"),
        ("git log < x", "ask"),
        ("git log $(rm x)", "ask"),
        ("git log $x", "ask"),
        ("git log {a,--output=x}", "ask"),
        ("git log {--output=x,{a}}", "ask"),
        ("head <<E\nE\\\n\nrm -r .\nE\n", "ask"),
        ("head <<$'\\x45'\nE\nrm -r .\n\\x45\n", "ask"),
        ('git log "$\\\n(rm -r .)"', "ask"),
        ("head <<E\na \\\nb\nE\n", "allow"),
        ("head <<E\\\n\n$(rm -r .)\nE\n", "ask"),
        ("GIT_PAGER=x git log", "ask"),
        ("PATH=.; git log", "ask"),
        ("env git log", "ask"),
        ("sudo git log", "ask"),
        ("xargs git log", "ask"),
        ("git -c core.pager=x log", "ask"),
        ("git -C / log", "ask"),
        ("git log --output=F", "ask"),
        ("tree -a", "allow"),
        ("tree -aR", "ask"),
        ("curl -sD F x", "ask"),
        ("curl --cookie-j F x", "ask"),
        ("tar -cf F --info-script=x -L 1 y", "ask"),
        ("tar tf F", "allow"),
        ("tar tIf x F", "ask"),
        ("curl -sd a=b x", "allow"),
        ("curl -d @F x", "ask"),
        ("curl -F a=@F x", "ask"),
        ("curl -w '%output{F}%{http_code}' x", "ask"),
        ("sed -n 1p F", "allow"),
        ("sed -ni 1p F", "ask"),
        ("fdfind -x rm", "ask"),
        ("git log --receive-pack=x", "ask"),
        ("time -o F git log", "ask"),
        ("command -v git log", "ask"),
        ("bash -c 'git log'", "ask"),
        ("git 'log;' x", "ask"),
        ("'git log'", "ask"),
        ("./git log", "ask"),
        ("f() { git log; }", "ask"),
    ],
)
def test_rules_that_allow_cover_a_command_only_part_by_part(root: Path, command: str, expected: str) -> None:
    allow = [
        "shell(git status *)",
        "shell(git log *)",
        "shell(head *)",
        "shell(tree *)",
        "shell(curl *)",
        "shell(tar *)",
        "shell(sed *)",
        "shell(fdfind *)",
    ]
    assert effect(root, "shell", {"command": command}, Mode.ASK, allow=allow) == expected


def test_a_rule_for_a_tool_that_does_not_exist_is_told_with_the_nearest_name() -> None:
    rules = parse_rules(allow=["shel(ls)", "mcp__gone__x", "read(x)", "run(x)", "sh*"], deny=["xyz"])
    assert unknown_tools(rules, ["shell", "read"]) == [
        "approval.allow names 'shel' in 'shel(ls)', which is no tool; did you mean 'shell'?",
        "approval.deny names 'xyz' in 'xyz', which is no tool; there are shell, read, read, write, run, net",
    ]


def test_a_rule_that_names_a_folder_denies_what_is_in_it(root: Path) -> None:
    assert effect(root, "read", {"path": "keys/a.pem"}, deny=["read(keys)"]) == "deny"
    assert effect(root, "read", {"path": "keys2"}, deny=["read(keys)"]) == "allow"


def test_a_tool_of_ones_own_obeys_rules_about_files(root: Path) -> None:
    own = dataclasses.replace(tools_of(root)["mcp__x__y"], kind=ToolKind.READ)
    assert judge(own, {"where": ".env"}, mode=Mode.ASK, rules=parse_rules(deny=["read(.env)"])).effect is Effect.DENY
    assert Rule.parse("read(.env)", Effect.ALLOW).covers(own, ".env")
