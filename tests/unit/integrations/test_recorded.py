"""Messages that the frameworks themselves wrote, on every family, read and written for every other one.

`make frameworks ARGS=--record` records them: one turn with thoughts and two calls, against simulated providers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types
from pydantic_ai.messages import ModelMessagesTypeAdapter

from legato.formats.document import Document
from legato.integrations import google_adk, langchain, litellm, openai_agents, pydantic_ai
from legato.model import Speaker, Thinking, ToolResponse
from legato.request import resolve
from scripts.frameworks.damages import FOREIGN, Damage, Role, damaged
from scripts.frameworks.tool import FILES

DATA = Path(__file__).parents[2] / "data" / "frameworks"
ROUTES = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai": "openai/gpt-4.1",
    "openai-responses": "openai-responses/gpt-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
}
DAMAGES = [damage for damage in Damage if damage not in FOREIGN]
TAKEN = ("openai_agents", "openai-responses", Damage.LATE)
"""an output may come late in the Responses API, so it is left where it is"""


def recorded(player: str) -> dict[str, Any]:
    return json.loads((DATA / f"{player}.json").read_text(encoding="utf-8"))


class Case:
    """One framework: how its recorded messages become its own, and what tells them apart."""

    def __init__(
        self,
        player: str,
        load: Callable[[Any], list[Any]],
        settle: Callable[[list[Any], str], Sequence[Any]],
        read: Callable[[Sequence[Any]], Document],
        role: Callable[[Any], Role],
    ) -> None:
        self.player, self.load, self.settle, self.read, self.role = player, load, settle, read, role

    def history(self, family: str) -> list[Any]:
        return self.load(recorded(self.player)[family])


def _contents(events: list[dict[str, Any]]) -> list[types.Content]:
    """Contents, with one result in each."""
    contents: list[types.Content] = []
    for event in events:
        content = types.Content.model_validate_json(json.dumps(event["content"]))
        results = [part for part in content.parts or [] if part.function_response]
        contents += [types.Content(role=content.role, parts=[part]) for part in results] or [content]
    return contents


def _content_role(content: types.Content) -> Role:
    if any(part.function_response for part in content.parts or []):
        return Role.RESULT
    return Role.ANSWER if content.role == "model" else Role.SAID


def _requests(dumped: Any) -> list[Any]:
    exploded = [
        {**message, "parts": [part]} if message["kind"] == "request" else message
        for message in dumped
        for part in (message["parts"] if message["kind"] == "request" else [None])
    ]
    return ModelMessagesTypeAdapter.validate_python(exploded)


def _part_role(message: Any) -> Role:
    if message.kind == "response":
        return Role.ANSWER
    return Role.RESULT if message.parts[0].part_kind == "tool-return" else Role.SAID


def _item_role(item: Any) -> Role:
    if item.get("type") == "function_call_output":
        return Role.RESULT
    return Role.SAID if item.get("role") == "user" else Role.ANSWER


CASES = {
    "pydantic_ai": Case(
        "pydantic_ai",
        _requests,
        pydantic_ai.settle_model_messages,
        pydantic_ai.read_model_messages,
        _part_role,
    ),
    "langchain": Case(
        "langchain",
        list,
        langchain.settle_langchain_messages,
        langchain.read_langchain_messages,
        lambda message: {"ai": Role.ANSWER, "tool": Role.RESULT}.get(message["type"], Role.SAID),
    ),
    "openai_agents": Case(
        "openai_agents",
        list,
        lambda items, route: openai_agents.settle_run_items(items, resolve(route)),
        openai_agents.read_run_items,
        _item_role,
    ),
    "litellm": Case(
        "litellm",
        list,
        lambda messages, route: litellm.settle_litellm_messages(messages, resolve(route)),
        litellm.read_litellm_messages,
        lambda message: {"assistant": Role.ANSWER, "tool": Role.RESULT}.get(message["role"], Role.SAID),
    ),
    "google_adk": Case(
        "google_adk",
        _contents,
        lambda contents, route: google_adk.settle_adk_contents(contents, resolve(route)),
        google_adk.read_adk_contents,
        _content_role,
    ),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
SOURCES = [(player, family) for player in CASES for family in recorded(player)]


@pytest.fixture(autouse=True)
def _without_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain is not installed here: its messages stay the dumps that it loads."""
    loads = SimpleNamespace(messages_from_dict=lambda messages: messages)
    monkeypatch.setattr(langchain, "import_module", lambda name: loads)


def returned(document: Document) -> list[str]:
    """What tools gave, in order, as far as it is a real result."""
    blocks = [block for entry in document.entries for block in entry.blocks]
    results = [block.result for block in blocks if isinstance(block, ToolResponse) and block.reason is None]
    return [str(one) for one in results]


@pytest.mark.parametrize(("player", "family"), SOURCES)
def test_a_recorded_history_is_read_whole(player: str, family: str) -> None:
    case = CASES[player]
    document = case.read(case.history(family))
    assert document.notes == []
    assert [call.arguments["path"] for entry in document.entries for call in entry.calls] == list(FILES)
    assert returned(document) == list(FILES.values())


@pytest.mark.parametrize("target", ROUTES)
@pytest.mark.parametrize(("player", "family"), SOURCES)
def test_results_and_words_of_every_family_reach_every_other_one(player: str, family: str, target: str) -> None:
    case = CASES[player]
    before = case.read(case.history(family))
    after = case.read(case.settle(case.history(family), ROUTES[target]))
    assert returned(after) == returned(before)
    assert said(after) == said(before)


def said(document: Document) -> list[str]:
    """The words in it, without those that are there because some requests may not end on an answer."""
    return [entry.text for entry in document.entries if entry.text not in ("", "Continue.")]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("player", "family"), SOURCES)
def test_every_call_has_one_result_right_behind_it_after_any_damage(player: str, family: str, damage: Damage) -> None:
    if (player, family, damage) == TAKEN:
        pytest.skip("this is taken as it is")
    case = CASES[player]
    history = damaged(case.history(family), damage, role=case.role, twin=deepcopy)
    document = case.read(case.settle(history, ROUTES[family]))
    waiting: list[str] = []
    for entry in document.entries:
        results = [block for block in entry.blocks if isinstance(block, ToolResponse)]
        assert results or not waiting or entry.calls
        for block in results:
            waiting.remove(block.wire_id)  # raises for a result without a call, and for a second one
        waiting += [call.wire_id for call in entry.calls]
    assert waiting == []


@EACH
def test_a_thought_comes_back_to_its_own_provider_and_to_no_other(case: Case) -> None:
    history = case.load(recorded(case.player)["anthropic"])
    events = [SimpleNamespace(**one) for one in _models_of(case, history)]
    for target, route in ROUTES.items():
        if case.player == "google_adk":
            settled: Sequence[Any] = google_adk.settle_adk_contents(history, resolve(route), events)
            document = google_adk.read_adk_contents(settled, events)
        else:
            document = case.read(case.settle(history, route))
        signed = [
            block
            for entry in document.entries
            for block in entry.blocks
            if isinstance(block, Thinking) and "signature" in (block.native or {})
        ]
        assert bool(signed) is (target == "anthropic"), target


def _models_of(case: Case, history: list[Any]) -> list[dict[str, Any]]:
    """The events of ADK, which know the models that contents do not name."""
    if case.player != "google_adk":
        return []
    return [{"model_version": "claude-sonnet-4-5", "content": one} for one in history if one.role == "model"]


@EACH
def test_a_message_that_was_right_is_the_very_same(case: Case) -> None:
    family = "anthropic"
    history = [*case.history(family)]
    said = next(message for message in history if case.role(message) is Role.SAID)
    settled = case.settle([*history, deepcopy(said)], ROUTES[family])
    kept = [message for message in settled if any(message is one or message == one for one in history)]
    assert len(kept) >= len(history) - 1  # contents of ADK do not say that a thought in them is Claude's


def test_a_history_that_pydantic_ai_stores_names_no_model_that_did_not_give_an_answer() -> None:
    case = CASES["pydantic_ai"]
    settled = case.settle(case.history("openai"), ROUTES["anthropic"])
    answers = [message for message in settled if message.kind == "response"]
    assert {(answer.provider_name, answer.model_name) for answer in answers} <= {("openai", "gpt-4.1"), (None, None)}


def test_settling_nothing_gives_nothing() -> None:
    assert [list(case.settle([], ROUTES["openai"])) for case in CASES.values()] == [[], [], [], [], []]


@EACH
def test_what_is_read_is_written_again(case: Case) -> None:
    if case.player not in ("pydantic_ai", "langchain", "litellm"):
        pytest.skip("written only as the input of a model")
    document = case.read(case.history("anthropic"))
    write: dict[str, Callable[[], list[Any]]] = {
        "pydantic_ai": lambda: pydantic_ai.write_model_messages(document, ROUTES["anthropic"]),
        "langchain": lambda: langchain.write_langchain_messages(document, ROUTES["anthropic"]),
        "litellm": lambda: litellm.write_litellm_messages(document, resolve(ROUTES["anthropic"])),
    }
    again = case.read(write[case.player]())
    assert returned(again) == returned(document)
    assert [entry.speaker for entry in again.entries if entry.speaker is Speaker.AI] == [Speaker.AI] * 2
