"""Mending request bodies: nothing is demanded that lint calls risky, and what is put in has the form of its kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.errors import RepairRefused
from legato.formats import Level, lint_document, mend, read
from legato.model import CLOSURE_TEXTS, ClosureReason
from session_files import gave, whole

MISSING = CLOSURE_TEXTS[ClosureReason.MISSING_IN_IMPORT]


def test_a_result_is_all_that_is_put_in_where_only_some_models_would_ask_for_more() -> None:
    contents: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "How warm is it in Paris?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Paris"}}}]},
    ]
    functions = [{"name": "weather", "parameters": {"type": "object"}}]
    document = read(whole({"contents": contents, "tools": [{"functionDeclarations": functions}]}))
    found = {item.rule: item.level for item in lint_document(document)}
    assert found["gemini/signature-missing"] is Level.RISK, "no model is named, and only some want a signature"
    value = json.loads(mend(document).data)
    assert value["contents"][:2] == contents
    [fresh] = value["contents"][2:]
    assert fresh["parts"][0]["functionResponse"]["response"] == {"error": MISSING}


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (
            {"type": "tool_search_call", "execution": "client", "status": "completed", "arguments": {"queries": ["x"]}},
            {"type": "function_call_output"},
        ),
        (
            {"type": "apply_patch_call", "status": "completed", "operation": {"type": "delete_file", "path": "a"}},
            {"type": "apply_patch_call_output", "status": "failed"},
        ),
    ],
)
def test_a_call_of_a_built_in_tool_is_closed_in_the_form_of_its_kind(call: Any, output: Any) -> None:
    items = [{"role": "user", "content": "Go on."}, {**call, "call_id": "call_1"}, {"role": "user", "content": "So?"}]
    mended = mend(read(whole({"model": "gpt-5.5", "input": items})))
    value = json.loads(mended.data)
    assert value["input"] == [*items[:2], {"call_id": "call_1", "output": MISSING, **output}, items[2]]
    assert mend(read(mended.data)).changes == []


def test_a_call_whose_result_cannot_be_words_is_given_none() -> None:
    call = {"type": "computer_call", "call_id": "call_1", "action": {"type": "screenshot"}, "status": "completed"}
    items = [{"role": "user", "content": "Look."}, call, {"role": "user", "content": "So?"}]
    document = read(whole({"model": "computer-use-preview", "truncation": "auto", "input": items}))
    with pytest.raises(RepairRefused) as caught:
        mend(document)
    assert any(loss.place.startswith("input[1]") for loss in caught.value.losses)
    forced = json.loads(mend(document, force=True).data)
    assert "computer_call_output" not in [item.get("type") for item in forced["input"]]


def test_a_tool_that_is_defined_twice_as_it_is_goes_and_one_that_is_defined_otherwise_stays() -> None:
    read_tool = {"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}
    body = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi."}]}
    mended = mend(read(whole({**body, "tools": [read_tool, read_tool]})))
    assert json.loads(mended.data) == {**body, "tools": [read_tool]}
    with pytest.raises(RepairRefused) as caught:
        mend(read(whole({**body, "tools": [read_tool, {**read_tool, "description": "Reads a file."}]})))
    assert [str(loss) for loss in caught.value.losses] == ["tools[1]: the tool read as it is defined would be lost"]


def test_repair_is_promised_to_do_what_it_does() -> None:
    contents: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "How warm is it?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in ("paris", "rome")]},
        {"role": "user", "parts": [{"functionResponse": {"name": "paris", "response": {"temp": 21}}}]},
    ]
    found = lint_document(read(whole({"contents": contents})), "gemini/gemini-3-pro-preview")
    assert {item.rule: item.repair for item in found} == {
        "gemini/response-count": "repair gives every call one result",
        "gemini/signature-missing": ("repair leaves it as it is, because the file does not say which model it is for"),
    }


@pytest.mark.parametrize("beside", [[], [{"text": "Stop."}]], ids=["alone", "words beside them"])
def test_results_without_ids_that_are_apart_come_together_in_the_order_of_their_calls(beside: list[Any]) -> None:
    def called(name: str) -> Any:
        return {"functionCall": {"name": name, "args": {}}}

    def returned(name: str, result: str) -> Any:
        return {"functionResponse": {"name": name, "response": {"result": result}}}

    contents: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [called("list"), called("read"), called("read")]},
        {"role": "user", "parts": [returned("read", "first"), *beside]},
        {"role": "user", "parts": [returned("read", "second"), returned("list", "a b")]},
    ]
    mended = mend(read(whole({"model": "gemini-2.5-pro", "contents": contents})))
    together = {
        "role": "user",
        "parts": [returned("list", "a b"), returned("read", "first"), returned("read", "second")],
    }
    words = [{"role": "user", "parts": beside}] if beside else []
    assert json.loads(mended.data)["contents"] == [*contents[:2], together, *words]
    assert {(note.place, note.message) for note in mended.changes} == {
        ("contents[3]", "the result of list was put beside the others of its answer"),
        ("contents[2]", "the result of read was put beside the others of its answer"),
        ("contents[3]", "the result of read was put beside the others of its answer"),
    }


def chat_call(wire_id: str) -> list[Any]:
    """A call and its result, written as Legato would not write them."""
    call = {"id": wire_id, "type": "function", "function": {"name": "run", "arguments": '{"x":  1.50}'}}
    content = [{"type": "text", "text": "done"}]
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": wire_id, "name": "run", "content": content},
    ]


CHAT_WORDS = {"role": "user", "content": [{"type": "text", "text": "Go on."}]}


@pytest.mark.parametrize(
    ("shape", "model", "kept", "refused", "fresh"),
    [
        ("mistral", "mistral-large-latest", "abcdefgh1", "call_0", "0f4dbdf21"),
        ("openai-chat", "gpt-4o", "toolu_1", "call_" + "x" * 36, "call_dsq5DeJqD1QUd4t7gMPKbuWu"),
        ("openai-chat", "gpt-4o", "functions.run:0", "call_" + "x" * 36, "call_dsq5DeJqD1QUd4t7gMPKbuWu"),
    ],
)
def test_only_the_ids_that_a_host_does_not_take_are_replaced(
    shape: str, model: str, kept: str, refused: str, fresh: str
) -> None:
    messages = [CHAT_WORDS, *chat_call(kept), *chat_call(refused)]
    mended = mend(read(whole({"model": model, "messages": messages}), format=shape))
    assert json.loads(mended.data)["messages"] == [CHAT_WORDS, *chat_call(kept), *chat_call(fresh)]


def test_mistral_gets_an_answer_between_a_result_that_is_put_in_and_what_a_person_says() -> None:
    call, _ = chat_call("abcdefgh1")
    kept = [CHAT_WORDS, *chat_call("abcdefgh0"), {"role": "assistant", "content": "So far."}, CHAT_WORDS, call]
    mended = mend(read(whole({"model": "mistral-large-latest", "messages": [*kept, CHAT_WORDS]})))
    closed = {"role": "tool", "tool_call_id": "abcdefgh1", "content": MISSING}
    bridge = {"role": "assistant", "content": "(noted)"}
    assert json.loads(mended.data)["messages"] == [*kept, closed, bridge, CHAT_WORDS]
    assert mend(read(mended.data)).changes == []


def gemini_answered(response: Any) -> list[Any]:
    return [{"role": "user", "parts": [{"functionResponse": {"name": "look", "response": response}}]}]


def gemini_quoted(words: str) -> list[Any]:
    return [
        {"role": "user", "parts": [{"text": f"[Result of a call of look that is not in this conversation]\n{words}"}]}
    ]


CACHED = {"cache_control": {"type": "ephemeral"}}
QUOTED = "[Result of a tool call that is not in this conversation]\n"


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        (
            {
                "model": "claude-sonnet-4-5",
                "max_tokens": 9,
                "messages": [{"role": "user", "content": [{**gave("gone", "\tone\n  two\n\n"), **CACHED}]}],
            },
            "messages",
            [{"role": "user", "content": [{"type": "text", "text": f"{QUOTED}\tone\n  two\n\n", **CACHED}]}],
        ),
        (
            {
                "model": "gpt-4o",
                "messages": [{"role": "tool", "tool_call_id": "gone", "name": "look", "content": " one"}],
            },
            "messages",
            [{"role": "user", "content": "[Result of a call of look that is not in this conversation]\n one"}],
        ),
        (
            {"model": "gemini-2.5-pro", "contents": gemini_answered({"b": 1, "a": "x"})},
            "contents",
            gemini_quoted('{"b":1,"a":"x"}'),
        ),
        (
            {"model": "gemini-2.5-pro", "contents": gemini_answered({"result": "one\n"})},
            "contents",
            gemini_quoted("one\n"),
        ),
    ],
    ids=["blanks and marks", "the name of a tool", "JSON", "JSON around words"],
)
def test_a_result_whose_call_is_gone_is_quoted_with_all_there_is_in_it(body: Any, field: str, told: list[Any]) -> None:
    mended = mend(read(whole(body)))
    assert json.loads(mended.data)[field] == told
    assert not mended.losses
    assert mend(read(mended.data)).changes == []


def test_a_call_that_stands_twice_goes_with_its_signature() -> None:
    call = {"functionCall": {"id": "one", "name": "look", "args": {}}, "thoughtSignature": "c2lnbmF0dXJl"}
    response = {"functionResponse": {"id": "one", "name": "look", "response": {"result": "x"}}}
    contents = [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [response]},
    ]
    mended = mend(read(whole({"model": "gemini-2.5-pro", "contents": contents})))
    assert json.loads(mended.data)["contents"] == [contents[0], {"role": "model", "parts": [call]}, contents[2]]
