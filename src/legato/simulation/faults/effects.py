"""How a fault shows: an answer that went wrong, or a reply that does.

In:  a fault, and the answer or the reply as it would have been.
Out: the same, spoiled in the way in which this dialect's servers spoil it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from legato.model import Answer, Block, Dialect, Ending, JsonObject, Text, ToolCall
from legato.simulation.contract import Manner, Reply
from legato.simulation.faults.plan import FaultKind, InjectedFault
from legato.wire.arguments import written_arguments
from legato.wire.dialects import dialect_parts
from legato.wire.hosting import RefusalReason
from legato.wire.replying import DONE

REFUSED_WITH: dict[FaultKind, RefusalReason] = {
    FaultKind.RATE_LIMITED: RefusalReason.RATE,
    FaultKind.SERVER_ERROR: RefusalReason.SERVER,
    FaultKind.OVERLOADED: RefusalReason.OVERLOADED,
    FaultKind.QUOTA: RefusalReason.QUOTA,
    FaultKind.KEY: RefusalReason.KEY_WRONG,
}
"""faults that show as an error of the server's"""

DECLINED = "I cannot help with that."


# --- answers ----------------------------------------------------------------------------------------------------------


def spoil_answer(
    blocks: Sequence[Block], ending: Ending, kind: FaultKind | None, dialect: Dialect
) -> tuple[tuple[Block, ...], Ending]:
    """The blocks and the ending of an answer that `kind` befell."""
    match kind:
        case FaultKind.BROKEN_ARGUMENTS:
            return tuple(_broken(block, dialect) if isinstance(block, ToolCall) else block for block in blocks), ending
        case FaultKind.TRUNCATED:
            sizes = [_size(block) for block in blocks]
            last = next((size for size in reversed(sizes) if size), 0)
            return truncate(blocks, sum(sizes) - max(1, last // 2), dialect), Ending.LENGTH
        case FaultKind.REFUSAL:
            return (Text(DECLINED, native={"refusal": True}),), Ending.REFUSED
        case FaultKind.EMPTY:
            return (), Ending.DONE
        case _:
            return tuple(blocks), ending


def truncate(blocks: Sequence[Block], characters: int, dialect: Dialect) -> tuple[Block, ...]:
    """The beginning of an answer. A call at the edge keeps half of its arguments; Gemini gives no such calls."""
    kept: list[Block] = []
    left = characters
    for block in blocks:
        size = _size(block)
        if size > left and isinstance(block, ToolCall) and dialect is not Dialect.GEMINI:
            kept.append(replace(block, raw=written_arguments(block)[: max(0, left)], finished=False))
            break
        if size > left:
            if isinstance(block, Text) and left > 0:
                kept.append(Text(block.text[:left]))
            break
        kept.append(block)
        left -= size
    return tuple(kept) if any(_size(block) for block in kept) else (*kept, Text("I will"))


def visible_size(blocks: Sequence[Block]) -> int:
    """How many characters the visible part of an answer has."""
    return sum(_size(block) for block in blocks)


def _size(block: Block) -> int:
    if isinstance(block, ToolCall):
        return len(written_arguments(block))
    return len(block.text) if isinstance(block, Text) else 0


def _broken(call: ToolCall, dialect: Dialect) -> ToolCall:
    text = f"{written_arguments(call)[:-1]}, oops:}}"
    # Some have arguments as text only while they stream, and an unfinished call is the one that streams as it is.
    return replace(call, raw=text, finished=dialect not in (Dialect.ANTHROPIC, Dialect.BEDROCK))


# --- replies ----------------------------------------------------------------------------------------------------------


def malformed_call(answer: Answer, model: str, *, stream: bool) -> Reply:
    """What Gemini gives in place of a call that it wrote wrongly: no parts, and a reason."""
    parts = dialect_parts(Dialect.GEMINI)
    body: JsonObject = parts.reply(replace(answer, entry=replace(answer.entry, blocks=())), model)
    body["candidates"][0] |= {"finishReason": "MALFORMED_FUNCTION_CALL", "content": {"role": "model", "parts": []}}
    data = msgspec.json.encode(body)
    kind = "text/event-stream" if stream else "application/json"
    return Reply(status=200, headers={"content-type": kind}, chunks=(b"data: " + data + b"\n\n" if stream else data,))


def spoil_reply(reply: Reply, fault: InjectedFault) -> Reply:
    """The reply that `fault` befell."""
    match fault.kind:
        case FaultKind.UNREACHABLE:
            return replace(reply, chunks=(), manner=Manner.NOT_AT_ALL)
        case FaultKind.SLOW:
            return replace(reply, wait=fault.seconds)
        case FaultKind.CUT:
            return replace(reply, chunks=_beginning(reply, fault.after), manner=Manner.BREAKS_OFF)
        case FaultKind.GARBAGE:
            return replace(reply, chunks=(_garbage(reply),))
        case _:
            return reply


def _beginning(reply: Reply, after: int) -> tuple[bytes, ...]:
    """The chunks before a cut, never all that say something; of a body in one piece its first half."""
    if reply.is_stream:
        telling = [chunk for chunk in reply.chunks if chunk != DONE]
        return reply.chunks[: min(after, len(telling) - 1)]
    return (reply.body[: len(reply.body) // 2],)


def _garbage(reply: Reply) -> bytes:
    noise = sha256(reply.body).digest().replace(b"\n", b"?")
    return b"data: {" + noise + b"\n\n" if reply.is_stream else b"{" + noise
