"""Messages: turns of several messages, instructions in the middle, thinking and loops, endings."""

from typing import Any

import pytest

from legato.model import Target
from rule_targets import check, claude

_OLD = claude("claude-sonnet-4-5")
_NEW = claude("claude-opus-4-8")
_BUDGET = {"type": "enabled", "budget_tokens": 2048}
_ADAPTIVE = {"type": "adaptive"}


def _text(text: str = "Hello") -> dict[str, Any]:
    return {"type": "text", "text": text}


def _user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "Hello"}


def _said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks) or "Hi"}


def _system(*blocks: Any) -> dict[str, Any]:
    return {"role": "system", "content": list(blocks) or "Be brief."}


def _call(call_id: Any = "toolu_1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}, **fields}


def _result(call_id: Any = "toolu_1", content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


_THOUGHT = {"type": "thinking", "thinking": "", "signature": "Eu"}
_REDACTED = {"type": "redacted_thinking", "data": "Eu"}
_LOOP = [_user(), _said(_THOUGHT, _call()), _user(_result()), _said(_call("toolu_2")), _user(_result("toolu_2"))]
_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def _judge(target: Target, *messages: Any, **fields: Any) -> list[str]:
    body = {"max_tokens": 1, "tools": [{"name": "read", "input_schema": {}}], "messages": list(messages), **fields}
    return [f"{violation.severity} {violation.rule} {violation.path}" for violation in check(body, target)]


@pytest.mark.parametrize(
    ("target", "messages", "findings"),
    [
        # Neighbours are one turn.
        (
            _OLD,
            [_user(), _said(_call()), _said(_call("toolu_2")), _user(_result()), _user(_result("toolu_2"))],
            ["risky anthropic/neighbours messages[2]", "risky anthropic/neighbours messages[4]"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(), _user(_result())],
            ["risky anthropic/neighbours messages[3]", "refused anthropic/result-not-first messages[3].content[0]"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _said(), _user(_result())],
            ["risky anthropic/neighbours messages[2]", "refused anthropic/text-after-call messages[2].content"],
        ),
        (
            _OLD,
            [_user(), _said(_THOUGHT), _said(_text()), _user()],
            ["risky anthropic/neighbours messages[2]"],
        ),
        # Instructions in the middle.
        (_NEW, [_user(), _system(), _said(), _user()], []),
        (_NEW, [_user(), _system({"type": "tool_addition", "tool": {}})], []),
        (_NEW, [_user(), _said(_call()), _user(_result()), _system(), _said(), _user()], []),
        (
            _NEW,
            [_system(), _user()],
            ["refused anthropic/system-place messages[0]", "refused anthropic/system-place messages[0]"],
        ),
        (_NEW, [_user(), _system(), _user()], ["refused anthropic/system-place messages[1]"]),
        (_NEW, [_user(), _system(), _system()], ["refused anthropic/system-place messages[2]"]),
        (
            _NEW,
            [_user(), _said(_call()), _system(), _user(_result())],
            ["refused anthropic/system-place messages[2]", "refused anthropic/system-place messages[2]"],
        ),
        (_OLD, [_user(), _system(), _system(), _user()], ["refused anthropic/system-role messages[1].role"]),
        # Content.
        (_OLD, [None, _user()], ["refused anthropic/message-form messages[0]"]),
        (_OLD, [{"role": ["user"]}, _user()], ["refused anthropic/unknown-role messages[0].role"]),
        (_OLD, [_user({"text": "Hi"})], ["refused anthropic/content-form messages[0].content[0]"]),
        (_OLD, [{"role": "user", "content": 5}], ["refused anthropic/content-form messages[0].content"]),
        (_OLD, [{"role": "user"}], ["refused anthropic/empty-message messages[0]"]),
        (_OLD, [_user(), {"role": "assistant", "content": []}], []),
        (_OLD, [{"role": "user", "content": "\u2003\n"}], ["refused anthropic/blank-text messages[0].content"]),
        (_OLD, [_user({"type": "text"})], ["refused anthropic/blank-text messages[0].content[0]"]),
        (_OLD, [_user(_call()), _said(), _user()], ["refused anthropic/block-place messages[0].content[0]"]),
        (_OLD, [_user({"type": "container_upload"})], []),
        # Calls and results.
        (
            _OLD,
            [_user(), _said(_call(5)), _user(_result(5))],
            [
                "refused anthropic/id-form messages[1].content[0].id",
                "refused anthropic/id-form messages[2].content[0].tool_use_id",
            ],
        ),
        (
            _OLD,
            [_user(), _said(_call(name="n" * 201)), _user(_result())],
            ["refused anthropic/name-form messages[1].content[0].name"],
        ),
        (_OLD, [_user(), _said(_call(name="any name at all")), _user(_result())], []),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=None))],
            ["risky anthropic/empty-result messages[2].content[0].content"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[]))],
            ["risky anthropic/empty-result messages[2].content[0].content"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[], is_error=True))],
            ["refused anthropic/empty-error messages[2].content[0].content"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[_text(" ")], is_error=True))],
            ["refused anthropic/empty-error messages[2].content[0].content"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[_text(" "), _text()], is_error=True))],
            ["risky anthropic/empty-result messages[2].content[0].content"],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[{"type": "tool_use"}, "x"]))],
            [
                "refused anthropic/result-content messages[2].content[0].content[0]",
                "refused anthropic/result-content messages[2].content[0].content[1]",
            ],
        ),
        (
            _OLD,
            [_user(), _said(_call()), _user(_result(content=[{"type": "tool_reference", "tool_name": "x"}]), _text())],
            [],
        ),
        (_OLD, [_user(), _said(_SEARCH, _FOUND, _text(), _call()), _user(_result())], []),
        (_OLD, [_user(), _said(_SEARCH, _call()), _user(_result()), _said(_FOUND, _text()), _user()], []),
        (_OLD, [_user(), _said({"type": "mcp_tool_use", "id": 5}, _call()), _user(_result())], []),
        # Thinking.
        (_OLD, [_user(), _said(_REDACTED, _text()), _user()], []),
        (
            _OLD,
            [_user(), _said({"type": "redacted_thinking"}, _text()), _user()],
            ["refused anthropic/thinking-unsigned messages[1].content[0]"],
        ),
        (
            _OLD,
            [_user(), _said(_text(), _THOUGHT, _text()), _user()],
            ["refused anthropic/thinking-not-first messages[1].content[1]"],
        ),
        (_OLD, [_user(), _said(_THOUGHT, _SEARCH, _FOUND, _THOUGHT, _text()), _user()], []),
        # The end.
        (_OLD, [_user(), _said(_SEARCH)], []),
        (
            _OLD,
            [_user(), _said({"type": "text", "text": "So\n"})],
            ["refused anthropic/prefill-whitespace messages[1].content[0]"],
        ),
        (_OLD, [_user(), _said()], ["risky anthropic/ends-on-answer messages[1].content"]),
        (_NEW, [_user(), _said()], ["refused anthropic/prefill messages[1].content"]),
    ],
    ids=lambda value: None,
)
def test_messages_are_judged(target: Target, messages: list[Any], findings: list[str]):
    assert _judge(target, *messages) == findings


@pytest.mark.req("REQ-915-005")
@pytest.mark.parametrize(
    ("thinking", "messages", "findings"),
    [
        (_BUDGET, _LOOP, []),
        (_BUDGET, [_user(), _said(_REDACTED, _call()), _user(_result())], []),
        (
            _BUDGET,
            [_user(), _said(_call()), _user(_result()), _said(_THOUGHT, _call("toolu_2")), _user(_result("toolu_2"))],
            ["refused anthropic/loop-without-thinking messages[1]"],
        ),
        (_BUDGET, [_user(), _said(_call()), _user(_result()), _said(), _user()], []),
        (
            _BUDGET,
            [_user(), _said(_call()), _user(_result(), _text())],
            ["refused anthropic/loop-without-thinking messages[1]"],
        ),
        (
            _BUDGET,
            [
                _user(),
                _said(_THOUGHT, _call()),
                _user(_result(), _text()),
                _said(_call("toolu_2")),
                _user(_result("toolu_2")),
            ],
            [],
        ),
        ({"type": "disabled"}, _LOOP, ["refused anthropic/thinking-while-off messages[1].content[0]"]),
        (None, [*_LOOP, _said(), _user()], []),
        (_BUDGET, [_user(), _said(_call("toolu_0")), _user(_result("toolu_0")), _said(), *_LOOP], []),
        (_BUDGET, [_user(_result())], ["refused anthropic/orphan-result messages[0].content[0]"]),
        ({"type": "disabled"}, [_user(), _said(_call()), _user(_result())], []),
        (_BUDGET, [_user(), _said(_THOUGHT, _text())], ["refused anthropic/prefill messages[1].content[1]"]),
        (
            {"type": "disabled"},
            [_user(), _said(_THOUGHT, _text())],
            [
                "refused anthropic/thinking-while-off messages[1].content[0]",
                "risky anthropic/ends-on-answer messages[1].content[1]",
            ],
        ),
    ],
    ids=lambda value: None,
)
def test_an_open_loop_begins_with_thinking_where_that_is_checked(
    thinking: Any, messages: list[Any], findings: list[str]
):
    assert _judge(_OLD, *messages, thinking=thinking) == findings


@pytest.mark.parametrize("said", [[_call()], [_text(), _THOUGHT, _call()]])
def test_a_loop_begins_with_anything_where_thinking_is_adaptive(said: list[Any]):
    assert _judge(claude("claude-sonnet-4-6"), _user(), _said(*said), _user(_result()), thinking=_ADAPTIVE) == []


def test_a_model_that_thinks_by_itself_may_end_on_its_own_thinking():
    target = claude("claude-3-haiku", thinking_default=True)

    assert _judge(target, _user(), _said(_THOUGHT, _text())) == [
        "risky anthropic/ends-on-answer messages[1].content[1]"
    ]


@pytest.mark.parametrize(
    ("fields", "findings"),
    [
        ({"max_tokens": None}, ["refused anthropic/max-tokens max_tokens"]),
        ({"max_tokens": True}, ["refused anthropic/max-tokens max_tokens"]),
        ({"max_tokens": 0}, ["refused anthropic/max-tokens max_tokens"]),
        ({"system": ""}, []),
        ({"system": " "}, ["refused anthropic/blank-text system"]),
        (
            {"system": [_text(), _text(""), 5]},
            ["refused anthropic/blank-text system[1]", "refused anthropic/blank-text system[2]"],
        ),
        ({"system": {}}, ["refused anthropic/content-form system"]),
        ({"tools": None}, []),
        ({"tools": ["read"]}, ["refused anthropic/tool-form tools[0]"]),
        ({"tools": [{"type": "custom", "name": "a b"}]}, ["refused anthropic/tool-name tools[0].name"]),
        ({"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}, []),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, []),
        ({"tool_choice": {"type": "any"}}, []),
        (
            {"tool_choice": {"type": "tool", "name": "read"}, "thinking": _BUDGET},
            ["refused anthropic/forced-tool tool_choice"],
        ),
        ({"messages": {}}, ["refused anthropic/no-messages messages"]),
    ],
)
def test_the_envelope_is_judged(fields: dict[str, Any], findings: list[str]):
    assert _judge(_OLD, _user(), **fields) == findings


def test_counting_tokens_needs_no_limit():
    target = claude("claude-sonnet-4-5", endpoint="https://api.anthropic.com/v1/messages/count_tokens")

    assert check({"messages": [_user()]}, target) == []


def test_tools_need_not_be_defined_where_they_are_not_demanded():
    messages = [_user(), _said(_call()), _user(_result())]

    assert _judge(claude("claude-sonnet-4-5", demands_tools=False), *messages, tools=None) == []


def test_cache_marks_are_counted_everywhere():
    mark = {"cache_control": {"type": "ephemeral"}}
    result = _result(content=[_text() | mark])
    fields: dict[str, Any] = {"system": [_text() | mark], "tools": [{"name": "read"} | mark]}

    assert _judge(_OLD, _user(_text() | mark), _said(_call()), _user(result), **fields) == []
    assert _judge(_OLD, _user(_text() | mark), _said(_call()), _user(result | mark), **fields) == [
        "refused anthropic/cache-marks "
    ]
    assert _judge(_OLD, *(_user(_text() | {"cache_control": None}) for _ in range(5))) == [
        f"risky anthropic/neighbours messages[{index}]" for index in range(1, 5)
    ]
