"""A command that tries every way out of the sandbox that we know of, with each mechanism, as root and as a plain user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from legato.tools import ToolContext, ToolOutput, run_tool
from legato.tools.builtin import Workspace
from legato.tools.builtin.processes import run_program
from legato.tools.builtin.shell import shell_tool
from legato.tools.sandbox import SandboxMode, SandboxPolicy, landlock
from legato.tools.sandbox.sandbox import Mechanism, Sandbox
from program import until
from sandbox_attempts import NOT_HELD, Scene, run

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="there is no sandbox elsewhere")]
PROGRAM = Path(__file__).parent.parent / "support" / "sandbox_attempts.py"
NOBODY = 65534


def confining(mechanism: Mechanism, folder: Path, **policy: Any) -> Sandbox:
    """A sandbox with that mechanism, where this system has it."""
    sandbox = Sandbox(folder, SandboxPolicy(**policy), only=mechanism)
    if sandbox.choice.mechanism is None:
        pytest.skip(sandbox.choice.reason)
    return sandbox


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that is not below /tmp, which bubblewrap hides: there, most attempts would fail for that reason alone."""
    with tempfile.TemporaryDirectory(prefix="legato-scene-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def scene(place: Path) -> Iterator[Scene]:
    scene = Scene(place)
    yield scene
    scene.close()


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "nobody"])
@pytest.mark.parametrize("mechanism", Mechanism)
def test_no_attempt_gets_out_but_those_that_the_documentation_names(
    mechanism: Mechanism, user: int, place: Path
) -> None:
    if os.getuid() != 0:
        user = os.getuid()  # the first run is as good as the second
    os.chown(place, user, -1)
    told = subprocess.run(
        [sys.executable, PROGRAM, mechanism, place, str(user)],
        env={**os.environ, "SECRET_OF_PARENT": "SECRET_OF_PARENT"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seen = json.loads(told.stdout)
    if "missing" in seen:
        pytest.skip(seen["missing"])
    assert set(seen["escaped"]) == NOT_HELD[mechanism], seen["escaped"]
    assert seen["failed"] == {}
    assert seen["limits"] == {
        "read-only": False,
        "its temporary folder": True,
        "memory": False,
        "processes": user == 0,  # the kernel exempts root from this one
    }


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_what_the_settings_allow_is_allowed(mechanism: Mechanism, scene: Scene) -> None:
    online = confining(mechanism, scene.workspace, network=True)
    assert (await run(online, "echo x > /dev/tcp/127.0.0.1/$TCP", scene.environment))[0] == 0
    assert scene.changes() == ["reached: TCP"]
    local = confining(mechanism, scene.workspace, unix_sockets=True)
    connect = "import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['UNIX'])"
    assert (await run(local, f'$PYTHON -I -S -c "{connect}"', scene.environment))[0] == 0
    assert scene.changes() == ["reached: Unix"]
    opened = confining(mechanism, scene.workspace, writable=(".git", str(scene.outside)))
    assert await run(opened, "echo x > .git/hooks/x && echo x > $OUT/new", scene.environment) == (0, "")
    assert (scene.workspace / ".git/hooks/x").exists()
    assert (scene.outside / "new").exists()


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_who_may_write_everything_gets_no_devices_and_no_settings_of_the_kernel(
    mechanism: Mechanism, scene: Scene
) -> None:
    """The folder may be `/` as well, in a container."""
    sandbox = confining(mechanism, scene.workspace, writable=("/",))
    assert (await run(sandbox, "echo x > $OUT/new && echo x > /dev/null", scene.environment))[0] == 0
    for command in (
        "echo 999 > /proc/self/oom_score_adj",
        "echo x > $TERMINAL",
        "timeout 9 head -1 $TERMINAL | grep typed",
    ):
        code, output = await run(sandbox, command, scene.environment)
        assert code != 0, (command, output)


async def test_in_bubblewrap_a_command_has_a_loopback_of_its_own(scene: Scene) -> None:
    sandbox = confining(Mechanism.BUBBLEWRAP, scene.workspace)
    talk = "import socket; one = socket.create_server(('127.0.0.1', 0)); socket.create_connection(one.getsockname())"
    assert await run(sandbox, f'$PYTHON -I -S -c "{talk}"', scene.environment) == (0, "")


async def test_another_python_than_ours_compiles_the_launcher_itself(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = confining(Mechanism.LANDLOCK, scene.workspace)
    _, _, text = landlock._launcher()
    monkeypatch.setattr(landlock, "_launcher", lambda: ("python-1", b"of another one", text))
    assert await run(sandbox, "echo x", scene.environment) == (0, "x\n")


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_git_reads_and_does_not_write(mechanism: Mechanism, place: Path) -> None:
    sandbox = confining(mechanism, place)
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        await anyio.run_process(["git", *arguments], cwd=place)
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    assert (await run(sandbox, "git status && git log --oneline && git diff", environment))[0] == 0
    code, output = await run(sandbox, "touch x; git add -A", environment)
    assert (code, ".git/index.lock" in output) == (128, True)


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_what_the_program_itself_runs_from_cannot_be_changed(
    mechanism: Mechanism, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interpreter in the working folder starts the launcher of the next command, outside of the sandbox."""
    program = scene.workspace / ".venv/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text("python")
    monkeypatch.setattr(sys, "prefix", str(scene.workspace / ".venv"))
    sandbox = confining(mechanism, scene.workspace)
    for command in ("echo x > .venv/bin/python", "mv .venv gone; mkdir -p .venv/bin; echo x > .venv/bin/python"):
        await run(sandbox, command, scene.environment)
        assert program.read_text() == "python"


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_what_takes_too_long_ends_with_all_that_it_started(mechanism: Mechanism, scene: Scene) -> None:
    sandbox = confining(mechanism, scene.workspace)
    long = f"600.{os.getpid()}"
    late = f"trap '' TERM; setsid sh -c 'echo > src/began; sleep {long}; true' & sleep 600"
    async with sandbox.around(["/bin/bash", "-c", late], scene.environment) as confined:
        finished = await run_program(
            confined.command,
            ToolContext(),
            folder=scene.workspace,
            environment=confined.environment,
            seconds=2,
            limit=1000,
            descriptors=confined.descriptors,
            leads=confined.leads,
        )
    assert (finished.timed_out, (scene.workspace / "src/began").exists()) == (True, True)
    await until(lambda: not runs(long))


def runs(seconds: str) -> bool:
    """Whether a process of this machine is `sleep` for so long, which takes longer than `until` waits."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if place.read_bytes().split(b"\0")[:2] == [b"sleep", seconds.encode()]:
                return True
    return False


@pytest.mark.parametrize("how", [*Mechanism, SandboxMode.OFF])
async def test_nothing_outlives_the_program_when_it_is_killed(how: Mechanism | SandboxMode, scene: Scene) -> None:
    if isinstance(how, Mechanism):
        confining(how, scene.workspace)
    long = f"700.{os.getpid()}"
    process = await anyio.open_process([sys.executable, PROGRAM, "leave", how, scene.workspace, long])
    await until(lambda: runs(long))
    process.kill()
    await process.aclose()
    await until(lambda: not runs(long))


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_the_model_is_told_what_was_forbidden_and_what_was_taken_back(mechanism: Mechanism, scene: Scene) -> None:
    sandbox = confining(mechanism, scene.workspace)
    shell = shell_tool(Workspace(scene.workspace), environment=lambda: dict(os.environ), sandbox=sandbox)
    outside = await run_tool(shell, {"command": f"echo x > {scene.outside}/new"})
    assert outside.error is not None
    assert outside.error.startswith('The command ended with exit code 1. "')
    assert outside.error.endswith(
        '" in its output may be due to the sandbox, where commands cannot write outside of the working folder and '
        "$TMPDIR, or to protected paths (.git, …), or use the network."
    )
    made = await run_tool(shell, {"command": "echo x > src/.envrc"})
    assert made == ToolOutput("[It made src/.envrc, which is protected: moved to .legato-withheld.]\n[no output]")
    (kept,) = [path for path in (scene.workspace / ".legato-withheld").iterdir() if path.name.endswith("-envrc")]
    assert kept.read_text() == "x\n"
    assert await run_tool(shell, {"command": "exit 3"}) == ToolOutput("", "The command ended with exit code 3.")
