"""One simulated provider: a request in, a reply out, nothing in between but computation.

In:  an `Ask`.
Out: an `Outcome`: the reply, and why it is so (a refusal, a fault that was asked for).

It refuses what the real one refuses, in its words; what is in order is answered by the small model of `model`,
with this provider's ids and signatures. All it remembers is how many requests it had, which failures it was to show
only once, which prompts it has read and which responses it keeps, so the same requests in the same order get the same
replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import (
    Answer,
    Block,
    Dialect,
    Ending,
    Entry,
    JsonObject,
    Platform,
    Speaker,
    Target,
    Thinking,
    ToolCall,
    Usage,
)
from legato.model.hashing import base62, digest
from legato.model.safety import safe
from legato.request import Catalogue, default_catalogue
from legato.request.model_list import names_of
from legato.request.thinking import will_think
from legato.simulation.contract import Reply
from legato.simulation.faults.effects import (
    REFUSED_WITH,
    malformed_call,
    spoil_answer,
    spoil_reply,
    truncate,
    visible_size,
)
from legato.simulation.faults.plan import FaultKind, FaultSource, InjectedFault
from legato.simulation.ids import name_call
from legato.simulation.model.forms import wanted_form
from legato.simulation.model.memory import Memory
from legato.simulation.model.offers import Offer, dress_calls, read_offers
from legato.simulation.model.speak import Character, Spoken, speak
from legato.simulation.prompt_cache import BYTES_PER_TOKEN, PromptCache
from legato.simulation.reasoning import Signing, sign_answer
from legato.simulation.refusals import SimulatedRefusal, print_refusal
from legato.simulation.request_gate import RequestGate, ValidRequest
from legato.simulation.wordings import refuse
from legato.transport import http_api
from legato.transport.compaction_items import compacted_content, compaction_block, compaction_body, ends_with_trigger
from legato.transport.contract import Ask
from legato.transport.model_cards import ModelCard, count_body, list_models, one_model
from legato.transport.operations import Operation
from legato.transport.outgoing import EVENT_FRAMES
from legato.transport.server_habits import habits_of
from legato.transport.stored_responses import Stored, StoredResponses, list_inputs
from legato.wire.dialects import dialect_parts
from legato.wire.event_stream import write_chunk
from legato.wire.hosting import IdHabit, RefusalReason, ServerHabits
from legato.wire.sse import SSEParser

SECRET = "legato-simulation"
"""under which signatures are made; it guards nothing"""


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a request. `refusal` is set if it was not in order, `fault` if a failure was asked for."""

    reply: Reply
    model: str = ""
    refusal: SimulatedRefusal | None = None
    fault: InjectedFault | None = None


class SimulatedProvider:
    """A provider by its name in the catalogue.

    `resolve` replaces the catalogue: from a model's name to a target. `ids` gives its model another habit of naming
    calls, `window` another limit. Without `checks_signatures`, reasoning that is not its own and responses that it does
    not keep are let in, as recorded requests hold them.
    """

    def __init__(
        self,
        name: str,
        *,
        catalogue: Catalogue | None = None,
        resolve: Callable[[str], Target] | None = None,
        faults: FaultSource | None = None,
        checks_signatures: bool = True,
        needs_key: bool = False,
        window: int | None = None,
        ids: IdHabit | None = None,
        secret: str = SECRET,
    ) -> None:
        book = catalogue or default_catalogue()
        resolve = resolve or (lambda model: book.resolve(f"{name}/{model}"))
        self.name = name
        self.example = book.providers[name].example if name in book.providers else "any"
        self.dialect: Dialect = resolve("any").dialect
        self.habits: ServerHabits = habits_of(name, self.dialect)
        self.faults = faults
        self.ids = ids
        self._cache = PromptCache(self.habits.cache)
        self._stored = StoredResponses()
        self._shelf = (names_of(book, name) if name in book.providers else []) or [self.example or "any"]
        self._gate = RequestGate(
            habits=self.habits,
            dialect=self.dialect,
            resolve=resolve,
            example=self.example,
            secret=secret,
            needs_key=needs_key,
            checks_signatures=checks_signatures,
            window=window,
            stored=self._stored,
        )
        self._asked = 0
        self._happened: Counter[str] = Counter()

    def answer(self, ask: Ask) -> Outcome:
        """What this provider does with `ask`."""
        number = self._count()
        request = self._gate.receive(ask)
        if isinstance(request, SimulatedRefusal):
            return self._refused(request, number)
        if request.operation is Operation.ANSWER:
            return self._answered(ask, request, number)
        return Outcome(reply=_json(self._looked_up(ask, request)), model=request.target.model)

    def refuse(self, reason: RefusalReason) -> Outcome:
        """What this provider says to a request that it refuses for `reason`, whatever is in it."""
        return self._refused(refuse(reason, self.habits), self._count())

    def _count(self) -> int:
        number, self._asked = self._asked, self._asked + 1
        return number

    def _refused(self, refusal: SimulatedRefusal, number: int, fault: InjectedFault | None = None) -> Outcome:
        request_id = "req_" + base62(self.name, number, length=24)
        refusal = safe(refusal)  # it quotes the request, where anything may stand
        reply = print_refusal(refusal, self.habits, request_id=request_id)
        asked = None if fault is not None else refusal
        return Outcome(reply=reply, model=refusal.model, refusal=asked, fault=fault)

    # --- answering ----------------------------------------------------------------------------------------------------

    def _answered(self, ask: Ask, request: ValidRequest, number: int) -> Outcome:
        model = request.target.model
        memory = _memory(request)
        if ends_with_trigger(request.body):
            return Outcome(reply=self._print(request, self._compacted(ask, request, memory), None), model=model)
        offers = read_offers(request.body, self.dialect, request.parsed.tools)
        parsed = replace(request.parsed, tools=[offer.spec for offer in offers])
        form = wanted_form(request.body, self.dialect)
        spoken = speak(parsed, memory, self._character(request), form=form)
        fault = self._requested_fault(spoken) or (self.faults.fault(self.name, number) if self.faults else None)
        if fault is not None and (reason := REFUSED_WITH.get(fault.kind)) is not None:
            wait = fault.seconds if fault.kind is FaultKind.RATE_LIMITED else None
            return self._refused(refuse(reason, self.habits, model=model, retry_after=wait), number, fault)
        answer = self._compose(request, spoken, offers, fault, seed=digest(ask.body))
        reply = self._print(request, answer, fault)
        if request.stream and self.dialect is Dialect.GEMINI and ask.query.get("alt") != "sse":
            reply = _as_array(reply)
        return Outcome(reply=spoil_reply(reply, fault) if fault else reply, model=model, fault=fault)

    def _character(self, request: ValidRequest) -> Character:
        target, options = request.target, request.parsed.options
        bare = target.model.rsplit("/", 1)[-1].lower()
        asks_sdk = self.dialect is Dialect.VERCEL and options.effort is not None
        return Character(
            name=target.model,
            thinks=will_think(target, options) or asks_sdk,
            may_think=any(fnmatchcase(bare, pattern) for pattern in self.habits.thinks_unasked),
            talks=self.habits.talks and target.capabilities.text_beside_calls,
            max_calls=target.capabilities.max_calls,
        )

    def _requested_fault(self, spoken: Spoken) -> InjectedFault | None:
        """The first failure that was asked for in words and is still due here."""
        for place, requested in enumerate(spoken.faults):
            if requested.provider not in (None, self.name):
                continue
            key = base62(spoken.topic, place, length=16)
            if requested.times is None or self._happened[key] < requested.times:
                self._happened[key] += 1
                return requested.fault
        return None

    def _compose(
        self, request: ValidRequest, spoken: Spoken, offers: Sequence[Offer], fault: InjectedFault | None, *, seed: str
    ) -> Answer:
        blocks, ending = spoil_answer(spoken.blocks, spoken.ending, fault.kind if fault else None, self.dialect)
        most = request.parsed.options.max_tokens
        if most is not None and visible_size(blocks) > most * BYTES_PER_TOKEN:
            blocks, ending = truncate(blocks, most * BYTES_PER_TOKEN, self.dialect), Ending.LENGTH
        thought = sum(len(block.text) for block in blocks if isinstance(block, Thinking)) // BYTES_PER_TOKEN
        how = Signing(self.habits, self.dialect, request.seal, seed, request.body, spoken.script.secretly)
        named, habit = list(sign_answer(blocks, how)), self._habit(request, spoken)
        calls = (place for place, block in enumerate(named) if isinstance(block, ToolCall))
        for count, place in enumerate(calls):
            call = named[place]
            if isinstance(call, ToolCall):
                named[place] = replace(call, wire_id=name_call(habit, call.name, count, seed=seed))
        dressed = dress_calls(named, offers, seed=seed)
        written = visible_size(blocks) // BYTES_PER_TOKEN + thought + 1
        return self._answer(request, dressed, ending, Usage(output=written, reasoning=thought), seed=seed)

    def _answer(
        self, request: ValidRequest, blocks: Sequence[Block], ending: Ending, usage: Usage, *, seed: str
    ) -> Answer:
        """An answer with its name and with what it cost to read the request."""
        served = request.target.model  # as it was asked for: clients compare it (Claude Code drops thoughts of others)
        cached = self._cache.take(
            request.body, self.dialect, tokens=request.tokens, model=served, account=request.account
        )
        usage = replace(usage, input=request.tokens, cache_read=cached.read, cache_write=cached.written)
        entry = Entry(Speaker.AI, tuple(blocks), origin=request.target.origin(served), ending=ending)
        return Answer(entry, usage, served, self.habits.answers + base62(seed, self.name, length=22))

    def _compacted(self, ask: Ask, request: ValidRequest, memory: Memory) -> Answer:
        """The one item that stands for the conversation from now on.

        What is in it is everything that the model remembers, so that it goes on as if there had been no compaction.
        """
        seed = digest(ask.body)
        block = compaction_block(request.seal.wrap(memory.dump()), seed=seed)
        return self._answer(request, [block], Ending.DONE, Usage(output=1), seed=seed)

    def _habit(self, request: ValidRequest, spoken: Spoken) -> IdHabit:
        has_ids = self.dialect is not Dialect.GEMINI or request.target.capabilities.call_ids
        return spoken.script.ids or self.ids or (self.habits.ids if has_ids else IdHabit.EMPTY)

    def _print(self, request: ValidRequest, answer: Answer, fault: InjectedFault | None) -> Reply:
        parts = dialect_parts(self.dialect)
        writes_wrongly = fault is not None and fault.kind is FaultKind.BROKEN_ARGUMENTS and bool(answer.calls)
        if writes_wrongly and self.dialect is Dialect.GEMINI:
            return malformed_call(answer, answer.served, stream=request.stream)
        whole = parts.reply(answer, answer.served, repeated=request.repeated)
        if request.keeps:
            self._stored.keep(Stored(request.account, whole, request.body))
        if not request.stream:
            return _json(whole)
        habits = self.habits
        if not habits.joins_usage and not _wants_usage(request):
            answer = replace(answer, usage=None)
        chunks = parts.reply_stream(
            answer,
            answer.served,
            unsplit_calls=habits.unsplit_calls,
            joins_usage=habits.joins_usage,
            repeated=request.repeated,
        )
        if request.target.platform is Platform.BEDROCK and self.dialect is Dialect.ANTHROPIC:
            chunks = _in_frames(chunks)
        api = http_api(request.target)
        kind = api.accepts if api.accepts == EVENT_FRAMES else f"{api.accepts}; charset=utf-8"
        return Reply(status=200, headers={"content-type": kind}, chunks=tuple(chunks))

    # --- beside answers -----------------------------------------------------------------------------------------------

    def _looked_up(self, ask: Ask, request: ValidRequest) -> JsonObject:
        match request.operation:
            case Operation.MODELS:
                cards = [self._card(self._gate.resolve(model)) for model in self._shelf]
                return list_models(cards, self.dialect, self.habits)
            case Operation.MODEL:
                return one_model(self._card(request.target), self.dialect, self.habits)
            case Operation.COUNT:
                return count_body(request.tokens, self.dialect)
            case Operation.COMPACT:
                answer = self._compacted(ask, request, _memory(request))
                return compaction_body(request.body, dialect_parts(self.dialect).reply(answer, answer.served))
            case Operation.STORED | Operation.CANCEL:
                stored = self._stored.find(request.name, request.account)
                return stored.response if stored is not None else {}
            case Operation.FORGET:
                self._stored.forget(request.name)
                return {"id": request.name, "object": "response", "deleted": True}
            case Operation.INPUTS:
                stored = self._stored.find(request.name, request.account)
                return list_inputs(stored, ask.query) if stored is not None else {}
            case Operation.ANSWER:
                raise AssertionError("answered elsewhere")

    def _card(self, target: Target) -> ModelCard:
        return ModelCard(target.model, self.name, target.capabilities)


def _in_frames(events: Iterable[bytes]) -> Iterator[bytes]:
    """Server-sent events in AWS's frames, as a model that is asked in its maker's shape sends them."""
    parser = SSEParser()
    for event in events:
        yield from map(write_chunk, parser.feed(event))


def _as_array(reply: Reply) -> Reply:
    """A stream of events as one JSON array that grows, which Google sends to whoever does not ask for events."""
    chunks = [
        (b",\r\n" if number else b"[") + chunk.removeprefix(b"data: ").rstrip()
        for number, chunk in enumerate(reply.chunks)
    ]
    return replace(reply, headers={"content-type": "application/json; charset=UTF-8"}, chunks=(*chunks, b"]"))


def _memory(request: ValidRequest) -> Memory:
    """What the model remembers; of conversations that were compacted too."""
    return Memory.of(request.parsed.entries, lambda block: request.seal.unwrap(compacted_content(block)) or "")


def _json(body: JsonObject) -> Reply:
    return Reply(status=200, headers={"content-type": "application/json"}, chunks=(msgspec.json.encode(body),))


def _wants_usage(request: ValidRequest) -> bool:
    """Whether a stream tells the usage: in the chat family only if it is asked for."""
    if request.target.dialect is not Dialect.OPENAI_CHAT:
        return True
    options: JsonObject | None = request.body.get("stream_options")
    return bool(options and options.get("include_usage"))
