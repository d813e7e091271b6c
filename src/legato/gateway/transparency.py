"""The same API in and out: what needs no mending goes through as it came.

In:  what the client said, and the request that would be sent in its place.
Out: the client's own bytes, if the provider takes them as they are; and those of its headers that mean something there.

A body is rendered anew where it is for another API or another kind of server, where its options do not suit the model
that answers in place of the one asked for, where something in it needs mending, or where it holds what only the gateway
can read.
"""

from __future__ import annotations

import msgspec

from legato.gateway.intake import ClientRequest
from legato.model import Dialect, Platform, Speaker, Target, Thinking
from legato.model.json_access import as_objects
from legato.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.openai_chat.message import THOUGHT_FIELDS

_PASSED = {Dialect.ANTHROPIC: ("anthropic-beta", "anthropic-version"), Dialect.OPENAI_RESPONSES: ("openai-beta",)}
"""headers that change what a body means"""


def passed_headers(said: ClientRequest, target: Target) -> dict[str, str]:
    """The client's headers that its own provider has to see; another host may know none of them."""
    if not _is_at_home(said, target):
        return {}
    return {name: said.headers[name] for name in _PASSED.get(target.dialect, ()) if name in said.headers}


def unchanged_body(said: ClientRequest, request: Request) -> bytes | None:
    """The client's bytes, if they can be sent as they are, but for the name of the model."""
    target = request.target
    if said.body is None or not _is_at_home(said, target) or said.parsed.adjusted or _holds_reasoning(said):
        return None
    if said.delivery.model != target.model and not _suits_another(said, request):
        return None
    fields = said.fields
    named = target.dialect is Dialect.GEMINI or said.delivery.model == target.model
    if not named:
        fields = {**fields, "model": target.model}
    if any(found.severity is Severity.REFUSED for found in dialect_parts(target.dialect).check(fields, target)):
        return None
    return said.body if named else msgspec.json.encode(fields)


def _suits_another(said: ClientRequest, request: Request) -> bool:
    """Whether the model that answers takes the options as they are written: they are meant for the one asked for.

    The next model may not think, or count its thinking otherwise, or take no temperature, or write less at a time.
    """
    owned = dialect_parts(request.target.dialect).owned_fields
    options = {name: value for name, value in said.fields.items() if name not in owned and value is not None}
    return all(request.body.get(name) == value for name, value in options.items())


def _holds_reasoning(said: ClientRequest) -> bool:
    """Whether there is reasoning in it, or the place for it, a provider's or a carrier of ours.

    Nobody takes what is not its own.
    """
    if said.delivery.door.dialect is Dialect.OPENAI_CHAT:
        # The field alone is refused by servers that check bodies, with nothing in it as well: OpenAI's API has none.
        messages = as_objects(said.fields.get("messages"))
        if not all(THOUGHT_FIELDS.isdisjoint(message) for message in messages):
            return True
    return any(
        isinstance(block, Thinking) or "thoughtSignature" in (block.native or ())
        for entry in said.parsed.entries
        if entry.speaker is Speaker.AI
        for block in entry.blocks
    )


def _is_at_home(said: ClientRequest, target: Target) -> bool:
    """Whether `target` is the kind of server that the client believes to speak with."""
    return target.dialect is said.delivery.door.dialect and target.platform is Platform.OWN and target.home == said.home
