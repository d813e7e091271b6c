"""Refusals: each client raises its own error, does what is right, and reads words of ours without any secret."""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple

import anthropic
import mistralai.client.errors as mistral_errors
import openai
import pytest
from google.genai import errors as google_errors
from msgspec.structs import replace

from legato import errors
from legato.errors import (
    AllRoutesFailed,
    BadAnswer,
    BadRequest,
    ContextTooLong,
    FormatError,
    LegatoError,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    RenderError,
    TimedOut,
    Unauthorized,
    UnknownModel,
    UnknownTarget,
    Unreachable,
)
from legato.gateway.refusals import TurnedAway, error_body, refusal
from legato.model import Dialect
from legato.wire.hosting import RefusalReason
from official_clients import OFFICIAL, Answering, body_of

KIMI = "kimi/kimi-k2-thinking"
EVERY_CLIENT = pytest.mark.parametrize("name", OFFICIAL)


def every_error() -> list[type[LegatoError]]:
    classes = inspect.getmembers(errors, lambda value: inspect.isclass(value) and issubclass(value, LegatoError))
    return [kind for _, kind in classes]


def made(kind: type[LegatoError], message: str = "it failed", **facts: Any) -> LegatoError:
    if issubclass(kind, AllRoutesFailed):
        return kind(message, causes=[("a/b", Overloaded("it is busy"))], **facts)
    return kind(message, **facts)


def words(response: Answering) -> str:
    body = json.loads(response.body)
    return body["message"] if "message" in body else body["error"]["message"]


def told(name: str, error: LegatoError, *, is_codex: bool = False, **more: Any) -> Answering:
    door = replace(OFFICIAL[name].door, is_codex=is_codex)
    return Answering(refusal(error, door, request_id="req_1", **more))


# --- every class of error ---------------------------------------------------------------------------------------------

STATUSES: dict[str, int] = {
    "LegatoError": 500,
    "CallerError": 400,
    "InvalidEntry": 400,
    "IngestError": 400,
    "UnknownCall": 400,
    "UnknownTarget": 404,
    "ImpossibleRequest": 400,
    "ConfigError": 400,
    "FormatError": 400,
    "SeveralConversations": 400,
    "UnknownFormat": 400,
    "RepairRefused": 400,
    "UnsafeName": 400,
    "OurFault": 500,
    "CanonicalError": 500,
    "CodecError": 500,
    "RenderError": 500,
    "ProjectionError": 500,
    "StoreError": 500,
    "Conflict": 503,
    "SessionLocked": 503,
    "SessionNotFound": 404,
    "StoreCorrupt": 500,
    "StoreUnavailable": 503,
    "ProviderError": 502,
    "ProtocolRefused": 400,
    "OwnReasoningRefused": 400,
    "BadRequest": 400,
    "MediaRefused": 400,
    "OptionRefused": 400,
    "PolicyRefused": 400,
    "UnknownModel": 404,
    "WrongEndpoint": 400,
    "Unauthorized": 400,
    "QuotaExhausted": 400,
    "RateLimited": 429,
    "Overloaded": 503,
    "Unreachable": 502,
    "TimedOut": 504,
    "BadAnswer": 502,
    "ContextTooLong": 400,
    "AllRoutesFailed": 503,
}
"""for a client of OpenAI"""

OTHER_STATUSES = {("mistral", "UnknownTarget"): 400, ("mistral", "UnknownModel"): 400}


def test_every_class_of_error_has_a_status() -> None:
    assert {kind.__name__ for kind in every_error()} == {*STATUSES}


class Raised(NamedTuple):
    """What a client raises for a status; where it has a class for the whole range, that."""

    by_status: dict[int, type[Exception]]
    client_error: type[Exception]
    server_error: type[Exception]

    def for_status(self, status: int) -> type[Exception]:
        return self.by_status.get(status, self.server_error if status >= 500 else self.client_error)


OF_OPENAI = Raised(
    {400: openai.BadRequestError, 404: openai.NotFoundError, 429: openai.RateLimitError},
    openai.APIStatusError,
    openai.InternalServerError,
)
RAISED: dict[str, Raised] = {
    "anthropic": Raised(
        {
            400: anthropic.BadRequestError,
            404: anthropic.NotFoundError,
            429: anthropic.RateLimitError,
            504: anthropic.GatewayTimeoutError,
            529: anthropic.OverloadedError,
        },
        anthropic.APIStatusError,
        anthropic.InternalServerError,
    ),
    "openai-chat": OF_OPENAI,
    "openai-responses": OF_OPENAI,
    "google": Raised({}, google_errors.ClientError, google_errors.ServerError),
    "mistral": Raised({}, mistral_errors.SDKError, mistral_errors.SDKError),
}


@EVERY_CLIENT
@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_client_raises_its_own_error_with_our_words(name: str, kind: type[LegatoError]) -> None:
    response = told(name, made(kind, "nothing can be done"))
    status = OTHER_STATUSES.get((name, kind.__name__), STATUSES[kind.__name__])
    if (name, status) == ("anthropic", 503):
        status = 529

    with pytest.raises(RAISED[name].for_status(status)) as raised:
        OFFICIAL[name].ask(response, 0)

    assert response.status == status
    assert words(response) in str(raised.value)
    if kind not in (Unauthorized, QuotaExhausted, ContextTooLong):
        assert "nothing can be done" in words(response)


# --- whether to ask again ---------------------------------------------------------------------------------------------

NO_HELP = [RenderError, Unauthorized, QuotaExhausted, BadRequest, errors.ProtocolRefused, UnknownTarget, ContextTooLong]


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("kind", NO_HELP, ids=lambda kind: kind.__name__)
def test_no_client_asks_again_where_that_cannot_help(name: str, kind: type[LegatoError]) -> None:
    response = told(name, made(kind))
    with pytest.raises((anthropic.APIStatusError, openai.APIStatusError)):
        OFFICIAL[name].ask(response, 5)
    assert response.asked == 1


@pytest.mark.parametrize("kind", [RateLimited, Overloaded, TimedOut, Unreachable, BadAnswer, errors.Conflict])
@EVERY_CLIENT
def test_what_may_pass_later_has_a_status_that_clients_retry(name: str, kind: type[LegatoError]) -> None:
    response = told(name, made(kind))
    assert response.status in (429, 502, 503, 504, 529)
    assert "x-should-retry" not in response.headers


@EVERY_CLIENT
@pytest.mark.parametrize("kind", [RateLimited, Overloaded])
def test_a_wait_is_told_in_whole_seconds(name: str, kind: type[RateLimited | Overloaded]) -> None:
    response = told(name, kind("too many", retry_after=2.1))
    assert response.headers["retry-after"] == "3"
    if name == "google":
        [detail] = json.loads(response.body)["error"]["details"]
        assert detail == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}


def test_no_wait_is_told_where_none_is_known() -> None:
    assert "retry-after" not in told("anthropic", RateLimited("too many")).headers


# --- the words that start something -----------------------------------------------------------------------------------

TOO_LONG = {
    "anthropic": "prompt is too long: 140000 tokens > 131072 maximum",
    "openai-chat": "maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens",
    "openai-responses": "exceeds the context window of this model (140000 > 131072)",
    "google": "The input token count (140000) exceeds the maximum number of tokens allowed (131072)",
    "mistral": "Prompt contains 140000 tokens, too large for model with 131072 maximum context length",
}


@EVERY_CLIENT
@pytest.mark.parametrize(
    "facts",
    [
        {"tokens": 140_000, "window": 131_072},
        {"provider_message": "maximum context length is 131,072 tokens, but gpt-4-0613 was given 140000 (3 too many)"},
        {"provider_message": "prompt is too long: 140000 tokens > 131072 maximum"},
    ],
    ids=["told", "quoted", "quoted-the-other-way"],
)
def test_a_full_window_is_told_in_the_words_that_start_compaction(name: str, facts: dict[str, Any]) -> None:
    response = told(name, ContextTooLong("it is too long", route=KIMI, **facts))
    assert TOO_LONG[name] in words(response)
    assert KIMI in words(response)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
def test_openais_clients_know_a_full_window_by_its_code(name: str) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        OFFICIAL[name].ask(told(name, ContextTooLong("it is too long", route=KIMI)), 0)
    assert raised.value.code == "context_length_exceeded"


def test_a_full_window_that_nobody_measured_is_told_with_the_size_of_the_window() -> None:
    said = words(told("anthropic", ContextTooLong("it is too long", route=KIMI)))
    assert said.startswith("prompt is too long: more than 262144 tokens > 262144 maximum")


def test_codex_is_told_of_a_full_window_in_the_stream_where_it_looks_for_it() -> None:
    response = told("openai-responses", ContextTooLong("it is too long", route=KIMI), is_codex=True)
    client = openai.OpenAI(api_key="any", http_client=response.client(), max_retries=0)
    events = list(client.responses.create(model="any", input="hi", stream=True))
    assert [event.type for event in events] == ["response.failed"]
    failed: Any = events[0]
    assert (failed.response.status, failed.response.error.code) == ("failed", "context_length_exceeded")
    assert response.status == 200


def test_codex_is_told_of_anything_else_by_a_status() -> None:
    assert told("openai-responses", RateLimited("too many"), is_codex=True).status == 429


@EVERY_CLIENT
def test_an_unknown_model_is_told_in_the_words_for_it(name: str) -> None:
    for error in (UnknownModel("not offered", route="kimi/gone"), UnknownTarget("no such route", route="gone")):
        said = words(told(name, error))
        assert "gone" in said
        assert error.message in said


# --- whose matter it is -----------------------------------------------------------------------------------------------

LOGIN_WORDS = ("x-api-key", "api key", "oauth", "log in", "/login", "credit balance")
"""after which Claude Code and others ask their user for a key or for money of their own"""


@EVERY_CLIENT
def test_a_providers_key_is_the_matter_of_whoever_runs_the_gateway(name: str) -> None:
    error = Unauthorized(
        "anthropic/claude-opus-4-8 did not accept the key (HTTP 401): invalid x-api-key. Check the key",
        route="anthropic/claude-opus-4-8",
        layer="provider",
        about="key",
        provider_message="invalid x-api-key",
    )
    said = words(told(name, error))
    assert "anthropic/claude-opus-4-8" in said
    assert "set ANTHROPIC_API_KEY" in said
    assert not any(word in said.lower() for word in LOGIN_WORDS)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Unauthorized("no", route=KIMI, layer="provider", about="region"), "not offered where the gateway runs"),
        (Unauthorized("no", route=KIMI, layer="provider", about="permission"), "is not allowed to use it"),
        (Unauthorized("there is no key for kimi: set KIMI_API_KEY", route=KIMI), "set KIMI_API_KEY"),
        (Unauthorized("the tool failed", provider="vertex", layer="credentials"), "cannot use vertex: the tool failed"),
        (QuotaExhausted("your credit balance is too low", route=KIMI), f"for {KIMI} has no balance or quota left"),
    ],
)
def test_what_an_account_lacks_is_said_in_our_own_words(error: LegatoError, said: str) -> None:
    message = words(told("anthropic", error))
    assert said in message
    assert not any(word in message.lower() for word in LOGIN_WORDS)


@EVERY_CLIENT
def test_a_key_of_the_gateways_own_is_the_matter_of_the_client(name: str) -> None:
    response = told(name, TurnedAway("this gateway wants a key of its own", reason=RefusalReason.KEY_MISSING))
    assert response.status == (403 if name == "google" else 401)


def test_the_gateway_may_refuse_with_a_status_of_its_own() -> None:
    upgrade = TurnedAway("WebSockets are not spoken here", reason=RefusalReason.METHOD, status=426)
    assert told("openai-responses", upgrade).status == 426


def test_a_large_body_is_refused_as_such() -> None:
    response = told("anthropic", TurnedAway("too many bytes", reason=RefusalReason.TOO_LARGE))
    with pytest.raises(anthropic.ContentTooLargeError):
        OFFICIAL["anthropic"].ask(response, 0)


# --- several routes ---------------------------------------------------------------------------------------------------


def all_failed(*causes: ProviderError) -> AllRoutesFailed:
    return AllRoutesFailed("every route failed", causes=[(f"p/{place}", cause) for place, cause in enumerate(causes)])


@pytest.mark.parametrize(
    ("causes", "status", "wait"),
    [
        ((RateLimited("a", retry_after=9), RateLimited("b", retry_after=4), RateLimited("c")), 429, "4"),
        ((RateLimited("a", retry_after=9), Overloaded("b")), 529, "9"),
        ((Unauthorized("a", route=KIMI), TimedOut("b")), 529, None),
        ((Unauthorized("a", route=KIMI), QuotaExhausted("b")), 400, None),
        ((UnknownModel("a"), Unauthorized("b")), 404, None),
    ],
)
def test_where_every_route_failed_the_causes_decide(
    causes: tuple[ProviderError, ...], status: int, wait: str | None
) -> None:
    response = told("anthropic", all_failed(*causes))
    assert (response.status, response.headers.get("retry-after")) == (status, wait)
    assert "every route failed" in words(response)


# --- what else a refusal carries --------------------------------------------------------------------------------------


@EVERY_CLIENT
def test_no_secret_is_in_a_refusal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "an-unusual-secret-1")
    response = told(name, BadRequest("it said: key sk-abcdef0123456789abcdef and an-unusual-secret-1 are bad"))
    assert b"sk-abcdef" not in response.body
    assert b"an-unusual" not in response.body
    assert b"[hidden]" in response.body


@pytest.mark.parametrize(
    ("name", "header"),
    [("anthropic", "request-id"), ("openai-chat", "x-request-id"), ("google", "x-goog-request-id")],
)
def test_a_refusal_names_the_request(name: str, header: str) -> None:
    assert told(name, FormatError("this is no request")).headers[header] == "req_1"
    assert header not in refusal(FormatError("this is no request"), OFFICIAL[name].door).headers


@pytest.mark.parametrize("kind", [RenderError, errors.ProtocolRefused])
def test_a_fault_of_the_gateway_says_how_to_report_it(kind: type[LegatoError]) -> None:
    assert words(told("google", made(kind))).endswith("it failed; please report it with the id req_1")


def test_an_error_in_a_stream_has_the_same_envelope() -> None:
    error = Overloaded("it is busy")
    for name in ("anthropic", "openai-chat", "google"):
        official = OFFICIAL[name]
        body = json.loads(body_of(refusal(error, official.door, request_id="req_1")))
        assert error_body(error, official.door.dialect, request_id="req_1") == body
    assert error_body(error, Dialect.ANTHROPIC)["error"]["type"] == "overloaded_error"
