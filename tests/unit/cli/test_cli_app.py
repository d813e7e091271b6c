"""The command itself: names, help, exit codes, and one line for every error."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import legato
from legato.cli import app as application
from legato.cli.app import COMMANDS, app
from legato.cli.exits import ExitCode, Terminated, code_of, line_of
from legato.errors import (
    AllRoutesFailed,
    CallerError,
    CanonicalError,
    CodecError,
    Conflict,
    LegatoError,
    ProviderError,
    RenderError,
    SessionLocked,
    SessionNotFound,
    StoreCorrupt,
    StoreUnavailable,
    UnknownTarget,
)
from legato.files.text import one_line, printable

HEAVY = ("httpx2", "rich", "prompt_toolkit", "msgspec", "anyio", "tomlkit", "legato.request", "legato.formats")


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.argv[0] = 'legato'; from legato.cli import main; main()"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Put a command that raises `error` in the place of lint."""

    @click.command()
    def lint() -> None:
        raise error

    monkeypatch.setattr(application, "import_module", lambda _: type("module", (), {"lint": lint}))


# --- names ------------------------------------------------------------------------------------------------------------


def test_help_lists_every_command_with_what_it_does():
    result = CliRunner().invoke(app, ["--help"])

    assert result.exit_code == 0
    for name, listed in COMMANDS.items():
        assert f"  {name} " in result.output
        assert listed.summary.split(";")[0] in " ".join(result.output.split())


def test_help_loads_nothing_heavy():
    program = (
        "import sys; sys.argv = ['legato', '--help']\n"
        "from legato.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"


def test_the_version_is_the_packages():
    assert CliRunner().invoke(app, ["--version"]).output == f"legato {legato.__version__}\n"


def test_an_unknown_command_suggests_a_near_one():
    result = CliRunner().invoke(app, ["convrt"])

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "legato: there is no command 'convrt'; did you mean convert? To say it to a model: legato chat convrt\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-p", "hello"],
        ["--route", "x/y"],
        ["-"],
        ["hello"],
        ["convrt this"],
        ["convrt", "this"],
        ["fix", "-m", "x/y"],
    ],
)
def test_without_a_command_the_chat_gets_the_arguments(arguments: list[str], monkeypatch: pytest.MonkeyPatch):
    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def chat(rest: tuple[str, ...]) -> None:
        click.echo(repr(list(rest)))

    monkeypatch.setattr(application, "import_module", lambda _: type("module", (), {"chat": chat}))

    assert CliRunner().invoke(app, arguments).output == f"{arguments!r}\n"


def test_every_command_of_the_table_that_is_about_files_can_be_loaded():
    for name in ("lint", "repair", "convert", "inspect"):
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0, result.output
        assert f"Usage: legato {name}" in result.output


# --- endings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownTarget("no"), ExitCode.USAGE),
        (CallerError("no"), ExitCode.USAGE),
        (SessionNotFound("no"), ExitCode.USAGE),
        (SessionLocked("no"), ExitCode.SESSION),
        (Conflict("no"), ExitCode.SESSION),
        (StoreCorrupt("no"), ExitCode.SESSION),
        (CodecError("no"), ExitCode.SESSION),
        (StoreUnavailable("no"), ExitCode.FAILURE),
        (CanonicalError("no"), ExitCode.FAILURE),
        (RenderError("no"), ExitCode.FAILURE),
        (ProviderError("no"), ExitCode.REFUSED),
        (AllRoutesFailed("no", causes=[]), ExitCode.REFUSED),
        (LegatoError("no"), ExitCode.FAILURE),
        (ValueError("no"), ExitCode.FAILURE),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (Terminated(), ExitCode.TERMINATED),
    ],
)
def test_every_error_has_its_exit_code(error: BaseException, code: ExitCode):
    assert code_of(error) is code


def test_the_exit_codes_are_the_documented_ones():
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "FAILURE": 1,
        "USAGE": 2,
        "FINDINGS": 3,
        "REFUSED": 4,
        "APPROVAL_NEEDED": 5,
        "LIMIT": 6,
        "SESSION": 7,
        "INCOMPLETE": 8,
        "DECLINED": 9,
        "MISFIT": 10,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UnknownTarget("there is\nno such target"), "there is no such target"),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: permission denied"),
        (MemoryError(), "there is not enough memory for this"),
        (
            RenderError("a unit is broken", calls=["hist_tool_a"]),
            "a unit is broken (rendering fault; calls: hist_tool_a)",
        ),
        (
            ZeroDivisionError("division by zero"),
            "an unexpected ZeroDivisionError: division by zero; set LEGATO_DEBUG=1 to see where, and please report it",
        ),
        (LegatoError("the key sk-a1b2c3d4e5f6g7 is wrong"), "the key [hidden] is wrong"),
    ],
)
def test_every_error_becomes_one_line(error: BaseException, line: str):
    assert line_of(error) == line


def test_an_error_reaches_a_person_as_one_line_without_a_traceback(monkeypatch: pytest.MonkeyPatch):
    failing(monkeypatch, ZeroDivisionError("oops"))
    monkeypatch.delenv("LEGATO_DEBUG", raising=False)

    result = CliRunner().invoke(app, ["lint"])

    assert result.exit_code == 1
    assert result.stderr.startswith("legato: an unexpected ZeroDivisionError: oops;")
    assert result.stderr.count("\n") == 1


def test_a_traceback_is_shown_to_whoever_asks_for_it(monkeypatch: pytest.MonkeyPatch):
    failing(monkeypatch, SessionLocked("held by another process"))
    monkeypatch.setenv("LEGATO_DEBUG", "1")

    result = CliRunner().invoke(app, ["lint"])

    assert result.exit_code == 7
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("legato: held by another process\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (click.Abort(), 130), (Terminated(), 143), (BrokenPipeError(), 1)],
)
def test_interruptions_are_quiet(error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch):
    failing(monkeypatch, error)

    result = CliRunner().invoke(app, ["lint"])

    assert (result.exit_code, result.output.strip()) == (code, "")


def test_usage_errors_are_one_line_that_points_at_the_help():
    result = CliRunner().invoke(app, ["lint", "--no-such-option"])

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("legato: no such option")
    assert "legato lint --help" in result.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, unbuffered: str):
    lines = '{"messages": [{"role": "user", "content": "hello there, this is line %d"}]}\n'
    path = tmp_path / "many.jsonl"
    path.write_text("".join(lines % number for number in range(1_500)))  # more than a pipe holds
    program = (
        "import sys; sys.argv = ['legato', 'convert', sys.argv[1], '--all', '--to', 'kimi']\n"
        "from legato.cli import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait()

    assert (process.returncode, complaints) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is needed")
@pytest.mark.parametrize("arguments", [["--help"], ["--simulate", "--no-store", "-q", "-p", "hello"], ["formats"]])
def test_output_that_finds_no_room_is_told_in_one_line(tmp_path: Path, arguments: list[str]):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", "from legato.cli import main; main()", *arguments],
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            cwd=tmp_path, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )  # fmt: skip

    assert (ran.returncode, ran.stderr) == (1, "legato: no space left on device\n")


def test_sigterm_ends_the_program_with_its_own_code():
    program = (
        "import sys; sys.argv = ['legato', 'lint', '-']\n"
        "from legato.cli import main; print('up', file=sys.stderr, flush=True); main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdin is not None
        process.stderr.readline()
        process.stdin.write('{"type": "user"')
        process.stdin.flush()
        # The handler is set before the first byte is asked for; until then the signal ends the process by itself.
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdin.close()

    assert process.returncode in (143, -signal.SIGTERM)


def test_the_command_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "legato", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"legato {legato.__version__}\n"


def test_the_program_runs_as_a_process_of_its_own():
    done = run("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"legato {legato.__version__}\n", "")


# --- text -------------------------------------------------------------------------------------------------------------


def test_what_a_terminal_would_obey_is_shown_as_escapes():
    assert printable("a\x1b[31mb\u202ec\ud800\x9b\td\n") == "a\\x1b[31mb\\u202ec\\ud800\\x9b\td\n"


def test_one_line_is_one_line_and_not_longer_than_asked_for():
    assert one_line(" a\n\tb  c ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder in which someone is")
@pytest.mark.parametrize(
    "arguments", [["config", "path"], ["config", "show"], ["mcp", "list"], ["--simulate", "-p", "hi"]]
)
def test_a_current_folder_that_is_gone_is_told_with_a_way_out(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.stderr) == (
        1,
        "legato: the current folder no longer exists; change to another one\n",
    )
