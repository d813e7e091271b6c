"""A refusal as each family prints it: status, headers and error body.

In:  a `Refusal`: why, in which words, about which place.
Out: the `Reply` that carries it.

The shapes are the families' own: an `error` object with `param` and `code` (OpenAI), a typed envelope (Anthropic),
Google's status with details, Mistral's bare message or list of places, a number as `code` (OpenRouter), the message
as `error` itself (xAI).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec
from msgspec import Struct

from legato.model import JsonObject
from legato.simulation.contract import Reply
from legato.simulation.families import Style


class Why(StrEnum):
    """Why a request is refused."""

    SHAPE = "shape"
    NOT_JSON = "not-json"
    REASONING = "reasoning"
    """reasoning that this provider did not make, for this model and account"""
    MODEL = "model"
    KEY_MISSING = "key-missing"
    KEY_WRONG = "key-wrong"
    QUOTA = "quota"
    TOO_LONG = "too-long"
    RATE = "rate"
    SERVER = "server"
    OVERLOADED = "overloaded"
    PREVIOUS = "previous"
    """a response to go on from that this provider does not keep"""
    STORED = "stored"
    """a response to look at that it does not keep"""
    PATH = "path"
    METHOD = "method"


class Refusal(Struct, frozen=True, kw_only=True):
    """One refusal. `rule` and `path` say which rule of the dialect is broken, and where; `code` is that rule's code."""

    why: Why
    message: str
    path: str = ""
    rule: str = ""
    code: str = ""
    model: str = ""
    retry_after: float | None = None


_STATUS: dict[Why, int] = {
    Why.SHAPE: 400,
    Why.NOT_JSON: 400,
    Why.REASONING: 400,
    Why.MODEL: 404,
    Why.KEY_MISSING: 401,
    Why.KEY_WRONG: 401,
    Why.QUOTA: 402,
    Why.TOO_LONG: 400,
    Why.RATE: 429,
    Why.SERVER: 500,
    Why.OVERLOADED: 503,
    Why.PREVIOUS: 400,
    Why.STORED: 404,
    Why.PATH: 404,
    Why.METHOD: 405,
}
_STATUS_OF_STYLE: dict[tuple[Style, Why], int] = {
    (Style.OPENAI, Why.QUOTA): 429,
    (Style.RESPONSES, Why.QUOTA): 429,
    (Style.KIMI, Why.QUOTA): 429,
    (Style.GOOGLE, Why.QUOTA): 429,
    (Style.ANTHROPIC, Why.QUOTA): 400,
    (Style.ANTHROPIC, Why.OVERLOADED): 529,
    (Style.GOOGLE, Why.KEY_MISSING): 403,
    (Style.GOOGLE, Why.KEY_WRONG): 400,
    (Style.MISTRAL, Why.MODEL): 400,
    (Style.DEEPSEEK, Why.MODEL): 400,
    (Style.OPENROUTER, Why.MODEL): 400,
}
_EXTRA_FIELD = "extra_forbidden"
"""the code of Mistral's first reader, which refuses fields before anything else looks at the request"""


def status_of(refusal: Refusal, style: Style) -> int:
    """The status with which the family refuses."""
    if style is Style.MISTRAL and refusal.code == _EXTRA_FIELD:
        return 422
    return _STATUS_OF_STYLE.get((style, refusal.why), _STATUS[refusal.why])


def print_refusal(refusal: Refusal, style: Style, *, request_id: str) -> Reply:
    """The reply that carries `refusal`."""
    status = status_of(refusal, style)
    headers = {"content-type": "application/json", _REQUEST_ID.get(style, "x-request-id"): request_id}
    if refusal.retry_after is not None and style is not Style.GOOGLE:  # Google names the time in the body
        headers["retry-after"] = f"{refusal.retry_after:g}"
    body = _body(refusal, style, status, request_id)
    return Reply(status=status, headers=headers, chunks=(msgspec.json.encode(body),))


_REQUEST_ID = {Style.ANTHROPIC: "request-id", Style.GOOGLE: "x-goog-request-id"}


def _body(refusal: Refusal, style: Style, status: int, request_id: str) -> JsonObject:
    match style:
        case Style.ANTHROPIC:
            error: JsonObject = {"type": _ANTHROPIC.get(refusal.why, _INVALID), "message": refusal.message}
            if refusal.why is Why.PREVIOUS:  # by this the client knows that it has to send everything again
                error["details"] = {"error_code": "thread_not_found"}
            return {"type": "error", "error": error, "request_id": request_id}
        case Style.GOOGLE:
            return {"error": _google(refusal, status)}
        case Style.MISTRAL:
            return _mistral(refusal, status, request_id)
        case Style.OPENROUTER:
            return {"error": {"message": refusal.message, "code": status, "metadata": {}}}
        case Style.XAI:
            return {"code": _XAI.get(refusal.why, "The request is not valid"), "error": refusal.message}
        case Style.VLLM:
            kind = "NotFoundError" if status == 404 else "BadRequestError" if status == 400 else "InternalServerError"
            return {"object": "error", "message": refusal.message, "type": kind, "param": None, "code": status}
        case Style.VERCEL:
            name = _vercel_name(refusal)
            return {"error": {"name": name, "type": name, "message": refusal.message}}
        case Style.KIMI:
            return {"error": {"message": refusal.message, "type": _KIMI.get(refusal.why, _INVALID)}}
        case Style.OPENAI | Style.RESPONSES | Style.DEEPSEEK:
            kind, code = _OPENAI.get(refusal.why, (_INVALID, None))
            place = refusal.path or None
            return {"error": {"message": refusal.message, "type": kind, "param": place, "code": code}}


_INVALID = "invalid_request_error"

_OPENAI: dict[Why, tuple[str, str | None]] = {
    Why.REASONING: (_INVALID, "invalid_encrypted_content"),
    Why.MODEL: (_INVALID, "model_not_found"),
    Why.PREVIOUS: (_INVALID, "previous_response_not_found"),
    Why.KEY_MISSING: (_INVALID, None),
    Why.KEY_WRONG: (_INVALID, "invalid_api_key"),
    Why.QUOTA: ("insufficient_quota", "insufficient_quota"),
    Why.TOO_LONG: (_INVALID, "context_length_exceeded"),
    Why.RATE: ("requests", "rate_limit_exceeded"),
    Why.SERVER: ("server_error", None),
    Why.OVERLOADED: ("server_error", None),
}
_ANTHROPIC: dict[Why, str] = {
    Why.MODEL: "not_found_error",
    Why.PATH: "not_found_error",
    Why.KEY_MISSING: "authentication_error",
    Why.KEY_WRONG: "authentication_error",
    Why.RATE: "rate_limit_error",
    Why.SERVER: "api_error",
    Why.OVERLOADED: "overloaded_error",
}
_KIMI: dict[Why, str] = {
    Why.MODEL: "resource_not_found_error",
    Why.KEY_MISSING: "invalid_authentication_error",
    Why.KEY_WRONG: "invalid_authentication_error",
    Why.QUOTA: "exceeded_current_quota_error",
    Why.RATE: "rate_limit_reached_error",
    Why.SERVER: "server_error",
    Why.OVERLOADED: "engine_overloaded_error",
}
_XAI: dict[Why, str] = {
    Why.MODEL: "The model was not found",
    Why.KEY_MISSING: "No credentials were given",
    Why.KEY_WRONG: "The credentials are not valid",
    Why.QUOTA: "Out of credits",
    Why.RATE: "Too many requests",
    Why.SERVER: "Internal server error",
    Why.OVERLOADED: "Service unavailable",
}


# --- Google -----------------------------------------------------------------------------------------------------------

_GOOGLE: dict[Why, str] = {
    Why.MODEL: "NOT_FOUND",
    Why.PATH: "NOT_FOUND",
    Why.METHOD: "UNIMPLEMENTED",
    Why.KEY_MISSING: "PERMISSION_DENIED",
    Why.QUOTA: "RESOURCE_EXHAUSTED",
    Why.RATE: "RESOURCE_EXHAUSTED",
    Why.SERVER: "INTERNAL",
    Why.OVERLOADED: "UNAVAILABLE",
}


def _google(refusal: Refusal, status: int) -> JsonObject:
    error: JsonObject = {
        "code": status,
        "message": refusal.message,
        "status": _GOOGLE.get(refusal.why, "INVALID_ARGUMENT"),
    }
    details = list(_google_details(refusal))
    if details:
        error["details"] = details
    return error


def _google_details(refusal: Refusal) -> Iterator[JsonObject]:
    if refusal.why is Why.KEY_WRONG:
        yield {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    if refusal.retry_after is not None:
        yield {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.retry_after:g}s"}


# --- Mistral ----------------------------------------------------------------------------------------------------------

_MISTRAL_TYPES = {
    "3230": "invalid_request_message_order",
    "3240": "invalid_request_assistant_message",
    "3280": "invalid_function_call",
}
"""what Mistral calls the errors that its rules name by number"""
_MISTRAL: dict[Why, tuple[str, str]] = {
    Why.MODEL: ("invalid_model", "1500"),
    Why.RATE: ("rate_limited", "1300"),
    Why.TOO_LONG: ("context_length_exceeded", "3051"),
    Why.SERVER: ("service_unavailable", "3800"),
    Why.OVERLOADED: ("service_tier_capacity_exceeded", "3505"),
}


def _mistral(refusal: Refusal, status: int, request_id: str) -> JsonObject:
    if refusal.why in (Why.KEY_MISSING, Why.KEY_WRONG):
        return {"detail": refusal.message}
    if status == 422:
        place: list[str | int] = ["body", *_steps(refusal.path)]
        detail: JsonObject = {"type": _EXTRA_FIELD, "loc": place, "msg": refusal.message}
        return {"object": "error", "message": {"detail": [detail]}, "type": _INVALID, "param": None, "code": None}
    kind, code = _MISTRAL.get(refusal.why, (_INVALID, "1000"))
    if refusal.code:
        kind, code = _MISTRAL_TYPES.get(refusal.code, _INVALID), refusal.code
    return {
        "object": "error",
        "message": refusal.message,
        "type": kind,
        "param": None,
        "code": code,
        "request_id": request_id,
    }


def _steps(path: str) -> Iterator[str | int]:
    """`messages[2].content` as the steps that lead there."""
    for step in re.findall(r"[^.\[\]]+", path):
        yield int(step) if step.isdecimal() else step


# --- the AI SDK -------------------------------------------------------------------------------------------------------

_VERCEL: dict[Why, str] = {
    Why.SHAPE: "AI_InvalidPromptError",
    Why.NOT_JSON: "AI_JSONParseError",
    Why.MODEL: "AI_NoSuchModelError",
    Why.KEY_MISSING: "AI_LoadAPIKeyError",
    Why.KEY_WRONG: "AI_LoadAPIKeyError",
}


def _vercel_name(refusal: Refusal) -> str:
    return refusal.code or _VERCEL.get(refusal.why, "AI_APICallError")
