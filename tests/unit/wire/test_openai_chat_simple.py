"""Chat messages of a simple shape are read directly, and give what reading them part by part would have given."""

from __future__ import annotations

import copy
import enum
import json
from collections import OrderedDict, UserDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dialect_support import SAMPLES, needs_samples
from legato.errors import IngestError
from legato.model import CLOSURE_TEXTS, Entry, Speaker, Text, Thinking, ToolCall, ToolResponse, ingest, ingestion
from legato.wire.contract import Parsed
from legato.wire.openai_chat import message_list, simple_messages
from legato.wire.openai_chat.parse import parse, parse_json
from legato.wire.phrases import (
    ANSWER_BRIDGE,
    CONTINUE,
    EMPTY_RESULT,
    ERROR_MARK,
    HUMAN_BRIDGE,
    INSTRUCTION_MARK,
    MEDIA_CAPTION,
    MEDIA_FOLLOWS,
)


def read_thoroughly(body: Any) -> Parsed:
    """What the body gives if no message counts as simple."""
    with patch.object(message_list, "read_batch", lambda _messages, first, _builder, **_rest: first):
        return parse(body)


def outcome(read: Callable[[Any], Parsed | None], body: Any) -> str:
    """All that was read (as text, in which 1, 1.0 and True are three things), or the error."""
    try:
        return repr(read(body))
    except IngestError as error:
        return repr(error)


# --- both roads give the same -----------------------------------------------------------------------------------------

NOTHING = st.sampled_from([None, "", [], {}, False, 0])
ODD = NOTHING | st.integers() | st.just({"a": [1]}) | st.just(["x", 3])
TEXTS = st.one_of(
    st.text(max_size=8),
    st.text(st.sampled_from("a\0\ud800\udc00é[("), max_size=6),
    st.sampled_from(
        [
            *list(CLOSURE_TEXTS.values())[:2],
            ANSWER_BRIDGE,
            CONTINUE,
            EMPTY_RESULT,
            ERROR_MARK + "boom",
            HUMAN_BRIDGE,
            INSTRUCTION_MARK,
            INSTRUCTION_MARK + "be brief",
            MEDIA_CAPTION.format(tool="shot"),
            "taken\n" + MEDIA_FOLLOWS,
        ]
    ),
)
PICTURE = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}
IMAGES = st.just(PICTURE)
TEXT_PARTS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
PARTS = TEXT_PARTS | TEXTS | IMAGES | st.fixed_dictionaries({"type": TEXTS, "text": TEXTS | ODD}) | ODD
CONTENTS = TEXTS | st.lists(TEXT_PARTS, max_size=3) | st.lists(PARTS, max_size=3) | ODD
ARGUMENTS = st.one_of(
    st.sampled_from(['{"path": "a"}', "{}", "", " ", '{"path": ', "[1]", "null", '{"raw_arguments": "x"}']),
    st.just('{"deep": ' + "[" * 70 + "]" * 70 + "}"),
    st.builds(json.dumps, st.dictionaries(st.text(max_size=3), st.integers() | st.floats() | TEXTS, max_size=3)),
    TEXTS,
)
IDS = st.sampled_from(["call_a", "call_b", "", "call\0c"])
NAMES = st.sampled_from(["read", "list", "", "na\0me"])
FUNCTIONS = st.fixed_dictionaries({"name": NAMES, "arguments": ARGUMENTS}, optional={"strict": ODD})
CALLS = st.fixed_dictionaries({"id": IDS, "type": st.just("function"), "function": FUNCTIONS})
ANY_CALLS = st.fixed_dictionaries(
    {"id": IDS | ODD, "type": st.sampled_from(["function", "custom", None, 3]), "function": FUNCTIONS | ODD},
    optional={"index": ODD, "extra_content": ODD, "custom": ODD},
)
SIMPLE = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": TEXTS}),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": IDS, "content": TEXTS}, optional={"name": NAMES}),
    st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": st.none() | TEXTS,
            "tool_calls": st.none() | st.lists(CALLS, max_size=3),
            "reasoning_content": st.none() | TEXTS | st.just(" "),
            "refusal": NOTHING,
        },
    ),
)
NOT_SIMPLE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "function", "system", "critic", "", None, 3])},
    optional={
        "content": CONTENTS,
        "tool_call_id": IDS | ODD,
        "name": NAMES | ODD,
        "tool_calls": st.lists(CALLS | ANY_CALLS, max_size=3) | ODD,
        "function_call": NOTHING | FUNCTIONS,
        "refusal": TEXTS | ODD,
        "reasoning_content": TEXTS | ODD,
        "audio": ODD,
        "annotations": ODD,
    },
)
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(SIMPLE | SIMPLE | NOT_SIMPLE | ODD, max_size=8)},
    optional={"model": TEXTS | ODD, "tools": ODD, "max_tokens": ODD, "se\0ed": ODD},
)


@given(BODIES)
@example({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x"}] * 2})
def test_a_message_that_is_read_directly_gives_what_reading_it_part_by_part_gives(body):
    before = copy.deepcopy(body)
    assert outcome(parse, body) == outcome(read_thoroughly, body)
    assert body == before


@given(BODIES | st.fixed_dictionaries({"messages": st.lists(SIMPLE, max_size=8)}), st.booleans())
def test_json_that_is_read_directly_gives_what_its_objects_give(body, whole):
    data = json.dumps(body if whole else body["messages"]).encode()
    parsed = parse_json(data)
    if parsed is not None:
        objects = msgspec.json.decode(data)
        assert repr(parsed) == outcome(read_thoroughly, objects if whole else {"messages": objects})


@given(BODIES, st.integers(1, 3))
@example({"messages": [{"role": "assistant", "content": "x"}, {"role": "user", "content": CONTINUE}] * 2}, 2)
def test_messages_that_are_read_in_portions_give_what_all_of_them_together_give(body, size):
    with patch.object(message_list, "_PORTION", size):
        portions = outcome(parse, body)
    assert portions == outcome(parse, body)


PRINTED = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"sort_keys": True}, {"ensure_ascii": False}])


@given(st.lists(SIMPLE, max_size=8), PRINTED, st.integers(0, 60), st.booleans())
@example([{"role": "assistant", "content": "x"}, {"role": "user", "content": CONTINUE}] * 2, {}, 0, False)
@example([{"role": "user", "content": ', {"role": "user"'}, {"role": "user", "content": 'b",{"role"'}], {}, 0, True)
def test_json_that_is_cut_into_portions_gives_what_it_gives_as_a_whole(messages, printed, size, as_text):
    text = json.dumps(messages, **printed)
    data = text if as_text else text.encode("utf-8", "surrogatepass")
    with patch.object(simple_messages, "_PORTION", size):
        portions = outcome(parse_json, data)
    assert portions == outcome(parse_json, data)


ONE, MORE = '{"role": "user", "content": "a"}', '{"role": "user", "content": "b"}'


@pytest.mark.parametrize(
    "text",
    [
        f"[{ONE},\v{MORE}]",
        f"[{ONE} {MORE}]",
        f"[{ONE}, , {MORE}]",
        f"[{ONE}, {MORE}, ]",
        f"[{ONE}, {MORE}",
        f"[{ONE}], [{MORE}]",
        f"[{ONE}], {MORE}]",
        f"[{ONE}, {MORE}] {MORE}",
        f"[, {ONE}, {MORE}]",
    ],
)
def test_pieces_of_what_is_no_list_are_not_taken_for_one(text):
    with patch.object(simple_messages, "_PORTION", 0):
        assert parse_json(text) is None


def test_json_that_begins_with_much_space_is_read_as_a_whole():
    with patch.object(simple_messages, "_PORTION", 0):
        assert parse_json(f"[{{{' ' * 40}{ONE[1:]}, {MORE}]") == parse_json(f"[{ONE}, {MORE}]") is not None


def test_json_whose_messages_are_not_all_simple_is_left_to_the_general_way_wherever_they_are():
    with patch.object(simple_messages, "_PORTION", 0):
        assert parse_json(f'[{ONE}, {{"role": "critic"}}, {MORE}]') is None
        assert parse_json(f"[{ONE}, {MORE}, 3]") is None
        assert parse_json(f"[{ONE}, {MORE}]") == parse_json(f"[{ONE},{MORE}]") is not None


class _Role(enum.StrEnum):
    USER = "user"


class _Kind(enum.StrEnum):
    """The text is one thing, the value another."""

    TEXT = "text"
    CALL = "function"

    @property
    def value(self) -> str:
        return "other"


class _Shouted(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


class _Nobody:
    """As an array of numbers does, it compares to something that is neither true nor false."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "nobody"


class _Empty(str):
    """Not as empty as it says."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


class _Broken(str):
    __slots__ = ()

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")


class _Quiet(dict[str, Any]):
    """Holds more than it shows."""

    def items(self) -> Any:
        return list(super().items())[:2]


HELLO = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
SIGNED = {
    "id": "c",
    "type": "function",
    "function": {"name": "read", "arguments": "{}"},
    "extra_content": {"google": {"thought_signature": "s"}},
}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "critic", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": MEDIA_CAPTION.format(tool="shot")}, PICTURE]},
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x", "status": "done"},
        {"role": "tool", "tool_call_id": "c", "name": 3, "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": [3]},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "c", "type": "function", "function": 3}]},
        {"role": "assistant", "content": "x", "prefix": True},
    ],
    ids=str,
)
def test_a_message_that_is_not_quite_simple_is_read_the_same_on_both_roads(message):
    body = {"messages": [HELLO, message, HELLO]}
    assert outcome(parse, body) == outcome(read_thoroughly, body)
    assert parse_json(json.dumps(body)) is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": "hi"},
        {"messages": (HELLO,)},
        {"messages": [OrderedDict(HELLO), tuple(HELLO.items()), b"hi"]},
        {"messages": [{"role": _Role.USER, "content": "hi"}, {"role": "user", "content": _Shouted("hi")}]},
        {"messages": [{"role": _Nobody(), "content": "hi"}, {"role": "user", "content": [_Nobody()]}]},
        {"messages": [{"role": "user", "content": [{"type": _Nobody(), "text": "hi"}]}]},
        {"messages": [{"role": "assistant", "content": _Nobody(), "tool_calls": [{1: 2}]}]},
        {"messages": [{b"content": None, **HELLO}, {**HELLO, b"name": None}, {**HELLO, 1: []}]},
        {"messages": [{"role": "user", b"content": "hi"}, {**HELLO, "name": iter(())}]},
        {b"messages": [HELLO, HELLO], "messages": [HELLO]},
        {"messages": [HELLO], b"messages": [HELLO, HELLO]},
        {"messages": [HELLO], "tools": ({"function": {"name": "f"}},), 1: 2},
        OrderedDict(messages=[HELLO]),
        [("messages", [HELLO])],
        {"messages": [MappingProxyType({**HELLO, "prefix": True}), UserDict(HELLO), _Quiet({**HELLO, "name": "bob"})]},
        {"messages": [{"role": "assistant", "tool_calls": [MappingProxyType(SIGNED)]}]},
        {
            "messages": [
                {"role": "assistant", "tool_calls": [{**CALL, "function": UserDict(SIGNED["function"], strict=1)}]}
            ]
        },
        {"messages": [{"role": "assistant", "tool_calls": ({**CALL},)}, {"role": "assistant", "tool_calls": {3}}]},
        {"messages": [{"role": "assistant", "tool_calls": [{**CALL, "type": _Kind.CALL}]}]},
        {"messages": [{"role": "user", "content": [MappingProxyType({"type": "text", "text": "a", "more": 1})]}]},
        {"messages": [{"role": "user", "content": [{"type": _Kind.TEXT, "text": "a"}]}]},
        {"messages": [{"role": "user", "content": {"b", "a", "zz"}}, {"role": "user", "content": ("a", "b")}]},
        {"messages": [{"role": "assistant", "content": _Empty("x"), "tool_calls": [CALL]}]},
        {"messages": [{"role": "assistant", "content": "x", "reasoning_content": _Empty("hm")}]},
        {"messages": [{"role": "assistant", "content": _Broken("x")}, {"role": "user", "content": _Broken("x")}]},
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x", "name": _Empty("zz")}]},
        {"messages": [{"role": "tool", "tool_call_id": _Broken("c"), "content": [_Broken("x")]}]},
        {"messages": [{"role": "assistant", "content": "x", "tool_calls": [{**CALL, "id": _Broken("c")}]}]},
    ],
)
def test_values_that_json_does_not_have_are_read_the_same_on_both_roads(body):
    assert outcome(parse, body) == outcome(read_thoroughly, body)


@needs_samples
def test_recorded_conversations_are_read_the_same_on_both_roads():
    runs = [
        {"messages": run["traj"]}
        for path in sorted((SAMPLES / "openai-chat-tau-bench").glob("*.json"))
        for run in json.loads(path.read_bytes())
    ]
    lines = (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").read_text().splitlines()
    requests = [one["request"] for line in lines if "chat/completions" in (one := json.loads(line))["path"]]
    assert len(runs) >= 100
    assert len(requests) > 30
    for body in runs + requests:
        assert outcome(parse, body) == outcome(read_thoroughly, body)


# --- which messages are simple -----------------------------------------------------------------------------------------

ABSENT = {"refusal": None, "function_call": None, "audio": None, "annotations": []}


SIMPLE_BODY = {
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [CALL], **ABSENT},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "tool", "tool_call_id": "d", "name": "list", "content": ""},
        {"role": "assistant", "content": "well"},
    ]
}
READ = Parsed(
    [
        Entry(Speaker.HUMAN, (Text("hi"),)),
        Entry(Speaker.AI, (Thinking("hm"), ToolCall("read", {"path": "a"}, "c"))),
        Entry(
            Speaker.TOOL,
            (
                ToolResponse(wire_id="c", tool_name="read", result="done", is_complete=True),
                ToolResponse(wire_id="d", tool_name="list", result="", is_complete=True),
            ),
        ),
        Entry(Speaker.AI, (Text("well"),)),
    ],
    system="be kind",
    places=[1, 2, 3, 5],
    ends={2: 4},
)


def test_a_conversation_of_simple_messages_is_read_without_ingesting_it():
    with patch.object(message_list, "ingest", wraps=ingest) as ingested:
        parsed = parse(SIMPLE_BODY)
    assert not ingested.called
    assert parsed == READ


def test_fields_that_nobody_knows_are_simple_as_long_as_they_are_empty():
    body = {
        "messages": [{**HELLO, "mood": None}, {"role": "assistant", "content": "", "tool_calls": [CALL], "mood": []}]
    }
    with patch.object(message_list, "ingest", wraps=ingest) as ingested:
        parsed = parse(body)
    assert not ingested.called
    assert parsed == read_thoroughly(body)
    assert parse(json.loads(json.dumps(body))) == parsed


@pytest.mark.parametrize(
    "empty",
    [
        {"refusal": None, "annotations": None, "audio": None, "function_call": None},
        {"refusal": None, "annotations": [], "name": None},
        {"function_call": None, "provider_specific_fields": None},
        {"reasoning": "", "reasoning_details": [], "images": [], "provider_specific_fields": {}},
        {"name": None, "tool_call_id": None},
    ],
    ids=["OpenAI", "OpenAI's JSON", "LiteLLM", "OpenRouter", "one model for all roles"],
)
def test_what_sdks_print_of_fields_that_are_not_there_is_simple(empty):
    answer = {"role": "assistant", "content": "x", "tool_calls": [CALL]}
    parsed = parse_json(json.dumps([{**answer, **empty}]))
    assert parsed is not None
    assert parsed == parse({"messages": [answer]})


@pytest.mark.parametrize("data", [json.dumps(SIMPLE_BODY), json.dumps(SIMPLE_BODY["messages"]).encode()])
def test_a_conversation_of_simple_messages_is_read_straight_from_json(data):
    assert parse_json(data) == READ


def test_what_stands_beside_the_messages_is_read_from_json_too():
    body = {"model": "m", **SIMPLE_BODY, "max_tokens": 5, "n": 7, "tools": [{"function": {"name": "f"}}, 3]}
    parsed = parse_json(json.dumps(body))
    assert parsed == parse(body)
    assert parsed is not None
    assert (parsed.model, parsed.options.max_tokens, parsed.options.extra) == ("m", 5, {"n": 7})
    assert (parsed.tools[0].name, len(parsed.notes)) == ("f", 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[",
        b"{}",
        b"7",
        b'{"messages": {}}',
        b'{"messages": [], "model": }',
        b"[" * 100_000,
        b'["\xff"]',
        "\ud800",
    ],
)
def test_json_that_is_no_request_is_left_to_others(data):
    assert parse_json(data) is None


def test_what_the_caller_changes_later_does_not_change_what_was_read():
    odd_call = {**CALL, "extra_content": {"google": {"thought_signature": "s"}}}
    body = {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE]},
            {"role": "assistant", "content": "x", "tool_calls": [CALL, odd_call]},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "metadata": {"a": {"b": 1}},
    }
    given_body = copy.deepcopy(body)
    parsed = parse(given_body)
    before = repr(parsed)
    _spoil(given_body)
    assert repr(parsed) == before


def _spoil(value: Any) -> None:
    inner = list(value.values() if isinstance(value, dict) else value)
    value.clear()
    for one in inner:
        if isinstance(one, dict | list):
            _spoil(one)


@pytest.mark.parametrize(
    "message",
    [
        HELLO,
        {"role": "user", "content": [{"type": "text", "text": "hi"}] * 4},
        {"role": "tool", "tool_call_id": "c", "content": ["x"] * 6},
        {"role": "assistant", "tool_calls": [CALL] * 3, **ABSENT},
        {"role": "tool", "tool_call_id": "c", "content": "x", "name": ""},
        {"role": "tool", "tool_call_id": "c", "content": "x", "name": None, "mood": None},
    ],
)
def test_a_body_of_too_many_parts_is_refused_on_both_roads(message):
    body = {"messages": [message] * 20}
    assert parse(body).notes == []
    with patch.object(ingestion, "MAX_NODES", 50), patch.object(message_list, "MAX_NODES", 50):
        assert outcome(parse, body) == outcome(read_thoroughly, body)
        assert parse_json(json.dumps(body)) is None
        with pytest.raises(IngestError):
            parse(body)
