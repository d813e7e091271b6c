"""A tool that the provider runs may wait for tools of ours; what goes back of it once the conversation goes on."""

from __future__ import annotations

from typing import Any

import pytest

from legato import render
from legato.model import Entry, HostedTool, Media, MediaKind, ToolCall
from legato.model.records import Rewound
from legato.transcript import Conversation

from builders import ai, origin, response, result, talk, tool, user

CLAUDE = "anthropic/claude-sonnet-4-5"
USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CODE = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")


def searched(*blocks: dict[str, Any]) -> HostedTool:
    return HostedTool("web_search", {"query": "q"}, wire_id="srvtoolu_1", native={"blocks": list(blocks)})


def called(**native: Any) -> ToolCall:
    return ToolCall("read", {"path": "a.txt"}, "toolu_1", native=native or None)


def claude(*blocks: Any) -> Entry:
    return ai(*blocks, origin=origin(CLAUDE))


ASKED = (user("go"), claude(searched(USE), called()), result("toolu_1"))


def kinds(conversation: Conversation) -> list[list[str]]:
    """The types of the blocks of every message for Claude, which takes them."""
    request = render(conversation, CLAUDE)
    request.verify()
    return [[block["type"] for block in message["content"]] for message in request.body["messages"]]


def test_a_waiting_tool_goes_back_while_only_results_follow() -> None:
    assert kinds(talk(*ASKED)) == [["text"], ["server_tool_use", "tool_use"], ["tool_result"]]


def test_its_result_begins_the_next_answer() -> None:
    assert kinds(talk(*ASKED, claude(searched(FOUND), "Found."), user("and?"))) == [
        ["text"],
        ["server_tool_use", "tool_use"],
        ["tool_result"],
        ["web_search_tool_result", "text"],
        ["text"],
    ]


def test_it_waits_through_another_round_of_calls() -> None:
    again = ToolCall("read", {"path": "b.txt"}, "toolu_2")
    answers = (claude(again), result("toolu_2"), claude(searched(FOUND), "Found."))
    assert kinds(talk(*ASKED, *answers, user("and?")))[1:6] == [
        ["server_tool_use", "tool_use"],
        ["tool_result"],
        ["tool_use"],
        ["tool_result"],
        ["web_search_tool_result", "text"],
    ]


@pytest.mark.parametrize(
    "after",
    [
        (user("stop that"),),
        (claude("I give up."), user("and?")),
        (ai("Another model goes on.", origin=origin("openai/gpt-4o")), user("and?")),
        (ai(ToolCall("read", {}, "call_2"), origin=origin("openai/gpt-4o")), result("call_2")),
    ],
    ids=["words", "an answer without it", "an answer of another model", "calls of another model"],
)
def test_a_tool_that_was_left_waiting_is_told_as_text(after: tuple[Entry, ...]) -> None:
    conversation = talk(*ASKED, *after)
    assert kinds(conversation)[:2] == [["text"], ["text", "tool_use"]]
    assert "stale-record" in {decision.reason for decision in render(conversation, CLAUDE).report.decisions}


def test_the_request_after_words_names_what_changed_its_beginning() -> None:
    conversation = talk(*ASKED)
    render(conversation, CLAUDE)
    conversation.record(user("stop that"))
    change = render(conversation, CLAUDE).prefix_change
    assert change is not None
    assert change.cause == "answer-abandoned"


def test_a_call_that_waiting_code_made_becomes_a_call_of_the_model() -> None:
    asked = (user("go"), claude(searched(USE), called(caller=CODE)), result("toolu_1"))
    waiting = render(talk(*asked), CLAUDE).body["messages"][1]["content"][-1]
    assert waiting["caller"] == CODE
    assert "caller" not in render(talk(*asked, user("stop")), CLAUDE).body["messages"][1]["content"][-1]


def test_an_undone_message_lets_the_tool_wait_again() -> None:
    conversation = talk(*ASKED, user("stop that"))
    conversation.apply(conversation.prepare([Rewound(to=3)]))
    assert kinds(conversation)[1] == ["server_tool_use", "tool_use"]


def test_an_attachment_behind_the_results_counts_as_words() -> None:
    held = tool(response("toolu_1", "see there", media=(PDF,)))
    assert kinds(talk(user("go"), claude(searched(USE), called()), held))[1:] == [
        ["text", "tool_use"],
        ["tool_result", "text", "document"],
    ]


@pytest.mark.parametrize(
    "before",
    [
        (user("go"),),
        (user("go"), claude(called()), result("toolu_1")),
        (user("go"), claude(searched(USE))),
        (*ASKED, user("stop that"), claude(ToolCall("read", {}, "toolu_2")), result("toolu_2")),
    ],
    ids=["nothing", "no use", "a use that did not wait for us", "a use that was left waiting"],
)
def test_a_result_whose_use_is_not_open_is_told_as_text(before: tuple[Entry, ...]) -> None:
    sent = kinds(talk(*before, claude(searched(FOUND), "Found."), user("and?")))
    assert "web_search_tool_result" not in [kind for message in sent for kind in message]


@pytest.mark.parametrize("content", [None, "text", 5, True])
def test_a_result_that_no_server_tool_gives_is_told_as_text(content: Any) -> None:
    pair = claude(searched(USE, {**FOUND, "content": content}), "Found.")
    assert kinds(talk(user("go"), pair, user("and?"))) == [["text"], ["text", "text"], ["text"]]


def test_a_use_that_is_repeated_is_told_as_text() -> None:
    pair = claude(searched(USE, FOUND), "Found.")
    assert kinds(talk(user("go"), pair, user("again"), pair, user("and?"))) == [
        ["text"],
        ["server_tool_use", "web_search_tool_result", "text"],
        ["text"],
        ["text", "text"],
        ["text"],
    ]


def shell(kind: str) -> HostedTool:
    item = {"type": kind, "call_id": "call_1", "status": "completed"}
    return HostedTool("shell", native={"item": item})


@pytest.mark.parametrize("is_before", [True, False])
def test_a_record_with_the_id_of_a_call_is_told_as_text(is_before: bool) -> None:
    """The provider pairs both by that id, and would find two outputs for one call."""
    responses = "openai-responses/gpt-5.1"
    record = ai(shell("shell_call"), shell("shell_call_output"), origin=origin(responses))
    exchange = (ai(ToolCall("read", {}, "call_1"), origin=origin(responses)), result("call_1"))
    news = (record, user("on"), *exchange) if is_before else (*exchange, record)
    conversation = talk(user("go"))
    for item in news:
        conversation.record(item)
        render(conversation, responses).verify()
    request = render(conversation, responses)
    assert not {"shell_call", "shell_call_output"} & {item.get("type") for item in request.body["input"]}
    assert request.json() == render(talk(user("go"), *news), responses).json()
