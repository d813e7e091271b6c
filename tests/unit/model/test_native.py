"""Opaque data goes back to its provider only in the shape in which the provider gives it out."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from legato.model import Dialect, HostedTool, Media, MediaKind, Text, Thinking, ToolCall
from legato.model.native import judge_native
from legato.transcript import Exchange

from builders import ai, calls, decisions, origin, talk, units, user

TEXT, THOUGHT, CALL, HOSTED = Text("so"), Thinking("hm"), ToolCall("read"), HostedTool("web_search")
PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text"}], "encrypted_content": "c2ln"}
SEARCH = {"type": "web_search_call", "id": "ws_1"}
RAN = {"type": "tool-call", "toolCallId": "1", "toolName": "search", "input": {}, "providerExecuted": True}
GAVE = {"type": "tool-result", "toolCallId": "1", "toolName": "search", "output": {"type": "json", "value": None}}
CODE = {"executableCode": {"code": "1"}}

SERVED: dict[str, Any] = {
    "toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {}, "type": "server_tool_use"}
}
CITED: dict[str, Any] = {
    "toolResult": {"toolUseId": "tooluse_9", "type": "nova_grounding_result", "content": [{"text": "x"}]}
}
WELL_FORMED: list[tuple[Dialect, Any, dict[str, Any]]] = [
    (Dialect.ANTHROPIC, TEXT, {"citations": [{"type": "page_location"}]}),
    (Dialect.ANTHROPIC, THOUGHT, {"signature": "c2ln"}),
    (Dialect.ANTHROPIC, THOUGHT, {"data": "c2ln"}),
    (Dialect.ANTHROPIC, CALL, {"caller": {"type": "code_execution_20250825"}}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [USE]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [USE, FOUND]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{**USE, "type": "mcp_tool_use", "id": "mcptoolu_1"}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{"type": "compaction", "content": "so far"}]}),
    (Dialect.GEMINI, CALL, {"thoughtSignature": "c2ln"}),
    (Dialect.GEMINI, PICTURE, {"thoughtSignature": "c2lnbg"}),
    (Dialect.GEMINI, HOSTED, {"parts": [{**CODE, "thoughtSignature": "c2ln"}, {"codeExecutionResult": {}}]}),
    (Dialect.GEMINI, HOSTED, {"groundingMetadata": {"webSearchQueries": []}}),
    (Dialect.OPENAI_RESPONSES, TEXT, {"phase": "commentary"}),
    (Dialect.OPENAI_RESPONSES, THOUGHT, {"item": REASONING}),
    (Dialect.OPENAI_RESPONSES, CALL, {"caller": {"type": "program"}}),
    (Dialect.OPENAI_RESPONSES, HOSTED, {"item": SEARCH}),
    (Dialect.OPENAI_CHAT, THOUGHT, {"chunk": True, "signature": "c2ln"}),
    (Dialect.OPENAI_CHAT, THOUGHT, {"reasoning_details": [{"type": "reasoning.encrypted"}]}),
    (Dialect.OPENAI_CHAT, CALL, {"extra_content": {"google": {"thought_signature": "c2ln"}}}),
    (Dialect.BEDROCK, THOUGHT, {"signature": "c2ln"}),
    (Dialect.BEDROCK, THOUGHT, {"data": "c2ln"}),
    (Dialect.BEDROCK, HOSTED, {"blocks": [SERVED, CITED]}),
    (Dialect.VERCEL, TEXT, {"providerOptions": {"openai": {"itemId": "msg_1"}}}),
    (Dialect.VERCEL, HOSTED, {"parts": [RAN, GAVE]}),
    (Dialect.VERCEL, HOSTED, {"parts": [{"type": "custom", "kind": "openai.compaction"}]}),
]


@pytest.mark.parametrize(("dialect", "block", "native"), WELL_FORMED)
def test_what_a_provider_gives_out_goes_back_as_it_came(dialect: Dialect, block: Any, native: dict[str, Any]) -> None:
    block = replace(block, native=native)
    judged, malformed = judge_native(block, dialect)
    assert judged is block
    assert malformed == ()


MALFORMED: list[tuple[Dialect, Any, dict[str, Any]]] = [
    (Dialect.ANTHROPIC, TEXT, {"citations": ["page 3"]}),
    (Dialect.ANTHROPIC, TEXT, {"citations": [{"cited_text": "x"}]}),
    (Dialect.ANTHROPIC, THOUGHT, {"signature": 5}),
    (Dialect.ANTHROPIC, THOUGHT, {"data": ""}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": "USE"}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": []}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [USE, "FOUND"]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{"content": "no type"}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{"type": ["text"]}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{"type": "text", "text": "one of ours"}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{**USE, "id": "toolu_1"}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{**USE, "input": None}]}),
    (Dialect.ANTHROPIC, HOSTED, {"blocks": [{**FOUND, "tool_use_id": None}]}),
    (Dialect.GEMINI, CALL, {"thoughtSignature": "not base64!"}),
    (Dialect.GEMINI, HOSTED, {"parts": [{"newKind": {}}]}),
    (Dialect.GEMINI, HOSTED, {"parts": [{**CODE, "codeExecutionResult": {}}]}),
    (Dialect.GEMINI, HOSTED, {"parts": [{"executableCode": "print(1)"}]}),
    (Dialect.OPENAI_RESPONSES, THOUGHT, {"item": {**REASONING, "summary": "text"}}),
    (Dialect.OPENAI_RESPONSES, THOUGHT, {"item": {**REASONING, "encrypted_content": None}}),
    (Dialect.OPENAI_RESPONSES, HOSTED, {"item": {"id": "ws_1"}}),
    (Dialect.OPENAI_RESPONSES, HOSTED, {"item": {**SEARCH, "id": 7}}),
    (Dialect.OPENAI_RESPONSES, HOSTED, {"item": {"type": "message", "role": "user", "content": "hi"}}),
    (Dialect.OPENAI_RESPONSES, HOSTED, {"item": {"type": "tool_search_call", "execution": "client"}}),
    (Dialect.OPENAI_CHAT, THOUGHT, {"reasoning_details": ["text"]}),
    (Dialect.OPENAI_CHAT, CALL, {"extra_content": "c2ln"}),
    (Dialect.BEDROCK, THOUGHT, {"data": 5}),
    (Dialect.BEDROCK, HOSTED, {"blocks": []}),
    (Dialect.BEDROCK, HOSTED, {"blocks": [{"toolUse": {**SERVED["toolUse"], "type": None}}]}),
    (Dialect.BEDROCK, HOSTED, {"blocks": [{"toolUse": {**SERVED["toolUse"], "toolUseId": "a b"}}]}),
    (Dialect.BEDROCK, HOSTED, {"blocks": [{"toolResult": {**CITED["toolResult"], "content": "x"}}]}),
    (Dialect.BEDROCK, HOSTED, {"blocks": [{**SERVED, **CITED}]}),
    (Dialect.VERCEL, TEXT, {"providerOptions": {"openai": "msg_1"}}),
    (Dialect.VERCEL, HOSTED, {"parts": [{**RAN, "providerExecuted": False}]}),
    (Dialect.VERCEL, HOSTED, {"parts": [{**GAVE, "output": {"type": "text", "value": 1}}]}),
    (Dialect.VERCEL, HOSTED, {"parts": [{**GAVE, "output": {"type": {}}}]}),
    (Dialect.VERCEL, HOSTED, {"parts": [{"type": "custom"}]}),
]


@pytest.mark.parametrize(("dialect", "block", "native"), MALFORMED)
def test_what_no_provider_gives_out_does_not_go_back(dialect: Dialect, block: Any, native: dict[str, Any]) -> None:
    assert judge_native(replace(block, native=native), dialect) == (block, tuple(native))


@pytest.mark.parametrize("native", [{"signature": "c2ln"}, {"unheard": "of"}])
def test_what_belongs_to_another_dialect_is_left_out_without_a_word(native: dict[str, Any]) -> None:
    assert judge_native(replace(THOUGHT, native=native), Dialect.GEMINI) == (THOUGHT, ())


def test_a_cache_mark_does_not_go_back_with_the_block_that_once_carried_it() -> None:
    marked = replace(HOSTED, native={"blocks": [USE, {**FOUND, "cache_control": {"type": "ephemeral"}}]})
    assert judge_native(marked, Dialect.ANTHROPIC) == (replace(HOSTED, native={"blocks": [USE, FOUND]}), ())


def test_a_signature_that_cannot_be_one_is_left_off_the_part() -> None:
    odd = replace(HOSTED, native={"parts": [{**CODE, "thoughtSignature": "not base64!"}]})
    assert judge_native(odd, Dialect.GEMINI) == (replace(HOSTED, native={"parts": [CODE]}), ())


def test_what_was_left_out_is_a_decision_about_its_call() -> None:
    gemini = origin("gemini/gemini-3-pro-preview")
    conversation = talk(user("go"), ai(replace(CALL, wire_id="a", native={"thoughtSignature": 5}), origin=gemini))
    (_, unit) = units(conversation)
    assert isinstance(unit, Exchange)
    assert unit.calls[0].native is None
    assert decisions(conversation)[0] == ("dropped", "malformed-native")


def test_a_record_goes_back_once_under_its_id() -> None:
    search = replace(HOSTED, native={"item": SEARCH})
    gpt = origin("openai-responses/gpt-5.1")
    conversation = talk(user("go"), ai(search, origin=gpt), calls("a"), ai(search, "done", origin=gpt))
    exchanges = [unit for unit in units(conversation) if isinstance(unit, Exchange)]
    kept = [block.native for unit in exchanges for block in unit.blocks if isinstance(block, HostedTool)]
    assert kept == [{"item": SEARCH}, None]
    assert ("deduped", "repeated-record") in decisions(conversation)
