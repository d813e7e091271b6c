"""A carrier counts for the deployment, the tenant and the answer that it was sealed for, and nobody else ever sees it."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dialect_support import make_target
from gateway_support import CLIENTS, body_of, sent_back
from legato.gateway.call_ids import call_id, number_of
from legato.gateway.carriers import Kept, KeptThought, Provenance, Sealer, SignedText, restore
from legato.gateway.contract import CallIdForm, Delivery
from legato.gateway.speakers import AnswerSpeaker
from legato.model import (
    Answer,
    Block,
    Dialect,
    Ending,
    Entry,
    JsonObject,
    Origin,
    Text,
    Thinking,
    ToolCall,
)
from legato.model import Speaker as Side
from legato.wire.deltas import deltas_of

KEY, TENANT = b"k" * 32, "tenant-1"
SEALER = Sealer(KEY)
CLAUDE, GEMINI = make_target(Dialect.ANTHROPIC), make_target(Dialect.GEMINI)
THOUGHT = Thinking("so I think", native={"signature": "their-own-signature"})
EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())


def answer(*blocks: Block) -> Answer:
    ending = Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else Ending.DONE
    return Answer(Entry(Side.AI, blocks, CLAUDE.origin("model-1"), ending=ending), served="model-1")


def returned(client: Delivery, said: Answer, answer_id: str = "answer1") -> Entry:
    """What comes back from the client after it was given `said`, not read for carriers yet."""
    voice = AnswerSpeaker(replace(client, tenant=TENANT), SEALER, answer_id)
    voice.begin(CLAUDE, "acme/model-1")
    entry = sent_back(msgspec.json.decode(voice.whole(said)), client.door.dialect)
    assert entry is not None
    return entry


def seen(client: Delivery, *entries: Entry, tenant: str = TENANT, sealer: Sealer = SEALER) -> list[Entry]:
    return restore(entries, client.door.dialect, sealer, tenant)[0]


def carried(entry: Entry) -> list[Any]:
    """The native data in `entry`, that Mistral's client writes thoughts as chunks aside."""
    return [block.native for block in entry.blocks if block.native and block.native != {"chunk": True}]


def reseal(entry: Entry, change: Any) -> Entry:
    """`entry` with `change` applied to every text that is a carrier, wherever it stands."""

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return change(value) if value.startswith("lega") else value
        if isinstance(value, list):
            return [walk(item) for item in value]
        return {name: walk(item) for name, item in value.items()} if isinstance(value, dict) else value

    return replace(entry, blocks=tuple(replace(block, native=walk(block.native)) for block in entry.blocks))


# --- sealing ----------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NATIVE = st.dictionaries(st.text(), JSON, max_size=3)
KEPT = st.builds(
    Kept,
    answer=st.text(),
    route=st.text(),
    origin=st.builds(Origin, st.text(), st.text(), st.text(), st.text(), st.text(), st.text()),
    thoughts=st.lists(
        st.builds(KeptThought, st.integers(0, 9), st.none() | NATIVE, st.none() | st.text(), st.integers(0, 9)),
        max_size=3,
    ).map(tuple),
    texts=st.lists(st.builds(SignedText, st.integers(0, 9), st.integers(0, 9), st.text(), NATIVE), max_size=2).map(
        tuple
    ),
    calls=st.dictionaries(st.integers(0, 99), NATIVE, max_size=2),
    beside=st.none() | st.text(),
    visible=st.none() | st.text(),
)


@given(kept=KEPT, tenant=st.text(), other=st.text())
def test_a_tenant_opens_what_was_sealed_for_it_and_nobody_else_does(kept: Kept, tenant: str, other: str) -> None:
    sealed = SEALER.seal(kept, tenant)
    assert SEALER.open(sealed, tenant) == kept
    assert Sealer(b"other").open(sealed, tenant) is None
    assert other == tenant or SEALER.open(sealed, other) is None


@given(kept=KEPT, place=st.integers(0), change=st.integers(1, 255), length=st.integers(0))
def test_nothing_that_was_altered_opens(kept: Kept, place: int, change: int, length: int) -> None:
    sealed = SEALER.seal(kept, TENANT)
    place, length = place % len(sealed), length % len(sealed)
    altered = sealed[:place] + bytes([sealed[place] ^ change]) + sealed[place + 1 :]
    assert SEALER.open(altered, TENANT) is None
    assert SEALER.open(sealed[:length], TENANT) is None
    assert SEALER.open(sealed + b"x", TENANT) is None


@given(data=st.binary())
def test_any_bytes_are_opened_to_nothing(data: bytes) -> None:
    assert SEALER.open(data, TENANT) is None


def test_what_would_unpack_to_too_much_is_not_unpacked() -> None:
    class Careless(Sealer):
        def wrap(self, payload: bytes) -> bytes:
            head = self.seal(Kept(answer="a", route="r", origin=Origin()), TENANT)[:4]
            return head + self._mac(payload, TENANT) + payload

    careless = Careless(KEY)
    bomb = zlib.compress(msgspec.msgpack.encode("x" * 33 * 1024 * 1024), 9)
    assert len(bomb) < 100_000
    assert careless.open(careless.wrap(bomb), TENANT) is None
    assert careless.open(careless.wrap(b"not compressed"), TENANT) is None
    assert careless.open(careless.wrap(zlib.compress(b"no msgpack")), TENANT) is None


# --- call ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "prefix", "length"),
    [(CallIdForm.ANTHROPIC, "toolu_", 24), (CallIdForm.OPENAI, "call_", 24), (CallIdForm.MISTRAL, "", 9)],
)
def test_the_calls_of_an_answer_are_known_by_their_ids(form: CallIdForm, prefix: str, length: int) -> None:
    ids = [call_id("answer1", number, form) for number in range(100)]
    assert len({*ids, *(call_id("answer2", number, form) for number in range(100))}) == 200
    assert all(one.startswith(prefix) and len(one) == len(prefix) + length for one in ids)
    assert all(one.removeprefix(prefix).isalnum() for one in ids)
    assert [number_of(one, "answer1") for one in ids] == list(range(100))
    assert {number_of(one, "answer2") for one in ids} == {None}


@pytest.mark.parametrize("wire_id", ["", "call_", "toolu_1", "x", "call_abc", "functions.read:0"])
def test_ids_of_others_are_no_ids_of_ours(wire_id: str) -> None:
    assert number_of(wire_id, "answer1") is None


# --- restoring --------------------------------------------------------------------------------------------------------


@EVERY_CLIENT
def test_what_is_not_understood_is_left_out_and_never_sent_on(client: Delivery) -> None:
    said = returned(client, answer(THOUGHT, Text("hello"), ToolCall("read", {"path": "x"})))
    assert carried(said)
    (restored,) = seen(client, said)
    assert restored.origin == CLAUDE.origin("model-1")
    truncated = reseal(said, lambda text: text[: len(text) // 2])
    forged = reseal(said, lambda text: text[:60] + ("A" if text[60] != "A" else "B") + text[61:])
    no_base64 = reseal(said, lambda text: text[:8] + "…" + text[9:])
    for entry in (truncated, forged, no_base64):
        (ignored,) = seen(client, entry)
        assert (ignored.origin, carried(ignored)) == (None, [])
        assert (ignored.text, ignored.calls[0].arguments) == ("hello", {"path": "x"})
    for foreign in (seen(client, said, tenant="tenant-2"), seen(client, said, sealer=Sealer(b"other"))):
        assert (foreign[0].origin, carried(foreign[0])) == (None, [])


@EVERY_CLIENT
def test_a_carrier_beside_another_answer_is_left_out(client: Delivery) -> None:
    first = returned(client, answer(THOUGHT, ToolCall("read", {"path": "x"})), "answer1")
    second = returned(client, answer(THOUGHT, ToolCall("read", {"path": "x"})), "answer2")
    moved = replace(first, blocks=(*(block for block in first.blocks if block.native), *second.calls))
    if client.door.dialect is Dialect.GEMINI:  # whose carrier stands on the call itself
        moved = replace(first, blocks=(replace(second.calls[0], native=first.calls[0].native),))
    (restored,) = seen(client, moved)
    assert (restored.origin, carried(restored)) == (None, [])
    assert [call.wire_id for call in restored.calls] == [call.wire_id for call in second.calls]


@pytest.mark.parametrize("name", ["anthropic", "responses", "responses, unasked"])
def test_a_carrier_that_was_sealed_before_the_calls_is_held_against_them(name: str) -> None:
    client, said = CLIENTS[name], answer(THOUGHT, ToolCall("read", {"path": "x"}))

    def streamed(answer_id: str) -> Entry:
        voice = AnswerSpeaker(replace(client, tenant=TENANT), SEALER, answer_id)
        voice.begin(CLAUDE, "acme/model-1")
        chunks = [chunk for delta in deltas_of(said) for chunk in voice.feed(delta)]
        entry = sent_back(body_of([*chunks, *voice.finish(said)], client.door), client.door.dialect)
        assert entry is not None
        return entry

    first, second = streamed("answer1"), streamed("answer2")
    assert [entry.origin is None for entry in seen(client, first, second)] == [False, False]
    (moved,) = seen(client, replace(first, blocks=(first.blocks[0], *second.calls)))
    assert (moved.origin, carried(moved)) == (None, [])
    (alone,) = seen(client, replace(first, blocks=(first.blocks[0], *first.calls, *second.calls)))
    assert (alone.origin, carried(alone)) == (None, [])


@EVERY_CLIENT
def test_a_carrier_beside_another_text_is_left_out(client: Delivery) -> None:
    said = returned(client, answer(THOUGHT, Text("hello")))
    other = replace(
        said, blocks=tuple(replace(one, text="bye") if isinstance(one, Text) else one for one in said.blocks)
    )
    (restored,) = seen(client, other)
    assert (restored.text, restored.origin, carried(restored)) == ("bye", None, [])


@EVERY_CLIENT
def test_white_space_that_a_client_trims_is_no_other_text(client: Delivery) -> None:
    said = returned(client, answer(THOUGHT, Text("hello  there\n")))
    trimmed = replace(
        said,
        blocks=tuple(replace(one, text="hello there") if isinstance(one, Text) else one for one in said.blocks),
    )
    (restored,) = seen(client, trimmed)
    assert [block for block in restored.blocks if isinstance(block, Thinking)] == [THOUGHT]


@pytest.mark.parametrize("name", ["anthropic", "responses"])
def test_a_thought_that_a_client_changed_is_not_the_models(name: str) -> None:
    client = CLIENTS[name]
    said = returned(client, answer(THOUGHT, Text("hello")))
    changed = replace(said, blocks=(replace(said.blocks[0], text="I never thought so"), *said.blocks[1:]))
    (restored,) = seen(client, changed)
    assert (restored.origin, carried(restored)) == (None, [])


@pytest.mark.parametrize("name", [name for name in CLIENTS if not name.startswith("gemini")])
def test_of_two_answers_in_one_entry_the_one_counts_whose_calls_are_there(name: str) -> None:
    """Codex sends the reasoning of an answer that failed, and then that of the one that came after it."""
    client = CLIENTS[name]
    orphan = returned(client, answer(Thinking("before", native={"signature": "a"}), Text("x")), "answer1")
    said = returned(client, answer(THOUGHT, ToolCall("read")), "answer2")
    for blocks in ((orphan.blocks[0], *said.blocks), (*said.blocks, orphan.blocks[0])):
        restored, known = restore([replace(said, blocks=blocks)], client.door.dialect, SEALER, TENANT)
        assert known == {0: Provenance("answer2", "acme/model-1")}
        assert [block for block in restored[0].blocks if isinstance(block, Thinking)] == [THOUGHT]


@pytest.mark.parametrize(
    "recode", [lambda data: urlsafe_b64encode(data).decode(), lambda data: b64encode(data).decode().rstrip("=")]
)
def test_google_may_spell_the_bytes_anew(recode: Any) -> None:
    client = CLIENTS["gemini"]
    said = returned(
        client, answer(*[replace(THOUGHT, text=str(number) * number) for number in range(1, 9)], Text("hi"))
    )
    (restored,) = seen(client, reseal(said, lambda text: recode(b64decode(text))))
    assert len([block for block in restored.blocks if isinstance(block, Thinking)]) == 8


@EVERY_CLIENT
def test_answers_without_a_carrier_and_everything_else_stay_as_they_are(client: Delivery) -> None:
    entries: Sequence[Entry] = [
        Entry(Side.HUMAN, (Text("hi"),)),
        Entry(Side.AI, (Thinking("hm", native={"signature": "theirs", "thoughtSignature": "theirs"}), Text("hello"))),
        Entry(Side.AI, (Text("more"),), origin=Origin("a", "b")),
    ]
    assert restore(entries, client.door.dialect, SEALER, TENANT) == (entries, {})


def test_an_entry_of_which_nothing_is_left_stays_in_its_place() -> None:
    client = CLIENTS["anthropic"]
    said = returned(client, answer(Thinking("", native={"data": "hidden"}), Text("x")))
    alone = replace(said, blocks=said.blocks[:1])
    assert seen(client, alone, tenant="tenant-2") == [Entry(Side.AI, (Thinking(),))]


# --- what stood where -------------------------------------------------------------------------------------------------

INTERLEAVED = (
    Thinking("first", native={"signature": "1"}),
    Text("I look. "),
    Thinking("second", native={"signature": "2"}),
    Text("And there.", native={"citations": [{"type": "char_location"}]}),
    ToolCall("read", native={"caller": {"type": "program"}}),
    Thinking("third", native={"signature": "3"}),
    ToolCall("list"),
)


def told(blocks: Sequence[Block]) -> list[tuple[str, str, JsonObject | None]]:
    return [
        (type(block).__name__, getattr(block, "text", None) or getattr(block, "name", ""), block.native)
        for block in blocks
    ]


@pytest.mark.parametrize("name", ["responses", "responses, unasked", "gemini", "gemini, unasked"])
def test_everything_is_where_the_model_said_it(name: str) -> None:
    """Also where the client shows no thought, or joins texts that follow each other."""
    client = CLIENTS[name]
    assert told(seen(client, returned(client, answer(*INTERLEAVED)))[0].blocks) == told(INTERLEAVED)


@pytest.mark.parametrize("name", ["chat", "mistral"])
def test_in_a_chat_message_texts_come_before_calls_and_all_else_is_where_it_was(name: str) -> None:
    client = CLIENTS[name]
    assert told(seen(client, returned(client, answer(*INTERLEAVED)))[0].blocks) == told(INTERLEAVED)


def test_thoughts_that_no_text_parts_are_one_block_and_come_apart_again() -> None:
    client = CLIENTS["anthropic"]
    thoughts = (*(Thinking(text, native={"item": {"id": text}}) for text in ("one", "two", "")), Thinking("no native"))
    said = returned(client, answer(*thoughts, Text("so")))
    assert [block.text for block in said.blocks if isinstance(block, Thinking)] == ["one\n\ntwo\n\nno native"]
    assert seen(client, said)[0].blocks == (*thoughts, Text("so"))
