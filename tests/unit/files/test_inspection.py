"""inspect: a conversation entry by entry, as values."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from file_samples import anthropic_body, chat_body, open_session, save
from legato.files import Inspection, inspect


def test_entries_and_calls_are_told_in_order(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    found = inspect(path)

    assert (found.name, found.format, found.turns, found.tools) == (str(path), "claude-code", 2, 0)
    assert [(entry.turn, entry.speaker, entry.place) for entry in found.entries] == [
        (1, "human", "line 1"),
        (1, "model", "line 2"),
        (1, "model", "line 4"),
        (2, "human", "line 5"),
        (2, "model", "line 6"),
    ]
    assert [(call.name, call.wire_id, call.sent_id, call.completion, call.reason) for call in found.calls] == [
        ("Read", "toolu_a", "", "success", ""),
        ("Read", "toolu_b", "", "synthetic", "missing-in-import"),
    ]
    assert "session/open-call" in found.calls[1].labels


def test_with_a_target_calls_have_the_ids_that_it_sees(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    found = inspect(path, target="mistral")

    assert [len(call.sent_id) for call in found.calls] == [9, 9]


def test_texts_are_cut_at_the_limit_and_say_so():
    body = anthropic_body(("user", "a" * 50))

    (entry,) = inspect(json.dumps(body).encode(), limit=20).entries

    assert [block.text for block in entry.blocks] == [f"{'a' * 20}… [30 more characters]"]


def test_secrets_are_hidden():
    key = "sk-" + "0a1b2c3d" * 4
    data = json.dumps(anthropic_body(("user", f"my key is {key}"))).encode()

    assert key not in str(inspect(data))
    assert "my key is [hidden]" in str(inspect(data))


def test_one_conversation_of_several_is_picked_by_its_number(tmp_path: Path):
    path = save(tmp_path / "many.jsonl", [chat_body("a"), chat_body("b")])

    assert [inspect(path, pick=number).calls[0].wire_id for number in (1, 2)] == ["a", "b"]


def test_an_inspection_can_be_encoded_and_decoded(tmp_path: Path):
    found = inspect(save(tmp_path / "session.jsonl", open_session()), target="gemini")

    assert msgspec.json.decode(msgspec.json.encode(found), type=Inspection) == found
