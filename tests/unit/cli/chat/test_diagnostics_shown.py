"""What the program tells about its requests: -v, --log-file, the JSON outputs, /last."""

import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from legato.simulation import SimulatedTransport
from legato.transport import WireRequest, WireResponse
from program import Home

GPT = "openai/gpt-4o"
SAID = "An assistant message with 'tool_calls' must be followed by tool messages; the key is opensesame-1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@pytest.fixture
def contrary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated providers that refuse every request that holds a result."""
    plain = SimulatedTransport.send

    async def send(self: SimulatedTransport, request: WireRequest) -> WireResponse:
        if b'"role":"tool"' not in request.body:
            return await plain(self, request)

        async def chunks() -> AsyncIterator[bytes]:
            yield json.dumps({"error": {"message": SAID, "type": "invalid_request_error"}}).encode()

        return WireResponse(400, {}, chunks())

    monkeypatch.setattr(SimulatedTransport, "send", send)
    monkeypatch.setenv("SOME_API_KEY", "opensesame-1")


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


ASK = ("--simulate", "-m", GPT, "-p", "use read on a.txt")


def test_verbose_tells_what_was_decided_and_which_layer_is_at_fault(home: Home, contrary: None):
    told = home.legato("-v", *ASK).stderr.splitlines()

    assert [line.partition(", digest")[0] for line in told if line.startswith("request: ")] == [
        f"request: step 1, {GPT} as openai_chat/openai, calls: 0, decisions: 0",
        f"request: step 2, {GPT} as openai_chat/openai, calls: 1, decisions: 0",
    ]
    place = next(number for number, line in enumerate(told) if line.startswith("refused: step 2"))
    assert "must be followed by tool messages; the key is [hidden]" in told[place]
    assert told[place + 1] == "· fault class: rendering: a call went out without its result (unanswered-call)"
    assert told[place + 2].startswith("· calls: hist_tool_")


def test_without_it_a_fault_of_ours_says_where_to_look(home: Home, contrary: None):
    ran = home.legato(*ASK)

    assert ran.exit_code == 4
    assert "(rendering fault: a call went out without its result; calls: hist_tool_" in ran.stderr
    assert (
        "legato: -v shows what was decided for the request; --log-file FILE and the JSON outputs hold it" in ran.stderr
    )
    assert "-v shows" not in home.legato("--simulate", "-p", "fail with 402").stderr, "no fault of ours"


def test_a_log_file_is_added_to_and_holds_a_json_object_for_each_line(home: Home, contrary: None):
    log = home.work / "legato.jsonl"
    for _ in range(2):
        home.legato("--log-file", str(log), *ASK)

    told = parsed(log.read_text())
    half = told[: len(told) // 2]
    assert [line["event"].removeprefix("legato.") for line in half] == [
        "turn-started", "render", "step-started", "step-ended", "render", "step-started", "fault", "turn-ended",
    ]  # fmt: skip
    assert [line["event"] for line in told] == [line["event"] for line in half] * 2
    assert {line["level"] for line in told} == {"debug", "warning"}
    assert half[6]["legato.fault_class"] == "rendering"
    assert half[6]["legato.session"] == half[0]["legato.session"] != told[-1]["legato.session"]
    assert half[4]["legato.emitted_call_ids"] == half[4]["legato.emitted_result_ids"]
    assert "opensesame" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_log_file_that_cannot_be_written_is_refused_before_anything_is_asked(home: Home):
    ran = home.legato("--log-file", str(home.work / "none" / "x"), *ASK)

    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "--log-file: " in ran.stderr
    assert "No such file or directory; name another file" in ran.stderr


def test_quiet_and_verbose_contradict_each_other(home: Home):
    assert home.legato("-q", "-v", *ASK).exit_code == 2


def test_the_json_outputs_hold_the_diagnosis_and_the_report_of_the_request(home: Home, contrary: None):
    result = json.loads(home.legato("--output-format", "json", *ASK).stdout)
    lines = parsed(home.legato("-v", "--output-format", "stream-json", *ASK).stdout)

    calls = result["request"]["report"]["calls_seen"]
    assert {name: result["error"][name] for name in ("type", "fault", "cause", "why", "calls")} == {
        "type": "ProtocolRefused",
        "fault": "rendering",
        "cause": "unanswered-call",
        "why": "a call went out without its result",
        "calls": calls,
    }
    assert (result["request"]["step"], result["request"]["sent"]) == (2, True)
    assert [line["step"] for line in lines if line["event"] == "report"] == [1, 2]
    (refused,) = [line for line in lines if line["event"] == "refused"]
    assert (refused["fault"], refused["report"]["format"]) == ("rendering", "openai_chat/openai")
    assert "opensesame" not in json.dumps([result, lines])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is needed")
def test_a_log_that_cannot_be_written_is_told_once_and_ends_nothing(home: Home):
    ran = home.legato("--simulate", "-p", "hello", "--log-file", "/dev/full")

    assert ran.exit_code == 0
    assert ran.stderr.count("the log /dev/full is not complete: no space left on device") == 1
    assert "Traceback" not in ran.stderr
