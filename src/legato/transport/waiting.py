"""How long a provider asks us to wait.

In:  the headers and the complaint of a refusal.
Out: seconds, or None where it names no time.

The plainest statement comes first:

    retry-after-ms     Azure's; OpenAI's own client reads it first
                       (https://github.com/openai/openai-python/blob/main/src/openai/_base_client.py)
    retry-after        seconds or a date (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
    RetryInfo          in the body, from Google
                       (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto)
    the sentence       "Please try again in 6.2s", as OpenAI says it in the message of a 429
    the rate limits    spans (https://platform.openai.com/docs/guides/rate-limits), dates
                       (https://platform.claude.com/docs/en/api/rate-limits), or moments since the epoch

Of several limits those that are used up count, and the last of them to reset; where none says that it is used up, the
first to reset. The patterns are compiled when one is first used: most runs never meet a refusal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from legato.transport.complaint import Complaint


def retry_after(headers: Mapping[str, str], complaint: Complaint, *, now: float) -> float | None:
    """The seconds that the provider asks us to wait; `now` is in seconds since the epoch."""
    for seconds in (
        _milliseconds(headers.get("retry-after-ms", "")),
        _seconds_or_date(headers.get("retry-after", ""), _server_time(headers, now)),
        _retry_info(complaint),
        _sentence(complaint),
        _resets(headers, _server_time(headers, now)),
    ):
        if seconds is not None and math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _milliseconds(text: str) -> float | None:
    number = _number(text)
    return None if number is None else number / 1000


def _server_time(headers: Mapping[str, str], now: float) -> float:
    """The provider's own clock where it shows it: its dates are relative to that one, not to ours."""
    at = _date(headers.get("date", ""))
    return now if at is None else at


def _date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # slow to load, and needed only after a failure

    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _seconds_or_date(text: str, now: float) -> float | None:
    if not text:
        return None
    number = _number(text)
    if number is not None:
        return number
    at = _date(text)
    return None if at is None else at - now


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_PIECE = r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?:[a-z]*)"
_SPAN = r"(?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])\s*)+"
_WAIT = rf"(?:try again|retry|wait)(?: again)?(?: in| after| for)?:?\s+(?:about |approximately )?({_SPAN})"


def _span(text: str) -> float | None:
    """`6m0s`, `20ms`, `2m59.56s`, `36 seconds`."""
    pieces = [(float(number), unit) for number, unit in re.findall(_PIECE, text.lower().replace("milliseconds", "ms"))]
    return sum(number * _UNITS[unit] for number, unit in pieces) if pieces else None


def _retry_info(complaint: Complaint) -> float | None:
    for detail in complaint.details:
        if str(detail.get("@type", "")).endswith("RetryInfo"):
            return _span(str(detail.get("retryDelay", "")))
    return None


def _sentence(complaint: Complaint) -> float | None:
    found = re.search(_WAIT, complaint.haystack)
    return _span(found[1]) if found else None


_RESET = r"(?:x-ratelimit-reset(?P<a>-[a-z-]+)?|anthropic-ratelimit-(?P<b>[a-z-]+)-reset)"


def _resets(headers: Mapping[str, str], now: float) -> float | None:
    limits = list(_limits(headers, now))
    used_up = [seconds for seconds, is_used_up in limits if is_used_up]
    if used_up:
        return max(used_up)
    return min((seconds for seconds, _ in limits), default=None)


def _limits(headers: Mapping[str, str], now: float) -> Iterator[tuple[float, bool]]:
    for name, value in headers.items():
        if not (match := re.fullmatch(_RESET, name)):
            continue
        seconds = _reset(value, now)
        if seconds is None:
            continue
        if match["b"]:
            remaining = headers.get(f"anthropic-ratelimit-{match['b']}-remaining")
        else:
            remaining = headers.get(f"x-ratelimit-remaining{match['a'] or ''}")
        left = _number(remaining) if remaining is not None else None
        if left is not None and left < 0:
            continue  # Azure says -1 where it does not know, and 0 for the reset (openai/openai-dotnet#838)
        yield seconds, left == 0


_EPOCH_SECONDS, _EPOCH_MILLISECONDS = 1e9, 1e12
"""larger numbers are a moment and not a span: no limit lasts thirty years"""


def _reset(value: str, now: float) -> float | None:
    number = _number(value)
    if number is None:
        at = _date(value)
        return _span(value) if at is None else at - now
    if number >= _EPOCH_MILLISECONDS:
        return number / 1000 - now
    return number - now if number >= _EPOCH_SECONDS else number
