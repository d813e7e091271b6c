"""Sessions written for opencode, Gemini CLI and pi: the form that each wants, and what it has no place for."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from legato.formats import read, write
from legato.formats.document import CompactionMark
from legato.model import Code, HostedTool, Media, MediaKind, Text, ToolSpec
from legato.model.records import Compacted, CompactionKind
from legato.transcript import Conversation
from legato.transcript.units import Summary
from session_files import CHAT, CLAUDE, whole

from builders import ai, call, instruction, origin, response, talk, thought, tool, units, user

IMAGE = Media(MediaKind.IMAGE, "image/png", data="AAAA", name="red.png")
CLAUDE_ORIGIN = origin("anthropic/claude-sonnet-4-5")
TOLD = talk(
    user("look", IMAGE),
    ai(thought("hm"), "Looking.", call("call_a", path="."), call("call_b", "run"), origin=CLAUDE_ORIGIN),
    tool(response("call_b", name="run", error="boom", value=""), response("call_a", "found", media=(IMAGE,))),
    ai("Done.", origin=CLAUDE_ORIGIN),
)
EVERY_LOSS = [
    "the authority of an instruction in the middle; it stands there as marked text",
    "a thought that only its provider can read",
    "the form of a call to web_search, run by its provider; it stands as text",
    "a medium of type image/png in an answer",
    "the system prompt",
    "the definition of 1 tool",
]


def lossy() -> Any:
    """A request that holds what no session file has a place for."""
    body = {**CHAT, "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]}
    document = read(whole(body))
    assert document.tools == [ToolSpec("ls", "", {"type": "object"})]
    document.entries.extend(
        [
            instruction("be brief"),
            ai(thought(""), HostedTool("web_search", {"q": "x"}, "found", "w"), IMAGE, Code("y = 2")),
        ]
    )
    return document


def losses(target: str) -> list[str]:
    return [str(loss) for loss in write(lossy(), target).losses]


def lines(conversation: Conversation, target: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in write(conversation, target).data.splitlines()]


# --- opencode ---------------------------------------------------------------------------------------------------------


def test_opencode_gets_messages_in_the_order_of_their_ids() -> None:
    session = json.loads(write(TOLD, "opencode").data)
    own = session["info"]["id"]
    infos = [message["info"] for message in session["messages"]]
    assert [info["role"] for info in infos] == ["user", "assistant", "assistant"]
    assert {info["sessionID"] for info in infos} == {own}
    ids = [info["id"] for info in infos]
    assert ids == sorted(ids)
    assert max(ids) < "msg_1e557c732001"  # one that opencode gave in 2026
    assert [info.get("parentID") for info in infos] == [None, ids[0], ids[0]]
    named = {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}
    assert infos[0]["model"] == named
    assert [info["finish"] for info in infos[1:]] == ["tool-calls", "stop"]
    parts = session["messages"][1]["parts"]
    assert [part["type"] for part in parts] == ["step-start", "reasoning", "text", "tool", "tool", "step-finish"]
    assert [part["id"] for part in parts] == sorted(part["id"] for part in parts)
    assert {part["messageID"] for part in parts} == {ids[1]}


def test_opencode_gets_a_call_with_what_came_of_it() -> None:
    session = json.loads(write(TOLD, "opencode").data)
    found, boom = (part["state"] for part in session["messages"][1]["parts"] if part["type"] == "tool")
    assert (found["status"], found["input"], found["output"]) == ("completed", {"path": "."}, "found")
    assert [(file["mime"], file["url"], file["filename"]) for file in found["attachments"]] == [
        ("image/png", "data:image/png;base64,AAAA", "red.png")
    ]
    assert (boom["status"], boom["error"]) == ("error", "boom")
    assert losses("opencode") == EVERY_LOSS


def test_opencode_has_no_place_for_media_of_a_call_that_failed() -> None:
    failed = talk(user("go"), ai(call("call_a")), tool(response("call_a", error="boom", value=None, media=(IMAGE,))))
    written = write(failed, "opencode")
    assert [str(loss) for loss in written.losses] == ["that a call with media in its result failed"]
    (state,) = (part["state"] for part in json.loads(written.data)["messages"][1]["parts"] if part["type"] == "tool")
    assert (state["status"], state["output"]) == ("completed", "boom")


# --- Gemini CLI -------------------------------------------------------------------------------------------------------


def test_gemini_cli_gets_an_answer_and_what_came_of_its_calls_in_one_record() -> None:
    head, asked, answered, last = lines(TOLD, "gemini-cli")
    assert head["projectHash"] == sha256(b"/").hexdigest()
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    assert (asked["type"], asked["content"]) == ("user", [{"text": "look"}, image])
    assert (answered["type"], answered["content"], answered["model"]) == ("gemini", "Looking.", "claude-sonnet-4-5")
    assert [thought["description"] for thought in answered["thoughts"]] == ["hm"]
    found, boom = answered["toolCalls"]
    response = {"id": "call_a", "name": "read", "response": {"output": "found"}}
    assert (found["args"], found["status"], found["result"]) == (
        {"path": "."}, "success", [{"functionResponse": response}, image],
    )  # fmt: skip
    assert (boom["status"], boom["result"][0]["functionResponse"]["response"]) == ("error", {"error": "boom"})
    assert last["content"] == "Done."
    assert losses("gemini-cli") == EVERY_LOSS


# --- pi ---------------------------------------------------------------------------------------------------------------


def test_pi_gets_a_chain_of_messages_behind_a_header() -> None:
    records = lines(TOLD, "pi")
    head, *entries = records
    assert (head["type"], head["version"], head["cwd"]) == ("session", 3, "/")
    assert [entry["type"] for entry in entries] == ["message", "model_change", *["message"] * 4]
    assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    assert (entries[1]["provider"], entries[1]["modelId"]) == ("anthropic", "claude-sonnet-4-5")
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    assert [message["role"] for message in messages] == ["user", "assistant", "toolResult", "toolResult", "assistant"]
    assert [message["stopReason"] for message in messages if "stopReason" in message] == ["toolUse", "stop"]
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert messages[0]["content"] == [{"type": "text", "text": "look"}, image]
    assert messages[2]["content"] == [{"type": "text", "text": "found"}, image]
    assert [(message["toolCallId"], message["toolName"], message["isError"]) for message in messages[2:4]] == [
        ("call_a", "read", False),
        ("call_b", "run", True),
    ]
    assert losses("pi") == EVERY_LOSS


def test_pi_keeps_what_a_provider_wants_back_of_a_thought() -> None:
    item = {"type": "reasoning", "encrypted_content": "x"}
    conversation = talk(
        user("go"),
        ai(thought("a", signature="c2ln"), "1", origin=CLAUDE_ORIGIN),
        user("go"),
        ai(thought("b", thoughtSignature="Z2Vt"), "2", origin=origin("gemini/gemini-3-pro-preview")),
        user("go"),
        ai(thought("c", item=item), "3", origin=origin("openai-responses/gpt-5.1")),
        user("go"),
        ai(thought("d"), "4", origin=origin("qwen/qwen3-max")),
    )
    messages = [entry["message"] for entry in lines(conversation, "pi") if entry["type"] == "message"]
    thoughts = [message["content"][0] for message in messages if message["role"] == "assistant"]
    assert [one.get("thinkingSignature") for one in thoughts] == [
        "c2ln", "Z2Vt", '{"type":"reasoning","encrypted_content":"x"}', None,
    ]  # fmt: skip
    again = read(write(conversation, "pi").data)
    assert [block.native for entry in again.entries for block in entry.blocks[:1] if entry.origin] == [
        {"signature": "c2ln"}, {"thoughtSignature": "Z2Vt"}, {"item": item}, None,
    ]  # fmt: skip


def test_pi_takes_images_alone() -> None:
    sound = Media(MediaKind.AUDIO, "audio/wav", data="AAAA")
    written = write(talk(user("hear", sound), ai(call("call_a")), tool(response("call_a", "x", media=(sound,)))), "pi")
    assert [str(loss) for loss in written.losses] == ["a medium of type audio/wav (2 times)"]
    assert written.data.count(b"[audio omitted: audio/wav]") == 2


# --- all of them ------------------------------------------------------------------------------------------------------


def test_a_session_keeps_its_folder_and_its_id_where_that_is_a_uuid() -> None:
    document = read(CLAUDE)
    document.meta["session"] = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    head = json.loads(write(document, "pi").data.splitlines()[0])
    assert (head["id"], head["cwd"]) == ("0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f", "/work")
    for other in ("s1", "01a1e557-78bb-7461-9aa8-3b5505bbc690"):
        document.meta["session"] = other
        made = json.loads(write(document, "pi").data.splitlines()[0])["id"]
        assert (made != other, UUID(made).version) == (True, 5)


def test_a_compaction_that_holds_is_written_as_its_summary_for_everyone() -> None:
    conversation = talk(user("one"), ai("two"), user("three"))
    conversation.apply([Compacted(kind=CompactionKind.COVER, text="short", window=10**9, first=0, last=1)])
    for target in ("opencode", "pi", "gemini-cli", "qwen-code", "kimi-code"):
        texts = [entry.text for entry in read(write(conversation, target).data).entries]
        assert texts == ["[Summary of the conversation so far]\nshort", "three"]


@pytest.mark.parametrize("target", ["qwen-code", "pi", "kimi-code"])
def test_what_an_agent_had_summarised_is_there_and_out_of_sight(target: str) -> None:
    document = read(CLAUDE)
    document.compactions.extend([CompactionMark(0, 2, "short", "line 5"), CompactionMark(0, 4, "shorter", "line 6")])
    again = read(write(document, target).data)
    assert [entry.text for entry in again.entries if entry.text] == [
        entry.text for entry in document.entries if entry.text
    ]
    assert [mark.text for mark in again.compactions] == ["short", "shorter"]
    assert story(again.conversation(compacted=True)) == story(document.conversation(compacted=True))


def story(conversation: Conversation) -> list[str]:
    return [
        unit.text
        if isinstance(unit, Summary)
        else "".join(block.text for block in unit.blocks if isinstance(block, Text))
        for unit in units(conversation)
    ]
