"""Whatever happened to a session, its mended file is one that the agent's provider accepts, and mending ends there."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from legato.formats import Document, mend, read
from legato.model import ToolResponse
from legato.request import resolve
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from session_files import answered, codex_message, gave, item, jsonl, said, text, use

IDS = st.sampled_from(["t1", "t2", "t3", "t4", "bad id", ""])
EVENT = st.one_of(
    st.tuples(st.just("say"), st.text("ab", min_size=1, max_size=3)),
    st.tuples(st.just("call"), st.lists(IDS, min_size=1, max_size=3)),
    st.tuples(st.just("again"), st.lists(IDS, min_size=1, max_size=2)),
    st.tuples(st.just("result"), st.lists(IDS, min_size=1, max_size=3)),
    st.tuples(st.just("mixed"), st.lists(IDS, min_size=1, max_size=2)),
    st.tuples(st.just("answer"), st.text("xy", min_size=1, max_size=3)),
)
EVENTS = st.lists(EVENT, min_size=1, max_size=9)


def claude_session(events: list[tuple[str, Any]]) -> bytes:
    records: list[dict[str, Any]] = [said("r0", None, "begin")]
    answer = 0
    goes_on: set[str] | None = None
    """the calls of an answer that may still go on: nobody spoke since, and no result of another call came"""
    for number, (kind, what) in enumerate(events, 1):
        own, parent = f"r{number}", f"r{number - 1}"
        if kind == "again" and goes_on is not None:
            goes_on |= set(what)
        elif kind in ("call", "again"):
            answer += 1
            goes_on = set(what)
        elif kind != "result" or goes_on is None or not set(what) <= goes_on:
            answer += 1
            goes_on = None
        match kind:
            case "say":
                records.append(said(own, parent, what))
            case "call" | "again":
                uses = [use(wire_id, n=number) for wire_id in what]
                records.append(answered(own, parent, f"m{answer}", *uses))
            case "result":
                results = [gave(wire_id, f"{number}.{place}") for place, wire_id in enumerate(what)]
                records.append(said(own, parent, results))
            case "mixed":
                results = [gave(wire_id, f"{number}.{place}") for place, wire_id in enumerate(what)]
                records.append(said(own, parent, [text("before"), *results, text("after")]))
            case _:
                records.append(answered(own, parent, f"m{answer}", text(what)))
    return jsonl(*records)


def codex_session(events: list[tuple[str, Any]]) -> bytes:
    lines: list[dict[str, Any]] = [{"timestamp": "t", "type": "session_meta", "payload": {"id": "c", "cwd": "/"}}]
    for number, (kind, what) in enumerate(events):
        match kind:
            case "say":
                lines.append(codex_message("user", what))
            case "call" | "again":
                lines += [item("function_call", name="run", arguments="{}", call_id=wire_id) for wire_id in what]
            case "result" | "mixed":
                lines += [item("function_call_output", call_id=wire_id, output=f"{number}") for wire_id in what]
            case _:
                lines.append(codex_message("assistant", what))
    return jsonl(*lines)


def sound(data: bytes) -> Document:
    """The document of a mended file, after checking that mending it again changes nothing.

    Nothing speaks against it but that a call has several results that differ, only one of which can be its result, or
    that calls share an id and one of them has a result.
    """
    once = mend(read(data), force=True)
    known = ("the result of", "calls share the id")
    assert [loss for loss in once.losses if not any(words in loss.message for words in known)] == []
    document = read(once.data)
    again = mend(document)
    assert (again.data, again.changes) == (once.data, [])
    if not once.changes:
        assert once.data == data
    return document


def winners(document: Document) -> list[Any]:
    """What came of every call: the results that count."""
    found = [
        call.response
        for call in document.conversation().ledger.in_order
        if call.id in document.conversation().ledger.calls
    ]
    return sorted(str(response.result) for response in found if isinstance(response, ToolResponse) and response.result)


def refused(body: dict[str, Any], route: str) -> list[str]:
    target = resolve(route)
    found = dialect_parts(target.dialect).check(body, target)
    return [f"{violation.path}: {violation.message}" for violation in found if violation.severity is Severity.REFUSED]


def merged(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a session as the agent sends them: the lines of one answer are one message."""
    messages: list[dict[str, Any]] = []
    answers: dict[str, dict[str, Any]] = {}
    for record in records:
        message = record["message"]
        known = answers.get(message.get("id", ""))
        if known is not None:
            known["content"] = [*known["content"], *message["content"]]
            continue
        messages.append({"role": message["role"], "content": message["content"]})
        if "id" in message:
            answers[message["id"]] = messages[-1]
    return messages


@given(EVENTS)
def test_a_mended_claude_code_session_is_one_that_its_provider_accepts(events: list[tuple[str, Any]]) -> None:
    data = claude_session(events)
    document = sound(data)
    assert document.original is not None
    records = [json.loads(document.original.records[index].data) for index in dict.fromkeys(document.sources)]
    messages = merged(records)
    tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "tools": tools,
        "messages": [*messages, {"role": "user", "content": "end"}],
    }
    assert refused(body, "anthropic/claude-sonnet-4-5") == []


def completed(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items as Codex sends them: a call without an output gets one."""
    answered_ids = {item["call_id"] for item in items if item["type"] == "function_call_output"}
    sent: list[dict[str, Any]] = []
    for one in items:
        sent.append(one)
        if one["type"] == "function_call" and one["call_id"] not in answered_ids:
            sent.append({"type": "function_call_output", "call_id": one["call_id"], "output": "aborted"})
    return sent


# What stood between two answers belongs to the second, so the result of the first has to come there.
@example([("call", ["t2"]), ("result", ["t4"]), ("answer", "x"), ("call", ["t4"]), ("result", ["t2"])])
@given(EVENTS)
def test_a_mended_rollout_is_one_that_its_provider_accepts(events: list[tuple[str, Any]]) -> None:
    document = sound(codex_session(events))
    assert document.original is not None
    lines = [json.loads(record.data) for record in document.original.records]
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    body = {"model": "gpt-5.1", "store": False, "input": completed(items) or "nothing"}
    assert refused(body, "openai-responses/gpt-5.1") == []


@given(EVENTS)
def test_mending_keeps_every_result_that_counts(events: list[tuple[str, Any]]) -> None:
    for data in (claude_session(events), codex_session(events)):
        before, after = read(data), read(mend(read(data), force=True).data)
        lost = set(winners(before)) - set(winners(after))
        quoted = "".join(entry.text for entry in after.entries)
        assert {word for word in lost if word not in quoted} == set()


@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_of_a_claude_code_session_does_not_matter(
    events: list[tuple[str, Any]], random: Random
) -> None:
    data = claude_session(events)
    lines = data.splitlines(keepends=True)
    random.shuffle(lines)
    shuffled = b"".join(lines)
    assert read(shuffled).entries == read(data).entries
    once, other = mend(read(shuffled), force=True), mend(read(data), force=True)
    assert read(once.data).entries == read(other.data).entries
    assert bool(once.losses) is bool(other.losses)
