"""Sign a request with AWS's Signature Version 4.

In:  a request as it will be sent, credentials, a region, a service, and the time.
Out: the headers that prove who sends it.

It is written here, not taken from an SDK: the only library that does no more than this would bring AWS's whole service
catalogue with it. The tests hold it against the vectors that AWS publishes
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

_ALGORITHM = "AWS4-HMAC-SHA256"


class Credentials(NamedTuple):
    """Who signs; `token` is there for credentials that were lent for a while."""

    access_key: str
    secret_key: str
    token: str = ""

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r}, [hidden])"


class SigningScope(NamedTuple):
    """What the signature is good for."""

    region: str
    service: str


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    credentials: Credentials,
    scope: SigningScope,
    now: datetime,
) -> dict[str, str]:
    """What to add to `headers`, which are signed with it: `authorization`, `x-amz-date` and perhaps a token."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {"x-amz-date": stamp}
    if credentials.token:
        added["x-amz-security-token"] = credentials.token
    parts = urlsplit(url)
    given = {**headers, **added, "host": parts.netloc}
    signed = {name.lower(): " ".join(value.split()) for name, value in given.items()}
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            method,
            # Each segment is escaped twice: once in the URL, once more for the signature.
            quote(parts.path or "/", safe="/-_.~"),
            "&".join(sorted(parts.query.split("&"))) if parts.query else "",
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    day = stamp[:8]
    scoped = f"{day}/{scope.region}/{scope.service}/aws4_request"
    text = "\n".join((_ALGORITHM, stamp, scoped, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, scope.region, scope.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    proof = f"{_ALGORITHM} Credential={credentials.access_key}/{scoped}, SignedHeaders={names}, Signature={signature}"
    return added | {"authorization": proof}
