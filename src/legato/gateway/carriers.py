"""Carriers: what a client gives back unread holds the model's own reasoning and where it was made.

A client keeps one conversation and may be answered by another provider each time. What only the provider of an answer
can read (signatures, encrypted reasoning), and who that was, has no place in the client's dialect. But every dialect
has a field that the client has to send back as it came. There it travels, sealed, so nothing has to be remembered here.

    seal     `Kept` -> a mark, a version, a MAC under the deployment's key, compressed msgpack
    restore  the entries of a request -> the same, each answer with its origin, its thoughts as its provider gave them,
             and the native data of its texts and calls back in place

What the client can read is not in a carrier: visible text never is, and the text of a thought only where the client
does not give it back. Elsewhere a thought is a span of the client's own thinking text. Several thoughts may be in
one block there, and those of an attempt that failed before them.

A carrier counts only beside the answer that it was made for, because a provider refuses a thought in the wrong place.
It knows that answer by

    the ids of its calls      they are made from the id of the answer, which is in the carrier (`call_ids`), so one
                              that was sealed before there were any calls can be held against them
    the visible answer        a digest, wherever all of it was known when the carrier was sealed
    the thinking text         a digest of that of the block that it is in, where thoughts are spans of it

In a stream to a client that wants a thought to end before the text begins (Anthropic, Responses), the carrier of an
answer without calls is therefore bound by the thinking text alone.

Whatever does not verify, is of another tenant or is beside another answer is left out and never an error: all of
this makes answers better and none of it is needed for a valid request. But it is taken out of the block as well, or a
provider would take it for a signature of its own.
"""

from __future__ import annotations

import hmac
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.gateway.call_ids import number_of
from legato.gateway.carrier_places import MARK, read, take_carriers
from legato.model import Block, Dialect, Entry, JsonObject, Origin, Speaker, Text, Thinking, ToolCall
from legato.model.hashing import digest

_VERSION = b"\x01"
_HEAD = MARK + _VERSION
_MAC = 16
"""bytes of the MAC"""
_LARGEST = 32 * 1024 * 1024
"""bytes that a carrier may hold; what a provider gives in one answer is far below"""
_SHORT = 1 << 12
"""bytes that a window of 12 bits sees all of"""
_NOTHING = Thinking()


class KeptThought(Struct, frozen=True, array_like=True):
    """A thought of the answer, or more of one: pieces of the same number are one thought."""

    number: int
    native: JsonObject | None = None
    text: str | None = None
    """all of its text, where that is not a span of the client's own"""
    start: int = 0
    end: int = 0
    """which characters of the thinking text beside the carrier belong to it"""
    chars: int = 0
    calls: int = 0
    """how much of the visible answer came before it, for clients that do not show where it stood"""


class SignedText(Struct, frozen=True, array_like=True):
    """Native data of a text: that from `start` to `end` in the visible text of the answer."""

    start: int
    end: int
    digest: str
    native: JsonObject
    calls: int = 0


class Kept(Struct, frozen=True, array_like=True, kw_only=True):
    """What is to be known of an answer when it comes back."""

    answer: str
    """its id"""
    route: str
    origin: Origin
    thoughts: tuple[KeptThought, ...] = ()
    texts: tuple[SignedText, ...] = ()
    calls: dict[int, JsonObject] = {}
    """native data of calls, by their numbers"""
    beside: str | None = None
    """the digest of the thinking text of the block that it is in"""
    visible: str | None = None
    """the digest of the visible answer"""


class Provenance(Struct, frozen=True):
    """Who gave an answer: its id, and the route that was taken."""

    answer: str
    route: str


class Sealer:
    """Seals and opens carriers under the key of one deployment."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, kept: Kept, tenant: str) -> bytes:
        """`kept` as a carrier that only `tenant` can bring back."""
        return self.sign(_compressed(_encode(kept)), tenant)

    def open(self, data: bytes, tenant: str) -> Kept | None:
        """What is in a carrier; None for anything that this deployment did not seal for `tenant`."""
        payload = self.signed(data, tenant)
        if payload is None:
            return None
        try:
            return _decode(zlib.decompressobj().decompress(payload, _LARGEST))
        except (zlib.error, msgspec.MsgspecError, UnicodeError, RecursionError):
            return None

    def sign(self, payload: bytes, tenant: str) -> bytes:
        """`payload`, signed for `tenant`."""
        return _HEAD + self._mac(payload, tenant) + payload

    def signed(self, data: bytes, tenant: str) -> bytes | None:
        """What was signed here for `tenant`; None for anything else."""
        head, mac, payload = data[: len(_HEAD)], data[len(_HEAD) : len(_HEAD) + _MAC], data[len(_HEAD) + _MAC :]
        is_ours = head == _HEAD and hmac.compare_digest(mac, self._mac(payload, tenant))
        return payload if is_ours else None

    def _mac(self, payload: bytes, tenant: str) -> bytes:
        owner = sha256(tenant.encode("utf-8", "surrogatepass")).digest()
        return hmac.new(self._key, _HEAD + owner + payload, sha256).digest()[:_MAC]


def _compressed(data: bytes) -> bytes:
    """`data` as zlib has it. Most carriers are short, and making room for a long one takes longer than the work."""
    window, memory = (12, 5) if len(data) <= _SHORT else (15, 8)
    compressing = zlib.compressobj(9, zlib.DEFLATED, window, memory)
    return compressing.compress(data) + compressing.flush()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Kept).decode


def text_digest(text: str) -> str:
    """By which a text is known again."""
    return digest(text.encode("utf-8", "surrogatepass"))


def answer_digest(texts: Sequence[str], wire_ids: Sequence[str]) -> str:
    """By which a visible answer is known again; clients trim texts and join them, so white space does not count."""
    return text_digest("\0".join(("".join("".join(texts).split()), *sorted(wire_ids))))


# --- restoring --------------------------------------------------------------------------------------------------------


def restore(
    entries: Sequence[Entry], dialect: Dialect, sealer: Sealer, tenant: str
) -> tuple[list[Entry], dict[int, Provenance]]:
    """What a client of `dialect` sent back, with all that its carriers tell; and, by entry, who gave the answer.

    There are as many entries as before. An answer without a carrier that counts keeps the origin that it has.
    """
    restored: list[Entry] = []
    known: dict[int, Provenance] = {}
    for index, entry in enumerate(entries):
        if entry.speaker is Speaker.AI:
            entry, provenance = _restored(entry, dialect, sealer, tenant)
            if provenance is not None:
                known[index] = provenance
        restored.append(entry)
    return restored, known


def _restored(entry: Entry, dialect: Dialect, sealer: Sealer, tenant: str) -> tuple[Entry, Provenance | None]:
    blocks: list[Block | None] = []
    carried: list[tuple[int, Kept]] = []
    is_bare = True
    for place, block in enumerate(entry.blocks):
        carriers, rest = take_carriers(block, dialect)
        blocks.append(rest)
        is_bare = is_bare and not carriers
        for carrier in carriers:
            kept = sealer.open(read(carrier), tenant)
            if kept is not None and _is_beside(kept, block):
                carried.append((place, kept))
    if is_bare:
        return entry, None
    for answer in dict.fromkeys(kept.answer for _, kept in reversed(carried)):
        own = [(place, kept) for place, kept in carried if kept.answer == answer]
        if _belong_to(entry, [kept for _, kept in own]):
            newest = own[-1][1]
            rebuilt = _Rebuilding(blocks, own, dialect).blocks()
            return replace(entry, blocks=rebuilt, origin=_origin(own)), Provenance(answer, newest.route)
    left = tuple(block for block in blocks if block is not None)
    return replace(entry, blocks=left or (_NOTHING,)), None


def put_back(answer: Entry, kept: Kept) -> Entry:
    """`answer`, of which there is what a client sees, with all that `kept` has of it back in its place.

    That is what `restore` makes of a carrier that holds all of its thoughts itself.
    """
    blocks = _Rebuilding(answer.blocks, [(-1, kept)], Dialect.ANTHROPIC).blocks()
    return replace(answer, blocks=blocks, origin=kept.origin)


def _is_beside(kept: Kept, block: Block) -> bool:
    return kept.beside is None or (isinstance(block, Thinking) and text_digest(block.text) == kept.beside)


def _belong_to(entry: Entry, kept: Sequence[Kept]) -> bool:
    """Whether `entry` is the answer that these carriers were sealed for."""
    wire_ids = [call.wire_id for call in entry.calls]
    if any(number_of(wire_id, kept[0].answer) is None for wire_id in wire_ids):
        return False
    digests = {one.visible for one in kept if one.visible is not None}
    return not digests or digests == {answer_digest([entry.text], wire_ids)}


def _origin(own: Sequence[tuple[int, Kept]]) -> Origin:
    """Where the answer was made; which model served it may be known only by the later carriers."""
    origins = [kept.origin for _, kept in own]
    return next((origin for origin in reversed(origins) if origin.served), origins[-1])


class _Whole(Struct):
    """A thought that is put together again."""

    text: str = ""
    native: JsonObject | None = None
    block: int = -1
    """which block of the client's it was a span of; -1 if it stood nowhere"""
    chars: int = 0
    calls: int = 0


class _Rebuilding:
    """One answer on its way back to what its provider gave."""

    def __init__(self, blocks: Sequence[Block | None], own: Sequence[tuple[int, Kept]], dialect: Dialect) -> None:
        self._answer = own[0][1].answer
        # There a carrier makes a part of its own out of the end of a text.
        self._blocks = _joined(blocks) if dialect is Dialect.GEMINI else blocks
        self._natives = {number: native for _, kept in own for number, native in kept.calls.items()}
        texts = [text for _, kept in own for text in kept.texts]
        self._hollow = [text for text in texts if text.start == text.end]
        self._signed = {(text.start, text.end): text for text in texts if text.start < text.end}
        self._thoughts = _whole_thoughts(blocks, own)
        self._quoted: dict[int, list[Block]] = {}
        """the thoughts that were spans of a block of the client's, by its place"""
        for thought in self._thoughts:
            self._quoted.setdefault(thought.block, []).append(_thinking(thought))
        self._length = sum(len(block.text) for block in blocks if isinstance(block, Text))
        self._count = sum(isinstance(block, ToolCall) for block in blocks)
        self._waiting = self._placed()
        edges = {chars for chars, _, _ in self._waiting} | {edge for span in self._signed for edge in span}
        self._edges = sorted(edges)
        """where a text may have to be taken apart"""
        self._chars = self._calls = 0
        self._rebuilt: list[Block] = []

    def _placed(self) -> list[tuple[int, int, Block]]:
        """What the client's answer has no block for, each with how much of that comes before it; the last first."""
        placed: list[tuple[int, int, Block]] = [
            (min(thought.chars, self._length), min(thought.calls, self._count), _thinking(thought))
            for thought in self._thoughts
            if thought.block < 0
        ]
        placed += [
            (min(text.start, self._length), min(text.calls, self._count), Text("", native=text.native))
            for text in self._hollow
        ]
        return sorted(placed, key=lambda one: one[:2])[::-1]

    def blocks(self) -> tuple[Block, ...]:
        """The answer as it was."""
        for place, block in enumerate(self._blocks):
            if block is None or isinstance(block, Thinking):
                self._rebuilt += self._quoted.get(place, ())
            elif isinstance(block, Text):
                self._text(block)
            else:
                self._release()
                self._rebuilt.append(self._own(block) if isinstance(block, ToolCall) else block)
                self._calls += isinstance(block, ToolCall)
        self._chars, self._calls = self._length, self._count
        self._release()
        return tuple(self._rebuilt) or (_NOTHING,)

    def _release(self) -> None:
        while self._waiting and self._waiting[-1][0] <= self._chars and self._waiting[-1][1] <= self._calls:
            self._rebuilt.append(self._waiting.pop()[2])

    def _own(self, call: ToolCall) -> ToolCall:
        number = number_of(call.wire_id, self._answer) if self._natives else None
        native = None if number is None else self._natives.get(number)
        return call if native is None else replace(call, native=native)

    def _text(self, block: Text) -> None:
        """A text, taken apart where something of the provider's stood in the middle of it."""
        begin, end = self._chars, self._chars + len(block.text)
        cuts = [begin, *self._edges[bisect_right(self._edges, begin) : bisect_left(self._edges, end)], end]
        for start, stop in pairwise(cuts):
            self._release()
            self._add(replace(block, text=block.text[start - begin : stop - begin]), start, stop)
            self._chars = stop

    def _add(self, piece: Text, start: int, stop: int) -> None:
        signed = self._signed.get((start, stop))
        if signed is not None and signed.digest == text_digest(piece.text):
            piece = replace(piece, native=signed.native)
        self._rebuilt.append(piece)


def _whole_thoughts(blocks: Sequence[Block | None], own: Sequence[tuple[int, Kept]]) -> list[_Whole]:
    thoughts: dict[int, _Whole] = {}
    for place, kept in own:
        beside = blocks[place] if place >= 0 else None
        text = beside.text if isinstance(beside, Thinking) else ""
        for piece in kept.thoughts:
            thought = thoughts.setdefault(piece.number, _Whole(chars=piece.chars, calls=piece.calls))
            thought.native = piece.native if piece.native is not None else thought.native
            if piece.text is not None:
                thought.text = piece.text
            else:
                thought.text += text[piece.start : piece.end]
            if kept.beside is not None and thought.block < 0:
                thought.block = place
    return [thoughts[number] for number in sorted(thoughts)]


def _joined(blocks: Sequence[Block | None]) -> list[Block | None]:
    """`blocks` with neighbouring texts joined, as far as they have nothing of their own."""
    joined: list[Block | None] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(block, Text) and isinstance(last, Text) and block.native is None and last.native is None:
            joined[-1] = Text(last.text + block.text)
        elif block is not None:
            joined.append(block)
    return joined


def _thinking(thought: _Whole) -> Thinking:
    return Thinking(thought.text, native=thought.native)
