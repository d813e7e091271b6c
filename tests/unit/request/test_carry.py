"""Messages of one provider in, a request for another out: what goes along, what stays behind, what is said of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import TextBlock, ToolUseBlock

from legato import Options, ToolSpec, carry, parse, resolve
from legato.errors import FormatError, ImpossibleRequest, UnknownTarget
from legato.model import Action, Choice, Decision, Fault

CLAUDE = "anthropic/claude-sonnet-4-5"
GPT = "openai/gpt-4o"
CALL = {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "read a"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_a", "content": "done"},
]
READ = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
BODY: dict[str, Any] = {"model": "gpt-4o", "messages": MESSAGES, "tools": [READ], "max_tokens": 300, "temperature": 0.5}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "s"}
THOUGHTFUL: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [SIGNED, {"type": "text", "text": "hello"}]},
        {"role": "user", "content": "go on"},
    ],
}


def names(body: Any) -> list[str]:
    return [tool["name"] for tool in body["tools"]]


# --- what goes along ----------------------------------------------------------------------------------------------------


def test_a_whole_body_is_carried_with_its_tools_instructions_and_options() -> None:
    request = carry(BODY, GPT, CLAUDE, options=Options(cache=False))
    assert request.copy() == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 300,
        "temperature": 0.5,
        "system": [{"type": "text", "text": "be brief"}],
        "tools": [{"name": "read", "input_schema": {"type": "object", "properties": {}}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "read a"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_a", "name": "read", "input": {"path": "a"}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_a", "content": "done"}],
            },
        ],
    }
    assert request.report.decisions == ()


@pytest.mark.parametrize("form", [MESSAGES, tuple(MESSAGES), json.dumps(MESSAGES), json.dumps(BODY).encode()])
def test_bare_messages_and_json_are_taken(form: Any) -> None:
    assert carry(form, GPT, CLAUDE, tools=[READ]).body["messages"] == carry(BODY, GPT, CLAUDE).body["messages"]


def test_objects_of_the_official_clients_may_stand_among_the_messages() -> None:
    said = [TextBlock(type="text", text="ok"), ToolUseBlock(type="tool_use", id="toolu_1", name="read", input={})]
    messages = [{"role": "user", "content": "read"}, {"role": "assistant", "content": said}]
    request = carry(messages, CLAUDE, GPT)
    assert request.body["messages"][1]["tool_calls"][0]["function"]["name"] == "read"
    assert [made.action for made in request.report.decisions] == [Action.CLOSED]


def test_what_the_caller_gives_wins() -> None:
    request = carry(BODY, GPT, CLAUDE, tools=[ToolSpec("write")], system="be long", options=Options(max_tokens=7))
    assert (names(request.body), request.body["max_tokens"], request.body["temperature"]) == (["write"], 7, 0.5)
    assert request.body["system"][0]["text"] == "be long"
    bare = carry(MESSAGES[:2], GPT, CLAUDE, system="", tools=[])
    assert "system" not in bare.body
    assert "tools" not in bare.body


def test_fields_of_the_callers_own_take_the_place_of_those_in_the_body() -> None:
    body = {**BODY, "logprobs": True}
    assert "logprobs" in carry(body, GPT, "openai/gpt-4.1").body
    request = carry(body, GPT, "openai/gpt-4.1", options=Options(extra={"service_tier": "flex"}))
    assert request.body["service_tier"] == "flex"
    assert "logprobs" not in request.body


def test_a_request_that_was_carried_reads_its_answer() -> None:
    request = carry(BODY, GPT, CLAUDE)
    answer = {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    assert request.decode(answer).entry.text == "hi"


# --- whom it was written for ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["openai", "openai_chat", "openai-chat", GPT, resolve(GPT)], ids=str)
def test_a_source_is_a_route_a_target_a_provider_or_a_dialect(source: Any) -> None:
    assert parse(BODY, source).entries == parse(BODY, GPT).entries


@pytest.mark.parametrize("source", ["openai", "openai-responses", "openai_responses"])
def test_both_apis_of_openai_go_by_its_name(source: str) -> None:
    assert carry({"model": "gpt-5.1", "input": "hi"}, source, GPT).body["messages"] == [
        {"role": "user", "content": "hi"}
    ]


def test_a_provider_alone_means_the_model_that_the_body_names() -> None:
    there_and_back = carry(THOUGHTFUL, "anthropic", CLAUDE)
    assert there_and_back.body["messages"][1]["content"][0] == SIGNED
    assert b"signature" not in carry(THOUGHTFUL, "anthropic", "anthropic/claude-opus-4-1").json()


def test_where_no_model_is_named_signed_thoughts_go_back_to_none() -> None:
    for model in ("claude-sonnet-4-5", "claude-opus-4-8"):
        request = carry(THOUGHTFUL["messages"], "anthropic", f"anthropic/{model}")
        assert b"signature" not in request.json()


# --- what stays behind ----------------------------------------------------------------------------------------------------


def test_what_is_not_understood_is_in_the_report_with_its_place() -> None:
    hologram = [{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "hologram"}]}]
    assert carry(hologram, GPT, CLAUDE).report.decisions == (
        Decision(
            Action.DROPPED,
            "not-carried",
            Fault.CANONICAL,
            "messages[0].content[1]: a part that is not understood; it was left out",
        ),
    )


def test_what_was_read_although_it_was_out_of_form_is_in_the_report() -> None:
    parsed = parse(misplaced := [*MESSAGES[1:3], {**MESSAGES[3], "role": "assistant"}], GPT)
    assert parsed.adjusted
    told = carry(misplaced, GPT, CLAUDE).report.of("adjusted")
    assert [made.detail for made in told if made.reason == "out-of-form"] == parsed.adjusted


def test_an_option_that_the_body_brought_stays_behind_where_the_target_refuses_it() -> None:
    request = carry({**BODY, "tools": [], "tool_choice": "required"}, GPT, "gemini/gemini-3-pro-preview")
    (told,) = [made for made in request.report.decisions if made.reason == "refused-options"]
    assert told.detail.startswith("the choice of a tool was not carried: a tool call is demanded, but no tools")


def test_an_option_that_the_caller_gives_is_not_left_out_silently() -> None:
    with pytest.raises(ImpossibleRequest, match="no tools are offered"):
        carry(MESSAGES[:2], GPT, CLAUDE, options=Options(choice=Choice.REQUIRED))


@pytest.mark.parametrize(
    ("body", "source", "target", "complaint"),
    [
        (BODY, "opnai", CLAUDE, "did you mean 'openai'"),
        (BODY, GPT, "anthropic", "names a provider but no model"),
        (BODY, GPT, "antropic/claude", "did you mean 'anthropic'"),
    ],
)
def test_a_name_of_nobody_is_refused(body: Any, source: str, target: str, complaint: str) -> None:
    with pytest.raises(UnknownTarget, match=complaint):
        carry(body, source, target)


@pytest.mark.parametrize("body", ["{", 3, None, {"contents": []}], ids=str)
@pytest.mark.parametrize("source", [GPT, "openai"])
def test_what_is_no_request_is_refused_in_one_line(body: Any, source: str) -> None:
    with pytest.raises(FormatError) as caught:
        carry(body, source, CLAUDE)
    assert "\n" not in str(caught.value)
