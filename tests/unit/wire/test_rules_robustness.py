"""No body makes a check raise, change anything, or name a rule that is not declared."""

import copy
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import Dialect, Target
from legato.wire.dialects import dialect_parts
from rule_targets import TARGETS, check, target_of_route
from rules import CASES, Case

# Words that the rules look for, so that arbitrary JSON is not arbitrarily far from a request.
_WORDS = st.sampled_from(
    [
        "messages",
        "input",
        "contents",
        "role",
        "content",
        "parts",
        "type",
        "text",
        "tool_calls",
        "tool_call_id",
        "id",
        "call_id",
        "name",
        "arguments",
        "function",
        "user",
        "assistant",
        "system",
        "developer",
        "tool",
        "model",
        "function_call",
        "function_call_output",
        "reasoning",
        "summary",
        "encrypted_content",
        "output",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "thinking",
        "redacted_thinking",
        "signature",
        "data",
        "image",
        "document",
        "functionCall",
        "function_call",
        "functionResponse",
        "args",
        "response",
        "thoughtSignature",
        "tools",
        "tool_choice",
        "max_tokens",
        "tool-call",
        "tool-result",
        "toolCallId",
        "toolName",
        "output",
        "value",
        "prefix",
        "cache_control",
        "is_error",
        "image_url",
        "read",
        "call_1",
        "abcDEF123",
        "thinking",
        "enabled",
        "functionDeclarations",
        "toolConfig",
        "functionCallingConfig",
        "reasoning_content",
        "store",
        "previous_response_id",
        "custom",
        "server_tool_use",
        "srvtoolu_1",
        "web_search_tool_result",
        "tool-approval-request",
        "tool-approval-response",
        "approvalId",
    ]
)
_TEXTS = _WORDS | st.text(st.characters(codec=None), max_size=8) | st.just("\ud83d") | st.just("\x00")
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=5), max_leaves=25
)


def _judge(body: Any, target: Target) -> None:
    for found in check(body, target):
        assert dialect_parts(target.dialect).rules[found.rule].severity is found.severity
        assert found.message
        found.path.encode()


@given(body=_JSON, target=st.sampled_from(TARGETS))
def test_any_json_can_be_judged(body: Any, target: Target):
    _judge(body, target)


@given(
    messages=st.lists(_JSON, max_size=6),
    fields=st.dictionaries(_WORDS, _JSON, max_size=4),
    target=st.sampled_from(TARGETS),
)
def test_any_list_of_messages_can_be_judged(messages: list[Any], fields: dict[str, Any], target: Target):
    field = {Dialect.OPENAI_RESPONSES: "input", Dialect.GEMINI: "contents"}.get(target.dialect, "messages")
    _judge({**fields, field: messages}, target)


@given(case=st.sampled_from(CASES), data=st.data())
def test_a_right_body_with_anything_in_any_place_can_be_judged(case: Case, data: st.DataObject):
    body = copy.deepcopy(case.accepted)
    for _ in range(data.draw(st.integers(1, 3))):
        _change_something(body, data)
    targets = [target for target in TARGETS if target.dialect is case.dialect]

    _judge(body, data.draw(st.sampled_from(targets)))


def _change_something(body: dict[str, Any], data: st.DataObject) -> None:
    value: Any = body
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = value[key]
        if not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        value = inner
    if data.draw(st.booleans()):
        del value[key]
    else:
        value[key] = data.draw(_JSON)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_judging_changes_nothing(case: Case):
    before = copy.deepcopy(case.refused)
    check(case.refused, target_of_route(case.dialect, case.rule.route))

    assert _comparable(case.refused) == _comparable(before)


def _comparable(value: Any) -> Any:
    """`value` with NaN, which is never equal to itself, as a word."""
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.dialect}-{target.route}")
@pytest.mark.parametrize("body", [None, [], "text", 1, {}], ids=repr)
def test_what_is_no_request_at_all_is_refused(target: Target, body: Any):
    assert [found.rule for found in check(body, target) if found.severity == "refused"] != []


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.dialect}-{target.route}")
def test_a_body_as_deep_as_can_be_is_judged_without_running_out_of_stack(target: Target):
    deep: Any = "bottom"
    for level in range(50_000):
        deep = [deep] if level % 2 else {"content": deep}
    field = {Dialect.OPENAI_RESPONSES: "input", Dialect.GEMINI: "contents"}.get(target.dialect, "messages")

    assert "json/too-deep" in {
        found.rule for found in check({field: [{"role": "user", "content": deep}, deep]}, target)
    }
