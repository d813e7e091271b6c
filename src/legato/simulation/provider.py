"""One simulated provider: a request in, a reply out, nothing in between but computation.

In:  an `Ask`.
Out: an `Outcome`: the reply, and why it is so (a refusal, a fault that was asked for).

It refuses what the real one refuses, in its words; what is in order is answered by the small model of `model.py`, with
this family's ids and signatures. All it remembers is how many requests it had and which failures it was to show only
once, so the same requests in the same order get the same replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import Answer, Dialect, Ending, Entry, JsonObject, Speaker, Target, Thinking, ToolCall, Usage
from legato.model.hashing import base62, digest
from legato.request import Catalogue, default_catalogue
from legato.request.thinking import will_think
from legato.simulation.contract import Ask, Reply
from legato.simulation.families import Family, family_of
from legato.simulation.faults import Fault, FaultKind, FaultSource
from legato.simulation.ids import IdHabit, name_call
from legato.simulation.mishaps import REFUSED_WITH, malformed_call, spoil_answer, spoil_reply, truncate, visible_size
from legato.simulation.model import Character, Spoken, speak
from legato.simulation.reasoning import Signing, sign_answer
from legato.simulation.reception import BYTES_PER_TOKEN, Errand, Reception, Understood
from legato.simulation.refusals import Refusal, print_refusal
from legato.simulation.wordings import refuse
from legato.wire.dialects import dialect_parts

SECRET = "legato-simulation"
"""under which signatures are made; it guards nothing"""


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a request. `refusal` is set if it was not in order, `fault` if a failure was asked for."""

    reply: Reply
    model: str = ""
    refusal: Refusal | None = None
    fault: Fault | None = None


class SimulatedProvider:
    """A provider by its name in the catalogue.

    `resolve` replaces the catalogue: from a model's name to a target. `ids` gives its model another habit of naming
    calls, `window` another limit. Without `checks_signatures`, reasoning that is not its own is let in, as recorded
    requests hold it.
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
        self.family: Family = family_of(name, self.dialect)
        self.faults = faults
        self.ids = ids
        self._reception = Reception(
            family=self.family,
            dialect=self.dialect,
            resolve=resolve,
            secret=secret,
            needs_key=needs_key,
            checks_signatures=checks_signatures,
            window=window,
        )
        self._asked = 0
        self._troubles: Counter[str] = Counter()

    def answer(self, ask: Ask) -> Outcome:
        """What this provider does with `ask`."""
        number, self._asked = self._asked, self._asked + 1
        understood = self._reception.receive(ask)
        if isinstance(understood, Refusal):
            return self._refused(understood, number)
        match understood.errand:
            case Errand.MODELS:
                return Outcome(reply=_json(self._models()))
            case Errand.COUNT:
                return Outcome(reply=_json(self._counted(understood.tokens)), model=understood.target.model)
            case Errand.ANSWER:
                return self._answered(ask, understood, number)

    def _refused(self, refusal: Refusal, number: int, fault: Fault | None = None) -> Outcome:
        request_id = "req_" + base62(self.name, number, length=24)
        reply = print_refusal(refusal, self.family.style, request_id=request_id)
        asked = None if fault is not None else refusal
        return Outcome(reply=reply, model=refusal.model, refusal=asked, fault=fault)

    # --- answering ----------------------------------------------------------------------------------------------------

    def _answered(self, ask: Ask, request: Understood, number: int) -> Outcome:
        model, style = request.target.model, self.family.style
        spoken = speak(request.parsed, self._character(request))
        fault = self._trouble(spoken) or (self.faults.fault(self.name, number) if self.faults else None)
        if fault is not None and (why := REFUSED_WITH.get(fault.kind)) is not None:
            wait = fault.seconds if fault.kind is FaultKind.RATE_LIMITED else None
            return self._refused(refuse(why, style, model=model, retry_after=wait), number, fault)
        answer = self._compose(request, spoken, fault, seed=digest(ask.body))
        reply = self._print(request, answer, fault)
        return Outcome(reply=spoil_reply(reply, fault) if fault else reply, model=model, fault=fault)

    def _character(self, request: Understood) -> Character:
        target, options = request.target, request.parsed.options
        is_magistral = "magistral" in target.model
        asks_sdk = self.dialect is Dialect.VERCEL and options.effort is not None
        return Character(
            name=target.model,
            thinks=will_think(target, options) or asks_sdk,
            may_think=is_magistral or self.dialect is Dialect.VERCEL or target.profile == "strict",
            talks=self.family.talks and target.capabilities.text_beside_calls,
            max_calls=target.capabilities.max_calls,
        )

    def _trouble(self, spoken: Spoken) -> Fault | None:
        """The first failure that was asked for in words and is still due here."""
        for place, trouble in enumerate(spoken.troubles):
            if trouble.provider not in (None, self.name):
                continue
            key = base62(spoken.topic, place, length=16)
            if trouble.times is None or self._troubles[key] < trouble.times:
                self._troubles[key] += 1
                return trouble.fault
        return None

    def _compose(self, request: Understood, spoken: Spoken, fault: Fault | None, *, seed: str) -> Answer:
        blocks, ending = spoil_answer(spoken.blocks, spoken.ending, fault.kind if fault else None, self.dialect)
        most = request.parsed.options.max_tokens
        if most is not None and visible_size(blocks) > most * BYTES_PER_TOKEN:
            blocks, ending = truncate(blocks, most * BYTES_PER_TOKEN, self.dialect), Ending.LENGTH
        thought = sum(len(block.text) for block in blocks if isinstance(block, Thinking)) // BYTES_PER_TOKEN
        how = Signing(self.family, self.dialect, request.seal, seed, request.body, spoken.script.secretly)
        named, habit = list(sign_answer(blocks, how)), self._habit(request, spoken)
        calls = (place for place, block in enumerate(named) if isinstance(block, ToolCall))
        for count, place in enumerate(calls):
            call = named[place]
            if isinstance(call, ToolCall):
                named[place] = replace(call, wire_id=name_call(habit, call.name, count, seed=seed))
        served = request.target.model  # as it was asked for: clients compare it (Claude Code drops thoughts of others)
        entry = Entry(Speaker.AI, tuple(named), origin=request.target.origin(served), ending=ending)
        usage = Usage(
            input=request.tokens,
            output=visible_size(blocks) // BYTES_PER_TOKEN + thought + 1,
            reasoning=thought,
        )
        return Answer(entry, usage, served, self.family.answers + base62(seed, self.name, length=22))

    def _habit(self, request: Understood, spoken: Spoken) -> IdHabit:
        has_ids = self.dialect is not Dialect.GEMINI or request.target.capabilities.call_ids
        return spoken.script.ids or self.ids or (self.family.ids if has_ids else IdHabit.EMPTY)

    def _print(self, request: Understood, answer: Answer, fault: Fault | None) -> Reply:
        parts = dialect_parts(self.dialect)
        writes_wrongly = fault is not None and fault.kind is FaultKind.BROKEN_ARGUMENTS and bool(answer.calls)
        if writes_wrongly and self.dialect is Dialect.GEMINI:
            return malformed_call(answer, answer.served, stream=request.stream)
        if not request.stream:
            return _json(parts.reply(answer, answer.served))
        family = self.family
        if not family.joins_usage and not _wants_usage(request):
            answer = replace(answer, usage=None)
        chunks = parts.reply_stream(
            answer, answer.served, whole_calls=family.whole_calls, joins_usage=family.joins_usage
        )
        return Reply(status=200, headers={"content-type": "text/event-stream; charset=utf-8"}, chunks=tuple(chunks))

    # --- beside answers -----------------------------------------------------------------------------------------------

    def _models(self) -> JsonObject:
        name = self.example
        match self.dialect:
            case Dialect.GEMINI:
                return {"models": [{"name": f"models/{name}", "displayName": name}]}
            case Dialect.ANTHROPIC:
                model = {"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
                return {"data": [model], "has_more": False, "first_id": name, "last_id": name}
            case _:
                return {
                    "object": "list",
                    "data": [{"id": name, "object": "model", "created": 0, "owned_by": self.name}],
                }

    def _counted(self, tokens: int) -> JsonObject:
        return {"totalTokens": tokens} if self.dialect is Dialect.GEMINI else {"input_tokens": tokens}


def _json(body: JsonObject) -> Reply:
    return Reply(status=200, headers={"content-type": "application/json"}, chunks=(msgspec.json.encode(body),))


def _wants_usage(request: Understood) -> bool:
    """Whether a stream tells the usage: in the chat family only if it is asked for."""
    if request.target.dialect is not Dialect.OPENAI_CHAT:
        return True
    options: JsonObject | None = request.body.get("stream_options")
    return bool(options and options.get("include_usage"))
