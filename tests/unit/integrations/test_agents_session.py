"""A session of the OpenAI Agents SDK in a store: what it is given it gives back, and Legato reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from legato.integrations.openai_agents import StoreSession, read_run_items, read_run_state
from legato.request import render
from legato.store import Store, open_store
from legato.store.memory import MemoryStore
from legato.transcript import Conversation

DATA = Path(__file__).parents[2] / "data" / "frameworks" / "openai_agents.json"
HISTORIES: dict[str, list[dict[str, Any]]] = json.loads(DATA.read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", HISTORIES)
def test_items_come_back_as_they_were_added(family: str) -> None:
    async def main() -> list[Any]:
        session = StoreSession("ada", MemoryStore())
        for item in HISTORIES[family]:
            await session.add_items([item])
        return await session.get_items()

    assert anyio.run(main) == HISTORIES[family]


def test_a_thought_words_and_calls_are_one_answer_whenever_they_are_added() -> None:
    items = HISTORIES["anthropic"]

    async def main() -> Conversation:
        store = MemoryStore()
        session = StoreSession("ada", store)
        for item in items:
            await session.add_items([item])
        return Conversation(await store.read("ada"))

    request = render(anyio.run(main), "anthropic/claude-sonnet-4-5")
    roles = [[message["role"], *(part["type"] for part in message["content"])] for message in request.body["messages"]]
    assert roles == [
        ["user", "text"],
        ["assistant", "thinking", "text", "tool_use", "tool_use"],
        ["user", "tool_result", "tool_result"],
        ["assistant", "thinking", "text"],
        ["user", "text"],
    ]


def test_the_newest_item_is_taken_back_and_a_limit_gives_the_newest() -> None:
    items = HISTORIES["openai"]

    async def main() -> tuple[Any, list[Any], list[Any]]:
        session = StoreSession("ada", MemoryStore())
        await session.add_items(items)
        popped = await session.pop_item()
        newest = await session.get_items(2)
        await session.add_items([items[0]])
        return popped, newest, await session.get_items()

    assert anyio.run(main) == (items[-1], items[-3:-1], [*items[:-1], items[0]])


def test_another_process_finds_what_was_added(tmp_path: Path) -> None:
    place = tmp_path / "sessions.db"

    async def main() -> tuple[list[Any], str]:
        first, second = StoreSession("ada", place), StoreSession("ada", str(place))
        await first.add_items([{"role": "user", "content": "one"}])
        await second.add_items([{"role": "user", "content": "two"}])
        await first.add_items([{"role": "user", "content": "three"}])
        items = await second.get_items()
        await first.close()
        await second.close()
        async with open_store(place) as store:
            talk = Conversation(await store.read("ada"))
        return [item["content"] for item in items], str(render(talk, "anthropic/claude-haiku-4-5").body["messages"])

    contents, seen = anyio.run(main)
    assert contents == ["one", "two", "three"]
    assert all(word in seen for word in contents)


def test_a_cleared_session_is_empty_and_can_be_used_again() -> None:
    async def main(store: Store) -> list[list[Any]]:
        session = StoreSession("ada", store)
        seen = [await session.get_items(), [await session.pop_item()]]
        await session.add_items(HISTORIES["mistral"])
        await session.clear_session()
        seen.append(await session.get_items())
        await session.add_items([{"role": "user", "content": "again"}])
        return [*seen, await session.get_items()]

    assert anyio.run(main, MemoryStore()) == [[], [None], [], [{"role": "user", "content": "again"}]]


def test_an_item_that_says_nothing_is_kept_all_the_same() -> None:
    odd = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "songs", "tools": []}

    async def main() -> list[Any]:
        session = StoreSession("ada", MemoryStore())
        await session.add_items([{"role": "user", "content": "hi"}, odd])
        return await session.get_items()

    assert anyio.run(main) == [{"role": "user", "content": "hi"}, odd]


def test_a_run_state_is_read_as_text_and_as_an_object() -> None:
    state = {"$schemaVersion": "1.0", "original_input": "hello", "session_items": [], "generated_items": []}

    class RunState:
        def to_string(self) -> str:
            return json.dumps(state)

    texts = [read_run_state(one).entries[0].text for one in (RunState(), json.dumps(state))]
    assert texts == ["hello", "hello"]
    assert read_run_items("hello").entries[0].text == "hello"
