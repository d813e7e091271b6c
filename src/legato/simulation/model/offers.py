"""The tools that a request offers, each with the kind and the namespace in which its calls have to come back.

In:  a request body, and the tools that were read from it; later the calls that the model made.
Out: an `Offer` for each tool; the calls in the form of their tool.

    function              name and arguments
    custom                name and free text
    in a namespace        the name inside it, and the namespace beside
    tool_search           an item of its own; what the client finds is offered from then on

Clients look a call up by kind, namespace and name, and answer any other form with an error of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import Block, CallKind, Dialect, HostedTool, JsonObject, SpecKind, ToolCall, ToolSpec
from legato.model.hashing import base62
from legato.model.json_access import as_object, as_objects, as_text
from legato.wire.dialects import dialect_parts

SEARCH = "tool_search"
_FREE_TEXT: JsonObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_QUERY: JsonObject = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


class OfferKind(StrEnum):
    """How calls of a tool look."""

    FUNCTION = "function"
    CUSTOM = "custom"
    SEARCH = "tool_search"


class Offer(Struct, frozen=True):
    """One tool. `spec` has the name by which it is asked for, `name` is the one that its calls carry."""

    spec: ToolSpec
    name: str
    kind: OfferKind = OfferKind.FUNCTION
    namespace: str = ""


def read_offers(body: JsonObject, dialect: Dialect, tools: Sequence[ToolSpec]) -> list[Offer]:
    """The tools that the model may call: `tools`, which were read from `body`, and those that its items bring."""
    specs = [*tools, *(_brought(body) if dialect is Dialect.OPENAI_RESPONSES else ())]
    found = [offer for spec in specs if (offer := _offer(spec)) is not None]
    # Two servers may have a tool of the same name; then it is asked for with its namespace in front.
    counted = Counter(offer.name for offer in found)
    return [
        replace(offer, spec=replace(offer.spec, name=f"{offer.namespace}.{offer.name}"))
        if offer.namespace and counted[offer.name] > 1
        else offer
        for offer in found
    ]


def _brought(body: JsonObject) -> Iterator[ToolSpec]:
    """The tools that a client has added or found since the conversation began."""
    parse = dialect_parts(Dialect.OPENAI_RESPONSES).parse
    for item in as_objects(body.get("input")):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            yield from parse({"input": [], "tools": item.get("tools")}).tools


def _offer(tool: ToolSpec) -> Offer | None:
    """How `tool` is called; None if the provider runs it itself, which is not simulated."""
    name, spec = tool.name, replace(tool, namespace="")
    match tool.kind:
        case SpecKind.FUNCTION:
            return Offer(spec, name, namespace=tool.namespace)
        case SpecKind.CUSTOM:
            return Offer(replace(spec, parameters=_FREE_TEXT), name, OfferKind.CUSTOM, tool.namespace)
        case SpecKind.HOSTED:
            if tool.native.get("type") != SEARCH or tool.native.get("execution") != "client":
                return None
            schema = as_object(tool.native.get("parameters")) or _QUERY
            described = as_text(tool.native.get("description"))
            return Offer(ToolSpec(SEARCH, described, schema), SEARCH, OfferKind.SEARCH)


def dress_calls(blocks: Sequence[Block], offers: Sequence[Offer], *, seed: str) -> list[Block]:
    """`blocks` with each call in the form of the tool that it is for."""
    known = {offer.spec.name: offer for offer in reversed(offers)}
    return [
        _dressed(block, known[block.name], seed) if isinstance(block, ToolCall) and block.name in known else block
        for block in blocks
    ]


def _dressed(call: ToolCall, offer: Offer, seed: str) -> Block:
    call = replace(call, name=offer.name, namespace=offer.namespace)
    match offer.kind:
        case OfferKind.FUNCTION:
            return call
        case OfferKind.CUSTOM:
            text = call.arguments.get("input")
            if not isinstance(text, str):
                text = msgspec.json.encode(call.arguments).decode()
            return replace(call, kind=CallKind.CUSTOM, arguments={"input": text}, raw=None)
        case OfferKind.SEARCH:
            item: JsonObject = {
                "type": "tool_search_call",
                "id": "tsc_" + base62(seed, call.wire_id, length=24),
                "call_id": call.wire_id,
                "execution": "client",
                "arguments": call.arguments,
                "status": "completed",
            }
            return HostedTool(SEARCH, call.arguments, wire_id=call.wire_id, native={"item": item})
