"""Gemini: both spellings, neighbours that count as one, signatures in the current turn."""

from typing import Any

import pytest

from legato.model import Target
from rule_targets import check, gemini_model

_OLD = gemini_model("gemini-2.5-flash")
_NEW = gemini_model("gemini-3-flash-preview")


def _user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts) or [{"text": "Hello"}]}


def _model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts) or [{"text": "Hi"}]}


def _call(name: Any = "read", signature: Any = None, **fields: Any) -> dict[str, Any]:
    part = {"functionCall": {"name": name, "args": {}, **fields}}
    return part if signature is None else {**part, "thoughtSignature": signature}


def _response(name: Any = "read", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {}, **fields}}


def _judge(target: Target, *contents: Any, **fields: Any) -> list[str]:
    found = check({"contents": list(contents), **fields}, target)
    return [f"{violation.severity} {violation.rule} {violation.path}" for violation in found]


@pytest.mark.parametrize(
    ("contents", "findings"),
    [
        # Neighbouring contents of the model are one.
        ([_user(), _model(_call()), _model(_call("list")), _user(_response(), _response("list"))], []),
        ([_user(), _model(), _model(_call()), _user(_response())], []),
        (
            [_model(), _model(_call()), _user(_response())],
            ["risky gemini/first-content contents[0]", "refused gemini/call-place contents[1]"],
        ),
        # Responses stand all in the next content.
        ([_user(), _model(_call()), _user(_response()), _user()], []),
        (
            [_user(), _model(_call()), _user(), _user(_response())],
            ["refused gemini/unanswered-call contents[1].parts[0]", "refused gemini/orphan-response contents[3]"],
        ),
        ([_user(), _model(_call())], ["refused gemini/unanswered-call contents[1].parts[0]"]),
        ([_user(), _model(_call()), _user(_response(), _response())], ["refused gemini/response-count contents[2]"]),
        ([_user(_call())], ["refused gemini/part-place contents[0].parts[0]"]),
        # Ids, where they are used.
        ([_user(), _model(_call(id="a"), _call(id="b")), _user(_response(id="b"), _response(id="a"))], []),
        (
            [_user(), _model(_call(id="a"), _call(id="b")), _user(_response(id="a"), _response(id="a"))],
            ["refused gemini/response-id contents[2].parts[1]"],
        ),
        (
            [_user(), _model(_call(id="a"), _call("list", id="b")), _user(_response(id="b"), _response(id="a"))],
            ["risky gemini/response-name contents[2].parts[0]"],
        ),
        ([_user(), _model(_call()), _user(_response(id="a"))], ["risky gemini/id-one-sided contents[2].parts[0]"]),
        # Shapes.
        ([{"parts": {"text": "Hello"}}], ["risky gemini/role-missing contents[0]"]),
        ([{"role": ["user"], "parts": [{"text": "Hello"}]}], ["refused gemini/unknown-role contents[0].role"]),
        ([{"role": "user"}], ["refused gemini/no-parts contents[0]"]),
        ([_user("Hello")], ["refused gemini/part-data contents[0].parts[0]"]),
        ([_user({"text": "Hello", "inlineData": {}})], ["refused gemini/part-data contents[0].parts[0]"]),
        ([_user({"text": None, "inline_data": {}})], []),
        ([_user(), _model({"text": "", "thought_signature": "Eu4="}), _user()], []),
        ([_user(), _model({"text": "Hm.", "thought": True}), _user()], []),
        # As the model's own stream ends, which Google's client sends back.
        ([_user(), _model(_call()), _model({"text": ""}), _user(_response())], []),
        ([_user({"text": ""}, {"text": "Hello"})], ["refused gemini/empty-text contents[0].parts[0]"]),
        ([_user() | {"type": "message"}], ["refused gemini/unknown-field contents[0].type"]),
        ([_user({"fileData": {}, "videoMetadata": {}})], []),
        (
            [_user(), _model(_call(type="function")), _user(_response(is_error=True))],
            [
                "refused gemini/unknown-field contents[1].parts[0].functionCall.type",
                "refused gemini/unknown-field contents[2].parts[0].functionResponse.is_error",
            ],
        ),
        ([_user(), _model({"functionCall": "read"}), _user()], ["refused gemini/args-form contents[1].parts[0]"]),
        (
            [_user(), _model(_call()), _user({"functionResponse": "done"})],
            [
                "refused gemini/response-form contents[2].parts[0]",
                "refused gemini/unanswered-call contents[1].parts[0]",
            ],
        ),
        ([_user(), _model(_call(args=None)), _user(_response())], []),
        (
            [_user(), _model(_call("")), _user(_response(""))],
            ["refused gemini/name-missing contents[1].parts[0]", "refused gemini/name-missing contents[2].parts[0]"],
        ),
        (
            [_user(), _model(_call(signature=5)), _user(_response())],
            ["refused gemini/signature-form contents[1].parts[0].thoughtSignature"],
        ),
        (
            [_user(), _model(_call(signature="Eu4_-")), _user(_response())],
            ["refused gemini/signature-form contents[1].parts[0].thoughtSignature"],
        ),
        ([_user(), _model(_call(signature="")), _user(_response())], []),
        ([None], ["refused gemini/content-form contents[0]"]),
        # Prefixes.
        ([_user(), _model()], []),
    ],
    ids=lambda value: None,
)
def test_contents_are_judged(contents: list[Any], findings: list[str]):
    assert _judge(_OLD, *contents) == findings


def test_snake_case_is_read_like_camel_case():
    call = {"function_call": {"name": "read", "args": {}}, "thought_signature": "Eu4="}
    response = {"function_response": {"name": "read", "response": {}, "will_continue": False}}

    assert _judge(_NEW, _user(), _model(call), _user(response)) == []
    assert _judge(_NEW, _user(), _model(call), _user()) == ["refused gemini/unanswered-call contents[1].parts[0]"]


@pytest.mark.parametrize(
    ("contents", "findings"),
    [
        ([_user(), _model(_call(signature="Eu4="), _call()), _user(_response(), _response())], []),
        ([_user(), _model(_call(signature="Eu4=")), _model(_call()), _user(_response(), _response())], []),
        (
            [_user(), _model(_call(), _call(signature="Eu4=")), _user(_response(), _response())],
            ["refused gemini/signature-missing contents[1].parts[0]"],
        ),
        (
            [_user(), _model({"text": "So."}, _call()), _user(_response())],
            ["refused gemini/signature-missing contents[1].parts[1]"],
        ),
        # Each step of the current turn is checked, older turns are not.
        (
            [_user(), _model(_call(signature="Eu4=")), _user(_response()), _model(_call()), _user(_response())],
            ["refused gemini/signature-missing contents[3].parts[0]"],
        ),
        ([_user(), _model(_call()), _user(_response()), _model(), _user()], []),
        ([_user(), _model(_call()), _user(_response()), _user()], []),
    ],
    ids=lambda value: None,
)
def test_the_first_call_of_each_step_of_this_turn_is_signed(contents: list[Any], findings: list[str]):
    assert _judge(_NEW, *contents) == findings
    assert [finding for finding in _judge(_OLD, *contents) if "signature" in finding] == []


@pytest.mark.parametrize(
    ("fields", "findings"),
    [
        ({"tools": {"function_declarations": {"name": "read"}}}, []),
        ({"tools": [{"googleSearch": {}}, 5]}, []),
        (
            {"tools": [{"functionDeclarations": [5]}]},
            ["refused gemini/declared-name tools[0].functionDeclarations[0].name"],
        ),
        (
            {"tools": [{"functionDeclarations": [{"name": "a"}]}, {"function_declarations": [{"name": "a"}]}]},
            ["refused gemini/duplicate-declaration tools[1].functionDeclarations[0].name"],
        ),
        ({"tool_config": {"function_calling_config": {}}}, ["refused gemini/config-without-functions toolConfig"]),
        ({"toolConfig": {"functionCallingConfig": {}}, "cachedContent": "cachedContents/1"}, []),
        ({"toolConfig": {"includeServerSideToolInvocations": True}}, []),
    ],
)
def test_the_envelope_is_judged(fields: dict[str, Any], findings: list[str]):
    assert _judge(_OLD, _user(), **fields) == findings


def test_one_content_may_stand_for_an_array_of_one():
    assert check({"contents": _user()}, _OLD) == []
