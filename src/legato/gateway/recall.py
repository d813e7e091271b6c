"""Know a client's conversation again: who gave the answers in it, and what is already rendered of it.

In:  a parsed request.
Out: a `Conversation` whose answers have their origin, thoughts and opaque data back, as far as anything is known of
     them; and which route is in the middle of a turn.

What an answer really was is asked of three sources, in this order:

    call id    ids are made by the gateway and unique, so a remembered answer is found by any of its calls, all of it,
               even if the client gives only some of its carriers back
    carrier    what the client gives back unread (`carriers`); needs no memory
    place      the answer with these words that was given behind exactly this beginning (`chain`)

All three come to the same. An answer that nobody knows is what the client says it is, without thoughts. The client's
own words and arguments always win.

A conversation is kept while its client thinks, with all that was rendered of it, so the next request costs what is new
in it. It belongs to one request at a time: another one that begins the same builds its own. An answer is not recorded
when it is given but when the client shows it, in the client's spelling. So a conversation is the same whether it was
kept or is built anew, and a request that comes again finds it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from msgspec import Struct, field
from msgspec.structs import replace

from legato.gateway.carriers import Sealer, restore
from legato.gateway.chain import BEGINNING, SIZE, answer_digest, links
from legato.gateway.giving_back import as_given, joined, visible
from legato.gateway.judged import SaidJudge
from legato.gateway.scans import Scan
from legato.gateway.state import MAX_ANSWER_KEYS, GatewayState, GivenAnswer, RecentlyUsed, size_of
from legato.model import (
    Authority,
    CallId,
    Dialect,
    Entry,
    JsonObject,
    Origin,
    Speaker,
    Target,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
)
from legato.request.render_cache import RenderCache
from legato.transcript.conversation import Conversation
from legato.transport.stored_responses import Stored
from legato.wire.contract import Parsed

MAX_CONVERSATIONS = 256
"""conversations that are kept warm: our choice, more than one person has open"""

MAX_BYTES = 256 << 20
"""bytes that they may take together: our choice, what a small machine can spare"""

_HUMAN, _AI, _TOOL = Speaker


class Turns(Struct):
    """Who has answered so far: a fold over the entries of a conversation."""

    last: str = ""
    """the route of the last answer; empty if it is unknown"""
    count: int = 0
    """how many turns in a row it has answered"""
    is_answered: bool = False
    """whether somebody has answered in the newest turn"""

    def begin(self) -> None:
        """A person says something."""
        self.is_answered = False

    def answer(self, route: str) -> None:
        """`route` answers, or somebody who is unknown."""
        if not route:
            self.count = 0
        elif route != self.last:
            self.count = 1
        elif not self.is_answered:
            self.count += 1
        self.last, self.is_answered = route, True


class Told(Struct):
    """A conversation and what is known of it: while a request uses it, and while it waits for the next one."""

    recorded: Conversation = field(default_factory=Conversation)
    unrecorded: list[Entry] = field(default_factory=list[Entry])
    """what was said since; it is recorded when somebody asks for the conversation, and what goes through as it came
    never is"""
    links: list[bytes] = field(default_factory=list[bytes])
    """what the client said in it, entry by entry (`chain`)"""
    turns: Turns = field(default_factory=Turns)
    places: dict[str, int] = field(default_factory=dict[str, int])
    """the keys of the places where an answer was looked for, and how many had been given by then"""
    thinkers: list[Origin] = field(default_factory=list[Origin])
    """where the answers in it were made that hold reasoning"""
    size: int = 0
    """about how many bytes its entries take"""
    judge: SaidJudge = field(default_factory=SaidJudge)
    """what the client's own provider would refuse of it"""

    @property
    def talk(self) -> Conversation:
        """What was said, with the answers as they were given. Whoever asks makes what was not recorded yet recorded."""
        if self.unrecorded:
            self.recorded.take(self.unrecorded)
            self.unrecorded = []
        return self.recorded

    @property
    def bytes_held(self) -> int:
        """About how many bytes it takes, with what is rendered of it."""
        return self.size + (RenderCache.of(self.recorded).bytes_held if len(self.recorded) else 0)

    def refused_content(self, target: Target) -> frozenset[CallId]:
        """The calls in it whose media the provider of `target` has refused."""
        return self.recorded.ledger.refused_content.get(target.provider, frozenset())


class Recalled(Struct):
    """A conversation, as far as it is known, while one request uses it."""

    told: Told
    route: str
    """the route whose turn it is: the request ends in results of calls that its answer asked for; empty: nobody's"""
    is_warm: bool
    """whether the conversation was kept from a request before"""
    new: int
    """how many entries of the request are new to it"""
    is_out: bool = True
    """whether the request still uses it"""

    @property
    def talk(self) -> Conversation:
        """What was said, with the answers as they were given."""
        return self.told.talk

    @property
    def links(self) -> list[bytes]:
        """What the client said, entry by entry (`chain`)."""
        return self.told.links

    @property
    def last(self) -> str:
        """The route of the last answer; empty if it is unknown."""
        return self.told.turns.last

    @property
    def turns(self) -> int:
        """How many turns in a row `last` has answered."""
        return self.told.turns.count


class Recall:
    """What is known of conversations."""

    def __init__(
        self, sealer: Sealer, state: GatewayState, *, conversations: int = MAX_CONVERSATIONS, max_bytes: int = MAX_BYTES
    ) -> None:
        self._sealer = sealer
        self._state = state
        self._kept: RecentlyUsed[Told] = RecentlyUsed(conversations, max_bytes)
        self._count = 0
        """how many answers were given"""
        self._given: RecentlyUsed[int] = RecentlyUsed(MAX_ANSWER_KEYS, MAX_ANSWER_KEYS)
        """the number of the newest answer at each place"""

    # --- conversations ------------------------------------------------------------------------------------------------

    async def take(
        self, parsed: Parsed, dialect: Dialect, tenant: str, known_links: Scan[Entry, bytes] | None = None
    ) -> Recalled:
        """The conversation of a request. Whoever takes it calls `keep` or `give_back` when the request is over.

        `known_links` are those that the same client's requests had before.
        """
        chain = links(parsed.entries, known_links)
        kept = self._longest(tenant, chain)
        told = kept or Told()
        known, told.links = len(told.links), chain
        results = _last_results(parsed)
        clues = {
            index: _Clues.of(parsed.entries[index], chain, index)
            for index in range(known, len(chain))
            if parsed.entries[index].speaker is _AI
        }
        asked = dict.fromkeys([*(key for one in clues.values() for key in one.keys), *_call_keys(results)])
        given = await self._state.find(tenant, list(asked))
        news: list[Entry] = []
        for index in range(known, len(chain)):
            entry = parsed.entries[index]
            if entry.speaker is _AI:
                clue, tools = clues[index], parsed.tools
                entry, route = self._attributed(told, entry, clue, given, dialect, tenant, tools=tools)
                told.turns.answer(route)
                if entry.origin is not None and entry.origin not in told.thinkers and holds_reasoning(entry):
                    told.thinkers.append(entry.origin)
            elif _is_from_person(parsed, index):
                told.turns.begin()
            if entry.blocks:  # nothing is left of thoughts of somebody unknown
                news.append(entry)
        told.unrecorded += news
        told.size += size_of(news)
        route = _begun_by(results, told.turns, given)
        return Recalled(told, route, is_warm=kept is not None, new=len(chain) - known)

    async def keep(self, recalled: Recalled, answer: Entry, route: str, tenant: str, response_id: str = "") -> None:
        """Remember `answer`, with the ids that the client sees, and keep the conversation for the next request."""
        clues = _Clues.of(answer, recalled.links, len(recalled.links))
        await self._state.remember(tenant, clues.keys, GivenAnswer(answer, route, response_id))
        self._count += 1
        self._given.put(tenant, clues.place, self._count, 1)
        self.give_back(recalled, tenant)

    def give_back(self, recalled: Recalled, tenant: str) -> None:
        """Keep the conversation as the client told it: the request is over, and nothing was answered."""
        if not recalled.is_out or not recalled.links:
            return
        recalled.is_out = False
        told = recalled.told
        self._kept.put(tenant, told.links[-1], told, told.bytes_held)

    def _longest(self, tenant: str, chain: Sequence[bytes]) -> Told | None:
        """The kept conversation that holds most of the beginning, and nothing else; it is kept no longer."""
        for link in reversed(chain):
            kept = self._kept.pop(tenant, link)
            if kept is not None and not self._is_outdated(kept, tenant):
                return kept
        return None

    def _is_outdated(self, told: Told, tenant: str) -> bool:
        """Whether an answer was given at one of its places since it was looked for there."""
        return any((self._given.get(tenant, place) or 0) > then for place, then in told.places.items())

    # --- answers ------------------------------------------------------------------------------------------------------

    def _attributed(
        self,
        told: Told,
        entry: Entry,
        clues: _Clues,
        known: Mapping[str, GivenAnswer],
        dialect: Dialect,
        tenant: str,
        *,
        tools: Sequence[ToolSpec],
    ) -> tuple[Entry, str]:
        """The answer that `entry` shows as it was given, and the route that gave it."""
        given = _first(clues.calls, known)
        if given is None:
            told.places[clues.place] = self._count
            (carried,), carriers = restore([entry], dialect, self._sealer, tenant)
            if carriers:
                return replace(carried, blocks=joined(carried.blocks)), carriers[0].route
            given = known.get(clues.place)
        if given is None:
            return visible(entry), ""
        return as_given(visible(entry), given, tools), given.route

    # --- responses that are kept --------------------------------------------------------------------------------------

    async def stored(self, response_id: str, tenant: str) -> Stored | None:
        """A response that was kept, with the request that led to it; None if it is unknown."""
        return await self._state.response(tenant, response_id)

    async def stored_with(self, item_id: str, tenant: str) -> Stored | None:
        """The response that an item of this id belongs to; None if it is unknown."""
        return await self._state.response_with(tenant, item_id)

    async def keep_response(self, response: JsonObject, body: JsonObject, tenant: str) -> None:
        """Keep a response as the client saw it. `body` is its request with all that came before (`go_on_from`)."""
        await self._state.keep_response(Stored(tenant, response, body))

    async def forget(self, response_id: str, tenant: str) -> bool:
        """Keep a response no longer; whether it was there."""
        return await self._state.forget_response(tenant, response_id)


# --- keys -------------------------------------------------------------------------------------------------------------


class _Clues(Struct, frozen=True):
    """What an answer may be remembered under."""

    calls: list[str]
    place: str

    @classmethod
    def of(cls, answer: Entry, chain: Sequence[bytes], index: int) -> _Clues:
        """The clues of `answer`, which stands at `index` of what `chain` is of."""
        return cls(_call_keys(answer.calls), _place_key(chain, index, answer))

    @property
    def keys(self) -> list[str]:
        return [*self.calls, self.place]


def _call_keys(blocks: Iterable[ToolCall | ToolResponse]) -> list[str]:
    return [f"call {block.wire_id}" for block in blocks if block.wire_id]


def _first(keys: Iterable[str], known: Mapping[str, GivenAnswer]) -> GivenAnswer | None:
    return next((known[key] for key in keys if key in known), None)


def _place_key(chain: Sequence[bytes], index: int, answer: Entry) -> str:
    """An answer and where it was given: words such as "Done." are said in many places, with other thoughts."""
    before = chain[index - 1] if index else BEGINNING
    return f"place {blake2b(before + answer_digest(answer), digest_size=SIZE).hexdigest()}"


def holds_reasoning(entry: Entry) -> bool:
    """Whether there is reasoning in an answer, a provider's or a carrier of ours: nobody takes what is not its own."""
    return entry.speaker is _AI and any(
        isinstance(block, Thinking) or "thoughtSignature" in (block.native or ()) for block in entry.blocks
    )


# --- turns ------------------------------------------------------------------------------------------------------------


def _is_from_person(parsed: Parsed, index: int) -> bool:
    """Whether a person begins a turn with this entry."""
    entry = parsed.entries[index]
    return entry.speaker is _HUMAN and entry.authority is Authority.PERSON and not _is_beside_results(parsed, index)


def _is_beside_results(parsed: Parsed, index: int) -> bool:
    """Whether the entry stands in one message with results, such as an image that a tool gave, or a reminder."""
    entries, places = parsed.entries, parsed.places
    near = [at for at in (index - 1, index + 1) if 0 <= at < len(places) and entries[at].speaker is _TOOL]
    here = parsed.messages_of(index) if near else range(0)
    return any(number in here for at in near for number in parsed.messages_of(at))


def _begun_by(results: Sequence[ToolResponse], turns: Turns, known: Mapping[str, GivenAnswer]) -> str:
    """The route whose calls a request ends in `results` of."""
    if not results:
        return ""
    if turns.is_answered and turns.last:
        return turns.last
    given = _first(_call_keys(results), known)
    return "" if given is None else given.route


def _last_results(parsed: Parsed) -> list[ToolResponse]:
    """The results that the request ends in; none if it ends in anything else."""
    for index in range(len(parsed.entries) - 1, -1, -1):
        entry = parsed.entries[index]
        if entry.speaker is _TOOL:
            return [block for block in entry.blocks if isinstance(block, ToolResponse)]
        if entry.speaker is _AI or _is_from_person(parsed, index):
            return []
    return []
