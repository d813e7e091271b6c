"""Real files: what its own client takes is left as it is, byte for byte; what is mended lacks nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from legato.errors import FormatError, RepairRefused
from legato.formats import FORMATS, Document, lint_document, mend, read, read_all
from legato.formats.findings import refused

SHARED = Path(__file__).resolve().parents[3] / "shared"
FINDINGS = SHARED / "findings" / "files"
PLACES = [path for path in (SHARED / "samples", FINDINGS) if path.is_dir()]
MOST_BODIES = 40
"""request bodies that are tried out of each file of them"""

pytestmark = pytest.mark.skipif(not PLACES, reason="the sample files are not here")


def files() -> Iterator[Path]:
    for place in PLACES:
        yield from sorted(path for path in place.rglob("*") if path.is_file() and "LICENSES" not in path.parts)


def bodies() -> Iterator[tuple[str, bytes]]:
    """Requests out of the files that hold many, a few of each."""
    for path in files():
        if path.suffix != ".jsonl" or path.parent.name not in ("clients", "provider-exchanges"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number in range(0, len(lines), max(1, len(lines) // MOST_BODIES)):
            record: Any = json.loads(lines[number])
            body = record.get("body") or record.get("request")
            if isinstance(body, dict):
                yield f"{path.name} line {number + 1}", json.dumps(body, ensure_ascii=False).encode()


def mendable() -> Iterator[tuple[str, bytes, Document]]:
    """Everything that repair can be asked about: its name, its bytes and what it reads as."""
    for path in files():
        data = path.read_bytes()
        try:
            documents = read_all(data)
        except FormatError:
            continue
        if FORMATS[documents[0].format].is_written and documents[0].original is not None:
            yield str(path.relative_to(SHARED)), data, documents[0]
    for name, data in bodies():
        try:
            yield name, data, read(data)
        except FormatError:
            continue


def test_what_lints_clean_is_left_as_it_is_and_what_is_mended_lints_clean() -> None:
    clean = mended = withheld = 0
    for name, data, document in mendable():
        if not refused(lint_document(document)):
            once = mend(document)
            assert (once.data, once.changes, once.losses) == (data, [], []), name
            clean += 1
            continue
        try:
            once = mend(document)
        except RepairRefused:
            withheld += 1
            continue
        assert refused(lint_document(read_all(once.data, format=document.format)[0])) == [], name
        assert (once.data != data) is bool(once.changes), name
        mended += 1
    assert clean > 50
    assert mended
    assert withheld


EXCHANGES = SHARED / "samples" / "provider-exchanges" / "accepted_tool_turns.jsonl"
_RESULTS = frozenset({"tool_result", "tool-result", "function_call_output", "custom_tool_call_output"})
_RESULT_FIELDS = ("functionResponse", "function_response", "toolResult")


def is_result(item: Any) -> bool:
    return item.get("role") == "tool" or item.get("type") in _RESULTS or any(name in item for name in _RESULT_FIELDS)


def without_one_result(body: Any, field: str) -> Iterator[Any]:
    """The body without one of its results, for each of them."""
    for index, message in enumerate(body[field]):
        parts = next((name for name in ("content", "parts") if isinstance(message.get(name), list)), "")
        if is_result(message):
            yield {**body, field: [*body[field][:index], *body[field][index + 1 :]]}
            continue
        for number, part in enumerate(message[parts] if parts else []):
            if is_result(part):
                left = [*message[parts][:number], *message[parts][number + 1 :]]
                kept = [{**message, parts: left}] if left else []
                yield {**body, field: [*body[field][:index], *kept, *body[field][index + 1 :]]}


def pieces(messages: Any) -> Counter[str]:
    """Every part of the messages with the role of its message, wherever it is."""
    found: Counter[str] = Counter()
    for message in messages:
        name = next((name for name in ("content", "parts") if isinstance(message.get(name), list)), "")
        split = message[name] if name and message.get("role") != "tool" else [message]
        found.update(json.dumps([message.get("role"), part], sort_keys=True) for part in split)
    return found


@pytest.mark.skipif(not EXCHANGES.is_file(), reason="the recorded requests are not here")
def test_an_accepted_request_without_one_result_gets_one_and_is_otherwise_what_it_was() -> None:
    mended = withheld = 0
    for number, line in enumerate(EXCHANGES.read_text(encoding="utf-8").splitlines()):
        request = json.loads(line)["request"]
        field = next((name for name in ("messages", "contents", "input") if isinstance(request.get(name), list)), "")
        for body in without_one_result(request, field) if field else ():
            left_out = {"max_tokens"} - request.keys()  # tokens were counted for one, which takes no limit
            try:
                value = json.loads(mend(read(json.dumps(body).encode())).data)
            except RepairRefused:
                withheld += 1
                continue
            except FormatError:
                continue  # nothing of it is left that shows what it is
            before, after = pieces(body[field]), pieces(value[field])
            assert (before - after, (after - before).total()) == (Counter(), 1), number + 1
            around = {name for name in value if name != field and value[name] != body.get(name)}
            assert around <= left_out, number + 1
            mended += 1
    assert mended > 300
    assert withheld == 2, "two calls share an id there, and whose the other result is, nothing tells"


needs_findings = pytest.mark.skipif(not FINDINGS.is_dir(), reason="the files with findings are not here")


@needs_findings
@pytest.mark.parametrize(
    "name",
    ["claude-structured-output.jsonl", "codex-interrupted.jsonl", "or.json", "mt.json", "gemini-uppercase-schema.json"],
)
def test_a_file_that_its_own_client_takes_is_left_as_it_is(name: str) -> None:
    data = (FINDINGS / name).read_bytes()
    document = read(data)
    assert refused(lint_document(document)) == []
    assert (mend(document).data, mend(document).changes) == (data, [])


@needs_findings
def test_a_file_that_would_lose_something_is_withheld() -> None:
    with pytest.raises(RepairRefused) as caught:
        mend(read(FINDINGS / "t1.json"))
    assert caught.value.losses
    assert caught.value.changes


@needs_findings
def test_cache_marks_citations_and_contexts_stay_where_a_result_is_put_in() -> None:
    data = (FINDINGS / "cc.json").read_bytes()
    mended = mend(read(data))
    [splice] = mended.splices
    assert splice.start == splice.end
    assert mended.data == data[: splice.start] + splice.data + data[splice.start :]


@needs_findings
@pytest.mark.parametrize(("name", "field"), [("sys.json", "system"), ("sys3.json", "systemInstruction")])
def test_a_system_message_is_kept_as_an_instruction(name: str, field: str) -> None:
    assert "Be brief." in json.dumps(json.loads(mend(read(FINDINGS / name)).data)[field])
