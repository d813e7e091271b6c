"""The AI SDK: parts and outputs, calls that the provider ran, approvals."""

from typing import Any

import pytest

from legato.model import Dialect
from rule_targets import TARGETS, check

_TARGET = next(target for target in TARGETS if target.dialect is Dialect.VERCEL)
_USER = {"role": "user", "content": "Hello"}
_ASKED = {"type": "tool-approval-request", "approvalId": "yes_1", "toolCallId": "call_1"}
_ANSWERED = {"type": "tool-approval-response", "approvalId": "yes_1", "approved": True}


def _call(call_id: Any = "call_1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": "read", "input": {}, **fields}


def _result(call_id: Any = "call_1", output: Any = None, **fields: Any) -> dict[str, Any]:
    output = {"type": "json", "value": None} if output is None else output
    return {"type": "tool-result", "toolCallId": call_id, "toolName": "read", "output": output, **fields}


def _said(*parts: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts)}


def _tool(*parts: Any) -> dict[str, Any]:
    return {"role": "tool", "content": list(parts)}


def _judge(*messages: Any) -> list[str]:
    found = check({"messages": list(messages)}, _TARGET)
    return [f"{violation.severity} {violation.rule} {violation.path}" for violation in found]


@pytest.mark.parametrize(
    ("messages", "findings"),
    [
        ([_USER, _said(_call(), _call("call_2")), _tool(_result("call_2")), _tool(_result())], []),
        ([_USER, _said(_call())], ["refused vercel/unanswered-call messages[1].content[0]"]),
        # Calls that the provider ran never wait.
        ([_USER, _said(_call(providerExecuted=True), _result(), {"type": "text", "text": "So."}), _USER], []),
        # An approval answers a call, and its result may follow.
        ([_USER, _said(_call(), _ASKED), _tool(_ANSWERED)], []),
        ([_USER, _said(_call(), _ASKED), _tool(_ANSWERED, _result())], []),
        (
            [_USER, _said(_call(), _ASKED), _tool(_ANSWERED | {"approvalId": 5})],
            ["refused vercel/unanswered-call messages[1].content[0]"],
        ),
        ([_USER, _said(_call(), _ASKED | {"approvalId": 5}), _tool(_result())], []),
        # Shapes.
        ([None], ["refused vercel/unknown-role messages[0]"]),
        ([{"role": ["user"]}], ["refused vercel/unknown-role messages[0]"]),
        ([{"role": "user", "content": None}], ["refused vercel/content-form messages[0].content"]),
        ([_USER, _said(), _USER], []),
        ([_said({"type": "reasoning", "text": "Hm."}), _USER], []),
        (
            [_USER, _said("Hi"), _USER],
            ["refused vercel/part-type messages[1].content[0]", "risky vercel/empty-text messages[1].content"],
        ),
        ([_USER, _said(_call(5)), _USER], ["refused vercel/call-form messages[1].content[0].toolCallId"]),
        (
            [_USER, _said(_call(toolName="")), _tool(_result())],
            ["refused vercel/call-form messages[1].content[0].toolName"],
        ),
        # Outputs.
        (
            [_USER, _said(_call()), _tool(_result(output={"type": "text", "value": 5}))],
            ["refused vercel/output-form messages[2].content[0].output.value"],
        ),
        (
            [_USER, _said(_call()), _tool(_result(output={"type": "error-json"}))],
            ["refused vercel/output-form messages[2].content[0].output.value"],
        ),
        (
            [_USER, _said(_call()), _tool(_result(output={"type": "content", "value": "x"}))],
            ["refused vercel/output-form messages[2].content[0].output.value"],
        ),
        ([_USER, _said(_call()), _tool(_result(output={"type": "content", "value": []}))], []),
        ([_USER, _said(_call()), _tool(_result(output={"type": "execution-denied"}))], []),
        (
            [_USER, _said(_call()), _tool(_result(output={"type": ["text"]}))],
            ["refused vercel/output-form messages[2].content[0].output"],
        ),
    ],
    ids=lambda value: None,
)
def test_messages_are_judged(messages: list[Any], findings: list[str]):
    assert _judge(*messages) == findings
