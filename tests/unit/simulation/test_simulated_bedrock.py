"""What only a simulated Bedrock does: two paths with the model in them, cache points, counts, and AWS's refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from event_frames import events_of
from legato import render
from legato.model import Dialect, Options, OutputFormat, ThinkingSwitch
from legato.simulation import SimulatedProvider
from legato.simulation.provider import Outcome
from legato.transport.contract import Ask
from legato.wire.hosting import RefusalReason

from builders import talk, user

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ROUTE = f"bedrock/{MODEL}"
HELLO = {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}


def ask(
    provider: SimulatedProvider, body: Any, operation: str = "converse", *, model: str = MODEL, **headers: str
) -> Outcome:
    path = f"/model/{model}/{operation}"
    return provider.answer(Ask(method="POST", path=path, headers=headers, body=json.dumps(body).encode()))


def told(outcome: Outcome) -> Any:
    return json.loads(outcome.reply.body)


def test_the_path_says_whether_an_answer_is_streamed() -> None:
    provider = SimulatedProvider("bedrock")
    whole, streamed = ask(provider, HELLO), ask(provider, HELLO, "converse-stream")
    assert (whole.reply.is_stream, streamed.reply.is_stream) == (False, True)
    assert streamed.reply.headers == {"content-type": "application/vnd.amazon.eventstream"}
    names = [next(iter(event)) for event in events_of(streamed.reply.body, Dialect.BEDROCK)]
    assert (names[0], names[-2:]) == ("messageStart", ["messageStop", "metadata"])
    assert told(whole)["stopReason"] == "end_turn"


def test_a_profile_is_a_model_too() -> None:
    arn = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{MODEL}"
    assert ask(SimulatedProvider("bedrock"), HELLO, model=arn).reply.status == 200


def test_tokens_of_a_wrapped_request_are_counted() -> None:
    outcome = ask(SimulatedProvider("bedrock"), {"input": {"converse": HELLO}}, "count-tokens")
    assert told(outcome).keys() == {"inputTokens"}
    assert told(outcome)["inputTokens"] > 0


@pytest.mark.parametrize(
    ("model", "headers", "reason", "status", "kind"),
    [
        ("unknown-model", {}, RefusalReason.MODEL, 400, "ValidationException"),
        (MODEL, {"authorization": "Bearer bad"}, RefusalReason.KEY_WRONG, 403, "AccessDeniedException"),
    ],
)
def test_a_refusal_has_its_type_in_a_header(
    model: str, headers: dict[str, str], reason: RefusalReason, status: int, kind: str
) -> None:
    outcome = ask(SimulatedProvider("bedrock"), HELLO, model=model, **headers)
    assert outcome.refusal is not None
    assert (outcome.refusal.reason, outcome.reply.status) == (reason, status)
    assert outcome.reply.headers["x-amzn-errortype"].partition(":")[0] == kind
    assert told(outcome).keys() == {"message"}


def test_whoever_signs_a_request_is_known_by_the_access_key() -> None:
    def signed(key: str, signature: str) -> dict[str, str]:
        credential = f"{key}/20260101/us-east-1/bedrock/aws4_request"
        return {"authorization": f"AWS4-HMAC-SHA256 Credential={credential}, Signature={signature}"}

    provider = SimulatedProvider("bedrock")
    thinking = {**HELLO, "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2048}}}
    answer = told(ask(provider, thinking, **signed("AKIAONE", "1")))["output"]["message"]
    again = {"messages": [*HELLO["messages"], answer, {"role": "user", "content": [{"text": "and?"}]}]}
    assert "reasoningContent" in answer["content"][0]
    assert ask(provider, again, **signed("AKIAONE", "2")).refusal is None
    foreign = ask(provider, again, **signed("AKIATWO", "1")).refusal
    assert foreign is not None
    assert (foreign.reason, foreign.path) == (RefusalReason.REASONING, "messages[1].content[0]")


def test_hidden_reasoning_is_known_again() -> None:
    provider = SimulatedProvider("bedrock")
    secret = {"redactedContent": "c29tZWJvZHkgZWxzZSdz"}
    answer = {"role": "assistant", "content": [{"reasoningContent": secret}, {"text": "so"}]}
    body = {"messages": [*HELLO["messages"], answer, *HELLO["messages"]]}
    refusal = ask(provider, body).refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.REASONING


def test_what_is_before_a_cache_point_is_read_from_the_cache() -> None:
    provider = SimulatedProvider("bedrock")
    long = {"text": "a long story " * 1000}
    point = {"cachePoint": {"type": "default"}}

    def usage(*content: Any) -> tuple[int, int]:
        used = told(ask(provider, {"messages": [{"role": "user", "content": list(content)}]}))["usage"]
        return used["cacheWriteInputTokens"], used["cacheReadInputTokens"]

    first, second = usage(long, point), usage(long, point, {"text": "more"})
    assert (first[0] > 1024, first[1], second[1] > 1024) == (True, 0, True)
    assert usage(long, {"text": "more"}) == (0, 0)


def test_an_answer_has_the_form_that_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    options = Options(output=OutputFormat(schema=schema), thinking=ThinkingSwitch.OFF)
    request = render(talk(user("tell me")), ROUTE, options=options)
    answer = request.decode(told(ask(SimulatedProvider("bedrock"), request.copy())))
    assert json.loads(answer.text).keys() == {"a"}
