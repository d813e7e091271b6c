"""Mending: every call answered once, where it stands; what was right keeps its bytes; twice is once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.errors import FormatError
from legato.formats import Level, lint_document, mend, read
from legato.model import CLOSURE_TEXTS, ClosureReason, Speaker, ToolResponse
from legato.model.codec import dump_log
from legato.request import resolve
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from session_files import (
    CHAT,
    CLAUDE,
    CLINE,
    CODEX,
    answered,
    claude,
    codex_message,
    gave,
    item,
    jsonl,
    said,
    text,
    use,
    whole,
)

from histories import SOURCES, WRONG_SIDES

MISSING = CLOSURE_TEXTS[ClosureReason.MISSING_IN_IMPORT]


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def mended(data: bytes) -> list[dict[str, Any]]:
    """The records of the mended file, after checking what holds for every mending."""
    once = mend(read(data))
    assert once.changes, "the file was to be broken"
    twice = mend(read(once.data))
    assert (twice.data, twice.changes) == (once.data, [])
    return lines(once.data)


def chain(records: list[dict[str, Any]]) -> list[str]:
    """The live branch from the root to the last record, by uuid."""
    by_uuid = {record["uuid"]: record for record in records}
    found: list[str] = []
    at = records[-1]["uuid"]
    while at in by_uuid:
        found.append(at)
        at = by_uuid[at]["parentUuid"]
    return found[::-1]


def contents(records: list[dict[str, Any]]) -> list[Any]:
    return [record["message"]["content"] for record in records]


def changes(data: bytes) -> list[str]:
    return [str(change) for change in mend(read(data)).changes]


# --- Claude Code ------------------------------------------------------------------------------------------------------


def test_an_open_call_gets_a_result_that_says_there_is_none() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1", command="ls")),
        said("u2", "a1", "never mind", custom={"kept": True}),
    )
    records = mended(data)
    closing = {"type": "tool_result", "tool_use_id": "t1", "content": MISSING, "is_error": True}
    assert contents(records)[2] == [closing]
    assert (records[0], records[1]) == tuple(lines(data)[:2])
    assert records[3] == {**lines(data)[2], "parentUuid": records[2]["uuid"]}
    assert chain(records) == ["u1", "a1", records[2]["uuid"], "u2"]
    assert records[2]["sessionId"] == "s1"
    assert changes(data) == [
        "line 2: the call t1 of Bash had no result; one that says so was put in (missing-in-import)"
    ]


def test_calls_open_at_the_end_are_closed_there() -> None:
    data = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1"), use("t2")))
    records = mended(data)
    assert [block["tool_use_id"] for block in contents(records)[2]] == ["t1", "t2"]
    assert chain(records) == ["u1", "a1", records[2]["uuid"]]


def test_a_real_result_that_is_found_later_replaces_the_closure() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("r0", "a1", [gave("t1", MISSING, is_error=True)]),
        said("u2", "r0", "and?"),
        said("r1", "u2", [gave("t1", "real")]),
    )
    records = mended(data)
    assert contents(records)[2:] == [[gave("t1", "real")], "and?"]


def test_a_result_behind_other_words_is_moved_to_its_call_with_all_it_has() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("u2", "a1", "hurry"),
        said("r1", "u2", [gave("t1", "late")], toolUseResult={"stdout": "late"}),
        answered("a2", "r1", "m2", text("done")),
    )
    records = mended(data)
    assert contents(records)[2:4] == [[gave("t1", "late")], "hurry"]
    assert records[2]["toolUseResult"] == {"stdout": "late"}
    assert chain(records) == ["u1", "a1", "r1", "u2", "a2"]


def test_a_result_before_its_call_is_moved_behind_it() -> None:
    data = jsonl(
        said("u1", None, "go"),
        said("r1", "u1", [gave("t1", "early")]),
        answered("a1", "r1", "m1", use("t1")),
        answered("a2", "a1", "m2", text("done")),
    )
    records = mended(data)
    assert contents(records)[1:3] == [[use("t1")], [gave("t1", "early")]]
    assert chain(records) == ["u1", "a1", "r1", "a2"]


def test_a_result_in_a_message_with_words_is_taken_out_alone() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("u2", "a1", "hurry"),
        said("u3", "u2", [text("here"), gave("t1", "late"), text("it is")]),
    )
    records = mended(data)
    assert contents(records)[2:] == [[gave("t1", "late")], "hurry", [text("here"), text("it is")]]


def test_results_behind_words_in_one_message_come_first() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("u2", "a1", [text("here"), gave("t1", "ok")]),
    )
    records = mended(data)
    assert contents(records)[2] == [gave("t1", "ok"), text("here")]
    assert changes(data) == ["line 3: results stood behind other words; they were put first"]


def test_missing_results_of_a_message_with_words_come_before_it() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1"), use("t2")),
        said("u2", "a1", [gave("t2", "two"), text("go on")]),
    )
    records = mended(data)
    assert [block.get("tool_use_id") for content in contents(records)[2:] for block in content] == ["t1", "t2", None]


def test_repeated_results_and_calls_are_left_out() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1", command="x")),
        answered("a2", "a1", "m1", use("t1", command="x")),
        answered("a3", "a2", "m1", text("words"), use("t1", command="x")),
        said("r1", "a3", [gave("t1", "one"), gave("t1", "one")]),
        said("r2", "r1", [gave("t1", "one")], toolUseResult={"stdout": "one"}),
        {**claude("system", "s1", "r2", {}, subtype="info")},
        answered("a4", "s1", "m2", text("done")),
    )
    records = mended(data)
    assert [record["uuid"] for record in records] == ["u1", "a1", "a3", "r1", "s1", "a4"]
    assert contents(records[:4])[2:] == [[text("words")], [gave("t1", "one")]]
    assert chain(records) == ["u1", "a1", "a3", "r1", "s1", "a4"]


def test_the_child_of_a_torn_record_is_that_of_the_one_before_it() -> None:
    records = [
        said("u1", None, "one"),
        answered("a1", "u1", "m1", text("two")),
        said("u2", "a1", "three"),
        answered("a2", "u2", "m2", text("four")),
        said("u3", "a2", "five"),
    ]
    before = [json.dumps(record).encode() + b"\n" for record in records]
    torn = mend(read(b"".join([*before[:2], before[2][:50] + b"\n", *before[3:]])))
    assert chain(lines(torn.data)) == ["u1", "a1", "a2", "u3"]
    assert torn.data.splitlines(keepends=True)[:2] == before[:2]
    assert torn.data.splitlines(keepends=True)[3:] == before[4:]
    assert str(torn.changes[-1]).startswith("line 4: the record named a parent that is not in the file")
    assert mend(read(torn.data)).changes == []


def test_a_parent_that_is_not_in_the_file_is_none_of_ours_where_nothing_is_damaged() -> None:
    data = jsonl(said("u1", "elsewhere", "one"), answered("a1", "u1", "m1", text("two")), said("u2", "gone", "three"))
    assert mend(read(data)).data == data


def test_a_result_whose_call_is_not_in_the_file_becomes_words() -> None:
    data = jsonl(said("u1", None, [gave("gone", "lost and found"), text("hi")]), answered("a1", "u1", "m1", text("ho")))
    records = mended(data)
    quoted = "[Result of a tool call that is not in this conversation]\nlost and found"
    assert contents(records)[0] == [text(quoted), text("hi")]


def nameless(content: str) -> dict[str, Any]:
    return {"type": "tool_result", "content": content}


def test_a_result_without_an_id_becomes_words_where_another_one_names_the_call() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("r1", "a1", [nameless("whose?")]),
        said("r2", "r1", [gave("t1", "mine")]),
    )
    quoted = "[Result of a tool call that is not in this conversation]\nwhose?"
    assert contents(mended(data))[2:] == [[gave("t1", "mine")], [text(quoted)]]


def test_a_result_without_an_id_gets_that_of_the_call_that_no_other_result_names() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1"), use("t2")),
        said("r1", "a1", [nameless("two")]),
        said("r2", "r1", [gave("t1", "one")]),
    )
    assert contents(mended(data))[2:] == [[nameless("two") | {"tool_use_id": "t2"}], [gave("t1", "one")]]


def test_ids_that_are_missing_unfit_or_used_twice_are_given_anew() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", {"type": "tool_use", "name": "Bash", "input": {}}),
        said("r1", "a1", [{"type": "tool_result", "content": "ok"}]),
        answered("a2", "r1", "m2", use("functions.x:0")),
        said("r2", "a2", [gave("functions.x:0")]),
        answered("a3", "r2", "m3", use("t1")),
        said("r3", "a3", [gave("t1")]),
        answered("a4", "r3", "m4", use("t1")),
        said("r4", "a4", [gave("t1")]),
    )
    records = mended(data)
    calls = [content[0]["id"] for content in contents(records)[1::2]]
    results = [content[0]["tool_use_id"] for content in contents(records)[2::2]]
    assert calls == results
    assert len(set(calls)) == 4
    assert calls[2] == "t1"


def test_a_file_without_parents_stays_without_parents() -> None:
    data = jsonl(said("u1", None, "go"), answered("a1", None, "m1", use("t1")), said("u2", None, "on"))
    records = mended(data)
    assert [record["parentUuid"] for record in records] == [None] * 4
    bare = [{key: record[key] for key in ("type", "message")} for record in lines(data)]
    assert [sorted(record) for record in mended(jsonl(*bare))] == [["message", "type"]] * 4


def test_what_is_on_no_live_branch_is_left_alone() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("x1", "u1", "m0", use("dead")),
        {"type": "novelty", "payload": [1, 2]},
        said("u2", "u1", "again"),
        answered("a1", "u2", "m1", use("t1")),
    )
    records = mended(data)
    assert records[:5] == lines(data)
    assert len(records) == 6


def test_the_json_form_is_mended_as_json() -> None:
    records = [said("u1", None, "go"), answered("a1", "u1", "m1", use("t1"))]
    once = mend(read(whole({"title": "kept", "loglines": records})))
    value = json.loads(once.data)
    assert value["title"] == "kept"
    assert value["loglines"][:2] == records
    assert contents(value["loglines"])[2][0]["content"] == MISSING
    assert mend(read(once.data)).data == once.data
    right = whole({"loglines": records[:1]})
    assert mend(read(right)).data == right


def test_records_that_stay_keep_every_byte_around_them() -> None:
    records = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1")))
    for before in (records.replace(b"\n", b"\r\n"), b"\n" + records.replace(b"\n", b" \n\n"), records.rstrip(b"\n")):
        once = mend(read(before)).data
        assert once.startswith(before.rstrip())
        assert once.endswith(b"\n") is before.endswith(b"\n")
        assert len(read(once).entries) == 3


def test_a_session_that_is_a_list_in_a_value_keeps_what_is_no_record_in_it() -> None:
    records = [said("u1", None, "go"), "a remark", answered("a1", "u1", "m1", use("t1"))]
    once = mend(read(whole({"messages": records, "title": "kept"}), format="claude-code"))
    value = json.loads(once.data)
    assert (value["messages"][:3], value["title"]) == (records, "kept")
    assert contents(value["messages"][3:])[0][0]["content"] == MISSING


def test_files_that_are_right_keep_every_byte() -> None:
    odd = CLAUDE.replace(b'{"parentUuid"', b'{ "parentUuid"').rstrip(b"\n")
    windows, blank = CLAUDE.replace(b"\n", b"\r\n"), b"\n \n" + CLAUDE.replace(b"\n", b"\n\n") + b" \t\n"
    asked = {"role": "user", "content": "Read it."}
    anthropic = [
        asked,
        {"role": "assistant", "content": [use("toolu_1")]},
        {"role": "user", "content": [gave("toolu_1")]},
    ]
    bodies = (whole(CHAT), whole(CHAT, indent=None), whole(CHAT["messages"]), whole(anthropic, indent=None))
    for data in (CLAUDE, odd, windows, blank, CODEX, *bodies):
        once = mend(read(data))
        assert (once.data, once.changes) == (data, [])


# --- Codex ------------------------------------------------------------------------------------------------------------

META = lines(CODEX)[0]


def payloads(records: list[dict[str, Any]]) -> list[Any]:
    return [record["payload"] for record in records[1:]]


def call(call_id: str, kind: str = "function_call", **more: Any) -> dict[str, Any]:
    return item(kind, name="shell", call_id=call_id, **({"arguments": "{}"} if kind == "function_call" else more))


def output(call_id: str, words: str = "ok") -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=words)


def test_an_interrupted_rollout_is_left_as_it_is() -> None:
    data = jsonl(
        META,
        codex_message("user", "go"),
        call("c1"),
        {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count", "unknown": [1]}},
        call("c2", "custom_tool_call", input="x"),
        codex_message("user", "on"),
        call("c3"),
    )
    for source in (data, data.rstrip(b"\n"), data.replace(b"\n", b"\r\n"), b"\n" + data + b"\n \n", bare(data)):
        once = mend(read(source))
        assert (once.data, once.changes, once.losses) == (source, [], [])


def bare(data: bytes) -> bytes:
    """A rollout as it was before there were envelopes."""
    items = [record["payload"] for record in lines(data)[1:] if record["type"] == "response_item"]
    return jsonl({"id": "old", "timestamp": "t", "instructions": "I"}, *items)


def test_an_output_may_stand_anywhere_behind_its_call_in_a_rollout() -> None:
    data = jsonl(META, call("c1"), codex_message("user", "hurry"), output("c1", "late"))
    assert mend(read(data)).data == data


def test_outputs_of_a_rollout_are_moved_deduplicated_quoted_and_renamed() -> None:
    data = jsonl(
        META,
        output("gone", "lost"),
        codex_message("user", "go"),
        call("c1"),
        output("c1", "one"),
        output("c1", "one"),
        call("c.2"),
        output("c.2", "two"),
        output("c3", "early"),
        call("c3"),
        call("c1"),
        output("c1", "reused"),
    )
    records = mended(data)
    summary = [
        payload.get("call_id") or payload["content"][0]["text"].splitlines()[-1] for payload in payloads(records)
    ]
    second, third = summary[4], summary[7]
    assert summary == ["lost", "go", "c1", "c1", second, second, "c3", third, "c3", third]  # the last two: one answer
    assert len({"c1", "c.2", "c3", second, third}) == 5
    outputs = [payload["output"] for payload in payloads(records) if "output" in payload]
    assert outputs == ["one", "two", "early", "reused"]


def test_an_output_before_its_call_goes_behind_the_whole_answer() -> None:
    data = jsonl(META, output("c1", "early"), call("c1"), codex_message("assistant", "I look"))
    once = mend(read(data))
    assert [payload["type"] for payload in payloads(lines(once.data))] == [
        "function_call",
        "message",
        "function_call_output",
    ]


def test_the_output_of_a_trimmed_call_does_not_become_that_of_the_next_call_with_its_id() -> None:
    turns = [
        record for words in ("BBB", "CCC") for record in (call("functions.shell:0"), output("functions.shell:0", words))
    ]
    records = mended(jsonl(META, output("functions.shell:0", "AAA"), *turns))
    assert payloads(records)[0]["content"][0]["text"].splitlines()[-1] == "AAA"
    assert [payload["output"] for payload in payloads(records) if "output" in payload] == ["BBB", "CCC"]


def numbered(*records: dict[str, Any]) -> bytes:
    return jsonl(*({"ordinal": ordinal, **record} for ordinal, record in enumerate(records)))


def test_a_numbered_rollout_that_is_changed_is_numbered_anew_and_doubted() -> None:
    data = numbered(META, call("c1"), output("c1"), output("c1"), codex_message("user", "on"))
    once = mend(read(data), force=True)
    assert lines(once.data) == lines(numbered(META, call("c1"), output("c1"), codex_message("user", "on")))
    assert [str(change) for change in once.changes] == [
        "line 4: a second result of c1 was left out",
        "the records were renumbered",
    ]
    assert [loss.message.split(";")[0] for loss in once.losses] == [
        "Codex numbers the records of this rollout and remembers how far it has read"
    ]


def test_a_numbered_rollout_whose_last_line_broke_off_loses_only_that() -> None:
    data = numbered(META, call("c1"), output("c1"))
    once = mend(read(data + b'{"ordinal": 3, "type": "respo'))
    assert (once.data, once.losses) == (data, [])


# --- bodies and logs --------------------------------------------------------------------------------------------------


def refused(body: dict[str, Any], route: str) -> list[str]:
    target = resolve(route)
    found = dialect_parts(target.dialect).check(body, target)
    return [violation.rule for violation in found if violation.severity is Severity.REFUSED]


def test_a_broken_body_is_rendered_anew_and_keeps_its_other_fields() -> None:
    body = json.loads(json.dumps(CHAT))
    del body["messages"][3]
    body |= {"temperature": 0.5, "metadata": {"kept": "yes"}}
    assert refused(body, "openai/gpt-4o")
    once = mend(read(whole(body)))
    value = json.loads(once.data)
    assert refused(value, "openai/gpt-4o") == []
    assert (value["temperature"], value["metadata"]) == (0.5, {"kept": "yes"})
    assert value["messages"][3]["content"] == MISSING
    assert value["messages"][:3] == body["messages"][:3]
    assert once.changes
    assert mend(read(once.data)).data == once.data


def test_a_broken_anthropic_body_keeps_its_signed_thinking() -> None:
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "t", "signature": "c2ln"}, use("toolu_1")],
            },
            {"role": "user", "content": "never mind"},
        ],
    }
    once = mend(read(whole(body)))
    value = json.loads(once.data)
    assert refused(value, "anthropic/claude-sonnet-4-5") == []
    assert value["messages"][1]["content"][0] == {"type": "thinking", "thinking": "t", "signature": "c2ln"}
    assert (value["system"], value["tools"]) == (body["system"], body["tools"])


def test_a_bare_list_of_messages_stays_one() -> None:
    once = mend(read(whole(CHAT["messages"][:3], indent=None)))
    value = json.loads(once.data)
    assert [message["role"] for message in value][:4] == ["system", "user", "assistant", "tool"]


def test_a_log_is_only_freed_of_damage() -> None:
    data = b"".join(dump_log(read(CLAUDE).conversation().log))
    assert mend(read(data)).data == data
    torn = mend(read(data + b'{"record":"rec'))
    assert torn.data == data
    headless = mend(read(data.split(b"\n", 1)[1], format="legato"))
    assert headless.data.startswith(b'{"format":"legato-log"')


def test_what_is_only_read_cannot_be_mended() -> None:
    with pytest.raises(FormatError, match="cline files are read but not written; convert it to one of"):
        mend(read(CLINE))


def test_a_result_of_nobody_inside_an_answer_that_goes_on_is_told_behind_all_its_results() -> None:
    records = [
        said("r0", None, "begin"),
        answered("r1", "r0", "m1", use("toolu_1")),
        said("r2", "r1", [gave("toolu_1", "one"), gave("toolu_0", "whose?")]),
        answered("r3", "r2", "m1", use("toolu_2")),
        said("r4", "r3", [gave("toolu_2", "two")]),
    ]
    mended = read(mend(read(jsonl(*records))).data)
    told = [
        (
            entry.speaker.value,
            [block.result if isinstance(block, ToolResponse) else entry.text for block in entry.blocks],
        )
        for entry in mended.entries
        if entry.speaker is not Speaker.AI
    ]
    assert told[1:3] == [("tool", ["one"]), ("tool", ["two"])]
    assert told[3][0] == "human"
    assert "whose?" in str(told[3][1])


@pytest.mark.parametrize("source", SOURCES)
def test_calls_and_results_on_the_wrong_side_are_put_right_and_nothing_is_lost(source: str) -> None:
    body = json.dumps(SOURCES[source](WRONG_SIDES)).encode()
    mended = read(mend(read(body)).data)
    assert [
        (call.arguments["path"], call.response and call.response.result)
        for call in mended.conversation().ledger.in_order
    ] == [("a.txt", "A"), ("b.txt", "B"), ("c.txt", "C")]
    assert [found.rule for found in lint_document(mended) if found.level is Level.ERROR] == []


# --- blocks on the wrong side -----------------------------------------------------------------------------------------


def told(records: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(record["type"], record["message"]["content"]) for record in records]


def test_a_result_that_stands_in_an_answer_is_moved_behind_it() -> None:
    data = jsonl(
        said("u1", None, "go"), answered("a1", "u1", "m1", use("t1"), gave("t1", "found")), said("u2", "a1", "on")
    )
    records = mended(data)
    assert told(records) == [
        ("user", "go"),
        ("assistant", [use("t1")]),
        ("user", [gave("t1", "found")]),
        ("user", "on"),
    ]
    assert chain(records) == [record["uuid"] for record in records]


def test_a_call_that_stands_in_a_message_of_the_user_becomes_an_answer() -> None:
    data = jsonl(
        said("u1", None, "go"),
        said("u2", "u1", [text("hm"), use("t1"), gave("t1", "found")]),
        answered("a1", "u2", "m1", text("Done.")),
    )
    records = mended(data)
    assert told(records) == [
        ("user", "go"),
        ("user", [text("hm")]),
        ("assistant", [use("t1")]),
        ("user", [gave("t1", "found")]),
        ("assistant", [text("Done.")]),
    ]
    assert chain(records) == [record["uuid"] for record in records]


def test_a_call_that_nobody_put_into_a_list_becomes_the_first_answer_with_all_that_a_record_has() -> None:
    data = jsonl(
        claude("user", "1", None, {"role": "user", "content": use("toolu_a")}),
        claude("user", "2", "1", {"role": "user", "content": [gave("toolu_a", "x")]}),
        claude("assistant", "3", "2", {"role": "assistant", "content": [text("Done.")]}),
    )

    first, second, third = mended(data)

    assert (first["type"], first["message"]["content"], first["parentUuid"]) == ("assistant", [use("toolu_a")], None)
    assert chain([first, second, third]) == [first["uuid"], "2", "3"]


def test_a_result_without_a_call_in_an_answer_is_quoted_behind_it() -> None:
    data = jsonl(
        said("u1", None, "go"), answered("a1", "u1", "m1", gave("t9", "found"), text("Done.")), said("u2", "a1", "on")
    )
    quoted = "[Result of a tool call that is not in this conversation]\nfound"
    assert told(mended(data)) == [
        ("user", "go"),
        ("assistant", [text("Done.")]),
        ("user", [text(quoted)]),
        ("user", "on"),
    ]


def test_a_call_in_another_spelling_that_stands_in_a_message_of_the_user_becomes_one_of_claude_code() -> None:
    foreign = {"type": "tool-call", "toolCallId": "t1", "toolName": "Bash", "input": {"command": "ls"}}
    data = jsonl(said("u1", None, "go"), said("u2", "u1", [text("hm"), foreign, gave("t1", "found")]))
    records = mended(data)
    assert told(records) == [
        ("user", "go"),
        ("user", [text("hm")]),
        ("assistant", [use("t1", command="ls")]),
        ("user", [gave("t1", "found")]),
    ]
