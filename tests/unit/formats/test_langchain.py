"""LangChain and LangGraph: every form of a message, where states keep them, and messages that LangChain loads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.formats import FileNote, detect, read, read_all, write
from legato.formats.format import Outgoing
from legato.formats.langchain.reading import read_messages
from legato.formats.langchain.write import write_messages
from legato.model import Authority, Entry, HostedTool, Media, MediaKind, Speaker, Text, Thinking, ToolCall, ToolResponse
from session_files import jsonl, lc, whole

from builders import ai, call, instruction, origin, response, talk, thought, tool, user

CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage", "system": "SystemMessage"}


def flat(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A message as `model_dump()` of langchain-core 1.7.2 gives it."""
    common = {"content": content, "additional_kwargs": {}, "response_metadata": {}, "type": kind, "name": None}
    return {**common, "id": None, **fields}


MESSAGES = [
    flat("system", "Be careful."),
    flat("human", [{"type": "text", "text": "Look"}, {"type": "image", "base64": "AAAA", "mime_type": "image/png"}]),
    flat(
        "ai",
        [{"type": "text", "text": "Looking."}, {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}],
        tool_calls=[{"name": "ls", "args": {"path": "."}, "id": "t1", "type": "tool_call"}],
        invalid_tool_calls=[{"name": "cat", "args": '{"p":', "id": "t2", "error": "bad", "type": "invalid_tool_call"}],
        response_metadata={"model_name": "claude-sonnet-4-5", "model_provider": "anthropic", "stop_reason": "tool_use"},
        usage_metadata=None,
    ),
    flat("tool", "a.txt", tool_call_id="t1", name="ls", artifact=None, status="success"),
    flat("tool", "boom", tool_call_id="t2", name="cat", artifact=None, status="error"),
]
"""what a run of an agent leaves, in the flat form"""

ENTRIES = [
    Entry(Speaker.HUMAN, (Text("Be careful."),), authority=Authority.INSTRUCTION),
    Entry(Speaker.HUMAN, (Text("Look"), Media(MediaKind.IMAGE, "image/png", data="AAAA"))),
    Entry(
        Speaker.AI,
        (Text("Looking."), ToolCall("ls", {"path": "."}, "t1"), ToolCall("cat", {}, "t2", raw='{"p":', finished=False)),
        origin=origin("anthropic/claude-sonnet-4-5"),
    ),
    Entry(Speaker.TOOL, (ToolResponse(wire_id="t1", tool_name="ls", result="a.txt", is_complete=True),)),
    Entry(Speaker.TOOL, (ToolResponse(wire_id="t2", tool_name="cat", error="boom", is_complete=True),)),
]


def as_dict(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": message["type"], "data": message}


def as_dumped(message: dict[str, Any]) -> dict[str, Any]:
    return lc(CLASSES[message["type"]], **message)


@pytest.mark.parametrize("form", [dict, as_dict, as_dumped])
@pytest.mark.parametrize(
    ("place", "state"),
    [
        ("", lambda messages: messages),
        ("messages", lambda messages: {"messages": messages, "remaining_steps": 3}),
        ("history", lambda messages: {"history": messages, "topic": "x"}),
        ("values.messages", lambda messages: {"values": {"messages": messages}, "next": [], "config": {}}),
        ("channel_values.messages", lambda messages: {"v": 4, "channel_values": {"messages": messages}}),
        (
            "checkpoint.channel_values.messages",
            lambda messages: {"config": {}, "checkpoint": {"channel_values": {"messages": messages}}},
        ),
    ],
)
def test_every_form_is_read_wherever_a_graph_keeps_it(form: Any, place: str, state: Any) -> None:
    data = whole(state([form(message) for message in MESSAGES]))
    assert detect(data).format == "langchain"
    document = read(data)
    assert [entry for entry in document.entries if entry.origin is None] == [e for e in ENTRIES if e.origin is None]
    assert document.entries[2].blocks == ENTRIES[2].blocks
    assert document.route == "anthropic/claude-sonnet-4-5"
    assert document.places == [f"{place}[{index}]" for index in range(len(MESSAGES))]
    assert document.notes == []


def test_a_history_of_states_holds_a_conversation_each() -> None:
    states = [{"values": {"messages": MESSAGES[:count]}} for count in (5, 2)]
    for data, places in ((whole(states), ("[0].", "[1].")), (jsonl(*states), ("line 1, ", "line 2, "))):
        documents = read_all(data)
        assert [len(document.entries) for document in documents] == [5, 2]
        assert [document.places[0] for document in documents] == [f"{place}values.messages[0]" for place in places]


def test_a_second_list_of_messages_in_a_state_is_named() -> None:
    document = read(whole({"drafts": MESSAGES[:2], "messages": MESSAGES[1:2]}))
    assert [entry.text for entry in document.entries] == ["Look"]
    assert document.notes == [FileNote("drafts", "another list of 2 messages in the same state was left out")]


def test_messages_are_read_without_a_file() -> None:
    document = read_messages([*MESSAGES, 7])
    assert [entry.blocks for entry in document.entries] == [entry.blocks for entry in ENTRIES]
    assert [str(note) for note in document.notes] == ["[5]: is no object and was left out"]


def test_other_programs_records_are_no_messages_of_langchain() -> None:
    for record in ({"type": "system", "content": "x"}, {"type": "tool", "content": "x"}, {"type": "ai", "text": "x"}):
        with pytest.raises(Exception, match="unknown format"):
            detect(whole([record, record]))


@pytest.mark.parametrize(
    ("part", "blocks"),
    [
        ({"type": "text-plain", "text": "plain", "mime_type": "text/plain"}, (Text("plain"),)),
        ({"type": "file", "source_type": "text", "text": "old"}, (Text("old"),)),
        ({"type": "refusal", "refusal": "no"}, (Text("no"),)),
        ({"type": "non_standard", "value": {"type": "text", "text": "inside"}}, (Text("inside"),)),
        (
            {"type": "file", "base64": "AA==", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
            (Media(MediaKind.DOCUMENT, "application/pdf", data="AA==", name="a.pdf"),),
        ),
        (
            {"type": "image", "source_type": "base64", "data": "AA==", "mime_type": "image/png"},
            (Media(MediaKind.IMAGE, "image/png", data="AA=="),),
        ),
        (
            {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}},
            (Thinking("hm", native={"signature": "s"}),),
        ),
        (
            {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "s"}},
            (Thinking("hm", native={"signature": "s"}),),
        ),
        (
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"},
            (Thinking(native={"item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}}),),
        ),
        ({"type": "invalid_tool_call", "id": "c", "name": "f", "args": "{"}, (ToolCall("f", {}, "c", raw="{", finished=False),)),
        ({"type": "tool_call_chunk", "id": "c", "args": "{"}, ()),
    ],
)  # fmt: skip
def test_parts_of_an_answer_are_what_they_say(part: dict[str, Any], blocks: tuple[Any, ...]) -> None:
    document = read_messages([flat("ai", [{"type": "text", "text": "x"}, part])])
    assert document.entries[0].blocks == (Text("x"), *blocks)
    assert document.notes == []


def test_tools_of_the_providers_are_joined_with_what_they_gave() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    content = [
        use,
        found,
        {"type": "server_tool_call", "id": "s1", "name": "search", "args": {"q": "x"}},
        {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": [1]},
        {"type": "server_tool_result", "tool_call_id": "lost", "output": "2"},
    ]
    hosted = read_messages([flat("ai", content)]).entries[0].blocks
    assert [block.native for block in hosted[:1]] == [{"blocks": [use, found]}]
    assert hosted[1:] == (
        HostedTool("search", {"q": "x"}, [1], "s1"),
        HostedTool("unknown", result="2", wire_id="lost"),
    )


def test_an_answer_of_the_responses_api_goes_back_there() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}
    metadata = {"model_name": "gpt-5", "model_provider": "openai"}
    for content, more in (([reasoning], {}), ("hi", {"object": "response"})):
        document = read_messages([flat("ai", content, response_metadata=metadata | more)])
        assert document.route == "openai-responses/gpt-5"
    assert read_messages([flat("ai", "hi", response_metadata=metadata)]).route == "openai/gpt-5"


# --- written ----------------------------------------------------------------------------------------------------------

IMAGE = Media(MediaKind.IMAGE, "image/png", data="AAAA")


def test_messages_are_written_in_the_form_that_langchain_loads() -> None:
    conversation = talk(
        instruction("Be careful."),
        user("look", IMAGE),
        ai("Looking.", call("call_a", path="."), call("call_b", "run"), origin=origin("openai/gpt-4o")),
        tool(response("call_b", name="run", error="boom", value=""), response("call_a", "found", media=(IMAGE,))),
        instruction("be brief"),
    )
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    calls = [
        {"name": "read", "args": {"path": "."}, "id": "call_a", "type": "tool_call"},
        {"name": "run", "args": {}, "id": "call_b", "type": "tool_call"},
    ]
    common: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
    named = {"model_name": "gpt-4o", "model_provider": "openai"}
    messages, losses = write_messages(Outgoing(conversation))
    assert losses == []
    assert messages == [
        {"type": "system", "data": {"content": "Be careful.", **common, "type": "system"}},
        {"type": "human", "data": {"content": [{"type": "text", "text": "look"}, image], **common, "type": "human"}},
        {
            "type": "ai",
            "data": {
                "content": "Looking.",
                **common,
                "type": "ai",
                "response_metadata": named,
                "tool_calls": calls,
                "invalid_tool_calls": [],
            },
        },
        {
            "type": "tool",
            "data": {
                "content": [{"type": "text", "text": "found"}, image],
                **common,
                "type": "tool",
                "name": "read",
                "tool_call_id": "call_a",
                "status": "success",
            },
        },
        {
            "type": "tool",
            "data": {
                "content": "boom",
                **common,
                "type": "tool",
                "name": "run",
                "tool_call_id": "call_b",
                "status": "error",
            },
        },
        {"type": "system", "data": {"content": "be brief", **common, "type": "system"}},
    ]
    assert json.loads(write(conversation, "langchain").data) == messages


def test_thoughts_and_calls_are_in_the_parts_of_their_own_provider() -> None:
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "gA", "id": "rs_1"}
    answers = [
        ai(
            thought("hm", signature="s"),
            Thinking(native={"data": "d"}),
            call("toolu_a"),
            origin=origin("anthropic/claude-sonnet-4-5"),
        ),
        ai(thought("", item=sealed), call("call_b"), origin=origin("openai-responses/gpt-5.1")),
        ai(thought("aloud"), call("call_c"), "after", origin=origin("deepseek/deepseek-chat")),
    ]
    conversation = talk(user("go"), *answers)
    messages, losses = write_messages(Outgoing(conversation))
    spoken = [message["data"] for message in messages if message["type"] == "ai"]
    kinds = [[part["type"] for part in data["content"]] for data in spoken]
    assert kinds == [
        ["thinking", "redacted_thinking", "tool_use"],
        ["reasoning", "function_call"],
        ["tool_call", "text"],
    ]
    assert spoken[1]["content"][0] == {name: value for name, value in sealed.items() if name != "id"}
    assert spoken[2]["additional_kwargs"] == {"reasoning_content": "aloud"}
    assert spoken[2]["response_metadata"]["output_version"] == "v1"
    assert losses == []
    again = [entry.blocks for entry in read_messages(messages).entries if entry.speaker is Speaker.AI]
    assert [[type(block) for block in blocks] for blocks in again] == [
        [type(block) for block in entry.blocks] for entry in answers
    ]


def test_what_langchain_cannot_hold_is_listed() -> None:
    conversation = talk(
        user("go"),
        ai(
            HostedTool("search", {"q": "x"}, "found", "w"),
            HostedTool("compaction", silent=True),
            Thinking(native={"reasoning_details": [{"data": "c2ln"}]}),
            origin=origin("openrouter/openai/gpt-5"),
        ),
    )
    assert [str(loss) for loss in write(conversation, "langchain").losses] == [
        "the form of a call to search, run by its provider; it stands as text",
        "a record that its provider keeps for itself (compaction)",
        "a thought that only its provider can read",
    ]
