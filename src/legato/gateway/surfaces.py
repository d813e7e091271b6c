"""Which API a request speaks, and what it asks for.

In:  method, path and headers, as a client sent them.
Out: a `Door`; None where no API of ours begins.

Any prefix before the API's own path is taken: `/careful/v1/messages` is the Anthropic API, and `careful` may name a
profile. A list of models has the same path in every API, so the headers say who asks.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from legato.gateway.contract import CallIdForm, Door
from legato.model import Dialect
from legato.transport.contract import Ask
from legato.transport.operations import Operation, find_operation

_APIS: tuple[tuple[re.Pattern[str], Dialect], ...] = (
    (re.compile(r"/v1/messages(?:/count_tokens)?$"), Dialect.ANTHROPIC),
    (re.compile(r"(?:/v1)?/chat/completions$"), Dialect.OPENAI_CHAT),
    (re.compile(r"(?:/v1)?/responses(?:/[^/]+(?:/(?:input_items|cancel))?)?$"), Dialect.OPENAI_RESPONSES),
    # The Gemini CLI does not escape a slash in a model's name.
    (re.compile(r"(?:/v1(?:beta|alpha|beta1)?)?/models/.+:(?:g|streamG)enerateContent$"), Dialect.GEMINI),
    (re.compile(r"(?:/v1(?:beta|alpha|beta1)?)?/models/.+:countTokens$"), Dialect.GEMINI),
)
_METHODS = ("POST", "GET", "DELETE")
_MODELS = re.compile(r"(?:/v1(?:beta|alpha)?)?/models(?:/.+)?$")
_DONE_WITH_MODEL = re.compile(r"/models/.+:[^/]+/*$")
_GOOGLE_ONLY = re.compile(r"/v1(?:beta|alpha)/models")


def find_door(ask: Ask) -> Door | None:
    """The door that `ask` came to."""
    path = ask.path.rstrip("/")
    for pattern, dialect in _APIS:
        if found := pattern.search(path):
            return _door(ask, path, dialect, found.start())
    if found := _MODELS.search(path):
        return _door(ask, path, _who_lists(ask, path), found.start())
    return None


def doors_beside(ask: Ask) -> dict[str, Door]:
    """What is at the path of `ask`, by the method that leads there.

    That is nothing if `ask` posts to a model for what nobody does here (`:embedContent`), though a name may end so.
    """
    return {} if ask.method == "POST" and _DONE_WITH_MODEL.search(ask.path) else _doors_of_others(ask)


def door_or_any(ask: Ask) -> Door:
    """The door that `ask` came to, or would have with another method; else that of the API whose errors most read."""
    anywhere = Door(dialect=Dialect.OPENAI_CHAT, operation=Operation.ANSWER)
    return find_door(ask) or next(iter(_doors_of_others(ask).values()), anywhere)


def _doors_of_others(ask: Ask) -> dict[str, Door]:
    """The doors that other methods lead to."""
    asks = {method: replace(ask, method=method) for method in _METHODS if method != ask.method}
    return {method: door for method, other in asks.items() if (door := find_door(other)) is not None}


def _door(ask: Ask, path: str, dialect: Dialect, start: int) -> Door | None:
    found = find_operation(dialect, ask.method, path)
    if found is None or not found.takes(ask.method):
        return None
    is_mistral = dialect is Dialect.OPENAI_CHAT and "mistral" in ask.headers.get("user-agent", "").lower()
    return Door(
        dialect=dialect,
        operation=found.operation,
        name=found.name,
        streams=found.stream,
        prefix=path[:start].strip("/"),
        as_array=found.stream and ask.query.get("alt") != "sse",
        call_ids=_form_of_ids(dialect, is_mistral=is_mistral),
        unsplit_calls=is_mistral,
        joins_usage=is_mistral,
        is_codex=any(name.startswith("x-codex-") for name in ask.headers),
    )


def _who_lists(ask: Ask, path: str) -> Dialect:
    """Whose client asks for models."""
    if "anthropic-version" in ask.headers:
        return Dialect.ANTHROPIC
    if "x-goog-api-key" in ask.headers or "x-goog-api-client" in ask.headers or _GOOGLE_ONLY.search(path):
        return Dialect.GEMINI
    return Dialect.OPENAI_CHAT


def _form_of_ids(dialect: Dialect, *, is_mistral: bool) -> CallIdForm:
    if is_mistral:
        return CallIdForm.MISTRAL
    return CallIdForm.ANTHROPIC if dialect is Dialect.ANTHROPIC else CallIdForm.OPENAI


_HOMES = {
    Dialect.ANTHROPIC: "anthropic/anthropic",
    Dialect.OPENAI_CHAT: "openai_chat/openai",
    Dialect.OPENAI_RESPONSES: "openai_responses/openai",
    Dialect.GEMINI: "gemini/gemini",
}
"""who understands the fields without a neutral word: whose client it is that speaks; others refuse some of them"""


def home_of(door: Door) -> str:
    """The kind of server that a client at `door` believes to speak with."""
    return "openai_chat/mistral" if door.call_ids is CallIdForm.MISTRAL else _HOMES[door.dialect]
