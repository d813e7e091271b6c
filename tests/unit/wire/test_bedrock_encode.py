"""Conversations as Converse requests: turns, attachments, marks for the cache and the fields around the messages."""

from __future__ import annotations

from typing import Any

import pytest

from legato import render
from legato.model import Choice, Media, MediaKind, Options, OutputFormat, ThinkingSwitch, ToolSpec
from legato.wire.bedrock.caching import cache_point, mark, mark_head
from legato.wire.phrases import ANSWER_BRIDGE, DOCUMENT_CAPTION, plain_name, unique_name

from builders import ai, call, calls, origin, response, result, talk, thought, user

CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NEWER_CLAUDE = "bedrock/us.anthropic.claude-opus-4-6-v1"
CLAUDE_5 = "bedrock/us.anthropic.claude-opus-5"
FABLE = "bedrock/us.anthropic.claude-fable-5"
LLAMA = "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0"
NOVA = "bedrock/us.amazon.nova-2-lite-v1:0"
GPT_OSS = "bedrock/openai.gpt-oss-120b-1:0"
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="JVBERi0=", name="plan: v2.pdf")
UNCACHED = Options(cache=False)


def messages(route: str, *news: Any, options: Options = UNCACHED) -> Any:
    request = render(talk(*news), route, options=options)
    request.verify()
    return request.copy()["messages"]


# --- turns ------------------------------------------------------------------------------------------------------------


def test_a_turn_with_calls_is_encoded() -> None:
    signed = ai(thought("hm", signature="c2ln"), "I look", call("tooluse_1", path="a"), origin=origin(CLAUDE))
    thinking = Options(thinking=ThinkingSwitch.ON, cache=False)
    assert messages(CLAUDE, user("go"), signed, result("tooluse_1", error="gone"), options=thinking) == [
        {"role": "user", "content": [{"text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
                {"text": "I look"},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"path": "a"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "gone"}], "status": "error"}},
            ],
        },
    ]


def test_hidden_reasoning_goes_back_as_it_came() -> None:
    hidden = ai(thought("", data="aGlkZGVu"), "so", origin=origin(CLAUDE))
    answer = messages(CLAUDE, user("go"), hidden, user("and?"))[1]
    assert answer["content"] == [{"reasoningContent": {"redactedContent": "aGlkZGVu"}}, {"text": "so"}]


def test_where_a_model_takes_nothing_beside_results_an_answer_goes_between() -> None:
    said = messages(LLAMA, user("go"), calls("a"), result("a"), user("and?"))
    assert [message["role"] for message in said] == ["user", "assistant", "user", "assistant", "user"]
    assert said[3:] == [
        {"role": "assistant", "content": [{"text": ANSWER_BRIDGE}]},
        {"role": "user", "content": [{"text": "and?"}]},
    ]


def test_neighbours_of_one_side_become_one_message() -> None:
    assert messages(CLAUDE, user("one"), user("two")) == [
        {"role": "user", "content": [{"text": "one"}, {"text": "two"}]}
    ]


# --- attachments ------------------------------------------------------------------------------------------------------


def documents(body_messages: Any) -> list[str]:
    found: list[str] = []
    for message in body_messages:
        for block in message["content"]:
            inside = block["toolResult"]["content"] if "toolResult" in block else [block]
            found += [part["document"]["name"] for part in inside if "document" in part]
    return found


def test_no_two_documents_of_a_request_share_a_name() -> None:
    names = documents(
        messages(CLAUDE, user("see", PDF, PDF), calls("a"), result("a", "it", media=(PDF, PDF)), user("and", PDF))
    )
    assert len(set(names)) == len(names) == 5
    assert {plain_name(name) for name in names} == {"plan v2 pdf"}


def test_documents_of_one_message_that_becomes_several_units_do_not_share_a_name_either() -> None:
    names = documents(messages(CLAUDE, user(PDF, thought("hm"), PDF, response("b", "it", media=(PDF,)))))
    assert len(set(names)) == len(names) == 3


def test_a_document_keeps_its_name_when_the_conversation_grows() -> None:
    news = [user("see", PDF), ai("yes"), user("and", PDF)]
    assert documents(messages(CLAUDE, *news, ai("well"), user("so", PDF)))[:2] == documents(messages(CLAUDE, *news))


@pytest.mark.parametrize("part", [0, 2])
@pytest.mark.parametrize("name", [None, "", "document", "a b", "plan 3", "ÄÖ", "x" * 300])
def test_the_name_of_a_document_is_given_back(name: str | None, part: int) -> None:
    made = unique_name(name, 12, part, 3)
    assert plain_name(made) in (name, None, "x" * 150)
    assert unique_name(plain_name(made), 12, part, 3) == made


def test_a_document_without_a_word_gets_one() -> None:
    (message,) = messages(CLAUDE, user(PDF))
    assert [*message["content"][0], message["content"][1]] == ["document", {"text": DOCUMENT_CAPTION}]


@pytest.mark.parametrize(
    ("route", "kind"), [(NOVA, "image"), (CLAUDE, "text"), (LLAMA, "text")], ids=["nova", "claude", "llama"]
)
def test_only_some_models_read_images_from_s3(route: str, kind: str) -> None:
    picture = Media(MediaKind.IMAGE, "image/png", url="s3://bucket/a.png")
    assert [*messages(route, user("see", picture))[0]["content"][1]] == [kind]


def test_a_text_document_that_is_no_base64_is_named_and_not_shown() -> None:
    plain = Media(MediaKind.DOCUMENT, "text/plain", data="Zürich")
    shown = messages(CLAUDE, user("see", plain))[0]["content"][1]
    assert shown == {"text": "[document omitted: text/plain, which this model cannot take]"}


# --- marks for the cache ----------------------------------------------------------------------------------------------


def test_a_mark_is_a_block_behind_what_is_cached() -> None:
    assert mark({"text": "x"}) == [{"text": "x"}, {"cachePoint": {"type": "default"}}]
    assert mark({"text": "x"}, "1h") == [{"text": "x"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]
    assert [mark({"reasoningContent": {}}), mark(cache_point())] == [None, None]


def test_the_head_is_marked_behind_tools_and_instructions() -> None:
    head = {"system": [{"text": "s"}], "toolConfig": {"tools": [{"toolSpec": {}}], "toolChoice": {"auto": {}}}}
    point = {"cachePoint": {"type": "default"}}
    assert mark_head(head) == {
        "system": [{"text": "s"}, point],
        "toolConfig": {"tools": [{"toolSpec": {}}, point], "toolChoice": {"auto": {}}},
    }
    assert mark_head({"inferenceConfig": {}}) == {"inferenceConfig": {}}


def test_no_more_marks_are_sent_than_are_taken_and_none_where_they_are_unknown() -> None:
    news = [part for at in range(12) for part in (user(f"say {at}"), calls(f"c{at}"), result(f"c{at}"), ai("so"))]
    for route, most in ((CLAUDE, 4), (NOVA, 4), (LLAMA, 0)):
        request = render(talk(*news, user("x")), route, system="s", tools=[ToolSpec("read")])
        request.verify()
        assert (request.json().count(b'"cachePoint"') > 0, request.json().count(b'"cachePoint"') <= most) == (
            most > 0,
            True,
        )


# --- around the messages ----------------------------------------------------------------------------------------------


def head(route: str, options: Options, tools: list[ToolSpec] | None = None) -> Any:
    request = render(talk(user("go")), route, tools=tools or (), options=options, system="Be brief.")
    request.verify()
    return {name: value for name, value in request.copy().items() if name != "messages"}


@pytest.mark.parametrize(
    ("route", "options", "own"),
    [
        (CLAUDE, Options(thinking=ThinkingSwitch.ON), {"thinking": {"type": "enabled", "budget_tokens": 16_000}}),
        (CLAUDE, Options(thinking_budget=2048), {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (NEWER_CLAUDE, Options(thinking=ThinkingSwitch.ON), {"thinking": {"type": "adaptive"}}),
        (
            NEWER_CLAUDE,
            Options(thinking=ThinkingSwitch.ON, effort="low"),
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        (CLAUDE_5, Options(thinking=ThinkingSwitch.OFF), {"thinking": {"type": "disabled"}}),
        (CLAUDE_5, Options(), None),
        (FABLE, Options(thinking=ThinkingSwitch.OFF), None),
        (
            NOVA,
            Options(thinking=ThinkingSwitch.ON, effort="high"),
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}},
        ),
        (NOVA, Options(thinking=ThinkingSwitch.OFF), None),
        (GPT_OSS, Options(effort="low"), {"reasoning_effort": "low"}),
        (LLAMA, Options(thinking=ThinkingSwitch.ON), None),
    ],
)
def test_each_family_of_models_is_asked_to_think_in_its_makers_words(route: str, options: Options, own: Any) -> None:
    assert head(route, options).get("additionalModelRequestFields") == own


@pytest.mark.parametrize("route", [CLAUDE_5, FABLE, "anthropic/claude-opus-4-7", "vertex-anthropic/claude-sonnet-5"])
def test_a_claude_that_takes_no_sampling_is_sent_none(route: str) -> None:
    asked = head(route, Options(temperature=0.5, top_p=0.9, top_k=3))
    assert asked.keys() & {"temperature", "top_p", "top_k"} == set()
    assert asked.get("inferenceConfig", {}).keys() <= {"maxTokens"}


def test_options_are_where_the_service_has_them() -> None:
    options = Options(max_tokens=64, temperature=0.5, top_p=0.9, stop=("END",), metadata={"a": "b"}, cache=False)
    assert head(LLAMA, options) == {
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 64, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
        "requestMetadata": {"a": "b"},
    }


def test_a_schema_for_the_answer_is_sent_as_text() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    asked = head(CLAUDE, Options(output=OutputFormat(schema=schema, name="told"), cache=False))["outputConfig"]
    assert asked == {
        "textFormat": {
            "type": "json_schema",
            "structure": {
                "jsonSchema": {
                    "schema": '{"type":"object","properties":{},"additionalProperties":false}',
                    "name": "told",
                }
            },
        }
    }


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        (Options(), None),
        (Options(choice=Choice.AUTO), {"auto": {}}),
        (Options(choice=Choice.REQUIRED), {"any": {}}),
        (Options(tool="read"), {"tool": {"name": "read"}}),
        (Options(choice=Choice.NONE), None),
    ],
)
def test_the_choice_among_tools(options: Options, choice: Any) -> None:
    assert head(CLAUDE, options, [ToolSpec("read")])["toolConfig"].get("toolChoice") == choice


def test_that_no_tool_be_called_cannot_be_said_so_it_is_reported() -> None:
    request = render(talk(user("go")), CLAUDE, tools=[ToolSpec("read")], options=Options(choice=Choice.NONE))
    assert [(one.reason, one.detail) for one in request.report.decisions] == [
        ("tool-choice", "the target has no word for the choice none")
    ]


def test_a_strict_tool_says_so() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    config = head(CLAUDE, UNCACHED, [ToolSpec("read", "Reads.", closed, strict=True)])["toolConfig"]
    assert config == {
        "tools": [
            {
                "toolSpec": {
                    "name": "read",
                    "description": "Reads.",
                    "inputSchema": {"json": closed},
                    "strict": True,
                }
            }
        ]
    }
