"""From a request back to a conversation: what somebody already has, taken over."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from openai.types.chat import ChatCompletionMessage

from legato import Conversation, parse, render
from legato.errors import FormatError, UnknownTarget
from legato.model import Entry, Text, ToolResponse, ToolSpec

from builders import ROUTES, ai, calls, instruction, origin, result, talk, thought, user
from strategies import logs

CLAUDE = "anthropic/claude-sonnet-4-5"
GPT = "openai/gpt-4o"
CALL = {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "read a"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_a", "content": "done"},
]


def messages_for(conversation: Conversation, route: str = CLAUDE) -> Any:
    return render(conversation, route).copy()["messages"]


# --- what may be passed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        MESSAGES,
        tuple(MESSAGES),
        {"model": "gpt-4o", "messages": MESSAGES},
        MappingProxyType({"messages": MESSAGES}),
        json.dumps(MESSAGES),
        json.dumps({"messages": MESSAGES}).encode(),
        [*MESSAGES[:2], ChatCompletionMessage.model_validate(MESSAGES[2]), MESSAGES[3]],
    ],
    ids=["list", "tuple", "body", "mapping", "text", "bytes", "SDK objects"],
)
def test_a_body_or_its_messages_are_taken_as_json_or_as_objects(body: Any) -> None:
    parsed = parse(body, GPT)
    assert parsed.notes == []
    assert parsed.system == "be brief"
    request = render(parsed.conversation(), CLAUDE, tools=[ToolSpec("read")])
    assert request.check() == []
    assert request.report.decisions == ()
    assert [message["role"] for message in request.body["messages"]] == ["user", "assistant", "user"]
    assert request.body["system"][0]["text"] == "be brief"


def test_tools_and_options_of_a_body_are_there_to_be_rendered_again() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    body = {
        "model": "gpt-4o",
        "messages": MESSAGES,
        "tools": [{"type": "function", "function": {"name": "read", "parameters": schema}}],
        "max_tokens": 300,
    }
    parsed = parse(body, GPT)
    request = render(parsed.conversation(), CLAUDE, tools=parsed.tools, options=parsed.options)
    assert request.body["max_tokens"] == 300
    assert request.body["tools"][0]["input_schema"]["properties"] == schema["properties"]


def test_the_conversation_shares_nothing_with_what_was_passed() -> None:
    body = json.loads(json.dumps({"messages": MESSAGES}))
    conversation = parse(body, GPT).conversation()
    before = messages_for(conversation)
    body["messages"][2]["tool_calls"][0]["function"]["name"] = "write"
    body["messages"].clear()
    assert messages_for(conversation) == before


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("{", "not valid JSON"),
        (b'{"messages": [\xff]}', "not valid UTF-8"),
        ("3", "int is neither a request body nor a list of messages"),
        (None, "NoneType is neither"),
        ({"contents": []}, "no 'messages' in it: this is not a request for openai"),
        ("{}", "no 'messages' in it"),
    ],
    ids=str,
)
def test_what_is_no_request_is_refused_in_one_line(body: Any, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint) as caught:
        parse(body, GPT)
    assert "\n" not in str(caught.value)


def test_a_route_that_names_nobody_is_refused() -> None:
    with pytest.raises(UnknownTarget):
        parse(MESSAGES, "opnai/gpt-4o")


def test_json_that_strict_parsers_refuse_is_read() -> None:
    parsed = parse('[{"role": "user", "content": "half \\ud83d", "content": "an emoji \\ud83d"}]', GPT)
    assert parsed.entries == [Entry(user("x").speaker, (Text("an emoji \ufffd"),))]


# --- what becomes of it -----------------------------------------------------------------------------------------------


def test_a_broken_history_is_taken_over_and_rendered_whole() -> None:
    broken = [
        MESSAGES[1],
        {**MESSAGES[3], "tool_call_id": "call_lost"},
        MESSAGES[2],
        {"role": "user", "content": "so?"},
    ]
    request = render(parse(broken, GPT).conversation(), CLAUDE)
    assert request.check() == []
    assert request.report.synthetic


def test_a_call_that_was_open_can_still_be_answered() -> None:
    conversation = parse(MESSAGES[:3], GPT).conversation()
    conversation.result("call_a", "late")
    assert messages_for(conversation)[-1]["content"][0]["content"] == "late"


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    parsed = parse([{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "hologram"}]}], GPT)
    assert parsed.notes == ["messages[0].content[1]: a part that is not understood; it was left out"]


def test_signed_thinking_goes_back_to_the_source_and_to_nobody_else() -> None:
    own = ai(thought("hm", signature="s"), "done", origin=origin(CLAUDE))
    body = render(talk(user("hi"), own, user("go on")), CLAUDE).json()
    conversation = parse(body, CLAUDE).conversation()
    assert messages_for(conversation)[1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert b"signature" not in render(conversation, "anthropic/claude-opus-4-1").json()


def test_answers_are_taken_for_those_of_the_source() -> None:
    entries = parse(MESSAGES, GPT).entries
    assert [entry.origin for entry in entries] == [None, origin(GPT), None]


@pytest.mark.parametrize("route", ROUTES)
def test_a_request_that_is_read_back_is_rendered_the_same(route: str) -> None:
    conversation = talk(instruction("be kind"), user("hi"), calls("a", "b"), result("a"), result("b"), ai("done"))
    request = render(conversation, route)
    again = render(parse(request.json(), route).conversation(), route)
    assert again.json() == request.json()


@pytest.mark.parametrize("route", ROUTES)
@given(news=logs())
def test_whatever_is_read_back_can_be_rendered_and_holds_every_result(route: str, news: list[Entry]) -> None:
    request = render(talk(*news, user("and now?")), route)
    conversation = parse(request.json(), route).conversation()
    for other in (route, CLAUDE):
        render(conversation, other).verify()
    answered = sum(isinstance(block, ToolResponse) for entry in conversation.entries for block in entry.blocks)
    assert answered == len(conversation.ledger.calls)


@pytest.mark.parametrize("route", ROUTES)
def test_a_body_with_half_a_character_in_it_is_read(route: str) -> None:
    body = render(talk(user("half of it"), ai("half of it"), user("and?")), route).copy()
    spoiled = json.loads(json.dumps(body).replace("half", "\\ud83d"))
    said = [entry.text for entry in parse(spoiled, route).entries]
    assert said == ["\ufffd of it", "\ufffd of it", "and?"]
    assert [entry.text for entry in parse(json.dumps(spoiled), route).entries] == said


def test_a_body_that_holds_the_objects_of_a_client_is_read() -> None:
    class Block:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"type": "text", "text": "from an object"}

    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [Block()]}]
    assert [entry.text for entry in parse(messages, "anthropic/claude-sonnet-4-5").entries] == ["go", "from an object"]


def test_a_body_that_cannot_be_json_is_refused() -> None:
    class Broken:
        def __iter__(self) -> Any:
            raise ValueError("broken")

    with pytest.raises(FormatError, match="cannot become JSON"):
        parse({"messages": [Broken()]}, "openai/gpt-4o")


def test_a_conversation_that_uses_up_what_was_parsed_is_the_one_that_leaves_it() -> None:
    parsed, kept = parse(MESSAGES, GPT), parse(MESSAGES, GPT)
    left = kept.conversation()
    assert kept == parsed
    assert parsed.into_conversation().log == left.log
    assert parsed.entries == []
