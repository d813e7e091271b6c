"""Requests that name what they do not hold: it is put in its place if it is kept here, and refused if it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway_clients import FAMILIES, Heard, hear, post, seen_by, simulated_gateway
from legato.gateway.gateway import Gateway
from legato.model.json_access import as_objects, as_text
from legato.transport.compaction_items import compaction_body
from legato.transport.contract import Ask
from legato.transport.stored_responses import Stored, list_inputs
from legato.wire.growing import minted_id

CLAUDE, OPENAI, GEMINI = "anthropic/claude-sonnet-4-5", "openai-responses/gpt-5.1", "gemini/gemini-3-pro-preview"
READ: Any = {
    "type": "function",
    "name": "read_file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    "strict": False,
}


def respond(gateway: Gateway, items: Any, tenant: str = "", **fields: Any) -> Heard:
    body = {"model": "m", "input": items, "tools": [READ], "reasoning": {"effort": "low", "summary": "auto"}, **fields}
    return hear(gateway, post("/v1/responses", body), tenant=tenant)


def response_in(heard: Heard) -> Any:
    """The response, from the end of a stream if it is one."""
    if not heard.body.startswith(b"event:"):
        return heard.json
    return json.loads(heard.body.rpartition(b"data: ")[2])["response"]


def refer(output: Any) -> list[Any]:
    return [{"type": "item_reference", "id": item["id"]} for item in output]


def results_of(output: Any) -> list[Any]:
    calls = [item["call_id"] for item in output if item["type"] == "function_call"]
    return [{"type": "function_call_output", "call_id": call, "output": f"text {call}"} for call in calls]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_client_may_refer_to_the_items_of_answers_that_are_kept(family: str, stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    items: list[Any] = []
    for text in ("think first, then use read_file on a.txt and b.txt", "use read_file on c.txt"):
        items.append({"role": "user", "content": text})
        while results := results_of(output := response_in(respond(gateway, items, stream=stream))["output"]):
            items += [*refer(output), *results]
        items += refer(output)
    sent = json.dumps(seen_by(gateway.world).requests[-1].json)
    assert seen_by(gateway.world).refusals == []
    assert len(seen_by(gateway.world).requests) == 4
    assert all(result["output"] in sent for result in items if result.get("type") == "function_call_output")
    assert "not in this conversation" not in sent


@pytest.mark.parametrize("route", FAMILIES.values())
def test_a_response_is_kept_as_it_was_streamed(route: str) -> None:
    gateway = simulated_gateway(route)
    told = response_in(respond(gateway, "think first, then use read_file on a.txt", stream=True))
    kept = hear(gateway, Ask(method="GET", path=f"/v1/responses/{told['id']}", headers={}, body=b""))
    assert kept.json == told


@pytest.mark.parametrize("tenant", ["", "two"])
def test_an_item_that_is_not_kept_for_this_tenant_is_refused(tenant: str) -> None:
    gateway = simulated_gateway(CLAUDE)
    kept = respond(gateway, "use read_file on a.txt", tenant="one", store=bool(tenant)).json["output"]
    refused = respond(gateway, [*refer(kept), *results_of(kept)], tenant=tenant or "one")
    assert refused.status == 400
    assert kept[0]["id"] in refused.json["error"]["message"]
    assert len(seen_by(gateway.world).requests) == 1


def test_an_item_that_a_response_was_given_to_is_never_taken_for_one_that_it_gave() -> None:
    gateway = simulated_gateway(CLAUDE)
    response = respond(gateway, [{"role": "user", "content": text} for text in ("hello", "are you there?")]).json
    path = f"/v1/responses/{response['id']}/input_items"
    for given in hear(gateway, Ask(method="GET", path=path, headers={}, body=b"")).json["data"]:
        refused = respond(gateway, refer([given]))
        assert refused.status == 400
        assert given["id"] in refused.json["error"]["message"]


def test_what_was_said_and_what_it_was_made_into_have_ids_of_their_own() -> None:
    response: Any = {"id": "resp_1", "created_at": 0, "usage": None}
    body: Any = {"input": [{"role": "user", "content": "hello"}] * 3}
    outputs = [minted_id("msg_", "resp_1", place) for place in range(3)]
    response["output"] = [{"type": "message", "id": item_id} for item_id in outputs]
    compacted = [as_text(item.get("id")) for item in as_objects(compaction_body(body, response)["output"])]
    listed = [as_text(item.get("id")) for item in as_objects(list_inputs(Stored("", response, body), {})["data"])]
    assert len({*compacted, *listed}) == 3 + 3 + 3


ELSEWHERE: dict[str, tuple[str, Any, str]] = {
    "conversation": ("/v1/responses", {"input": "hi", "conversation": "conv_1"}, OPENAI),
    "prompt": ("/v1/responses", {"input": "hi", "prompt": {"id": "pmpt_1"}}, OPENAI),
    "cachedContent": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "cachedContent": "cachedContents/1"},
        GEMINI,
    ),
}


@pytest.mark.parametrize("field", ELSEWHERE)
def test_what_only_the_clients_own_provider_keeps_is_refused_elsewhere(field: str) -> None:
    path, body, _ = ELSEWHERE[field]
    gateway = simulated_gateway(CLAUDE)
    refused = hear(gateway, post(path, body | {"model": "m"}))
    assert (refused.status, seen_by(gateway.world).requests) == (400, [])
    assert f"{field}: " in refused.json["error"]["message"]


@pytest.mark.parametrize("field", ELSEWHERE)
def test_what_the_clients_own_provider_keeps_is_named_to_it(field: str) -> None:
    path, body, home = ELSEWHERE[field]
    gateway = simulated_gateway(home)
    hear(gateway, post(path, body | {"model": "m"}))
    assert seen_by(gateway.world).requests[-1].json[field] == body[field]


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/v1/messages", "messages", "hello"),
        ("/v1/chat/completions", "messages", "hello"),
        ("/v1/chat/completions", "messages", {"role": "user", "content": "hello"}),
        ("/v1/chat/completions", "messages", None),
        ("/v1/responses", "input", 5),
        ("/v1beta/models/m:generateContent", "contents", 5),
    ],
)
def test_messages_that_are_no_list_are_refused_and_not_passed_over(path: str, field: str, value: Any) -> None:
    gateway = simulated_gateway(CLAUDE)
    refused = hear(gateway, post(path, {"model": "m", "max_tokens": 9, field: value}))
    assert (refused.status, seen_by(gateway.world).requests) == (400, [])
    assert f"'{field}'" in refused.json["error"]["message"]
