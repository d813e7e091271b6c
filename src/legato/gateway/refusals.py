"""Say no in the client's own words, so that it does what is right: wait, ask again, compact, or tell its user.

In:  an error, and the door at which the client is.
Out: a response with the status, the headers and the body that this client's parser knows.

Three things decide how an error is told. Whether asking again helps: clients repeat a request after 408, 429 and every
5xx, so a refusal that will stay one is a 4xx. Whose matter it is: after 401 and 403 clients ask their user for a key,
which is right for a key of the gateway itself and wrong for the key of a provider behind it. And which words a client
waits for: each begins to compact its conversation only after its own.
"""

from __future__ import annotations

import math
import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.diagnostics import Redactor
from legato.errors import (
    AllRoutesFailed,
    BadRequest,
    CallerError,
    ConfigError,
    Conflict,
    ContextTooLong,
    LegatoError,
    OurFault,
    Overloaded,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    SessionLocked,
    SessionNotFound,
    StoreUnavailable,
    TimedOut,
    Unauthorized,
    UnknownModel,
    UnknownTarget,
    WrongEndpoint,
)
from legato.gateway.contract import CallIdForm, Door
from legato.model import Answer, Dialect, Entry, JsonObject, Speaker
from legato.model.hashing import base62
from legato.request import Catalogue, default_catalogue
from legato.routing.retry import asked_wait, is_transient
from legato.transport.contract import WireResponse, whole_response
from legato.transport.error_bodies import print_error
from legato.transport.keys import variables_of
from legato.transport.server_habits import habits_of, words_for
from legato.wire.dialects import dialect_parts
from legato.wire.hosting import ErrorFacts, RefusalReason, ServerHabits

OF_CLIENT = "client"
"""the fact `key` of an error about a request that was made with the client's own key"""


class TurnedAway(CallerError):
    """What the gateway refuses by itself: a path that it does not serve, a key that is none of its own, a large body.

    `reason` says why; `status` replaces the status that a client of the dialect expects for it. `retry_after` is for
    what may be accepted so many seconds later.
    """

    def __init__(
        self,
        message: str,
        /,
        *,
        reason: RefusalReason,
        status: int = 0,
        retry_after: float | None = None,
        **facts: object,
    ) -> None:
        super().__init__(message, **facts)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after


def too_large(most: int) -> TurnedAway:
    """Why a body of more than `most` bytes is not read."""
    return TurnedAway(f"the request is longer than {most:,} bytes", reason=RefusalReason.TOO_LARGE)


REASONS: dict[type[LegatoError], RefusalReason] = {
    LegatoError: RefusalReason.SERVER,
    CallerError: RefusalReason.SHAPE,
    UnknownTarget: RefusalReason.MODEL,
    ConfigError: RefusalReason.SETUP,
    OurFault: RefusalReason.SERVER,
    Conflict: RefusalReason.OVERLOADED,
    SessionLocked: RefusalReason.OVERLOADED,
    StoreUnavailable: RefusalReason.OVERLOADED,
    SessionNotFound: RefusalReason.STORED,
    ProviderError: RefusalReason.UPSTREAM,
    # A provider refused our shape, and will do so again: a status that clients retry would make them ask forever.
    ProtocolRefused: RefusalReason.SHAPE,
    BadRequest: RefusalReason.SHAPE,
    UnknownModel: RefusalReason.MODEL,
    WrongEndpoint: RefusalReason.SETUP,
    Unauthorized: RefusalReason.SETUP,
    QuotaExhausted: RefusalReason.SETUP,
    RateLimited: RefusalReason.RATE,
    Overloaded: RefusalReason.OVERLOADED,
    TimedOut: RefusalReason.SLOW,
    ContextTooLong: RefusalReason.TOO_LONG,
}
"""why the client is refused; a class without a line of its own is told like its base"""

_WILL_STAY = frozenset({RefusalReason.SERVER})
"""reasons with a status that clients retry, although it will not help"""


class _Told(Struct, frozen=True):
    """An error as a client is told about it."""

    reason: RefusalReason
    message: str
    retry_after: float | None = None
    status: int = 0
    is_ours: bool = False
    """whether it is a fault of the gateway, which someone should report"""


def error_body(
    error: LegatoError, dialect: Dialect, *, request_id: str = "", catalogue: Catalogue | None = None
) -> JsonObject:
    """`error` in the envelope of `dialect`, as it also is in a stream."""
    habits = habits_of("", dialect)
    facts = _facts(_tell(error, habits, catalogue), habits, request_id)
    return habits.error_body(facts)


def refusal(
    error: LegatoError,
    door: Door,
    *,
    request_id: str = "",
    catalogue: Catalogue | None = None,
    created: int = 0,
) -> WireResponse:
    """`error` as the response to a client at `door`, who asked when it was `created`, in seconds since the epoch."""
    habits = client_habits(door)
    facts = _facts(_tell(error, habits, catalogue), habits, request_id)
    if door.is_codex and facts.reason is RefusalReason.TOO_LONG:
        return _failed_stream(facts, habits, created)
    headers, body = print_error(facts, habits)
    if facts.retry_after is not None:
        headers["retry-after"] = f"{facts.retry_after:g}"  # also where the habit is to name it in the body alone
    if facts.reason in _WILL_STAY:
        headers["x-should-retry"] = "false"  # read by the clients of Anthropic and OpenAI
    return whole_response(facts.status, body, headers)


def client_habits(door: Door) -> ServerHabits:
    """The habits that a client at `door` knows from its own server."""
    is_mistral = door.dialect is Dialect.OPENAI_CHAT and door.call_ids is CallIdForm.MISTRAL
    return habits_of("mistral" if is_mistral else "", door.dialect)


def _facts(told: _Told, habits: ServerHabits, request_id: str) -> ErrorFacts:
    report = f"; please report it with the id {request_id}" if told.is_ours and request_id else ""
    return ErrorFacts(
        reason=told.reason,
        message=Redactor().text(told.message.removesuffix(".") + report if report else told.message),
        path="",
        code="",
        status=told.status or habits.status_of(told.reason),
        request_id=request_id,
        # Whole seconds, as HTTP has them; rounded up, because a moment too early is refused again.
        retry_after=None if told.retry_after is None else math.ceil(max(told.retry_after, 0.0)),
    )


def _failed_stream(facts: ErrorFacts, habits: ServerHabits, created: int) -> WireResponse:
    """A response that fails as soon as it has begun.

    Codex looks for `context_length_exceeded` there, and compacts; the same code beside a status of 400 ends its turn:
    https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/api_bridge.rs
    """
    error = habits.error_body(facts)["error"]
    nothing = Answer(Entry(Speaker.AI, ()), response_id="resp_" + base62("failed", facts.request_id, length=24))
    response = dialect_parts(Dialect.OPENAI_RESPONSES).reply(nothing, "", created=created)
    failed: JsonObject = {"status": "failed", "error": {"code": error["code"], "message": facts.message}}
    event = {"type": "response.failed", "response": response | failed, "sequence_number": 0}
    chunk = b"event: response.failed\ndata: " + msgspec.json.encode(event) + b"\n\n"
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    if facts.request_id:
        headers[habits.request_id] = facts.request_id
    return whole_response(200, chunk, headers)


# --- which words ------------------------------------------------------------------------------------------------------


def _tell(error: LegatoError, habits: ServerHabits, catalogue: Catalogue | None) -> _Told:
    if isinstance(error, TurnedAway):
        return _Told(error.reason, error.message, error.retry_after, status=error.status)
    if isinstance(error, AllRoutesFailed) and error.causes:
        return _tell_of_all(error, habits, catalogue)
    reason = next(REASONS[kind] for kind in type(error).__mro__ if kind in REASONS)
    route = str(error.facts.get("route") or "")
    match error:
        case Unauthorized() | QuotaExhausted() if error.facts.get("key") == OF_CLIENT:
            reason = RefusalReason.QUOTA if isinstance(error, QuotaExhausted) else RefusalReason.KEY_WRONG
            message = f"{route} did not accept your own key, with which it was asked: {error.message}"
        case Unauthorized() | QuotaExhausted():
            message = _of_account(error, route, catalogue)
        case ContextTooLong():
            message = _of_length(error, route, habits, catalogue)
        case UnknownTarget() | UnknownModel() if route:
            name = route if isinstance(error, UnknownTarget) else route.partition("/")[2]
            message = f"{words_for(reason, habits).format(model=name)} ({error.message})"
        case OurFault():
            message = f"the gateway made a mistake, and asking again will not help: {error.message}"
        case _:
            message = error.message
    wait = asked_wait(error) if isinstance(error, ProviderError) else None
    return _Told(reason, message, wait, is_ours=isinstance(error, OurFault | ProtocolRefused))


def _tell_of_all(error: AllRoutesFailed, habits: ServerHabits, catalogue: Catalogue | None) -> _Told:
    """Every route failed: what the client can do follows from why."""
    causes = [cause for _, cause in error.causes]
    wait = min((wait for cause in causes if (wait := asked_wait(cause)) is not None), default=None)
    if all(isinstance(cause, RateLimited) for cause in causes):
        return _Told(RefusalReason.RATE, error.message, wait)
    if any(map(is_transient, causes)):
        return _Told(RefusalReason.OVERLOADED, error.message, wait)
    first = _tell(causes[0], habits, catalogue)
    return replace(first, message=f"{first.message} ({error.message})")


def _of_account(error: Unauthorized | QuotaExhausted, route: str, catalogue: Catalogue | None) -> str:
    """What whoever runs the gateway has to do for a provider behind it.

    The provider's own words are left out: clients look for some of them (`x-api-key`, `credit balance`), and then send
    their user to the wrong place for a new key.
    """
    provider = route.partition("/")[0] or str(error.facts.get("provider") or "")
    where = route or provider or "this route"
    if isinstance(error, QuotaExhausted):
        return (
            f"the account that the gateway has for {where} has no balance or quota left; whoever runs the gateway has "
            "to add to it, or to choose another route"
        )
    if error.facts.get("layer") != "provider":
        return f"the gateway cannot use {where}: {error.message}"
    match error.facts.get("about"):
        case "region":
            return f"{where} is not offered where the gateway runs; another route has to be chosen"
        case "permission":
            return f"the account that the gateway has for {where} is not allowed to use it; choose another route"
        case _:
            variables = variables_of(provider, catalogue) if provider else ()
            ways = f"set {variables[0]} to a valid one" if variables else "give it a valid one"
            return (
                f"the key that the gateway has for {where} was not accepted there; whoever runs the gateway has to "
                f"{ways} (your own key is not what is wrong)"
            )


_NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w,-])|(?<![\w.,-])\d{4,}(?![\w-])")


def _of_length(error: ContextTooLong, route: str, habits: ServerHabits, catalogue: Catalogue | None) -> str:
    """The words by which the client knows that it has to compact, with the numbers as far as anyone told them."""
    tokens, window = error.facts.get("tokens"), error.facts.get("window")
    told = [int(number.replace(",", "")) for number in _NUMBER.findall(str(error.facts.get("provider_message") or ""))]
    if window is None and len(told) > 1:
        window, tokens = sorted(told[:2])
    if window is None and route:
        window = _window(route, catalogue)
    most = "?" if window is None else window
    words = words_for(RefusalReason.TOO_LONG, habits).format(
        tokens=f"more than {most}" if tokens is None else tokens, window=most
    )
    where = f"; {route} cannot take more, so the conversation has to become shorter" if route else ""
    return f"{words.removesuffix('.')}{where}"


def _window(route: str, catalogue: Catalogue | None) -> int | None:
    try:
        return (catalogue or default_catalogue()).resolve(route).capabilities.window
    except LegatoError:
        return None
