"""Whatever clients do: a conversation that was kept and one that is built anew are the same request to everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, field
from msgspec.structs import replace

from legato.gateway.chain import links
from legato.gateway.recall import Recall, Recalled
from legato.gateway.state import MemoryState
from legato.model import Block, Dialect, Entry, Options, Text, Thinking, ToolCall, safe
from legato.request import render
from legato.wire.contract import Parsed

from builders import ROUTES, ai, instruction, origin, response, tool, user
from strategies import NATIVES, entries

BACKENDS = ROUTES[:7]
"""one of each family that a gateway stands before"""
TENANT = "t"
TEXTS = st.sampled_from(["Done.", "I look", " I\nlook ", ""])
Spelling: TypeAlias = Callable[[Entry], list[Entry]]


def unsealed(entry: Entry, dialect: Dialect, tenant: str) -> None:
    """No client returns a carrier."""


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


def as_parsed(entry: Entry) -> Entry:
    """`entry` as a parser makes it."""
    return safe(replace(entry, answer=None, ending=None, origin=None))


class Client(Struct):
    """Clients of one gateway: what they have said and heard, on every branch."""

    memory: Recall
    cold: Recall
    """the same without any conversation kept"""
    branches: list[list[Entry]] = field(default_factory=lambda: [[]])
    calls: int = 0

    def ask(self, said: list[Entry]) -> Recalled:
        parsed = Parsed(said, places=list(range(len(said))))
        warm = self.memory.take(parsed, Dialect.ANTHROPIC, TENANT)
        cold = self.cold.take(parsed, Dialect.ANTHROPIC, TENANT)
        assert not cold.is_warm
        assert (warm.route, warm.last, warm.turns) == (cold.route, cold.last, cold.turns)
        assert warm.talk.entries == cold.talk.entries
        self.cold.give_back(cold, TENANT)
        return warm

    def mint(self) -> str:
        self.calls += 1
        return f"toolu_{self.calls}"


def answers(client: Client, route: str) -> st.SearchStrategy[Entry]:
    """An answer of `route`, with the ids that the gateway mints."""
    dialect = origin(route).dialect
    natives = st.sampled_from([None, *NATIVES.get(dialect, [])])
    blocks = st.one_of(
        st.builds(Text, TEXTS, native=natives),
        st.builds(Thinking, st.sampled_from(["hm", "so be it"]), native=natives),
        st.builds(lambda native: ToolCall("read", {"path": "x"}, client.mint(), native=native), natives),
    )
    return st.lists(blocks, min_size=1, max_size=4).map(lambda made: ai(*made, origin=origin(route)))


def bodies(recalled: Recalled, route: str) -> list[bytes]:
    """What is sent, if the model thinks and if it does not.

    Without cache marks: a conversation that was kept knows where its last request ended, and marks that as well.
    """
    return [
        render(recalled.talk, route, options=Options(cache=False, effort=effort)).json() for effort in (None, "high")
    ]


class World:
    """Draws what happens next."""

    def __init__(self, data: st.DataObject, client: Client) -> None:
        self._draw = data.draw
        self._client = client

    def step(self) -> None:
        client, draw = self._client, self._draw
        branch = draw(st.integers(0, len(client.branches) - 1))
        said = client.branches[branch]
        if draw(st.booleans()) and said:  # a fork, or the same request again
            said = said[: draw(st.integers(1, len(said)))]
            client.branches.append(said)
        else:
            said = client.branches[branch] = [*said, *self._news(said)]
        recalled = client.ask(said)
        route = recalled.route or draw(st.sampled_from(BACKENDS))
        body = bodies(recalled, route)
        anew = client.cold.take(Parsed(said), Dialect.ANTHROPIC, TENANT)
        assert body == bodies(anew, route)
        if draw(st.integers(0, 4)) == 0:
            client.memory.give_back(recalled, TENANT)
            return
        answer = draw(answers(client, route))
        client.memory.keep(recalled, answer, route, TENANT)
        shown = draw(st.sampled_from(SPELLINGS))(replace(answer, origin=None))
        client.branches.append([*said, *shown])

    def _news(self, said: list[Entry]) -> list[Entry]:
        open_calls = said[-1].calls if said else ()
        if open_calls and self._draw(st.integers(0, 4)):
            return [tool(*(response(call.wire_id) for call in open_calls))]
        return [
            self._draw(st.one_of(st.just(user("go on")), st.just(instruction("be brief")), entries().map(as_parsed)))
        ]


@given(st.data())
def test_a_conversation_is_the_same_kept_or_built_anew(data: st.DataObject):
    state = MemoryState()
    client = Client(Recall(unsealed, state), Recall(unsealed, state, conversations=0))
    world = World(data, client)
    for _ in range(data.draw(st.integers(2, 12))):
        world.step()


@given(st.lists(entries(), max_size=6), st.lists(entries(), max_size=3))
def test_a_longer_conversation_begins_with_the_links_of_the_shorter(said: list[Entry], more: list[Entry]):
    assert links([*said, *more])[: len(said)] == links(said)
