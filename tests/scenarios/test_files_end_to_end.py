"""Real session files and requests, from reading to every target; and everything that is no such file.

What a file holds is counted twice: by the readers, and here, from its bare JSON.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from file_samples import CLEAN_BODY, ClaudeSession, legato, open_session, save, use, used
from legato.errors import FormatError
from legato.formats import FORMATS, Document, mend, read, read_all, request_for
from legato.formats.findings import Level, find
from legato.formats.targets import WIRE, find_target, own_targets
from legato.model import Speaker, Text, ToolCall
from legato.request import Request
from legato.wire.findings import Severity

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
HELD_BY_SERVER = {"previous_response_id", "conversation"}

needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample transcripts are not here")


FOLDERS = sorted(path.name for path in SAMPLES.glob("*/") if path.name != "LICENSES")


def sample_files(folder: str = "") -> list[Path]:
    found = (path for path in (SAMPLES / folder).rglob("*") if path.is_file() and path.name != "README.md")
    return sorted(path for path in found if "LICENSES" not in path.parts)


def sample_name(path: Path) -> str:
    return str(path.relative_to(SAMPLES))


def documents(path: Path) -> list[Document] | None:
    """The conversations in a sample; None if it is in a format that nobody promised to read."""
    try:
        return [document for document in read_all(path) if document.entries]
    except FormatError:
        return None


# --- counting in request bodies ---------------------------------------------------------------------------------------


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, from the outside in; schemas and arguments are somebody's own business."""
    if isinstance(value, dict):
        yield value
        for name, item in value.items():
            if name not in ("input", "args", "arguments", "tools", "response", "output") or isinstance(item, list):
                yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)


def pairs(body: Any) -> tuple[int, int]:
    """How many calls and how many results a request body holds, whatever its dialect."""
    kinds: Counter[str] = Counter()
    for item in objects(body):
        kind = str(item.get("type", ""))
        if kind in ("tool_use", "tool-call", "function_call", "custom_tool_call") or "functionCall" in item:
            kinds["calls"] += 1
        if kind in ("tool_result", "tool-result", "function_call_output", "custom_tool_call_output"):
            kinds["results"] += 1
        kinds["calls"] += len(item.get("tool_calls") or []) if item.get("role") == "assistant" else 0
        kinds["results"] += item.get("role") == "tool" and "tool_call_id" in item
        kinds["results"] += "functionResponse" in item
        kinds["calls"] += "toolUse" in item
        kinds["results"] += "toolResult" in item
    return kinds["calls"], kinds["results"]


def refused(request: Request) -> list[str]:
    return [found.rule for found in request.check() if found.severity is Severity.REFUSED]


def human_texts(document: Document) -> list[str]:
    return [
        block.text.strip()
        for entry in document.entries
        if entry.speaker is Speaker.HUMAN
        for block in entry.blocks
        if isinstance(block, Text) and block.text.strip()
    ]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


# --- samples ----------------------------------------------------------------------------------------------------------


@needs_samples
@pytest.mark.parametrize("folder", FOLDERS)
def test_samples_convert_to_every_wire_target_with_nothing_refused_and_nothing_lost(folder: str):
    for path in sample_files(folder):
        for document in documents(path) or ():
            called = sum(isinstance(block, ToolCall) for entry in document.entries for block in entry.blocks)
            texts = human_texts(document)
            for name in WIRE:
                request, _ = request_for(document, find_target(name, document=document))
                body = request.copy()
                where = (document.name, name)

                assert refused(request) == [], where
                made, answered = pairs(body)
                assert made == answered == len(request.report.emitted), where
                assert made >= called - len(request.report.of("dropped", "deduped")), where
                said = "\n".join(strings(body))
                assert [text for text in texts if text not in said] == [], where


@needs_samples
def test_samples_of_other_kinds_are_refused_as_an_unknown_format_in_one_line():
    others = [path for path in sample_files() if documents(path) is None]

    assert len(others) > 100
    for path in others:
        result = legato("lint", path)
        assert (result.exit_code, result.stdout) == (2, ""), path
        assert result.stderr.startswith(f"legato: {path}"), result.stderr
        assert result.stderr.count("\n") == 1


@needs_samples
def test_nothing_that_a_provider_accepted_is_called_broken():
    accepted = documents(SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl") or []
    errors = [
        (document.name, finding.rule)
        for document in accepted
        for finding in find(document, [(name, find_target(name, document=document)) for name in own_targets(document)])
        if finding.level is Level.ERROR
    ]

    assert len(accepted) > 100
    assert errors == []


PI = sorted(SAMPLES.glob("pi/*before-compaction.jsonl")) + sorted(SAMPLES.glob("pi/*large-session.jsonl"))


@needs_samples
@pytest.mark.parametrize("path", PI, ids=sample_name)
def test_the_unanswered_calls_of_a_pi_session_are_found_by_lint_and_closed_by_convert(path: Path, tmp_path: Path):
    messages = [json.loads(line).get("message", {}) for line in path.read_text(encoding="utf-8").splitlines()]
    called = [
        block["id"]
        for message in messages
        if message.get("role") == "assistant"
        for block in message["content"]
        if block.get("type") == "toolCall"
    ]
    answered = [message["toolCallId"] for message in messages if message.get("role") == "toolResult"]
    unanswered = Counter(called) - Counter(answered)

    linted = json.loads(legato("lint", "--format", "json", path).stdout)["files"][0]["findings"]
    found = [finding["message"].split()[2] for finding in linted if finding["rule"] == "session/open-call"]
    assert sorted(found) == sorted(unanswered)
    assert len(found) >= 6

    for name in ("anthropic", "mistral", "openai-responses"):
        out, report = tmp_path / "body.json", tmp_path / "report.json"
        assert legato("convert", path, "--to", name, "-o", out, "--report", report).exit_code == 0
        assert pairs(json.loads(out.read_text())) == (len(called), len(called))
        assert len(json.loads(report.read_text())["synthetic"]) == len(unanswered)


@needs_samples
def test_the_calls_of_every_trajectory_survive():
    (path,) = SAMPLES.glob("openai-chat-tau-bench/*.json")
    runs = json.loads(path.read_text(encoding="utf-8"))
    read_here = read_all(path)

    assert len(read_here) == len(runs)
    for run, document in list(zip(runs, read_here, strict=True))[::10]:
        expected = pairs(run["traj"])
        for name in WIRE:
            request, _ = request_for(document, find_target(name))
            assert pairs(request.copy()) == (expected[0], expected[0])
            assert len(request.report.synthetic) == expected[0] - expected[1]


@needs_samples
def test_what_a_live_provider_accepted_keeps_its_calls_and_results_everywhere():
    path = SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl"
    by_line = {document.name.rpartition(" ")[2]: document for document in documents(path) or ()}
    compared = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        record = json.loads(line)
        document = by_line.get(str(number))
        body = record["request"]
        if document is None or document.format not in ("anthropic", "openai-chat") or HELD_BY_SERVER & body.keys():
            continue
        calls, results = pairs(body)
        for name in ("gemini", "openai-responses", "kimi"):
            request, _ = request_for(document, find_target(name))
            assert pairs(request.copy()) == (calls, calls), (number, name)
            assert len(request.report.synthetic) == calls - results, (number, name)
        compared += 1

    assert compared > 50


@needs_samples
@pytest.mark.parametrize("folder", ["agent-sessions-multi", "claude-code", "mistral"])
def test_lint_finds_errors_exactly_where_repair_changes_something_and_none_afterwards(folder: str):
    def errors(judged: Document) -> list[str]:
        targets = [(name, find_target(name, document=judged)) for name in own_targets(judged)]
        return [finding.rule for finding in find(judged, targets) if finding.level is Level.ERROR]

    compared = 0
    for path in sample_files(folder):
        document = (documents(path) or [None])[0]
        if document is None or not FORMATS[document.format].is_written or document.original is None:
            continue
        compared += 1
        mended = mend(document, force=True)
        again = read_all(mended.data, format=document.format)[0]
        assert bool(errors(document)) is bool(mended.changes), path
        assert errors(again) == [], path
        assert (mend(again).changes, mend(again).data) == ([], mended.data), path

    assert compared > 0


# --- from one agent to another and back -------------------------------------------------------------------------------


def finished(path: Path) -> list[tuple[str, str, Any, Any, str | None]]:
    """Every call of a session: tool, state, arguments, result and error."""
    return [
        (
            call.name,
            call.state.value,
            call.arguments,
            call.response.result if call.response else None,
            call.response.error if call.response else None,
        )
        for call in read(path).conversation().ledger.in_order
    ]


def _round_trip(path: Path, tmp_path: Path) -> tuple[Path, Path]:
    rollout, back = tmp_path / "rollout.jsonl", tmp_path / "back.jsonl"
    for source, target, out in ((path, "codex", rollout), (rollout, "claude-code", back)):
        result = legato("convert", source, "--to", target, "-o", out, "--report", out.with_suffix(".report"))
        assert result.exit_code == 0, result.stderr
        assert legato("lint", out).exit_code == 0
    return rollout, back


def test_claude_code_to_codex_and_back_keeps_every_pair_as_a_pair(tmp_path: Path):
    thought = {"type": "thinking", "thinking": "Both at once.", "signature": "c2lnbmF0dXJl"}
    session = ClaudeSession().user("Read a and b.").model(thought, use("toolu_a", "Read", path="a"), answer="msg_1")
    session.model(use("toolu_b", "Read", path="b"), answer="msg_1").user([used("toolu_a", "text of a")])
    session.user([{**used("toolu_b", "no such file"), "is_error": True}])
    session.model({"type": "text", "text": "One is missing."}, use("toolu_c", "Write", path="b")).user("Stop.")
    path = save(tmp_path / "session.jsonl", session.records)

    rollout, back = _round_trip(path, tmp_path)

    assert finished(path) == [
        ("Read", "complete", {"path": "a"}, "text of a", None),
        ("Read", "error", {"path": "b"}, None, "no such file"),
        ("Write", "pending", {"path": "b"}, None, None),
    ]
    for out in (rollout, back):
        assert finished(out) == finished(path)
        assert [entry.text for entry in read(out).entries if entry.speaker is Speaker.HUMAN] == [
            "Read a and b.",
            "Stop.",
        ]
    lost = json.loads(rollout.with_suffix(".report").read_text())["not_carried"]
    assert any("thought" in note["message"] for note in lost)


@needs_samples
def test_real_sessions_survive_the_way_to_codex_and_back(tmp_path: Path):
    sessions = [path for path in sample_files() if (found := documents(path)) and found[0].format == "claude-code"]

    assert sessions
    for path in sessions:
        _, back = _round_trip(path, tmp_path)
        assert [call[0::2][:2] for call in finished(back)] == [call[0::2][:2] for call in finished(path)], path


# --- bad input --------------------------------------------------------------------------------------------------------

COMMANDS = {
    "lint": ["lint"],
    "convert": ["convert", "--to", "anthropic", "-o", "out.json", "--report", "report.json"],
    "convert to a file": ["convert", "--to", "codex", "-o", "out.json", "--report", "report.json"],
    "repair": ["repair", "-o", "out.json"],
    "repair in place": ["repair", "--write"],
    "inspect": ["inspect", "--html", "page.html"],
}

BAD = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n\t\n", "the file is empty"),
    "binary": (bytes(range(256)) * 64, "binary data"),
    "text": (b"Dear diary, today nothing happened.\n", "unknown format"),
    "truncated JSON": (json.dumps(CLEAN_BODY).encode()[:-40], "breaks off"),
    "unknown JSON": (b'{"answer": 42}', "unknown format"),
    "unknown lines": (b'{"answer": 42}\n{"answer": 43}\n', "unknown format"),
    "a number": (b"42\n", "unknown format"),
}


def _bad(arguments: list[str], name: str, said: str, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    result = legato(*arguments, name)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("legato: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_is_none_is_one_clear_line_and_nothing_is_written(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    data, said = BAD[kind]
    (tmp_path / "input").write_bytes(data)

    _bad(COMMANDS[command], "input", said, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_or_nothing_at_all_is_one_clear_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()

    walks = command in ("lint", "inspect")  # a page for each session, where there is one
    said = "there are no files in it" if walks else "this is a directory; name a file in it"
    _bad(COMMANDS[command], "folder", f"folder: {said}", tmp_path)
    _bad(COMMANDS[command], "nothing", "nothing: there is no such file, and no stored session has this id", tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_format_in_which_nothing_can_be_read_is_one_clear_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "session.jsonl", open_session())

    _bad(
        [*COMMANDS[command], "--from", "codex"],
        "session.jsonl",
        "nothing in it could be read as codex; it looks like claude-code",
        tmp_path,
    )
    _bad([*COMMANDS[command], "--from", "codexx"], "session.jsonl", "did you mean 'codex'?", tmp_path)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
sys.argv = ["legato", "lint", sys.argv[1]]
from legato.cli import main
main()
"""
GIGABYTE = 1024**3


def _lint_with_little_memory(argument: str, **options: Any) -> tuple[int, str, str]:
    # Twice what a value that is refused may have been read of: far from the gigabyte that it claims to be.
    program = LIMITED.replace("MEMORY", str(900 * 1024**2))
    done = subprocess.run(
        [sys.executable, "-c", program, argument], capture_output=True, text=True, check=False, **options
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", "binary data"),
        (b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "', "more than 256 MB"),
    ],
    ids=["garbage", "one endless value"],
)
def test_a_gigabyte_of_garbage_is_refused_with_bounded_memory(head: bytes, said: str, tmp_path: Path):
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(GIGABYTE)

    code, stdout, stderr = _lint_with_little_memory(str(path))
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr

    with path.open("rb") as stream:
        code, stdout, stderr = _lint_with_little_memory("-", stdin=stream)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr


@pytest.mark.slow
def test_a_large_session_is_linted_in_less_than_six_times_its_size(tmp_path: Path):
    session = ClaudeSession()
    text = "a line of some file\n" * 2_000
    for number in range(250):
        session.user(f"Read {number}.").model(use(f"toolu_{number}", "Read", path=str(number)))
        session.user([used(f"toolu_{number}", text)])
    path = save(tmp_path / "session.jsonl", session.model(use("toolu_open")).records)
    size = path.stat().st_size
    measuring = (
        "import resource, sys\n"
        "sys.argv = ['legato', *sys.argv[1:]]\n"
        "from legato.cli import main\n"
        "try: main()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)"
    )

    def peak(*arguments: str) -> tuple[int, int]:
        done = subprocess.run(
            [sys.executable, "-c", measuring, *arguments], capture_output=True, text=True, check=False
        )
        return done.returncode, int(done.stderr.splitlines()[-1])

    small = save(tmp_path / "small.jsonl", open_session())
    (_, floor), (code, whole) = peak("lint", str(small)), peak("lint", str(path))

    assert size > 10_000_000
    assert code == 0
    assert whole - floor < 6 * size
