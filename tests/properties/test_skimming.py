"""A session that is only skimmed is judged as if it had been read: with the same findings, or by reading it after all.

Sessions are put together of turns as Claude Code and Codex write them, healthy at first. Then records are dropped,
repeated, swapped, rehung or given other blocks, and bytes are overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import KINDS, Healthy, damage
from legato.errors import LegatoError
from legato.files import lint
from legato.formats import FORMATS, lint_document, read_all
from legato.formats.reading import read_to_judge
from legato.model import ClosureReason, closure_text
from legato.wire.phrases import ERROR_MARK
from session_files import CLAUDE, answered, codex_message, gave, item, jsonl, said, text, use

Record: TypeAlias = dict[str, Any]

TARGETS = ("anthropic", "gemini", "mistral")
TURNS = st.lists(st.sampled_from(["ask", "call", "parallel", "lines", "think", "beside", "attach"]), max_size=6)
THOUGHT = {"type": "thinking", "thinking": "I look", "signature": "c2ln"}
SHOWN = {"type": "attachment", "attachment": {"type": "nested_memory", "path": "m", "content": {"content": "remember"}}}
CLOSURE = closure_text(ClosureReason.INTERRUPTED)
IDS = ("not plain", "", "hist_tool_c0", "call_c0", "c1", "c3", "x" * 65)
"""what the id of a call may be instead"""
ODD_USES: list[Record] = [
    {"input": {"raw_arguments": '{"a'}},
    {"input": '{"a'},
    {"input": None},
    {"input": [1]},
    {"input": {"edits": [{"old": "a"}]}},
    {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}},
    {"id": 7},
    {"name": None},
]
ODD_RESULTS: list[Record] = [
    {"content": CLOSURE},
    {"content": [text("a")]},
    {"content": None},
    {"is_error": True},
    {"tool_use_id": "c9"},
    {"tool_use_id": 7},
    {"type": "function_call_output", "call_id": "c0"},
]
ODD_BLOCKS: list[Record] = [
    text("  "),
    text(""),
    {"text": "no type"},
    THOUGHT,
    {"type": "thinking", "thinking": ""},
    {"type": "redacted_thinking", "data": "eA=="},
    {**text("cited"), "citations": [{"type": "x"}]},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}},
    {"type": "image", "source": {"type": "file"}},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
    use("c0"),
    use("not plain"),
    use(""),
    use("hist_tool_c0"),
    gave("c0"),
    gave("c1", [text("a")]),
    gave("c1", CLOSURE),
    gave("c9", is_error=True),
    gave(""),
    {"type": "tool_result", "tool_use_id": 7, "content": "x"},
]
ODD_FIELDS: list[Record] = [
    {"isSidechain": True},
    {"isCompactSummary": True},
    {"isCompactSummary": True, "parentUuid": "lost"},
    {"isApiErrorMessage": True},
    {"parentUuid": None},
    {"parentUuid": "r0"},
    {"parentUuid": "lost"},
    {"uuid": "r1"},
    {"uuid": ""},
    {"type": "system", "subtype": "local_command"},
    {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": "r1"},
    {"type": "last-prompt", "leafUuid": "r1"},
    {"type": "news"},
    SHOWN,
    {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and this"}},
    {"message": {"role": "user", "content": ""}},
    {"message": {"role": "user", "content": "\n"}},
    {"message": {"role": "user", "content": "[Request interrupted by user]"}},
    {"message": {"role": "user", "content": {"type": "text", "text": "alone"}}},
]
ODD_MESSAGES: list[Record] = [
    {"id": "m0"}, {"id": ""}, {"id": 5}, {"model": "<synthetic>"}, {"model": ""}, {"model": "gpt-4o"},
    {"stop_reason": "refusal"}, {"stop_reason": "max_tokens"}, {"content": "only words"}, {"content": []},
    {"id": "", "content": [THOUGHT]}, {"id": "m99", "content": [THOUGHT]},
]  # fmt: skip


def session(turns: list[str]) -> list[Record]:
    """A session in which nothing is wrong."""
    records: list[Record] = []

    def add(record: Record) -> None:
        records.append(
            {**record, "uuid": f"r{len(records)}", "parentUuid": f"r{len(records) - 1}" if records else None}
        )

    add(said("", None, "begin"))
    for number, kind in enumerate(turns):
        one, two, key = f"c{2 * number}", f"c{2 * number + 1}", f"m{number}"
        match kind:
            case "call":
                add(answered("", None, key, text("I call."), use(one, path="x")))
                add(said("", None, [gave(one)]))
            case "parallel":
                add(answered("", None, key, use(one), use(two)))
                add(said("", None, [gave(two), gave(one), text("go on")]))
            case "lines":
                add(answered("", None, key, THOUGHT))
                add(answered("", None, key, use(one)))
                add(said("", None, [gave(one)]))
                add(answered("", None, key, use(two)))
                add(said("", None, [gave(two)]))
            case "think":
                add(answered("", None, key, THOUGHT, text("I thought.")))
            case "beside":  # as the program writes parallel calls: each result is the child of its own call
                add(answered("", None, key, use(one)))
                add(answered("", None, key, use(two)))
                add(said("", None, [gave(one)]))
                records[-1]["parentUuid"] = f"r{len(records) - 3}"
                add(said("", None, [gave(two)]))
                records[-1]["parentUuid"] = f"r{len(records) - 3}"
            case "attach":
                add(said("", None, "see the memory"))
                add(SHOWN)
            case _:
                add(said("", None, f"question {number}"))
                add(answered("", None, key, text("Answer."), stop_reason="end_turn"))
    return records


def blocks_of(record: Record) -> list[Record]:
    content = record.get("message", {}).get("content")
    return content if isinstance(content, list) else []


def with_blocks(record: Record, blocks: list[Record]) -> Record:
    return {**record, "message": {**record["message"], "content": blocks}}


def odd_forms(block: Record) -> list[Record]:
    """Other forms that a call or a result may have."""
    forms = {"tool_use": ODD_USES, "tool_result": ODD_RESULTS}.get(block.get("type", ""), [])
    return [{**block, **form} for form in forms]


def change(records: list[Record], draw: st.DrawFn) -> None:
    """Do something to one record."""
    at = draw(st.integers(0, len(records) - 1))
    record = records[at]
    match draw(st.sampled_from(["drop", "repeat", "swap", "field", "message", "block", "id"])):
        case "drop" if len(records) > 1:
            del records[at]
        case "repeat":
            records.insert(at, record)
        case "swap":
            other = draw(st.integers(0, len(records) - 1))
            records[at], records[other] = records[other], record
        case "message" if record.get("type") == "assistant":
            records[at] = {**record, "message": {**record["message"], **draw(st.sampled_from(ODD_MESSAGES))}}
        case "block" if blocks := blocks_of(record):
            place = draw(st.integers(0, len(blocks) - 1))
            odd = draw(st.sampled_from([*ODD_BLOCKS, *odd_forms(blocks[place])]))
            after = draw(st.integers(0, 1))
            records[at] = with_blocks(record, [*blocks[: place + after], odd, *blocks[place + 1 :]])
        case "id":
            one, other = draw(st.sampled_from(["c0", "c1", "c2", "c4"])), draw(st.sampled_from(IDS))
            records[:] = json.loads(json.dumps(records).replace(json.dumps(one), json.dumps(other)))
        case _:
            records[at] = {**record, **draw(st.sampled_from(ODD_FIELDS))}


@st.composite
def sessions(draw: st.DrawFn) -> bytes:
    """A session to which something was done, or nothing."""
    records = session(draw(TURNS))
    for _ in range(draw(st.integers(0, 3))):
        change(records, draw)
    data = jsonl(*records)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1]))):
        at = draw(st.integers(0, len(data)))
        junk = draw(st.sampled_from([b"\xff", b"\0", b"\n", b'"', b"\xef\xbb\xbf", b" ", b"\x0b", b"1e999", b"{}\n"]))
        data = data[:at] + junk + data[at + draw(st.integers(0, 2)) :]
    return data


def compare(data: bytes, name: str = "claude-code") -> None:
    """Judge a session both ways, for its own provider and for others."""
    try:
        whole = read_all(data, format=name)
    except LegatoError as error:
        with pytest.raises(type(error)):
            read_to_judge(data, format=name)
        return
    judged = read_to_judge(data, format=name)
    if any(document.is_skimmed for document in judged):  # else both were read in the same way
        for targets in ((), TARGETS):
            found = [lint_document(document, *targets) for document in judged]
            assert found == [lint_document(document, *targets) for document in whole]


@given(sessions())
def test_a_session_is_judged_the_same_whether_it_is_skimmed_or_read(data: bytes) -> None:
    compare(data)


EVERY_KIND = session(["call", "lines", "think", "attach", "beside", "ask", "parallel", "ask"])


@pytest.mark.parametrize("at", range(len(EVERY_KIND)))
def test_whatever_happens_to_a_record_the_session_is_judged_the_same(at: int) -> None:
    for changed in variants(EVERY_KIND[at]):
        compare(jsonl(*EVERY_KIND[:at], *changed, *EVERY_KIND[at + 1 :]))
    for other in (at + 1, at + 2):
        moved = [*EVERY_KIND[:at], *EVERY_KIND[at + 1 : other + 1], EVERY_KIND[at], *EVERY_KIND[other + 1 :]]
        compare(jsonl(*moved))


def variants(record: Record) -> Iterator[list[Record]]:
    """What may be in the place of `record`."""
    yield []
    yield [record, record]
    for fields in ODD_FIELDS:
        yield [{**record, **fields}]
    yield [{**SHOWN, "uuid": "shown", "parentUuid": record["parentUuid"]}, {**record, "parentUuid": "shown"}]
    message = record.get("message", {})
    if record["type"] == "assistant":
        for fields in ODD_MESSAGES:
            yield [{**record, "message": {**message, **fields}}]
    blocks = blocks_of(record)
    for number, block in enumerate(blocks):
        for odd in odd_forms(block):
            yield [with_blocks(record, [*blocks[:number], odd, *blocks[number + 1 :]])]
    for odd in ODD_BLOCKS if blocks else []:
        for content in ([odd, *blocks], [*blocks, odd], [odd]):
            yield [with_blocks(record, content)]


@pytest.mark.parametrize("other", IDS)
def test_whatever_the_id_of_a_call_is_the_session_is_judged_the_same(other: str) -> None:
    for wire_id in ("c0", "c2", "c8", "c12"):
        compare(jsonl(*EVERY_KIND).replace(f'"{wire_id}"'.encode(), f'"{other}"'.encode()))


def test_an_answer_without_an_id_in_which_nothing_can_be_seen_is_told() -> None:
    records = said("r0", None, "begin"), answered("r1", "r0", "", THOUGHT), answered("r2", "r1", "", text("Done."))

    compare(jsonl(*records))

    assert [finding.rule for finding in lint(jsonl(*records)).findings] == ["session/empty-answer"]


def test_a_call_that_breaks_off_and_was_closed_is_told() -> None:
    broken = answered("r1", "r0", "m0", text("I call."), {**use("c0"), **ODD_USES[0]})
    data = jsonl(said("r0", None, "begin"), broken, said("r2", "r1", [gave("c0", CLOSURE)]))

    compare(data)

    assert [finding.rule for finding in lint(data).findings] == ["session/unfinished-call"]


@given(TURNS, st.sampled_from(KINDS), st.integers(0, 2**32))
def test_a_damaged_session_is_judged_the_same(turns: list[str], kind: str, seed: int) -> None:
    data = jsonl(*session(turns), said("", None, "end"))
    records = [json.loads(line) for line in data.splitlines()]
    compare(damage(Random(seed), Healthy("claude-code", data, records, ""), kind).data)


@given(TURNS)
def test_a_session_without_a_fault_is_only_skimmed(turns: list[str]) -> None:
    [document] = read_to_judge(jsonl(*session(turns)))

    assert (document.is_skimmed, document.entries, document.is_empty) == (True, [], False)
    assert lint(jsonl(*session(turns))).findings == ()


# --- Codex ------------------------------------------------------------------------------------------------------------

ROLLOUT: list[Record] = [
    {"type": "session_meta", "payload": {"id": "x", "cwd": "/work", "base_instructions": {"text": "Be careful."}}},
    {"type": "turn_context", "payload": {"model": "gpt-5.1-codex"}},
    codex_message("developer", "rules"),
    codex_message("user", "begin"),
    item("reasoning", summary=[{"type": "summary_text", "text": "I look"}], encrypted_content="eA=="),
    codex_message("assistant", "I call."),
    item("function_call", name="shell", arguments='{"a": 1}', call_id="c0"),
    item("function_call", name="shell", arguments="{}", call_id="c1"),
    item("function_call_output", call_id="c1", output="ok"),
    item("function_call_output", call_id="c0", output="ok"),
    {"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 5}}}},
    item("function_call", name="shell", arguments="{}", call_id="c2"),
    item("function_call_output", call_id="c2", output='{"output": "ok"}'),
    item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c3"),
    item("custom_tool_call_output", call_id="c3", output="done"),
    codex_message("assistant", "Done."),
    codex_message("user", "thanks"),
    codex_message("assistant", "You are welcome."),
]
ODD_PAYLOADS: list[Record] = [
    {"call_id": "c0"}, {"call_id": "not plain"}, {"call_id": ""}, {"call_id": 7}, {"call_id": "", "id": "c1"},
    {"name": ""}, {"arguments": '{"a'}, {"arguments": {"a": 1}}, {"arguments": None}, {"status": "incomplete"},
    {"caller": {"type": "program"}}, {"namespace": "mcp"}, {"output": CLOSURE}, {"output": ERROR_MARK + CLOSURE},
    {"output": [{"type": "input_text", "text": "a"}]}, {"output": {"content": "no", "success": False}}, {"output": None},
    {"role": "system"}, {"role": "assistant"}, {"role": "user"}, {"role": "tool"}, {"content": "alone"}, {"content": []},
    {"content": [{"type": "news", "text": "a"}]}, {"content": [{"type": "input_text", "text": " "}]}, {"content": [{"type": "input_image", "image_url": "x"}]},
    {"content": [{"type": "output_text", "text": "a"}, {"type": "function_call", "call_id": "c8", "name": "n"}]},
    {"type": "local_shell_call", "action": {}}, {"type": "web_search_call"}, {"type": "reasoning", "summary": []},
    {"type": "function_call_output"}, {"type": "compaction"}, {"type": "news"}, {"type": None},
]  # fmt: skip
ODD_LINES: list[Record] = [
    {"type": "compacted", "payload": {"message": "so far"}},
    {"type": "event_msg", "payload": {"type": "turn_aborted"}},
    {"type": "turn_context", "payload": {"model": ""}},
    {"type": "response_item", "payload": None},
    {"type": "news", "payload": {}},
]


@pytest.mark.parametrize("at", range(len(ROLLOUT)))
def test_whatever_happens_to_a_line_of_a_rollout_it_is_judged_the_same(at: int) -> None:
    line = ROLLOUT[at]
    changed = [[], [line, line], *([odd] for odd in ODD_LINES), *([odd, line] for odd in ODD_LINES)]
    changed += [[{**line, "payload": {**line["payload"], **odd}}] for odd in ODD_PAYLOADS]
    for lines in changed:
        compare(jsonl(*ROLLOUT[:at], *lines, *ROLLOUT[at + 1 :]), "codex")
    for other in (at + 1, at + 2, at + 3):
        moved = [*ROLLOUT[:at], *ROLLOUT[at + 1 : other + 1], line, *ROLLOUT[other + 1 :]]
        compare(jsonl(*moved), "codex")


@given(st.data(), st.lists(st.integers(0, len(ROLLOUT) - 1), min_size=1, max_size=4))
def test_a_rollout_is_judged_the_same_whether_it_is_skimmed_or_read(source: st.DataObject, places: list[int]) -> None:
    lines = [*ROLLOUT]
    for at in places:
        odd = source.draw(st.sampled_from([*ODD_LINES, *ODD_PAYLOADS]))
        lines[at] = odd if "payload" in odd else {**lines[at], "payload": {**(lines[at]["payload"] or {}), **odd}}
    compare(jsonl(*lines), "codex")


@pytest.mark.parametrize("output", [CLOSURE, ERROR_MARK + CLOSURE])
def test_a_call_of_a_rollout_that_breaks_off_and_was_closed_is_told(output: str) -> None:
    call = item("function_call", name="shell", arguments='{"a', call_id="c0")
    data = jsonl(*ROLLOUT[:6], call, item("function_call_output", call_id="c0", output=output))

    compare(data, "codex")

    assert [finding.rule for finding in lint(data).findings] == ["session/unfinished-call"]


def test_a_rollout_without_a_fault_is_only_skimmed() -> None:
    [skimmed], [read] = read_to_judge(jsonl(*ROLLOUT)), read_all(jsonl(*ROLLOUT))

    assert (skimmed.is_skimmed, skimmed.entries, skimmed.is_empty) == (True, [], False)
    assert (skimmed.model, skimmed.route, skimmed.system) == (read.model, read.route, read.system)
    assert lint(jsonl(*ROLLOUT)).findings == ()


def test_a_skimmed_document_knows_its_model_and_what_else_there_is_to_say() -> None:
    odd = jsonl({"type": "system", "subtype": "x", "uuid": "s", "parentUuid": "a4", "sessionId": "s1"})

    [skimmed] = read_to_judge(CLAUDE + odd)
    [read] = read_all(CLAUDE + odd)

    assert skimmed.is_skimmed
    assert (skimmed.model, skimmed.route, skimmed.notes) == (read.model, read.route, read.notes)


def test_what_can_be_skimmed_is_a_format_of_lines() -> None:
    assert [known.name for known in FORMATS.values() if known.skim is not None and not known.is_lines] == []
