"""What the Responses API keeps for its clients: responses by their ids, and conversations that it made shorter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialect_support import SAMPLES
from legato.simulation import Ask, SimulatedProvider

READ: dict[str, Any] = {
    "type": "function",
    "name": "read_file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}


class Api:
    """One provider, asked for what it keeps."""

    def __init__(self) -> None:
        self.provider = SimulatedProvider("openai-responses")

    def ask(self, method: str, path: str, body: Any = None, key: str = "sk-one", **query: str) -> tuple[int, Any]:
        sent = b"" if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {key}"}
        reply = self.provider.answer(Ask(method=method, path=path, headers=headers, body=sent, query=query)).reply
        return reply.status, json.loads(reply.body)

    def create(self, *items: Any, **more: Any) -> tuple[int, Any]:
        return self.ask("POST", "/v1/responses", {"model": "gpt-5.1", "tools": [READ], "input": list(items), **more})


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def output(call: dict[str, Any], text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}


def said(response: Any) -> str:
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


# --- by their ids -----------------------------------------------------------------------------------------------------


def test_a_request_goes_on_from_a_response_that_is_kept() -> None:
    api = Api()
    _, first = api.create(user("use read_file on a.txt"))
    call = next(item for item in first["output"] if item["type"] == "function_call")
    _, second = api.create(output(call, "hello a"), previous_response_id=first["id"])
    _, third = api.create(
        user("what did the first tool return?"), previous_response_id=second["id"], metadata={"ticket": "7"}
    )

    assert [one.get("previous_response_id") for one in (first, second, third)] == [None, first["id"], second["id"]]
    assert third["metadata"] == {"ticket": "7"}
    assert said(second) == 'read_file returned: "hello a".'
    assert said(third) == 'The first result: read_file returned: "hello a"'


@pytest.mark.parametrize("why", ["never given", "not stored", "forgotten", "of another account"])
def test_a_response_that_is_not_kept_is_refused_and_not_ignored(why: str) -> None:
    api = Api()
    _, first = api.create(user("hi"), store=why != "not stored")
    name = "resp_unknown" if why == "never given" else first["id"]
    if why == "forgotten":
        assert api.ask("DELETE", f"/v1/responses/{name}")[1]["deleted"]
    key = "sk-two" if why == "of another account" else "sk-one"
    body = {"model": "gpt-5.1", "input": "and now?", "previous_response_id": name}

    status, refused = api.ask("POST", "/v1/responses", body, key)
    assert (status, refused["error"]["code"]) == (400, "previous_response_not_found")
    assert api.ask("GET", f"/v1/responses/{name}", key=key)[0] == 404


def test_a_response_can_be_looked_at() -> None:
    api = Api()
    _, first = api.create(user("hi"))
    assert api.ask("GET", f"/v1/responses/{first['id']}") == (200, first)


# --- made shorter -----------------------------------------------------------------------------------------------------


def test_what_a_response_was_given_to_is_listed_newest_first_and_by_pages() -> None:
    api = Api()
    _, first = api.ask("POST", "/v1/responses", {"model": "gpt-5.1", "input": "hi"})
    _, second = api.create(user("and now?"), previous_response_id=first["id"])
    status, items = api.ask("GET", f"/v1/responses/{second['id']}/input_items")
    assert (status, items["object"], items["has_more"]) == (200, "list", False)
    texts = [item["content"][0]["text"] for item in items["data"]]
    assert texts == ["and now?", 'gpt-5.1 (simulated) heard: "hi"', "hi"]
    assert (items["first_id"], items["last_id"]) == (items["data"][0]["id"], items["data"][-1]["id"])

    _, page = api.ask("GET", f"/v1/responses/{second['id']}/input_items", order="asc", limit="2")
    assert ([item["id"] for item in page["data"]], page["has_more"]) == (
        [item["id"] for item in items["data"][:0:-1]],
        True,
    )
    _, rest = api.ask("GET", f"/v1/responses/{second['id']}/input_items", order="asc", after=page["last_id"])
    assert ([item["id"] for item in rest["data"]], rest["has_more"]) == ([items["first_id"]], False)
    _, whole = api.ask("GET", f"/v1/responses/{second['id']}/input_items", limit="9" * 5_000)
    assert whole == items
    assert api.ask("GET", "/v1/responses/resp_unknown/input_items")[0] == 404


def test_only_what_runs_in_the_background_can_be_cancelled_or_streamed_again() -> None:
    api = Api()
    _, plain = api.create(user("hi"))
    _, background = api.create(user("hi there"), background=True)
    status, refused = api.ask("POST", f"/v1/responses/{plain['id']}/cancel")
    assert (status, refused["error"]["message"]) == (400, "Cannot cancel a synchronous response.")
    assert api.ask("GET", f"/v1/responses/{plain['id']}", stream="true")[0] == 400
    assert api.ask("POST", f"/v1/responses/{background['id']}/cancel") == (200, background)
    assert api.ask("POST", "/v1/responses/resp_unknown/cancel")[0] == 404


def test_the_tokens_of_a_request_are_counted_with_what_it_goes_on_from() -> None:
    api = Api()
    _, first = api.create(user("hi"))
    body = {"model": "gpt-5.1", "input": "and now?"}
    _, alone = api.ask("POST", "/v1/responses/input_tokens", body)
    _, all_of_it = api.ask("POST", "/v1/responses/input_tokens", body | {"previous_response_id": first["id"]})
    assert (alone["object"], all_of_it["object"]) == ("response.input_tokens", "response.input_tokens")
    assert all_of_it["input_tokens"] > alone["input_tokens"] > 0


TRIGGER = {"type": "compaction_trigger"}
UNSTORED: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}


def test_a_compaction_is_one_item_and_the_model_goes_on_after_it() -> None:
    api = Api()
    asked = user("use read_file on a.txt then use read_file on b.txt")
    _, first = api.create(asked, **UNSTORED)
    call = next(item for item in first["output"] if item["type"] == "function_call")
    _, compacted = api.create(asked, *first["output"], output(call, "hello a"), TRIGGER, **UNSTORED)
    assert [item["type"] for item in compacted["output"]] == ["compaction"]
    assert "hello a" not in json.dumps(compacted)

    _, second = api.create(asked, *compacted["output"], **UNSTORED)
    [next_call] = [item for item in second["output"] if item["type"] == "function_call"]
    assert next_call["arguments"] == '{"path":"b.txt"}'
    answered = (*second["output"], output(next_call, "hello b"))
    _, third = api.create(asked, *compacted["output"], *answered, user("what did the first tool return?"), **UNSTORED)
    assert said(third) == 'The first result: read_file returned: "hello a"'


def test_a_compaction_can_be_asked_for_at_its_own_address() -> None:
    api = Api()
    asked = user("use read_file on a.txt")
    _, first = api.create(asked)
    call = next(item for item in first["output"] if item["type"] == "function_call")
    body = {"model": "gpt-5.1", "input": [asked, *first["output"], output(call, "hello a")]}
    status, compacted = api.ask("POST", "/v1/responses/compact", body)
    assert (status, compacted["object"]) == (200, "response.compaction")
    assert [item["type"] for item in compacted["output"]] == ["message", "compaction"]

    _, second = api.create(*compacted["output"], user("what did the first tool return?"))
    assert said(second) == 'The first result: read_file returned: "hello a"'


def test_the_compaction_of_another_account_is_refused() -> None:
    api = Api()
    _, compacted = api.create(user("hi"), TRIGGER)
    body = {"model": "gpt-5.1", "input": [user("hi"), *compacted["output"]]}
    status, refused = api.ask("POST", "/v1/responses", body, key="sk-two")
    assert (status, refused["error"]["code"]) == (400, "invalid_encrypted_content")


@pytest.mark.skipif(not (SAMPLES / "clients" / "codex.jsonl").exists(), reason="the recorded requests are not here")
def test_codex_gets_the_one_item_that_it_waits_for() -> None:
    provider = SimulatedProvider("openai-responses", checks_signatures=False)
    bodies = [
        json.loads(line)["body"]
        for line in (SAMPLES / "clients" / "codex.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    [body] = [body for body in bodies if body["input"][-1]["type"] == "compaction_trigger"]
    reply = provider.answer(Ask(method="POST", path="/v1/responses", headers={}, body=json.dumps(body).encode())).reply
    events = [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: {")]
    done = [event["item"]["type"] for event in events if event["type"] == "response.output_item.done"]
    assert (done, events[-1]["type"]) == (["compaction"], "response.completed")


# --- Anthropic's threads ----------------------------------------------------------------------------------------------


def claude(provider: SimulatedProvider, text: str, **more: Any) -> tuple[int, Any]:
    body = {"model": "claude-opus-4-8", "max_tokens": 500, "messages": [{"role": "user", "content": text}], **more}
    reply = provider.answer(Ask(method="POST", path="/v1/messages", headers={}, body=json.dumps(body).encode())).reply
    return reply.status, json.loads(reply.body)


def test_a_thread_goes_on_with_what_its_first_request_said() -> None:
    provider = SimulatedProvider("anthropic")
    tools = [{"name": "read_file", "input_schema": READ["parameters"]}]
    _, first = claude(provider, "remember plan_b", thread={"type": "create"}, tools=tools)
    goes_on = {"type": "continue", "previous_message_id": first["id"]}
    status, second = claude(provider, "use read_file on a.txt", thread=goes_on)
    assert (status, second["stop_reason"]) == (200, "tool_use")


def test_a_thread_that_is_not_kept_is_refused_so_that_the_client_sends_it_whole() -> None:
    provider = SimulatedProvider("anthropic")
    _, first = claude(provider, "hi")  # not asked to keep it
    goes_on = {"type": "continue", "previous_message_id": first["id"]}
    status, refused = claude(provider, "and now?", thread=goes_on)
    assert (status, refused["error"]["details"]) == (400, {"error_code": "thread_not_found"})
