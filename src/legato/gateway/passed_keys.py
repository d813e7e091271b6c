"""A client's own key, for the provider that it believes to ask (`--pass-keys`), and for nobody else.

In:  a request and the door that it came to.
Out: a `PassedKey`, which says to which target it may go; None if the request holds none.

Whose key it is, the client does not say: it is that of the vendor whose API it speaks. So it goes to that vendor's own
host, over an encrypted connection, and nowhere else; not to another server that speaks the same API, and not to one
that an operator put in the vendor's place. Wherever it does not go, the operator's own key is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from legato.errors import ConfigError
from legato.gateway.contract import Door
from legato.gateway.surfaces import home_of
from legato.model import Dialect, Platform, Target
from legato.request import default_catalogue
from legato.routing import Route
from legato.transport import KEY_HEADERS, Key
from legato.transport.contract import Ask

_OWNERS = {
    "anthropic/anthropic": "anthropic",
    "openai_chat/openai": "openai",
    "openai_responses/openai": "openai",
    "openai_chat/mistral": "mistral",
    "gemini/gemini": "gemini",
}
"""whose client it is that speaks, and the provider whose key it has"""

_SHAPES = {"sk-ant-": "anthropic", "AIza": "gemini"}
"""what keys begin with that only one provider gives out"""

_BESIDE = ("openai-organization", "openai-project")
"""which of the accounts that a key has is meant (https://platform.openai.com/docs/api-reference/authentication)"""


class PassedKey(Struct, frozen=True):
    """A key that a client sent. `headers` carry it; `host` is the only one that may see them."""

    headers: dict[str, Key]
    host: str
    account: str
    """a fingerprint, as the key ring gives one to the operator's keys"""

    def fits(self, target: Target, route: Route) -> bool:
        """Whether a request to `target` carries this key; not where the operator has set a header that does so."""
        url = urlsplit(target.endpoint.strip())
        is_own = target.platform is Platform.OWN and url.scheme == "https" and url.hostname == self.host
        return is_own and not any(name.strip().lower() in KEY_HEADERS for name in route.headers)


def key_for(own: PassedKey | None, target: Target, route: Route) -> PassedKey | None:
    """The client's `own` key, if a request to `target` is made with it."""
    return own if own is not None and own.fits(target, route) else None


def find_passed_key(ask: Ask, door: Door) -> PassedKey | None:
    """The key that the client at `door` sent for its own vendor."""
    owner = _OWNERS[home_of(door)]
    for header, prefix, value in _places(ask, door):
        if any(value.startswith(shape) and whose != owner for shape, whose in _SHAPES.items()):
            continue  # somebody else's, in the wrong place
        try:
            key = Key(value)
            beside = {name: Key(ask.headers[name]) for name in _BESIDE if owner == "openai" and name in ask.headers}
        except ConfigError:  # no header can carry it
            continue
        host = urlsplit(default_catalogue().providers[owner].endpoint).hostname or ""
        return PassedKey({header: Key(prefix + value), **beside}, host, key.account)
    return None


def _places(ask: Ask, door: Door) -> Iterator[tuple[str, str, str]]:
    """Where a client of this API puts its key: the header that carries it on, what stands before it, and the key."""
    scheme, _, token = ask.headers.get("authorization", "").partition(" ")
    bearer = ("authorization", "Bearer ", token.strip() if scheme.lower() == "bearer" else "")
    match door.dialect:
        case Dialect.ANTHROPIC:
            places = [("x-api-key", "", ask.headers.get("x-api-key", "").strip()), bearer]
        case Dialect.GEMINI:
            key = ask.headers.get("x-goog-api-key", "").strip() or ask.query.get("key", "").strip()
            places = [("x-goog-api-key", "", key)]
        case _:
            places = [bearer]
    yield from (place for place in places if place[2])
