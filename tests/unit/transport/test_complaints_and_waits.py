from __future__ import annotations

import json

import pytest

from legato.transport import Complaint, complaint_of, read_complaint
from legato.transport.complaint import LONGEST_MESSAGE
from legato.transport.waiting import retry_after


def parts(value: object) -> tuple[str, str, str, str]:
    complaint = read_complaint(json.dumps(value).encode())
    return complaint.message, complaint.type, complaint.code, complaint.param


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"error": {"message": "No.", "type": "invalid_request_error", "code": "c", "param": "messages"}},
            ("No.", "invalid_request_error", "c", "messages"),
        ),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"},
            ("Overloaded", "overloaded_error", "", ""),
        ),
        (
            [{"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}}],
            ("Bad.", "INVALID_ARGUMENT", "400", ""),
        ),
        (
            {"object": "error", "message": "Unexpected role", "type": "invalid_request_message_order", "code": "3230"},
            ("Unexpected role", "invalid_request_message_order", "3230", ""),
        ),
        (
            {"object": "error", "message": {"detail": [{"loc": ["body", "messages", 0], "msg": "extra", "type": "t"}]}},
            ("body.messages.0: extra", "", "", ""),
        ),
        ({"detail": "Model x is not supported"}, ("Model x is not supported", "", "", "")),
        ({"detail": [{"msg": "one"}, {"loc": ["a"], "msg": "two"}]}, ("one; a: two", "", "", "")),
        ({"error": "model not found"}, ("model not found", "", "", "")),
        (
            {"message": "The provided model identifier is invalid."},
            ("The provided model identifier is invalid.", "", "", ""),
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Sorry"}}},
            ("Sorry", "response.failed", "server_error", ""),
        ),
        (
            {"type": "error", "code": "rate_limit_exceeded", "message": "Slow"},
            ("Slow", "error", "rate_limit_exceeded", ""),
        ),
        ("just words", ("just words", "", "", "")),
        ({}, ("", "", "", "")),
        ([], ("", "", "", "")),
        (None, ("", "", "", "")),
    ],
)
def test_every_envelope_gives_the_same_shape(body: object, expected: tuple[str, str, str, str]) -> None:
    assert parts(body) == expected


def test_what_a_router_quotes_from_the_provider_behind_it_is_searched_too() -> None:
    raw = json.dumps({"error": {"message": "Prompt is TOO long"}})
    complaint = complaint_of({"error": {"message": "Provider returned error", "metadata": {"raw": raw}}})
    assert complaint.message == "Provider returned error"
    assert "prompt is too long" in complaint.haystack


def test_a_page_of_a_proxy_becomes_its_words() -> None:
    page = b"<html><head><style>a{}</style></head><body><h1>502</h1> Bad\n Gateway</body></html>"
    assert read_complaint(page) == Complaint(message="502 Bad Gateway", haystack="502 bad gateway")


def test_a_message_is_cut_but_searched_whole() -> None:
    complaint = complaint_of({"error": {"message": "x" * LONGEST_MESSAGE + " prompt is too long"}})
    assert complaint.message == "x" * LONGEST_MESSAGE + "…"
    assert complaint.haystack.endswith("prompt is too long")


def test_a_body_that_is_no_text_at_all_still_gives_a_complaint() -> None:
    assert read_complaint(b"").message == ""
    assert read_complaint(b"\xff\xfe\x00").message == "\ufffd\ufffd\x00"


NOW = 1_700_000_000.0
"""Tue, 14 Nov 2023 22:13:20 GMT"""

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.5s"}


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, {}, 1.5),
        ({"retry-after": "20"}, {}, 20.0),
        ({"retry-after": "0.25"}, {}, 0.25),
        ({"retry-after": "-3"}, {}, 0.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, {}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT", "date": "Tue, 14 Nov 2023 22:13:40 GMT"}, {}, 10.0),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "Tue, 14 Nov 99999999999999999999 22:13:50 GMT"}, {}, None),
        ({"retry-after": "inf"}, {"error": {"details": [RETRY_INFO]}}, 36.5),
        ({}, {"error": {"details": [{"@type": "x.Help"}, RETRY_INFO]}}, 36.5),
        ({}, {"error": {"message": "Rate limit reached. Please try again in 6.2s. Visit us."}}, 6.2),
        ({}, {"error": {"message": "Please try again in 7m12s."}}, 432.0),
        ({}, {"error": {"message": "please retry after 20 seconds"}}, 20.0),
        ({}, {"error": {"message": "try again in 350ms"}}, 0.35),
        ({}, {"error": {"message": "try again in 2 minutes"}}, 120.0),
        ({}, {"error": {"message": "try again in a few moments"}}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, {}, 1.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "10",
                "x-ratelimit-reset-tokens": "2m59.5s",
                "x-ratelimit-remaining-tokens": "0",
            },
            {},
            179.5,
        ),
        ({"x-ratelimit-reset": "1700000012"}, {}, 12.0),
        ({"x-ratelimit-reset": "1700000012500"}, {}, 12.5),
        ({"x-ratelimit-reset": "45"}, {}, 45.0),
        (
            {
                "anthropic-ratelimit-requests-reset": "2023-11-14T22:13:25Z",
                "anthropic-ratelimit-requests-remaining": "3",
                "anthropic-ratelimit-input-tokens-reset": "2023-11-14T22:14:20Z",
                "anthropic-ratelimit-input-tokens-remaining": "0",
            },
            {},
            60.0,
        ),
        ({"x-ratelimit-reset-requests": "?"}, {}, None),
        ({"x-ratelimit-reset-tokens": "0", "x-ratelimit-remaining-tokens": "-1"}, {}, None),
        ({"x-ratelimit-limit-requests": "60"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_found(
    headers: dict[str, str], body: dict[str, object], expected: float | None
) -> None:
    assert retry_after(headers, complaint_of(body), now=NOW) == (None if expected is None else pytest.approx(expected))
