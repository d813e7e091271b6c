"""Digests of what a client said, entry by entry: by them a conversation is known again.

In:  entries as they were parsed, before anything was put back into them.
Out: for each entry the digest of all that was said up to it.

No client keeps a session's name reliably, but nearly every request begins with exactly the entries of the one before.
What a client may leave out of an answer or spell anew counts for nothing: thoughts, opaque data, and where its text was
cut into blocks. Of what people and tools say everything counts, since a provider is sent it as the client has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import msgspec

from legato.gateway.scans import Scan
from legato.model import Block, Code, Entry, HostedTool, Media, Speaker, Text, Thinking, ToolCall, ToolResponse

SIZE = 16
"""bytes of a digest: enough that two conversations never share one by chance"""

BEGINNING = b""
"""the link before the first entry"""

_AI = Speaker.AI
_as_written = msgspec.msgpack.Encoder()
_in_order = msgspec.msgpack.Encoder(order="sorted")

_Content: TypeAlias = tuple[object, ...]


def links(entries: Sequence[Entry], known: Scan[Entry, bytes] | None = None) -> list[bytes]:
    """For each of `entries` the digest of everything up to it; `known` has those of the same client before."""
    return (known or Scan(BEGINNING)).over(entries, _link)


def _link(before: bytes, entry: Entry) -> bytes:
    return blake2b(before + _encoded(_visible(entry), _as_written), digest_size=SIZE).digest()


def answer_digest(entry: Entry) -> bytes:
    """The digest of what can be seen of an answer: its words, and its calls without their ids.

    Some clients lose the ids, trim the words or write the arguments in another order, and some APIs have no order
    between words and calls. So an answer
    and what a client made of it have the same digest if there is any sense in which they are the same.
    """
    calls = [(call.name, call.namespace, call.arguments) for call in entry.calls]
    return blake2b(_encoded((entry.text.strip(), calls), _in_order), digest_size=SIZE).digest()


def _visible(entry: Entry) -> _Content:
    """What everybody sees of `entry`, each block told by its kind."""
    blocks = entry.blocks
    is_answer = entry.speaker is _AI
    if len(blocks) == 1 and type(block := blocks[0]) is Text and (is_answer or block.native is None):  # most entries
        return entry.speaker, entry.authority, block.text
    if not is_answer:
        return (entry.speaker, entry.authority, *map(_whole, blocks))
    parts: list[object] = []
    for block in blocks:
        if isinstance(block, Text):
            last = parts[-1] if parts else None
            if isinstance(last, str):
                parts[-1] = last + block.text
            elif block.text:
                parts.append(block.text)
        elif not isinstance(block, Thinking):
            parts.append(_CONTENT[type(block)](block))
    return (entry.speaker, entry.authority, *parts)


def _whole(block: Block) -> object:
    """All of a block that is no part of an answer."""
    content = block.text if isinstance(block, Text) else _CONTENT[type(block)](block)
    return content if block.native is None else (content, block.native)


def _of_call(call: ToolCall) -> _Content:
    return 1, call.wire_id, call.name, call.namespace, call.kind, call.arguments, call.raw, call.finished


def _of_response(response: ToolResponse) -> _Content:
    media = tuple(map(_of_media, response.media))
    wire_id, name = response.wire_id or response.call_id, response.tool_name
    outcome = response.result, response.error, response.is_complete, response.reason, response.said, response.synthetic
    return 2, wire_id, name, outcome, media


def _of_media(media: Media) -> _Content:
    return 3, media.kind, media.mime, media.data, media.url, media.name


def _of_code(code: Code) -> _Content:
    return 4, code.code, code.language


def _of_thought(thought: Thinking) -> _Content:
    return 6, thought.text


def _of_hosted(hosted: HostedTool) -> _Content:
    return 5, hosted.wire_id, hosted.name, hosted.arguments, hosted.result, hosted.silent


_CONTENT: Mapping[type, Callable[[Any], _Content]] = {
    ToolCall: _of_call,
    ToolResponse: _of_response,
    Media: _of_media,
    Code: _of_code,
    HostedTool: _of_hosted,
    Thinking: _of_thought,
}


def _encoded(content: _Content, encoder: msgspec.msgpack.Encoder) -> bytes:
    try:
        return encoder.encode(content)
    except (OverflowError, UnicodeEncodeError):  # a number beyond 64 bits, half of a character
        return repr(content).encode("utf-8", "surrogatepass")
