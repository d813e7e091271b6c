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

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import ConfigError, Unauthorized
from legato.model import Platform, Target, normal_endpoint
from legato.model.hashing import base62
from legato.model.secrets import KEEPERS
from legato.request import Catalogue, default_catalogue
from legato.request.catalogue_tables import Provider
from legato.request.places import Fill, is_filled_from, missing_place, places_in

HIDDEN = "[hidden]"
"""what is in place of a secret"""


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


class Lent(Struct, frozen=True):
    """Secrets that someone lent for a while: a token, or the keys that sign. `expires` is in seconds since the epoch;
    None does not end.
    """

    values: tuple[Key, ...]
    expires: float | None = None


EARLY = 60.0
"""seconds before they expire from which lent secrets are not used again: a request may take a while to arrive"""


class KeyRing:
    """The keys that this process may use, looked up by provider, so that one provider never gets another's.

    `configured` maps a provider to its key, or to `$NAME` for the environment variable NAME; it comes before the
    environment's usual variables. What a platform lends is kept here too, until it expires.
    """

    __slots__ = ("__weakref__", "_catalogue", "_configured", "_environment", "_lent")

    def __init__(
        self, configured: Mapping[str, str], environment: Mapping[str, str], catalogue: Catalogue | None = None
    ) -> None:
        self._configured = dict(configured)
        self._environment = environment
        self._catalogue = catalogue
        self._lent: dict[str, Lent] = {}
        if self._configured:
            KEEPERS.add(self)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which keys, places and credentials are looked for."""
        return self._environment

    @property
    def providers(self) -> Mapping[str, Provider]:
        """The providers whose keys these are."""
        return (self._catalogue or default_catalogue()).providers

    def lent(self, provider: str, *, now: float) -> Lent | None:
        """What was lent for `provider` and is still good at the time `now`."""
        known = self._lent.get(provider)
        return known if known is not None and (known.expires is None or now < known.expires - EARLY) else None

    def lend(self, provider: str, lent: Lent) -> Lent:
        """Keep what was lent for `provider`, and hide it from now on."""
        self._lent[provider] = lent
        KEEPERS.add(self)
        return lent

    def forget(self, provider: str, lent: Lent) -> None:
        """Do not use `lent` again for `provider`, which refused it; what was lent after it stays."""
        known = self._lent.get(provider)
        if known is not None and known.values == lent.values:
            self._lent[provider] = replace(known, expires=0.0)  # still hidden wherever it stands

    def secrets(self) -> list[str]:
        """What the configuration writes out or names, and what was lent: hidden wherever it is. The environment's
        usual variables are known by their names.
        """
        values = [value.strip() for value in self._configured.values()]
        named = [self._environment.get(value[1:].strip("{}"), "") for value in values if value.startswith("$")]
        lent = [key.reveal() for one in self._lent.values() for key in one.values]
        return [*named, *lent, *(value for value in values if value and not value.startswith("$"))]

    def find(self, provider: str) -> Key | None:
        """The key for `provider`; None if there is none, which is right for a server that asks for none."""
        written = self._configured.get(provider, "").strip()
        if written.startswith("$"):
            return self._from_environment(written[1:].strip("{}"))
        if written:
            return Key(written, source=f"the key configured for {provider}")
        known = self.providers.get(provider)
        if known is not None and known.lends_itself:
            return None  # what the configuration says goes before the environment
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


def unfilled_place(target: Target) -> ConfigError | None:
    """What to say of an endpoint in which a place is left that nothing filled."""
    left = places_in(target.endpoint, {})
    if not left:
        return None
    known = default_catalogue().providers.get(target.provider)
    fill = {} if known is None else known.fill
    # Of a place that is filled from another one, it is that one which is missing.
    name = next(one for one in reversed(places_in(target.endpoint, fill)) if not fill.get(one, Fill()).default)
    return ConfigError(missing_place(name, fill.get(name, Fill()), target.provider), route=target.route)


def missing_key(target: Target) -> Unauthorized | None:
    """What to say of a request without any key, if it goes to a vendor's own endpoint, which would only refuse it."""
    known = default_catalogue().providers.get(target.provider)
    if (
        known is None
        or not known.keys
        or not is_filled_from(normal_endpoint(known.endpoint), normal_endpoint(target.endpoint), known.fill)
    ):
        return None
    ways = ", or ".join(
        (f"set {known.keys[0]}", "put one under [keys] in the configuration", *_MORE_WAYS.get(target.platform, ()))
    )
    return Unauthorized(
        f"there is no key for {target.provider}: {ways} (`legato doctor` shows which are found)",
        route=target.route,
    )


_COMMAND = "set token_command under [providers] to a command that prints (or token_file to a file that holds)"
_MORE_WAYS: dict[Platform, tuple[str, ...]] = {
    Platform.BEDROCK: (
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        "name a profile in AWS_PROFILE",
        f"{_COMMAND} credentials (`aws configure export-credentials`)",
    ),
    Platform.VERTEX: (
        "install google-auth and run `gcloud auth application-default login`",
        f"{_COMMAND} a token (`gcloud auth print-access-token`)",
    ),
    Platform.AZURE: ("set AZURE_OPENAI_AD_TOKEN", "install azure-identity", f"{_COMMAND} a token"),
    Platform.AZURE_DEPLOYMENTS: ("set AZURE_OPENAI_AD_TOKEN", "install azure-identity", f"{_COMMAND} a token"),
}
"""how a platform is asked without a key"""


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


_SHORTEST_BEGINNING = 4
"""characters of a secret by which it is recognised where a text ends"""


def scrub(text: str, secrets: Iterable[Key]) -> str:
    """`text` without any of `secrets`, and without what looks like a key although we never had it.

    A text that was cut may end with the beginning of a secret.
    """
    for secret in secrets:
        value = secret.reveal()
        for form in (value, value.split()[-1]):  # `Bearer …` may be echoed without its first word
            if len(form) >= _SHORTEST_SECRET:
                text = _without_beginning(text.replace(form, HIDDEN), form)
    return re.sub(_KEY_SHAPES, HIDDEN, text)


def _without_beginning(text: str, secret: str) -> str:
    """`text` without the beginning of `secret` at its end."""
    body = text.removesuffix("…")
    for length in range(min(len(secret), len(body)), _SHORTEST_BEGINNING - 1, -1):
        if body.endswith(secret[:length]):
            return f"{body[:-length]}{HIDDEN}{text[len(body) :]}"
    return text
