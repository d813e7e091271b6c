"""Whatever JSON comes in, the readers of these two dialects answer, or raise an error of ours."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialect_support import make_target
from legato.errors import LegatoError
from legato.model import Dialect, Entry, JsonObject, NameRule
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable

DIALECTS = [Dialect.OPENAI_RESPONSES, Dialect.VERCEL]

FIELDS = [
    "type",
    "role",
    "content",
    "input",
    "messages",
    "tools",
    "tool_choice",
    "toolChoice",
    "reasoning",
    "output",
    "summary",
    "text",
    "refusal",
    "arguments",
    "name",
    "call_id",
    "id",
    "item",
    "item_id",
    "output_index",
    "content_index",
    "delta",
    "response",
    "status",
    "error",
    "incomplete_details",
    "usage",
    "encrypted_content",
    "toolCallId",
    "toolName",
    "value",
    "data",
    "image",
    "url",
    "mediaType",
    "providerMetadata",
    "providerOptions",
    "providerExecuted",
    "finishReason",
    "result",
    "execution",
    "phase",
    "namespace",
    "caller",
    "image_url",
    "file_data",
    "instructions",
    "system",
    "prompt",
    "approvalId",
    "approved",
    "reason",
    "parts",
    "model",
]

WORDS = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "shell_call",
    "shell_call_output",
    "computer_call",
    "computer_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "item_reference",
    "additional_tools",
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "refusal",
    "function",
    "custom",
    "namespace",
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "text",
    "image",
    "file",
    "tool-call",
    "tool-result",
    "tool-error",
    "json",
    "error-text",
    "error-json",
    "content",
    "execution-denied",
    "tool-approval-request",
    "tool-approval-response",
    "completed",
    "incomplete",
    "failed",
    "client",
    "none",
    "auto",
    "required",
    "stop",
    "length",
    "error",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.completed",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.incomplete",
    "response.failed",
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-delta",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-available",
    "tool-output-available",
    "tool-output-error",
    "finish",
    "finish-step",
    "c1",
    "c2",
    "0",
]

LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(WORDS),
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.sampled_from(["", "{}", '{"a":1}', "[1", '"x"', "data:image/png;base64,aGk=", "\ud800", 1.5]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=8)),
    max_leaves=25,
)
BODIES: st.SearchStrategy[JsonObject] = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=BODIES)
def test_any_request_body_is_parsed(dialect: Dialect, body: JsonObject) -> None:
    for entry in dialect_parts(dialect).parse(body).entries:
        assert isinstance(entry, Entry)
        assert entry.blocks


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=BODIES)
def test_any_response_body_is_an_answer_or_a_bad_one(dialect: Dialect, body: JsonObject) -> None:
    with contextlib.suppress(LegatoError):
        dialect_parts(dialect).decode(body, make_target(dialect), NameTable(NameRule.OPENAI))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(events=st.lists(BODIES, max_size=6))
def test_any_events_are_an_answer_or_a_bad_one(dialect: Dialect, events: list[JsonObject]) -> None:
    reader = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    with contextlib.suppress(LegatoError):
        for event in events:
            reader.event(event)
        reader.finish()
    reader.partial()
