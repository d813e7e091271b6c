"""Responses: pairing over the whole request, what the server holds, reasoning and what follows it."""

from typing import Any

import pytest

from legato.model import ThinkingMode
from rule_targets import check, responses

_PLAIN = responses("openai", "gpt-4.1")
_REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
_OPEN_REASONING = {
    "type": "reasoning",
    "id": "76f8",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "Hm."}],
}


def _call(call_id: Any = "call_1", kind: str = "function_call", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "name": "read", "arguments": "{}", **fields}


def _output(call_id: Any = "call_1", kind: str = "function_call_output", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": "done", **fields}


def _said(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "Hi", **fields}


_USER = {"role": "user", "content": "Hello"}


def _judge(*items: Any, **fields: Any) -> list[str]:
    found = check({"input": list(items), **fields}, _PLAIN)
    return [f"{violation.severity} {violation.rule} {violation.path}" for violation in found]


@pytest.mark.parametrize(
    ("items", "findings"),
    [
        ([_USER, _call(), _USER, _said(), _output()], []),
        ([_USER, _call(), _call("call_2"), _output("call_2"), _output()], []),
        (
            [_USER, _output(), _call()],
            ["refused openai-responses/orphan-output input[1]", "refused openai-responses/unanswered-call input[2]"],
        ),
        (
            [_call(None), _output(None)],
            [
                "refused openai-responses/call-id-form input[0].call_id",
                "refused openai-responses/call-id-form input[1].call_id",
            ],
        ),
        ([_call("")], ["refused openai-responses/call-id-form input[0].call_id"]),
        ([_call(kind="custom_tool_call", input="x"), _output(kind="custom_tool_call_output")], []),
        ([_call(kind="custom_tool_call", input="x")], ["refused openai-responses/unanswered-call input[0]"]),
        # Tools of the provider pair by themselves, those that run here do not.
        ([{"type": "web_search_call", "id": "ws_1"}], []),
        ([{"type": "tool_search_call", "call_id": "tsc_1", "execution": "server"}], []),
        (
            [{"type": "tool_search_call", "call_id": "call_1", "execution": "client"}],
            ["refused openai-responses/unanswered-call input[0]"],
        ),
        (
            [
                {"type": "tool_search_call", "call_id": "call_1", "execution": "client"},
                {"type": "tool_search_output", "call_id": "call_1"},
            ],
            [],
        ),
        ([{"type": "tool_search_call", "call_id": "call_1", "execution": "client"}, _output()], []),
        ([{"type": "computer_call", "call_id": "call_1"}], ["refused openai-responses/unanswered-call input[0]"]),
        ([{"type": "additional_tools", "role": "developer", "tools": []}], []),
        # Reasoning.
        ([_REASONING, _call(), _output()], []),
        ([_REASONING, _REASONING | {"id": "rs_2"}, _call(), _output()], []),
        ([_REASONING, {"type": "web_search_call", "id": "ws_1"}], []),
        ([_REASONING | {"id": None}, _said()], []),
        ([_REASONING, _said(type="message", id="msg_1")], []),
        ([_REASONING, _said()], ["refused openai-responses/reasoning-alone input[0]"]),
        ([_REASONING, _USER], ["refused openai-responses/reasoning-alone input[0]"]),
        ([_REASONING], ["refused openai-responses/reasoning-alone input[0]"]),
        ([_call(), _REASONING, _output()], ["refused openai-responses/reasoning-alone input[1]"]),
        ([_OPEN_REASONING, _said(), _USER], []),
        # Items and ids.
        ([{"type": 5}], ["refused openai-responses/item-form input[0].type"]),
        ([_call(id=5), _output()], ["refused openai-responses/item-id-form input[0].id"]),
        ([_call(id="fc_" + "x" * 62), _output()], ["refused openai-responses/item-id-form input[0].id"]),
        ([_call(id="fc.1"), _output()], ["refused openai-responses/item-id-form input[0].id"]),
        ([_call(id="fc_1", kind="custom_tool_call"), _output()], ["refused openai-responses/item-id-form input[0].id"]),
        ([_said(id="msg_1", type="message", status="completed", phase="commentary")], []),
        ([{"type": "web_search_call", "id": "x y"}], []),
        # Messages.
        (
            [{"role": "user", "content": [{"type": "text", "text": "Hi"}, "Hi"]}],
            [
                "refused openai-responses/part-type input[0].content[0]",
                "refused openai-responses/part-type input[0].content[1]",
            ],
        ),
        ([_said(content=[{"type": "refusal", "refusal": "No."}])], []),
        ([_said(tool_calls=[])], ["refused openai-responses/chat-field input[0].tool_calls"]),
        ([{"role": 5}], ["refused openai-responses/unknown-role input[0].role"]),
        (
            [_call(), _output(output=[{"type": "input_image"}, {"type": "image_url"}])],
            ["refused openai-responses/output-form input[1].output[1]"],
        ),
    ],
    ids=lambda value: None,
)
def test_items_are_judged(items: list[Any], findings: list[str]):
    assert _judge(*items) == findings


@pytest.mark.parametrize(
    "state", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}, {"conversation": {"id": "conv_1"}}]
)
def test_what_the_server_holds_may_be_answered_but_new_calls_must_be(state: dict[str, Any]):
    assert _judge(_output(), **state) == []
    assert _judge(_output(), _call("call_2"), **state) == ["refused openai-responses/unanswered-call input[1]"]
    assert _judge(_output(), _output(), **state) == ["refused openai-responses/duplicate-output input[1]"]


def test_an_item_reference_may_stand_for_a_call():
    assert _judge({"type": "item_reference", "id": "fc_1"}, _output()) == []


def test_a_null_reference_to_the_server_is_none():
    assert _judge(_output(), previous_response_id=None) == ["refused openai-responses/orphan-output input[0]"]


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        ({"input": "Hello"}, []),
        ({"input": []}, []),
        ({"previous_response_id": "resp_1"}, []),
        ({"prompt": {"id": "pmpt_1"}}, []),
        ({}, ["openai-responses/input-form"]),
        ({"input": 5, "conversation": "conv_1"}, ["openai-responses/input-form"]),
        ({"input": "Hello", "tools": {}}, ["openai-responses/tool-form"]),
        ({"input": "Hello", "tools": ["read", {"type": "web_search"}]}, ["openai-responses/tool-form"]),
    ],
)
def test_the_body_is_judged(body: dict[str, Any], findings: list[str]):
    assert [violation.rule for violation in check(body, _PLAIN)] == findings


def test_ids_without_reasoning_are_risky_for_a_model_that_reasons():
    target = responses("openai", "gpt-5", thinking=ThinkingMode.EFFORT)
    body = {"input": [_USER, _REASONING, _call(id="fc_1"), _output(), _call("call_2", id="fc_2"), _output("call_2")]}

    assert [f"{found.rule} {found.path}" for found in check(body, target)] == [
        "openai-responses/item-without-reasoning input[4].id"
    ]
