"""A body that is read from where it departs from the one before is read as all of it at once would be."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.model import Dialect
from legato.model.json_access import as_list, as_object
from legato.request import render
from legato.wire import phrases
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.rereading import Rereader
from rules import CASES as RULE_CASES

from cases import CASES

Json: TypeAlias = Any

CLIENTS = {
    Dialect.ANTHROPIC: "anthropic/claude-sonnet-4-5",
    Dialect.OPENAI_CHAT: "kimi/kimi-k2-thinking",
    Dialect.OPENAI_RESPONSES: "openai-responses/gpt-5",
    Dialect.GEMINI: "gemini/gemini-2.5-pro",
}
"""the dialects that clients of a gateway speak, each with a route that is rendered in it"""
FIELDS = {dialect: dialect_parts(dialect).messages_field for dialect in CLIENTS}
TEXTS = ("hi", phrases.CONTINUE, phrases.HUMAN_BRIDGE, phrases.ANSWER_BRIDGE, phrases.INSTRUCTION_MARK + "be brief")
MARKED = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral", "ttl": "1h", "scope": "all"}}


def spoken(dialect: Dialect, role: str, text: str) -> Json:
    return {"role": role, **({"parts": [{"text": text}]} if dialect is Dialect.GEMINI else {"content": text})}


def exchange(dialect: Dialect, name: str) -> list[Json]:
    """A call of a tool of that name and its result, always under the same id."""
    match dialect:
        case Dialect.ANTHROPIC:
            use = {"type": "tool_use", "id": "a", "name": name, "input": {}}
            result = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
            return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result, MARKED]}]
        case Dialect.OPENAI_CHAT:
            call = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
            result = {"role": "tool", "tool_call_id": "a", "content": "done"}
            return [{"role": "assistant", "tool_calls": [call]}, result, {"role": "assistant", "content": [call]}]
        case Dialect.OPENAI_RESPONSES:
            tools = [{"type": "function", "name": name}, {"type": "function"}]
            call = {"type": "function_call", "call_id": "a", "name": name, "arguments": "{}"}
            result = {"type": "function_call_output", "call_id": "a", "output": "done"}
            return [{"type": "additional_tools", "tools": tools}, call, result]
        case _:
            call, result = {"id": "a", "name": name, "args": {}}, {"id": "a", "name": name, "response": {}}
            parts = [[{"functionCall": call}], [{"functionResponse": result}]]
            return [{"role": role, "parts": held} for role, held in zip(("model", "user"), parts, strict=True)]


def histories(dialect: Dialect) -> list[list[Json]]:
    """What clients may have in their messages: one of ours, what is refused, and what is said to be read otherwise."""
    field = FIELDS[dialect]
    ours = [render(make(), CLIENTS[dialect]).copy()[field] for make in CASES.values()]
    of_rules = [case for case in RULE_CASES if case.dialect is dialect]
    bodies = [as_list(as_object(body).get(field)) for case in of_rules for body in (case.accepted, case.refused)]
    words = [spoken(dialect, role, text) for role in ("user", "assistant", "model", "system") for text in TEXTS]
    odd = (
        [[word] for word in words] + [exchange(dialect, name) for name in ("look", "listen")] + [["x"], [{}], [MARKED]]
    )
    return [*ours, *[body for body in bodies if body], *odd, *odd]


HISTORIES = {dialect: histories(dialect) for dialect in CLIENTS}
HEADS = {
    dialect: [
        {},
        *(case.accepted for case in RULE_CASES if case.dialect is dialect and isinstance(case.accepted, dict)),
    ]
    for dialect in CLIENTS
}


@st.composite
def told(draw: st.DrawFn, dialect: Dialect) -> list[tuple[Json, int]]:
    """Bodies of one client, and how many messages of each are those of the one before, or fewer."""
    heads = draw(st.lists(st.sampled_from(HEADS[dialect]), min_size=1, max_size=2))
    messages: list[Json] = []
    bodies: list[tuple[Json, int]] = []
    for _ in range(draw(st.integers(1, 6))):
        nearest = 0 if draw(st.integers(0, 3)) == 0 else max(len(messages) - 3, 0)
        same = draw(st.integers(nearest, len(messages)))
        more = draw(st.lists(st.sampled_from(HISTORIES[dialect]), max_size=2))
        messages = [*messages[:same], *(message for history in more for message in history)]
        bodies.append(({**draw(st.sampled_from(heads)), FIELDS[dialect]: messages}, same))
    return json.loads(json.dumps(bodies))


def shown(parsed: Parsed) -> str:
    """All of it; to Python, 1 is True."""
    return repr(parsed)


@pytest.mark.parametrize("dialect", CLIENTS)
@given(data=st.data())
def test_a_body_is_read_as_if_none_had_come_before(dialect: Dialect, data: st.DataObject):
    parts = dialect_parts(dialect)
    reader = Rereader(parts)
    given_out: list[tuple[Parsed, str]] = []
    for body, same in data.draw(told(dialect)):
        parsed = reader.read(body, same)
        given_out.append((parsed, shown(parts.parse(body))))
        assert all(shown(one) == anew for one, anew in given_out)  # and what was given out before stays as it was
