"""The frameworks themselves load what is written for them, and what they write is read.

They are no part of the test environment. Where they can be imported, these tests run; the shapes that they were seen to
write are tested without them, beside each reader. Last run with langchain-core 1.7.2, langchain-anthropic 1.7.7 and
langchain-openai 1.7.3; with pydantic-ai-slim 2.66.0, openai-agents 0.24.0,
langgraph 1.2.20 and langgraph-checkpoint-sqlite 3.1.2.
"""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from legato.formats import read, write
from legato.model import Media, MediaKind, Thinking
from legato.request import resolve
from legato.transcript import Conversation
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from told import told

from builders import ai, call, instruction, origin, response, talk, thought, tool, user

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = Media(MediaKind.IMAGE, "image/png", data=PNG)
THINKING = {"type": "enabled", "budget_tokens": 1024}
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
THOUGHTS: dict[str, list[Thinking]] = {
    "anthropic/claude-sonnet-4-5": [thought("hm", signature="c2ln"), Thinking(native={"data": "ZGF0YQ=="})],
    "openai-responses/gpt-5.1": [thought("", item=SEALED)],
    "openai/gpt-4o": [],
    "deepseek/deepseek-chat": [thought("aloud")],
    "gemini/gemini-3-pro-preview": [thought("aloud")],
}


def conversation(route: str, *, is_plain: bool = False) -> Conversation:
    """Thinking, parallel calls, an error, images on both sides, words behind a call, an open call.

    A plain one lacks what providers refuse and LangChain sends all the same: images in results, words behind calls.
    """
    own = origin(route)
    behind = [] if is_plain else ["words behind the call"]
    found = response("call_a", "found", media=() if is_plain else (IMAGE,))
    return talk(
        instruction("Be careful."),
        user("look", IMAGE, Media(MediaKind.DOCUMENT, "application/pdf", data="JVBERi0xLjQK", name="a.pdf")),
        ai(*THOUGHTS[route], "Looking.", call("call_a", path="."), call("call_b", "run"), origin=own),
        tool(response("call_b", name="run", error="boom", value=""), found),
        user("go on"),
        ai(call("call_c"), *behind, origin=own),
        tool(response("call_c", {"rows": [1]})),
        ai("open", call("call_d"), origin=own),
        user("never mind"),
    )


@pytest.mark.parametrize("route", THOUGHTS)
def test_langchain_loads_what_is_written_and_its_dumps_are_the_same_conversation(route: str) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    load = import_module("langchain_core.load")
    before = conversation(route)
    loaded = messages.messages_from_dict(json.loads(write(before, "langchain").data))
    dumps = [
        load.dumps(loaded),
        json.dumps(messages.messages_to_dict(loaded)),
        json.dumps([message.model_dump() for message in loaded]),
        json.dumps({"messages": [message.model_dump() for message in loaded]}),
    ]
    for dumped in dumps:
        again = read(dumped.encode())
        assert again.format == "langchain"
        assert again.notes == []
        assert list(told(again.conversation())) == list(told(before))


@pytest.mark.parametrize(
    ("route", "target"),
    [
        (route, target)
        for target in ("anthropic/claude-sonnet-4-5", "openai/gpt-5.1", "openai-responses/gpt-5.1")
        for route in THOUGHTS
        if route != "anthropic/claude-sonnet-4-5" or target == route  # its sealed thoughts are sent to anyone
    ],
)
def test_what_langchain_sends_of_it_is_accepted(route: str, target: str) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    provider, _, model = target.partition("/")
    loaded = messages.messages_from_dict(json.loads(write(conversation(route, is_plain=True), "langchain").data))
    if provider == "anthropic":
        thinking = {"thinking": THINKING} if route == target else {}
        anthropic = pytest.importorskip("langchain_anthropic")
        chat = anthropic.ChatAnthropic(model=model, api_key="x", max_tokens=4000, **thinking)
    else:
        by_items = {"use_responses_api": provider == "openai-responses"}
        chat = pytest.importorskip("langchain_openai").ChatOpenAI(model=model, api_key="x", **by_items)
    body: dict[str, Any] = json.loads(json.dumps(chat._get_request_payload(loaded)))
    aim = resolve(target)
    found = dialect_parts(aim.dialect).check(body, aim)
    assert [str(item) for item in found if item.severity is Severity.REFUSED] == []
    texts = json.dumps(body)
    for text in ("found", "boom", "rows", "never mind"):
        assert text in texts


@pytest.mark.parametrize("route", THOUGHTS)
def test_pydantic_ai_validates_what_is_written_and_its_dumps_are_the_same_conversation(route: str) -> None:
    adapter = pytest.importorskip("pydantic_ai.messages").ModelMessagesTypeAdapter
    before = conversation(route)
    data = write(before, "pydantic-ai").data
    for loaded in (adapter.validate_json(data), adapter.validate_python(json.loads(data))):
        dumped = adapter.dump_json(loaded)
        assert adapter.validate_json(dumped)
        again = read(dumped)
        assert again.format == "pydantic-ai"
        assert again.notes == []
        assert list(told(again.conversation())) == list(told(before))
        assert [type(block) for entry in again.entries for block in entry.blocks if type(block) is Thinking] == [
            type(block) for entry in before.entries for block in entry.blocks if type(block) is Thinking
        ]


def test_a_session_of_the_agents_sdk_gives_back_what_was_put_into_it(tmp_path: Path) -> None:
    agents = pytest.importorskip("agents")
    before = conversation("openai-responses/gpt-5.1")
    items = json.loads(write(before, "openai-responses").data)["input"]
    session = agents.SQLiteSession("s1", tmp_path / "sessions.db")
    asyncio.run(session.add_items(items))
    expected = list(told(read(json.dumps({"input": items}).encode()).conversation()))
    for _ in ("open", "closed"):
        again = read(tmp_path / "sessions.db")
        assert (again.format, again.meta, again.notes) == ("openai-agents", {"session": "s1"}, [])
        assert list(told(again.conversation())) == expected
        session.close()


def test_a_thread_of_langgraph_is_read_out_of_its_checkpoints(tmp_path: Path) -> None:
    saver = pytest.importorskip("langgraph.checkpoint.sqlite")
    graphs = import_module("langgraph.graph")
    messages = import_module("langchain_core.messages")
    before = conversation("anthropic/claude-sonnet-4-5")
    loaded = messages.messages_from_dict(json.loads(write(before, "langchain").data))
    graph = graphs.StateGraph(graphs.MessagesState)
    graph.add_node("model", lambda state: {"messages": loaded[1:]})
    graph.add_edge(graphs.START, "model")
    with saver.SqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as kept:
        graph.compile(checkpointer=kept).invoke({"messages": loaded[:1]}, {"configurable": {"thread_id": "t1"}})
    again = read(tmp_path / "graph.db")
    assert (again.format, again.meta, again.notes) == ("langchain", {"session": "t1"}, [])
    assert list(told(again.conversation())) == list(told(before))
