"""The same API in and out: what needs no mending goes through as it came.

In:  what the client said, and who is to answer.
Out: the client's own bytes, if the provider takes them as they are; and those of its headers that mean something there.

A body is rendered anew where it is for another API or another kind of server, where its options do not suit the model
that answers in place of the one asked for, where something in it needs mending, or where the client holds what only the
gateway can read, or lacks what only the gateway remembers.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from legato.gateway.intake import ClientRequest
from legato.gateway.judged import SaidJudge
from legato.gateway.recall import Told, holds_reasoning
from legato.model import Dialect, Entry, Json, JsonObject, Platform, Target
from legato.model.json_access import as_list, as_object
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


def unchanged_body(said: ClientRequest, target: Target, told: Told, rendered: Callable[[], Request]) -> bytes | None:
    """The client's bytes, if they can be sent to `target` as they are, but for the name of the model.

    `told` is the conversation, with what the client does not give back. `rendered` is asked for the request that would
    be sent in their place, where that has to be known.
    """
    if said.body is None or not _is_at_home(said, target) or said.parsed.adjusted:
        return None
    if _has_place_for_reasoning(said) or said.telling.reasoning.through(said.parsed.entries, _or_reasoning):
        return None
    if any(map(target.is_home_of, told.thinkers)):
        return None  # the provider's own, which the client has left out
    if refused_in(said, target, told.judge):
        return None
    if said.delivery.model != target.model and not _suits_another(said, rendered()):
        return None
    return renamed_body(said, target)


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
    return said.telling.places_for_reasoning.through(as_list(said.fields.get("messages")), _or_place)


def _or_place(found: bool, message: Json) -> bool:
    return found or not THOUGHT_FIELDS.isdisjoint(as_object(message))


def _or_reasoning(found: bool, entry: Entry) -> bool:
    return found or holds_reasoning(entry)


def _is_at_home(said: ClientRequest, target: Target) -> bool:
    """Whether `target` is the kind of server that the client believes to speak with."""
    return target.dialect is said.delivery.door.dialect and target.platform is Platform.OWN and target.home == said.home
