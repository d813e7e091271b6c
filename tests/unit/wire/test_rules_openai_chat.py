"""Chat Completions: what the examples do not show, and how the servers differ."""

from typing import Any

import pytest

from legato.model import Target
from rule_targets import chat, check

_OPENAI = chat("openai")
_STRICT = chat("vllm", profile="strict")
_MISTRAL = chat("mistral", user_after_tool=False)
_KIMI = chat("kimi")
_DEEPSEEK = chat("deepseek")


def _user(content: Any = "Hello") -> dict[str, Any]:
    return {"role": "user", "content": content}


def _calls(*ids: str, **fields: Any) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "read", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **fields}


def _call(**changes: Any) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}, **changes}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _result(call_id: Any = "call_1", content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def _judge(target: Target, *messages: Any, **fields: Any) -> list[str]:
    found = check({"messages": list(messages), **fields}, target)
    return [f"{violation.severity} {violation.rule} {violation.path}" for violation in found]


@pytest.mark.parametrize(
    ("target", "messages", "findings"),
    [
        # Results may come in any order, and in one run only.
        (_OPENAI, [_user(), _calls("call_1", "call_2"), _result("call_2"), _result("call_1")], []),
        (
            _OPENAI,
            [_user(), _calls("call_1"), _calls("call_2"), _result("call_2"), _result("call_1")],
            ["refused openai-chat/result-too-late messages[4]"],
        ),
        # What is no message ends a run of results.
        (
            _OPENAI,
            [_user(), _calls("call_1"), None, _result()],
            ["refused openai-chat/message-form messages[2]", "refused openai-chat/result-too-late messages[3]"],
        ),
        (
            _OPENAI,
            [_user(), _calls("call_1"), {"role": ["tool"]}, _result()],
            ["refused openai-chat/unknown-role messages[2].role", "refused openai-chat/result-too-late messages[3]"],
        ),
        (
            _OPENAI,
            [_user(), _calls("call_1"), _result(None), _result()],
            ["refused openai-chat/unknown-result messages[2]"],
        ),
        # Calls.
        (_OPENAI, [_user(), _call(id=7), _user()], ["refused openai-chat/id-form messages[1].tool_calls[0].id"]),
        (_OPENAI, [_user(), _call(id=""), _user()], ["refused openai-chat/id-form messages[1].tool_calls[0].id"]),
        (
            _OPENAI,
            [_user(), _call(type=None), _result()],
            ["refused openai-chat/call-type messages[1].tool_calls[0].type"],
        ),
        (
            _OPENAI,
            [_user(), _call(type=["function"]), _result()],
            ["refused openai-chat/call-type messages[1].tool_calls[0].type"],
        ),
        (_OPENAI, [_user(), _call(type="custom", custom={"name": "sql", "input": "select 1"}), _result()], []),
        (
            _STRICT,
            [_user(), _call(type="custom", custom={}), _result()],
            ["refused openai-chat/call-type messages[1].tool_calls[0].type"],
        ),
        (
            _OPENAI,
            [_user(), {"role": "assistant", "content": "", "tool_calls": ["read"]}, _user()],
            ["refused openai-chat/flat-call messages[1].tool_calls[0]"],
        ),
        (
            _OPENAI,
            [_user(), {"role": "assistant", "content": "", "tool_calls": {}}, _user()],
            ["refused openai-chat/calls-form messages[1].tool_calls"],
        ),
        (_OPENAI, [_user(), {"role": "assistant", "content": "Hi", "tool_calls": None}, _user()], []),
        (_OPENAI, [_user(), {"role": "user", "content": "Hi", "tool_calls": None, "name": None}], []),
        # An id as long as 51 was taken elsewhere.
        (
            _STRICT,
            [_user(), _calls("tool_" + "x" * 46), _result("tool_" + "x" * 46)],
            ["risky openai-chat/id-habit messages[1].tool_calls[0].id"],
        ),
        # Content.
        (_OPENAI, [{"role": "assistant", "content": None, "refusal": "No."}, _user()], []),
        (_OPENAI, [{"role": "assistant", "content": None}, _user()], ["refused openai-chat/null-content messages[0]"]),
        (_OPENAI, [_user(5)], ["refused openai-chat/content-form messages[0].content"]),
        (_OPENAI, [_user([{"type": 5}])], ["refused openai-chat/part-form messages[0].content[0]"]),
        (_OPENAI, [_user([{"type": "file", "file": {}}])], []),
        (chat("openai", result_images=True), [_user(), _calls("call_1"), _result(content=[{"type": "image_url"}])], []),
        (_STRICT, [_user([{"type": "video_url", "video_url": {}}])], []),
        (
            _STRICT,
            [{"role": "system", "content": [{"type": "image_url"}]}, _user()],
            ["refused openai-chat/image-place messages[0].content[0]"],
        ),
        (_KIMI, [_user(), _calls("functions.read:0"), _result("functions.read:0", [{"type": "image_url"}])], []),
        (_OPENAI, [_user(""), {"role": "assistant", "content": ""}, _user()], []),
        (_STRICT, [_user("")], ["risky openai-chat/empty-content messages[0].content"]),
        (_STRICT, [_user(), _call() | {"content": ""}, _result()], []),
        (
            chat("strict", empty_text=False),
            [_user(), _calls("call_1"), _result(content="")],
            ["refused strict/empty-text messages[2].content"],
        ),
        # A model that takes text or calls.
        (chat("openai", text_beside_calls=False), [_user(), _calls("call_1", content=" "), _result()], []),
        (
            chat("openai", text_beside_calls=False),
            [_user(), _calls("call_1", content=[{"type": "text", "text": "So."}]), _result()],
            ["refused openai-chat/text-beside-calls messages[1]"],
        ),
        (
            chat("openai", max_calls=1),
            [_user(), _calls("call_1", "call_2"), _result(), _result("call_2")],
            ["refused openai-chat/too-many-calls messages[1].tool_calls"],
        ),
        # The end.
        (chat("openai", prefill=True), [_user(), {"role": "assistant", "content": "So"}], []),
        (_KIMI, [_user(), {"role": "assistant", "content": "So", "partial": True}], []),
        (_DEEPSEEK, [_user(), {"role": "assistant", "content": "So", "prefix": True}], []),
        (
            _DEEPSEEK,
            [_user(), {"role": "assistant", "content": "So"}],
            ["risky openai-chat/ends-on-answer messages[1]"],
        ),
        (chat("openai", developer_role=True), [{"role": "developer", "content": "Be brief."}, _user()], []),
        # Reasoning.
        (
            _STRICT,
            [_user(), _calls("call_1", reasoning="Hm."), _result()],
            ["risky openai-chat/reasoning-field messages[1].reasoning"],
        ),
        (_DEEPSEEK, [_user(), _calls("call_1", reasoning_content="Hm."), _result()], []),
        (_DEEPSEEK, [_user(), {"role": "assistant", "content": None, "reasoning_content": "Hm."}, _user()], []),
        (_DEEPSEEK, [{"role": "latest_reminder", "content": "Be brief."}, _user()], []),
        (_KIMI, [_user(), {"role": "assistant", "content": "", "reasoning_content": "Hm."}, _user()], []),
        (_KIMI, [_user("")], ["refused kimi/empty-message messages[0].content"]),
        (
            _KIMI,
            [_user(), _calls("functions.read:0"), _result("functions.read:0", "")],
            ["risky openai-chat/empty-content messages[2].content"],
        ),
    ],
    ids=lambda value: None,
)
def test_messages_are_judged(target: Target, messages: list[Any], findings: list[str]):
    assert _judge(target, *messages) == findings


@pytest.mark.parametrize(
    ("messages", "findings"),
    [
        ([_user(), _calls("abcDEF123", content=[]), _result("abcDEF123", name="read")], []),
        (
            [
                _user(),
                {"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "prefix": False, "tool_calls": []},
                _user(),
            ],
            [],
        ),
        (
            [_user(), {"role": "assistant", "content": [], "tool_calls": []}, _user()],
            ["refused mistral/empty-answer messages[1]"],
        ),
        ([_user([{"type": "document_url", "document_url": "https://example.com"}])], []),
        (
            [_result("abcDEF123", name="read"), _user()],
            [
                "refused openai-chat/orphan-result messages[0]",
                "refused mistral/user-after-tool messages[1]",
            ],
        ),
        (
            [_user(), _calls("abcDEF123"), _user(), _result("abcDEF123", name="read")],
            ["refused mistral/role-order messages[3]", "refused openai-chat/result-too-late messages[3]"],
        ),
        ([{"role": "assistant", "content": "Hi"}, _user()], []),
        (
            [
                _user(),
                {"role": "assistant", "content": "Hi", "prefix": True},
                {"role": "assistant", "content": "Hi", "prefix": True},
            ],
            ["refused mistral/prefix-place messages[1].prefix"],
        ),
        (
            [_result("abcDEF123", name="read")],
            [
                "refused openai-chat/orphan-result messages[0]",
                "refused mistral/lone-message messages[0]",
            ],
        ),
        (
            [_user(), _calls("abcDEF123"), _result("call_1", name="read")],
            [
                "refused mistral/id-form messages[2].tool_call_id",
                "refused openai-chat/unknown-result messages[2]",
                "refused openai-chat/unanswered-call messages[1].tool_calls[0]",
            ],
        ),
    ],
    ids=lambda value: None,
)
def test_mistral_has_its_own_order(messages: list[Any], findings: list[str]):
    assert _judge(_MISTRAL, *messages) == findings


def test_mistral_takes_arguments_as_objects_and_calls_without_a_type():
    call = {"id": "abcDEF123", "function": {"name": "read", "arguments": {"path": "a"}}}
    answer = {"role": "assistant", "content": "", "tool_calls": [call]}

    assert _judge(_MISTRAL, _user(), answer, _result("abcDEF123", name="read")) == []


def test_a_mistral_server_that_is_newer_takes_a_user_after_a_tool():
    messages = [_user(), _calls("abcDEF123"), _result("abcDEF123", name="read"), _user()]

    assert _judge(chat("mistral", user_after_tool=True), *messages) == []


@pytest.mark.parametrize(
    ("default", "switch", "thinks"),
    [
        (False, None, False),
        (True, None, True),
        (False, {"type": "enabled"}, True),
        (True, {"type": "enabled", "keep": "all"}, True),
        (True, {"type": "disabled"}, False),
        (True, "disabled", True),
    ],
)
@pytest.mark.parametrize("profile", ["kimi", "deepseek"])
def test_reasoning_is_asked_for_only_while_the_model_thinks(profile: str, default: bool, switch: Any, thinks: bool):
    target = chat(profile, thinking_default=default, reasoning_field=True)
    findings = _judge(target, _user(), _calls("functions.read:0"), _result("functions.read:0"), thinking=switch)

    assert (f"refused {profile}/reasoning-missing messages[1]" in findings) is thinks


@pytest.mark.parametrize(
    ("target", "fields", "findings"),
    [
        (_OPENAI, {"tools": {}}, ["refused openai-chat/tool-form tools"]),
        (_OPENAI, {"tools": ["read"]}, ["refused openai-chat/tool-form tools[0]"]),
        (_OPENAI, {"tools": [{"type": "function"}]}, ["refused openai-chat/tool-form tools[0]"]),
        (_OPENAI, {"tools": [{"type": "custom", "custom": {"name": "sql"}}]}, []),
        (
            _OPENAI,
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            ["refused openai-chat/name-form tools[0].function.name"],
        ),
        (_OPENAI, {"tools": None, "tool_choice": None}, []),
        (_MISTRAL, {"tools": [{"function": {"name": "read"}}]}, []),
        (_MISTRAL, {"tools": []}, []),
        (_STRICT, {"tools": []}, ["refused openai-chat/empty-tools tools"]),
        (_DEEPSEEK, {"tools": []}, ["refused openai-chat/empty-tools tools"]),
        (chat("openrouter", profile="strict"), {"tools": []}, ["risky strict/empty-tools tools"]),
        (
            chat("kimi", thinking_default=True),
            {"tools": [{"type": "function", "function": {"name": "read"}}], "tool_choice": {"type": "function"}},
            ["refused kimi/forced-tool tool_choice"],
        ),
        (_KIMI, {"tool_choice": "auto"}, []),
    ],
    ids=lambda value: None,
)
def test_the_envelope_is_judged(target: Target, fields: dict[str, Any], findings: list[str]):
    assert _judge(target, _user(), **fields) == findings


def test_an_unknown_profile_is_judged_as_a_strict_one():
    assert _judge(
        chat("acme", profile="acme"), _user(), _call(function={"name": "read", "arguments": "no"}), _result()
    ) == ["refused strict/arguments messages[1].tool_calls[0].function.arguments"]


_IDS = {
    "openai": "call_{}",
    "strict": "call_{}",
    "deepseek": "call_{}",
    "kimi": "functions.read:{}",
    "mistral": "abcDEF12{}",
}


@pytest.mark.req("REQ-915-005")
@pytest.mark.parametrize("profile", _IDS)
@pytest.mark.parametrize(
    ("calls", "results", "rule"),
    [
        ([1, 2], [2, 1], None),
        ([1, 2], [1], "unanswered-call"),
        ([1], [1, 1], "duplicate-result"),
        ([1], [1, 3], "unknown-result"),
        ([1, 1], [1], "duplicate-call-id"),
    ],
)
def test_every_server_wants_one_result_for_each_call(
    profile: str, calls: list[int], results: list[int], rule: str | None
):
    form = _IDS[profile]
    answered = [_result(form.format(number), name="read") for number in results]

    findings = _judge(chat(profile), _user(), _calls(*map(form.format, calls), content=""), *answered)

    assert [finding.split()[1] for finding in findings] == ([f"openai-chat/{rule}"] if rule else [])
