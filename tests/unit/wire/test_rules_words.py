"""The words of the providers: how they are filled in, who confirms them, and that our own client recognises them."""

import json
from pathlib import Path
from typing import Any

import pytest
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidatorV3,
    MistralRequestValidatorV11,
    ValidationMode,
)

from legato.errors import MediaRefused, ProtocolRefused
from legato.transport import classify, complaint_of, wire_request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.hosts.mistral import VALIDATOR
from legato.wire.rules import refused
from rule_targets import check, target_of_exchange, target_of_route
from rules import CASES, Case

_REJECTED = Path(__file__).resolve().parents[4] / "shared" / "samples" / "provider-exchanges" / "rejected.jsonl"

_BODY = {
    "messages": [
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "n" * 100}],
            "tool_calls": [{"id": "call_1", "type": "function"}],
        },
        {"role": "tool", "tool_call_id": "call_9", "id": "item_1"},
    ]
}


@pytest.mark.parametrize(
    ("template", "path", "words"),
    [
        ("plain", "messages[1]", "plain"),
        ("at {path}", "messages[1].content", "at messages[1].content"),
        ("{field} of {parent}", "messages[1].content[0].type", "type of messages[1].content[0]"),
        ("message {index}", "messages[1].content[0]", "message 1"),
        ("{role} after {before}", "messages[2]", "tool after assistant"),
        ("{role} after {before}", "messages[0]", "user after …"),
        ("{id}, a {type}", "messages[1].content[0]", "toolu_1, a tool_use"),
        ("{id}", "messages[1].tool_calls[0].id", "call_1"),
        ("{id}", "messages[2]", "call_9"),
        ("{value}", "messages[2].id", "item_1"),
        ("{value}", "messages[1].content[0].name", "n" * 80 + "…"),
        ("{value} {id} {type}", "messages[7].x[1]", "… … …"),
        ("{path}{index}{role}", "", "………"),
        ("as '^[a-z]{1,128}$' and {unknown}", "messages[0]", "as '^[a-z]{1,128}$' and {unknown}"),
    ],
)
def test_the_words_of_a_provider_point_at_the_request(template: str, path: str, words: str):
    rule = refused("a/b", "It is so.", source="o/r#1", route="p/m", error=template)

    assert rule.words(path, _BODY) == words


def test_what_is_not_known_of_the_request_is_an_ellipsis():
    rule = refused("a/b", "It is so.", source="o/r#1", route="p/m", error="no {id} at {path}", code="42")

    assert rule.quotation() == "“no … at …” (42)."


def test_a_server_with_words_of_its_own_says_those():
    rule = refused("a/b", "It is so.", source="o/r#1", route="p/m", error="no", errors={"kimi": "never"})

    assert [rule.words(host=host) for host in ("", "openai", "kimi")] == ["no", "no", "never"]


def test_where_the_words_are_not_known_nothing_is_quoted():
    assert refused("a/b", "It is so.", source="o/r#1", route="p/m", code="42").quotation() == ""


# --- who confirms them ------------------------------------------------------------------------------------------------


def _words(case: Case, host: str) -> list[str]:
    """What is said about the example, once for each place that it is found at."""
    findings = check(case.refused, target_of_route(case.dialect, case.rule.route))
    return [case.rule.words(found.path, case.refused, host=host) for found in findings if found.rule == case.rule.id]


@pytest.mark.skipif(not _REJECTED.is_file(), reason="the recorded exchanges are not on this machine")
def test_providers_said_what_is_declared():
    confirmed: set[str] = set()
    for line in _REJECTED.read_text(encoding="utf-8").splitlines():
        exchange = json.loads(line)
        body = exchange["request"]
        target = target_of_exchange(exchange["host"], exchange["path"], body.get("model") or "")
        if target is None:
            continue
        for found in check(body, target):
            words = dialect_parts(target.dialect).rules[found.rule].words(found.path, body, host=target.server)
            assert words in complaint_of(exchange["response"]).message
            confirmed.add(found.rule)

    assert {"openai-responses/reasoning-alone", "openai-chat/developer-role", "bedrock/s3-location"} <= confirmed


_BY_THE_VALIDATOR = [case for case in CASES if VALIDATOR in case.rule.sources and case.rule.words(host="mistral")]


@pytest.mark.parametrize("case", _BY_THE_VALIDATOR, ids=lambda case: case.rule.id)
def test_the_published_validator_of_mistral_says_what_is_declared(case: Case):
    said = [_validate(case.refused, version) for version in (MistralRequestValidatorV3, MistralRequestValidatorV11)]

    # The last role is told in other words by newer versions; the first call's result has an id that its call does not.
    words = [text.partition(" with prefix")[0].partition(" …")[0] for text in _words(case, "mistral")]

    assert any(text in answer for text in words for answer in said)


def _validate(body: dict[str, Any], version: type[MistralRequestValidatorV3]) -> str:
    try:
        version(ValidationMode.serving).validate_request(ChatCompletionRequest.model_validate(body))
    except MistralCommonException as error:
        return str(error)
    return ""


# --- who recognises them ----------------------------------------------------------------------------------------------


def _is_about_the_history(case: Case) -> bool:
    target = target_of_route(case.dialect, case.rule.route)
    field = f"{dialect_parts(case.dialect).messages_field}["
    return any(found.rule == case.rule.id and found.path.startswith(field) for found in check(case.refused, target))


@pytest.mark.parametrize(
    ("case", "host"),
    [
        pytest.param(case, host, id=f"{case.id}-{host}")
        for case in CASES
        for host in ("", *case.rule.errors)
        if case.rule.severity is Severity.REFUSED and case.rule.words(host=host) and _is_about_the_history(case)
    ],
)
def test_our_client_knows_by_the_words_alone_that_its_history_was_refused(case: Case, host: str):
    request = wire_request(target_of_route(case.dialect, case.rule.route), b"{}", key=None, stream=False)

    for words in _words(case, host):
        error = classify(complaint_of({"error": {"message": words}}), request, status=400)
        assert isinstance(error, ProtocolRefused | MediaRefused)
