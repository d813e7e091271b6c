"""read, write, edit, list, glob, grep and shell, as a model meets them."""

import asyncio
import gc
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import CallerError
from legato.model import ClosureReason, Media, MediaKind
from legato.model.records import Verdict
from legato.tools import Approval, Mode, Question, Ruling, Tool, ToolKind, ToolOutput, run_tool
from legato.tools.builtin import Workspace, builtin_tools, clean_environment, search_worker
from legato.tools.builtin.diffs import unified
from legato.tools.builtin.files import replace_exactly
from legato.tools.builtin.processes import OutputTail
from legato.tools.builtin.shell import readable
from legato.tools.sandbox import SandboxMode, SandboxPolicy
from legato.transport import KeyRing
from scheduling import Recorder, call, closed, ok, scheduler, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/x.py").write_text("needle")
    (tmp_path / "README.md").write_text("# Title\n\nSome needle here.\n")
    (tmp_path / "src/a.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 1\n")
    (tmp_path / "src/deep/b.py").write_text("NEEDLE = 'needle'\n")
    (tmp_path / "blob.bin").write_bytes(b"needle\0\1\2")
    return tmp_path


@pytest.fixture
def tools(root: Path) -> dict[str, Tool]:
    """Without a sandbox, in which processes have other numbers; what holds in it is tested with hostile commands."""
    unconfined = SandboxPolicy(mode=SandboxMode.OFF)
    return {one.name: one for one in builtin_tools(Workspace(root), sandbox=unconfined)}


async def test_the_built_in_tools_say_what_kind_they_are(tools: dict[str, Tool]) -> None:
    assert {name: one.kind.value for name, one in tools.items()} == {
        "read": "read",
        "write": "edit",
        "edit": "edit",
        "list": "read",
        "glob": "read",
        "grep": "read",
        "shell": "execute",
    }
    for one in tools.values():
        assert one.spec.description
        assert "context" not in one.spec.parameters["properties"]


# --- read -------------------------------------------------------------------------------------------------------------


async def test_read_gives_the_text_and_says_how_to_read_on(root: Path, tools: dict[str, Tool]) -> None:
    (root / "long").write_text("\n".join(str(n) for n in range(1, 11)))
    assert await run_tool(tools["read"], {"path": "README.md"}) == ToolOutput("# Title\n\nSome needle here.")
    assert await run_tool(tools["read"], {"path": "long", "offset": 3, "limit": 2}) == ToolOutput(
        "3\n4\n[lines 3 to 4 of 10; read on with offset 5]"
    )


@pytest.mark.parametrize(
    ("content", "arguments", "output"),
    [
        (b"", {}, ToolOutput("[the file is empty]")),
        (b"\xef\xbb\xbfx\r\ny", {}, ToolOutput("x\ny")),
        (b"caf\xe9", {}, ToolOutput("caf\ufffd")),
        (b"a" * 3000, {}, ToolOutput("a" * 2000 + " [line cut]")),
        (b"a\nb", {"offset": 5}, ToolOutput(error="the file has 2 lines; line 5 is behind its end")),
        (b"\0\1", {}, ToolOutput(error="file is a binary file of 2 bytes and is not shown as text")),
        (
            b"\x89PNG\r\n\x1a\n",
            {},
            ToolOutput(media=(Media(kind=MediaKind.IMAGE, mime="image/png", data="iVBORw0KGgo=", name="file"),)),
        ),
    ],
    ids=["empty", "byte-order mark", "not UTF-8", "long line", "behind the end", "binary", "image"],
)
async def test_read_shows_what_a_model_can_use(
    root: Path, tools: dict[str, Tool], content: bytes, arguments: dict[str, Any], output: ToolOutput
) -> None:
    (root / "file").write_bytes(content)
    assert await run_tool(tools["read"], {"path": "file", **arguments}) == output


async def test_a_missing_file_is_an_error_result(tools: dict[str, Tool]) -> None:
    assert await run_tool(tools["read"], {"path": "readme.md"}) == ToolOutput(
        error="readme.md does not exist; there is README.md"
    )


# --- write and edit ---------------------------------------------------------------------------------------------------


async def test_write_creates_and_replaces(root: Path, tools: dict[str, Tool]) -> None:
    assert await run_tool(tools["write"], {"path": "x/y.txt", "content": "one\n"}) == ToolOutput(
        "Created x/y.txt (1 line)."
    )
    assert await run_tool(tools["write"], {"path": "x/y.txt", "content": "1\n2\n"}) == ToolOutput(
        "Replaced x/y.txt (2 lines)."
    )
    assert (root / "x/y.txt").read_text() == "1\n2\n"


async def test_edit_replaces_one_place_and_returns_the_difference(root: Path, tools: dict[str, Tool]) -> None:
    output = await run_tool(
        tools["edit"], {"path": "src/a.py", "old": "def two():\n    return 1", "new": "def two():\n    return 2"}
    )
    assert output == ToolOutput(
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -3,4 +3,4 @@\n \n \n def two():\n-    return 1\n+    return 2"
    )
    assert (root / "src/a.py").read_text().count("return 2") == 1


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "    return 1",
            "x",
            "`old` occurs 2 times, at lines 2, 6; add more of what stands around it, or set `all` to replace every one",
        ),
        ("return 3", "x", "`old` does not occur in the file; read the file again, it may have changed"),
        (
            "def  one():",
            "x",
            "`old` does not occur in the file; line 1 is similar but differs, perhaps in white space: 'def one():'",
        ),
        ("", "x", "`old` is empty; give the text to replace, or use the write tool for a new file"),
        ("def one", "def one", "`old` and `new` are the same; nothing would change"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(
    root: Path, tools: dict[str, Tool], old: str, new: str, error: str
) -> None:
    before = (root / "src/a.py").read_text()
    assert await run_tool(tools["edit"], {"path": "src/a.py", "old": old, "new": new}) == ToolOutput(error=error)
    assert (root / "src/a.py").read_text() == before


async def test_edit_can_replace_every_occurrence(root: Path, tools: dict[str, Tool]) -> None:
    await run_tool(tools["edit"], {"path": "src/a.py", "old": "return 1", "new": "return 9", "all": True})
    assert (root / "src/a.py").read_text().count("return 9") == 2


async def test_edit_meets_a_file_with_other_line_ends(root: Path, tools: dict[str, Tool]) -> None:
    (root / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    await run_tool(tools["edit"], {"path": "dos.txt", "old": "a\nb", "new": "a\nx\nb"})
    assert (root / "dos.txt").read_bytes() == b"a\r\nx\r\nb\r\nc\r\n"


@given(
    before=st.text("ab\n", max_size=8),
    old=st.text("ab\n", min_size=1, max_size=3),
    after=st.text("ab\n", max_size=8),
    new=st.text("cd", max_size=3),
)
def test_a_replacement_touches_its_place_and_nothing_else(before: str, old: str, after: str, new: str) -> None:
    text = f"{before}{old}{after}"
    try:
        assert replace_exactly(text, old, new) == before + new + after
    except CallerError:
        assert sum(text.startswith(old, at) for at in range(len(text))) > 1


async def test_what_a_person_is_shown_is_the_difference(root: Path, tools: dict[str, Tool]) -> None:
    shown = tools["edit"].preview({"path": "src/a.py", "old": "def one", "new": "def uno"})
    assert "-def one():\n+def uno():" in shown
    assert (
        tools["write"].preview({"path": "n.txt", "content": "hi\n"}) == "--- a/n.txt\n+++ b/n.txt\n@@ -0,0 +1 @@\n+hi"
    )
    assert tools["shell"].preview({"command": "rm -r x"}) == "rm -r x"


async def test_a_rejected_edit_leaves_the_file_untouched_and_its_difference_was_shown(
    root: Path, tools: dict[str, Tool]
) -> None:
    shown: list[str] = []

    class Person:
        async def ask(self, question: Question) -> Ruling:
            shown.append(question.shown)
            return Ruling(question.call, question.digest, Verdict.DENIED, reason="keep the name")

    before = (root / "src/a.py").read_text()
    runner = scheduler([tools["edit"]], approval=Approval(Mode.ASK, approver=Person()))
    asked = call("a", "edit", path="src/a.py", old="def one", new="def uno")
    assert await runner.run([asked], Recorder()) == (closed("a", ClosureReason.DENIED, "edit", said="keep the name"),)
    assert (root / "src/a.py").read_text() == before
    assert "+def uno():" in shown[0]


async def test_edits_of_one_file_in_one_batch_all_arrive_in_order(root: Path, tools: dict[str, Tool]) -> None:
    (root / "n.txt").write_text("0")
    (root / "same.txt").symlink_to("n.txt")
    calls = [
        call(str(n), "edit", path="same.txt" if n % 2 else "./n.txt", old=str(n), new=str(n + 1)) for n in range(9)
    ]
    responses = await scheduler([tools["edit"]]).run(calls, Recorder())
    assert [response.error for response in responses] == [None] * 9
    assert (root / "n.txt").read_text() == "9"


async def test_a_write_that_leads_out_is_refused_before_anybody_is_asked(tools: dict[str, Tool], root: Path) -> None:
    log = Recorder()
    runner = scheduler([tools["write"]], approval=Approval(Mode.ASK))
    (response,) = await runner.run([call("a", "write", path="../x", content="")], log)
    assert response.error is not None
    assert response.error.startswith(f"the path '../x' leads to {root.parent}/x, outside of the working folder {root};")
    assert log.answers == []


# --- list, glob, grep -------------------------------------------------------------------------------------------------


async def test_list_shows_one_folder(tools: dict[str, Tool]) -> None:
    assert await run_tool(tools["list"]) == ToolOutput("README.md\nblob.bin\nnode_modules/\nsrc/")
    assert await run_tool(tools["list"], {"path": "src"}) == ToolOutput("a.py\ndeep/")
    assert await run_tool(tools["list"], {"path": "no"}) == ToolOutput(error="no does not exist")
    assert await run_tool(tools["list"], {"path": "README.md"}) == ToolOutput(
        error="README.md is a file; use the read tool for it"
    )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "*.py"}, "src/a.py\nsrc/deep/b.py"),
        ({"pattern": "src/*.py"}, "src/a.py"),
        ({"pattern": "**/deep/*"}, "src/deep/b.py"),
        ({"pattern": "deep/**", "path": "src"}, "src/deep/b.py"),
        ({"pattern": "*.rs"}, "[no files match]"),
        ({"pattern": "?.py", "path": "src/deep"}, "src/deep/b.py"),
    ],
)
async def test_glob_finds_files_by_name(tools: dict[str, Tool], arguments: dict[str, str], found: str) -> None:
    assert await run_tool(tools["glob"], arguments) == ToolOutput(found)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ({"pattern": "needle"}, ToolOutput("README.md\n3: Some needle here.\nsrc/deep/b.py\n1: NEEDLE = 'needle'")),
        ({"pattern": "needle", "include": "*.md"}, ToolOutput("README.md\n3: Some needle here.")),
        ({"pattern": "^needle", "ignore_case": True}, ToolOutput("src/deep/b.py\n1: NEEDLE = 'needle'")),
        ({"pattern": "return", "path": "src/a.py"}, ToolOutput("src/a.py\n2:     return 1\n6:     return 1")),
        ({"pattern": "absent"}, ToolOutput("[no matches]")),
        (
            {"pattern": "("},
            ToolOutput(error="`pattern` is no regular expression: missing ), unterminated subpattern at position 0"),
        ),
        ({"pattern": "x", "path": "nowhere"}, ToolOutput(error="nowhere does not exist")),
    ],
)
async def test_grep_finds_lines_and_leaves_out_binaries_and_dependencies(
    tools: dict[str, Tool], arguments: dict[str, Any], output: ToolOutput
) -> None:
    assert await run_tool(tools["grep"], arguments) == output


async def test_searches_do_not_leave_the_folder_through_links(root: Path, tools: dict[str, Tool]) -> None:
    outside = root.parent / f"{root.name}-outside"
    outside.mkdir()
    (outside / "c.py").write_text("needle")
    (root / "out").symlink_to(outside)
    (root / "c.py").symlink_to(outside / "c.py")
    assert await run_tool(tools["glob"], {"pattern": "c.py"}) == ToolOutput("[no files match]")
    assert await run_tool(tools["grep"], {"pattern": "^needle$"}) == ToolOutput("[no matches]")
    for name in ("glob", "grep", "list"):
        output = await run_tool(tools[name], {"path": "out", **({} if name == "list" else {"pattern": "x"})})
        assert "outside of the working folder" in str(output.error)


async def test_many_matches_are_cut_with_a_hint(root: Path, tools: dict[str, Tool]) -> None:
    (root / "many.txt").write_text("hit\n" * 300)
    (root / "flat").mkdir()
    for n in range(501):
        (root / f"flat/{n}.x").touch()
    grepped = await run_tool(tools["grep"], {"pattern": "hit"})
    assert str(grepped.result).endswith("200: hit\n[more than 200 matches; use a narrower expression, path or include]")
    globbed = await run_tool(tools["glob"], {"pattern": "*.x"})
    assert str(globbed.result).endswith("[more than 500 files; use a narrower pattern]")


async def test_an_expression_that_takes_for_ever_can_be_cancelled(root: Path, tools: dict[str, Tool]) -> None:
    (root / "trap.txt").write_text("a" * 60 + "!")
    log = Recorder()
    runner = scheduler([tools["grep"]])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "grep", pattern="(a+)+$", path="trap.txt")], log)
        await until(lambda: log.order("started"))
        await anyio.sleep(0.1)
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", ClosureReason.CANCELLED_RUNNING, "grep")}


# --- shell ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo out; echo err >&2", ToolOutput("out\nerr")),
        ("true", ToolOutput("[no output]")),
        ("echo no; exit 3", ToolOutput("no", "The command ended with exit code 3.")),
        ("kill -9 $$", ToolOutput("", "The command ended with exit code 137 (signal 9).")),
        ("cat", ToolOutput("[no output]")),
        ("printf '\\033[31mred\\033[0m\\n10%%\\r20%%\\n'", ToolOutput("red\n20%")),
        ("printf 'caf\\351'", ToolOutput("caf\ufffd")),
        ("test -t 0 || test -t 1 || echo no terminal", ToolOutput("no terminal")),
    ],
)
async def test_shell_returns_output_and_how_it_ended(tools: dict[str, Tool], command: str, output: ToolOutput) -> None:
    assert await run_tool(tools["shell"], {"command": command}) == output


async def test_shell_runs_in_the_working_folder(root: Path, tools: dict[str, Tool]) -> None:
    assert await run_tool(tools["shell"], {"command": "pwd -P"}) == ToolOutput(str(root))


async def test_shell_does_not_see_the_keys_of_providers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MY_PRIVATE_THING", "HARMLESS"):
        monkeypatch.setenv(name, f"value-of-{name}")
    shell = builtin_tools(Workspace(root), secrets=["MY_PRIVATE_THING"])[-1]
    output = await run_tool(shell, {"command": "env | grep value-of | sort"})
    assert output == ToolOutput("HARMLESS=value-of-HARMLESS")


HIDDEN = [
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY_2",
    "OPENAI_API_KEYS",
    "openai_apikey",
    "HF_TOKEN",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SECRET_KEY_BASE",
    "MY_SECRET",
    "DATABASE_URL",
    "SENTRY_DSN",
    "AZURE_STORAGE_CONNECTION_STRING",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "SMTP_PASSWORD",
    "NPM_AUTH",
    "GITLAB_PAT",
    "SSHPASS",
    "SLACK_WEBHOOK_URL",
    "MY_JWT",
    "DOCKER_AUTH_CONFIG",
    "APIKEYPROD",
    "MYTOKENVALUE",
    "mySecretThing",
    "DEPLOYKEY",
    "SSHKEY2",
    "DBPASS",
    "AWS_CREDS",
]
KEPT = [
    "PATH",
    "PWD",
    "OLDPWD",
    "KEYBOARD",
    "KEYMAP",
    "MONKEY",
    "HOTKEY",
    "SSH_ASKPASS",
    "COMPASS",
    "TOKENIZERS_PARALLELISM",
    "SSH_AUTH_SOCK",
    "GIT_ASKPASS",
    "BYPASS",
    "COMPASS_HOME",
    "AUTHOR",
    "SECRETARY",
]


@pytest.mark.parametrize(("name", "is_kept"), [*((name, False) for name in HIDDEN), *((name, True) for name in KEPT)])
def test_an_environment_is_cleaned_by_name(name: str, is_kept: bool) -> None:
    assert (name in clean_environment({name: "x"})) is is_kept


def test_an_environment_is_cleaned_of_values_that_are_secret_whatever_their_names() -> None:
    keys = KeyRing({"acme": "plain-looking-words"}, {})
    held = {
        "ACME": "plain-looking-words",
        "HEADERS": "X-Acme: plain-looking-words",
        "LEGATO_STORE": "postgresql://me:pass@host/db",
        "HTTPS_PROXY": "http://:pass@proxy:3128",
        "HOMEPAGE": "https://host:80/@me",
    }
    assert {*clean_environment(held)} & {*held} == {"HOMEPAGE"}
    assert "ACME" in clean_environment(held, shown=["ACME"])
    assert keys.secrets()


async def test_a_command_that_takes_too_long_is_ended_and_keeps_its_output(tools: dict[str, Tool]) -> None:
    for seconds in (1, 10, 100):
        output = await run_tool(tools["shell"], {"command": "echo begun; sleep 600", "timeout": seconds})
        if output.result:  # on a busy machine a shell may need longer than a second for its first word
            break
    assert output == ToolOutput("begun", f"The command ran longer than {seconds} s and was ended. Its output so far:")


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until_gone(process: int) -> None:
    await until(lambda: not is_alive(process))


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
@pytest.mark.parametrize("guard", ["", "trap '' TERM; "], ids=["polite", "deaf to the polite signal"])
async def test_a_cancelled_command_ends_with_its_whole_group(root: Path, tools: dict[str, Tool], guard: str) -> None:
    log = Recorder()
    runner = scheduler([tools["shell"]])
    command = f"{guard}echo partly; sleep 600 & echo $! > child; wait"
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "shell", command=command)], log)
        await until(lambda: (root / "child").exists() and (root / "child").read_text().strip())
        assert is_alive(int((root / "child").read_text()))
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", ClosureReason.CANCELLED_RUNNING, "shell", result="partly")}
    await until_gone(int((root / "child").read_text()))


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
async def test_a_command_that_is_cancelled_before_its_start_is_known_ends_with_its_whole_group_too(
    root: Path, tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Recorder()
    runner = scheduler([tools["shell"]])
    start = asyncio.create_subprocess_exec

    async def start_slowly(*command: Any, **options: Any) -> Any:
        process = await start(*command, **options)
        await until(lambda: (root / "child").exists() and (root / "child").read_text().strip())
        runner.cancel()
        await asyncio.sleep(0.01)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_slowly)
    command = "echo partly; sleep 600 & echo $! > child; wait"
    await runner.run([call("a", "shell", command=command)], log)
    assert log.settled == {"hist_tool_a": closed("a", ClosureReason.CANCELLED_RUNNING, "shell", result="partly")}
    await until_gone(int((root / "child").read_text()))


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
def test_a_command_that_is_still_ending_when_the_program_leaves_is_waited_for(
    root: Path, tools: dict[str, Tool]
) -> None:
    async def main() -> None:
        command = "trap '' TERM; sleep 600 & echo $! > child; wait"
        running = asyncio.create_task(run_tool(tools["shell"], {"command": command}))
        await until(lambda: (root / "child").exists() and (root / "child").read_text().strip())
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(main())
    gc.collect()  # what was left behind complains, and then this test fails
    anyio.run(until_gone, int((root / "child").read_text()))


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
async def test_what_a_command_leaves_in_the_background_ends_with_it_and_does_not_hold_it(
    root: Path, tools: dict[str, Tool]
) -> None:
    assert await run_tool(tools["shell"], {"command": "sleep 600 & echo $! > child; echo done"}) == ToolOutput("done")
    await until_gone(int((root / "child").read_text()))


@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt what its children leave")
async def test_a_process_that_leaves_the_group_with_the_output_ends_with_its_command_too(
    root: Path, tools: dict[str, Tool]
) -> None:
    command = "setsid sh -c 'echo $$ > child; sleep 600' & while [ ! -s child ]; do sleep 0.01; done; echo done"
    assert await run_tool(tools["shell"], {"command": command}) == ToolOutput("done")
    assert not is_alive(int((root / "child").read_text()))


async def test_a_large_output_is_spilled_whole_and_cut_for_the_model(root: Path, tools: dict[str, Tool]) -> None:
    kept: list[str] = []

    def spill(text: str, _: object) -> str:
        kept.append(text)
        return "kept.txt"

    runner = scheduler([tools["shell"]], spill=spill)
    (response,) = await runner.run([call("a", "shell", command="seq 1 100000")], Recorder())
    assert kept == ["\n".join(str(n) for n in range(1, 100001))]
    assert len(str(response.result)) < 121_000
    assert re.search(
        r"\n\[cut: [\d,]+ of 588,894 characters are left out here; the whole output is in kept.txt\]\n",
        str(response.result),
    )


async def test_output_is_shown_while_the_command_runs(tools: dict[str, Tool]) -> None:
    log = Recorder()
    runner = scheduler([tools["shell"]])
    assert await runner.run([call("a", "shell", command="echo one")], log) == (ok("a", "one", "shell"),)
    assert "".join(text for _, text in log.heard) == "one\n"


@given(pieces=st.lists(st.binary(max_size=12), max_size=12), limit=st.integers(2, 20))
def test_the_head_and_the_tail_of_an_output_are_kept_whatever_the_pieces(pieces: list[bytes], limit: int) -> None:
    output = OutputTail(limit)
    for piece in pieces:
        output.add(piece)
    output.end()
    whole = b"".join(pieces).decode("utf-8", "replace")
    half = limit // 2
    if len(whole) <= 2 * half:
        assert output.text == whole
    else:
        mark = f"\n[cut: {len(whole) - 2 * half:,} characters are left out here]\n"
        assert output.text == whole[:half] + mark + whole[-half:]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b]0;title\x07a\x1b[1;2Hb", "ab"),
        ("a\r\nb\r\n", "a\r\nb"),
        ("1%\r2%\r", "2%"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ],
)
def test_output_is_read_as_text_not_as_a_terminal(raw: str, text: str) -> None:
    assert readable(raw) == text


async def test_in_plan_mode_commands_and_writes_do_not_run(root: Path, tools: dict[str, Tool]) -> None:
    runner = scheduler(list(tools.values()), approval=Approval(Mode.PLAN))
    calls = [
        call("a", "shell", command="touch made"),
        call("b", "write", path="made", content=""),
        call("c", "list", path="src"),
    ]
    responses = await runner.run(calls, Recorder())
    assert [bool(response.error) for response in responses] == [True, True, False]
    assert not (root / "made").exists()
    assert tools["shell"].kind is ToolKind.EXECUTE


# --- parts that work out of sight -------------------------------------------------------------------------------------


def test_a_difference_shows_every_character_that_differs() -> None:
    assert unified("a\n", "a\n", path="x") == ""
    head = "--- a/x\n+++ b/x\n"
    assert unified("a\n", "a\r\n", path="x") == f"{head}@@ -1 +1 @@\n-a\n+a\r"
    assert unified("a\nb\n", "a\u2028b\n", path="x") == f"{head}@@ -1,2 +1 @@\n-a\n-b\n+a\u2028b"
    assert unified("a\r\nb\r\n", "a\r\nc\r\n", path="x") == f"{head}@@ -1,2 +1,2 @@\n a\n-b\n+c"
    assert unified("a\n", "a", path="x") == f"{head}@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file"


@given(*[st.lists(st.sampled_from(["a", "b", "\r", "\u2028", "\n", "\x0b"]), max_size=4).map("".join)] * 2)
def test_a_short_text_can_be_made_from_the_difference_that_leads_to_it(before: str, after: str) -> None:
    shown = unified(before, after, path="x").split("\n")[3:]
    made = ""
    for line, following in zip(shown, [*shown[1:], ""], strict=False):
        if line[:1] in ("+", " "):
            made += line[1:] + ("" if following.startswith("\\") else "\n")
    is_crlf = "\r\n" in before and "\r\n" in after
    assert made == ("" if before == after else after) or is_crlf


def test_a_change_of_a_very_large_file_is_shown_whole_and_at_once() -> None:
    before = "x\n" * 1_200_000
    assert unified(before, f"{before}y\n", path="x").splitlines()[2:] == [
        "@@ -1199998,3 +1199998,4 @@", " x", " x", " x", "+y"
    ]  # fmt: skip
    assert unified("a" * 1_500_000, "b" * 1_500_000, path="x").count("b") == 1_500_001


def test_a_difference_for_a_model_is_bounded() -> None:
    long = "\n".join(str(n) for n in range(1000))
    lines = unified("", long, path="x", most=400).splitlines()
    assert (len(lines), lines[-1]) == (401, "[the rest of the difference is not shown]")
    assert unified("", f"{long}\n", path="x").endswith("+999")  # the person who is asked sees all of it


def test_a_very_long_line_of_output_is_cleaned_in_one_pass() -> None:
    assert readable("x" * 1_000_000 + "\rdone") == "done"


def test_the_search_program_does_what_it_is_told(root: Path) -> None:
    (root / "wide.txt").write_text("x" * 400 + "\n" + "x\n" * 3)
    (root / "large.txt").write_text("x\n" * 3_000_000)
    job = {
        "root": str(root),
        "start": "",
        "pattern": "^x",
        "include": None,
        "unreadable": [],
        "ignore_case": False,
        "limit": 3,
    }
    assert search_worker.search(job) == {
        "matches": [("wide.txt", 1, "x" * 300 + " [line cut]"), ("wide.txt", 2, "x"), ("wide.txt", 3, "x")],
        "more": True,
    }
    assert search_worker.search({**job, "start": "wide.txt", "limit": 9})["more"] is False
    assert search_worker.search({**job, "include": "src/**"}) == {"matches": [], "more": False}
    assert list(search_worker.search({**job, "pattern": "["})) == ["error"]
    assert search_worker.read_lines(str(root), "src") == []
    assert list(search_worker.walk(str(root), "nowhere")) == []


async def test_a_large_image_and_a_folder_with_very_many_files_are_too_much(root: Path, tools: dict[str, Tool]) -> None:
    (root / "big.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5 * 1024 * 1024))
    output = await run_tool(tools["read"], {"path": "big.png"})
    assert output.error == "big.png is an image of 5,242,888 bytes; at most 5,242,880 can be looked at"
    (root / "full").mkdir()
    for n in range(1003):
        (root / f"full/{n}").touch()
    listed = await run_tool(tools["list"], {"path": "full"})
    assert str(listed.result).endswith("[3 more; list a folder further down, or use glob]")


async def test_a_command_that_no_system_can_run_is_an_error_result(root: Path, tools: dict[str, Tool]) -> None:
    output = await run_tool(tools["shell"], {"command": "echo \0"})
    assert output == ToolOutput(error="a command cannot contain a NUL character")
    shutil.move(root, root.parent / "moved")
    gone = await run_tool(tools["shell"], {"command": "true"})
    assert str(gone.error).startswith("FileNotFoundError")
