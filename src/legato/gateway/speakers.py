"""Speak an answer to a client: the deltas of whoever answers in, the bytes that the client reads out.

    feed      while the answer arrives; every prefix of it is out as far as the client's dialect allows
    finish    the rest, and the end of the stream
    whole     all of it at once, for a client that does not stream
    fail      what a client is told after something went out and nothing more will come

What the client is told is decided in `retelling` and `manners`, and the dialect's own `ReplyWriter` spells it. Here is
what is left: the name under which the client asked, the frames of Gemini's streams, keep-alives and failures.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from legato.errors import LegatoError
from legato.gateway.carriers import Sealer
from legato.gateway.contract import Delivery
from legato.gateway.manners import manner_of
from legato.gateway.refusals import error_body
from legato.model import Answer, Block, Dialect, Ending, Entry, JsonObject, Target, ToolCall, Usage
from legato.model import Speaker as Side
from legato.wire.contract import ReplyWriter
from legato.wire.deltas import BlockDone, Delta
from legato.wire.dialects import dialect_parts

_PREFIXES = {Dialect.ANTHROPIC: "msg_", Dialect.OPENAI_CHAT: "chatcmpl-", Dialect.OPENAI_RESPONSES: "resp_"}
_COMMENT = b": keep-alive\n\n"
_KEEP_ALIVES = {
    Dialect.ANTHROPIC: b'event: ping\ndata: {"type":"ping"}\n\n',
    Dialect.GEMINI: b"\r\n\r\n",  # Google's Python client takes every line that is not data for an error
}
_CODEX_KEEP_ALIVE = b'event: keepalive\ndata: {"type":"keepalive"}\n\n'
"""Codex gives a stream up after five minutes without an event, and comments are none. This is what OpenAI's own server
sends; others have to do without, because some clients of that API refuse every event that they do not know
(https://github.com/openai/openai-node/issues/1964)."""
_DATA, _END = b"data: ", b"\r\n\r\n"


class AnswerSpeaker:
    """Speaks one answer to one client.

    `answer_id` is an id that no other answer has: call ids are made from it. `created` is when it was asked for, in
    seconds since the epoch.
    """

    def __init__(self, delivery: Delivery, sealer: Sealer, answer_id: str, *, created: int = 0) -> None:
        self.delivery = delivery
        self._created = created
        self.response_id = _PREFIXES.get(delivery.door.dialect, "") + answer_id
        self.started = False
        """whether any bytes were given out"""
        self._dialect = delivery.door.dialect
        self._parts = dialect_parts(self._dialect)
        self._usage: Usage | None = None
        self._writer: ReplyWriter | None = None
        self._done: list[Block] = []
        """what the writer was told is whole"""
        self.is_cut = False
        """whether the answer broke off, so that the connection has to break off as well: the stream has no end"""
        self._sent = 0
        """events so far"""
        self._target: Target | None = None
        self._entry: Entry | None = None
        self._body = self._last = b""
        """the whole answer as it was spoken, or the last event of a stream"""
        self._retelling = manner_of(delivery)(delivery, sealer, answer_id, self._new_writer().told)

    @property
    def visible(self) -> bool:
        """Whether something beyond thinking was said: from then on nobody else may answer."""
        return self._retelling.visible

    @property
    def served(self) -> str:
        """The model that answers, by its own name. Set it as soon as it is known: it is part of an answer's origin."""
        return self._retelling.served

    @served.setter
    def served(self, name: str) -> None:
        self._retelling.served = name

    @property
    def entry(self) -> Entry:
        """The answer to record, once it was spoken: as the model gave it, its calls under the ids of the client."""
        assert self._entry is not None, "the answer was not spoken yet"
        return self._entry

    def begin(self, target: Target, route: str, usage: Usage | None = None) -> None:
        """An attempt at `target` begins, perhaps after another one that failed.

        Thinking that was said before stays open and the thinking of this attempt goes on there. `usage` is what is
        known of it by now.
        """
        self._target, self._usage = target, usage
        self._retelling.begin(target, route)

    def feed(self, delta: Delta) -> list[bytes]:
        """What the client reads of `delta`; before the first bytes, what opens the stream."""
        return self._framed(self._written(self._retelling.tell(delta)))

    def finish(self, answer: Answer) -> list[bytes]:
        """What is still to say of `answer`, and the end of the stream."""
        calls = self.record(answer).calls
        chunks = self._written(self._retelling.end(answer)) or self._opened()
        is_told = self.delivery.wants_usage or self._dialect is not Dialect.OPENAI_CHAT
        told = replace(
            answer,
            entry=replace(answer.entry, blocks=(*self._done, *calls)),
            usage=answer.usage if is_told else None,
        )
        ending = self._the_writer.finish(told)
        self._last = ending[-1] if ending else b""
        self.is_cut = answer.entry.ending in (Ending.CUT, Ending.CANCELLED) and not _has_word_for_cuts(self._dialect)
        if self._dialect is Dialect.GEMINI:
            chunks, ending = _joined(chunks, ending)
        is_closed = self.delivery.door.as_array and not self.is_cut
        return self._framed([*chunks, *ending]) + ([b"]"] if is_closed else [])

    def whole(self, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        self.record(answer)
        blocks = self._retelling.blocks(answer)
        told = replace(answer, entry=replace(answer.entry, blocks=blocks))
        self.started = True
        self._body = msgspec.json.encode(self._new_writer().whole(told))
        return self._body

    def response(self) -> JsonObject | None:
        """The whole response as the client has it; None if that had a stream which does not repeat it."""
        if self._body:
            return msgspec.json.decode(self._body)
        if not self._last or self._dialect is not Dialect.OPENAI_RESPONSES:
            return None
        return msgspec.json.decode(self._last.partition(_DATA)[2])["response"]

    def fail(self, error: LegatoError) -> list[bytes]:
        """What the client is told of a failure after something was sent. The connection has to be cut then.

        For Anthropic's clients that is nothing once the answer has begun: Claude Code takes an error for the end and
        asks again after a cut. As long as all that was sent are signs of life, it asks again after either, and an error
        says why. Mistral's client takes every event for a chunk of the answer and fails to read it.
        """
        is_silent = self._dialect is Dialect.ANTHROPIC and self._sent > 0
        if is_silent or self.delivery.door.joins_usage:
            return []
        body = error_body(error, self._dialect)
        if self._dialect is not Dialect.OPENAI_RESPONSES:
            name = b"event: error\n" if self._dialect is Dialect.ANTHROPIC else b""
            newline = _END if self._dialect is Dialect.GEMINI else b"\n\n"
            return self._framed([name + _DATA + msgspec.json.encode(body) + newline])
        nothing = Answer(Entry(Side.AI, ()))
        error_fields: JsonObject = body["error"]
        told = {"code": error_fields.get("code") or "server_error", "message": error_fields["message"]}
        response = self._new_writer().whole(nothing) | {"status": "failed", "error": told}
        event = {"type": "response.failed", "response": response, "sequence_number": self._sent}
        return self._framed([b"event: response.failed\n" + _DATA + msgspec.json.encode(event) + b"\n\n"])

    def keep_alive(self) -> bytes:
        """Something that the client reads and passes over; from then on a failure is told in the stream."""
        self.started = True
        is_codex = self.delivery.door.is_codex and self._dialect is Dialect.OPENAI_RESPONSES
        return _CODEX_KEEP_ALIVE if is_codex else _KEEP_ALIVES.get(self._dialect, _COMMENT)

    def record(self, answer: Answer) -> Entry:
        """`answer` as it is to be recorded, for one that was cut: `finish` and `whole` see to that themselves."""
        numbers = iter(range(len(answer.calls)))
        blocks = tuple(
            self._retelling.call(block, next(numbers)) if isinstance(block, ToolCall) else block
            for block in answer.entry.blocks
        )
        origin = answer.entry.origin
        if origin is None and self._target is not None:
            origin = self._target.origin(answer.served)
        self._entry = replace(answer.entry, blocks=blocks, origin=origin)
        return self._entry

    # --- the writer ---------------------------------------------------------------------------------------------------

    def _new_writer(self) -> ReplyWriter:
        door = self.delivery.door
        return self._parts.writer(
            self.delivery.model,
            self.response_id,
            self._usage,
            unsplit_calls=door.unsplit_calls,
            joins_usage=door.joins_usage,
            created=self._created,
            repeated=self.delivery.repeated,
        )

    @property
    def _the_writer(self) -> ReplyWriter:
        if self._writer is None:
            self._writer = self._new_writer()
        return self._writer

    def _opened(self) -> list[bytes]:
        if self._writer is not None:
            return []
        return self._the_writer.start()

    def _written(self, deltas: Iterable[Delta]) -> list[bytes]:
        chunks: list[bytes] = []
        for delta in deltas:
            chunks += self._opened()
            if isinstance(delta, BlockDone) and delta.call < 0:
                self._done.append(delta.block)
            chunks += self._the_writer.feed(delta)
        return chunks

    def _framed(self, chunks: list[bytes]) -> list[bytes]:
        """`chunks` as they are sent, counted."""
        if self.delivery.door.as_array:
            chunks = [(b",\r\n" if self._sent + at else b"[") + _payload(chunk) for at, chunk in enumerate(chunks)]
        self._sent += len(chunks)
        self.started = self.started or bool(chunks)
        return chunks


def _has_word_for_cuts(dialect: Dialect) -> bool:
    return dialect is Dialect.OPENAI_RESPONSES


def _payload(chunk: bytes) -> bytes:
    return chunk.removeprefix(_DATA).removesuffix(_END)


def _joined(chunks: list[bytes], ending: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The last part and the end of a Gemini stream in one event, so that it needs no empty part."""
    if not chunks or len(ending) != 1:
        return chunks, ending
    last, end = (msgspec.json.decode(_payload(chunk)) for chunk in (chunks[-1], ending[0]))
    end["candidates"][0]["content"] = last["candidates"][0]["content"]
    return chunks[:-1], [_DATA + msgspec.json.encode(end) + _END]
