"""Real session files: every one in a format that is read is read whole, and can be carried to every target.

What the readers found is compared with a second reading, written here with nothing but `json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from legato.errors import FormatError
from legato.formats import Document, mend, read_all, write
from legato.formats.wire.shapes import WIRE_PROVIDERS
from legato.model import Authority, Speaker, Text, ToolCall, ToolResponse
from legato.request import resolve
from legato.transcript.units import Exchange, completion_text
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample transcripts are not here")


class Counts(NamedTuple):
    """What a conversation holds."""

    calls: int
    results: int
    human: int


# --- the second reading -----------------------------------------------------------------------------------------------


def records_of(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of lines, two on one line included."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    for line in path.read_text("utf-8").splitlines():
        rest = line.strip()
        while rest:
            value, end = decoder.raw_decode(rest)
            found.append(value)
            rest = rest[end:].strip()
    return found


def blocks_of(content: Any) -> list[dict[str, Any]]:
    return [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []


def says(content: Any) -> bool:
    """Whether a human-side content holds words, not only results."""
    if isinstance(content, str):
        return bool(content)
    return any("text" in part and part["text"] for part in blocks_of(content))


def count_claude(path: Path) -> Counts:
    calls = results = human = 0
    for record in records_of(path):
        content = record.get("message", {}).get("content")
        blocks = blocks_of(content)
        if record["type"] == "assistant":
            calls += sum(block["type"] == "tool_use" for block in blocks)
        elif record["type"] == "user":
            results += sum(block["type"] == "tool_result" for block in blocks)
            human += says(content)
    return Counts(calls, results, human)


def count_codex(path: Path) -> Counts:
    items = [r["payload"] for r in records_of(path) if r["type"] == "response_item"]
    kinds = [item["type"] for item in items]
    calls = sum(
        kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_call", "tool_search_call")
        for kind in kinds
    )
    results = sum(kind.endswith("_output") or kind == "tool_result" for kind in kinds)
    human = sum(item["type"] == "message" and item["role"] == "user" and says(item["content"]) for item in items)
    return Counts(calls, results, human)


def count_gemini(path: Path) -> Counts:
    if path.suffix == ".jsonl":
        messages = [record for record in records_of(path) if "type" in record]
    else:
        messages = json.loads(path.read_text())
        messages = messages.get("messages", messages.get("history"))
    calls = [call for message in messages for call in message.get("toolCalls", [])]
    human = [m for m in messages if m.get("type", m.get("role")) == "user" and says(m.get("content", m.get("parts")))]
    return Counts(len(calls), sum(bool(call.get("result")) for call in calls), len(human))


def count_pi(path: Path) -> Counts:
    if path.suffix == ".json":
        messages = [json.loads(path.read_text())]
    else:
        messages = [record["message"] for record in records_of(path) if record["type"] == "message"]
    blocks = [block for message in messages for block in blocks_of(message.get("content"))]
    roles = [message["role"] for message in messages]
    return Counts(
        sum(block.get("type") == "toolCall" for block in blocks),
        roles.count("toolResult"),
        roles.count("user") + roles.count("bashExecution"),
    )


def count_chat(messages: list[dict[str, Any]]) -> Counts:
    calls = sum(len(message.get("tool_calls") or []) for message in messages)
    calls += sum(b.get("type") in ("tool_use", "tool_call") for m in messages for b in blocks_of(m.get("content")))
    results = sum(message.get("role") == "tool" for message in messages)
    results += sum(
        b.get("type") in ("tool_result", "tool-result") for m in messages for b in blocks_of(m.get("content"))
    )
    human = sum(message.get("role") == "user" and says(message.get("content")) for message in messages)
    return Counts(calls, results, human)


def count_lines(path: Path) -> Counts:
    """A message a line, in the several spellings of that."""
    records = records_of(path)
    messages = [
        {**record, "content": record["message"]["content"]} if isinstance(record.get("message"), dict)
        else {**record, "content": record.get("content", record.get("message"))}
        for record in records
    ]  # fmt: skip
    counted = count_chat([message for message in messages if "role" in message])
    kinds = [record.get("type") for record in records]
    return Counts(
        counted.calls + kinds.count("tool_call") + kinds.count("function_call"),
        counted.results + kinds.count("tool_result") + kinds.count("function_result"),
        counted.human,
    )


def count_messages(path: Path) -> Counts:
    return count_chat(json.loads(path.read_text())["messages"])


def count_part(path: Path) -> Counts:
    part = json.loads(path.read_text())
    is_tool = part.get("type") == "tool"
    return Counts(int(is_tool), int(is_tool and part["state"]["status"] in ("completed", "success")), 0)


EXPECTED: list[tuple[str, str, Callable[[Path], Counts]]] = [
    ("claude-code/*.jsonl", "claude-code", count_claude),
    ("agent-sessions-multi/stage0/agents/claude/**/*.jsonl", "claude-code", count_claude),
    ("agent-sessions-multi/codex_052_raw.jsonl", "codex", count_codex),
    ("agent-sessions-multi/stage0/agents/codex/large.jsonl", "codex", count_codex),
    ("agent-sessions-multi/stage0/agents/codex/small.jsonl", "codex", count_codex),
    ("agent-sessions-multi/stage0/agents/codex/schema_drift.jsonl", "chat-records", count_lines),
    ("agent-sessions-multi/session_*.jsonl", "chat-records", count_lines),
    ("agent-sessions-multi/stage0/agents/cursor/**/*.jsonl", "cursor", count_lines),
    ("agent-sessions-multi/stage0/agents/gemini/*", "gemini-cli", count_gemini),
    ("agent-sessions-multi/stage0/agents/hermes/*.json", "hermes", count_messages),
    ("agent-sessions-multi/stage0/agents/openclaw/*.jsonl", "pi", count_pi),
    ("agent-sessions-multi/stage0/agents/pi/*.jsonl", "pi", count_pi),
    ("agent-sessions-multi/stage0/agents/opencode/*/part/**/*.json", "opencode", count_part),
    ("cline/*compaction*.json", "cline", count_messages),
    ("kimi/**/context.jsonl", "kimi-cli", count_lines),
    ("mistral/*.json", "", count_messages),
    ("pi/*", "pi", count_pi),
]
"""patterns of files, the format of each (empty: any), and how to count what it holds"""

RECOGNISED = {
    "agent-sessions-multi/stage0/agents/copilot/**/*.jsonl": {"copilot-cli"},
    "agent-sessions-multi/stage0/agents/droid/*.jsonl": {"droid"},
    "agent-sessions-multi/stage0/agents/grok/**/*.jsonl": {"grok-cli"},
    "agent-sessions-multi/stage0/agents/qwen/*.jsonl": {"qwen-code"},
    "kimi/**/wire.jsonl": {"kimi-code"},
    "clients/*.jsonl": {"anthropic", "openai-chat", "openai-responses", "gemini"},
}
"""patterns of files whose content is compared in the tests of their readers, and the formats that they are in"""

SEVERAL = ("openai-chat-tau-bench/historical*.json", "provider-exchanges/*.jsonl", "opencode-recordings/*.json")
"""files that hold many requests"""


def expected() -> Iterator[tuple[Path, str, Callable[[Path], Counts]]]:
    for pattern, name, count in EXPECTED:
        for path in sorted(SAMPLES.glob(pattern)):
            if path.is_file():
                yield path, name, count


def counted(document: Document) -> Counts:
    blocks = [(entry, block) for entry in document.entries for block in entry.blocks]
    return Counts(
        sum(isinstance(block, ToolCall) for _, block in blocks),
        sum(isinstance(block, ToolResponse) for _, block in blocks),
        sum(
            entry.speaker is Speaker.HUMAN
            and entry.authority is Authority.PERSON
            and any(isinstance(block, Text) and block.text for block in entry.blocks)
            for entry in document.entries
        ),
    )


def label(value: object) -> str:
    return str(value.relative_to(SAMPLES)) if isinstance(value, Path) else ""


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "name", "count"), list(expected()), ids=label)
def test_a_sample_is_read_whole(path: Path, name: str, count: Callable[[Path], Counts]) -> None:
    (document,) = read_all(path)
    assert not name or document.format == name
    assert counted(document) == count(path)
    assert len(document.places) == len(document.entries)


def test_every_other_sample_is_refused_as_an_unknown_format() -> None:
    known = {path for path, _, _ in expected()}
    several = {path for pattern in SEVERAL for path in SAMPLES.glob(pattern)}
    recognised = {path: names for pattern, names in RECOGNISED.items() for path in SAMPLES.glob(pattern)}
    wrong: list[str] = []
    for path in sorted(SAMPLES.rglob("*")):
        if path in known or path in several or not path.is_file():
            continue
        try:
            found = read_all(path)
            if found[0].format not in recognised.get(path, ()):
                wrong.append(f"{label(path)} was read as {found[0].format}")
        except FormatError as error:
            is_clear = "unknown format" in error.message or "the file is empty" in error.message
            if not is_clear or "\n" in error.message:
                wrong.append(f"{label(path)}: {error.message}")
    assert wrong == []


def test_runs_in_a_list_are_read_one_by_one() -> None:
    for path in SAMPLES.glob("openai-chat-tau-bench/historical*.json"):
        runs = json.loads(path.read_text())
        documents = read_all(path)
        assert [counted(document) for document in documents] == [count_chat(run["traj"]) for run in runs]
        assert all(call.is_settled for document in documents for call in document.conversation().ledger.calls.values())


def test_recorded_exchanges_are_read_one_by_one() -> None:
    path = SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl"
    bodies = [json.loads(line) for line in path.read_text().splitlines()]
    documents = read_all(path)
    assert len(documents) == len(bodies)
    read = [document for document in documents if document.entries]
    foreign = [
        body
        for body in bodies
        if "inferenceConfig" in body["request"] or ("toolConfig" in body["request"] and "messages" in body["request"])
    ]
    assert len(read) >= len(bodies) - len(foreign) - 1
    for document in documents:
        if not document.entries:
            assert document.notes


# --- carrying ---------------------------------------------------------------------------------------------------------


def carried() -> Iterator[Path]:
    yield from (path for path, _, _ in expected())
    for pattern in (*SEVERAL, *RECOGNISED):
        yield from sorted(SAMPLES.glob(pattern))


@pytest.mark.parametrize("path", list(carried()), ids=label)
def test_a_sample_can_be_carried_to_every_target(path: Path) -> None:
    try:
        documents = read_all(path)
    except FormatError:
        assert "bedrock" in path.name
        return
    for document in documents[:: max(1, len(documents) // 40)]:
        # A result that names neither its call nor its tool is quoted.
        calls = document.conversation().ledger.calls.values()
        settled = [call for call in calls if call.is_settled and call.name]
        for target in WIRE_PROVIDERS:
            if not document.entries:
                with pytest.raises(FormatError, match="nothing that could be sent"):
                    write(document, target)
                continue
            written = write(document, target)
            assert written.report is not None
            aim = resolve(written.report.route)
            found = dialect_parts(aim.dialect).check(json.loads(written.data), aim)
            refused = [item for item in found if item.severity is Severity.REFUSED]
            assert refused == [], f"{document.name} for {target}"
            emitted = written.report.emitted
            assert len([call for call in emitted if call.completion != "synthetic"]) == len(settled)


def test_the_open_calls_of_the_pi_session_are_found_and_closed() -> None:
    paths = sorted((SAMPLES / "pi").glob("*.jsonl"))
    assert paths
    for path in paths:
        (document,) = read_all(path)
        counts = count_pi(path)
        calls = document.conversation().ledger.calls.values()
        is_open = [call for call in calls if not call.is_settled]
        assert len(is_open) == counts.calls - counts.results
        for target in ("anthropic", "mistral", "openai-responses"):
            report = write(document, target).report
            assert report is not None
            assert {call.call_id for call in report.synthetic} == {call.id for call in is_open}
            assert len(report.emitted) == counts.calls


@pytest.mark.parametrize("target", ["claude-code", "codex"])
def test_a_sample_becomes_a_session_of_another_agent_and_comes_back_with_its_pairs(target: str) -> None:
    other = "codex" if target == "claude-code" else "claude-code"
    for path, _, _ in expected():
        for document in read_all(path):
            if not document.entries:
                continue
            first = read_all(write(document, target).data)[0]
            second = read_all(write(first, other).data)[0]
            back = read_all(write(second, target).data)[0]
            pairs = _pairs(document)
            for other_pairs in (_pairs(first), _pairs(second), _pairs(back)):
                assert [arguments for arguments, _ in other_pairs] == [arguments for arguments, _ in pairs], label(path)
                for (_, text), (_, wanted) in zip(other_pairs, pairs, strict=True):
                    # What a session cannot hold of a result (an image without its data) is named behind its text.
                    assert (text is None) == (wanted is None)
                    assert text is None or text.startswith(wanted or "")


def _pairs(document: Document) -> list[tuple[Any, str | None]]:
    """Every call with its arguments and what a model reads as its result, None for one that is open."""
    talk = document.conversation()
    view = talk.view()
    view.refresh()
    return [
        (call.arguments, completion_text(done) if done.is_real else None)
        for unit in view.units()
        if isinstance(unit, Exchange)
        for call, done in zip(unit.calls, unit.completions, strict=True)
    ]


def test_mending_a_sample_twice_is_mending_it_once() -> None:
    for path, _, _ in expected():
        for document in read_all(path):
            if document.original is None:
                continue
            once = mend(document, force=True)
            again = mend(read_all(once.data)[0])
            assert (again.data, again.changes) == (once.data, []), label(path)
            if not once.changes:
                assert once.data == path.read_bytes()
