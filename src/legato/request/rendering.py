"""From a conversation to a request.

target     a route resolved
thinking   whether the model will think, settled before the provider can refuse it
encoded    the units as this target's dialect encodes them, only what is new
head       system, tools and options around them
tail       what is at the end because the request may not end otherwise
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from msgspec.structs import replace

from legato.model import Entry, Options, Target, ThinkingPolicy, safe
from legato.request.catalogue import Catalogue, resolve
from legato.request.encoded_conversation import EncodedConversation
from legato.request.envelope import envelope_for, safe_envelope, tool_specs
from legato.request.observation import tell_rendered
from legato.request.render_cache import RenderCache
from legato.request.request import Request
from legato.request.thinking import settle_thinking, will_think
from legato.transcript.conversation import Conversation
from legato.transcript.units import Exchange
from legato.wire.assembly import encode_json, open_json
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.options import Envelope
from legato.wire.owned import check_extra


def render(
    conversation: Conversation,
    target: str | Target,
    *,
    tools: Iterable[object] = (),
    system: str = "",
    options: Options | None = None,
    thinking: ThinkingPolicy | None = None,
    tail: Sequence[Entry] = (),
    catalogue: Catalogue | None = None,
) -> Request:
    """A request for `target` that holds the whole conversation, whatever happened in it.

    Never fails because of a bad history: what is missing is closed, what is misplaced is moved, and `request.report`
    says so. Raises `UnknownTarget` or `ImpossibleRequest` for a request that cannot be. `tail` is rendered as if it
    had been recorded: the next message, results on their way. `tools` are tool specs, anything with a
    `spec`, plain functions, or a provider's definitions.
    """
    request = _rendered(conversation, target, tools, system, options, thinking, tail, catalogue)
    tell_rendered(request)
    return request


def prepare(
    conversation: Conversation,
    target: Target,
    *,
    tools: Iterable[object] = (),
    system: str = "",
    options: Options | None = None,
) -> None:
    """Encode all of the conversation for `target`, so that the next request there costs what is new.

    Raises what `render` raises. Nothing is sent, so nobody is told.
    """
    _rendered(conversation, target, tools, system, options)


def _rendered(
    conversation: Conversation,
    target: str | Target,
    tools: Iterable[object],
    system: str,
    options: Options | None,
    thinking: ThinkingPolicy | None = None,
    tail: Sequence[Entry] = (),
    catalogue: Catalogue | None = None,
) -> Request:
    target = safe(resolve(target, catalogue))
    options = options or Options()
    check_extra(options, target)
    policy = thinking or ThinkingPolicy()
    if tail:
        conversation = conversation.copy()
        conversation.apply(conversation.prepare(tail))
    cache = RenderCache.of(conversation)
    thinks = will_think(target, options)
    fingerprint, encoded = cache.encoded(target, policy, thinking_on=thinks)
    encoded.advance()
    context, adjusted = encoded.context, None
    matters = target.capabilities.thinking_first if thinks else bool(encoded.places.thoughtful)
    loop = encoded.open_loop() if matters else None
    if thinks and loop is not None:
        begun = cast("Exchange", encoded.places.units[loop])
        shows = encoded.shows_thoughts(loop)
        options, adjusted = settle_thinking(begun, context, options, shows_thoughts=shows)
        thinks = adjusted is None
    encoded.silence(None if thinks else loop)
    if context.thinking_on is not thinks:
        context = replace(context, thinking_on=thinks)
    head, opening = _head(encoded, context, envelope_for(conversation, target, system, tool_specs(tools), options))
    end = encoded.encoder.tail(encoded.assembly.end, is_empty=not (head.first or encoded.assembly.messages))
    cached = encoded.assembly.last_block()
    request = Request(
        encoded,
        options,
        head=head,
        opening=opening,
        tail=end.messages,
        decisions=(*((adjusted,) if adjusted else ()), *head.decisions, *end.decisions),
        prefix_change=cache.prefix_change(fingerprint, encoded, encoded.take_change(), head),
        marks=_cache_marks(encoded, cached) if options.cache and cached else (),
    )
    encoded.cached_end = cached
    return request


def _head(encoded: EncodedConversation, context: EncodeContext, envelope: Envelope) -> tuple[EncodedEnvelope, bytes]:
    """The encoded envelope, and the JSON that a body begins with; those of the request before if nothing changed."""
    known = encoded.head
    if known is not None and known[0] == envelope and known[1] is context.thinking_on:
        return known[2], known[3]
    parts = encoded.parts
    head = parts.head(safe_envelope(envelope), context)
    if envelope.options.cache and parts.mark_head and context.target.capabilities.cache_marks:
        head = replace(head, fields=parts.mark_head(head.fields, envelope.options.cache_ttl))
    opening = open_json(encode_json(head.fields), parts.messages_field, head.first)
    encoded.head = (envelope, context.thinking_on, head, opening)
    return head, opening


def _cache_marks(encoded: EncodedConversation, end: tuple[int, int]) -> list[tuple[int, int]]:
    """Where the last request ended, if that still holds, and where this one ends."""
    if encoded.parts.mark is None or not encoded.context.target.capabilities.cache_marks:
        return []
    before = encoded.cached_end
    stands = (
        before is not None
        and before < end
        and before[1] < len(encoded.assembly.messages[before[0]][encoded.parts.blocks_field])
    )
    return [before, end] if stands and before is not None else [end]
