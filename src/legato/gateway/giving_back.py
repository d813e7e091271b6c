"""Put back what a client does not show of an answer: where it came from, its thoughts, its opaque data.

In:  an answer as a client shows it, and as it was given.
Out: the answer as the client has it, with all that was given with it and still fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from legato.gateway.carriers import Kept, KeptThought, SignedText, put_back, text_digest
from legato.gateway.chain import answer_digest
from legato.gateway.own_calls import as_made
from legato.gateway.state import GivenAnswer
from legato.model import Block, Entry, Origin, Text, Thinking, ToolCall, ToolSpec


def visible(answer: Entry) -> Entry:
    """What a client sees of `answer`: nothing that `links` ignores, and so perhaps nothing at all."""
    blocks = (
        block if block.native is None else replace(block, native=None)
        for block in answer.blocks
        if not isinstance(block, Thinking)
    )
    return replace(answer, blocks=joined(blocks), origin=None)


def joined(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """`blocks` with their text in as few as there can be, and none that holds nothing."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if block.native is not None or not isinstance(block, Text | Thinking):
            joined.append(block)
        elif isinstance(block, Text) and isinstance(last, Text) and last.native is None:
            joined[-1] = Text(last.text + block.text)
        elif block.text:
            joined.append(block)
    return tuple(joined)


def as_given(shown: Entry, given: GivenAnswer, tools: Sequence[ToolSpec] = ()) -> Entry:
    """`shown`, what a client shows of an answer, with the origin, thoughts and opaque data that it was given with.

    Where the client changed it, only what still fits: what belongs to a call goes by the id of the call (`own_calls`),
    that of a text by the text, and thoughts are back if they led to the same calls.
    """
    answer = given.entry
    is_same = answer_digest(shown) == answer_digest(answer)
    by_id = {call.wire_id: call for call in answer.calls if call.wire_id}
    known = answer.calls if is_same else [by_id.get(call.wire_id) for call in shown.calls]
    calls = iter(known)
    blocks = tuple(_own(block, next(calls), tools) if isinstance(block, ToolCall) else block for block in shown.blocks)
    shown = replace(shown, blocks=blocks, origin=answer.origin)
    if not blocks or not (is_same or [call.wire_id for call in shown.calls] == list(by_id)):
        return shown
    back = put_back(shown, _kept(given))
    return replace(back, blocks=joined(back.blocks), origin=answer.origin)


def _own(call: ToolCall, given: ToolCall | None, tools: Sequence[ToolSpec]) -> ToolCall:
    return call if given is None else as_made(call, given, tools)


def _kept(given: GivenAnswer) -> Kept:
    """What a carrier would hold of the thoughts and texts of an answer."""
    thoughts: list[KeptThought] = []
    texts: list[SignedText] = []
    chars = calls = 0
    for block in given.entry.blocks:
        if isinstance(block, Thinking):
            thoughts.append(KeptThought(len(thoughts), block.native, block.text, chars=chars, calls=calls))
        elif isinstance(block, Text):
            end = chars + len(block.text)
            if block.native is not None:
                texts.append(SignedText(chars, end, text_digest(block.text), block.native, calls))
            chars = end
        elif isinstance(block, ToolCall):
            calls += 1
    return Kept(
        answer=given.response_id,
        route=given.route,
        origin=given.entry.origin or Origin(),
        thoughts=tuple(thoughts),
        texts=tuple(texts),
    )
