"""The error bodies of the providers that are no hosts of the chat family.

The shapes are their own: a typed envelope (Anthropic), Google's status with details, the errors of the AI SDK, AWS's
bare message with its type in a header, Azure's code. A host of the chat family brings its own, or has that of OpenAI.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from legato.model import JsonObject
from legato.wire.hosting import ErrorFacts, RefusalReason, ServerHabits, openai_error

_ANTHROPIC: dict[RefusalReason, str] = {
    RefusalReason.MODEL: "not_found_error",
    RefusalReason.PATH: "not_found_error",
    RefusalReason.KEY_MISSING: "authentication_error",
    RefusalReason.KEY_WRONG: "authentication_error",
    RefusalReason.RATE: "rate_limit_error",
    RefusalReason.SERVER: "api_error",
    RefusalReason.OVERLOADED: "overloaded_error",
    RefusalReason.UPSTREAM: "api_error",
    RefusalReason.SLOW: "timeout_error",
    RefusalReason.TOO_LARGE: "request_too_large",
}


def anthropic_error(facts: ErrorFacts) -> JsonObject:
    """A typed envelope, with the id of the request."""
    error: JsonObject = {"type": _ANTHROPIC.get(facts.reason, "invalid_request_error"), "message": facts.message}
    if facts.reason is RefusalReason.PREVIOUS:  # by this the client knows that it has to send everything again
        error["details"] = {"error_code": "thread_not_found"}
    return {"type": "error", "error": error, "request_id": facts.request_id}


_GOOGLE: dict[RefusalReason, str] = {
    RefusalReason.MODEL: "NOT_FOUND",
    RefusalReason.PATH: "NOT_FOUND",
    RefusalReason.METHOD: "UNIMPLEMENTED",
    RefusalReason.KEY_MISSING: "PERMISSION_DENIED",
    RefusalReason.QUOTA: "RESOURCE_EXHAUSTED",
    RefusalReason.RATE: "RESOURCE_EXHAUSTED",
    RefusalReason.SERVER: "INTERNAL",
    RefusalReason.OVERLOADED: "UNAVAILABLE",
    RefusalReason.UPSTREAM: "UNAVAILABLE",
    RefusalReason.SLOW: "DEADLINE_EXCEEDED",
    RefusalReason.SETUP: "FAILED_PRECONDITION",
}


def google_error(facts: ErrorFacts) -> JsonObject:
    """A status in capitals, with details where there are some."""
    is_token = facts.status == 401  # Vertex takes tokens, and no keys
    error: JsonObject = {
        "code": facts.status,
        "message": facts.message,
        "status": "UNAUTHENTICATED" if is_token else _GOOGLE.get(facts.reason, "INVALID_ARGUMENT"),
    }
    details = list(_google_details(facts))
    if details:
        error["details"] = details
    return {"error": error}


def _google_details(facts: ErrorFacts) -> Iterator[JsonObject]:
    if facts.reason is RefusalReason.KEY_WRONG and facts.status != 401:
        yield {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    if facts.retry_after is not None:
        yield {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{facts.retry_after:g}s"}


# https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
_AWS: dict[RefusalReason, str] = {
    RefusalReason.NOT_JSON: "SerializationException",
    RefusalReason.KEY_MISSING: "MissingAuthenticationTokenException",
    RefusalReason.KEY_WRONG: "AccessDeniedException",
    RefusalReason.QUOTA: "ServiceQuotaExceededException",
    RefusalReason.RATE: "ThrottlingException",
    RefusalReason.SERVER: "InternalServerException",
    RefusalReason.OVERLOADED: "ServiceUnavailableException",
    RefusalReason.PATH: "UnknownOperationException",
    RefusalReason.METHOD: "UnknownOperationException",
}


def aws_error(facts: ErrorFacts) -> JsonObject:
    """Nothing but the message."""
    return {"message": facts.message}


def aws_error_type(facts: ErrorFacts) -> str:
    """The name of the exception, and behind it where AWS defines it (aws-samples/amazon-bedrock-client-for-mac#99)."""
    kind = _AWS.get(facts.reason, "ValidationException")
    return f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"


_AZURE: dict[RefusalReason, str] = {
    RefusalReason.PATH: "404",
    RefusalReason.KEY_MISSING: "401",
    RefusalReason.KEY_WRONG: "401",
    RefusalReason.MODEL: "DeploymentNotFound",
}


def azure_error(facts: ErrorFacts) -> JsonObject:
    """A code and a message from what stands before the model, and OpenAI's own shape from what is behind it."""
    code = _AZURE.get(facts.reason, "" if facts.path or facts.reason is not RefusalReason.SHAPE else "BadRequest")
    return {"error": {"code": code, "message": facts.message}} if code else openai_error(facts)


_VERCEL: dict[RefusalReason, str] = {
    RefusalReason.SHAPE: "AI_InvalidPromptError",
    RefusalReason.NOT_JSON: "AI_JSONParseError",
    RefusalReason.MODEL: "AI_NoSuchModelError",
    RefusalReason.KEY_MISSING: "AI_LoadAPIKeyError",
    RefusalReason.KEY_WRONG: "AI_LoadAPIKeyError",
}


def vercel_error(facts: ErrorFacts) -> JsonObject:
    """The name of one of the SDK's errors, which is the code of the broken rule where it has one."""
    name = facts.code or _VERCEL.get(facts.reason, "AI_APICallError")
    return {"error": {"name": name, "type": name, "message": facts.message}}


def print_error(facts: ErrorFacts, habits: ServerHabits) -> tuple[dict[str, str], bytes]:
    """The headers and the body with which a server of these habits refuses."""
    headers = {"content-type": "application/json"}
    if facts.request_id:
        headers[habits.request_id] = facts.request_id
    if facts.retry_after is not None and habits.tells_wait:
        headers["retry-after"] = f"{facts.retry_after:g}"
    if habits.error_header is not None:
        name, kind = habits.error_header
        headers[name] = kind(facts)
    return headers, msgspec.json.encode(habits.error_body(facts))
