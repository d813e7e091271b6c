"""The guard: a mended file that would be worse than the file is withheld, with all that speaks against it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato import render
from legato.errors import FormatError, RepairRefused
from legato.formats import lint_document, mend, read, write
from legato.formats.claude_code import mend as claude_code_mend
from legato.formats.findings import refused
from legato.formats.mending.bare_json import parse_raw
from legato.formats.mending.comparing import Purposes, find_missing
from legato.formats.mending.guard import find_losses
from legato.formats.mending.inventory import take_inventory
from legato.formats.mending.retelling import first_difference
from legato.formats.patching.plan import Plan
from legato.model import CLOSURE_TEXTS, ClosureReason, Options
from legato.model.ingestion import MAX_TEXT
from session_files import CLAUDE, answered, codex_message, gave, item, jsonl, said, text, use, whole

MISSING = CLOSURE_TEXTS[ClosureReason.MISSING_IN_IMPORT]
CACHED = {"cache_control": {"type": "ephemeral"}}


def against(data: bytes, **options: Any) -> list[str]:
    """What speaks against mending a file."""
    with pytest.raises(RepairRefused) as caught:
        mend(read(data, **options))
    assert all(isinstance(note.place, str) for note in caught.value.losses)
    return [str(note) for note in caught.value.losses]


def lacking(before: Any, after: Any, **purposes: Any) -> list[str]:
    """The places of what is in one request and not in another."""
    one, other = take_inventory([("", before)]), take_inventory([("", after)])
    return [item.place for item in find_missing(one, other, Purposes(**purposes))]


def asked(*messages: tuple[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in messages], **fields}


# --- what is withheld -------------------------------------------------------------------------------------------------


def test_everything_that_a_mended_request_would_lack_is_named_with_its_place() -> None:
    found = {"type": "search_result", "title": "T", "source": "src", "content": [text("hit")]}
    body = asked(
        ("user", [{**text("Read a and b."), **CACHED}, {"type": "hologram", "data": "x"}]),
        ("assistant", [use("toolu_1", "read"), use("toolu_2", "read")]),
        ("user", [gave("toolu_1", [found]), {**text("go on"), **CACHED}]),
        model="claude-sonnet-4-5",
        max_tokens=64,
        tools=[{"name": "read", "input_schema": {"type": "object"}}],
    )
    document = read(whole(body))
    options = Options(cache=False, max_tokens=64)
    rendered = render(document.conversation(), "anthropic/claude-sonnet-4-5", tools=document.tools, options=options)
    assert document.original is not None
    assert [str(note) for note in find_losses(document, document.original, rendered.json(), [])] == [
        'messages[0].content[0].cache_control: the field cache_control={"type": "ephemeral"} would be lost',
        'messages[0].content[1].data: the field data="x" would be lost',
        "messages[2].content[0].content[0]: the result of a call: hit would be lost",
        'messages[2].content[0].content[0].title: the field title="T" would be lost',
        'messages[2].content[0].content[0].source: the field source="src" would be lost',
        'messages[2].content[1].cache_control: the field cache_control={"type": "ephemeral"} would be lost',
    ]
    value = json.loads(mend(document).data)  # and none of it is lost by mending
    answered = {**gave("toolu_2", MISSING), "is_error": True}
    assert value["messages"][2]["content"] == [gave("toolu_1", [found]), answered, {**text("go on"), **CACHED}]
    value["messages"][2]["content"].remove(answered)
    assert value == body


def test_what_is_forced_comes_with_what_speaks_against_it() -> None:
    body = asked(("user", [{"kind": "text", "value": "second"}]), ("user", "hi"), model="gpt-4o")
    forced = mend(read(whole(body)), force=True)
    assert [str(loss) for loss in forced.losses] == against(whole(body))
    assert refused(lint_document(read(forced.data))) == []
    assert forced.changes


def test_a_request_that_was_taken_for_another_is_withheld() -> None:
    tool = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
    call = {"id": "call_1", "type": "function", "function": {"name": "get", "arguments": '{"x": 1}'}}
    body = asked(("user", "hi"), model="claude-sonnet-4-5", max_tokens=9, tools=[tool])
    body["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "true"},
    ]
    assert mend(read(whole(body))).changes == []
    assert against(whole(body), format="anthropic") == [
        'messages[1].tool_calls[0].function: the call call_1: get({"x": 1}) would be lost',
        "messages[2]: the result of call_1: true would be lost",
        "messages[0]: it would be written anew, though nothing is wrong with it",
    ]


def test_a_session_in_which_a_call_has_two_results_that_differ_is_withheld() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("r1", "a1", [gave("t1", "one")]),
        said("r2", "r1", [gave("t1", "another")], toolUseResult={"stdout": "another"}),
    )
    assert against(data) == [
        "line 4.message.content[0]: the result of t1: another would be lost",
        'line 4.toolUseResult: the field of the record toolUseResult={"stdout": "another"} would be lost',
    ]


def test_an_image_of_a_result_without_a_call_is_not_lost_in_its_quotation() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    data = jsonl(said("u1", None, [gave("gone", [text("shot"), image]), text("hi")]))
    assert [line.partition(":")[0] for line in against(data)] == ["line 1.message.content[0].content[1].source"]


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        (b'["a list", "of words"]', "line 3[0]: the text a list would be lost"),
        (b'"a text"', "line 3: the text a text would be lost"),
    ],
)
def test_a_line_that_is_no_record_is_not_left_out_silently(line: bytes, loss: str) -> None:
    data = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1"))) + line + b"\n"
    assert against(data)[0] == loss


def test_a_line_that_is_too_long_to_be_read_is_not_left_out_silently() -> None:
    long = b'{"type":"user","message":{"role":"user","content":"' + b"y" * (65 * 2**20) + b'"}}\n'
    data = jsonl(said("u1", None, "go")) + long + jsonl(answered("a1", "u1", "m1", use("t1")))
    assert against(data)[0] == "line 2: it is too long to be read, and would be lost"


def test_a_text_that_is_longer_than_any_request_is_not_cut() -> None:
    body = asked(("user", "y" * (MAX_TEXT + 1)), ("assistant", [use("t1", "run")]), ("user", "on"), system="s")
    value = json.loads(mend(read(whole(body, indent=None))).data)
    assert [message for message in value["messages"] if message in body["messages"]] == body["messages"]


def test_a_file_that_is_nested_too_deeply_to_be_compared_is_withheld() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"deeper": deep}
    body = asked(("user", "go"), ("assistant", [use("t1", "run", **deep)]), ("user", "on"), system="s")
    assert against(whole(body, indent=None))[0] == (
        "the two files cannot be compared: something in them is nested too deeply"
    )


def test_both_values_of_a_key_that_stands_twice_stay() -> None:
    call = b'{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input": {}}]}'
    data = b'{"system": "one", "system": "two", "messages": [%s]}' % call
    assert parse_raw(data) == {"system": "one", "system (again)": "two", "messages": [json.loads(call)]}
    assert mend(read(data)).data.startswith(b'{"system": "one", "system": "two", "messages": [')


def test_a_call_is_not_said_to_have_no_result_while_there_is_one() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1"), {**text("so"), "content": [gave("t1", "where no reader looks")]}),
        said("u2", "a1", "on"),
    )
    place = "line 2.message.content[1].content[0]"
    assert against(data) == [f"{place}: the call t1 would be said to have no result, and here is one"]


def test_a_result_that_may_belong_to_either_of_two_calls_is_not_given_to_one() -> None:
    # The first call's result is gone; without it, its answer and the next one are one, and their calls have one id.
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [use("t1")]},
            {"role": "assistant", "content": [use("t1", path="b")]},
            {"role": "user", "content": [gave("t1", "done")]},
        ],
    }
    assert against(whole(body)) == [
        "messages[1:3]: 2 calls share the id t1, and nothing says which of them a result belongs to"
    ]


def test_a_file_that_nothing_mends_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_code_mend, "plan_mending", lambda *_, **__: Plan())
    data = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", text("so")), said("u2", "a1", [gave("t1", "x")]))
    assert against(data) == ["line 3: would still be refused: the result t1 has no call [session/orphan-result]"]
    with pytest.raises(RepairRefused, match="it would be refused, and there is no known way to mend it"):
        mend(read(data))


def test_a_conversion_to_its_own_format_says_what_it_loses() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", use("t1")),
        said("r1", "a1", [gave("t1", "one"), gave("t1", "another")]),
    )
    assert [str(loss) for loss in write(read(data), "claude-code").losses] == against(data)


def test_a_refusal_is_a_format_error_of_one_line() -> None:
    with pytest.raises(FormatError) as caught:
        mend(read(whole(asked(("user", [{"kind": "text"}]), ("user", "hi"), model="gpt-4o")), name="body.json"))
    assert caught.value.message == (
        "body.json: not mended, because 1 thing would be lost or broken; nothing was written. "
        "Use `--force -o OUT` to write it anyway"
    )


# --- what is not missed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (asked(("user", "hi")), asked(("user", [text("hi")]))),
        (asked(("user", " hi\n")), asked(("user", "hi"))),
        (asked(("user", "")), asked()),
        (asked(("user", [{**text(" "), **CACHED}])), asked()),
        (asked(("system", "be brief")), {"system": "be brief", "messages": []}),
        (asked(("system", "be brief")), asked(("user", [text("[Instruction] be brief")]))),
        (asked(("system", "a"), ("system", "b")), {"system": "a\n\nb", "messages": []}),
        (asked(("user", [gave("t1", MISSING, is_error=True)])), asked()),
        (
            {"contents": [{"parts": [{"functionResponse": {"name": "f", "response": {"error": MISSING}}}]}]},
            {"contents": [{"parts": [{"functionCall": {"name": "f"}}]}]},
        ),
        (asked(("user", [gave("t1", "a"), {**gave("t1", "a"), **CACHED}])), asked(("user", [gave("t1", "a")]))),
        (asked(("assistant", [use("t1", n=1), use("t1", n=1)])), asked(("assistant", [use("t1", n=1)]))),
        (asked(("user", [gave("t1", [text("a"), text("b")])])), asked(("user", [gave("t1", "a\nb")]))),
        (asked(("user", [gave("t1", "(no output)")])), asked(("user", [gave("t1", "")]))),
        ({"tools": [{"name": "x"}], "messages": []}, {"tools": [{"name": "x", "description": ""}], "messages": []}),
    ],
)
def test_another_form_of_the_same_is_no_loss(before: Any, after: Any) -> None:
    assert lacking(before, after) == []


def test_the_arguments_of_a_call_are_the_same_in_every_spelling() -> None:
    def call(arguments: str) -> dict[str, Any]:
        return {
            "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}]
        }

    assert lacking(call('{"a": 1, "b": 2}'), call('{"b":2,"a":1}')) == []
    assert lacking(call('{"a": 1}'), call('{"a": 2}')) == ["messages[0].tool_calls[0].function"]
    assert lacking(call('{"a": 1'), call("{}")) == ["messages[0].tool_calls[0].function"]


# --- what is missed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        (asked(("user", "yes"), ("user", "yes")), asked(("user", "yes")), ["messages[1].content"]),
        (asked(("user", "ok")), asked(("user", "looks good")), ["messages[0].content"]),
        (asked(("system", "be brief")), asked(("user", "be brief")), ["messages[0].content"]),
        (
            asked(("user", [{**text("a"), **CACHED}, {**text("b"), **CACHED}])),
            asked(("user", [{**text("a"), **CACHED}, text("b")])),
            ["messages[0].content[1].cache_control"],
        ),
        (
            asked(("assistant", [use("t1"), use("t2")])),
            asked(("assistant", [use("t1"), use("t3")])),
            ["messages[0].content[1]"],
        ),
        (asked(("user", [gave("t1", "a"), gave("t2", "a")])), asked(("user", [gave("t1", "a")])), ["messages[0].content[1]"]),
        (asked(("user", [gave("t1", "a", is_error=True)])), asked(("user", [gave("t1", "a")])), ["messages[0].content[0].is_error"]),
        ({"tools": [{"name": "x", "strict": True}], "messages": []}, {"tools": [{"name": "x"}], "messages": []}, ["tools[0]"]),
        ({"metadata": {"u": 1}, "messages": []}, {"messages": []}, ["metadata"]),
        ({"input": "a question"}, {"input": []}, ["input"]),
    ],
)  # fmt: skip
def test_what_is_gone_is_missed(before: Any, after: Any, places: list[str]) -> None:
    assert lacking(before, after) == places


def test_a_setting_or_an_id_that_was_wrong_is_not_missed() -> None:
    assert lacking({"max_tokens": 0, "messages": []}, {"messages": []}, fields=frozenset({"max_tokens"})) == []
    one, other = asked(("assistant", [use("bad id")])), asked(("assistant", [use("toolu_1")]))
    assert lacking(one, other, ids=True) == []
    assert lacking(one, other) == ["messages[0].content[0]"]


# --- the same conversation --------------------------------------------------------------------------------------------


def differs(before: bytes, after: bytes) -> str:
    difference = first_difference(read(before), read(after))
    return "" if difference is None else str(difference)


def test_the_same_conversation_in_other_records_is_the_same() -> None:
    one = jsonl(said("u1", None, "a b"), answered("a1", "u1", "m1", text("c"), use("t1")), said("u2", "a1", "d"))
    other = jsonl(
        said("u1", None, [text("a"), text("b")]),
        answered("a1", "u1", "m1", text("c")),
        answered("a2", "a1", "m1", use("t2")),
        said("r1", "a2", [gave("t2", MISSING, is_error=True)]),
        said("u2", "r1", "d"),
    )
    assert differs(one, other) == ""


OTHERWISE = "line 2: it would read as another conversation: the call of Bash ({}successok) would become"


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([said("u1", None, "x")], "line 1: it would read as another conversation: human (go) would become human (x)"),
        (
            [said("u1", None, "go"), answered("a1", "u1", "m1", text("done"))],
            f"{OTHERWISE} model (done)",
        ),
        (
            [said("u1", None, "go"), answered("a1", "u1", "m1", use("t1")), said("r1", "a1", [gave("t1", "no")])],
            f"{OTHERWISE} the call of Bash ({{}}successno)",
        ),
        ([], "line 1: it would read as another conversation: human (go) would become nothing"),
    ],
)
def test_what_is_told_differently_is_told(records: list[dict[str, Any]], told: str) -> None:
    before = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1")), said("r1", "a1", [gave("t1")]))
    after = jsonl(*records) or CLAUDE[:0]
    assert differs(before, after or jsonl({"type": "summary", "summary": "x", "leafUuid": "y"})) == told


def test_a_result_without_a_call_is_the_same_when_it_is_quoted_or_given_a_call() -> None:
    meta = {"timestamp": "t", "type": "session_meta", "payload": {"id": "c", "cwd": "/"}}
    before = jsonl(meta, item("function_call_output", call_id="x", output="lost"), codex_message("user", "go"))
    quoted = "[Result of a tool call that is not in this conversation]\nlost"
    assert differs(before, jsonl(meta, codex_message("user", quoted), codex_message("user", "go"))) == ""
    assert differs(before, jsonl(meta, codex_message("user", "else"), codex_message("user", "go"))) != ""
