"""Collects a streamed answer: the blocks that it becomes, and the deltas that tell of them while they arrive.

A decoder says what each event brings, under keys of its own choosing (a content index, an output index, a call index).
Blocks keep the order in which their keys first appeared. For each of them the deltas are

    BlockStart      once there is something in it
    its pieces      as they come
    BlockDone       once, when it is whole: its decoder says so, or the answer has ended

and a block that comes whole has only the last. The work for an answer grows with its length and not faster: pieces are
joined once, when the block is whole. What goes beyond the `Bounds` raises `BadAnswer`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from legato.model import Block, CallKind, JsonObject, Text, Thinking, ToolCall, clean_text
from legato.wire.arguments import read_arguments
from legato.wire.bounds import Bounds
from legato.wire.context import Names
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta

_Kind: TypeAlias = Literal["text", "thinking", "call", "whole"]


class _Draft(Struct, eq=False):
    """A block on its way."""

    kind: _Kind
    call: int = -1
    """which call of the answer it is"""
    name: str = ""
    wire_id: str = ""
    namespace: str = ""
    call_kind: CallKind = CallKind.FUNCTION
    pieces: list[str] = field(default_factory=list[str])
    native: JsonObject = field(default_factory=dict[str, object])
    later: dict[str, Callable[[], object]] = field(default_factory=dict[str, Callable[[], object]])
    is_started: bool = False
    """whether its start was told"""
    is_growing: bool = False
    """whether pieces may be added as they come: its start was told, and it was not read as a block since"""
    is_passed: bool = False
    """whether something came behind it, so that it is whole unless there is more of it after all"""
    block: Block | None = None
    """what it came to, as long as nothing was added since"""


class AnswerBuilder:
    """The pieces of one answer."""

    def __init__(self, names: Names, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._names = names
        self._drafts: dict[Hashable, _Draft] = {}
        self._untold: dict[Hashable, _Draft] = {}
        """the drafts whose end was not told"""
        self._calls = 0
        self._deltas: list[Delta] = []

    def __contains__(self, key: Hashable) -> bool:
        return key in self._drafts

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all has arrived."""
        return not self._drafts

    @property
    def has_calls(self) -> bool:
        """Whether the answer asks for a tool."""
        return self._calls > 0

    def take_deltas(self) -> list[Delta]:
        """What there is to tell since this was last asked."""
        deltas, self._deltas = self._deltas, []
        return deltas

    # --- pieces -------------------------------------------------------------------------------------------------------

    def text(self, key: Hashable, piece: str, native: JsonObject | None = None) -> None:
        """More text under `key`, and perhaps opaque data that comes with it."""
        draft = self._drafts.get(key) or self._add(key, "text")
        if native:
            self._sign(draft, native)
        if piece:
            if not draft.is_growing:
                self._grow(draft)
            draft.pieces.append(piece)
            self._deltas.append(TextDelta(piece))

    def thinking(self, key: Hashable, piece: str, native: JsonObject | None = None) -> None:
        """More thinking under `key`, and perhaps opaque data that comes with it."""
        draft = self._drafts.get(key) or self._add(key, "thinking")
        if native:
            self._sign(draft, native)
        if piece:
            if not draft.is_growing:
                self._grow(draft)
            draft.pieces.append(piece)
            self._deltas.append(ThinkingDelta(piece))

    def call(
        self,
        key: Hashable,
        *,
        name: str = "",
        wire_id: str = "",
        namespace: str = "",
        arguments: str = "",
        kind: CallKind = CallKind.FUNCTION,
        native: JsonObject | None = None,
    ) -> None:
        """More of the call under `key`. What names it is taken from the fragments that brought that first."""
        draft = self._drafts.get(key)
        is_new = draft is None
        if draft is None:
            draft = self._add(key, "call")
            draft.call, draft.call_kind = self._calls, kind
            self._calls += 1
        news = name if not draft.name else ""
        draft.name = draft.name or name
        draft.wire_id = draft.wire_id or wire_id
        if namespace:
            draft.namespace = draft.namespace or namespace
        if native:
            self._sign(draft, native)
        if is_new or ((news or arguments) and not draft.is_growing):
            self._grow(draft)
        if arguments:
            draft.pieces.append(arguments)
        if news or arguments:
            self._deltas.append(CallDelta(draft.call, self._tool(draft) if news else "", arguments))

    def arguments(self, key: Hashable, piece: str) -> bool:
        """More of the arguments of the call under `key`; False if there is no such call."""
        draft = self._drafts.get(key)
        if draft is None or draft.kind != "call":
            return False
        if piece:
            if not draft.is_growing:
                self._grow(draft)
            draft.pieces.append(piece)
            self._deltas.append(CallDelta(draft.call, "", piece))
        return True

    def native(self, key: Hashable, **data: object) -> None:
        """Opaque data for the block under `key`; an empty value never overwrites an earlier one."""
        self._sign(self._drafts[key], data)

    def native_later(self, key: Hashable, name: str, value: Callable[[], object]) -> None:
        """Opaque data that still grows: `value` is asked for it when the block is read."""
        draft = self._drafts[key]
        draft.later[name] = value
        self._grow(draft)

    # --- whole blocks -------------------------------------------------------------------------------------------------

    def put(self, key: Hashable, block: Block) -> None:
        """A block that arrived whole."""
        self.hold(key, block)
        self.done(key)

    def hold(self, key: Hashable, block: Block) -> None:
        """A block that arrived, in place of an earlier one under `key`; it may be replaced until it is done."""
        draft = self._drafts.get(key) or self._add(key, "whole")
        draft.block, draft.is_growing = block, False

    def passed(self, key: Hashable) -> None:
        """Something came behind what is under `key`: it is whole, unless more of it comes after all."""
        if key in self._drafts:
            self._drafts[key].is_passed = True

    def done(self, key: Hashable, block: Block | None = None) -> None:
        """Nothing more will come under `key`; `block` is what its provider says that it came to."""
        draft = self._drafts.get(key)
        if draft is None:
            return
        draft.is_passed = True
        if block is not None:
            if isinstance(block, ToolCall) and draft.wire_id:
                block = replace(block, wire_id=clean_text(draft.wire_id))  # the first id stays
            draft.block, draft.is_growing = block, False
        self._tell(key, draft, cut=False)

    def close(self, *, cut: bool) -> None:
        """The answer has ended, and so has everything in it. With `cut`, a call that was not passed is unfinished."""
        while self._untold:
            key, draft = next(iter(self._untold.items()))
            self._tell(key, draft, cut=cut)

    def blocks(self, *, cut: bool = False) -> tuple[Block, ...]:
        """The blocks so far. With `cut`, a call that was not passed counts as unfinished."""
        return tuple(block for draft in self._drafts.values() if (block := draft.block or self._read(draft, cut)))

    # --- a draft ------------------------------------------------------------------------------------------------------

    def _add(self, key: Hashable, kind: _Kind) -> _Draft:
        self.bounds.allow(blocks=len(self._drafts) + 1, calls=self._calls + (kind == "call"))
        draft = self._drafts[key] = self._untold[key] = _Draft(kind)
        return draft

    def _sign(self, draft: _Draft, data: JsonObject) -> None:
        known = {name: value for name, value in data.items() if value not in (None, "")}
        if known:
            draft.native |= known
            self._grow(draft)

    def _grow(self, draft: _Draft) -> None:
        """Something is added to `draft`; one that came whole stays what it is."""
        if draft.kind == "whole":
            return
        draft.is_growing, draft.block = True, None
        if not draft.is_started:
            draft.is_started = True
            self._deltas.append(BlockStart(self._begun(draft), draft.call))

    def _begun(self, draft: _Draft) -> Text | Thinking | ToolCall:
        native = draft.native.copy() or None
        match draft.kind:
            case "thinking":
                return Thinking(native=native)
            case "call":
                return self._begun_call(draft, native)
            case _:
                return Text("", native=native)

    def _tell(self, key: Hashable, draft: _Draft, *, cut: bool) -> None:
        if self._untold.pop(key, None) is None:
            return
        draft.block, draft.is_growing = draft.block or self._read(draft, cut), False
        if isinstance(draft.block, ToolCall) and draft.call < 0:  # a call that came whole
            draft.call, self._calls = self._calls, self._calls + 1
        if draft.block is not None:
            self._deltas.append(BlockDone(draft.block, draft.call))

    def _read(self, draft: _Draft, cut: bool) -> Block | None:
        """The block that the pieces make; None if there is nothing in it."""
        native = {**draft.native, **{name: value() for name, value in draft.later.items()}} or None
        joined = "".join(draft.pieces)
        match draft.kind:
            case "text":
                return Text(clean_text(joined), native=native) if joined or native else None
            case "thinking":
                return Thinking(clean_text(joined), native=native) if joined or native else None
            case "call":
                return self._read_call(draft, joined, native, cut)
            case "whole":
                return draft.block

    def _read_call(self, draft: _Draft, written: str, native: JsonObject | None, cut: bool) -> ToolCall:
        if draft.call_kind is CallKind.CUSTOM:
            value, raw, finished = {"input": clean_text(written)}, None, True
        else:
            value, raw, finished = read_arguments(written)
        if cut and not draft.is_passed and (raw is not None or not written):
            finished = False
        return replace(self._begun_call(draft, native), arguments=value, raw=raw, finished=finished)

    def _begun_call(self, draft: _Draft, native: JsonObject | None) -> ToolCall:
        name, wire_id, namespace = self._tool(draft), clean_text(draft.wire_id), clean_text(draft.namespace)
        return ToolCall(name, {}, wire_id, kind=draft.call_kind, namespace=namespace, native=native)

    def _tool(self, draft: _Draft) -> str:
        return self._names.restore(clean_text(draft.name))
