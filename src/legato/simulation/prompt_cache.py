"""Prompt caches: what a provider has read before, and is paid less for.

In:  a request body, how many tokens it has, and on whose account and for which model it is.
Out: how many of the tokens came out of the cache, and how many were written into it.

Every cache is one of prefixes: the first byte that differs from what was sent before ends the hit. Beyond that each
provider has a rule of its own.

    Anthropic    caches only up to where a block is marked with `cache_control` (or, where the request itself is, up to
                 its end), and finds an earlier mark at most 20 blocks before one of its own; tools come first, then the
                 instructions, then the messages. Thinking and the choice of tools belong to the messages.
    Bedrock      does the same with marks that are blocks of their own, behind what they mark
    the others   cache by themselves, in steps of so many tokens

No prompt below a minimum is cached. Nothing expires here, because a simulated provider has no clock; only so much is
remembered, and the oldest is forgotten first.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from legato.model import Dialect, Json, JsonObject
from legato.model.json_access import as_list, as_object, as_objects, as_text
from legato.wire.dialects import dialect_parts
from legato.wire.hosting import CacheHabit

REMEMBERED = 200_000
"""prefixes that are kept for one provider"""

BYTES_PER_TOKEN = 4
"""roughly; the simulation counts tokens by this"""

_LOOKBACK = 20
"""https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching"""


class Cached(NamedTuple):
    """Of the tokens of a request: those that were read from the cache, and those that were written into it."""

    read: int = 0
    written: int = 0


class PromptCache:
    """What one provider has read so far, for all of its models and accounts."""

    def __init__(self, habit: CacheHabit | None) -> None:
        self._habit = habit
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def take(self, body: JsonObject, dialect: Dialect, *, tokens: int, model: str, account: str) -> Cached:
        """Look `body` up, and remember it."""
        habit = self._habit
        if habit is None or tokens < (least := habit.minimum(model)):
            return Cached()
        owner = f"{account}\0{model}".encode("utf-8", "surrogatepass")
        if habit.marked:
            blocks = _converse_blocks(body) if dialect is Dialect.BEDROCK else _blocks(body)
            return self._marked(blocks, owner, tokens, least)
        return self._stepwise(_text(body, dialect), owner, tokens, habit.step, least)

    # --- by itself ----------------------------------------------------------------------------------------------------

    def _stepwise(self, text: bytes, owner: bytes, tokens: int, step: int, least: int) -> Cached:
        """Steps are so many bytes of what is read; of the tokens, a prefix has the share that it has of the bytes."""
        width = max(step, _SHORTEST_STEP) * BYTES_PER_TOKEN
        chain = blake2b(owner, digest_size=16)
        found, is_known = 0, True
        for begin in range(0, len(text) - width + 1, width):
            chain.update(text[begin : begin + width])
            name = chain.digest()
            is_known = is_known and name in self._known
            found += width if is_known else 0
            self._remember(name)
        read = tokens * found // max(1, len(text)) // step * step
        return Cached(read if read >= least else 0)

    # --- where it is marked -------------------------------------------------------------------------------------------

    def _marked(self, blocks: Sequence[_Block], owner: bytes, tokens: int, least: int) -> Cached:
        names: list[bytes] = []
        sizes: list[int] = []
        chain, size = blake2b(owner, digest_size=16), 0
        for block in blocks:
            chain.update(block.text)
            size += len(block.text)
            names.append(chain.digest())
            sizes.append(size)
        read = written = 0
        for place in (place for place, block in enumerate(blocks) if block.is_marked):
            share = tokens * sizes[place] // max(1, size)
            if share < least:
                continue
            for earlier in range(place, max(-1, place - _LOOKBACK - 1), -1):
                if names[earlier] in self._known:
                    read = max(read, tokens * sizes[earlier] // max(1, size))
                    break
            written = share
        for place, block in enumerate(blocks):
            if block.is_marked and tokens * sizes[place] // max(1, size) >= least:
                self._remember(names[place])
        return Cached(read, max(0, written - read))

    def _remember(self, name: bytes) -> None:
        self._known[name] = None
        self._known.move_to_end(name)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


_SHORTEST_STEP = 64
"""tokens; finer steps would only cost time"""


# --- what is cached ---------------------------------------------------------------------------------------------------


class _Block(NamedTuple):
    text: bytes
    is_marked: bool = False


def _blocks(body: JsonObject) -> list[_Block]:
    """A request of Anthropic's as the blocks that its cache sees, in its order; the marks are no part of them."""
    blocks = [_block(tool) for tool in as_objects(body.get("tools"))]
    system = body.get("system")
    blocks += [_block({"text": system})] if isinstance(system, str) else map(_block, as_objects(system))
    around = {name: body.get(name) for name in ("tool_choice", "thinking")}
    blocks.append(_Block(_written(around)))
    for message in as_objects(body.get("messages")):
        role, content = as_text(message.get("role")), message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
        blocks += [_block(part, role) for part in parts]
    if as_object(body.get("cache_control")):
        blocks[-1] = blocks[-1]._replace(is_marked=True)
    return blocks


def _converse_blocks(body: JsonObject) -> list[_Block]:
    """A Converse request in the same way."""
    config = as_object(body.get("toolConfig"))
    blocks = _behind_marks([], config.get("tools"))
    blocks = _behind_marks(blocks, body.get("system"))
    around = {"toolChoice": config.get("toolChoice"), "fields": body.get("additionalModelRequestFields")}
    blocks.append(_Block(_written(around)))
    for message in as_objects(body.get("messages")):
        blocks = _behind_marks(blocks, message.get("content"), as_text(message.get("role")))
    return blocks


def _behind_marks(blocks: list[_Block], added: Json, role: str = "") -> list[_Block]:
    """`blocks` and those of `added`, in which a cache point marks what is before it."""
    for block in as_objects(added):
        if "cachePoint" not in block:
            blocks.append(_block(block, role))
        elif blocks:
            blocks[-1] = blocks[-1]._replace(is_marked=True)
    return blocks


def _block(block: Json, role: str = "") -> _Block:
    fields = dict(as_object(block))
    is_marked = fields.pop("cache_control", None) is not None
    return _Block(role.encode() + _written(fields), is_marked)


_AROUND = ("tools", "instructions", "systemInstruction", "system_instruction")


def _text(body: JsonObject, dialect: Dialect) -> bytes:
    """What a model reads of a request: tools, instructions, then the messages one after the other."""
    return b"\n".join(_lines(body, dialect_parts(dialect).messages_field))


def _lines(body: JsonObject, field: str) -> Iterator[bytes]:
    for name in _AROUND:
        yield _written(body.get(name))
    messages = body.get(field)
    for message in [messages] if isinstance(messages, str) else as_list(messages):
        yield _written(message)


def _written(value: Json) -> bytes:
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (ValueError, ArithmeticError):  # half a surrogate pair, an enormous number
        return json.dumps(value, sort_keys=True).encode()
