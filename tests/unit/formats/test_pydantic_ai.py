"""Pydantic AI: every kind of part that a history holds, and histories that its adapter validates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.formats import detect, read, write
from legato.formats.format import Outgoing
from legato.formats.pydantic_ai.reading import read_messages
from legato.formats.pydantic_ai.write import write_messages
from legato.model import (
    Authority,
    ClosureReason,
    Ending,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from session_files import PYDANTIC_AI, whole

from builders import ai, call, instruction, origin, response, talk, thought, tool, user

IMAGE = Media(MediaKind.IMAGE, "image/png", data="+/AA")
BINARY = {"data": "-_AA", "media_type": "image/png", "vendor_metadata": None, "kind": "binary", "identifier": "4a5eb7"}
"""bytes as version 2.66.0 writes them: in the alphabet for URLs, under a name that is made of them"""


def request(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parts": list(parts), "instructions": None, "kind": "request", "run_id": None, **fields}


def answered(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    named = {"model_name": "claude-sonnet-4-5", "provider_name": "anthropic"}
    return {"parts": list(parts), **named, "kind": "response", "finish_reason": None, "state": "complete", **fields}


def part(kind: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"content": content, "part_kind": kind, **fields}


def returned(content: Any, outcome: str = "success", **fields: Any) -> dict[str, Any]:
    return part("tool-return", content, tool_name="ls", tool_call_id="c1", outcome=outcome, **fields)


def blocks_of(*messages: dict[str, Any]) -> list[tuple[Any, ...]]:
    document = read_messages(messages)
    assert document.notes == []
    return [entry.blocks for entry in document.entries]


def test_a_history_is_recognised_and_read() -> None:
    assert detect(PYDANTIC_AI).reason == "requests and responses with parts of a part_kind"
    document = read(PYDANTIC_AI)
    own = origin("anthropic/claude-sonnet-4-5")
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("You are careful."),), authority=Authority.INSTRUCTION),
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(
            Speaker.AI,
            (
                Thinking("I look", native={"signature": "c2ln"}),
                Text("Looking."),
                ToolCall("ls", {"path": "."}, "toolu_1"),
            ),
            document.entries[2].origin,
        ),
        Entry(
            Speaker.TOOL, (ToolResponse(wire_id="toolu_1", tool_name="ls", result="a.txt\nb.txt", is_complete=True),)
        ),
        Entry(Speaker.AI, (Text("Two files."),), document.entries[2].origin),
    ]
    assert document.entries[2].origin is not None
    assert document.entries[2].origin.dialect == own.dialect
    assert document.route == "anthropic/claude-sonnet-4-5"
    assert document.places == ["[0]", "[0]", "[1]", "[2]", "[3]"]


def test_prompts_hold_words_and_media() -> None:
    content = [
        "Look",
        BINARY,
        {**BINARY, "identifier": "a.png"},
        {
            "url": "https://x.test/a.pdf",
            "kind": "document-url",
            "media_type": "application/pdf",
            "identifier": "fb53c8",
        },
        {"url": "https://x.test/a", "kind": "image-url"},
        {"content": "tagged", "metadata": 1, "kind": "text-content"},
        {"kind": "cache-point", "ttl": "5m"},
    ]
    assert blocks_of(request(part("user-prompt", content))) == [
        (
            Text("Look"),
            IMAGE,
            Media(MediaKind.IMAGE, "image/png", data="+/AA", name="a.png"),
            Media(MediaKind.DOCUMENT, "application/pdf", url="https://x.test/a.pdf"),
            Media(MediaKind.IMAGE, "image/*", url="https://x.test/a"),
            Text("tagged"),
        )
    ]


@pytest.mark.parametrize(
    ("given", "came"),
    [
        (returned("ok"), ToolResponse(wire_id="c1", tool_name="ls", result="ok", is_complete=True)),
        (returned({"a": [1]}), ToolResponse(wire_id="c1", tool_name="ls", result={"a": [1]}, is_complete=True)),
        (returned(["a", 1]), ToolResponse(wire_id="c1", tool_name="ls", result=["a", 1], is_complete=True)),
        (
            returned(["seen", BINARY, {"n": 1}]),
            ToolResponse(wire_id="c1", tool_name="ls", result='seen\n{"n":1}', is_complete=True, media=(IMAGE,)),
        ),
        (returned("no", "failed"), ToolResponse(wire_id="c1", tool_name="ls", error="no", is_complete=True)),
        (returned("again", "retried"), ToolResponse(wire_id="c1", tool_name="ls", error="again", is_complete=True)),
        (
            returned("not now", "denied"),
            ToolResponse(wire_id="c1", tool_name="ls", reason=ClosureReason.DENIED, said="not now"),
        ),
        (
            returned("stopped", "interrupted"),
            ToolResponse(wire_id="c1", tool_name="ls", reason=ClosureReason.INTERRUPTED, said="stopped"),
        ),
        (
            part("retry-prompt", [{"type": "missing"}], tool_name="ls", tool_call_id="c1"),
            ToolResponse(wire_id="c1", tool_name="ls", error='[{"type":"missing"}]', is_complete=True),
        ),
    ],
)
def test_the_outcome_says_how_a_call_ended(given: dict[str, Any], came: ToolResponse) -> None:
    assert blocks_of(request(given)) == [(came,)]


def test_what_a_person_says_beside_results_comes_behind_them() -> None:
    asked = request(
        part("system-prompt", "S"), returned("ok"), part("user-prompt", "and?"), part("retry-feedback", "no")
    )
    assert [(entry.speaker, entry.authority, entry.text) for entry in read_messages([asked]).entries] == [
        (Speaker.HUMAN, Authority.INSTRUCTION, "S"),
        (Speaker.TOOL, Authority.PERSON, ""),
        (Speaker.HUMAN, Authority.PERSON, "and?no"),
    ]


def test_the_instructions_that_hold_last_are_carried() -> None:
    said = part("user-prompt", "x")
    document = read_messages([request(said, instructions="one"), request(said), request(said, instructions="two")])
    assert document.system == "two"
    assert [note.place for note in document.notes] == ["[2]"]
    assert read_messages([request(said, instructions="one")] * 2).notes == []


def test_calls_of_a_response_are_read_in_their_place() -> None:
    parts = [
        part("tool-call", tool_name="a", args='{"x":1}', tool_call_id="1"),
        part("text", "between"),
        part("tool-call", tool_name="b", args='{"x":', tool_call_id="2"),
        part("tool-call", tool_name="c", args=None, tool_call_id="3"),
        part("builtin-tool-call", tool_name="web_search", args={"q": "x"}, tool_call_id="w"),
        part("builtin-tool-return", {"r": 1}, tool_name="web_search", tool_call_id="w"),
        part("builtin-tool-return", "late", tool_name="code", tool_call_id="gone"),
        part("file", BINARY),
        part("speech", speaker="assistant", transcript="aloud", audio={**BINARY, "media_type": "audio/wav"}),
    ]
    assert blocks_of(answered(*parts)) == [
        (
            ToolCall("a", {"x": 1}, "1"),
            Text("between"),
            ToolCall("b", {}, "2", raw='{"x":', finished=False),
            ToolCall("c", {}, "3"),
            HostedTool("web_search", {"q": "x"}, {"r": 1}, "w"),
            HostedTool("code", result="late", wire_id="gone"),
            IMAGE,
            Text("aloud"),
            Media(MediaKind.AUDIO, "audio/wav", data="+/AA"),
        )
    ]


@pytest.mark.parametrize(
    ("provider", "parts", "route", "blocks"),
    [
        (
            "anthropic",
            [part("thinking", "", id="redacted_thinking", signature="d")],
            "anthropic/m",
            (Thinking(native={"data": "d"}),),
        ),
        (
            "openai",
            [part("thinking", "one", id="rs_1", signature="gA"), part("thinking", "two", id="rs_1")],
            "openai-responses/m",
            (
                Thinking(
                    "one\n\ntwo",
                    native={
                        "item": {
                            "type": "reasoning",
                            "id": "rs_1",
                            "summary": [{"type": "summary_text", "text": t} for t in ("one", "two")],
                            "encrypted_content": "gA",
                        }
                    },
                ),
            ),
        ),
        ("openai", [part("thinking", "aloud", id="reasoning_content")], "openai/m", (Thinking("aloud"),)),
        (
            "google-gla",
            [part("thinking", "hm", signature="c2ln"), part("text", "x", provider_details={"thought_signature": "c2ln"})],
            "gemini/m",
            (
                Thinking("hm", native={"thoughtSignature": "c2ln"}),
                Text("x", native={"thoughtSignature": "c2ln"}),
            ),
        ),
    ],
)  # fmt: skip
def test_what_a_provider_wants_back_is_kept_for_it(
    provider: str, parts: list[dict[str, Any]], route: str, blocks: tuple[Any, ...]
) -> None:
    document = read_messages([answered(*parts, provider_name=provider, model_name="m")])
    assert (document.route, document.entries[0].blocks) == (route, blocks)


def test_when_a_message_was_written_is_kept() -> None:
    written = "2026-01-01T00:00:00Z"
    document = read_messages([request(part("user-prompt", "x"), timestamp=written), answered(part("text", "y"))])
    assert document.times == {0: 1_767_225_600.0}


def test_how_an_answer_ended_is_kept() -> None:
    words = part("text", "x")
    states = [{"finish_reason": "length"}, {"state": "interrupted", "finish_reason": "stop"}, {"state": "incomplete"}]
    endings = [read_messages([answered(words, **state)]).entries[0].ending for state in states]
    assert endings == [Ending.LENGTH, Ending.CANCELLED, Ending.CUT]


def test_what_is_not_understood_is_said() -> None:
    document = read_messages(
        [
            request(part("puzzle", "x"), part("user-prompt", ["hi", {"kind": "hologram"}])),
            request(part("user-prompt", [{"kind": "uploaded-file", "file_id": "file-1"}])),
            answered(part("thinking", "", id="x", signature="s"), part("file", {}), provider_name="groq"),
            request(part("instruction-baseline"), part("instruction-baseline")),
            {"kind": "gossip", "parts": []},
        ]
    )
    assert [entry.text for entry in document.entries] == ["hi", "[a file that the provider stores: file-1]"]
    assert [str(note) for note in document.notes] == [
        "[0].parts[0]: a part of kind 'puzzle' is not understood and was left out",
        "[0].parts[1]: a content of kind 'hologram' is not understood and was left out",
        "[1].parts[0]: refers to the stored file 'file-1', which cannot be read from here",
        "[2].parts[0]: a sealed thought of another provider is not carried",
        "[2].parts[1]: a file without its bytes was left out",
        "[4]: a message of kind 'gossip' is not understood and was left out",
        "[3].parts[0]: a part of kind 'instruction-baseline' is not part of the conversation (2 times, here first)",
    ]


def test_a_summary_marks_what_it_replaced() -> None:
    summary = part("compaction", "short")
    document = read(
        whole([request(part("user-prompt", "long")), answered(summary), request(part("user-prompt", "go"))])
    )
    assert [entry.text for entry in document.conversation(compacted=True).entries] == ["long", "go"]
    assert [(mark.first, mark.last, mark.text) for mark in document.compactions] == [(0, 0, "short")]
    assert [note.is_carried for note in document.notes] == [True]
    assert [entry.text for entry in read_messages([request(summary)]).entries] == ["short"]
    sealed = read_messages([answered(part("compaction", None, provider_details={"encrypted_content": "x"}))])
    assert [str(note) for note in sealed.notes] == ["[0].parts[0]: a sealed summary of what came before is not carried"]


# --- written ----------------------------------------------------------------------------------------------------------


def test_a_history_is_written_in_the_form_that_the_adapter_validates() -> None:
    conversation = talk(
        instruction("Be careful."),
        user("look", IMAGE, Media(MediaKind.AUDIO, "audio/wav", url="https://x.test/a.wav", name="a.wav")),
        ai("Looking.", call("call_a", path="."), call("call_b", "run"), origin=origin("openai-responses/gpt-5.1")),
        tool(response("call_b", name="run", error="boom", value=""), response("call_a", "found", media=(IMAGE,))),
        instruction("be brief"),
    )
    messages, losses = write_messages(Outgoing(conversation))
    assert losses == []
    binary = {"data": "-_AA", "media_type": "image/png", "kind": "binary"}
    audio = {"url": "https://x.test/a.wav", "media_type": "audio/wav", "identifier": "a.wav", "kind": "audio-url"}
    assert messages == [
        {"parts": [{"content": "Be careful.", "part_kind": "system-prompt"}], "kind": "request"},
        {"parts": [{"content": ["look", binary, audio], "part_kind": "user-prompt"}], "kind": "request"},
        {
            "parts": [
                {"content": "Looking.", "part_kind": "text"},
                {"tool_name": "read", "args": {"path": "."}, "tool_call_id": "call_a", "part_kind": "tool-call"},
                {"tool_name": "run", "args": {}, "tool_call_id": "call_b", "part_kind": "tool-call"},
            ],
            "model_name": "gpt-5.1",
            "provider_name": "openai",
            "model_id": "openai-responses:gpt-5.1",
            "finish_reason": "tool_call",
            "kind": "response",
        },
        {
            "parts": [
                {
                    "tool_name": "read",
                    "content": ["found", binary],
                    "tool_call_id": "call_a",
                    "outcome": "success",
                    "part_kind": "tool-return",
                },
                {
                    "tool_name": "run",
                    "content": "boom",
                    "tool_call_id": "call_b",
                    "outcome": "failed",
                    "part_kind": "tool-return",
                },
            ],
            "kind": "request",
        },
        {"parts": [{"content": "be brief", "part_kind": "system-prompt"}], "kind": "request"},
    ]
    assert json.loads(write(conversation, "pydantic-ai").data) == messages


@pytest.mark.parametrize(
    ("route", "blocks"),
    [
        ("anthropic/claude-sonnet-4-5", [thought("hm", signature="s"), Thinking(native={"data": "d"})]),
        (
            "openai-responses/gpt-5.1",
            [
                thought(
                    "a\n\nb",
                    item={
                        "type": "reasoning",
                        "id": "rs_1",
                        "summary": [{"type": "summary_text", "text": t} for t in ("a", "b")],
                        "encrypted_content": "gA",
                    },
                )
            ],
        ),
        ("gemini/gemini-3-pro-preview", [Text("x", native={"thoughtSignature": "c2ln"})]),
        ("gemini/gemini-3-pro-preview", [Thinking(native={"thoughtSignature": "c2ln"})]),
        ("deepseek/deepseek-chat", [thought("aloud")]),
        ("anthropic/claude-sonnet-4-5", [HostedTool("web_search", {"q": "x"}, [1], "srvtoolu_1")]),
    ],
)
def test_what_belongs_to_a_provider_comes_back_as_it_was(route: str, blocks: list[Any]) -> None:
    answer = ai(*blocks, "so", origin=origin(route))
    messages, losses = write_messages(Outgoing(talk(user("go"), answer)))
    again = read_messages(messages).entries[1]
    assert (again.blocks, losses) == (answer.blocks, [])
    assert again.origin is not None
    assert again.origin.provider == route.partition("/")[0]


def test_a_denied_call_is_written_as_denied_and_an_open_one_stays_open() -> None:
    denied = response("a", name="read", value=None, reason=ClosureReason.DENIED, said="no")
    conversation = talk(user("go"), ai(call("a"), call("b")), tool(denied))
    messages, _ = write_messages(Outgoing(conversation))
    assert [part["outcome"] for part in messages[2]["parts"]] == ["denied", "failed"]
    states = [item.state for item in read_messages(messages).conversation().ledger.calls.values()]
    assert states == [item.state for item in conversation.ledger.calls.values()]


def test_what_pydantic_ai_cannot_hold_is_listed() -> None:
    conversation = talk(
        user("go"),
        Entry(Speaker.HUMAN, (IMAGE,), authority=Authority.INSTRUCTION),
        ai(
            HostedTool("search", {"q": "x"}, "found", "w"),
            HostedTool("compaction", silent=True),
            Thinking(native={"signature": "s"}),
            Media(MediaKind.IMAGE, "image/png", url="https://x.test/a.png"),
        ),
    )
    assert [str(loss) for loss in write(conversation, "pydantic-ai").losses] == [
        "the authority of a medium of type image/png; it stands there as a person's",
        "the form of a call to search, run by its provider; it stands as text",
        "a record that its provider keeps for itself (compaction)",
        "a thought that only its provider can read",
        "a medium of type image/png in an answer",
    ]
