"""What LiteLLM puts beside chat messages, and what the Agents SDK and ADK make of it, read back as what it is."""

from __future__ import annotations

from typing import Any

from legato.formats.chat.messages import ChatReader
from legato.formats.chat.sealed import read_thinking_blocks, write_thinking_blocks
from legato.formats.draft import DocumentDraft
from legato.formats.google_adk import read_events
from legato.formats.openai_agents.reading import read_items
from legato.model import Block, Text, Thinking, ToolCall, ToolResponse

SIGNED = Thinking("hm", native={"signature": "c2ln"})
SEALED = Thinking(native={"data": "c2VhbA=="})
BLOCKS: list[Any] = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2VhbA=="},
]


def blocks(*messages: dict[str, Any]) -> list[Block]:
    draft = DocumentDraft("chat")
    reader = ChatReader(draft)
    for index, message in enumerate(messages):
        reader.message(message, f"[{index}]")
    return [block for entry in draft.finish(digest="").entries for block in entry.blocks]


def test_thinking_blocks_are_thoughts_both_ways() -> None:
    assert read_thinking_blocks(BLOCKS) == [SIGNED, SEALED]
    assert write_thinking_blocks([SIGNED, SEALED, Thinking("unsigned")]) == BLOCKS


def test_thinking_blocks_say_what_reasoning_content_says_and_more() -> None:
    message = {"role": "assistant", "content": "yes", "reasoning_content": "hm", "thinking_blocks": BLOCKS}
    assert blocks(message) == [SIGNED, SEALED, Text("yes")]
    assert blocks({"role": "assistant", "content": "yes", "reasoning_content": "hm"}) == [Thinking("hm"), Text("yes")]


def test_a_signature_of_gemini_is_found_in_the_fields_and_in_the_id_of_a_call() -> None:
    function = {"name": "read", "arguments": "{}"}
    call = ToolCall("read", {}, "call_1", native={"thoughtSignature": "c2ln"})
    in_field = {"id": "call_1", "function": function, "provider_specific_fields": {"thought_signature": "c2ln"}}
    in_id = {"id": "call_1__thought__c2ln", "function": function}
    result = {"role": "tool", "tool_call_id": "call_1__thought__c2ln", "content": "done"}
    for made in (in_field, in_id):
        read = blocks({"role": "assistant", "content": None, "tool_calls": [made]}, result)
        assert read[0] == call
        assert isinstance(read[1], ToolResponse)
        assert read[1].wire_id == "call_1"


def test_items_of_the_agents_sdk_that_name_a_model_are_answers_of_it() -> None:
    data = {"model": "anthropic/claude-sonnet-4-5", "thinking_blocks": BLOCKS}
    items: list[Any] = [
        {"type": "reasoning", "id": "__fake_id__", "summary": [], "provider_data": data},
        {"type": "function_call", "call_id": "toolu_1", "name": "read", "arguments": "{}", "provider_data": data},
    ]
    document = read_items(items)
    assert [block for entry in document.entries for block in entry.blocks][:2] == [SIGNED, SEALED]
    assert {(entry.origin.provider, entry.origin.asked) for entry in document.entries if entry.origin} == {
        ("anthropic", "claude-sonnet-4-5")
    }


def test_a_signature_in_an_event_of_adk_belongs_to_the_model_of_the_event() -> None:
    part = {"text": "hm", "thought": True, "thoughtSignature": "c2ln"}
    thoughts = [
        read_events([{"author": "a", "content": {"role": "model", "parts": [part]}, "modelVersion": model}]).entries
        for model in ("claude-sonnet-4-5", "gemini-3-pro-preview", "gpt-4.1")
    ]
    assert [entries[0].blocks[0].native for entries in thoughts] == [
        {"signature": "c2ln"},
        {"thoughtSignature": "c2ln"},
        None,
    ]
