"""Every dialect's turns, rendered for every dialect, at every turn boundary: nobody refuses anything.

The turns are the named cases and, where the samples are at hand, all tool turns that live providers accepted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from legato import Conversation, render, resolve
from legato.model import Entry, Speaker, Text, ToolCall
from legato.transcript import Exchange, Said, completion_text
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from rule_targets import target_of_exchange

from builders import ROUTES
from cases import CASES

ACCEPTED = Path(__file__).parents[2].parent / "shared/samples/provider-exchanges/accepted_tool_turns.jsonl"
FAMILIES = (
    *ROUTES,
    "vertex/gemini-2.5-pro",
    "vertex-anthropic/claude-sonnet-4-5@20250929",
    "deepseek-anthropic/deepseek-v4-pro",
)
"""one route of every family, clouds that serve families of others, and a host that demands more of Messages"""

needs_samples = pytest.mark.skipif(not ACCEPTED.exists(), reason="the samples are not beside this checkout")


def boundaries(entries: list[Entry]) -> list[int]:
    """Where a turn may end and another model take over: before each human entry, and at the end."""
    return [place for place, entry in enumerate(entries) if place and entry.speaker is Speaker.HUMAN] + [len(entries)]


def recorded(entries: list[Entry], system: str = "") -> Conversation:
    conversation = Conversation()
    if system.strip():
        conversation.instruct(system)
    for entry in entries:
        conversation.record(entry)
    return conversation


def refused(conversation: Conversation, route: str) -> list[str]:
    request = render(conversation, route)
    return [f"{v.rule} at {v.path}" for v in request.check() if v.severity is Severity.REFUSED]


@pytest.mark.req("REQ-915-004", "REQ-915-041", "REQ-915-042")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("source", FAMILIES)
def test_what_one_dialect_said_is_accepted_by_every_other_at_every_boundary(source: str, name: str) -> None:
    body = render(CASES[name](), source).copy()
    parsed = dialect_parts(resolve(source).dialect).parse(body)
    for end in boundaries(parsed.entries):
        conversation = recorded(parsed.entries[:end], parsed.system)
        for route in FAMILIES:
            assert refused(conversation, route) == []


def said(conversation: Conversation) -> dict[str, list[Any]]:
    """Calls, results and text of a conversation, as a model sees them."""
    view = conversation.view()
    view.refresh()
    found: dict[str, list[Any]] = {"calls": [], "results": [], "text": []}
    for unit in view.units():
        if isinstance(unit, Said):
            found["text"] += [block.text for block in unit.blocks if isinstance(block, Text)]
        if isinstance(unit, Exchange):
            found["text"] += [block.text for block in unit.blocks if isinstance(block, Text)]
            found["calls"] += [(call.name, call.arguments, call.raw) for call in unit.calls]
            found["results"] += [(done.is_error, completion_text(done).strip()) for done in unit.completions]
    return found


PLAIN_CASES = [
    name
    for name in CASES
    if name not in {"media", "hosted_tools", "instructions_in_the_middle", "compacted", "endings", "begins_with_answer"}
]
"""those that every dialect can hold without a word more or less"""


@pytest.mark.parametrize("name", PLAIN_CASES)
@pytest.mark.parametrize("route", ROUTES)
def test_reading_a_request_back_gives_the_same_calls_results_and_text(route: str, name: str) -> None:
    conversation = CASES[name]()
    request = render(conversation, route)
    parsed = dialect_parts(resolve(route).dialect).parse(request.copy())
    assert parsed.notes == []
    again, before = said(recorded(parsed.entries)), said(conversation)
    names = {one.call_id: one.name for one in request.report.emitted}
    assert len(names) == len(again["calls"])
    assert [(arguments, raw) for _, arguments, raw in again["calls"]] == [
        (arguments, raw) for _, arguments, raw in before["calls"]
    ]
    assert again["results"] == before["results"]
    assert "".join(again["text"]) == "".join(before["text"])


def accepted() -> Iterator[tuple[int, dict[str, Any]]]:
    with ACCEPTED.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            yield number, json.loads(line)


@cache
def parsed_exchanges() -> list[tuple[int, Parsed]]:
    found: list[tuple[int, Parsed]] = []
    for number, exchange in accepted():
        target = target_of_exchange(exchange["host"], exchange["path"], exchange["request"].get("model", ""))
        assert target is not None
        found.append((number, dialect_parts(target.dialect).parse(exchange["request"])))
    return found


@needs_samples
@pytest.mark.parametrize("route", FAMILIES)
def test_every_turn_that_a_live_provider_accepted_is_accepted_by_every_other_provider(route: str) -> None:
    problems: list[str] = []
    for number, parsed in parsed_exchanges():
        for end in boundaries(parsed.entries):
            conversation = recorded(parsed.entries[:end], parsed.system)
            problems += [f"line {number}: {found}" for found in refused(conversation, route)]
    assert problems == []


def calls_in(value: Any) -> int:
    """How many calls a body of any dialect holds, read as simply as can be."""
    if isinstance(value, list):
        return sum(map(calls_in, value))
    if not isinstance(value, dict):
        return 0
    own = value.get("type") in ("tool_use", "function_call", "custom_tool_call")
    own += "functionCall" in value or isinstance(value.get("function_call"), dict)
    if isinstance(value.get("tool_calls"), list):
        return len(value["tool_calls"])
    return own or sum(map(calls_in, value.values()))


@needs_samples
def test_no_call_of_an_accepted_turn_is_lost_in_reading() -> None:
    bodies = dict(accepted())
    for number, parsed in parsed_exchanges():
        body = bodies[number]["request"]
        history = body.get("messages") or body.get("input") or body.get("contents")
        calls = sum(isinstance(block, ToolCall) for entry in parsed.entries for block in entry.blocks)
        assert calls >= calls_in(history), f"line {number}"
