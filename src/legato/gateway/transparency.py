"""The same API in and out: what needs no mending goes through as it came.

In:  what the client said, and the request that would be sent in its place.
Out: the client's own bytes, if the provider takes them as they are; and those of its headers that mean something there.

A body is rendered anew where it is for another API or another kind of server, where its options do not suit the model
that answers in place of the one asked for, where something in it needs mending, or where the client holds what only the
gateway can read, or lacks what only the gateway remembers.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from legato.gateway.intake import ClientRequest
from legato.gateway.judged import SaidJudge
from legato.model import Dialect, Entry, JsonObject, Platform, Speaker, Target, Thinking
from legato.model.json_access import as_objects
from legato.request import Request
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Violation
from legato.wire.openai_chat.message import THOUGHT_FIELDS

_PASSED = {Dialect.ANTHROPIC: ("anthropic-beta", "anthropic-version"), Dialect.OPENAI_RESPONSES: ("openai-beta",)}
"""headers that change what a body means"""


def passed_headers(said: ClientRequest, target: Target) -> dict[str, str]:
    """The client's headers that its own provider has to see; another host may know none of them."""
    if not _is_at_home(said, target):
        return {}
    return {name: said.headers[name] for name in _PASSED.get(target.dialect, ()) if name in said.headers}


def unchanged_body(said: ClientRequest, request: Request, known: Iterable[Entry], judge: SaidJudge) -> bytes | None:
    """The client's bytes, if they can be sent as they are, but for the name of the model.

    `known` are the entries of the conversation, with what the client does not give back, and `judge` knows what the
    client said in it before.
    """
    target = request.target
    if said.body is None or not _is_at_home(said, target) or said.parsed.adjusted:
        return None
    if _has_place_for_reasoning(said) or _hold_reasoning(said.parsed.entries):
        return None
    if _hold_reasoning(entry for entry in known if target.is_home_of(entry.origin)):
        return None  # the provider's own, which the client has left out
    if said.delivery.model != target.model and not _suits_another(said, request):
        return None
    return None if refused_in(said, target, judge) else renamed_body(said, target)


def renamed_body(said: ClientRequest, target: Target) -> bytes:
    """The client's bytes, but for the name of the model where that is another one."""
    fields = _renamed(said, target)
    return said.body if said.body is not None and fields is said.fields else msgspec.json.encode(fields)


def refused_in(said: ClientRequest, target: Target, judge: SaidJudge) -> list[Violation]:
    """What `target` would refuse in the request as the client sent it."""
    return judge.refusals(_renamed(said, target), target)


def _renamed(said: ClientRequest, target: Target) -> JsonObject:
    is_named = target.dialect is Dialect.GEMINI or said.delivery.model == target.model  # Gemini's is in the path
    return said.fields if is_named else {**said.fields, "model": target.model}


def _suits_another(said: ClientRequest, request: Request) -> bool:
    """Whether the model that answers takes the options as they are written: they are meant for the one asked for.

    The next model may not think, or count its thinking otherwise, or take no temperature, or write less at a time.
    """
    owned = dialect_parts(request.target.dialect).owned_fields
    options = {name: value for name, value in said.fields.items() if name not in owned and value is not None}
    return all(request.body.get(name) == value for name, value in options.items())


def _has_place_for_reasoning(said: ClientRequest) -> bool:
    """Whether a message has a field that OpenAI's API does not; some servers refuse it, empty or not."""
    if said.delivery.door.dialect is not Dialect.OPENAI_CHAT:
        return False
    return not all(THOUGHT_FIELDS.isdisjoint(message) for message in as_objects(said.fields.get("messages")))


def _hold_reasoning(entries: Iterable[Entry]) -> bool:
    """Whether there is reasoning in answers, a provider's or a carrier of ours: nobody takes what is not its own."""
    return any(
        isinstance(block, Thinking) or "thoughtSignature" in (block.native or ())
        for entry in entries
        if entry.speaker is Speaker.AI
        for block in entry.blocks
    )


def _is_at_home(said: ClientRequest, target: Target) -> bool:
    """Whether `target` is the kind of server that the client believes to speak with."""
    return target.dialect is said.delivery.door.dialect and target.platform is Platform.OWN and target.home == said.home
