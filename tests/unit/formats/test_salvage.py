"""What somebody said in a form that no provider knows is read all the same, and mended without losing it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.formats import mend, read
from legato.model import Authority, Media, MediaKind, Speaker, Text
from session_files import text, use, whole

CLAUDE = {"model": "claude-sonnet-4-5", "max_tokens": 100}
CACHED = {"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}


def mended(body: Any) -> Any:
    return json.loads(mend(read(whole(body))).data)


# --- instructions -----------------------------------------------------------------------------------------------------

SYSTEM = {"role": "system", "content": "Be brief."}
HI = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("own", "system"),
    [
        ({}, [text("Be brief.")]),
        ({"system": "A"}, [text("A"), text("Be brief.")]),
        ({"system": [CACHED]}, [CACHED, text("Be brief.")]),
    ],
    ids=["no system field", "a text", "blocks"],
)
def test_a_system_message_of_an_anthropic_body_moves_to_the_system_field(own: Any, system: Any) -> None:
    answer = {"role": "user", "content": [CACHED]}
    assert mended({**CLAUDE, **own, "messages": [SYSTEM, answer]}) == {**CLAUDE, "messages": [answer], "system": system}


def test_a_system_message_in_the_middle_of_an_anthropic_body_is_marked_where_it_stands() -> None:
    messages = [HI, {"role": "assistant", "content": "ho"}, SYSTEM, HI]
    value = mended({**CLAUDE, "messages": messages})
    assert value["messages"] == [*messages[:2], {"role": "user", "content": "[Instruction] Be brief."}, HI]


@pytest.mark.parametrize(
    ("own", "parts"),
    [
        ({}, []),
        ({"systemInstruction": {"parts": [{"text": "A"}]}}, [{"text": "A"}]),
        ({"system_instruction": {"parts": [{"text": "A"}]}}, [{"text": "A"}]),
    ],
)
def test_a_content_of_role_system_becomes_a_system_instruction(own: dict[str, Any], parts: list[Any]) -> None:
    user = {"role": "user", "parts": [{"text": "hi"}]}
    body = {"model": "gemini-2.5-pro", **own, "contents": [{"role": "system", "parts": [{"text": "Be brief."}]}, user]}
    field = next(iter(own), "systemInstruction")
    assert mended(body) == {
        "model": "gemini-2.5-pro",
        "contents": [user],
        field: {"parts": [*parts, {"text": "Be brief."}]},
    }
    document = read(whole(body))
    assert document.system.split() == [*(["A"] if parts else []), "Be", "brief."]
    assert [str(note) for note in document.notes] == [
        "contents[0]: a content of role 'system' is read as an instruction"
    ]


def test_notes_on_contents_name_the_places_that_they_have_in_the_file() -> None:
    system = {"role": "system", "parts": [{"text": "S"}]}
    odd = {"role": "critic", "parts": [{"text": "no"}]}
    user = {"role": "user", "parts": [{"text": "hi"}]}
    document = read(whole({"contents": [system, user, system, odd]}))
    assert [note.place for note in document.notes] == ["contents[0]", "contents[2]", "contents[3]"]
    assert document.places == ["contents[1]"]


# --- parts ------------------------------------------------------------------------------------------------------------

BODIES = {
    "openai-chat": {"model": "gpt-4o"},
    "anthropic": CLAUDE,
    "mistral": {"model": "mistral-large-latest"},
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(
    "content", [[{"text": "hello"}], ["hello"], {"type": "text", "text": "hello"}, {"text": "hello"}]
)
def test_text_without_a_type_or_a_list_around_it_is_text(name: str, content: Any) -> None:
    document = read(whole({**BODIES[name], "messages": [{"role": "user", "content": content}]}), format=name)
    assert [(entry.speaker, entry.blocks) for entry in document.entries] == [(Speaker.HUMAN, (Text("hello"),))]


@pytest.mark.parametrize("parts", [["hello"], "hello", {"text": "hello"}])
def test_parts_of_gemini_may_be_bare_too(parts: Any) -> None:
    document = read(whole({"contents": [{"role": "user", "parts": parts}]}), format="gemini")
    assert [entry.text for entry in document.entries] == ["hello"]


@pytest.mark.parametrize(("role", "speaker"), [("user", Speaker.HUMAN), ("assistant", Speaker.AI)])
def test_items_of_the_responses_api_may_hold_text_without_a_type(role: str, speaker: Speaker) -> None:
    document = read(whole({"model": "gpt-5.1", "input": [{"role": role, "content": [{"text": "hello"}]}]}))
    assert [(entry.speaker, entry.text) for entry in document.entries] == [(speaker, "hello")]


def test_mending_text_without_a_type_gives_it_one_and_leaves_the_rest_alone() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.example/y.png", "detail": "low"}}
    body = {
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "content": [{"text": "look", "kept": True}, image], "name": "Ada"},
            {"role": "assistant", "content": "sure"},
            {"role": "user", "content": "and?"},
        ],
    }
    first = {"role": "user", "content": [{"type": "text", "text": "look", "kept": True}, image], "name": "Ada"}
    assert mended(body) == {**body, "messages": [first, *body["messages"][1:]]}
    assert [str(note) for note in read(whole(body)).notes][:1] == [
        "messages[0].content[0]: a part without a type is read as the text in it"
    ]
    assert read(whole(body)).entries[0].blocks == (
        Text("look"),
        Media(MediaKind.IMAGE, "image/*", url="https://x.example/y.png"),
    )


def test_blocks_of_a_system_field_may_lack_their_type() -> None:
    body = {**CLAUDE, "system": [{"text": "Be brief.", "cache_control": {"type": "ephemeral"}}], "messages": [HI]}
    assert read(whole(body)).system == "Be brief."


# --- only what is refused is made anew --------------------------------------------------------------------------------


def test_messages_stay_as_they_are_where_only_a_field_beside_them_is_refused() -> None:
    found = {
        "type": "search_result",
        "title": "T",
        "source": "s",
        "content": [text("hit")],
        "citations": {"enabled": True},
    }
    messages = [
        {"role": "user", "content": [CACHED]},
        {"role": "assistant", "content": [use("toolu_1", "look")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [found]}]},
    ]
    once = mend(read(whole({"model": "claude-haiku-4-5", "system": "Be brief.", "messages": messages})))
    value = json.loads(once.data)
    assert value["messages"] == messages
    assert [str(change) for change in once.changes] == [
        "max_tokens: `max_tokens` must be given (anthropic/max-tokens)",
        "max_tokens: was added",
    ]


def test_an_instruction_of_a_chat_body_is_an_instruction() -> None:
    document = read(whole({"model": "gpt-4o", "messages": [HI, {"role": "assistant", "content": "ho"}, SYSTEM, HI]}))
    assert [entry.authority for entry in document.entries] == [
        Authority.PERSON, Authority.PERSON, Authority.INSTRUCTION, Authority.PERSON,
    ]  # fmt: skip


def test_a_content_of_gemini_that_is_in_no_list_is_read_with_its_place() -> None:
    body = {"contents": {"role": "user", "parts": [{"text": "hi"}, {"videoMetadata": {}}]}}
    document = read(json.dumps(body).encode(), format="gemini")
    assert [entry.blocks for entry in document.entries] == [(Text("hi"),)]
    assert document.places == ["contents[0]"]
    assert "contents[0].parts[1]" in [note.place for note in document.notes]
