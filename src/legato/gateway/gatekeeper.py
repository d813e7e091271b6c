"""Who may ask: decided from the head of a request, before any of its body is read.

In:  method, path and headers.
Out: the tenant whose request it is; or `TurnedAway`, which the client is told in its own words.

A gateway on this machine needs no key, so two things keep web pages away from it. Browsers say in `Origin` which page
asks. And a page whose own name was made to lead to this machine (DNS rebinding) still has that name in `Host`, so
without keys only the names of this machine are taken.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from legato.gateway.refusals import TurnedAway
from legato.transport.contract import Ask
from legato.wire.hosting import RefusalReason

KEY_HEADER = "x-legato-key"
"""takes a key of the gateway itself, where a client uses its vendor's header for a key of its vendor"""

_SHA256 = "sha256:"
_NAMES = 100
"""by which this machine was asked and of which it is known what they mean: our choice, more than it has"""

_USUAL_PORTS = {"http": 80, "https": 443}
"""ports that browsers leave out"""


class Gatekeeper(Struct, frozen=True, kw_only=True):
    """Admits requests. `keys` are digests (`digest_of`), each with the tenant that it belongs to.

    `origins` are web pages that may ask, such as `https://chat.example.org`, and `hosts` further names of this machine;
    with keys any name will do, because a page that is led here by its name does not have one.
    """

    keys: Mapping[str, str] = {}
    origins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    def admit(self, ask: Ask) -> str:
        """The tenant of `ask`, which is empty where no keys are asked for."""
        host = ask.headers.get("host", "")
        if not self._is_meant(host):
            name = _without_port(host)
            raise _forbidden(f"this gateway is for programs on its own machine, and not for the host {name!r}")
        origin = ask.headers.get("origin")
        if origin is not None and origin not in self.origins and not _is_own(origin, host):
            raise _forbidden(
                f"web pages of {origin} may not use this gateway; its operator admits them by --allow-origin"
            )
        return self._tenant(ask) if self.keys else ""

    def admits_page(self, ask: Ask) -> bool:
        """Whether a web page asks that the operator named; whether it has a key is another question."""
        return ask.headers.get("origin") in self.origins and self._is_meant(ask.headers.get("host", ""))

    def _is_meant(self, host: str) -> bool:
        """Whether `host` is a name by which this machine may be asked."""
        name = _without_port(host)
        return bool(self.keys) or is_loopback(name) or name in self.hosts

    def _tenant(self, ask: Ask) -> str:
        given = keys_in(ask)
        if not given:
            raise TurnedAway(
                "this gateway asks for a key of its own, and none was sent", reason=RefusalReason.KEY_MISSING
            )
        # Digests are looked up, not keys: how long that takes says nothing about any key.
        tenant = next((self.keys[digest] for digest in map(digest_of, given) if digest in self.keys), None)
        if tenant is None:
            raise TurnedAway("the key is none of this gateway's own", reason=RefusalReason.KEY_WRONG)
        return tenant

    def without_own_keys(self, ask: Ask) -> Ask:
        """`ask` without the keys that admitted it: whatever else it carries may be for somebody else."""
        if not self.keys:
            return ask
        own = {key for key in keys_in(ask) if digest_of(key) in self.keys}
        headers = {name: value for name, value in ask.headers.items() if value.rpartition(" ")[2] not in own}
        return replace(
            ask, headers=headers, query={name: value for name, value in ask.query.items() if value not in own}
        )


def keys_in(ask: Ask) -> list[str]:
    """The keys that a request carries, where the clients of the various APIs put theirs."""
    headers = ask.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    found = [
        headers.get(KEY_HEADER, ""),
        token if scheme.lower() == "bearer" else "",
        headers.get("x-api-key", ""),
        headers.get("x-goog-api-key", ""),
        ask.query.get("key", ""),
    ]
    return [key.strip() for key in found if key.strip()]


def digest_of(key: str) -> str:
    """What is kept of a key. Keys are long and random, so that a plain digest cannot be guessed back."""
    return _SHA256 + sha256(key.encode()).hexdigest()


def new_key() -> str:
    """A key that nobody else has."""
    return "legato-" + secrets.token_urlsafe(32)


@lru_cache(_NAMES)
def is_loopback(name: str) -> bool:
    """Whether `name` or address always means this machine."""
    if name.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def origin_of(page: str) -> str:
    """What a browser calls the page at the address `page` in `Origin`; empty for what is no address of a page."""
    try:
        parts = urlsplit(page.strip())
        port = parts.port
    except ValueError:  # a port beyond 65535, half an IPv6 address
        return ""
    name = parts.hostname
    if not parts.scheme or not name or "*" in name or parts.username is not None:
        return ""
    shown = f"[{name}]" if ":" in name else name
    is_usual = port is None or port == _USUAL_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{shown}" if is_usual else f"{parts.scheme}://{shown}:{port}"


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_own(origin: str, host: str) -> bool:
    """Whether a page that this server gave out itself asks."""
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and rest == host != ""


def _forbidden(message: str) -> TurnedAway:
    return TurnedAway(message, reason=RefusalReason.SHAPE, status=403)
