"""One-shot use: the answer on standard output, all else on standard error, and an exit code that says how it went."""

import io
import os
import shlex
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.cli.chat import oneshot
from legato.cli.chat.outputs import JsonLines, OneJson, PipedText, PrintFormat, Report, TerminalText, output_for
from legato.cli.chat.structured import Checked, check_answer
from legato.cli.saying import escape_controls
from legato.cli.terminal.screen import Screen
from legato.model.records import TurnOutcome
from legato.session import events
from legato.store import open_store
from legato.tools.sandbox.sandbox import ChosenMechanism, Sandbox
from program import Home

PROGRAM = [sys.executable, "-c", "from legato.cli import main; main()"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def lines(text: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in text.splitlines()]


# --- what goes where ---


def test_only_the_answer_is_on_standard_output(home: Home):
    (home.work / "a.txt").write_text("hello")
    result = home.legato("--simulate", "-p", "use read on a.txt")

    assert (result.exit_code, result.stdout) == (0, 'read returned: "hello".\n')
    assert "● read a.txt\n  hello\n" in result.stderr
    assert "anthropic/claude-sonnet-4-5 · " in result.stderr


def test_quiet_says_nothing_beside_the_answer(home: Home):
    result = home.legato("--simulate", "-q", "-p", "hello")

    assert (result.stdout, result.stderr) == ('claude-sonnet-4-5 (simulated) heard: "hello"\n', "")


def test_quiet_tells_of_a_file_only_if_it_could_not_be_attached(home: Home):
    (home.work / "a.txt").write_text("x")
    result = home.legato("--simulate", "-q", "-p", "see @a.txt and @b.txt")

    assert result.stderr == "legato: not attached: b.txt: there is no such file here\n"


def test_nothing_is_stored_where_there_is_no_key(home: Home):
    result = home.legato("-m", "anthropic/claude-sonnet-4-5", "-p", "hello")

    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith("legato: there is no key for anthropic: set ANTHROPIC_API_KEY")
    assert home.legato("sessions").stderr == "No session is stored yet.\n"


def test_a_limit_on_dollars_is_refused_where_a_price_is_not_known(home: Home):
    result = home.legato("--simulate", "-m", "ollama/qwen3", "--max-cost", "0.000001", "-p", "hello")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "legato: the limit of $0.000001 cannot be kept: the price of ollama/qwen3 is not known; set price_input and "
        "price_output for it in the settings, or leave the limit out\n"
    )


def test_streams_that_were_closed_before_the_program_began_are_empty_ones(home: Home):
    command = f"{' '.join(map(shlex.quote, PROGRAM))} --simulate -p hello"
    ended = subprocess.run(["sh", "-c", f"{command} <&- >&- 2>&-"], check=False)

    assert ended.returncode == 0


def test_standard_input_follows_the_prompt(home: Home):
    result = home.legato("--simulate", "-q", "-p", "Sum this up:", stdin="one\ntwo\n")

    assert result.stdout == 'claude-sonnet-4-5 (simulated) heard: "Sum this up: one two"\n'


def test_standard_input_alone_is_the_prompt(home: Home):
    assert home.legato("--simulate", "-q", stdin="hello").stdout == 'claude-sonnet-4-5 (simulated) heard: "hello"\n'


def test_files_are_attached_that_the_prompt_names_and_not_those_that_a_pipe_names(home: Home):
    (home.work / "secret.txt").write_text("treasure")
    named = home.legato("--simulate", "-p", "Look at @secret.txt")
    piped = home.legato("--simulate", "-p", "Look:", stdin="@secret.txt")
    second, first = [one["id"] for one in lines(home.legato("sessions", "list", "--json").stdout)]

    assert "attached secret.txt" in named.stderr
    assert "attached" not in piped.stderr
    assert "treasure" in home.legato("sessions", "show", first).stdout
    assert "treasure" not in home.legato("sessions", "show", second).stdout


def test_json_is_one_value_with_a_schema(home: Home):
    result = home.legato("--simulate", "--output-format", "json", "-p", "hello")
    (report,) = lines(result.stdout)

    assert report["usage"].keys() == {"input", "output", "cache_read", "cache_write", "reasoning"}
    assert report["usage"]["output"] > 0
    for name in ("usage", "cost", "session"):
        assert report.pop(name)
    assert report == {
        "schema": 1,
        "event": "result",
        "outcome": "done",
        "text": 'claude-sonnet-4-5 (simulated) heard: "hello"',
        "exit_code": 0,
        "route": "anthropic/claude-sonnet-4-5",
        "steps": 1,
        "detail": "",
        "ending": "done",
        "structured": None,
        "approvals_needed": [],
        "error": None,
        "request": None,
    }


def test_stream_json_is_a_line_for_each_event_and_each_has_a_schema(home: Home):
    (home.work / "a.txt").write_text("hello")
    told = lines(home.legato("--simulate", "--output-format", "stream-json", "-p", "use read on a.txt").stdout)
    kinds = [line["event"] for line in told]

    assert {line["schema"] for line in told} == {1}
    assert (kinds[0], kinds[-1]) == ("session", "result")
    assert told[0]["cwd"] == str(home.work)
    assert "read" in told[0]["tools"]
    in_order = [kind for kind in kinds if kind in ("turn-started", "calls", "tool-began", "tool-ended", "turn-ended")]
    assert in_order == ["turn-started", "calls", "tool-began", "tool-ended", "turn-ended"]
    assert "".join(line["text"] for line in told if line["event"] == "text").endswith('read returned: "hello".')
    assert told[-1]["text"] == 'read returned: "hello".'


def test_the_forms_of_output_are_chosen_by_name_and_by_who_reads():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    pipe = Screen(io.StringIO())
    assert isinstance(output_for(PrintFormat.TEXT, Screen(Terminal())), TerminalText)
    assert isinstance(output_for(PrintFormat.TEXT, pipe), PipedText)
    assert isinstance(output_for(PrintFormat.JSON, pipe), OneJson)
    assert isinstance(output_for(PrintFormat.STREAM_JSON, pipe), JsonLines)


def test_a_terminal_sees_every_answer_as_it_comes_and_nothing_that_it_would_obey(capsys: pytest.CaptureFixture[str]):
    output = TerminalText(Screen(sys.stdout))
    output.opened({})
    output.event(events.TextShown(text="I look.\x1b]0;ti"))
    output.event(events.TextShown(text="tle\x07"))
    output.event(events.CallsMade(calls=()))
    output.event(events.TextShown(text="Done."))
    output.event(events.TurnFinished(turn=1, outcome=TurnOutcome.DONE))
    output.result(Report(outcome="done", text="Done.", exit_code=0))

    assert capsys.readouterr().out == "I look.\nDone.\n"


def test_a_pipe_gets_no_remark_before_a_call_and_the_beginning_of_an_answer_while_it_comes():
    stream = io.StringIO()
    output = PipedText(Screen(stream))
    seen: list[str] = []
    for event in (
        events.TextShown(text="I will "),
        events.TextShown(text="look."),
        events.CallsMade(calls=()),
        events.TextShown(text="One"),
        events.TextShown(text=" line.\nTwo"),
        events.TextShown(text=" lines."),
        events.TurnFinished(turn=1, outcome=TurnOutcome.DONE),
    ):
        output.event(event)
        seen.append(stream.getvalue())

    assert seen == ["", "", "", "", "One line.\nTwo", "One line.\nTwo lines.", "One line.\nTwo lines.\n"]


@given(st.lists(st.text(alphabet="a\x1b[0137m;\r\n\x07\x9b\u200f"), max_size=6))
def test_a_pipe_gets_the_same_text_however_it_is_cut_into_pieces(pieces: list[str]):
    stream = io.StringIO()
    output = PipedText(Screen(stream))
    for piece in pieces:
        output.event(events.TextShown(text=piece))
    output.event(events.TurnFinished(turn=1, outcome=TurnOutcome.DONE))

    text = escape_controls("".join(pieces))
    assert stream.getvalue() == (text if not text or text.endswith("\n") else f"{text}\n")


def test_a_pipe_gets_the_answer_with_escapes_for_what_a_terminal_behind_it_would_obey(
    capsys: pytest.CaptureFixture[str],
):
    report = Report(outcome="done", text="\x1b]52;c;aGk=\x07a\r\n\tb\u200fc\x9b2J", exit_code=0)
    piped = PipedText(Screen(sys.stdout))
    piped.event(events.TextShown(text=report.text))
    piped.result(report)
    OneJson(Screen(sys.stdout)).result(report)

    told, exact = capsys.readouterr().out.rsplit("\n", 2)[:2]
    assert told == "\\x1b]52;c;aGk=\\x07a\r\n\tb\u200fc\\x9b2J"
    assert msgspec.json.decode(exact)["text"] == report.text


def test_a_reader_that_leaves_ends_the_answer(home: Home):
    command = [*PROGRAM, "--simulate", "--pace", "200/s", "-q", "-p", "answer in 2000 lines"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"Line 1 of 2000, by claude-sonnet-4-5.\n"
        program.stdout.close()
        assert (program.wait(60), program.stderr.read()) == (1, b"")

    shown = home.legato("sessions", "show", lines(home.legato("sessions", "--json").stdout)[0]["id"]).stdout
    assert shown.endswith("(not whole: it was cancelled)\n")
    assert "Line 1999" not in shown


# --- answers and messages for programs ---


SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'


def test_an_answer_that_fits_a_schema_is_alone_on_standard_output(home: Home):
    (home.work / "schema.json").write_text(SCHEMA)
    told = home.legato("--simulate", "--json-schema", "schema.json", "-p", "where?")
    (report,) = lines(
        home.legato("--simulate", "--json-schema", "schema.json", "--output-format", "json", "-p", "where?").stdout
    )

    value = {"city": 'claude-sonnet-4-5 (simulated) heard: "where?"'}
    assert (told.exit_code, lines(told.stdout)) == (0, [value])
    assert (report["exit_code"], report["structured"]) == (0, value)


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        ('{"city": "Rome"}', Checked({"city": "Rome"})),
        ('```json\n{"city": "Rome"}\n```\n', Checked({"city": "Rome"})),
        ('{"city": 7}', Checked(fault="the answer does not fit the schema: `city` must be a string, not an integer")),
        ("Rome", Checked(fault="the answer is not JSON: not valid JSON: Expecting value (line 1, column 1)")),
    ],
)
def test_an_answer_is_checked_here_whatever_its_provider_promised(text: str, checked: Checked):
    assert check_answer(text, msgspec.json.decode(SCHEMA)) == checked


def test_an_answer_that_does_not_fit_is_no_answer(home: Home, monkeypatch: pytest.MonkeyPatch):
    (home.work / "schema.json").write_text(SCHEMA)
    monkeypatch.setattr(oneshot, "check_answer", lambda _text, _schema: Checked(fault="it does not fit"))
    result = home.legato("--simulate", "-q", "--json-schema", "schema.json", "-p", "where?")

    assert (result.exit_code, result.stdout, result.stderr) == (10, "", "legato: it does not fit\n")


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot be read"), ("{", "is not JSON"), ("[1]", "holds no schema")]
)
def test_a_schema_that_is_none_is_refused(home: Home, content: str | None, told: str):
    if content is not None:
        (home.work / "schema.json").write_text(content)
    result = home.legato("--simulate", "--json-schema", "schema.json", "-p", "where?")

    assert result.exit_code == 2
    assert told in result.stderr


def test_each_line_of_json_is_a_message_that_is_answered_before_the_next(home: Home):
    sent = (
        '{"text": "one"}\n\n'
        '{"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "two"}]}}\n'
        '{"text": "what did I say first?"}\n'
    )
    told = lines(
        home.legato("--simulate", "--input-format", "stream-json", "--output-format", "stream-json", stdin=sent).stdout
    )

    results = [line["text"] for line in told if line["event"] == "result"]
    assert [text.partition(": ")[2] for text in results[:2]] == ['"one"', '"two"']
    assert len(results) == 3
    assert len({line["session"] for line in told if line["event"] == "result"}) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("hello", "line 1 of standard input is not JSON"),
        ("[]", "line 1 of standard input holds no message"),
        ('{"text": ""}{', "line 1 of standard input is not JSON"),
        ('{"type": "user", "message": {"content": [{"type": "audio"}]}}', "holds a block that is neither"),
        ("", "there is nothing to ask"),
    ],
)
def test_a_line_that_is_no_message_ends_the_run(home: Home, line: str, told: str):
    result = home.legato("--simulate", "--input-format", "stream-json", stdin=line)

    assert result.exit_code == 2
    assert told in result.stderr


# --- exit codes ---


def test_a_protected_file_is_not_changed_where_nobody_can_be_asked_whatever_rules_say(home: Home):
    home.configure('[approval]\nmode = "edits"\nallow = ["write", "shell"]\n')
    prompt = 'call write with {"path": ".git/config", "content": "x"} and call shell with {"command": "touch .envrc"}'
    result = home.legato("--simulate", "--output-format", "json", "-p", prompt)
    (report,) = lines(result.stdout)

    assert result.exit_code == report["exit_code"] == 5
    assert [pending["tool"] for pending in report["approvals_needed"]] == ["write", "shell"]
    assert "this call may reach a protected file" in report["text"]
    assert result.stderr.count("which only a person can allow, each call by itself") == 2
    assert sorted(home.work.iterdir()) == []


def test_a_tool_that_needs_an_approval_is_not_run_the_others_are_and_the_exit_code_says_so(home: Home):
    (home.work / "a.txt").write_text("hello")
    prompt = 'use read on a.txt and call shell with {"command": "touch made"}'
    result = home.legato("--simulate", "--output-format", "json", "-p", prompt)
    (report,) = lines(result.stdout)

    assert result.exit_code == report["exit_code"] == 5
    assert report["outcome"] == "done"
    assert 'read returned: "hello"' in report["text"]
    assert [pending["tool"] for pending in report["approvals_needed"]] == ["shell"]
    assert not (home.work / "made").exists()
    assert "shell was not run: it needs an approval, and nobody is there to give it" in result.stderr


@pytest.mark.parametrize("how", [["--approval", "never", "--sandbox", "off"], []])
def test_what_is_allowed_runs_without_a_person(home: Home, how: list[str]):
    if not how:
        home.configure('[approval]\nallow = ["shell(touch *)"]\n')
    result = home.legato("--simulate", *how, "-p", 'call shell with {"command": "touch made"}')

    assert result.exit_code == 0
    assert (home.work / "made").exists()


def test_plan_mode_reads_only(home: Home):
    result = home.legato("--simulate", "--approval", "plan", "-p", 'call shell with {"command": "touch made"}')

    assert result.exit_code == 0
    assert "Plan mode is read only" in result.stdout
    assert not (home.work / "made").exists()


def test_a_limit_ends_the_turn_with_its_own_code(home: Home):
    (home.work / "a.txt").write_text("hello")
    result = home.legato("--simulate", "--max-turns", "1", "-p", "use read on a.txt")

    assert result.exit_code == 6
    assert "the limit of 1 requests for one message is reached" in result.stderr


@pytest.mark.parametrize("quiet", [[], ["-q"]])
@pytest.mark.parametrize(
    ("prompt", "code", "told"),
    [
        ("run out of tokens", 8, "the answer was cut at the output limit"),
        ("refuse to answer", 9, "the model refused to answer"),
    ],
)
def test_an_answer_that_is_not_whole_has_its_own_code_and_is_told(
    home: Home, prompt: str, code: int, told: str, quiet: list[str]
):
    result = home.legato("--simulate", *quiet, "-p", prompt)

    assert (result.exit_code, result.stderr.count(told)) == (code, 1)
    assert result.stdout.strip()


@pytest.mark.parametrize(
    ("settings", "prompt", "outcome", "ending", "code"),
    [
        ("[options]\nmax_tokens = 8\n", "answer in 9 lines", "incomplete", "length", 8),
        ("", "refuse to answer", "refused", "refused", 9),
    ],
)
def test_the_reason_for_which_an_answer_ended_is_in_the_json(
    home: Home, settings: str, prompt: str, outcome: str, ending: str, code: int
):
    home.configure(settings)
    result = home.legato("--simulate", "--output-format", "stream-json", "-p", prompt)
    *_, step, turn, report = lines(result.stdout)

    assert (step["event"], step["ending"]) == ("step-ended", ending)
    assert (turn["event"], turn["outcome"], turn["ending"]) == ("turn-ended", outcome, ending)
    assert (report["outcome"], report["ending"], report["exit_code"]) == (outcome, ending, code)
    assert report["text"]
    assert report["detail"] == turn["detail"]
    assert result.exit_code == code


def test_when_every_route_fails_all_causes_are_told(home: Home):
    home.configure(
        'route = "both"\n[profiles.both]\npolicy = "failover"\nroutes = ["mistral/m", "kimi/kimi-k2-thinking"]\n'
    )
    result = home.legato("--simulate", "--output-format", "json", "-p", "fail with 402")
    (report,) = lines(result.stdout)

    assert result.exit_code == report["exit_code"] == 4
    assert (report["outcome"], report["text"], report["error"]["type"]) == ("failed", "", "AllRoutesFailed")
    assert "mistral/m" in report["error"]["message"]
    assert "kimi/kimi-k2-thinking" in report["error"]["message"]


def test_a_failover_is_told_and_answered(home: Home):
    home.configure(
        'route = "both"\n[profiles.both]\npolicy = "failover"\nroutes = ["mistral/mistral-large-latest", "groq/g"]\n'
    )
    result = home.legato("--simulate", "-p", "fail with 402 on mistral")

    assert result.exit_code == 0
    assert "groq/g goes on" in result.stderr
    assert result.stdout.startswith("g (simulated) heard:")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-p", "x", "--bogus"], "no such option"),
        (["-p", "x", "--modle", "y"], "no such option '--modle'. Did you mean '--model'?\n"),
        (["-p", "x", "--config", "."], " cannot be read: Is a directory; correct it, or name another file\n"),
        (["-p", "x", "--approval", "maybe"], "'maybe' is not one of"),
        (["-p", "x", "--max-turns", "0"], "0 is not in the range"),
        (["-p", "x", "-c", "-r", "id"], "-c and -r both name a session"),
        (["-p", "x", "--fork"], "--fork copies a session"),
        (["-p", "x", "-c", "--no-store"], "--no-store keeps nothing"),
        (["-p", "x", "-m", "a/b", "--route", "c"], "-m and --route both say who answers"),
        (["-p", "x", "-r"], "-r without an ID asks"),
        (["--simulate", "-p", "  "], "there is nothing to ask"),
        (["--simulate"], "there is nothing to ask"),
        (["-p", "x", "-m", "nobody/x"], "no provider 'nobody'"),
        (["-p", "x", "--pace", "20/s"], "--pace is for simulated providers"),
        (["-p", "x", "--simulate", "--pace", "fast"], "'fast' is no pace; write how many pieces leave in a second"),
        (["-p", "x", "--simulate", "--route", "none"], "there is no profile 'none'"),
        (["-p", "x", "--config", "none.toml"], "none.toml does not exist"),
        (["-p", "x", "--simulate", "-c"], "no session of"),
        (["-p", "x", "--simulate", "-r", "zzz"], "no session 'zzz' is stored"),
    ],
)
def test_what_cannot_be_is_refused_with_one_line(home: Home, arguments: list[str], told: str):
    result = home.legato(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("legato: ")
    assert result.stderr.count("\n") == 1
    assert told in result.stderr


def test_with_no_key_and_no_settings_it_says_how_to_begin(home: Home):
    result = home.legato("-p", "hello")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "export ANTHROPIC_API_KEY=" in result.stderr
    assert "legato --simulate" in result.stderr


def test_a_setting_of_a_project_that_nobody_agreed_to_is_not_used_and_that_is_said(home: Home):
    (home.work / "legato.toml").write_text('[approval]\nmode = "never"\n')
    result = home.legato("--simulate", "-p", 'call shell with {"command": "touch made"}')

    assert result.exit_code == 5
    assert "is not trusted, so it does not set: approval.mode; `legato config trust` shows it" in result.stderr


def test_a_server_that_nobody_agreed_to_is_not_started(home: Home):
    (home.work / ".mcp.json").write_text('{"mcpServers": {"evil": {"command": "touch", "args": ["made"]}}}')
    result = home.legato("--simulate", "-p", "hello")

    assert result.exit_code == 0
    assert "nobody agreed to it yet: evil" in result.stderr
    assert not (home.work / "made").exists()


def test_long_outputs_are_kept_where_the_model_can_read_them(home: Home):
    text = "\n".join(["y" * 100] * 3_000)
    (home.work / "big.txt").write_text(text)
    result = home.legato(
        "--simulate",
        "--approval",
        "never",
        "--sandbox",
        "off",
        "--output-format",
        "stream-json",
        "-p",
        'call shell with {"command": "cat big.txt"}',
    )
    (ended,) = [line for line in lines(result.stdout) if line["event"] == "tool-ended"]
    place = Path(ended["response"]["result"].partition("the whole output is in ")[2].partition("]")[0])

    assert place.read_text() == text
    assert place.stat().st_mode & 0o077 == 0


def test_subagents_have_the_same_tools_and_what_they_may_not_do_counts_too(home: Home):
    inner = '{"prompt": "call shell with {\\"command\\": \\"touch made\\"}"}'
    result = home.legato("--simulate", "-p", f"call task with {inner}")

    assert result.exit_code == 5
    assert not (home.work / "made").exists()


def test_tools_can_be_disabled_and_a_misspelled_one_is_an_error(home: Home):
    home.configure('[tools]\ndisabled = ["shell"]\n')
    told = lines(home.legato("--simulate", "--output-format", "stream-json", "-p", "hello").stdout)
    assert "shell" not in told[0]["tools"]
    home.configure('[tools]\ndisabled = ["shel"]\n')
    result = home.legato("--simulate", "-p", "hello")
    assert (result.exit_code, f"{home.settings}: tools.disabled names 'shel', which is no tool" in result.stderr) == (
        2,
        True,
    )


# --- sessions ---


def test_a_session_goes_on_with_who_answered_last(home: Home):
    (home.work / "a.txt").write_text("hello")
    home.legato("--simulate", "-q", "-m", "mistral/mistral-large-latest", "-p", "use read on a.txt")
    result = home.legato("--simulate", "-c", "--output-format", "json", "-p", "what did the first tool return?")
    (report,) = lines(result.stdout)

    assert report["route"] == "mistral/mistral-large-latest"
    assert "hello" in report["text"]


def test_who_is_named_now_answers_in_a_stored_session(home: Home):
    home.legato("--simulate", "-q", "-p", "one")
    (first,) = lines(home.legato("sessions", "list", "--json").stdout)
    result = home.legato(
        "--simulate",
        "-r",
        first["id"][-6:],
        "-m",
        "gemini/gemini-3-pro-preview",
        "--output-format",
        "json",
        "-p",
        "two",
    )
    (report,) = lines(result.stdout)

    assert (report["route"], report["session"]) == ("gemini/gemini-3-pro-preview", first["id"])


def test_a_fork_goes_on_in_a_copy(home: Home):
    home.legato("--simulate", "-q", "-p", "one")
    (first,) = lines(home.legato("sessions", "list", "--json").stdout)
    result = home.legato("--simulate", "-c", "--fork", "--output-format", "json", "-p", "two")
    sessions = {one["id"]: one for one in lines(home.legato("sessions", "list", "--json").stdout)}
    (report,) = lines(result.stdout)

    assert report["session"] != first["id"]
    assert sessions[report["session"]]["parent"] == first["id"]
    assert sessions[first["id"]]["records"] == first["records"]


def test_a_session_that_another_process_holds_is_refused_and_can_be_forked(home: Home):
    home.legato("--simulate", "-q", "-p", "one")

    async def hold() -> tuple[int, str, int]:
        async with open_store() as store:
            (session,) = await store.list()
            lease = await store.open(session.id, holder="somebody else")
            refused = await anyio.to_thread.run_sync(lambda: program("--simulate", "-c", "-p", "two"))
            forked = await anyio.to_thread.run_sync(lambda: program("--simulate", "-c", "--fork", "-p", "two"))
            await store.release(lease)
            return refused.returncode, refused.stderr, forked.returncode

    code, told, forked = anyio.run(hold)
    assert (code, forked) == (7, 0)
    assert "somebody else" in told


def test_without_a_store_nothing_stays(home: Home):
    result = home.legato("--simulate", "--no-store", "--output-format", "json", "-p", "hello")

    assert lines(result.stdout)[0]["session"] is None
    assert home.legato("sessions").stderr == "No session is stored yet.\n"


# --- as a process of its own ---


def program(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], input=stdin, capture_output=True, text=True, check=False)


def test_one_shot_use_loads_nothing_of_the_prompt(home: Home):
    check = (
        "import sys; from legato.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('prompt_toolkit', 'tomlkit', 'httpx2', 'mcp') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", check, "--simulate", "-q", "-p", "hello"], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip

    assert result.stdout.splitlines()[1:] == ["[]"]


class _Provider(BaseHTTPRequestHandler):
    """Answers every question with one word."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "hi"}
        body = msgspec.json.encode({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the base class's
        pass


UNUSED = (
    "prompt_toolkit", "rich", "tomlkit", "mcp", "sqlite3", "legato.tools.mcp", "legato.simulation", "legato.formats",
    "legato.diagnostics", "legato.store.sqlite", "legato.cli.chat.interactive", "legato.cli.chat.slash", "legato.wire.anthropic",
    "legato.wire.gemini", "legato.wire.openai_responses",
)  # fmt: skip
"""what no question to one provider needs, if nothing is kept and nothing goes wrong"""


def test_until_a_first_answer_nothing_is_loaded_that_it_does_not_need_and_no_garbage_is_looked_for(home: Home):
    check = (
        "import gc, sys; from legato.cli import main\n"
        "looked = []; gc.callbacks.append(lambda phase, info: looked.append(phase))\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"print([name for name in {UNUSED!r} if name in sys.modules], looked)"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), _Provider) as provider:
        Thread(target=provider.serve_forever).start()
        home.configure(f'[endpoints]\nopenai = "http://127.0.0.1:{provider.server_port}/v1"\n')
        result = subprocess.run(
            [sys.executable, "-c", check, "-m", "openai/gpt-4o", "--no-store", "-q", "-p", "hello"],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "OPENAI_API_KEY": "sk-test-0123456789"},
        )  # fmt: skip
        provider.shutdown()

    assert (result.stdout, result.stderr) == ("hi\n[] []\n", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_saves_what_happened_and_leaves(home: Home, number: signal.Signals, code: int):
    started = home.work / "started"
    prompt = f'call shell with {{"command": "touch {started}; sleep 60"}}'
    process = subprocess.Popen(
        [*PROGRAM, "--simulate", "--approval", "never", "--sandbox", "off", "--output-format", "stream-json",
         "-p", prompt],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    told: list[dict[str, Any]] = []
    for line in process.stdout:
        told.append(msgspec.json.decode(line))
        if told[-1]["event"] == "tool-began":
            break
    while not started.exists():
        time.sleep(0.01)
    process.send_signal(number)
    rest, _ = process.communicate()
    told += lines(rest)

    assert process.returncode == code
    assert (told[-1]["event"], told[-1]["outcome"], told[-1]["exit_code"]) == ("result", "cancelled", code)
    (ended,) = [line for line in told if line["event"] == "tool-ended"]
    assert ended["response"]["reason"] == "running-when-cancelled"
    shown = home.legato("sessions", "show", told[-1]["session"]).stdout
    assert "cancelled while it ran" in shown


def test_a_reader_that_goes_away_is_no_traceback(home: Home):
    result = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "from legato.cli import main; main()" --simulate -p hello | true', sys.executable],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip

    assert "Traceback" not in result.stderr


def test_who_forgets_to_close_standard_input_is_told_what_is_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch):
    read_end, write_end = os.pipe()
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        os.write(write_end, b"late")
        os.close(write_end)

    monkeypatch.setattr(oneshot, "_SILENCE", 0.01)
    with os.fdopen(read_end) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert oneshot.read_stdin(tell) == "late"
    assert told == ["waiting for standard input; close it with < /dev/null if there is nothing to read"]


def test_too_much_on_standard_input_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oneshot, "MAX_STDIN", 10)

    assert "more than 10 bytes" in home.legato("--simulate", stdin="x" * 11).stderr


SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


server.run()
'''


def test_a_server_that_was_agreed_to_is_started_and_its_tools_are_used(home: Home):
    pytest.importorskip("mcp")
    (home.work / "server.py").write_text(SERVER)
    servers = {"sums": {"command": sys.executable, "args": ["server.py"]}, "gone": {"command": "/nonexistent/program"}}
    (home.work / ".mcp.json").write_bytes(msgspec.json.encode({"mcpServers": servers}))
    home.configure("[mcp]\nseconds = 300\n")
    home.legato("config", "trust", "--yes")
    result = home.legato("--simulate", "--approval", "never", "-p", 'call mcp__sums__add with {"a": 20, "b": 22}')

    assert result.exit_code == 0
    assert "42" in result.stdout
    assert "MCP server gone: " in result.stderr


def test_never_runs_no_command_where_the_sandbox_is_missing(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Sandbox, "choice", ChosenMechanism(None, "nobody built one"))
    result = home.legato("--simulate", "--approval", "never", "-p", 'call shell with {"command": "touch made"}')

    assert (result.exit_code, (home.work / "made").exists()) == (5, False)
    assert "shell was not run: there is no sandbox here, and nobody to be asked; --sandbox off runs" in result.stderr
