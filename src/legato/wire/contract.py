"""What every dialect offers, and the values that pass between it and the rest.

A dialect is a folder with the same parts:

    shapes      the JSON of messages and of what they hold
    encode      a `Grammar` and a table of `Shapes`: how what was decided about a unit is encoded
    envelope    an `OptionGrammar`, and how settled options, tools and instructions are encoded
    decode      a response body as an `Answer`
    stream      a `Decoder`: bytes or events in, deltas out, the same `Answer` at the end
    pieces      the events of a stream that only bring more of a block, as structs that are read quickly
    parse       a request body back into entries
    reply       a `ReplyWriter`: an `Answer` in, a response body of that provider out, or its deltas in, its stream out
    rules       what is asked of a request body, and how to `check` it, sharing no code with `encode`

and an `__init__` that gathers them as `DIALECT`, a `DialectParts`. A dialect encodes; it decides and repairs nothing,
and it never imports the ledger. What a unit becomes is decided in `projection`, from the unit, from how the one before
it ended and from the `EncodeContext`; what a request asks for is settled in `options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from legato.model import (
    Answer,
    Code,
    Decision,
    Dialect,
    Entry,
    HostedTool,
    Json,
    JsonObject,
    Media,
    Options,
    Origin,
    Speaker,
    Target,
    ToolSpec,
    Usage,
)
from legato.model.lasting import made_of
from legato.transcript.conversation import Conversation
from legato.wire.assembly import Assembly
from legato.wire.bounds import Bounds
from legato.wire.carriage import carriage_of
from legato.wire.context import EncodeContext, Names
from legato.wire.deltas import Delta, answer_id, deltas_of
from legato.wire.encoder import Encoder
from legato.wire.findings import Violation
from legato.wire.judge import Ruleset
from legato.wire.options import Envelope, OptionGrammar, Settled, settle
from legato.wire.projection.grammar import Grammar
from legato.wire.rules import WireRule
from legato.wire.shapes import Shapes

_AI = Speaker.AI

# --- encoding ---------------------------------------------------------------------------------------------------------


class EncodedEnvelope(Struct, frozen=True):
    """The encoded envelope: the fields of the body beside the messages, and messages that come before all units."""

    fields: JsonObject
    decisions: tuple[Decision, ...] = ()
    first: tuple[JsonObject, ...] = ()
    free_text: frozenset[tuple[str, str]] = frozenset()
    """the namespaces and names of custom tools that are offered as functions"""


# --- reading ----------------------------------------------------------------------------------------------------------


class StreamDecoder(Protocol):
    """Reads one streamed answer. Fed whole, byte by byte or split anywhere, it gives the same answer."""

    @property
    def served(self) -> str:
        """The model that answers, by its own name, as soon as the stream has told it; empty until then."""
        ...

    def limit(self, bounds: Bounds) -> None:
        """Hold the answer to `bounds`, not to the usual ones: what goes beyond them raises `BadAnswer`."""
        ...

    def feed(self, data: bytes) -> list[Delta]:
        """Take raw bytes of the response; raises `BadAnswer` for what cannot be read, or an error that was streamed."""
        ...

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event that is already parsed."""
        ...

    def finish(self) -> Answer:
        """The whole answer; raises `BadAnswer` if the stream ended before the answer did, or if it was empty."""
        ...

    def partial(self) -> Answer | None:
        """What has been visible so far, as an answer that was cut; None if nothing was."""
        ...


class NotUnderstood(str):
    """A note on something that is not known here and may have been said: whatever is made of the request lacks it."""

    __slots__ = ()


class NotHeld(str):
    """A note on a part of the conversation that is only named in the body: nobody but who keeps it can read it."""

    __slots__ = ()


class Parsed(Struct, frozen=True):
    """A request body read back. Leading system messages are in `system`; later ones stay among the entries."""

    entries: list[Entry]
    system: str = ""
    tools: list[ToolSpec] = field(default_factory=list[ToolSpec])
    model: str = ""
    options: Options = Options()
    notes: list[str] = field(default_factory=list[str])
    """what is missing, with its place; nothing is dropped silently. What nobody knows is `NotUnderstood`, what
    is kept elsewhere `NotHeld`."""
    places: list[int] = field(default_factory=list[int])
    """for each entry the number of the message (content, item) that it was read from, or of the first of several; -1
    where the request holds one text in place of a list"""
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """by the index of an entry: the number of the last message that it was read from, if there were several"""
    adjusted: list[str] = field(default_factory=list[str])
    """what was understood although it is in the wrong place or form, with its place; nothing of it is lost"""

    def messages_of(self, index: int) -> range:
        """The numbers of the messages that the entry at `index` was read from; none if the request holds one text."""
        first = self.places[index]
        return range(first, self.ends.get(index, first) + 1) if first >= 0 else range(0)

    def answered_by(self, origin: Origin | None) -> Parsed:
        """The same with `origin` for all answers that have none."""
        entries = [
            replace(entry, origin=origin) if entry.speaker is _AI and entry.origin is None else entry
            for entry in self.entries
        ]
        return replace(self, entries=entries)

    def belonging_to(self, home: str) -> Parsed:
        """The same with `home`, one kind of server, for what belonged to its whole dialect."""
        options = replace(self.options, home=home) if self.options.home == _dialect_of(home) else self.options
        return replace(self, tools=made_of(self.tools, _tools_at, home), options=options)

    def conversation(self) -> Conversation:
        """The conversation, ready to be rendered; `system` is an instruction that it begins with."""
        talk = self._begin()
        talk.take(self.entries)
        return talk

    def into_conversation(self) -> Conversation:
        """The same for whoever keeps the conversation alone, and faster: `entries` go into it, and are here no more."""
        talk, entries = self._begin(), self.entries.copy()
        self.entries.clear()
        talk.take_over(entries)
        return talk

    def _begin(self) -> Conversation:
        talk = Conversation()
        if self.system.strip():
            talk.instruct(self.system)
        return talk


def _tools_at(tools: Sequence[ToolSpec], home: str) -> list[ToolSpec]:
    return [replace(tool, home=home) if tool.home == _dialect_of(home) else tool for tool in tools]


def _dialect_of(home: str) -> str:
    return home.partition("/")[0]


class BodyReader(Protocol):
    """Reads the messages of a request body, in portions, and can go back to where it was before."""

    def read(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        """Take the next messages, which have the numbers from `first` on; `ends` if the request holds no others."""
        ...

    def parsed(self, body: JsonObject) -> Parsed:
        """All of `body`, whose messages were read; before others can be, the reader has to go back."""
        ...

    def save(self) -> Any:
        """The state, for `restore`. It stays valid until an older one is restored."""
        ...

    def restore(self, saved: Any) -> None:
        """Go back to a state that was saved, as often as one likes; what was given out until then stays as it is."""
        ...


# --- replying ---------------------------------------------------------------------------------------------------------


class ReplyWriter(Protocol):
    """Writes one answer: as a body, or as a stream while its deltas arrive; then each item of a result is one event.

    After every delta all is out that can be known by then. Deltas that only say what there is to show will do: what
    they left open (signatures, what hosted tools did) is written by `finish`. Native data of a block is written as it
    is, so an answer of another provider has to come without it.
    """

    def whole(self, answer: Answer) -> JsonObject:
        """`answer` as a response body; nothing else may be asked of the same writer."""
        ...

    def told(self, block: Code | HostedTool | Media) -> str:
        """The text in which `block` is told; empty if it has a form of its own, or nothing to tell."""
        ...

    def start(self) -> list[bytes]:
        """What comes before the first block."""
        ...

    def feed(self, delta: Delta) -> list[bytes]:
        """What `delta` makes known."""
        ...

    def finish(self, answer: Answer) -> list[bytes]:
        """What is still to say of `answer`, and the end of the stream."""
        ...


class WriterMaker(Protocol):
    """Makes the `ReplyWriter` for one answer of a dialect."""

    def __call__(
        self,
        model: str,
        response_id: str,
        usage: Usage | None = None,
        *,
        unsplit_calls: bool = False,
        joins_usage: bool = False,
        created: int = 0,
        repeated: JsonObject | None = None,
    ) -> ReplyWriter:
        """The writer of an answer of `model`, which is the name that the client reads.

        Ids that the answer lacks are made from `response_id`. `usage` is what is known of it when the answer begins,
        and `created` is when that was, in seconds since the epoch, for dialects that tell it.
        Some clients (Mistral's) read calls only if they are not written in pieces, which `unsplit_calls` sees to, and
        the usage only beside the reason why the answer ended, which `joins_usage` does; with both, the calls are
        there too. `repeated` are fields of the request that the response says again.
        """
        ...


# --- a dialect as a whole ---------------------------------------------------------------------------------------------


class DialectParts(Struct, frozen=True, kw_only=True):
    """The parts of one dialect, gathered in its folder's `__init__` as `DIALECT`."""

    name: Dialect
    messages_field: str
    """where the units go: `messages`, `input`, `contents`"""
    owned_fields: frozenset[str]
    """the fields of a request that `Options.extra` may not name, because they are written from something else"""
    is_hosted: Callable[[JsonObject], bool] | None = None
    """whether the definition of a tool is of one that the provider runs itself; None where it runs none"""
    blocks_field: str = ""
    """where a message holds its blocks, for dialects that join neighbouring messages of one role"""
    join: Callable[[JsonObject, JsonObject], JsonObject] | None = None
    """two human messages as one, for dialects of which only some targets want them joined"""
    grammar: Callable[[Target], Grammar]
    """what the format of a target allows: what there is to decide is decided from this"""
    shapes: Callable[[EncodeContext], Shapes]
    """how what was decided is encoded"""
    option_grammar: Callable[[Target], OptionGrammar]
    """which options a target's format has room for: what is asked for is settled with this"""
    encode_envelope: Callable[[Envelope, Settled, EncodeContext], EncodedEnvelope]
    """how instructions, tools and settled options are encoded"""
    decode: Callable[[JsonObject, Target, Names], Answer]
    decoder: Callable[[Target, Names], StreamDecoder]
    parse: Callable[[JsonObject], Parsed]
    reader: Callable[[], BodyReader] | None = None
    """what `parse` reads a list of messages with, for those who see it grow; None for what no client of ours speaks"""
    parse_json: Callable[[bytes | str, Origin | None], Parsed | None] | None = None
    """the same from JSON, of a body or of its messages alone, only faster; None where `parse` has to look closer"""
    writer: WriterMaker
    """what writes a response, whole or streamed"""
    repeats: frozenset[str] = frozenset()
    """the fields of a request that the response says again"""
    mark: Callable[[JsonObject, str], list[JsonObject] | None] | None = None
    """what is in place of a block that ends what the provider should cache, and for how long; None if this block
    may not end it"""
    mark_head: Callable[[JsonObject, str], JsonObject] | None = None
    """the fields of the head with its own cache marks, and for how long"""

    def encoder(self, context: EncodeContext) -> Encoder:
        """What encodes units for the target of `context`."""
        return Encoder(context, self.grammar(context.target), self.shapes(context))

    def assembly(self, grammar: Grammar) -> Assembly:
        """What gathers the messages for a target with this grammar."""
        return Assembly(self.blocks_field, self.join if grammar.joins_turns else None)

    def repeated(self, body: JsonObject) -> JsonObject:
        """What the response to `body` says again of it."""
        return {name: body[name] for name in self.repeats if body.get(name) is not None}

    def reply(self, answer: Answer, model: str, *, created: int = 0, repeated: JsonObject | None = None) -> JsonObject:
        """The body of a response of `model` that gives `answer`, asked for when it was `created`."""
        return self.writer(model, answer_id(answer), created=created, repeated=repeated).whole(answer)

    def reply_stream(
        self,
        answer: Answer,
        model: str,
        *,
        unsplit_calls: bool = False,
        joins_usage: bool = False,
        created: int = 0,
        repeated: JsonObject | None = None,
    ) -> Iterator[bytes]:
        """The events of a streamed response that gives `answer`, asked for when it was `created`."""
        writer = self.writer(
            model,
            answer_id(answer),
            answer.usage,
            unsplit_calls=unsplit_calls,
            joins_usage=joins_usage,
            created=created,
            repeated=repeated,
        )
        yield from writer.start()
        for delta in deltas_of(answer):
            yield from writer.feed(delta)
        yield from writer.finish(answer)

    def head(self, envelope: Envelope, context: EncodeContext) -> EncodedEnvelope:
        """What surrounds the units for the target of `context`; raises `ImpossibleRequest` for what cannot be."""
        settled = settle(envelope, context, self.option_grammar(context.target))
        head = self.encode_envelope(envelope, settled, context)
        fields = carriage_of(context.target).load(head.fields)
        decisions = settled.decisions + head.decisions
        return replace(head, fields=fields, decisions=decisions, free_text=settled.free_text)

    def check(self, body: JsonObject, target: Target) -> list[Violation]:
        """What the rules of this dialect say about `body`; they are loaded when they are first asked."""
        violations: list[Violation] = self._part("rules").check(body, target)
        return violations

    @property
    def ruleset(self) -> Ruleset:
        """The same rules, to be asked about messages as they come; loaded when they are first asked for."""
        return self._part("rules").RULESET

    @property
    def rules(self) -> Mapping[str, WireRule]:
        """The declared rules of this dialect by their ids."""
        return self._part("rules").RULES

    def _part(self, name: str) -> Any:
        return import_module(f"legato.wire.{self.name.value}.{name}")
