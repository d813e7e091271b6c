"""What is kept with a list of tools changes nothing: it is read, offered and judged as one that comes for the first time."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import ImpossibleRequest
from legato.model import Dialect, Target
from legato.model.lasting import Lasting
from legato.request import render, resolve
from legato.transcript.conversation import Conversation
from legato.wire.dialects import dialect_parts
from legato.wire.known_tools import decode_known
from rules import CASES

from builders import calls, user

READ = [Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.GEMINI]
TARGETS = [
    resolve(route)
    for route in (
        "anthropic/claude-opus-4-8",
        "openai/gpt-5.2",
        "openai-responses/gpt-5",
        "gemini/gemini-3-pro-preview",
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "kimi/kimi-k2-thinking",
    )
]

SCHEMAS = st.sampled_from(
    [
        {"type": "object", "properties": {"path": {"type": "string"}}},
        {"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": True, "minLength": "1"}}},
        {"type": "object", "properties": {"x": {"type": "nothing"}}},
        {"properties": {"text": {"description": "\x01 and half of nothing"}}},
        {"type": "array", "default": 10**30},
        {"type": ["object", 1]},
        {},
        None,
    ]
)
NAMES = st.sampled_from(["run", "look", "not a name", "run", "mcp__run", "", "x" * 200])


def definition(dialect: Dialect, name: str, schema: Any, own: dict[str, Any]) -> Any:
    match dialect:
        case Dialect.OPENAI_CHAT:
            return {"type": "function", "function": {"name": name, "parameters": schema, **own}}
        case Dialect.GEMINI:
            return {"functionDeclarations": [{"name": name, "parametersJsonSchema": schema, **own}]}
        case Dialect.OPENAI_RESPONSES:
            return {"type": "function", "name": name, "parameters": schema, **own}
        case _:
            return {"name": name, "description": "Looks.", "input_schema": schema, **own}


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = {"in": value}
    return value


def is_json(value: Any) -> bool:
    """Whether `value` can come as JSON; other bodies are read another way."""
    try:
        msgspec.json.decode(json.dumps(value))
    except (ValueError, RecursionError):
        return False
    return True


@st.composite
def tool_lists(draw: st.DrawFn, dialect: Dialect) -> list[Any]:
    """Tools in the words of `dialect`: ordinary ones, odd ones, and those that the rules are tried on."""
    own = st.sampled_from([{}, {}, {}, {"strict": True}, {"cache_control": {"type": "ephemeral"}}, {"own": 1.0}])
    own |= st.sampled_from(
        [{"description": "\0"}, {"description": "\x01 é"}, {"own": nested(70)}, {"own": nested(120)}]
    )
    made = st.builds(lambda name, schema, own: definition(dialect, name, schema, own), NAMES, SCHEMAS, own)
    bodies = [body for case in CASES if case.dialect is dialect for body in (case.accepted, case.refused)]
    tried = [tool for body in bodies if isinstance(body.get("tools"), list) for tool in body["tools"] if is_json(tool)]
    return draw(st.lists(made | st.sampled_from([*tried, 1, [], "run"]), max_size=4))


def offered(listed: Any, dialect: Dialect, target: Target, talk: Conversation) -> object:
    """All that can be seen of a request with these tools."""
    parts = dialect_parts(dialect)
    parsed = parts.parse({"tools": listed, parts.messages_field: []}).belonging_to(f"{dialect}/own")
    try:
        request = render(talk.copy(), target, tools=parsed.tools, options=parsed.options)
    except ImpossibleRequest as error:
        return error.message
    found = parts.check({"tools": listed, "model": "x"}, target) if target.dialect is dialect else []
    return parsed.tools, parsed.notes, request.json(), request.decisions, request.check(), found


@pytest.mark.parametrize("dialect", READ)
@given(data=st.data())
def test_tools_that_last_are_offered_and_judged_as_those_that_come_once(dialect: Dialect, data: st.DataObject):
    listed = data.draw(tool_lists(dialect))
    written = json.dumps(listed).encode()
    named = Conversation()
    named.take([user("hi"), calls("mcp__run", "not a name")])
    for target in data.draw(st.lists(st.sampled_from(TARGETS), min_size=2, max_size=4)):
        talk = data.draw(st.sampled_from([named, Conversation()]))
        lasting = decode_known(written)
        assert isinstance(lasting, Lasting)
        assert offered(lasting, dialect, target, talk) == offered(json.loads(written), dialect, target, talk)


def test_so_much_is_kept_with_a_list_and_no_more():
    lasting, asked = Lasting([0]), list[int]()

    def find(number: int) -> int:
        asked.append(number)
        return number

    for number in (*range(10), 0, *range(200), 0):
        assert lasting.once(number, lambda number=number: find(number)) == number
    for number in (*range(10), 0, *range(5_000), 0):
        assert lasting.about(number, find, number) == number

    again = [number for number in range(5_000) if asked.count(number) > (2 if number < 200 else 1)]
    assert again == [0]
