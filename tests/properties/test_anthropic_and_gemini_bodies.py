"""Whatever the units and whatever the target takes: the body breaks no rule, and what was said can be read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from block_support import accepted_by_anthropic, accepted_by_gemini, assemble, claude, context_for, gemini
from legato.model import (
    Authority,
    CallId,
    ClosureReason,
    Code,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Origin,
    Target,
    Text,
    Thinking,
    ThinkingMode,
    ToolCall,
    ToolResponse,
)
from legato.transcript.units import Completion, CompletionKind, Exchange, Said, Summary, Unit, completion_text
from legato.wire.anthropic import DIALECT as ANTHROPIC
from legato.wire.contract import DialectParts
from legato.wire.gemini import DIALECT as GEMINI

SIGNATURE = "CokDAb4+9vue"
WORDS = st.sampled_from(["hello", "two\nlines", "ü😀", "ends in space "])
MEDIA = st.sampled_from(
    [
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
        Media(MediaKind.IMAGE, "image/jpeg", url="https://a.example/i.jpg"),
        Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf"),
        Media(MediaKind.AUDIO, "audio/wav", data="aGk="),
        Media(MediaKind.VIDEO, "video/mp4", url="file:///v.mp4"),
    ]
)
USE: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
RAN: JsonObject = {"executableCode": {"language": "PYTHON", "code": "1"}}
ENDED: JsonObject = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
NATIVES: list[JsonObject | None] = [
    None,
    {"signature": "sig"},
    {"data": "secret"},
    {"thoughtSignature": SIGNATURE},
    {"thoughtSignature": "no base64!"},
]


def hosted(*blocks: JsonObject, under: str) -> HostedTool:
    return HostedTool("web_search", {"query": "q"}, "found", "srvtoolu_1", native={under: list(blocks)})


WAITING = hosted(USE, under="blocks")
HOSTED = st.sampled_from(
    [
        hosted(USE, FOUND, under="blocks"),
        WAITING,
        hosted(RAN, ENDED, under="parts"),
        HostedTool("search", {}, [1]),
    ]
)


@st.composite
def completions(draw: st.DrawFn, call_id: CallId) -> Completion:
    media = tuple(draw(st.lists(MEDIA, max_size=2)))
    return draw(
        st.sampled_from(
            [
                Completion(call_id, CompletionKind.SUCCESS, "fine", media=media),
                Completion(call_id, CompletionKind.SUCCESS, {"n": 1}),
                Completion(call_id, CompletionKind.SUCCESS, ""),
                Completion(call_id, CompletionKind.ERROR, error="broke", media=media),
                Completion(call_id, CompletionKind.ERROR, error=""),
                Completion(call_id, CompletionKind.CANCELLED, reason=ClosureReason.DENIED, said="no"),
                Completion(call_id, CompletionKind.SYNTHETIC, reason=ClosureReason.INTERRUPTED),
            ]
        )
    )


@st.composite
def exchanges(draw: st.DrawFn, key: int, origin: Origin) -> Exchange:
    kinds = draw(st.lists(st.sampled_from("ttkkcchmx"), min_size=1, max_size=7))
    blocks: list[Any] = []
    for index, kind in enumerate(kinds):
        match kind:
            case "t":
                text = Text(draw(WORDS), native=draw(st.sampled_from(NATIVES)))
                blank = Text(draw(st.sampled_from(["", " "])), native={"thoughtSignature": SIGNATURE})
                blocks.append(draw(st.sampled_from([text, text, blank])))
            case "k":
                thought = draw(st.sampled_from(["", "hm"]))
                blocks.append(Thinking(thought, native=draw(st.sampled_from(NATIVES))))
            case "c":
                name = draw(st.sampled_from(["read", "fs.read", "2+2", "n" * 150]))
                arguments = draw(st.sampled_from([{}, {"path": "a"}]))
                native = draw(st.sampled_from(NATIVES))
                raw = draw(st.sampled_from([None, None, "[1]"]))
                blocks.append(ToolCall(name, arguments, "w", CallId(f"{key}_{index}"), raw=raw, native=native))
            case "h":
                blocks.append(draw(HOSTED))
            case "m":
                blocks.append(draw(MEDIA))
            case _:
                blocks.append(Code("1 + 1", "python"))
    ended = tuple(draw(completions(block.id)) for block in blocks if isinstance(block, ToolCall))
    return Exchange(key, tuple(blocks), ended, draw(st.sampled_from([None, origin])))


@st.composite
def units(draw: st.DrawFn, origin: Origin) -> list[Unit]:
    found: list[Unit] = []
    for key, kind in enumerate(draw(st.lists(st.sampled_from("seeey"), min_size=1, max_size=6))):
        match kind:
            case "s":
                blocks = draw(st.lists(st.one_of(WORDS.map(Text), MEDIA), min_size=1, max_size=3))
                found.append(Said(key, tuple(blocks), draw(st.sampled_from(Authority))))
            case "e":
                found.append(draw(exchanges(key, origin)))
            case _:
                found.append(Summary(key, "so far"))
    return [
        _told(unit) if _is_interrupted(unit, after) else unit
        for unit, after in zip(found, [*found[1:], None], strict=True)
    ]


def _is_interrupted(unit: Unit, after: Unit | None) -> bool:
    """Whether something follows an answer in which the provider's own tool still waits for its result."""
    return isinstance(unit, Exchange) and WAITING in unit.blocks and after is not None


def _told(unit: Unit) -> Unit:
    """The unit as it is composed from a log then: the tool was never done, so its provider gets no record of it."""
    assert isinstance(unit, Exchange)
    blocks = tuple(replace(block, native=None) if block == WAITING else block for block in unit.blocks)
    return replace(unit, blocks=blocks)


CLAUDES = [
    claude(),
    claude(thinking=ThinkingMode.ADAPTIVE, images=False),
    claude(prefill=True, thinking=ThinkingMode.BUDGET),
    claude(prefill=True),
    claude(max_calls=1, result_images=False),
    claude(text_beside_calls=False, documents=False),
    claude(native_tool_history=False),
]
GEMINIS = [
    gemini(),
    gemini(call_signatures=False, call_ids=False, result_images=True),
    gemini(prefill=True, images=False),
    gemini(max_calls=1, audio=False),
    gemini(text_beside_calls=False),
    gemini(native_tool_history=False),
]
HABITS = {
    "anthropic/id-habit",
    "anthropic/loop-without-thinking",
    "anthropic/thinking-while-off",
    "anthropic/ends-on-answer",
}
"""what the ids of these tests break, what a request decides as a whole (two of them), and what prefill allows"""


def broken(dialect: DialectParts, body: JsonObject, target: Target) -> list[str]:
    return [found.rule for found in dialect.check(body, target) if found.rule not in HABITS]


@given(st.data())
@pytest.mark.req("REQ-915-005", "REQ-915-006")
def test_a_body_for_claude_breaks_no_rule(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(CLAUDES))
    given_units = data.draw(units(target.origin("served")))
    thinks = target.capabilities.thinking is not ThinkingMode.NEVER and data.draw(st.booleans())
    context = context_for(target, foreign=data.draw(st.sampled_from(Foreign)), thinking_on=thinks)
    body, _ = assemble(ANTHROPIC, given_units, context)
    if body["messages"]:
        accepted_by_anthropic(body)
        assert broken(ANTHROPIC, body, target) == []
        read_back(ANTHROPIC, body, given_units, target, context.names.project)


@given(st.data())
@pytest.mark.req("REQ-915-005", "REQ-915-006")
def test_a_body_for_gemini_breaks_no_rule(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(GEMINIS))
    given_units = data.draw(units(target.origin("served")))
    context = context_for(target, foreign=data.draw(st.sampled_from(Foreign)))
    body, _ = assemble(GEMINI, given_units, context)
    if body["contents"]:
        accepted_by_gemini(body)
        assert broken(GEMINI, body, target) == []
        read_back(GEMINI, body, given_units, target, context.names.project)


def read_back(
    dialect: DialectParts, body: JsonObject, given_units: list[Unit], target: Target, project: Callable[[str], str]
) -> None:
    """Calls and results come back as they were, and nothing is noted."""
    parsed = dialect.parse(body)
    assert parsed.notes == []
    if not target.capabilities.native_tool_history:
        return
    exchanged = [unit for unit in given_units if isinstance(unit, Exchange)]
    calls = [(project(call.name), call.arguments, call.raw) for unit in exchanged for call in unit.calls]
    blocks = [block for entry in parsed.entries for block in entry.blocks]
    read = [(block.name, block.arguments, block.raw) for block in blocks if isinstance(block, ToolCall)]
    assert read == [(name, {} if raw else arguments, raw) for name, arguments, raw in calls]
    ended = [done for unit in exchanged for done in unit.completions if not done.media]
    answers = {block.wire_id: block for block in blocks if isinstance(block, ToolResponse)}
    for done in ended:
        answer = answers[f"call_{done.call_id}"] if target.capabilities.call_ids else None
        if answer is None:
            continue
        assert (answer.reason, answer.said) == (done.reason, done.said)
        if done.kind is CompletionKind.SUCCESS:
            assert answer.result in (done.result, completion_text(done))
        elif done.kind is CompletionKind.ERROR:
            assert answer.error == (done.error if done.error and done.error.strip() else "")


@given(st.data())
@pytest.mark.parametrize(("dialect", "target"), [(ANTHROPIC, claude()), (GEMINI, gemini())])
def test_a_longer_conversation_keeps_its_printed_prefix(
    dialect: DialectParts, target: Target, data: st.DataObject
) -> None:
    given_units = data.draw(units(target.origin("served")))
    whole, part = (_pairs(dialect, some, target) for some in (given_units, given_units[:-1]))
    assert whole[: len(part)] == part


def _pairs(dialect: DialectParts, some: list[Unit], target: Target) -> list[tuple[str, JsonObject]]:
    context = context_for(target)
    body, decisions = assemble(dialect, some, context)
    field = dialect.blocks_field or "parts"
    printed = [(item["role"], block) for item in body[dialect.messages_field] for block in item[field]]
    return printed[:-1] if any(decision.reason == "tail" for decision in decisions) else printed
