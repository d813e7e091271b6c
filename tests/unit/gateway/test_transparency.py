"""A client's own API behind the gateway: what goes through as it came, what is mended, and what others never see."""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest

from gateway_clients import hear, post
from gateway_support import body_of, door
from legato.gateway.gateway import Gateway
from legato.gateway.intake import NOT_JSON
from legato.model import Answer, Block, Dialect, Ending, Entry, Options, Speaker, Text, Thinking
from legato.request import resolve
from legato.routing import Policy, Profile, Route
from legato.transport import WireRequest
from legato.transport.contract import Ask
from scripted_backends import Failing, Point, Scripted, failing_stream, scripted_world, sent_by, whole_stream

CLAUDE, RESPONSES = "anthropic/claude-sonnet-4-5", "openai-responses/gpt-5"
HOSTED: Any = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
READ: Any = {"name": "read", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
HI: Any = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
MESSAGES: Any = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "messages": [HI],
    "tools": [HOSTED, READ],
    "service_tier": "standard_only",
    "a_field_of_tomorrow": {"deep": [1, 2.50]},
}
OPEN_CALL: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]}
CHAT: Any = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}], "a_field_of_tomorrow": 1}
ITEMS: Any = {"model": "gpt-5", "input": "hi", "a_field_of_tomorrow": 1, "tools": [{"type": "web_search"}]}
CONTENTS: Any = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "aFieldOfTomorrow": 1}

AT_HOME = {
    "anthropic": (CLAUDE, "/v1/messages", MESSAGES),
    "chat": ("openai/gpt-4.1", "/v1/chat/completions", CHAT),
    "responses": (RESPONSES, "/v1/responses", ITEMS),
    "gemini": ("gemini/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent", CONTENTS),
    "mistral": ("mistral/mistral-large-latest", "/v1/chat/completions", {**CHAT, "model": "mistral-large-latest"}),
}
"""for each client the route whose API it speaks, and a request to it"""


def headers_of(client: str) -> dict[str, str]:
    return {"user-agent": "mistral-client-python/2.0"} if client == "mistral" else {}


def gateway_to(route: str | Route, *scripts: Scripted) -> Gateway:
    route = Route(route) if isinstance(route, str) else route
    world = scripted_world({route.provider: scripts or [whole_stream(route.name)]}, attempts=2)
    return Gateway(world, Profile("the one", (route,)), key=b"a key for tests")


def last_sent(gateway: Gateway) -> WireRequest:
    return sent_by(gateway.world).sent[-1]


def sent(route: str | Route, request: Ask) -> Any:
    """The body that `route` gets for `request`."""
    gateway = gateway_to(route)
    heard = hear(gateway, request)
    assert heard.status == 200, heard.body
    return json.loads(last_sent(gateway).body)


def spread(body: Any) -> bytes:
    """`body`, spelled as nobody here would."""
    return json.dumps(body, indent=3, separators=(" ,", " :  ")).encode()


@pytest.mark.parametrize("client", AT_HOME)
def test_what_needs_no_mending_goes_through_byte_for_byte(client: str) -> None:
    route, path, body = AT_HOME[client]
    gateway = gateway_to(route)
    heard = hear(gateway, post(path, spread(body), headers_of(client)))
    assert heard.status == 200, heard.body
    assert last_sent(gateway).body == spread(body)
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert report.unchanged


@pytest.mark.parametrize("parts", [[{"text": "hi"}], {"text": "hi"}], ids=["listed", "alone"])
def test_a_content_of_gemini_may_be_in_no_list_as_google_takes_it(parts: Any) -> None:
    request = post("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": {"role": "user", "parts": parts}})
    assert sent("gemini/gemini-2.5-pro", request) == {"contents": {"role": "user", "parts": parts}}
    (heard,) = sent(CLAUDE, request)["messages"]
    assert (heard["role"], heard["content"][0]["text"]) == ("user", "hi")


@pytest.mark.parametrize("client", AT_HOME)
def test_where_another_model_answers_the_name_alone_is_replaced(client: str) -> None:
    route, path, body = AT_HOME[client]
    path = path.replace("models/gemini-2.5-pro", "models/my-model")
    other = {**body, "model": "my-model"} if "model" in body else body
    request = post(path, other, headers_of(client))
    got = sent(route, request)
    assert got == body
    assert list(got) == list(body)


def test_the_same_bytes_are_sent_when_they_are_tried_again() -> None:
    gateway = gateway_to(CLAUDE, failing_stream(CLAUDE, Point.OPENED, Failing.ERROR), whole_stream(CLAUDE))
    heard = hear(gateway, post("/v1/messages", spread(MESSAGES)))
    assert heard.status == 200
    assert [request.body for request in sent_by(gateway.world).sent] == [spread(MESSAGES)] * 2


def test_what_goes_through_is_not_rendered_and_nothing_is_said_to_have_been_done_to_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    declared: Any = [{"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT"}}]}]
    body = {**CONTENTS, "tools": declared}  # whose schema we would have written with the types of JSON Schema
    gateway = gateway_to("gemini/gemini-2.5-pro")
    with caplog.at_level(logging.DEBUG, "legato"):
        heard = hear(gateway, post("/v1beta/models/gemini-2.5-pro:generateContent", spread(body)))
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert (report.unchanged, report.decisions) == (True, ())
    assert "legato.render" not in caplog.text


def answer_of(*blocks: Block) -> Answer:
    return Answer(Entry(Speaker.AI, blocks, origin=resolve(CLAUDE).origin(), ending=Ending.DONE))


SAID = Text("Hello.")
THOUGHT = Thinking("Hm.", native={"signature": "c2lnbmVk"})


@pytest.mark.parametrize("thinks", [True, False])
def test_what_the_client_cannot_give_back_as_it_was_is_rendered_before_the_client_asks_again(thinks: bool) -> None:
    gateway = gateway_to(CLAUDE, whole_stream(CLAUDE, answer_of(*([THOUGHT] if thinks else []), SAID)))
    hear(gateway, post("/v1/messages", {**MESSAGES, "stream": True}))
    ((_, told),) = gateway._recall._kept.of("")
    assert (len(told.recorded) > 0, told.bytes_held > told.size) == (thinks, thinks)


def test_nothing_is_rendered_for_the_next_request_before_an_answer_that_is_not_streamed() -> None:
    gateway = gateway_to(CLAUDE, whole_stream(CLAUDE, answer_of(THOUGHT, SAID)))
    hear(gateway, post("/v1/messages", MESSAGES))
    ((_, told),) = gateway._recall._kept.of("")
    assert len(told.recorded) == 0


@pytest.mark.parametrize("levels", range(380, 490, 5))  # some of these can be read and judged, and not rendered
def test_a_whole_answer_reaches_the_client_though_the_next_request_cannot_be_rendered(levels: int) -> None:
    schema = '{"type": "object", "properties": {"a":' * levels + "{}" + "}}" * levels
    written = json.dumps({**MESSAGES, "stream": True, "tools": [{"name": "read", "input_schema": None}]})
    gateway = gateway_to(CLAUDE, whole_stream(CLAUDE, answer_of(THOUGHT, SAID)))
    heard = hear(gateway, post("/v1/messages", written.replace("null", schema).encode()))
    assert (heard.is_cut, b"message_stop" in heard.body) == (False, heard.status == 200)


# --- what is rendered anew --------------------------------------------------------------------------------------------


def test_a_call_without_a_result_is_mended_and_all_else_survives() -> None:
    body = {**MESSAGES, "messages": [HI, OPEN_CALL, HI]}
    got = sent(CLAUDE, post("/v1/messages", body))
    result = got["messages"][2]["content"][0]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_1")
    assert got["tools"] == MESSAGES["tools"]
    assert got["messages"][2]["content"][1] == HI["content"][0]  # the mark of the last message is what counts
    assert {name: got[name] for name in ("service_tier", "a_field_of_tomorrow")} == {
        name: MESSAGES[name] for name in ("service_tier", "a_field_of_tomorrow")
    }


@pytest.mark.parametrize(
    ("model", "asked", "got"),
    [
        ("claude-opus-4-8", {"type": "enabled", "budget_tokens": 2000}, {"type": "adaptive"}),
        ("claude-sonnet-4-6", {"type": "enabled", "budget_tokens": 2000}, {"type": "enabled", "budget_tokens": 2000}),
        ("claude-sonnet-4-5", {"type": "adaptive"}, {"type": "enabled"}),
    ],
)
def test_thinking_is_asked_for_in_the_form_that_the_model_knows(model: str, asked: Any, got: Any) -> None:
    body = {**MESSAGES, "model": model, "max_tokens": 40_000, "thinking": asked}
    thinking = sent(f"anthropic/{model}", post("/v1/messages", body))["thinking"]
    assert got.items() <= thinking.items()
    assert ("budget_tokens" in thinking) is (thinking["type"] == "enabled")


@pytest.mark.parametrize("odd", [b'"half a pair \\ud83d"', b"NaN", b"1e999"])
@pytest.mark.parametrize("client", AT_HOME)
def test_a_body_that_is_only_nearly_json_is_mended(client: str, odd: bytes) -> None:
    route, path, body = AT_HOME[client]
    gateway = gateway_to(route)
    written = json.dumps({**body, "a_field_of_tomorrow": 12345}).encode()
    written = written.replace(b'"hi"' if odd.startswith(b'"') else b"12345", odd)
    heard = hear(gateway, post(path, written, headers_of(client)))
    assert heard.status == 200, heard.body
    json.dumps(msgspec.json.decode(last_sent(gateway).body), allow_nan=False)
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert (report.unchanged, report.notes) == (False, [NOT_JSON])


@pytest.mark.parametrize("separators", [(",", ":"), (", ", " : ")])
def test_a_body_that_says_a_thing_twice_is_written_anew_with_what_was_read(separators: tuple[str, str]) -> None:
    written = json.dumps(MESSAGES, separators=separators).encode()
    gateway = gateway_to(CLAUDE)
    heard = hear(gateway, post("/v1/messages", written[:-1] + b',"max_tokens":50}'))
    assert heard.status == 200, heard.body
    assert json.loads(last_sent(gateway).body, object_pairs_hook=list).count(("max_tokens", 50)) == 1
    assert b'"max_tokens":100' not in last_sent(gateway).body
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert (report.unchanged, report.notes) == (False, [NOT_JSON])


def test_another_host_of_the_dialect_is_not_sent_what_only_the_first_knows() -> None:
    got = sent("kimi-anthropic/kimi-k2-thinking", post("/v1/messages", MESSAGES))
    assert [tool["name"] for tool in got["tools"]] == ["read"]
    assert not {"service_tier", "a_field_of_tomorrow"} & set(got)
    assert "a_field_of_tomorrow" not in sent("kimi/kimi-k2-thinking", post("/v1/chat/completions", CHAT))
    assert "a_field_of_tomorrow" not in sent("mistral/mistral-large-latest", post("/v1/chat/completions", CHAT))


def test_a_header_that_changes_what_a_body_means_goes_to_the_clients_own_provider_alone() -> None:
    headers = {
        "anthropic-beta": "context-1m-2025-08-07",
        "x-api-key": "the client's own",
        "anthropic-version": "2023-06-01",
    }
    for route, expected in {CLAUDE: "context-1m-2025-08-07", "kimi-anthropic/kimi-k2-thinking": None}.items():
        gateway = gateway_to(route)
        hear(gateway, post("/v1/messages", MESSAGES, headers))
        received = last_sent(gateway).sent_headers()
        assert received.get("anthropic-beta") == expected
        assert "the client's own" not in received.values()


@pytest.mark.parametrize("signature", ["c2lnbmVk", ""])
def test_reasoning_of_somebody_unknown_is_left_out(signature: str) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": signature}
    answer = {"role": "assistant", "content": [thought, {"type": "text", "text": "Hello."}]}
    got = sent(CLAUDE, post("/v1/messages", {**MESSAGES, "messages": [HI, answer, HI]}))
    assert got["messages"][1]["content"] == [{"type": "text", "text": "Hello."}]


def test_a_carrier_is_opened_before_anything_is_sent() -> None:
    asks = {**MESSAGES, "max_tokens": 4000, "stream": True, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    gateway = gateway_to(CLAUDE)
    heard = hear(gateway, post("/v1/messages", asks))
    answer = body_of([heard.body], door(Dialect.ANTHROPIC))
    carrier = answer["content"][0]["signature"]
    assert carrier
    hear(gateway, post("/v1/messages", {**asks, "messages": [HI, answer, HI]}))
    assert carrier.encode() not in last_sent(gateway).body


def test_what_the_operator_set_for_a_route_is_asked_for_as_well() -> None:
    route = Route(CLAUDE, options=Options(temperature=0.25))
    assert sent(route, post("/v1/messages", MESSAGES))["temperature"] == 0.25
    assert sent(route, post("/v1/messages", {**MESSAGES, "temperature": 0.75}))["temperature"] == 0.75


@pytest.mark.parametrize(
    ("client", "route", "asked", "got"),
    [
        ("anthropic", "anthropic/claude-3-5-haiku-latest", {"thinking": {"type": "adaptive"}}, {"thinking": None}),
        ("anthropic", "anthropic/claude-3-5-haiku-latest", {"max_tokens": 64_000}, {"max_tokens": 8192}),
        (
            "anthropic",
            CLAUDE,
            {"thinking": {"type": "adaptive"}, "max_tokens": 8000},
            {"thinking": {"type": "enabled", "budget_tokens": 4000}},
        ),
        ("chat", "openai/gpt-5", {"temperature": 0.5}, {"temperature": None}),
        ("chat", "openai/gpt-4.1", {"reasoning_effort": "high"}, {"reasoning_effort": None}),
        ("chat", "openai/o3", {"max_tokens": 100}, {"max_tokens": None, "max_completion_tokens": 100}),
        ("responses", "openai-responses/gpt-4.1", {"reasoning": {"effort": "high"}}, {"reasoning": None}),
    ],
)
def test_options_are_those_of_the_model_that_answers(client: str, route: str, asked: Any, got: Any) -> None:
    _, path, body = AT_HOME[client]
    body = {**body, **asked, "model": "the-one-that-was-asked-for"}
    received = sent(route, post(path, body))
    assert {name: received.get(name) for name in got} == got
    assert received.get("a_field_of_tomorrow") == body["a_field_of_tomorrow"]


def test_whoever_asks_for_the_very_model_that_answers_knows_its_options() -> None:
    body = {**CHAT, "model": "gpt-5", "temperature": 0.5}
    assert sent("openai/gpt-5", post("/v1/chat/completions", body)) == body


def test_an_id_that_only_the_gateway_knows_is_not_sent() -> None:
    gateway = gateway_to(RESPONSES)
    first = hear(gateway, post("/v1/responses", ITEMS)).json["id"]
    body = {**ITEMS, "input": "And now?", "previous_response_id": first}
    assert hear(gateway, post("/v1/responses", body)).status == 200
    got = json.loads(last_sent(gateway).body)
    assert got.get("previous_response_id") is None
    assert len(got["input"]) > 2


def test_a_compaction_that_only_the_gateway_can_read_is_not_sent() -> None:
    gateway = gateway_to(RESPONSES)
    compacted = hear(gateway, post("/v1/responses/compact", {"model": "gpt-5", "input": "hi"})).json["output"]
    items = [*compacted, {"role": "user", "content": "And now?"}]
    assert hear(gateway, post("/v1/responses", {"model": "gpt-5", "input": items})).status == 200
    got = json.loads(last_sent(gateway).body)
    assert not [item for item in got["input"] if item.get("type") == "compaction"]
    assert "A river has a bed" in json.dumps(got)


def test_an_answer_of_another_route_is_no_reason_to_render_anew() -> None:
    """Words alone belong to nobody."""
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}
    body = {**MESSAGES, "messages": [HI, said, HI]}
    gateway = gateway_to(CLAUDE)
    hear(gateway, post("/v1/messages", spread(body)))
    assert last_sent(gateway).body == spread(body)


def test_bytes_go_through_to_the_route_at_home_after_another_failed() -> None:
    kimi = "kimi/kimi-k2-thinking"
    world = scripted_world({"kimi": [Scripted(breaks=True)], "anthropic": [whole_stream(CLAUDE)]})
    gateway = Gateway(world, Profile("in turn", (Route(kimi), Route(CLAUDE)), Policy.FAILOVER))
    hear(gateway, post("/v1/messages", spread(MESSAGES)))
    assert last_sent(gateway).body == spread(MESSAGES)
