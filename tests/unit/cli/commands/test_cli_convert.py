"""convert: any format to any request body or session file, and the report of what it took."""

import json
from pathlib import Path
from typing import Any

import pytest

from file_samples import OPEN_BODY, ClaudeSession, chat_body, legato, open_session, pi_session, save, use, used
from legato.formats import detect, read
from legato.formats.targets import FILES, WIRE, find_target
from legato.model import closure_text
from legato.model.closures import ClosureReason
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

MISSING = closure_text(ClosureReason.MISSING_IN_IMPORT)


def refused(body: dict[str, Any], name: str) -> list[str]:
    target = find_target(name)
    found = dialect_parts(target.dialect).check(body, target)
    return [item.rule for item in found if item.severity is Severity.REFUSED]


@pytest.mark.parametrize("target", WIRE)
def test_every_wire_target_gets_a_body_that_its_provider_accepts(target: str, tmp_path: Path):
    result = legato("convert", save(tmp_path / "session.jsonl", open_session()), "--to", target)

    body = json.loads(result.stdout)
    assert (result.exit_code, refused(body, target)) == (0, [])
    assert json.dumps(MISSING)[1:-1] in result.stdout
    assert "text of a" in result.stdout
    assert "Never mind." in result.stdout


@pytest.mark.parametrize("target", FILES)
def test_every_session_file_can_be_written_and_is_known_for_what_it_is(target: str, tmp_path: Path):
    out = tmp_path / "out.jsonl"

    result = legato("convert", save(tmp_path / "body.json", OPEN_BODY), "--to", target, "-o", out)

    assert (result.exit_code, result.stdout) == (0, "")
    assert detect(out).format == target
    ledger = read(out).conversation().ledger
    assert [call.state.value for call in ledger.in_order] == ["complete", "pending"]


def test_only_the_body_goes_to_standard_output(tmp_path: Path):
    body = chat_body("call_1", temperature=0.5, seed=3, n=1)

    result = legato("convert", save(tmp_path / "body.json", body), "--to", "gemini")

    assert json.loads(result.stdout)["generationConfig"] == {"temperature": 0.5, "seed": 3}
    assert result.stdout.count("\n") == 1
    assert "fields that only openai_chat/openai knows were left out: n" in result.stderr


def test_standard_input_can_be_converted():
    result = legato("convert", "-", "--to", "kimi", "-o", "-", stdin=json.dumps(OPEN_BODY).encode())

    assert [message["role"] for message in json.loads(result.stdout)["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]


def test_the_model_is_the_files_own_where_the_provider_is_the_same(tmp_path: Path):
    path = save(tmp_path / "body.json", {**OPEN_BODY, "model": "claude-opus-4-8"})

    assert json.loads(legato("convert", path, "--to", "anthropic").stdout)["model"] == "claude-opus-4-8"
    assert json.loads(legato("convert", path, "--to", "deepseek").stdout)["model"] == "deepseek-chat"


def test_a_model_can_be_asked_for(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    assert json.loads(legato("convert", path, "--to", "mistral", "--model", "devstral-small").stdout)["model"] == (
        "devstral-small"
    )


def test_a_whole_route_can_be_asked_for(tmp_path: Path):
    result = legato("convert", save(tmp_path / "body.json", OPEN_BODY), "--to", "openrouter/z-ai/glm-4.6")

    assert json.loads(result.stdout)["model"] == "z-ai/glm-4.6"


def test_options_that_cannot_be_met_are_left_out_and_said(tmp_path: Path):
    body = chat_body("call_1", tool_choice={"type": "function", "function": {"name": "read"}})

    result = legato("convert", save(tmp_path / "body.json", body), "--to", "anthropic")

    assert result.exit_code == 0
    assert "the choice of a tool was not carried: a tool call is demanded" in result.stderr
    assert json.loads(result.stdout)["tool_choice"] == {"type": "none"}  # the tool is known by its name alone


def test_tools_are_carried(tmp_path: Path):
    body = json.loads(legato("convert", save(tmp_path / "body.json", OPEN_BODY), "--to", "openai-chat").stdout)

    assert [tool["function"]["name"] for tool in body["tools"]] == ["read"]


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_says_what_was_seen_emitted_closed_and_decided(tmp_path: Path):
    path, out = save(tmp_path / "session.jsonl", open_session()), tmp_path / "report.json"

    legato("convert", path, "--to", "mistral", "--report", out, "-o", tmp_path / "body.json")

    report = json.loads(out.read_text())
    assert report["input"]["format"] == "claude-code"
    assert (report["to"], report["format"], report["route"]) == (
        "mistral",
        "openai_chat/mistral",
        "mistral/mistral-large-latest",
    )
    assert report["calls_seen"] == ["hist_tool_a", "hist_tool_b"]
    assert report["synthetic"] == {"hist_tool_b": "missing-in-import"}
    assert report["faults"]["rendering"] == {"decisions": 1, "calls": ["hist_tool_b"]}
    sent = json.loads((tmp_path / "body.json").read_text())["messages"][1]["tool_calls"][0]["id"]
    assert report["emitted"][0]["wire_id"] == sent


def test_the_report_lists_what_a_session_file_cannot_carry(tmp_path: Path):
    session = ClaudeSession().user("Go.")
    session.model({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, use("toolu_a")).user([used("toolu_a")])
    path, out = save(tmp_path / "session.jsonl", session.records), tmp_path / "report.json"

    result = legato("convert", path, "--to", "codex", "--report", out, "-o", tmp_path / "rollout.jsonl")

    report = json.loads(out.read_text())
    assert result.exit_code == 0
    assert [note for note in report["not_carried"] if "thought" in note["message"]]
    assert "thought" in result.stderr


def test_the_report_holds_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_API_KEY", "opensesame99")
    session = ClaudeSession().user("Go.").model(use("toolu_a", "opensesame99")).user([used("toolu_a")]).records
    path, out = save(tmp_path / "session.jsonl", session), tmp_path / "report.json"

    legato("convert", path, "--to", "kimi", "--report", out, "-o", tmp_path / "body.json")

    assert "opensesame99" not in out.read_text()
    assert "opensesame99" in (tmp_path / "body.json").read_text()


# --- files with several conversations ---------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    bodies = [chat_body("call_1"), chat_body("call_2", answered=0)]
    return save(tmp_path / "many.jsonl", [{"messages": body["messages"]} for body in bodies])


def test_a_file_of_many_conversations_asks_which_one(many: Path):
    result = legato("convert", many, "--to", "kimi")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"legato: {many}, line 1: this file holds 2 conversations; choose one with --pick N, or take --all\n"
    )


def test_one_of_many_can_be_picked(many: Path):
    result = legato("convert", many, "--to", "kimi", "--pick", "2")

    assert MISSING in result.stdout
    assert "1 other conversation in it" in result.stderr


@pytest.mark.parametrize("number", ["0", "3"])
def test_a_number_that_is_not_there_is_refused(many: Path, number: str):
    result = legato("convert", many, "--to", "kimi", "--pick", number)

    assert result.exit_code == 2
    assert f"there is no number {number}" in result.stderr


def test_all_of_them_are_one_body_a_line(many: Path, tmp_path: Path):
    result = legato("convert", many, "--to", "anthropic", "--all", "--report", tmp_path / "report.json")

    bodies = [json.loads(line) for line in result.stdout.splitlines()]
    assert [refused(body, "anthropic") for body in bodies] == [[], []]
    assert len(json.loads((tmp_path / "report.json").read_text())) == 2


def test_what_an_agent_had_summarised_can_be_left_out(tmp_path: Path):
    session = ClaudeSession().user("The first question.").model({"type": "text", "text": "The first answer."})
    session.user("A summary of it all.").records[-1]["isCompactSummary"] = True
    path = save(tmp_path / "session.jsonl", session.user("And now?").records)

    whole, brief = (legato("convert", path, "--to", "kimi", *options).stdout for options in ((), ("--compacted",)))

    assert "The first question." in whole
    assert "The first question." not in brief
    assert "A summary of it all." in brief
    assert "And now?" in brief


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--to", "antropic"], "there is no target 'antropic'; did you mean 'anthropic'?"),
        (["--to", "clude-code"], "there is no target 'clude-code'; did you mean 'claude-code'?"),
        (["--to", "kimi/k2", "--model", "x"], "'kimi/k2' names a model already; leave out --model"),
        (["--to", "codex", "--model", "x"], "--model and --all are for request bodies"),
        (["--to", "kimi", "--install"], "--install is for session files, and says itself where they go"),
        (["--to", "kimi", "--all", "--pick", "1"], "--all takes every conversation and --pick one of them"),
        (["--to", "kimi", "--report", "-"], "--report and --output cannot be the same file"),
        (
            ["--to", "kimi", "-o", "no/such/place/out.json"],
            "no/such/place/out.json: there is no directory no/such/place",
        ),
        (["--to", "kimi", "-o", "."], ".: this is a directory; name a file in it"),
        ([], "missing option '--to'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_nothing_is_written(
    options: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "body.json", OPEN_BODY)

    result = legato("convert", "body.json", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"legato: {line}")
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["body.json"]


def test_the_input_is_never_overwritten(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)
    before = path.read_bytes()

    result = legato("convert", path, "--to", "anthropic", "-o", path)

    assert (result.exit_code, path.read_bytes()) == (2, before)
    assert "this is the input itself" in result.stderr


def test_a_conversation_in_which_nothing_was_said_is_refused(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", ClaudeSession().user("   ").records)

    result = legato("convert", path, "--to", "kimi")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "it holds nothing that could be sent to a model" in result.stderr


def test_a_format_can_be_named_and_nothing_read_in_it_is_said(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", pi_session())

    assert legato("convert", path, "--from", "pi", "--to", "kimi").exit_code == 0
    result = legato("convert", path, "--from", "codex", "--to", "kimi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing in it could be read as codex; it looks like pi (a first record of type session)" in result.stderr
