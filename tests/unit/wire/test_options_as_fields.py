"""Options that are fields of a body: what the table says is what is written, read, and said about the rest."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from legato import render
from legato.model import Dialect, JsonObject, Options, OutputFormat, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.request import parse, resolve
from legato.request.catalogue import with_capabilities
from legato.request.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.hosting import Host
from legato.wire.hosts import all_hosts
from legato.wire.options.fields import reason_for
from legato.wire.options.table import OPTIONS, TABLE, rooms_of, rooms_of_host
from on_the_wire import tools_of

from builders import talk, user

OPENAI, MISTRAL = "openai/gpt-4o", "mistral/mistral-large-latest"
LISTED = (
    OPENAI,
    MISTRAL,
    "kimi/kimi-k2-0905-preview",
    "openai-responses/gpt-4o",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "vercel/any",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
)
ROUTES = (
    *LISTED,
    *(
        f"{host.name}/{host.example}"
        for host in all_hosts()
        if not any(route.startswith(f"{host.name}/") for route in LISTED)
    ),
)
"""a route of every dialect, and of every host of the chat family"""
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
VALUES: dict[str, Any] = {
    "top_p": 0.97,
    "top_k": 40,
    "seed": 7,
    "stop": ("END",),
    "output": OutputFormat(schema=SCHEMA),
    "parallel_calls": False,
    "verbosity": "low",
    "metadata": {"user_id": "u1"},
    "cache_ttl": "1h",
}
READ = ToolSpec("read")


def asked(route: str | Target, options: Options, **more: Any) -> Request:
    request = render(talk(user("hi")), route, tools=[READ], options=options, **more)
    assert request.check() == []
    return request


def decisions(request: Request) -> list[tuple[str, str]]:
    return [(decision.reason, decision.detail) for decision in request.report.decisions]


def test_every_option_that_is_a_field_stands_in_the_table() -> None:
    settled_elsewhere = {"max_tokens", "temperature", "choice", "tool", "thinking", "thinking_budget", "effort"}
    about_requests = {"stream", "cache", "extra", "home"}
    assert set(Options.__struct_fields__) - settled_elsewhere - about_requests == set(OPTIONS) == set(VALUES)
    assert all(tuple(rooms) == OPTIONS for rooms in TABLE.values())
    assert set(TABLE) == {str(dialect) for dialect in Dialect} == {str(resolve(route).dialect) for route in ROUTES}


@pytest.mark.parametrize("host", all_hosts(), ids=lambda host: host.name)
def test_a_host_says_only_of_options_where_it_takes_them(host: Host) -> None:
    assert tuple(rooms_of_host(host.name)) == OPTIONS
    assert host.options.keys() <= set(OPTIONS)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_written_where_the_table_has_room_and_said_where_it_has_none(route: str, option: str) -> None:
    room = rooms_of(resolve(route))[option]
    plain = asked(route, Options())
    request = asked(route, Options(**{option: VALUES[option]}))
    told = [detail for reason, detail in decisions(request) if reason == reason_for(option)]
    if room.write is None or room.own_only:
        assert request.body == plain.body
        assert told == [f"{option} was left out: {room.why}"]
    else:
        assert request.body != plain.body
        target = resolve(route)
        takes_schemas = dialect_parts(target.dialect).option_grammar(target).json_schemas
        without_schema = option == "output" and not takes_schemas
        assert told == (["the target takes no schema for its answer, so any JSON is asked for", TOLD] * without_schema)


TOLD = "the target takes no schema for its answer, so the instructions have it"
SAID = "the target answers in JSON only if the word is said, so the instructions say it"


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("option", [option for option in OPTIONS if option != "cache_ttl"])
def test_what_is_written_is_read_again(route: str, option: str) -> None:
    home = resolve(route).home
    body = asked(route, Options(**{option: VALUES[option]}, home=home, cache=False)).copy()
    read = parse(body, route).options
    again = asked(route, replace(read, cache=False))
    assert tools_of(again.body) == tools_of(body) != []
    assert {name: again.body[name] for name in body} == body
    if rooms_of(resolve(route))[option].write is not None:
        named = OutputFormat(schema=SCHEMA, name="answer")  # OpenAI demands a name
        is_named = option == "output" and resolve(route).dialect.startswith("openai")
        assert getattr(read, option) == (named if is_named else VALUES[option])


def test_the_names_of_one_option_differ_between_servers_of_one_family() -> None:
    assert asked(OPENAI, Options(seed=7)).body["seed"] == 7
    mistral = asked(MISTRAL, Options(seed=7)).body
    assert (mistral["random_seed"], "seed" in mistral) == (7, False)
    crossed = parse(dict(mistral), MISTRAL)
    assert render(crossed.conversation(), "openai/gpt-4o", options=crossed.options).body["seed"] == 7


# --- one after the other ----------------------------------------------------------------------------------------------

CLAUDE, GPT = "anthropic/claude-sonnet-4-5", "openai/gpt-4o"


def thinking(route: str) -> Target:
    return with_capabilities(resolve(route), thinking=ThinkingMode.BUDGET, temperature=True, max_output=8192)


def test_claude_takes_a_temperature_or_top_p() -> None:
    request = asked(CLAUDE, Options(temperature=0.5, top_p=0.9))
    assert "top_p" not in request.body
    told = "the target takes either a temperature or top_p, so the temperature is sent"
    assert decisions(request) == [("top-p", told)]
    at_home = asked(CLAUDE, Options(temperature=0.5, top_p=0.9, home="anthropic"))
    assert (at_home.body["temperature"], at_home.body["top_p"]) == (0.5, 0.9)


def test_sampling_that_a_thinking_claude_refuses_is_left_out() -> None:
    options = Options(top_p=0.5, top_k=3, thinking=ThinkingSwitch.ON)
    assert decisions(asked(thinking(CLAUDE), options)) == [
        ("top-p", "top_p is at least 0.95 while the model thinks"),
        ("top-k", "top_k cannot be set while the model thinks"),
    ]


def test_a_model_without_a_temperature_takes_no_other_sampling() -> None:
    target = with_capabilities(resolve("gemini/gemini-2.5-pro"), temperature=False)
    assert decisions(asked(target, Options(top_p=0.5, top_k=3))) == [
        ("top-p", "the model takes no top_p"),
        ("top-k", "the model takes no top_k"),
    ]


def test_stop_sequences_are_cut_to_what_is_taken() -> None:
    request = asked(GPT, Options(stop=("a", "b", "c", "d", "e")))
    assert request.body["stop"] == ["a", "b", "c", "d"]
    assert decisions(request) == [("stop", "the target takes 4 stop sequences, so the first 4 of 5 are sent")]


@pytest.mark.parametrize(("given", "sent"), [(5.0, 1.0), (-0.5, 0.0)])
def test_a_share_of_probability_is_brought_into_its_range(given: float, sent: float) -> None:
    request = asked(GPT, Options(top_p=given))
    assert request.body["top_p"] == sent
    assert decisions(request) == [("top-p", f"{given} is not between 0 and 1")]


@pytest.mark.parametrize(("stops", "sent"), [(("",), None), (("", "END"), ["END"])])
def test_an_empty_stop_sequence_is_left_out(stops: tuple[str, ...], sent: list[str] | None) -> None:
    request = asked(GPT, Options(stop=stops))
    assert request.body.get("stop") == sent
    assert decisions(request) == [("stop", "an empty stop sequence ends nothing and was left out")]


def test_one_call_at_a_time_is_said_beside_the_choice() -> None:
    alone = asked(CLAUDE, Options(parallel_calls=False)).body["tool_choice"]
    assert alone == {"type": "auto", "disable_parallel_tool_use": True}
    forced = asked(CLAUDE, Options(parallel_calls=False, tool="read")).body["tool_choice"]
    assert forced == {"type": "tool", "name": "read", "disable_parallel_tool_use": True}
    assert "parallel_tool_calls" not in render(talk(user("hi")), GPT, options=Options(parallel_calls=False)).body


def test_calls_in_parallel_are_no_decision_where_there_is_no_switch() -> None:
    assert decisions(asked("gemini/gemini-2.5-pro", Options(parallel_calls=True))) == []


def test_json_without_a_schema_is_asked_for_in_words_too() -> None:
    request = asked(GPT, Options(output=OutputFormat()), system="Be brief.")
    assert request.body["response_format"] == {"type": "json_object"}
    assert request.body["messages"][0]["content"] == "Be brief.\n\nAnswer in JSON."
    assert decisions(request) == [("output-format", SAID)]
    assert decisions(asked(GPT, Options(output=OutputFormat()), system="Give me json.")) == []
    assert decisions(asked(GPT, Options(output=OutputFormat(), home="openai_chat/openai"))) == []


def test_claude_answers_in_json_only_by_a_schema_whose_objects_are_closed() -> None:
    bare = asked(CLAUDE, Options(output=OutputFormat()))
    assert "output_config" not in bare.body
    assert decisions(bare) == [
        ("output-format", "the target has JSON by a schema only, so the instructions ask for it")
    ]
    assert bare.body["system"][0]["text"] == "Answer in JSON."
    inner: JsonObject = {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "object"}}}}
    request = asked(CLAUDE, Options(output=OutputFormat(schema={"anyOf": [inner], "$defs": {"x": inner}})))
    closed = {
        "type": "object",
        "properties": {"b": {"type": "array", "items": {"type": "object", "additionalProperties": False}}},
        "additionalProperties": False,
    }
    assert request.body["output_config"]["format"]["schema"] == {"anyOf": [closed], "$defs": {"x": closed}}
    assert decisions(request) == [("output-format", "the target wants objects that allow no other properties")]


def test_a_schema_that_openai_could_not_enforce_is_not_called_strict() -> None:
    output = OutputFormat(schema={"type": "object", "properties": {"a": {}}}, name="a b", description="x", strict=True)
    request = asked(GPT, Options(output=output))
    assert request.body["response_format"]["json_schema"] == {
        "name": "a_b",
        "description": "x",
        "schema": output.schema,
    }
    assert decisions(request) == [("output-format", "the schema of the answer cannot be enforced here")]


def test_googles_own_kind_of_schema_goes_home_as_it_came_and_elsewhere_as_a_schema() -> None:
    route = "gemini/gemini-2.5-pro"
    config = {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {}}}
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": config}
    parsed = parse(body, route)
    assert render(parsed.conversation(), route, options=parsed.options).body["generationConfig"] == config
    crossed = render(parsed.conversation(), GPT, options=parsed.options).body["response_format"]
    assert crossed["json_schema"]["schema"] == {"type": "object", "properties": {}}


def test_labels_that_cannot_go_are_named() -> None:
    labels = {"user_id": "u", "n": 3, "long": "x" * 513}
    responses = asked("openai-responses/gpt-4o", Options(metadata=labels))
    assert responses.body["metadata"] == {"user_id": "u"}
    assert decisions(responses) == [("metadata", "labels that the target does not take were left out: n, long")]
    claude = asked(CLAUDE, Options(metadata={"team": "x"}))
    assert "metadata" not in claude.body
    assert decisions(claude) == [("metadata", "labels that the target does not take were left out: team")]


def test_how_long_a_cache_lasts_is_said_on_every_mark() -> None:
    request = render(talk(user("hi")), CLAUDE, tools=[READ], system="Be brief.", options=Options(cache_ttl="1h"))
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert request.body["tools"][0]["cache_control"] == mark
    assert request.body["system"][0]["cache_control"] == mark
    assert request.body["messages"][0]["content"][0]["cache_control"] == mark
    assert parse(request.copy(), CLAUDE).options.cache_ttl == "1h"


# --- what no option covers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "goes"),
    [
        ("openai/gpt-4o", "openai/gpt-5.1", True),
        ("openai/gpt-4o", "mistral/mistral-large-latest", False),
        ("mistral/mistral-large-latest", "openai/gpt-4o", False),
        ("openrouter/z-ai/glm-4.6", "groq/llama-3.3-70b-versatile", False),
        ("openrouter/z-ai/glm-4.6", "openrouter/anthropic/claude-sonnet-4.5", True),
        ("openai/gpt-4o", "openai-responses/gpt-4o", False),
        ("openai-responses/gpt-4o", "vercel-gateway/openai/gpt-5.1", False),
    ],
)
def test_fields_of_one_provider_go_only_to_its_own_kind_of_server(source: str, target: str, goes: bool) -> None:
    field = "input" if source.startswith("openai-responses") else "messages"
    parsed = parse({field: [{"role": "user", "content": "hi"}], "some_field": 1}, source)
    request = render(parsed.conversation(), target, options=parsed.options)
    assert ("some_field" in request.body) is goes
    home = resolve(source).home
    told = [("extra-fields", f"fields that only {home} knows were left out: some_field")]
    assert [one for one in decisions(request) if one[0] == "extra-fields"] == ([] if goes else told)


def test_fields_that_a_caller_names_go_wherever_they_are_sent() -> None:
    assert asked(GPT, Options(extra={"n": 2})).body["n"] == 2
    assert "n" not in asked(GPT, Options(extra={"n": 2}, home="openai_chat/mistral")).body


def test_a_part_of_a_field_is_left_out_where_the_field_is_not_there() -> None:
    options = Options(extra={"thinking": {"display": "summarized"}}, home="anthropic")
    on = asked(thinking(CLAUDE), Options(thinking=ThinkingSwitch.ON, extra=options.extra, home="anthropic"))
    assert on.body["thinking"]["display"] == "summarized"
    off = asked(CLAUDE, options)
    assert "thinking" not in off.body
    assert decisions(off) == [("extra-fields", "fields that mean nothing in this request were left out: thinking")]


def test_a_choice_without_a_neutral_word_needs_its_tools() -> None:
    choice = {"type": "allowed_tools", "mode": "auto", "tools": []}
    options = Options(extra={"tool_choice": choice})
    assert asked("openai-responses/gpt-4o", options).body["tool_choice"] == choice
    assert "tool_choice" not in render(talk(user("hi")), "openai-responses/gpt-4o", options=options).body


@pytest.mark.parametrize("asked", [0, -1])
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_no_number_of_tokens_limits_nothing(route: str, asked: int) -> None:
    """Clients write 0 and -1 for "as much as you like"; providers that demand a limit get the one that is usual."""
    conversation = talk(user("hi"))
    usual = render(conversation, route)
    request = render(conversation, route, options=Options(max_tokens=asked))
    request.verify()
    assert request.body == usual.body
    assert [one.detail for one in request.report.decisions if one.reason == "max-tokens"] == [
        f"{asked} is no number of tokens; the answer is not limited by it"
    ]
