"""Simulated providers as a whole: they refuse what the real ones refuse, accept what those accept, and answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hosts import HOSTS
from legato.errors import BadRequest, MediaRefused, OwnReasoningRefused, ProtocolRefused
from legato.model import Dialect, Ending, Target, Thinking, ThinkingSwitch
from legato.simulation import (
    Ask,
    Outcome,
    RefusalReason,
    SimulatedProvider,
    SimulatedRefusal,
    SimulatedTransport,
    SimulatedWorld,
)
from legato.transcript import Conversation
from legato.transport import classify, read_complaint, wire_request
from legato.wire.findings import Severity
from rule_targets import target_of_exchange, target_of_route
from rules import CASES, Case
from simulation_support import Client, post

from builders import OTHER_ROUTES, ROUTES

pytestmark = pytest.mark.anyio

_EXCHANGES = Path(__file__).resolve().parents[3] / "shared" / "samples" / "provider-exchanges"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --- rules ------------------------------------------------------------------------------------------------------------


def _provider(target: Target, **options: Any) -> SimulatedProvider:
    """The simulated provider that speaks for `target`, which may be of a model or a place that no catalogue has."""
    name = "openai-responses" if target.route.startswith("openai/") and _is_responses(target) else target.provider
    return SimulatedProvider(name, resolve=lambda model: replace(target, model=model), **options)


def _is_responses(target: Target) -> bool:
    return target.dialect is Dialect.OPENAI_RESPONSES


def _written(body: dict[str, Any], target: Target) -> bytes:
    """`body` as a careless client writes it: NaN and half surrogates included."""
    if target.dialect in (Dialect.GEMINI, Dialect.BEDROCK):
        body = {name: value for name, value in body.items() if name != "model"}
    elif target.dialect is not Dialect.VERCEL:
        body = {**body, "model": target.model}
    return json.dumps(body).encode()


_REFUSED = [case for case in CASES if case.rule.severity is Severity.REFUSED]


def _is_in_shape(body: dict[str, Any], provider: SimulatedProvider) -> bool:
    """Whether an error body has the fields that this provider's clients look at."""
    own = next((host.error_body for host in HOSTS if host.name == provider.name), None)
    if own is not None and provider.name != "mistral":  # which has two
        return _shape(body) == _shape(own)
    match provider.dialect:
        case Dialect.ANTHROPIC:
            return body["type"] == "error" and body["error"].keys() == {"type", "message"} and bool(body["request_id"])
        case Dialect.GEMINI:
            return isinstance(body["error"]["code"], int) and body["error"]["status"] == "INVALID_ARGUMENT"
        case Dialect.BEDROCK:
            return body.keys() == {"message"} and bool(body["message"])
        case Dialect.VERCEL:
            return body["error"]["name"].startswith("AI_") and bool(body["error"]["message"])
        case Dialect.OPENAI_RESPONSES:
            return _shape(body) == _shape(_OPENAI_ERROR)
        case Dialect.OPENAI_CHAT:
            if provider.name == "mistral":
                return body["object"] == "error" and bool(body["message"]) and "code" in body
            return _shape(body) == _shape(_OPENAI_ERROR)


_OPENAI_ERROR = {"error": {"message": "no", "type": "invalid_request_error", "param": "a", "code": None}}


def _shape(value: Any) -> Any:
    """The fields of an error body, and what each holds; a `param` may be missing."""
    if isinstance(value, dict):
        return {name: "place" if name == "param" else _shape(inside) for name, inside in value.items()}
    return type(value).__name__


def _refuse(case: Case) -> tuple[Outcome, SimulatedRefusal]:
    target = target_of_route(case.dialect, case.rule.route)
    provider = _provider(target, checks_signatures=False)
    outcome = post(provider, _written(case.refused, target), model=target.model)
    assert outcome.refusal is not None
    assert _is_in_shape(json.loads(outcome.reply.body), provider)
    return outcome, outcome.refusal


@pytest.mark.parametrize("case", _REFUSED, ids=lambda case: case.id)
def test_a_body_that_breaks_a_rule_is_refused_in_the_familys_own_shape(case: Case) -> None:
    outcome, refusal = _refuse(case)

    assert (refusal.rule, refusal.reason) == (
        case.rule.id,
        RefusalReason.NOT_JSON if case.rule.id.startswith("json/") else RefusalReason.SHAPE,
    )
    assert outcome.reply.status == (422 if case.rule.id == "mistral/extra-field" else 400)


@pytest.mark.parametrize("case", [case for case in _REFUSED if case.rule.words()], ids=lambda case: case.id)
def test_a_body_that_breaks_a_rule_is_refused_in_the_words_of_the_rule(case: Case) -> None:
    target = target_of_route(case.dialect, case.rule.route)
    outcome, refusal = _refuse(case)

    words = case.rule.words(refusal.path, case.refused, host=target.server)

    assert words in refusal.message
    assert refusal.message in _texts(json.loads(outcome.reply.body))
    if case.rule.code:
        named = (*_texts(json.loads(outcome.reply.body)), *outcome.reply.headers.values())
        assert [text for text in named if text.partition(":")[0] == case.rule.code]


def _texts(value: Any) -> list[str]:
    """Every text in an error body."""
    if isinstance(value, dict | list):
        return [text for item in (value.values() if isinstance(value, dict) else value) for text in _texts(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("case", _REFUSED, ids=lambda case: case.id)
def test_a_client_knows_a_refusal_of_its_history_as_its_own_fault(case: Case) -> None:
    """What points into the history is ours; what stands beside it (options, no messages at all) is the user's."""
    outcome, refusal = _refuse(case)
    target = target_of_route(case.dialect, case.rule.route)
    request = wire_request(target, b"{}", key=None, stream=False)

    error = classify(read_complaint(outcome.reply.body), request, status=outcome.reply.status)

    is_ours = "[" in refusal.path and not isinstance(error, MediaRefused)
    assert isinstance(error, ProtocolRefused if is_ours else ProtocolRefused | BadRequest)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_body_that_keeps_the_rule_is_answered(case: Case) -> None:
    target = target_of_route(case.dialect, case.rule.route)
    provider = _provider(target, checks_signatures=False)

    outcome = post(provider, _written(case.accepted, target), model=target.model)

    assert (outcome.refusal, outcome.reply.status) == (None, 200)


def _recorded() -> Iterator[Any]:
    path = _EXCHANGES / "accepted_tool_turns.jsonl"
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            exchange = json.loads(line)
            name = f"{number}-{exchange['host']}"
            target = target_of_exchange(exchange["host"], exchange["path"], exchange["request"].get("model") or "")
            if target is not None:
                yield pytest.param(exchange, target, id=name)


@pytest.mark.skipif(not _EXCHANGES.is_dir(), reason="the recorded exchanges are not on this machine")
@pytest.mark.parametrize(("exchange", "target"), list(_recorded()))
def test_what_a_real_provider_accepted_is_accepted_here(exchange: dict[str, Any], target: Target) -> None:
    """Signatures are let in unchecked: those of the real providers are not ours."""
    provider = _provider(target, checks_signatures=False)
    body = json.dumps(exchange["request"]).encode()

    outcome = provider.answer(Ask(method="POST", path=exchange["path"], headers={}, body=body))

    assert (outcome.refusal, outcome.reply.status) == (None, 200)


# --- turns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
async def test_every_family_answers_a_turn_with_parallel_calls_and_a_second_step(route: str, stream: bool) -> None:
    transport = SimulatedTransport()
    talk = Conversation()

    said = await Client(transport).turn(
        talk, route, "use read_file on a.txt and b.txt then use list_folder on docs", stream=stream
    )

    assert all(f'"the contents of {name}"' in said.text for name in ("a.txt", "b.txt", "docs"))
    assert said.ending is Ending.DONE
    assert [seen.status for seen in transport.requests] == [200, 200, 200]
    assert transport.refusals == []


@pytest.mark.req("REQ-915-041", "REQ-915-042")
@pytest.mark.parametrize("thinking", list(ThinkingSwitch))
async def test_one_conversation_through_every_family_is_refused_nowhere_and_forgotten_nowhere(
    thinking: ThinkingSwitch,
) -> None:
    transport = SimulatedTransport()
    client, talk = Client(transport), Conversation()
    routes = [*ROUTES, *OTHER_ROUTES]

    for number, route in enumerate([*routes, *reversed(routes)]):
        await client.turn(talk, route, f"think first and use read_file on {number}.txt and more.txt", thinking=thinking)
        said = await client.turn(talk, route, "What was in 0.txt?", thinking=thinking)
        assert '"the contents of 0.txt"' in said.text
        said = await client.turn(talk, route, "What did the second tool return?", thinking=thinking)
        assert '"the contents of more.txt"' in said.text

    assert transport.refusals == []
    assert len(transport.requests) == len(routes) * 2 * 4


@pytest.mark.parametrize("habit", ["with constant ids", "without ids"])
@pytest.mark.parametrize("route", ["llamacpp/any", "ollama/qwen3", "openrouter/z-ai/glm-4.6"])
async def test_calls_with_the_ids_of_careless_servers_are_still_told_apart(route: str, habit: str) -> None:
    transport = SimulatedTransport()
    client, talk = Client(transport), Conversation()

    for number in range(3):
        await client.turn(talk, route, f"use read_file on {number}a.txt and {number}b.txt {habit}")
    said = await client.turn(talk, "anthropic/claude-sonnet-4-5", "What did the fourth tool return?")

    assert '"the contents of 1b.txt"' in said.text
    assert transport.refusals == []


async def test_kimi_numbers_its_calls_anew_in_every_answer() -> None:
    transport = SimulatedTransport()
    talk = Conversation()

    await Client(transport).turn(
        talk, "kimi/kimi-k2-thinking", "use read_file on a.txt and b.txt then use read_file on c.txt"
    )

    wire_ids = [call.wire_id for call in talk.ledger.in_order]
    assert wire_ids == ["functions.read_file:0", "functions.read_file:1", "functions.read_file:0"]


# --- signatures -------------------------------------------------------------------------------------------------------

_SIGNING = {
    "anthropic/claude-sonnet-4-5": "anthropic/claude-opus-4-5",
    "openai-responses/gpt-5.1": "openai-responses/gpt-5",
    "gemini/gemini-3-pro-preview": "gemini/gemini-3-flash-preview",
    "gemini/gemini-2.5-pro": "gemini/gemini-2.5-flash",
}
"""routes that sign their reasoning, and another model of the same vendor"""


async def _signed_turn(route: str, *, key: str | None = None) -> dict[str, Any]:
    """The body of a request that carries the route's own reasoning back to it, which was accepted."""
    transport = SimulatedTransport()
    talk = Conversation()
    client = Client(transport, key=key)
    await client.turn(talk, route, "think first and use read_file on a.txt", thinking=ThinkingSwitch.ON)
    assert transport.refusals == []
    return transport.requests[-1].json


def _marks(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a body that carry a signature."""
    if isinstance(value, dict):
        if any(name in value for name in _MARKS):
            yield value
        for item in value.values():
            yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)


_MARKS = ("signature", "encrypted_content", "thoughtSignature")


def _asked(route: str, body: dict[str, Any], *, key: str | None = None, world: SimulatedWorld | None = None) -> Any:
    name, _, model = route.partition("/")
    provider = (world or SimulatedWorld()).provider(name)
    if "model" in body:
        body = {**body, "model": model}
    headers = {} if key is None else {"authorization": f"Bearer {key}", "x-api-key": key, "x-goog-api-key": key}
    return post(provider, json.dumps(body).encode(), model=model, headers=headers)


@pytest.mark.parametrize("route", _SIGNING)
async def test_its_own_reasoning_comes_back_to_a_provider_and_is_known(route: str) -> None:
    body = await _signed_turn(route)

    assert list(_marks(body)) != []
    assert _asked(route, body).reply.status == 200


@pytest.mark.parametrize("route", _SIGNING)
async def test_altered_reasoning_is_refused(route: str) -> None:
    body = await _signed_turn(route)
    mark = next(_marks(body))
    field = next(name for name in _MARKS if name in mark)
    mark[field] = ("B" if mark[field][0] != "B" else "C") + mark[field][1:]

    outcome = _asked(route, body)

    assert (outcome.refusal.reason, outcome.reply.status) == (RefusalReason.REASONING, 400)


@pytest.mark.parametrize("route", ["anthropic/claude-sonnet-4-5", "gemini/gemini-3-pro-preview"])
async def test_a_signature_on_other_content_is_refused(route: str) -> None:
    body = await _signed_turn(route)
    mark = next(_marks(body))
    if "thinking" in mark:
        mark["thinking"] += " And then?"
    else:
        mark["functionCall"]["args"]["path"] = "b.txt"

    assert _asked(route, body).refusal.reason is RefusalReason.REASONING


@pytest.mark.parametrize("route", _SIGNING)
async def test_reasoning_of_another_model_of_the_same_vendor_is_refused(route: str) -> None:
    assert _asked(_SIGNING[route], await _signed_turn(route)).refusal.reason is RefusalReason.REASONING


@pytest.mark.parametrize("route", _SIGNING)
async def test_reasoning_of_another_account_is_refused(route: str) -> None:
    body = await _signed_turn(route, key="sk-one-account")

    assert _asked(route, body, key="sk-one-account").reply.status == 200
    assert _asked(route, body, key="sk-another-account").refusal.reason is RefusalReason.REASONING


@pytest.mark.parametrize("route", _SIGNING)
async def test_reasoning_of_another_place_under_the_same_name_is_refused(route: str) -> None:
    body = await _signed_turn(route)

    assert _asked(route, body, world=SimulatedWorld(secret="another host")).refusal.reason is RefusalReason.REASONING


@pytest.mark.parametrize("route", _SIGNING)
async def test_a_dated_name_is_the_same_model(route: str) -> None:
    body = await _signed_turn(route)
    served = f"{route}-20250929" if route.startswith("anthropic") else f"{route}-2025-11-13"

    assert _asked(served, body).refusal is None


@pytest.mark.parametrize("route", _SIGNING)
async def test_a_client_can_tell_that_its_reasoning_was_refused(route: str) -> None:
    """The one refusal that has a remedy: another account gets the conversation, and its thoughts with it."""
    transport = SimulatedTransport()
    talk = Conversation()
    await Client(transport, key="sk-one-account").turn(
        talk, route, "think first and use read_file on a.txt", thinking=ThinkingSwitch.ON
    )
    careless = Client(transport, key="sk-another-account")
    careless.target = Client(transport, key="sk-one-account").target  # believes that it is still the same account

    with pytest.raises(OwnReasoningRefused):
        await careless.turn(talk, route, "And now?", thinking=ThinkingSwitch.ON)

    assert [seen.refusal.reason for seen in transport.refusals if seen.refusal] == [RefusalReason.REASONING]


async def test_hidden_reasoning_comes_back_and_is_known() -> None:
    transport = SimulatedTransport()
    client, talk = Client(transport), Conversation()
    route = "anthropic/claude-sonnet-4-5"

    await client.turn(talk, route, "think in secret and use read_file on a.txt", thinking=ThinkingSwitch.ON)
    said = await client.turn(talk, route, "Hello", thinking=ThinkingSwitch.ON)

    assert any("data" in mark for mark in _redacted(transport.requests[-1].json))
    assert isinstance(said.blocks[0], Thinking)
    assert transport.refusals == []


def _redacted(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        block
        for message in body["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "redacted_thinking"
    ]


def test_items_that_a_server_keeps_are_known_by_their_ids() -> None:
    world = SimulatedWorld()
    ask = {"role": "user", "content": "think first"}
    first = post(world.provider("openai-responses"), json.dumps({"model": "gpt-5", "input": [ask]}).encode())
    items = json.loads(first.reply.body)["output"]
    assert [item["type"] for item in items] == ["reasoning", "message"]

    again = {"model": "gpt-5", "input": [ask, *items, {"role": "user", "content": "And?"}]}
    assert post(world.provider("openai-responses"), json.dumps(again).encode()).refusal is None

    items[0]["id"] = "rs_0123456789abcdef0123456789abcdef"
    stranger = post(world.provider("openai-responses"), json.dumps(again).encode())
    assert stranger.refusal is not None
    assert stranger.refusal.message == f"Item with id '{items[0]['id']}' not found."
