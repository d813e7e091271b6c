"""Station 5, where it goes: requests as data, the only sockets, and errors that say who can act.

A `WireRequest` is carried by a `Transport`: `HttpTransport`, or a provider simulated in this process. `open_answer`
turns its response into deltas and one `Answer`, and whatever goes wrong into one typed `ProviderError`.
"""

from __future__ import annotations

from legato.transport.classification import classify
from legato.transport.complaint import Complaint, complaint_of, read_complaint
from legato.transport.contract import Timeouts, Transport, WireResponse, whole_response
from legato.transport.exchange import AnswerStream, deltas_of, open_answer
from legato.transport.http import HttpTransport
from legato.transport.keys import Key, KeyRing, scrub, variables_of
from legato.transport.outgoing import (
    HTTP_APIS,
    KEY_HEADERS,
    PLATFORM_APIS,
    WireRequest,
    http_api,
    shown_url,
    wire_request,
)
from legato.wire.bounds import Bounds

__all__ = [
    "HTTP_APIS",
    "KEY_HEADERS",
    "PLATFORM_APIS",
    "AnswerStream",
    "Bounds",
    "Complaint",
    "HttpTransport",
    "Key",
    "KeyRing",
    "Timeouts",
    "Transport",
    "WireRequest",
    "WireResponse",
    "classify",
    "complaint_of",
    "deltas_of",
    "http_api",
    "open_answer",
    "read_complaint",
    "scrub",
    "shown_url",
    "variables_of",
    "whole_response",
    "wire_request",
]
