"""Whatever clients do: a conversation that was kept and one that is built anew are the same request to everybody."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_support import CLIENTS, at_once, sent_back
from legato.gateway.carriers import Sealer
from legato.gateway.chain import links
from legato.gateway.recall import Recall, Recalled
from legato.gateway.speakers import AnswerSpeaker
from legato.gateway.state import MemoryState
from legato.model import Answer, Block, Dialect, Entry, JsonObject, Options, Text, Thinking, ToolCall, safe
from legato.request import render, resolve
from legato.wire.contract import Parsed

from builders import ROUTES, ai, instruction, origin, response, tool, user
from strategies import entries

BACKENDS = ROUTES[:7]
"""one of each family that a gateway stands before"""
TENANT = "t"
SEALER, OTHER_SEALER = Sealer(b"a key of this deployment"), Sealer(b"that of another")
TEXTS = st.sampled_from(["Done.", "I look", " I\nlook "])
SIGNED: JsonObject = {"thoughtSignature": "c2ln"}
OWN: dict[str, dict[type[Block], tuple[JsonObject, ...]]] = {
    "anthropic": {Thinking: ({"signature": "c2ln"}, {"signature": "c2lm"})},
    "gemini": {Text: (SIGNED,), Thinking: (SIGNED,), ToolCall: (SIGNED,)},
    "openai_responses": {
        Text: ({"phase": "commentary"},),
        Thinking: ({"item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}},),
    },
    "openai_chat": {Thinking: ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln"}]},)},
}
"""opaque data as the backends give it out"""
Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]
Spelling: TypeAlias = Callable[[Entry], list[Entry]]


# --- what a client makes of an answer ---------------------------------------------------------------------------------


def without(entry: Entry, kind: type[Block]) -> list[Entry]:
    blocks = tuple(block for block in entry.blocks if not isinstance(block, kind))
    return [replace(entry, blocks=blocks)] if blocks else []


def in_one_text(entry: Entry) -> list[Entry]:
    return [ai(*([entry.text] if entry.text else []), *entry.calls)] if entry.text or entry.calls else []


def in_letters(entry: Entry) -> list[Entry]:
    """Each text cut into letters."""
    blocks = [Text(letter) for letter in entry.text] or [Text("")]
    return [replace(entry, blocks=(*blocks, *entry.calls))]


def in_messages(entry: Entry) -> list[Entry]:
    return [ai(block) for block in entry.blocks if not isinstance(block, Thinking)]


def without_ids(entry: Entry) -> list[Entry]:
    blocks = (replace(block, wire_id="") if isinstance(block, ToolCall) else block for block in entry.blocks)
    return [replace(entry, blocks=tuple(blocks))]


SPELLINGS: tuple[Spelling, ...] = (
    lambda entry: [entry],
    lambda entry: [entry],
    lambda entry: without(entry, Thinking),
    lambda entry: without(entry, Text),
    lambda entry: without(entry, ToolCall),
    in_one_text,
    in_letters,
    in_messages,
    without_ids,
    lambda entry: [replace(entry, blocks=(*entry.blocks, Text("!")))],
    lambda entry: [],
)


def joined(entry: Entry) -> list[Entry]:
    """All texts as one."""
    others = [block for block in entry.blocks if not isinstance(block, Text)]
    return [replace(entry, blocks=(Text(entry.text), *others))]


RESPELLINGS: tuple[Spelling, ...] = (
    lambda entry: without(entry, Thinking),
    lambda entry: [replace(entry, blocks=tuple(block for one in entry.blocks for block in in_halves(one)))],
    joined,
    lambda entry: [replace(entry, blocks=(block,)) for block in entry.blocks],
)
"""what a client may do later to an entry that it has shown before"""


def in_halves(block: Block) -> list[Block]:
    if not isinstance(block, Text):
        return [block]
    half = len(block.text) // 2
    return [replace(block, text=block.text[:half]), replace(block, text=block.text[half:])]


def parsed_entries() -> st.SearchStrategy[Entry]:
    """Any entry that a parser can make."""
    return entries().map(lambda entry: safe(replace(entry, answer=None, ending=None, origin=None)))


def answers(route: str, wire_ids: Iterator[str]) -> st.SearchStrategy[Entry]:
    """An answer of `route`."""
    natives = OWN.get(origin(route).dialect, {})
    of_texts, of_thoughts, of_calls = (
        st.sampled_from([None, *natives.get(kind, ())]) for kind in (Text, Thinking, ToolCall)
    )
    thoughts = st.builds(Thinking, st.sampled_from(["hm", "so be it"]), native=of_thoughts)
    texts = st.builds(Text, TEXTS, native=of_texts)
    calls = st.builds(lambda native: ToolCall("read", {"path": "x"}, next(wire_ids), native=native), of_calls)
    return st.builds(
        lambda thought, others: ai(thought, *others, origin=origin(route)),
        thoughts,
        st.lists(st.one_of(thoughts, texts, calls), max_size=4),
    )


def bodies(recalled: Recalled, route: str) -> list[bytes]:
    """What is sent, if the model thinks and if it does not.

    Without cache marks: a conversation that was kept knows where its last request ended, and marks that as well.
    """
    return [
        render(recalled.talk, route, options=Options(cache=False, effort=effort)).json() for effort in (None, "high")
    ]


class Clients:
    """Clients of one gateway: what they have said and heard, on every branch; what they do next is drawn."""

    def __init__(self, draw: Draw) -> None:
        state = MemoryState()
        self._draw = draw
        self._memory, self._cold = Recall(SEALER, state), Recall(SEALER, state, conversations=0)
        self._branches: list[list[Entry]] = [[]]
        self._wire_ids = (f"toolu_{number}" for number in count())

    def step(self) -> None:
        """One request, and its answer."""
        draw = self._draw
        said = self._ask()
        parsed = Parsed(said, places=list(range(len(said))))
        kept, anew = (at_once(memory.take(parsed, Dialect.ANTHROPIC, TENANT)) for memory in (self._memory, self._cold))
        route = kept.route or draw(st.sampled_from(BACKENDS))
        assert not anew.is_warm
        assert (kept.route, kept.last, kept.turns) == (anew.route, anew.last, anew.turns)
        assert kept.talk.entries == anew.talk.entries
        assert bodies(kept, route) == bodies(anew, route)
        if draw(st.integers(0, 4)) == 0:
            self._memory.give_back(kept, TENANT)
            return
        answer = draw(answers(route, self._wire_ids))
        at_once(self._memory.keep(kept, answer, route, TENANT))
        shown = draw(st.sampled_from(SPELLINGS))(replace(answer, origin=None))
        self._branches.append([*said, *shown])

    def _ask(self) -> list[Entry]:
        branch = self._draw(st.integers(0, len(self._branches) - 1))
        said = self._branches[branch]
        if said and self._draw(st.booleans()):  # a fork, or the same request again
            said = said[: self._draw(st.integers(1, len(said)))]
            if self._draw(st.booleans()):
                index = self._draw(st.integers(0, len(said) - 1))
                said = [*said[:index], *self._draw(st.sampled_from(RESPELLINGS))(said[index]), *said[index + 1 :]]
            self._branches.append(said)
            return said
        self._branches[branch] = [*said, self._news(said)]
        return self._branches[branch]

    def _news(self, said: list[Entry]) -> Entry:
        open_calls = said[-1].calls if said else ()
        if open_calls and self._draw(st.integers(0, 4)):
            return tool(*(response(call.wire_id) for call in open_calls))
        return self._draw(st.one_of(st.sampled_from([user("go ", "on"), instruction("be brief")]), parsed_entries()))


@given(st.data())
def test_a_conversation_is_the_same_kept_or_built_anew(data: st.DataObject):
    clients = Clients(data.draw)
    for _ in range(data.draw(st.integers(2, 8))):
        clients.step()


@given(st.data())
def test_a_conversation_is_the_same_kept_remembered_or_carried(data: st.DataObject):
    client = replace(data.draw(st.sampled_from(list(CLIENTS.values()))), tenant=TENANT)
    dialect = client.door.dialect
    state = MemoryState()
    keeping, remembering = Recall(SEALER, state), Recall(OTHER_SEALER, state, conversations=0)
    said: list[Entry] = []
    for number in range(data.draw(st.integers(1, 4))):
        calls = said[-1].calls if said else ()
        said.append(tool(*(response(call.wire_id) for call in calls)) if calls else user("go on"))
        parsed = Parsed(said, places=list(range(len(said))))
        memories = (keeping, remembering, Recall(SEALER, MemoryState()))
        kept, remembered, carried = (at_once(memory.take(parsed, dialect, TENANT)) for memory in memories)
        assert (kept.is_warm, remembered.is_warm, carried.is_warm) == (number > 0, False, False)
        route = kept.route or data.draw(st.sampled_from(BACKENDS))
        for target in BACKENDS:
            assert bodies(kept, target) == bodies(remembered, target) == bodies(carried, target)
        assert kept.route == remembered.route == carried.route
        assert (kept.last, kept.turns) == (remembered.last, remembered.turns) == (carried.last, carried.turns)

        given_ids = (f"backend {number}" for number in count())
        answer = data.draw(answers(route, given_ids).filter(lambda entry: bool(entry.text or entry.calls)))
        speaker = AnswerSpeaker(client, SEALER, f"answer {number}")
        speaker.begin(resolve(route), route)
        shown = sent_back(json.loads(speaker.whole(Answer(answer))), dialect)
        assert shown is not None
        said = [*said, shown]
        at_once(keeping.keep(kept, speaker.entry, route, TENANT))


@given(st.lists(entries(), max_size=6), st.lists(entries(), max_size=3))
def test_a_longer_conversation_begins_with_the_links_of_the_shorter(said: list[Entry], more: list[Entry]):
    assert links([*said, *more])[: len(said)] == links(said)
