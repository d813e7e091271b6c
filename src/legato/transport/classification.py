"""Which error a refusal is: by the body first, by the status second.

In:  a status (None for an error that was streamed), headers, and the provider's complaint.
Out: one `ProviderError`, whose type says who can act, with the provider's words and plain facts.

A 400 alone says nothing: it may be our shape, a missing model, an empty balance, a full window or a policy. So the
wordings of `wordings.py` are consulted first, in an order that depends on the status, then those that the host itself
declares. A refusal in words that no one has written down yet counts as a refusal of our shape if it points into the
body, and else as the user's matter; both stop, and neither walks a failover chain. No secret is in any message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from legato.errors import (
    BadAnswer,
    BadRequest,
    ContextTooLong,
    MediaRefused,
    Overloaded,
    PolicyRefused,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unauthorized,
    UnknownModel,
    WrongEndpoint,
)
from legato.model import Target
from legato.transport.complaint import LONGEST_WORD, Complaint
from legato.transport.host_words import words_of_host
from legato.transport.keys import scrub
from legato.transport.outgoing import WireRequest
from legato.transport.waiting import retry_after
from legato.transport.wordings import ALL, BROKEN_SERVER, PLACE, PLAIN_QUOTA, READING, Wording

BY_STATUS: dict[int, tuple[type[ProviderError], str]] = {
    # The codes that most providers share: https://platform.claude.com/docs/en/api/errors
    401: (Unauthorized, "key"),
    403: (Unauthorized, "permission"),
    404: (WrongEndpoint, "endpoint"),
    413: (ContextTooLong, "window"),
    429: (RateLimited, "rate"),
    # https://api-docs.deepseek.com/quick_start/error_codes
    402: (QuotaExhausted, "balance"),
    # A model that took too long, or failed: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    408: (TimedOut, "slow"),
    424: (Overloaded, "busy"),
    # A lock that was not free in time; the official clients try again: https://github.com/openai/openai-python#retries
    409: (Overloaded, "busy"),
    # What was there is gone for good: https://www.rfc-editor.org/rfc/rfc9110#section-15.5.11
    410: (UnknownModel, "model"),
    # Sent before the connection was settled, may be sent again: https://www.rfc-editor.org/rfc/rfc8470#section-5.2
    425: (Overloaded, "busy"),
    # Groq's own, for a tier without room: https://console.groq.com/docs/flex-processing
    498: (Overloaded, "busy"),
    # https://ai.google.dev/gemini-api/docs/generate-content/api-errors
    504: (TimedOut, "slow"),
    # Cloudflare's own, where the server behind it is too slow:
    # https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/error-524/
    524: (TimedOut, "slow"),
}
"""what a status means where the body does not say better; any other 5xx is `Overloaded`, Anthropic's 529 among them"""

ADVICE: dict[type[ProviderError], str] = {
    ProtocolRefused: "This is a fault of the request and not of yours",
    BadRequest: "Choose another model or option, or change what was asked",
    MediaRefused: "Take out or convert the file that it names",
    PolicyRefused: "Change what was asked; the provider does not allow it",
    UnknownModel: "Check the name of the model, or choose another one",
    WrongEndpoint: "Check the endpoint of this provider",
    Unauthorized: "Check the key of this provider and what it is allowed to do",
    QuotaExhausted: "Add to the balance of this account, or choose another provider",
    RateLimited: "Wait, then try again",
    Overloaded: "Try again later, or choose another provider",
    TimedOut: "Try again, or allow more time",
    ContextTooLong: "Shorten the conversation, or choose a model with a larger window",
    BadAnswer: "Try again",
}
"""what to do next; a class without advice of its own has that of its base"""

ADVICE_ABOUT: dict[str, str] = {"region": "Choose another provider; this one is not offered where you are"}
"""more exact than the advice for the type of the error"""

HEADLINE: dict[type[ProviderError], str] = {
    ProtocolRefused: "refused the shape of the request",
    BadRequest: "refused what was asked for",
    Unauthorized: "did not accept the key",
    QuotaExhausted: "says that the balance or quota is used up",
    RateLimited: "got too many requests",
    Overloaded: "failed or is too busy",
    TimedOut: "took too long",
    ContextTooLong: "says that the conversation is too long for the model",
    BadAnswer: "gave an answer that cannot be used",
}

REQUEST_IDS = ("request-id", "x-request-id", "x-goog-request-id", "x-amzn-requestid", "cf-ray")
"""headers that name a request to the provider's support: Anthropic's, OpenAI's, Google's, AWS's, Cloudflare's"""


def classify(
    complaint: Complaint,
    request: WireRequest,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    now: float = 0.0,
) -> ProviderError:
    """The error that `complaint` is. `now`, in seconds since the epoch, is needed for waits given as a date."""
    headers = headers or {}
    wait = retry_after(headers, complaint, now=now)
    implied = _implied(complaint) if status is None else status
    kind, about = _judge(complaint, implied, request.target, waits=wait is not None)
    secrets = [*request.secrets.values()]
    said = scrub(complaint.message, secrets)
    named = next((headers[name] for name in REQUEST_IDS if name in headers), "")
    facts: dict[str, Any] = {
        "route": request.route,
        "place": request.place,
        "layer": "provider",
        "status": status,
        "provider_message": said,
        # Whatever a provider writes may quote the key that it was sent.
        "provider_type": scrub(complaint.type[:LONGEST_WORD], secrets),
        "provider_code": scrub(complaint.code[:LONGEST_WORD], secrets),
        "provider_param": scrub(complaint.param[:LONGEST_WORD], secrets),
        "request_id": scrub(named[:LONGEST_WORD], secrets),
        ("rule" if issubclass(kind, ProtocolRefused) else "about"): about,
    }
    where = "in the stream" if status is None else f"HTTP {status}"
    quoted = f": {said.rstrip('.')}" if said else ""
    advice = ADVICE_ABOUT.get(about) or _nearest(ADVICE, kind)
    message = f"{request.route} {_nearest(HEADLINE, kind)} ({where}){quoted}. {advice}."
    if kind is RateLimited:
        return RateLimited(message, retry_after=wait, **facts)
    if kind is Overloaded:
        return Overloaded(message, retry_after=wait, **facts)
    return kind(message, **facts)


def _nearest(told: Mapping[type[ProviderError], str], kind: type[ProviderError]) -> str:
    """What is told of `kind`, or else of the nearest of its bases."""
    return next(told[base] for base in kind.__mro__ if base in told)


def _implied(complaint: Complaint) -> int | None:
    """The status of an error that was streamed after a 200, where its code or type implies one."""
    if complaint.status is not None:
        return complaint.status
    return 400 if re.search(r"invalid_request|validationexception", complaint.haystack) else None


def _judge(complaint: Complaint, status: int | None, target: Target, *, waits: bool) -> tuple[type[ProviderError], str]:
    own = words_of_host(target)
    for group in (*_groups(status), own):
        if group is PLAIN_QUOTA and waits:
            continue  # an empty balance does not fill itself in the time that was named
        for row in group:
            if group is own and row.kind is QuotaExhausted and waits:
                continue  # for the same reason
            if re.search(row.pattern, complaint.haystack, re.DOTALL):
                return row.kind, row.about
    if status is None:
        return BadAnswer, "unknown"
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500:
        return Overloaded, "busy"
    if status < 400:
        return WrongEndpoint, "endpoint"
    if any(re.search(PLACE, text) for text in (complaint.haystack, complaint.param.lower())) or status == 422:
        return ProtocolRefused, "unknown"
    return BadRequest, "unknown"


def _groups(status: int | None) -> tuple[tuple[Wording, ...], ...]:
    if status is None or status not in READING:
        return BROKEN_SERVER if status is not None and status >= 500 else ALL
    return READING[status]
