"""Answers that fail, at each point and in each way, and what each client is told of them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any, cast

import anyio
import pytest
from msgspec.structs import replace

from gateway_clients import Heard, hear, hear_each, post
from gateway_support import body_of, door, events_in
from legato.gateway.exchange import LEFT
from legato.gateway.gateway import Gateway
from legato.gateway.reports import RouteAttempt
from legato.gateway.state import MemoryState
from legato.model import Answer, Dialect, Entry, Speaker, Text, Thinking
from legato.routing import Policy, Profile, Route
from legato.transport.contract import Ask
from scripted_backends import (
    SAID,
    THOUGHT,
    WHOLE,
    Failing,
    Point,
    Scripted,
    failing_stream,
    scripted_world,
    sent_by,
    whole_stream,
)
from streaming_clients import ANTHROPIC_BODY, ASKS, CHAT_BODY, ENDS

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"
DEEPSEEK = "deepseek/deepseek-reasoner"
BACKENDS = (CLAUDE, KIMI, "openai-responses/gpt-5", "gemini/gemini-3-pro-preview")

each_client = pytest.mark.parametrize("client", ASKS)
each_way = pytest.mark.parametrize("failing", Failing)


def provider(route: str) -> str:
    return route.partition("/")[0]


def alone(route: str, *scripts: Scripted, **options: Any) -> Gateway:
    """A gateway with one route, which answers as told."""
    return Gateway(scripted_world({provider(route): scripts}), route, key=b"a key for tests", **options)


def in_turn(*routes: str) -> Profile:
    return Profile("in turn", tuple(map(Route, routes)), Policy.FAILOVER)


# --- failures that the client is told of ------------------------------------------------------------------------------


def hear_failing(client: str, point: Point, failing: Failing) -> list[Heard]:
    """What `client` hears of each kind of backend that fails like this."""
    return hear_each((alone(route, failing_stream(route, point, failing)) for route in BACKENDS), ASKS[client])


@each_client
@each_way
@pytest.mark.parametrize("point", [Point.NOTHING, Point.OPENED])
def test_a_failure_before_the_first_delta_is_a_status(client: str, point: Point, failing: Failing) -> None:
    overloaded = 529 if client == "anthropic" else 503
    for heard in hear_failing(client, point, failing):
        assert heard.status == (overloaded if failing is Failing.ERROR else 502)
        assert (heard.json if client == "mistral" else heard.json["error"])["message"]
        assert not heard.is_cut


@each_client
@each_way
@pytest.mark.parametrize("point", [Point.THINKING, Point.TEXT, Point.CALL])
def test_a_failure_in_the_middle_is_told_in_the_clients_way(client: str, point: Point, failing: Failing) -> None:
    for heard in hear_failing(client, point, failing):
        if client == "mistral" and point is Point.THINKING:  # of which it is not told
            assert heard.status == (503 if failing is Failing.ERROR else 502)
            continue
        assert (heard.status, heard.is_cut) == (200, True)
        assert ENDS[client] not in heard.body
        assert told_at_last(client, heard) == (client not in ("anthropic", "mistral"))


def told_at_last(client: str, heard: Heard) -> bool:
    """Whether the last event is an error."""
    if client == "gemini array":
        return "error" in json.loads(heard.body + b"]")[-1]
    events = events_in([heard.body], door(Dialect.OPENAI_CHAT))
    if client == "responses":
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        return events[-1]["type"] == "response.failed" and events[-1]["response"]["status"] == "failed"
    return bool(events[-1].get("error"))


@each_client
def test_thinking_is_still_open_where_an_answer_failed_after_nothing_else(client: str) -> None:
    heard = hear(alone(KIMI, failing_stream(KIMI, Point.THINKING, Failing.CUT)), ASKS[client])
    assert b"content_block_stop" not in heard.body
    assert b"response.output_item.done" not in heard.body


def not_streamed(ask: Ask) -> Ask:
    body = json.loads(ask.body)
    body.pop("stream", None)
    path = ask.path.replace("streamGenerate", "generate")
    return replace(ask, path=path, query={}, body=json.dumps(body).encode())


@each_client
def test_an_answer_that_is_not_streamed_fails_with_a_status_however_far_it_came(client: str) -> None:
    heard = hear(alone(KIMI, failing_stream(KIMI, Point.CALL, Failing.CUT)), not_streamed(ASKS[client]))
    assert (heard.status, heard.is_cut) == (502, False)


# --- another route ----------------------------------------------------------------------------------------------------

OTHER_THOUGHT = "Now I see what it is."
OTHER = replace(
    WHOLE,
    entry=Entry(Speaker.AI, (Thinking(OTHER_THOUGHT, native={"signature": "c2lnbmVk"}), Text("It is a river."))),
)


@each_client
@each_way
@pytest.mark.parametrize("point", [Point.NOTHING, Point.OPENED, Point.THINKING])
def test_another_route_answers_as_long_as_nothing_visible_was_said(client: str, point: Point, failing: Failing) -> None:
    world = scripted_world({"kimi": [failing_stream(KIMI, point, failing)], "anthropic": [whole_stream(CLAUDE, OTHER)]})
    gateway = Gateway(world, in_turn(KIMI, CLAUDE), key=b"a key for tests")
    heard = hear(gateway, ASKS[client])
    assert (heard.status, heard.is_cut) == (200, False)
    assert ENDS[client] in heard.body
    assert b"It is a river" in heard.body
    assert sent_by(world).routes == [KIMI, CLAUDE]
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert [attempt.route for attempt in report.attempts] == [KIMI, CLAUDE]
    assert [bool(attempt.error) for attempt in report.attempts] == [True, False]


def test_the_client_sees_one_thought_though_two_routes_thought() -> None:
    heard = hear(after_a_thought(), ASKS["anthropic"])
    content = body_of([heard.body], door(Dialect.ANTHROPIC))["content"]
    assert [block["type"] for block in content] == ["thinking", "text"]
    seen: str = content[0]["thinking"]
    assert seen.startswith(THOUGHT[:24])
    assert seen.endswith(OTHER_THOUGHT)


def after_a_thought() -> Gateway:
    """Kimi fails while it thinks, and Claude answers."""
    failing = failing_stream(KIMI, Point.THINKING, Failing.ERROR)
    world = scripted_world({"kimi": [failing], "anthropic": [whole_stream(CLAUDE, OTHER)]})
    return Gateway(world, in_turn(KIMI, CLAUDE), key=b"a key for tests", state=MemoryState(answer_keys=0))


def test_only_the_thoughts_of_whoever_answered_come_back() -> None:
    gateway = after_a_thought()
    heard = hear(gateway, ASKS["anthropic"])
    answer = body_of([heard.body], door(Dialect.ANTHROPIC))
    messages = [*ANTHROPIC_BODY["messages"], answer, {"role": "user", "content": "And now?"}]
    hear(gateway, post("/v1/messages", ANTHROPIC_BODY | {"messages": messages}))
    sent = json.loads(sent_by(gateway.world).sent[-1].body)
    assert sent["messages"][1]["content"] == [
        {"type": "thinking", "thinking": OTHER_THOUGHT, "signature": "c2lnbmVk"},
        {"type": "text", "text": "It is a river."},
    ]


@each_client
@each_way
@pytest.mark.parametrize("point", [Point.TEXT, Point.CALL])
def test_nobody_else_answers_once_something_visible_was_said(client: str, point: Point, failing: Failing) -> None:
    world = scripted_world({"kimi": [failing_stream(KIMI, point, failing)], "anthropic": [whole_stream(CLAUDE)]})
    heard = hear(Gateway(world, in_turn(KIMI, CLAUDE)), ASKS[client])
    assert heard.is_cut
    assert sent_by(world).routes == [KIMI]


def test_where_every_route_fails_the_client_is_told_once() -> None:
    failing = {
        "kimi": [failing_stream(KIMI, Point.THINKING, Failing.CUT)],
        "anthropic": [failing_stream(CLAUDE, Point.THINKING, Failing.ERROR)],
    }
    heard = hear(Gateway(scripted_world(failing), in_turn(KIMI, CLAUDE)), ASKS["responses"])
    assert heard.is_cut
    assert heard.body.count(b"event: response.failed") == 1
    assert heard.body.count(b"event: response.created") == 1


def test_a_route_is_asked_again_before_another_is() -> None:
    world = scripted_world(
        {"kimi": [failing_stream(KIMI, Point.THINKING, Failing.CUT), whole_stream(KIMI, OTHER)], "anthropic": []},
        attempts=2,
    )
    heard = hear(Gateway(world, in_turn(KIMI, CLAUDE)), ASKS["chat"])
    assert sent_by(world).routes == [KIMI, KIMI]
    assert sent_by(world).sent[0].body == sent_by(world).sent[1].body
    assert heard.route == KIMI
    assert b"It is a river." in heard.body


# --- clients that go away ---------------------------------------------------------------------------------------------


def leave(gateway: Gateway, request: Ask, after: bytes, *, by_chunks: bool = True) -> list[str]:
    """Read until `after` was heard, and close the response; the routes whose responses are closed by then."""

    async def run() -> list[str]:
        response = await gateway.answer(request)
        async for chunk in response.chunks:
            if after in chunk:
                break
        chunks = cast("AsyncGenerator[bytes]", response.chunks)
        await (chunks.aclose() if by_chunks else response.close())
        return list(sent_by(gateway.world).closed)

    return anyio.run(run)


@each_client
@pytest.mark.parametrize("by_chunks", [True, False], ids=["its chunks", "the response"])
def test_a_client_that_goes_away_ends_the_answer_upstream(client: str, by_chunks: bool) -> None:
    gateway = alone(KIMI, whole_stream(KIMI))
    assert leave(gateway, ASKS[client], b"A river", by_chunks=by_chunks) == [KIMI]
    assert sent_by(gateway.world).given < len(whole_stream(KIMI).chunks)


def test_what_was_said_is_remembered_when_the_client_goes_away() -> None:
    gateway = alone(KIMI, whole_stream(KIMI), fresh_id=iter(("1", "2", "3", "4")).__next__)
    leave(gateway, ASKS["chat"], b"A river")
    report = gateway.reports.find("req_1")
    assert report is not None
    assert report.attempts == [RouteAttempt(KIMI, LEFT)]
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": SAID[:24]}]
    sent = next_request(gateway, said)
    assert sent["messages"][1] == {"role": "assistant", "content": SAID[:24], "reasoning_content": THOUGHT}


def next_request(gateway: Gateway, said: list[Any]) -> Any:
    """What is sent when the client goes on behind `said`."""
    body = CHAT_BODY | {"messages": [*said, {"role": "user", "content": "And now?"}]}
    hear(gateway, post("/v1/chat/completions", body))
    return json.loads(sent_by(gateway.world).sent[-1].body)


def test_what_was_said_is_remembered_when_the_answer_fails() -> None:
    gateway = alone(KIMI, failing_stream(KIMI, Point.TEXT, Failing.CUT), whole_stream(KIMI))
    hear(gateway, ASKS["chat"])
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": SAID[:24]}]
    assert next_request(gateway, said)["messages"][1]["reasoning_content"] == THOUGHT


def test_a_client_that_leaves_at_the_last_event_has_the_whole_answer() -> None:
    """OpenAI's own client closes the response when it reads `[DONE]`."""
    gateway = alone(KIMI, whole_stream(KIMI, OTHER))
    leave(gateway, ASKS["chat"], b"[DONE]")
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "It is a river."}]
    assert next_request(gateway, said)["messages"][1]["reasoning_content"] == OTHER_THOUGHT


# --- answers that broke off by themselves -----------------------------------------------------------------------------


def broken_off(route: str) -> Scripted:
    """An answer in words of which the provider itself says that it is not whole."""
    words = replace(WHOLE, entry=Entry(Speaker.AI, (Thinking(THOUGHT), Text(SAID))))
    stop, cut = b'"finish_reason":"stop"', b'"finish_reason":"insufficient_system_resource"'
    chunks = whole_stream(route, words).chunks
    assert any(stop in chunk for chunk in chunks)
    return Scripted(tuple(chunk.replace(stop, cut) for chunk in chunks))


@each_client
def test_an_answer_that_broke_off_does_not_end_in_order(client: str) -> None:
    gateway = alone(DEEPSEEK, broken_off(DEEPSEEK))
    heard = hear(gateway, ASKS[client])
    assert ENDS[client] not in heard.body
    assert heard.is_cut == (client != "responses")
    assert (b"event: response.incomplete" in heard.body) == (client == "responses")
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert report.attempts == [RouteAttempt(DEEPSEEK)]
    assert report.error == ("" if client == "responses" else "ConnectionCut")


@each_client
@pytest.mark.parametrize("answer", [WHOLE, OTHER], ids=["calls", "words"])
def test_an_answer_that_ends_with_a_new_word_ends_in_order(client: str, answer: Answer) -> None:
    """The client would ask again, and get the same word."""
    words = b'"finish_reason":"enough_said"'
    chunks = [
        chunk.replace(b'"finish_reason":"stop"', words).replace(b'"finish_reason":"tool_calls"', words)
        for chunk in whole_stream(KIMI, answer).chunks
    ]
    gateway = alone(KIMI, Scripted(tuple(chunks)))
    heard, usual = hear(gateway, ASKS[client]), hear(alone(KIMI, whole_stream(KIMI, answer)), ASKS[client])
    assert (heard.status, heard.is_cut) == (200, False)
    assert ENDS[client] in heard.body
    for reason in (b"end_turn", b"tool_use", b'"stop"', b"tool_calls", b"STOP", b"response.completed"):
        assert (reason in heard.body) == (reason in usual.body)
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    [decision] = [one for one in report.decisions if one.reason == "unknown-ending"]
    assert "enough_said" in decision.detail


def told_usage(body: Any) -> tuple[int, int]:
    """The tokens in and out that a client of Anthropic or Gemini is told at the end."""
    told = body.get("usage") or body["usageMetadata"]
    return (
        told.get("input_tokens", told.get("promptTokenCount")),
        told.get("output_tokens", told.get("candidatesTokenCount")),
    )


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("client", ["anthropic", "gemini"])
def test_where_a_provider_says_nothing_of_usage_the_client_is_told_what_is_guessed(client: str, stream: bool) -> None:
    gateway = alone(KIMI, whole_stream(KIMI, replace(WHOLE, usage=None)))
    heard = hear(gateway, ASKS[client] if stream else not_streamed(ASKS[client]))
    events = events_in([heard.body], door(Dialect.ANTHROPIC)) if stream else [heard.json]
    last = next(event for event in reversed(events) if not {"usage", "usageMetadata"}.isdisjoint(event))
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert (report.usage, report.sent_tokens > 0) == (None, True)
    assert told_usage(last) == (report.sent_tokens, 0)


def test_an_answer_that_broke_off_is_remembered() -> None:
    gateway = alone(KIMI, broken_off(KIMI))
    hear(gateway, ASKS["chat"])
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": SAID}]
    assert next_request(gateway, said)["messages"][1]["reasoning_content"] == THOUGHT


# --- what a provider refuses of its own -------------------------------------------------------------------------------


def refusing(message: str) -> Scripted:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return Scripted((json.dumps(body).encode(),), status=400)


def test_a_picture_that_cannot_be_read_is_replaced_once_and_stays_so() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    messages: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [picture]}]},
    ]
    body = ANTHROPIC_BODY | {"model": "claude-sonnet-4-5", "messages": messages, "thinking": {"type": "disabled"}}
    gateway = alone(
        CLAUDE, refusing("messages.2.content.0.image: Could not process image"), whole_stream(CLAUDE, OTHER)
    )
    assert hear(gateway, post("/v1/messages", body)).status == 200
    messages += [{"role": "assistant", "content": "It is a river."}, {"role": "user", "content": "And now?"}]
    assert hear(gateway, post("/v1/messages", body)).status == 200
    assert [b"iVBORw0KGgo=" in request.body for request in sent_by(gateway.world).sent] == [True, False, False]


def test_reasoning_that_its_own_provider_refuses_is_left_out() -> None:
    refused = refusing("messages.1.content.0: Invalid `signature` in `thinking` block")
    gateway = alone(CLAUDE, whole_stream(CLAUDE, OTHER), refused, whole_stream(CLAUDE, OTHER))
    answer = body_of([hear(gateway, ASKS["anthropic"]).body], door(Dialect.ANTHROPIC))
    messages = [*ANTHROPIC_BODY["messages"], answer, {"role": "user", "content": "And now?"}]
    heard = hear(gateway, post("/v1/messages", ANTHROPIC_BODY | {"messages": messages}))
    assert (heard.status, heard.is_cut) == (200, False)
    assert [b"c2lnbmVk" in request.body for request in sent_by(gateway.world).sent] == [False, True, False]


@each_client
def test_an_overflow_is_told_and_nobody_else_is_asked(client: str) -> None:
    """The client compacts its conversation; a route with a larger window would only hide that it has to."""
    world = scripted_world(
        {"anthropic": [refusing("prompt is too long: 250000 tokens > 200000 maximum")], "kimi": [whole_stream(KIMI)]}
    )
    heard = hear(Gateway(world, in_turn(CLAUDE, KIMI)), ASKS[client])
    assert heard.status == 400
    assert sent_by(world).routes == [CLAUDE]
