"""Answers of any kind, for tests of what writes and reads them."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st
from msgspec.structs import replace

from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.arguments import read_arguments

NATIVES = (
    None,
    {"signature": "c2ln"},
    {"data": "c2ln"},
    {"thoughtSignature": "c2ln"},
    {"refusal": True},
    {"chunk": True, "signature": "c2ln"},
    {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}]},
    {"phase": "commentary"},
    {"caller": {"type": "program", "caller_id": "call_p"}},
    {"extra_content": {"google": {"thought_signature": "c2ln"}}},
    {"providerOptions": {"acme": {"signature": "c2ln"}}},
)
TEXTS = st.text(st.sampled_from(["a", " ", "ü", "🎼", '"', "\\", "\n", "{", "é"]), min_size=1, max_size=40)
NATIVE = st.sampled_from(NATIVES)
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "k"]), TEXTS | st.integers(-9, 9) | st.none(), max_size=2)


def broken_call(raw: str) -> ToolCall:
    return ToolCall("read", raw=raw, finished=read_arguments(raw).finished)


def custom_call(text: str, native: JsonObject | None) -> ToolCall:
    return ToolCall("sql", {"input": text}, kind=CallKind.CUSTOM, native=native)


def encrypted(text: str) -> Thinking:
    summary = [{"type": "summary_text", "text": text}]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2ln"}
    return Thinking(text, native={"item": item})


CALLS = st.builds(ToolCall, st.sampled_from(["read", "list"]), ARGUMENTS, native=NATIVE) | st.builds(
    broken_call, st.sampled_from(["[1]", '{"path": "x', '{"path": oops}'])
)
CUSTOM_CALLS = st.builds(custom_call, TEXTS, NATIVE)
SPOKEN = st.builds(Text, TEXTS, native=NATIVE) | st.builds(Thinking, TEXTS, native=NATIVE) | st.builds(encrypted, TEXTS)
OTHERS = st.sampled_from(
    [
        Thinking(native={"data": "c2ln"}),
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
        Code("ls", "sh"),
        HostedTool("web_search", {"q": "x"}, "found", "ws_1"),
        HostedTool(
            "web_search",
            {"query": "q"},
            [],
            "srvtoolu_1",
            native={
                "blocks": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                ]
            },
        ),
        HostedTool("web_search", wire_id="ws_1", native={"item": {"type": "web_search_call", "id": "ws_1"}}),
    ]
)


def answer_of(blocks: Iterable[Block], ending: Ending | None = None) -> Answer:
    named: list[Block] = []
    for place, block in enumerate(blocks):
        if isinstance(block, ToolCall):
            named.append(replace(block, wire_id=f"call_{place}"))
        elif not isinstance(block, HostedTool) or not any(isinstance(other, HostedTool) for other in named):
            named.append(block)  # one hosted tool, because two would share their id
    asks = any(isinstance(block, ToolCall) for block in named)
    entry = Entry(Speaker.AI, tuple(named), ending=ending or (Ending.CALLS if asks else Ending.DONE))
    return Answer(entry, Usage(20, 9, 4, 2, 3), "model-1", "resp_1")


ENDINGS = st.sampled_from([None, None, None, Ending.LENGTH, Ending.REFUSED])
ANSWERS = st.builds(answer_of, st.lists(SPOKEN | CALLS | CUSTOM_CALLS | OTHERS, min_size=1, max_size=5), ENDINGS)
PLAIN_ANSWERS = st.builds(answer_of, st.lists(SPOKEN | CALLS, min_size=1, max_size=5))
