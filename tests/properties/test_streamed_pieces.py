"""An event that only brings more of a block is read in a quicker way, which gives what the general one gives.

The events are those of whole answers, with fields changed, left out and added: all that the decoders look at, and a few
that nobody knows, with values of every kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from itertools import product
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dialect_support import make_target
from event_frames import events_of, framed
from legato.errors import BadAnswer
from legato.model import Answer, Dialect, Ending, Entry, JsonObject, NameRule, Speaker, Text, Thinking, ToolCall, Usage
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from legato.wire.stream import EventDecoder

ANSWER = Answer(
    Entry(
        Speaker.AI,
        (
            Thinking("I should look at both of these files first."),
            Text("Let me read them, one after the other: a, then b."),
            ToolCall("read", {"path": "the/first/of/the/two/files"}, "call_1"),
            ToolCall("read", {"path": "the/other/of/the/two/files"}, "call_2"),
        ),
        ending=Ending.CALLS,
    ),
    Usage(20, 9, 4, 2, 3),
    "model-1",
    "resp_1",
)


def decoder_of(dialect: Dialect) -> EventDecoder:
    return cast(EventDecoder, dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI)))


def general_decoder_of(dialect: Dialect) -> EventDecoder:
    decoder = decoder_of(dialect)
    decoder.grow = lambda piece: False
    return decoder


EVENTS: dict[Dialect, list[JsonObject]] = {
    dialect: events_of(b"".join(dialect_parts(dialect).reply_stream(ANSWER, "model-1")), dialect) for dialect in Dialect
}

NAMES = sorted(
    [
        "index",
        "type",
        "delta",
        "text",
        "thinking",
        "partial_json",
        "signature",
        "citation",
        "contentBlockIndex",
        "contentBlockDelta",
        "contentBlockStop",
        "toolUse",
        "input",
        "reasoningContent",
        "redactedContent",
        "choices",
        "message",
        "content",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "tool_calls",
        "function_call",
        "refusal",
        "images",
        "audio",
        "function",
        "arguments",
        "name",
        "id",
        "custom",
        "extra_content",
        "finish_reason",
        "usage",
        "error",
        "object",
        "x_groq",
        "model",
        "output_index",
        "content_index",
        "summary_index",
        "item_id",
        "item",
        "response",
        "candidates",
        "parts",
        "thought",
        "thoughtSignature",
        "thought_signature",
        "functionCall",
        "finishReason",
        "finish_reason",
        "usageMetadata",
        "usage_metadata",
        "promptFeedback",
        "prompt_feedback",
        "modelVersion",
        "model_version",
        "responseId",
        "groundingMetadata",
        "new",
        "new_name",
        "toolCallId",
        "inputTextDelta",
        "providerMetadata",
        "providerOptions",
        "providerExecuted",
        "toolName",
    ]
)
KINDS = [
    "text_delta",
    "thinking_delta",
    "input_json_delta",
    "signature_delta",
    "content_block_delta",
    "content_block_stop",
    "chat.completion.chunk",
    "error",
    "custom",
    "function",
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_text.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "text-delta",
    "text-end",
    "reasoning-delta",
    "tool-input-delta",
    "tool-call",
    "stop",
    "STOP",
    "call_1",
    "call_2",
    "0",
]
NUMBERS = [0, 1, 2, 3, -1, True, False, 1.0, 0.0, 2**63, 10**30]
VALUES = st.one_of(
    st.none(),
    st.sampled_from(["", "more", "a\0b", "half \ud83c", '{"path": "x"}', "é" * 3]),
    st.sampled_from(KINDS),
    st.sampled_from(NUMBERS),
    st.sampled_from(
        [
            [],
            {},
            [{}],
            ["more"],
            [{"text": "more"}, {"text": "more"}],
            {"text": "more"},
            {"type": "text_delta", "text": "more"},
            {"type": "input_json_delta", "partial_json": "more"},
            {"input": "more"},
            {"arguments": "more"},
            {"name": "read", "arguments": "{}"},
            [{"index": 0, "function": {"arguments": "more"}}],
            [{"index": 1, "function": {"arguments": "more"}}],
            {"index": 0, "delta": {"content": "more"}},
            {"message": "no"},
            {"prompt_tokens": 3, "completion_tokens": 4},
            {"promptTokenCount": 3, "candidatesTokenCount": 4},
            {"acme": {"signature": "c2ln"}},
        ]
    ),
)

PLAIN = (None, "", "more", 1, True, {}, {"text": "more"}, [{"text": "more"}])
TELLING: dict[str, tuple[Any, ...]] = {  # what a field has to hold for some decoder to look at it
    "index": (*PLAIN, 0, 2, 1.0, 2**63),
    "output_index": (*PLAIN, 0, 2, 1.0, 2**63),
    "content_index": (*PLAIN, 0, 2, 1.0),
    "object": (*PLAIN, "error"),
    "finish_reason": (*PLAIN, "stop", "error"),
    "finishReason": (*PLAIN, "STOP", "FINISH_REASON_UNSPECIFIED"),
    "function_call": (*PLAIN, {"name": "read", "arguments": "{}"}),
    "images": (*PLAIN, [{"image_url": {"url": "https://acme.example/a.png"}}]),
    "audio": (*PLAIN, {"transcript": "more"}),
    "x_groq": (*PLAIN, {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    "providerMetadata": (*PLAIN, {"acme": {"signature": "c2ln"}}),
    "providerOptions": (*PLAIN, {"acme": {"signature": "c2ln"}}),
}

Change = tuple[str, int, str, Any]
"""what to do, at which of the objects in an event, to which field, with which value"""

CHANGES = st.lists(
    st.tuples(st.sampled_from(["set", "known", "drop"]), st.integers(0, 9), st.sampled_from(NAMES), VALUES), max_size=3
)


def objects(value: Any) -> list[JsonObject]:
    """`value` and all objects in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [cast(JsonObject, value)] if isinstance(value, dict) else []
    return own + [found for item in cast("Any", inner) for found in objects(item)]


def changed(event: JsonObject, changes: list[Change]) -> JsonObject:
    event = json.loads(json.dumps(event))
    for what, number, name, value in changes:
        held = objects(event)
        holder = held[number % len(held)]
        if what == "known" and holder:  # a field that is there
            name = list(holder)[number % len(holder)]
        if what == "drop" and holder:
            del holder[list(holder)[number % len(holder)]]
        else:
            holder[name] = deepcopy(value)
    return event


def said(run: Callable[[], Any]) -> Any:
    """What `run` gives, or how it fails."""
    try:
        return run()
    except BadAnswer as error:
        return error.message, error.facts
    except Exception as error:  # which a request's decoder turns into a `BadAnswer`
        return type(error), str(error)


def assert_alike(dialect: Dialect, packets: list[bytes]) -> None:
    quick, general = decoder_of(dialect), general_decoder_of(dialect)
    for packet in packets:
        assert said(lambda data=packet: quick.feed(data)) == said(lambda data=packet: general.feed(data))
    assert said(quick.partial) == said(general.partial)
    assert said(quick.finish) == said(general.finish)
    assert (quick.usage, quick.served, quick.response_id) == (general.usage, general.served, general.response_id)


@pytest.mark.parametrize("dialect", Dialect)
@given(
    news=st.lists(st.tuples(st.integers(0, 99), CHANGES), max_size=6),
    skipped=st.sets(st.integers(0, 30), max_size=3),
)
@example([], set())
def test_an_event_that_is_read_quickly_gives_what_the_general_way_gives(
    dialect: Dialect, news: list[tuple[int, list[Change]]], skipped: set[int]
) -> None:
    events = [event for at, event in enumerate(EVENTS[dialect]) if at not in skipped]
    for place, changes in news:
        at = place % len(events)
        events.insert(at, changed(events[at], changes))
    assert_alike(dialect, [framed(event, dialect) for event in events])


@pytest.mark.parametrize("dialect", Dialect)
def test_no_single_field_makes_a_piece_of_what_is_more_than_one(dialect: Dialect) -> None:
    written = [framed(event, dialect) for event in EVENTS[dialect]]
    pieces = decoder_of(dialect).pieces
    assert pieces is not None
    taken = dict[Any, int]()  # by type and fields, the last event of each kind that is a piece
    for at, event in enumerate(EVENTS[dialect]):
        try:
            pieces.decode(json.dumps(event))
        except ValueError:
            continue
        taken[event.get("type"), frozenset(name for held in objects(event) for name in held)] = at
    assert taken
    for at in taken.values():
        for number, name in product(range(len(objects(EVENTS[dialect][at]))), NAMES):
            for value in TELLING.get(name, PLAIN):
                event = changed(EVENTS[dialect][at], [("set", number, name, value)])
                assert_alike(dialect, [b"".join(written[: at + 1]), framed(event, dialect), written[at]])


def test_the_id_of_a_call_may_come_late() -> None:
    fragments = ({"function": {"name": "read", "arguments": "{"}}, {"id": "call_9", "function": {"arguments": "}"}})
    deltas = [{"tool_calls": [{"index": 0, **fragment}]} for fragment in fragments]
    events = [{"id": "r", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"id": "r", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    assert_alike(Dialect.OPENAI_CHAT, [framed(event, Dialect.OPENAI_CHAT) for event in events])


@pytest.mark.parametrize(
    ("dialect", "kind", "changes"),
    [
        (Dialect.VERCEL, "text-delta", {"delta": "", "text": "more"}),
        (Dialect.VERCEL, "tool-input-delta", {"delta": "", "inputTextDelta": "more"}),
        (Dialect.VERCEL, "tool-input-delta", {"toolCallId": "call_1", "id": "call_2"}),
        (Dialect.OPENAI_RESPONSES, "response.output_text.delta", {"output_index": None, "item_id": "more"}),
    ],
)
def test_no_two_fields_make_a_piece_of_what_is_more_than_one(dialect: Dialect, kind: str, changes: JsonObject) -> None:
    at = max(at for at, event in enumerate(EVENTS[dialect]) if event["type"] == kind)
    written = [framed(event, dialect) for event in EVENTS[dialect][: at + 1]]
    assert_alike(dialect, [b"".join(written), framed(EVENTS[dialect][at] | changes, dialect), written[at]])


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a","text":"b"},"index":1}',
        '{"type":"content_block_delta","type":"ping","index":1,"delta":{"type":"text_delta","text":"a"}}',
        '{"type":"ping","type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}',
        '{"delta":{"text":"a","type":"text_delta"},"index":1,"type":"content_block_delta"}',
        '{"index":1,"delta":{"text":"a","type":"text_delta"}}',
        '{"type":"content_block_delta","index":1,"delta":{"text":"a"}}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\\ud83c"}}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\\u0000\\ud83c\\udfbc"}}',
        '\ufeff{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}} ',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}{}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"},}',
        '{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"a"}}',
        '{"type":"content_block_delta","index":1e0,"delta":{"type":"text_delta","text":"a"}}',
        '{"type":"content_block_delta","index":1,"new":' + "[" * 3000 + "]" * 3000 + ',"delta":{}}',
        '["content_block_delta"]',
        "[DONE]",
        "null",
    ],
)
def test_json_that_is_written_oddly_is_read_alike(text: str) -> None:
    begun = [framed(event, Dialect.ANTHROPIC) for event in EVENTS[Dialect.ANTHROPIC][:-6]]
    assert_alike(Dialect.ANTHROPIC, [*begun, f"data: {text}\n\n".encode()])


@pytest.mark.parametrize("dialect", Dialect)
def test_most_events_of_an_answer_are_read_quickly(dialect: Dialect) -> None:
    answer = Answer(Entry(Speaker.AI, (Text("word " * 500), ToolCall("read", {"path": "x" * 500}, "call_1"))))
    events = events_of(b"".join(dialect_parts(dialect).reply_stream(answer, "model-1")), dialect)
    decoder, general = decoder_of(dialect), list[bytes]()
    read = decoder._read
    decoder._read = lambda data: (general.append(data), read(data))[1]
    for event in events:
        decoder.feed(framed(event, dialect))
    assert len(general) < 0.2 * len(events)
