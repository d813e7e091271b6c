"""Keys: where they come from, and how they stay out of sight.

In:  the environment and the `keys` table of a configuration, both as mappings.
Out: a `Key` for one provider, or None.

A key is wrapped the moment it is found, and unwrapped in one place: where the headers of a request are written to a
socket. Its repr, its str and every format of it show nothing, no encoder of ours takes it, and what a provider echoes
in an error message is scrubbed. What is stored with an answer is only a fingerprint of the key, because a signed
thought is at home where the account is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import final

from legato.errors import ConfigError, Unauthorized
from legato.model import Target, normal_endpoint
from legato.model.hashing import base62
from legato.model.secrets import KEEPERS
from legato.request import Catalogue, default_catalogue

HIDDEN = "[hidden]"
"""what stands in place of a secret"""


@final
class Key:
    """A secret. Equal keys are equal; nothing shows the value but `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str, *, source: str = "a key") -> None:
        """`source` says where the value was found, for the error about a value that no header can carry."""
        value = value.strip()
        if not value or not value.isascii() or not value.isprintable():
            raise ConfigError(
                f"{source} is empty or holds characters that a header cannot carry; set it again, as one line of text"
            )
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one place that writes it to a socket."""
        return self._value

    @property
    def account(self) -> str:
        """A short fingerprint: the same for the same key on every machine, and no way back to the key."""
        return base62("account", self._value, length=10)

    def __repr__(self) -> str:
        return f"Key({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Key, self._value))


class KeyRing:
    """The keys that this process may use, looked up by provider, so that one provider never gets another's.

    `configured` maps a provider to its key, or to `$NAME` for the environment variable NAME; it comes before the
    environment's usual variables.
    """

    __slots__ = ("__weakref__", "_catalogue", "_configured", "_environment")

    def __init__(
        self, configured: Mapping[str, str], environment: Mapping[str, str], catalogue: Catalogue | None = None
    ) -> None:
        self._configured = dict(configured)
        self._environment = environment
        self._catalogue = catalogue
        if self._configured:
            KEEPERS.add(self)

    def secrets(self) -> list[str]:
        """What the configuration writes out or names: hidden wherever it stands. The environment's usual variables are
        known by their names.
        """
        values = [value.strip() for value in self._configured.values()]
        named = [self._environment.get(value[1:].strip("{}"), "") for value in values if value.startswith("$")]
        return [*named, *(value for value in values if value and not value.startswith("$"))]

    def find(self, provider: str) -> Key | None:
        """The key for `provider`; None if there is none, which is right for a server that asks for none."""
        written = self._configured.get(provider, "").strip()
        if written.startswith("$"):
            return self._from_environment(written[1:].strip("{}"))
        if written:
            return Key(written, source=f"the key configured for {provider}")
        for variable in variables_of(provider, self._catalogue):
            if (key := self._from_environment(variable)) is not None:
                return key
        return None

    def account(self, provider: str) -> str:
        """The fingerprint of the key for `provider`, empty if there is none: what an origin remembers."""
        key = self.find(provider)
        return "" if key is None else key.account

    def _from_environment(self, variable: str) -> Key | None:
        value = self._environment.get(variable, "").strip()
        return Key(value, source=f"the environment variable {variable}") if value else None

    def __repr__(self) -> str:
        return f"KeyRing(configured={sorted(self._configured)})"


def missing_key(target: Target) -> Unauthorized | None:
    """What to say of a request without any key, if it goes to a vendor's own endpoint, which would only refuse it."""
    known = default_catalogue().providers.get(target.provider)
    if known is None or not known.keys or normal_endpoint(target.endpoint) != normal_endpoint(known.endpoint):
        return None
    return Unauthorized(
        f"there is no key for {target.provider}: set {known.keys[0]}, or put one under [keys] in the configuration "
        "(`legato doctor` shows which are found)",
        route=target.route,
    )


def variables_of(provider: str, catalogue: Catalogue | None = None) -> tuple[str, ...]:
    """The environment variables in which the key of `provider` is looked for, the first one first."""
    known = (catalogue or default_catalogue()).providers.get(provider)
    if known is not None:
        return tuple(known.keys)
    plain = re.sub(r"[^A-Za-z0-9]+", "_", provider).strip("_").upper()
    return (f"{plain}_API_KEY",)


_KEY_SHAPES = (  # not compiled here: most runs never scrub anything
    r"(?i)\bBearer\s+[^\s\"',;]{6,}"
    r"|\b(?:sk|pk|rk|gsk|xai|csk|r8|hf)[-_][A-Za-z0-9_\-*.]{8,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?<=//)[^\s/@:]+:[^\s/@]+(?=@)"
)

_SHORTEST_SECRET = 6
"""a shorter header value (`1`, `true`) is no secret, and blotting it out would make a message unreadable"""


def scrub(text: str, secrets: Iterable[Key]) -> str:
    """`text` without any of `secrets`, and without what looks like a key although we never had it."""
    for secret in secrets:
        value = secret.reveal()
        for form in (value, value.split()[-1]):  # `Bearer …` may be echoed without its first word
            if len(form) >= _SHORTEST_SECRET:
                text = text.replace(form, HIDDEN)
    return re.sub(_KEY_SHAPES, HIDDEN, text)
