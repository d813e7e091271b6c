"""Whole exchanges without HTTP: who answers, what of the tools and messages arrives, what is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from gateway_clients import FAMILIES, Heard, hear, post, seen_by, simulated_gateway, simulated_world
from gateway_support import body_of, door
from legato.gateway.gateway import Gateway, SwitchAt
from legato.gateway.naming import ROUTE_HEADER
from legato.model import Dialect
from legato.request import resolve
from legato.routing import Policy, Profile, Route
from legato.simulation import FaultKind, Faults
from legato.transport.contract import Ask
from legato.wire.dialects import dialect_parts

GPT, MISTRAL, KIMI = "openai/gpt-4.1", "mistral/mistral-large-latest", "kimi/kimi-k2-thinking"
CLAUDE = "anthropic/claude-sonnet-4-5"
THREE = tuple(map(Route, (GPT, MISTRAL, KIMI)))
AROUND = Profile("around", THREE, Policy.ROUND_ROBIN)
READ: Any = {
    "type": "function",
    "function": {
        "name": "read_file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
CALLS = "use read_file on a.txt"

each_family = pytest.mark.parametrize("family", FAMILIES)


class Talk:
    """A conversation of a chat client."""

    def __init__(self, gateway: Gateway, *, model: str = "some-model", tenant: str = "") -> None:
        self.gateway = gateway
        self.model = model
        self.tenant = tenant
        self.messages: list[Any] = []

    def say(self, text: str, headers: dict[str, str] | None = None) -> str:
        """Say something; who answered."""
        return self._ask({"role": "user", "content": text}, headers=headers)

    def give_results(self, headers: dict[str, str] | None = None) -> str:
        """Give the results of the calls in the last answer; who answered."""
        calls = self.messages[-1]["tool_calls"]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "hello"} for call in calls]
        return self._ask(*results, headers=headers)

    def _ask(self, *news: Any, headers: dict[str, str] | None) -> str:
        self.messages += news
        body = {"model": self.model, "messages": self.messages, "tools": [READ]}
        heard = hear(self.gateway, post("/v1/chat/completions", body, headers), tenant=self.tenant)
        assert heard.status == 200, heard.body
        self.messages.append(heard.json["choices"][0]["message"])
        return heard.route


# --- who answers ------------------------------------------------------------------------------------------------------


def test_a_turn_keeps_its_route_and_the_next_message_moves_on() -> None:
    talk = Talk(simulated_gateway(AROUND))
    assert [talk.say(CALLS), talk.give_results(), talk.say(CALLS), talk.give_results(), talk.say("hello")] == [
        GPT,
        GPT,
        MISTRAL,
        MISTRAL,
        KIMI,
    ]
    assert talk.say("hello again") == GPT


def test_a_turn_counts_once_however_many_calls_it_makes() -> None:
    talk = Talk(simulated_gateway(Profile("around", THREE, Policy.ROUND_ROBIN, sticky_turns=2)))
    first = [talk.say(CALLS), talk.give_results(), talk.say("hello"), talk.say(CALLS), talk.give_results()]
    assert first == [GPT, GPT, GPT, MISTRAL, MISTRAL]
    assert [talk.say("hello"), talk.say("hello again")] == [MISTRAL, KIMI]


def test_new_conversations_take_turns() -> None:
    gateway = simulated_gateway(AROUND)
    assert [Talk(gateway).say(f"hello {number}") for number in range(4)] == [GPT, MISTRAL, KIMI, GPT]


def test_conversations_do_not_move_each_other() -> None:
    gateway = simulated_gateway(AROUND)
    one, other = Talk(gateway), Talk(gateway)
    opened = one.say("hello"), other.say("good day")
    assert opened == (GPT, MISTRAL)
    assert (other.say("go on"), one.say("go on")) == (KIMI, MISTRAL)


def test_another_route_at_every_request_if_that_is_wanted() -> None:
    talk = Talk(simulated_gateway(AROUND, switch=SwitchAt.REQUEST))
    assert [talk.say(CALLS), talk.give_results(), talk.say(CALLS), talk.give_results()] == [GPT, MISTRAL, KIMI, GPT]


def test_a_turn_whose_route_is_lost_goes_on_elsewhere() -> None:
    faults = Faults([None, FaultKind.KEY], provider="openai")
    talk = Talk(simulated_gateway(Profile("in turn", THREE, Policy.FAILOVER), faults=faults))
    assert [talk.say(CALLS), talk.give_results()] == [GPT, MISTRAL]
    assert "hello" in talk.messages[-1]["content"]


def test_a_turn_keeps_its_route_though_a_better_one_is_well_again() -> None:
    faults = Faults([FaultKind.KEY], provider="openai")
    gateway = simulated_gateway(Profile("in turn", THREE, Policy.FAILOVER), faults=faults)
    talk = Talk(gateway)
    assert talk.say(CALLS) == MISTRAL
    gateway.world.health.forget(GPT)
    assert [talk.give_results(), talk.say("hello")] == [MISTRAL, GPT]


def test_a_route_is_chosen_by_header_prefix_or_model() -> None:
    world = simulated_world()
    gateway = Gateway(
        world, AROUND, profiles=[Profile("careful", (Route(CLAUDE),))], models={"gpt-*": KIMI, "o?": "careful"}
    )
    assert Talk(gateway).say("hi", {ROUTE_HEADER: CLAUDE}) == CLAUDE
    assert Talk(gateway).say("hi", {ROUTE_HEADER: "careful"}) == CLAUDE
    assert Talk(gateway, model="careful").say("hi") == CLAUDE
    assert Talk(gateway, model=MISTRAL).say("hi") == MISTRAL
    assert Talk(gateway, model="gpt-9").say("hi") == KIMI
    assert Talk(gateway, model="o3").say("hi") == CLAUDE
    body = {"model": "some-model", "messages": [{"role": "user", "content": "hi"}]}
    assert hear(gateway, post("/careful/v1/chat/completions", body)).route == CLAUDE
    assert hear(gateway, post("/careless/v1/chat/completions", body)).route == GPT


def test_who_switches_by_hand_in_the_middle_of_a_turn_is_obeyed() -> None:
    talk = Talk(simulated_gateway(AROUND))
    assert [talk.say(CALLS), talk.give_results({ROUTE_HEADER: CLAUDE})] == [GPT, CLAUDE]
    assert "hello" in talk.messages[-1]["content"]


def test_a_route_by_hand_that_nobody_knows_is_refused() -> None:
    body = {"model": "some-model", "messages": [{"role": "user", "content": "hi"}]}
    gateway = simulated_gateway(AROUND)
    heard = hear(gateway, post("/v1/chat/completions", body, {ROUTE_HEADER: "nobody/at-all"}))
    assert heard.status == 404
    assert "nobody/at-all" in heard.json["error"]["message"]
    assert seen_by(gateway.world).requests == []


# --- the name that was asked for --------------------------------------------------------------------------------------

ODD = 'Claude "Ünique" [1m]/v2 '


@each_family
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_an_answer_carries_the_name_that_was_asked_for(family: str, stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    talk: Any = {"model": ODD, "stream": stream, "messages": [{"role": "user", "content": "hi"}]}
    verb = "streamGenerateContent" if stream else "generateContent"
    asks = {
        "anthropic": post("/v1/messages", talk | {"max_tokens": 100}),
        "chat": post("/v1/chat/completions", talk),
        "responses": post("/v1/responses", {"model": ODD, "stream": stream, "input": "hi"}),
        "gemini": Ask(
            method="POST",
            path=f"/v1beta/models/{ODD}:{verb}",
            query={"alt": "sse"},
            headers={},
            body=json.dumps({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}).encode(),
        ),
    }
    for client, request in asks.items():
        field = b'"modelVersion":' if client == "gemini" else b'"model":'
        body = hear(gateway, request).body
        named = body.count(field)
        assert named, client
        assert body.count(field + json.dumps(ODD, ensure_ascii=False).encode()) == named, client


# --- tools ------------------------------------------------------------------------------------------------------------


def song_tool(description: str) -> Any:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    return {"type": "function", "name": "find", "description": description, "parameters": schema, "strict": False}


PATCH: Any = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Patch.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
SONGS: Any = {"type": "namespace", "name": "mcp__songs", "description": "s", "tools": [song_tool("Find a song.")]}
FILMS: Any = {"type": "namespace", "name": "mcp__films", "description": "f", "tools": [song_tool("Find a film.")]}
CODEX_TOOLS = [PATCH, SONGS, FILMS, {"type": "web_search"}]


def codex(gateway: Gateway, items: Any, **fields: Any) -> Heard:
    heard = hear(gateway, post("/v1/responses", {"model": "gpt-5.3-codex", "input": items, **fields}))
    assert heard.status == 200, heard.body
    return heard


def output_of(heard: Heard) -> list[Any]:
    """What a client has of a response, streamed or not."""
    if heard.body.startswith(b"{"):
        return heard.json["output"]
    return body_of([heard.body], door(Dialect.OPENAI_RESPONSES))["output"]


def calls_in(heard: Heard) -> list[Any]:
    return [item for item in heard.json["output"] if item["type"].endswith("_call")]


def results_for(calls: list[Any]) -> list[Any]:
    return [
        {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": f"done {number}"}
        for number, call in enumerate(calls)
    ]


@each_family
def test_a_custom_tool_is_called_by_every_family_and_comes_back_as_one(family: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    said = [{"role": "user", "content": 'call apply_patch with {"input": "*** Begin"}'}]
    heard = codex(gateway, said, tools=CODEX_TOOLS)
    (call,) = calls_in(heard)
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")
    heard = codex(gateway, [*said, *heard.json["output"], *results_for([call])], tools=CODEX_TOOLS)
    assert "done 0" in json.dumps(heard.json["output"])
    assert seen_by(gateway.world).refusals == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_custom_tool_is_called_as_one_though_the_model_made_up_arguments_of_its_own(stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES["kimi"])
    said = [{"role": "user", "content": 'call apply_patch with {"patch": "*** Begin", "force": true}'}]
    items = output_of(codex(gateway, said, tools=CODEX_TOOLS, stream=stream))
    (call,) = [item for item in items if item["type"].endswith("_call")]
    assert (call["type"], call["status"]) == ("custom_tool_call", "completed")
    assert json.loads(call["input"]) == {"patch": "*** Begin", "force": True}


@each_family
def test_two_servers_may_have_a_tool_of_the_same_name(family: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    offered = offered_names(gateway, family)
    asks = " then ".join(f'call {name} with {{"title": "{title}"}}' for name, title in zip(offered, "ab", strict=True))
    said: list[Any] = [{"role": "user", "content": asks}]
    seen: list[Any] = []
    for _ in offered:
        heard = codex(gateway, said, tools=CODEX_TOOLS)
        calls = calls_in(heard)
        seen += [(call["type"], call["namespace"], call["name"], call["arguments"]) for call in calls]
        said += [*heard.json["output"], *results_for(calls)]
    assert [(kind, space, name) for kind, space, name, _ in seen] == [
        ("function_call", "mcp__songs", "find"),
        ("function_call", "mcp__films", "find"),
    ]
    assert [json.loads(arguments)["title"] for *_, arguments in seen] == ["a", "b"]


def offered_names(gateway: Gateway, family: str) -> list[str]:
    """The names under which the backend is offered the two tools called `find`."""
    if family == "openai-responses":
        return ["mcp__songs.find", "mcp__films.find"]
    codex(gateway, "hi", tools=CODEX_TOOLS)
    sent = seen_by(gateway.world).requests[-1].json
    dialect = resolve(FAMILIES[family]).dialect
    names = [tool.name for tool in dialect_parts(dialect).parse(sent).tools if tool.name.endswith("find")]
    assert len(set(names)) == 2
    return names


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "openai-responses"])
@pytest.mark.parametrize("choice", [{"type": "web_search"}, "required"], ids=["forced", "required"])
def test_a_hosted_tool_that_nobody_hosts_is_left_out_and_forced_no_longer(family: str, choice: Any) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    heard = codex(gateway, "hello there", tools=[{"type": "web_search"}], tool_choice=choice)
    sent = json.dumps(seen_by(gateway.world).requests[-1].json)
    assert "web_search" not in sent
    assert "choice" not in sent.replace('"tool_choice": "auto"', "")
    assert "hello there" in json.dumps(heard.json["output"])
    report = gateway.reports.find(heard.headers["x-legato-request"])
    assert report is not None
    assert "hosted-tool-definition" in [decision.reason for decision in report.decisions]


def test_a_hosted_tool_goes_to_whoever_hosts_it() -> None:
    gateway = simulated_gateway(FAMILIES["openai-responses"])
    codex(gateway, "hello there", tools=CODEX_TOOLS, tool_choice={"type": "web_search"})
    sent = seen_by(gateway.world).requests[-1].json
    assert sent["tools"] == CODEX_TOOLS
    assert sent["tool_choice"] == {"type": "web_search"}


@each_family
def test_tools_in_an_item_of_the_conversation_are_offered(family: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    items = [
        {"type": "additional_tools", "role": "developer", "tools": [PATCH]},
        {"role": "user", "content": 'call apply_patch with {"input": "*** Begin"}'},
    ]
    (call,) = calls_in(codex(gateway, items))
    assert (call["type"], call["input"]) == ("custom_tool_call", "*** Begin")


@each_family
def test_a_search_for_tools_in_the_history_and_what_it_found_reach_every_family(family: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    search = {"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {"query": "songs"}}
    found = {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": [SONGS]}
    items = [{"role": "user", "content": "hello"}, search, found, {"role": "user", "content": "go on"}]
    codex(gateway, items, tools=[{"type": "tool_search", "execution": "client"}])
    assert seen_by(gateway.world).refusals == []
    assert "Find a song." in json.dumps(seen_by(gateway.world).requests[-1].json)


@each_family
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_codex_searches_for_tools_and_calls_what_it_found_on_every_family(family: str, stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    said = {"role": "user", "content": 'use tool_search on songs then call find with {"title": "blue"}'}
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tools = [{"type": "tool_search", "execution": "client", "description": "Search.", "parameters": schema}]
    asked = {"tools": tools, "stream": stream, "store": False, "include": ["reasoning.encrypted_content"]}
    first = output_of(codex(gateway, [said], **asked))
    (search,) = [item for item in first if item["type"] not in ("reasoning", "message")]
    assert (search["type"], search["execution"], search["arguments"], search["status"]) == (
        "tool_search_call",
        "client",
        {"query": "songs"},
        "completed",
    )
    found = {"type": "tool_search_output", "call_id": search["call_id"], "execution": "client", "tools": [SONGS]}
    second = output_of(codex(gateway, [said, *first, found], **asked))
    (call,) = [item for item in second if item["type"] == "function_call"]
    assert (call["namespace"], call["name"], json.loads(call["arguments"])) == (
        "mcp__songs",
        "find",
        {"title": "blue"},
    )
    assert seen_by(gateway.world).refusals == []


# --- messages ---------------------------------------------------------------------------------------------------------


@each_family
@pytest.mark.parametrize("client", ["anthropic", "chat", "responses"])
def test_a_system_message_among_the_messages_reaches_every_family(family: str, client: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Good day."},
        {"role": "user", "content": "go on"},
        {"role": "system", "content": "Speak like a sailor."},
    ]
    asks = {
        "anthropic": post("/v1/messages", {"model": "m", "max_tokens": 100, "messages": messages}),
        "chat": post("/v1/chat/completions", {"model": "m", "messages": messages}),
        "responses": post("/v1/responses", {"model": "m", "input": messages}),
    }
    assert hear(gateway, asks[client]).status == 200
    sent = json.dumps(seen_by(gateway.world).requests[-1].json)
    assert sent.count("Speak like a sailor.") == 1
    assert sent.index("Good day.") < sent.index("Speak like a sailor.")


THINK: Any = {"role": "user", "content": "think first, then say hello"}


@each_family
def test_thinking_that_nothing_follows_harms_nobody(family: str) -> None:
    """Codex and OpenCode keep it of an answer that failed, and ask again with it in the history."""
    gateway = simulated_gateway(FAMILIES[family])
    asks: Any = {"model": "m", "max_tokens": 6000, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    content = hear(gateway, post("/v1/messages", asks | {"messages": [THINK]})).json["content"]
    alone = {"role": "assistant", "content": [block for block in content if block["type"] != "text"]}
    reasoning: Any = {"model": "m", "reasoning": {"effort": "high"}}
    output = hear(gateway, post("/v1/responses", reasoning | {"input": [THINK]})).json["output"]
    items = [item for item in output if item["type"] == "reasoning"]
    for route in FAMILIES.values():
        headers = {ROUTE_HEADER: route}
        for messages in ([THINK, alone, THINK], [THINK, alone]):
            assert hear(gateway, post("/v1/messages", asks | {"messages": messages}, headers)).status == 200
        for history in ([THINK, *items], [THINK, *items, THINK]):
            assert hear(gateway, post("/v1/responses", reasoning | {"input": history}, headers)).status == 200
    assert seen_by(gateway.world).refusals == []


@each_family
def test_the_signature_that_gemini_cli_makes_up_after_a_resume_harms_nobody(family: str) -> None:
    call = {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "skip_thought_signature_validator"}
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "use read"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "a song"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "read"}]}],
    }
    gateway = simulated_gateway(FAMILIES[family])
    heard = hear(gateway, post("/v1beta/models/gemini-3-pro-preview:generateContent", body))
    assert heard.status == 200
    assert b"a song" in heard.body
    assert seen_by(gateway.world).refusals == []


# --- responses that are kept ------------------------------------------------------------------------------------------


def stored(gateway: Gateway, method: str, response_id: str, tenant: str = "", **query: str) -> Heard:
    request = Ask(method=method, path=f"/v1/responses/{response_id}", headers={}, body=b"", query=query)
    return hear(gateway, request, tenant=tenant)


def respond(gateway: Gateway, text: str, tenant: str = "", **fields: Any) -> Heard:
    return hear(gateway, post("/v1/responses", {"model": "m", "input": text, **fields}), tenant=tenant)


@each_family
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_conversation_goes_on_from_the_id_of_a_response(family: str, stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    first = respond(gateway, "my cat is called Minka", stream=stream)
    first_id = _completed(first)["id"] if stream else first.json["id"]
    second = respond(gateway, "what did I say first?", previous_response_id=first_id)
    assert second.status == 200
    assert "Minka" in json.dumps(seen_by(gateway.world).requests[-1].json)
    third = respond(gateway, "and now?", previous_response_id=second.json["id"])
    assert third.status == 200
    assert json.dumps(seen_by(gateway.world).requests[-1].json).count("Minka") >= 1
    assert seen_by(gateway.world).refusals == []


def _completed(heard: Heard) -> Any:
    line = next(
        line for line in heard.body.split(b"\n") if b'"response.completed"' in line and line.startswith(b"data")
    )
    return json.loads(line.removeprefix(b"data: "))["response"]


def test_a_kept_response_is_given_and_forgotten() -> None:
    gateway = simulated_gateway(GPT)
    response = respond(gateway, "hello").json
    kept = stored(gateway, "GET", response["id"])
    assert kept.status == 200
    assert (kept.json["id"], kept.json["model"]) == (response["id"], "m")
    assert kept.json["output"] == response["output"]
    assert stored(gateway, "DELETE", response["id"]).json["deleted"] is True
    assert stored(gateway, "GET", response["id"]).status == 404
    assert respond(gateway, "go on", previous_response_id=response["id"]).status == 400


@each_family
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_response_says_what_was_asked_for(family: str, stream: bool) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    first = respond(gateway, "hello").json
    asked: dict[str, Any] = {
        "metadata": {"ticket": "7"},
        "previous_response_id": first["id"],
        "temperature": 0.5,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "store": True,
    }
    second = hear(gateway, post("/v1/responses", {"model": "m", "input": "and now?", "stream": stream, **asked}))
    told = _completed(second) if stream else second.json
    assert {name: told[name] for name in asked} == asked
    assert stored(gateway, "GET", told["id"]).json == told
    assert first["metadata"] == {}


def test_what_a_kept_response_was_given_to_is_listed() -> None:
    gateway = simulated_gateway(GPT)
    first = respond(gateway, "hello").json
    second = respond(gateway, "go on", previous_response_id=first["id"]).json
    items = stored(gateway, "GET", f"{second['id']}/input_items", order="asc").json["data"]
    assert [item["content"][0]["text"] for item in items if item["role"] == "user"] == ["hello", "go on"]
    assert stored(gateway, "GET", f"{second['id']}/input_items", tenant="two").status == 404


def test_a_kept_response_is_done_and_cannot_be_cancelled() -> None:
    gateway = simulated_gateway(GPT)
    response = respond(gateway, "hello").json
    refused = stored(gateway, "POST", f"{response['id']}/cancel")
    assert (refused.status, refused.json["error"]["type"]) == (400, "invalid_request_error")
    assert stored(gateway, "GET", response["id"]).status == 200


def test_what_shall_not_be_kept_is_not() -> None:
    gateway = simulated_gateway(GPT)
    response = respond(gateway, "hello", store=False).json
    assert stored(gateway, "GET", response["id"]).status == 404


def test_an_id_that_is_unknown_is_refused_and_nothing_is_asked() -> None:
    gateway = simulated_gateway(GPT)
    refused = respond(gateway, "go on", previous_response_id="resp_unknown")
    assert (refused.status, refused.json["error"]["code"]) == (400, "previous_response_not_found")
    assert "resp_unknown" in refused.json["error"]["message"]
    assert seen_by(gateway.world).requests == []


def test_a_tenant_sees_no_response_of_another() -> None:
    gateway = simulated_gateway(GPT)
    response = respond(gateway, "hello", tenant="one").json
    for method in ("GET", "DELETE"):
        assert stored(gateway, method, response["id"], tenant="two").status == 404
    assert respond(gateway, "go on", tenant="two", previous_response_id=response["id"]).status == 400
    assert stored(gateway, "GET", response["id"], tenant="one").status == 200


def test_results_that_name_a_response_go_to_the_route_that_asked_for_them() -> None:
    gateway = simulated_gateway(AROUND)
    tool = {"type": "function", **READ["function"], "strict": False}
    for route in (GPT, MISTRAL, KIMI):
        first = respond(gateway, f"use read_file on {route}", tools=[tool])
        assert first.route == route
        results = results_for(calls_in(first))
        again = {"model": "m", "input": results, "previous_response_id": first.json["id"], "tools": [tool]}
        second = hear(gateway, post("/v1/responses", again))
        assert (second.status, second.route) == (200, route)
        assert "done 0" in json.dumps(second.json["output"])


def test_a_message_of_anthropics_client_may_go_on_in_its_thread() -> None:
    gateway = simulated_gateway(GPT)
    body: Any = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "my cat is called Minka"}]}
    first = hear(gateway, post("/v1/messages", body | {"thread": {"type": "new"}})).json
    news = {"messages": [{"role": "user", "content": "and now?"}], "thread": {"previous_message_id": first["id"]}}
    assert hear(gateway, post("/v1/messages", body | news)).status == 200
    assert "Minka" in json.dumps(seen_by(gateway.world).requests[-1].json)
    unknown = hear(gateway, post("/v1/messages", body | {"thread": {"previous_message_id": "msg_unknown"}}))
    assert 400 <= unknown.status < 500
    assert "msg_unknown" in unknown.json["error"]["message"]


# --- compaction -------------------------------------------------------------------------------------------------------


LEARNED: list[Any] = [
    {"role": "user", "content": "use read_file on cats.txt"},
    {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path": "cats.txt"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": "the cat is called Minka"},
]
"""a conversation of which a summary has something to say"""


@each_family
def test_a_compaction_is_one_item_that_every_route_reads(family: str) -> None:
    gateway = simulated_gateway(FAMILIES[family])
    (item,) = codex(gateway, [*LEARNED, {"type": "compaction_trigger"}]).json["output"]
    assert item["type"] == "compaction"
    for route in FAMILIES.values():
        body = {"model": "m", "input": [item, {"role": "user", "content": "and now?"}]}
        heard = hear(gateway, post("/v1/responses", body, {ROUTE_HEADER: route}))
        assert (heard.status, heard.route) == (200, route)
        sent = json.dumps(seen_by(gateway.world).requests[-1].json)
        assert "Minka" in sent
        assert "compaction" not in sent
    assert seen_by(gateway.world).refusals == []


def test_a_compaction_says_who_made_it_in_each_of_its_forms() -> None:
    gateway = simulated_gateway(KIMI)
    said = [{"role": "user", "content": "hello"}]
    triggered = {"model": "m", "input": [*said, {"type": "compaction_trigger"}]}
    for request in (
        post("/v1/responses/compact", {"model": "m", "input": said}),
        post("/v1/responses", triggered),
        post("/v1/responses", triggered | {"stream": True}),
    ):
        assert hear(gateway, request).route == KIMI


def test_a_compaction_has_the_time_at_which_it_was_asked_for_in_each_of_its_forms() -> None:
    gateway = Gateway(replace(simulated_world(), clock=lambda: 1_800_000_000.5), KIMI)
    triggered = {"model": "m", "input": [*LEARNED, {"type": "compaction_trigger"}]}
    for request in (
        post("/v1/responses/compact", {"model": "m", "input": LEARNED}),
        post("/v1/responses", triggered),
        post("/v1/responses", triggered | {"stream": True}),
    ):
        body = hear(gateway, request).body
        assert b'"created_at":1800000000' in body
        assert b'"created_at":0' not in body


def test_the_compaction_of_one_tenant_is_not_read_for_another() -> None:
    gateway = simulated_gateway(KIMI)
    made = hear(gateway, post("/v1/responses/compact", {"model": "m", "input": LEARNED}), tenant="one").json["output"]
    item = next(item for item in made if item["type"] == "compaction")
    body = {"model": "m", "input": [item, {"role": "user", "content": "and now?"}]}
    for tenant, reads in {"one": True, "two": False}.items():
        assert hear(gateway, post("/v1/responses", body), tenant=tenant).status == 200
        assert ("Minka" in json.dumps(seen_by(gateway.world).requests[-1].json)) is reads


# --- beside answers ---------------------------------------------------------------------------------------------------


def test_a_count_is_that_of_whoever_would_answer() -> None:
    profiles = [Profile("careful", (Route(CLAUDE),))]
    gateway = Gateway(simulated_world(), GPT, profiles=profiles)
    picture: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    body: Any = {"model": "m", "messages": [{"role": "user", "content": [picture, {"type": "text", "text": "hi"}]}]}
    tools = [{"name": "read", "description": "x" * 400, "input_schema": {"type": "object"}}]

    def counted(path: str, headers: Mapping[str, str] | None = None, **more: Any) -> int:
        heard = hear(gateway, post(path, body | more, dict(headers or {})))
        assert heard.status == 200, heard.body
        return heard.json["input_tokens"]

    by_prefix = counted("/careful/v1/messages/count_tokens", tools=tools)
    assert by_prefix == counted("/v1/messages/count_tokens", {ROUTE_HEADER: "careful"}, tools=tools)
    assert by_prefix == counted("/v1/messages/count_tokens", model="careful", tools=tools)
    assert by_prefix != counted("/v1/messages/count_tokens", tools=tools)
    refused = hear(gateway, post("/v1/messages/count_tokens", body, {ROUTE_HEADER: "nobody"}))
    assert refused.status == 404


def test_a_count_for_responses_has_what_the_request_goes_on_from() -> None:
    gateway = simulated_gateway(GPT)
    first = respond(gateway, "a long story " * 50).json
    body = {"model": "m", "input": "go on"}
    alone = hear(gateway, post("/v1/responses/input_tokens", body))
    assert (alone.status, alone.json["object"]) == (200, "response.input_tokens")
    whole = hear(gateway, post("/v1/responses/input_tokens", body | {"previous_response_id": first["id"]}))
    assert whole.json["input_tokens"] > alone.json["input_tokens"] + 100
    assert len(seen_by(gateway.world).requests) == 1  # nobody is asked for a count


def test_a_model_whose_name_has_a_colon_is_told_by_itself() -> None:
    free = "openrouter/qwen/qwen3-coder:free"
    heard = hear(simulated_gateway(free), Ask(method="GET", path=f"/v1/models/{free}", headers={}, body=b""))
    assert (heard.status, heard.json["id"]) == (200, free)


@pytest.mark.parametrize(("name", "status"), [(KIMI, 200), ("gpt-5", 200), ("kimi", 404), ("claude-9", 404)])
def test_a_model_is_told_of_if_its_name_means_somebody(name: str, status: int) -> None:
    gateway = Gateway(simulated_world(), CLAUDE, models={"gpt-*": KIMI}, key=b"a key for tests")
    heard = hear(gateway, Ask(method="GET", path=f"/v1/models/{name}", headers={}, body=b""))
    assert heard.status == status
    assert status != 200 or heard.json["id"] == name


def test_what_nobody_does_with_a_model_is_not_served_and_google_is_told_in_its_words() -> None:
    heard = hear(simulated_gateway(CLAUDE), post("/v1beta/models/gemini-embedding-001:embedContent", {"content": {}}))
    assert (heard.status, heard.json["error"]["status"]) == (404, "NOT_FOUND")
    assert "is not served here" in heard.json["error"]["message"]


def test_the_models_that_are_listed_are_those_that_can_be_asked_for() -> None:
    gateway = simulated_gateway(AROUND)
    heard = hear(gateway, Ask(method="GET", path="/v1/models", headers={}, body=b""))
    listed = [model["id"] for model in heard.json["data"]]
    assert listed == ["around", GPT, MISTRAL, KIMI]
    assert [Talk(gateway, model=name).say("hi") for name in listed[1:]] == listed[1:]


def test_a_path_of_no_api_is_refused_with_a_hint() -> None:
    heard = hear(simulated_gateway(GPT), post("/v2/nothing", {}))
    assert heard.status == 404
    assert "base URL" in heard.json["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": "m"}', b'"text"', b"\xff\xfe"])
@pytest.mark.parametrize(
    "path", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent"]
)
def test_a_body_that_says_nothing_is_refused(path: str, body: bytes) -> None:
    gateway = simulated_gateway(GPT)
    assert hear(gateway, post(path, body)).status == 400
    assert seen_by(gateway.world).requests == []


# --- when it was ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "said"),
    [("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}]}), ("/v1/responses", {"input": "hi"})],
)
def test_an_answer_says_when_it_was_given(path: str, said: dict[str, Any]) -> None:
    world = replace(simulated_world(), clock=lambda: 1_800_000_000.7)
    body = {"model": "m", **said}
    whole = hear(Gateway(world, "anthropic/claude-sonnet-4-5"), post(path, body)).json
    assert whole.get("created", whole.get("created_at")) == 1_800_000_000
    streamed = hear(Gateway(world, "anthropic/claude-sonnet-4-5"), post(path, body | {"stream": True})).body
    assert streamed.count(b"1800000000") > 1
    assert b'"created":0' not in streamed
    assert b'"created_at":0' not in streamed
