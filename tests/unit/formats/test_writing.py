"""Writers: strict files, deterministic, pairs as pairs; what cannot be carried is listed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from legato.errors import FormatError
from legato.formats import WRITTEN, Document, read, read_all, request_for, write
from legato.formats.wire.shapes import WIRE_PROVIDERS
from legato.model import (
    CLOSURE_TEXTS,
    CallKind,
    ClosureReason,
    Code,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Speaker,
    Text,
    ToolCall,
    ToolSpec,
)
from legato.model.records import Compacted, CompactionKind
from legato.request import resolve
from legato.transcript import Conversation
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from session_files import CHAT, CLAUDE, CODEX, EVERY_FILE, answered, gave, jsonl, said, use, whole

from builders import ai, call, calls, instruction, origin, response, result, talk, thought, tool, user

IMAGE = Media(MediaKind.IMAGE, "image/png", data="AAAA")
CLAUDE_ORIGIN = origin("anthropic/claude-sonnet-4-5")
GPT = origin("openai-responses/gpt-5.1")


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def pairs(conversation: Conversation) -> list[tuple[str, Any, Any]]:
    """Every call as (tool, arguments, what came of it)."""
    found: list[tuple[str, Any, Any]] = []
    for item in conversation.ledger.calls.values():
        done = item.response
        came = None if done is None else done.reason or done.error or done.result
        found.append((item.name, item.arguments, came))
    return found


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize("name", sorted(EVERY_FILE))
def test_every_format_can_be_written_as_every_other(name: str, target: str) -> None:
    for document in read_all(EVERY_FILE[name]):
        written = write(document, target)
        again = read(written.data)
        assert again.format == target or target in WIRE_PROVIDERS
        before, after = document.conversation(), again.conversation()
        assert [item.state for item in before.ledger.calls.values()] == [
            item.state for item in after.ledger.calls.values()
        ]
        assert [item.arguments for item in before.ledger.calls.values()] == [
            item.arguments for item in after.ledger.calls.values()
        ]
        assert write(document, target).data == written.data


@pytest.mark.parametrize("target", sorted(WIRE_PROVIDERS))
def test_written_bodies_break_no_rule(target: str) -> None:
    for name in sorted(EVERY_FILE):
        for document in read_all(EVERY_FILE[name]):
            written = write(document, target)
            assert written.report is not None
            aim = resolve(written.report.route)
            found = dialect_parts(aim.dialect).check(json.loads(written.data), aim)
            assert [item for item in found if item.severity is Severity.REFUSED] == []


def test_a_model_or_a_route_can_be_named() -> None:
    document = read(CLAUDE)
    assert json.loads(write(document, "openai-chat", model="gpt-4o").data)["model"] == "gpt-4o"
    assert json.loads(write(document, "openai-chat", model="openrouter/z-ai/glm-4.6").data)["model"] == "z-ai/glm-4.6"
    assert json.loads(write(document, "openai-chat", model="z-ai/glm-4.6").data)["model"] == "z-ai/glm-4.6"
    assert json.loads(write(document, "anthropic").data)["model"] == "claude-sonnet-4-5"
    assert json.loads(write(document, "mistral").data)["model"] == "mistral-large-latest"
    with pytest.raises(FormatError, match="not asked in the form of anthropic"):
        write(document, "anthropic", model="mistral/mistral-large-latest")


def test_a_format_that_is_only_read_is_not_written() -> None:
    with pytest.raises(FormatError, match=r"'cline' is not a format that is written; those are .*claude-code, codex"):
        write(read(CLAUDE), "cline")
    with pytest.raises(FormatError, match="'nonsense' is not a format"):
        write(read(CLAUDE), "nonsense")


def test_a_session_that_is_right_is_written_back_byte_for_byte() -> None:
    for data in (CLAUDE, CODEX):
        document = read(data)
        assert write(document, document.format).data == data


def test_tools_of_a_document_go_into_the_body() -> None:
    body = {**CHAT, "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]}
    document = read(whole(body))
    assert document.tools == [ToolSpec("ls", "", {"type": "object"})]
    assert json.loads(write(document, "anthropic").data)["tools"][0]["name"] == "ls"


# --- Claude Code ------------------------------------------------------------------------------------------------------


def test_a_claude_code_session_is_one_chain_of_whole_records() -> None:
    conversation = talk(
        instruction("You are careful."),
        user("look", IMAGE),
        ai(thought("hm", signature="sig"), "Looking.", call("a"), call("b", "run"), origin=CLAUDE_ORIGIN),
        tool(response("b", name="run", error="boom", value=""), response("a", "found", media=(IMAGE,))),
        user("and?"),
    )
    written = write(conversation, "claude-code")
    records = lines(written.data)
    assert [record["type"] for record in records] == ["user", "assistant", "user", "user"]
    assert [record["parentUuid"] for record in records] == [None, *(record["uuid"] for record in records[:-1])]
    assert len({record["uuid"] for record in records}) == 4
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert [record["message"]["content"] for record in records] == [
        [{"type": "text", "text": "look"}, image],
        [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {}},
            {"type": "tool_use", "id": "toolu_b", "name": "run", "input": {}},
        ],
        [
            {"type": "tool_result", "tool_use_id": "toolu_a", "content": [{"type": "text", "text": "found"}, image]},
            {"type": "tool_result", "tool_use_id": "toolu_b", "content": "boom", "is_error": True},
        ],
        "and?",
    ]
    assert records[1]["message"]["model"] == "claude-sonnet-4-5"
    assert [str(loss) for loss in written.losses] == ["the system prompt"]


def test_what_claude_code_cannot_hold_is_listed() -> None:
    conversation = talk(
        user("go", Media(MediaKind.AUDIO, "audio/wav", data="AAAA"), Code("x = 1", "python")),
        instruction("be brief"),
        ai(
            thought("foreign"),
            HostedTool("web_search", {"q": "x"}, "found", "w"),
            IMAGE,
            Code("y = 2"),
            ToolCall("mcp.tool", {}, "c"),
            origin=GPT,
        ),
        result("c", "", name="mcp.tool"),
    )
    written = write(conversation, "claude-code")
    assert [str(loss) for loss in written.losses] == [
        "a medium of type audio/wav",
        "the authority of an instruction in the middle; it stands there as marked text",
        "a thought that is not signed by an Anthropic model",
        "the form of a call to web_search, run by its provider; it stands as text",
        "a medium of type image/png in an answer",
        "the name of the tool 'mcp.tool', which became 'mcp_tool_" + _suffix(written.data) + "'",
    ]


def _suffix(data: bytes) -> str:
    name = next(b["name"] for r in lines(data) for b in r["message"]["content"] if isinstance(b, dict) and "name" in b)
    return name.removeprefix("mcp_tool_")


def test_open_calls_are_closed_in_what_is_written_and_stay_open_when_it_is_read() -> None:
    for target in ("claude-code", "codex"):
        written = write(talk(user("go"), calls("a", "b"), result("a")), target)
        assert CLOSURE_TEXTS[ClosureReason.NO_RESULT].encode() in written.data
        states = [item.state for item in read(written.data).conversation().ledger.calls.values()]
        assert states == ["complete", "pending"]


def test_a_compaction_that_holds_is_written_as_its_summary() -> None:
    conversation = talk(user("one"), ai("two"), user("three"))
    conversation.apply([Compacted(kind=CompactionKind.COVER, text="short", window=10**9, first=0, last=1)])
    for target in ("claude-code", "codex"):
        texts = [entry.text for entry in read(write(conversation, target).data).entries]
        assert texts == ["[Summary of the conversation so far]\nshort", "three"]


# --- Codex ------------------------------------------------------------------------------------------------------------


def test_a_codex_rollout_has_header_context_and_items() -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    conversation = talk(
        instruction("You are careful."),
        user("look", IMAGE),
        ai(
            thought("", item=item),
            "Looking.",
            call("call_a", path="."),
            ToolCall("patch", {"input": "***"}, "call_b", kind=CallKind.CUSTOM),
            origin=GPT,
        ),
        tool(response("call_a", "found", media=(IMAGE,)), response("call_b", name="patch", error="boom", value="")),
        instruction("be brief"),
    )
    written = write(conversation, "codex")
    records = lines(written.data)
    assert [record["type"] for record in records] == [
        "session_meta", "response_item", "event_msg", "turn_context", "response_item", "response_item", "event_msg",
        "response_item", "response_item", "response_item", "response_item", "response_item",
    ]  # fmt: skip
    assert records[0]["payload"]["base_instructions"] == {"text": "You are careful."}
    assert records[3]["payload"]["model"] == "gpt-5.1"
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    assert [record["payload"] for record in records if record["type"] == "response_item"] == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, image]},
        item,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
        {"type": "function_call", "name": "read", "arguments": '{"path":"."}', "call_id": "call_a"},
        {"type": "custom_tool_call", "call_id": "call_b", "name": "patch", "input": "***"},
        {
            "type": "function_call_output",
            "call_id": "call_a",
            "output": [{"type": "input_text", "text": "found"}, image],
        },
        {"type": "custom_tool_call_output", "call_id": "call_b", "output": "[Error] boom"},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "be brief"}]},
    ]
    assert written.losses == []


def test_what_codex_cannot_hold_is_listed() -> None:
    document_media = Media(MediaKind.DOCUMENT, "application/pdf", data="AAAA")
    conversation = talk(
        user("go", document_media, Code("x")),
        ai(thought("own", signature="s"), HostedTool("search"), Code("y"), IMAGE, origin=CLAUDE_ORIGIN),
    )
    assert [str(loss) for loss in write(conversation, "codex").losses] == [
        "a medium of type application/pdf",
        "a thought that is not an encrypted item of the Responses API",
        "the form of a call to search, run by its provider; it stands as text",
        "a medium of type image/png in an answer",
    ]


# --- there and back ---------------------------------------------------------------------------------------------------


def test_claude_code_to_codex_and_back_keeps_every_pair() -> None:
    conversation = talk(
        user("go"),
        ai("a", call("toolu_1", path="1"), call("toolu_2", "run"), origin=CLAUDE_ORIGIN),
        tool(response("toolu_2", name="run", error="boom", value=""), response("toolu_1", "one")),
        ai(call("toolu_3"), call("toolu_3", path="other"), origin=CLAUDE_ORIGIN),
        result("toolu_3", "three"),
        user("and"),
        ai("done", origin=CLAUDE_ORIGIN),
    )
    first = read(write(conversation, "claude-code").data)
    rollout = write(first, "codex")
    second = read(rollout.data)
    back = read(write(second, "claude-code").data)
    assert pairs(first.conversation()) == pairs(second.conversation()) == pairs(back.conversation())
    texts = [[entry.text for entry in d.entries if entry.speaker is Speaker.HUMAN] for d in (first, second, back)]
    assert texts == [["go", "and"]] * 3
    assert [str(loss) for loss in rollout.losses] == []
    ids = [
        [block["id"] for block in _uses(document)]
        for document in (write(first, "claude-code").data, write(second, "claude-code").data)
    ]
    assert ids[0] == ids[1]


def _uses(data: bytes) -> list[dict[str, Any]]:
    return [
        block
        for record in lines(data)
        for block in record["message"]["content"]
        if isinstance(block, dict) and block["type"] == "tool_use"
    ]


def test_the_real_files_of_both_agents_go_there_and_back() -> None:
    for data, other in ((CLAUDE, "codex"), (CODEX, "claude-code")):
        document = read(data)
        away = read(write(document, other).data)
        back = read(write(away, document.format).data)
        assert pairs(document.conversation()) == pairs(back.conversation())


def test_an_empty_conversation_is_written_as_an_empty_session() -> None:
    assert write(Conversation(), "claude-code").data == b""
    assert [record["type"] for record in lines(write(Conversation(), "codex").data)] == ["session_meta"]


def test_a_text_block_keeps_its_citations_at_home() -> None:
    cited = Text("so", native={"citations": [{"type": "char_location"}]})
    use = {"type": "server_tool_use", "id": "srvtoolu_w", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_w", "content": []}
    hosted = HostedTool("web_search", {}, None, "srvtoolu_w", native={"blocks": [use, found]})
    entry = Entry(Speaker.AI, (hosted, cited), CLAUDE_ORIGIN)
    record = lines(write(talk(user("go"), entry), "claude-code").data)[1]
    assert record["message"]["content"] == [
        use,
        found,
        {"type": "text", "text": "so", "citations": [{"type": "char_location"}]},
    ]


def test_a_session_whose_records_name_no_parents_is_written_as_a_chain() -> None:
    records = [
        said("u1", None, "go"),
        answered("a1", None, "m1", use("t1")),
        said("r1", None, [gave("t1")], toolUseResult={"stdout": "kept"}),
        said("u2", None, "on"),
    ]
    written = lines(write(read(jsonl(*records)), "claude-code").data)
    assert written == [
        {**record, "parentUuid": parent} for record, parent in zip(records, [None, "u1", "a1", "r1"], strict=True)
    ]
    bare = [{"type": record["type"], "message": record["message"]} for record in records]
    chained = lines(write(read(jsonl(*bare)), "claude-code").data)
    assert [record["parentUuid"] for record in chained] == [None, *(record["uuid"] for record in chained[:-1])]
    assert [record["message"]["content"] for record in chained[::3]] == ["go", "on"]


# --- fields of a server that nobody knows -----------------------------------------------------------------------------


def unknown_host() -> Document:
    body = {
        "model": "my-own-model",
        "messages": [{"role": "user", "content": "hello"}],
        "guided_json": {"type": "object"},
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {}}, "cached": True}],
    }
    return read(json.dumps(body).encode())


@pytest.mark.parametrize("format_", ["openai-chat", "mistral", "kimi", "deepseek"])
def test_fields_of_an_unknown_server_do_not_reach_a_known_one(format_: str) -> None:
    document = unknown_host()
    assert document.options.extra == {"guided_json": {"type": "object"}}
    written = json.loads(write(document, format_).data)
    assert "guided_json" not in written
    assert [set(tool) for tool in written["tools"]] == [{"type", "function"}]


def test_fields_of_an_unknown_server_go_to_one_that_is_as_unknown() -> None:
    known = resolve("groq/llama-3.3-70b-versatile")
    request, _ = request_for(unknown_host(), replace(known, provider="at-home", endpoint="http://localhost:8000/v1"))
    assert request.body["guided_json"] == {"type": "object"}
    assert request.body["tools"][0]["cached"] is True
    at_groq, _ = request_for(unknown_host(), known)
    assert "guided_json" not in at_groq.body
