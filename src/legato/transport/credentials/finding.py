"""Which credentials a provider's platform wants, and where they are found.

In:  a request without credentials, the key ring, and the time.
Out: the request with its secret headers; unchanged if nothing is found, which is right for a server on this machine.

    Bedrock   a bearer key; a command or a file in AWS's form; keys of the environment; a profile    (signatures)
    Vertex    a token; a command or a file with one; the file that gcloud is told of; google-auth, where it is installed
    Azure     a key; a command or a file with a token; AZURE_OPENAI_AD_TOKEN; azure-identity, where it is installed
    others    a key; a command or a file with one

What the configuration says comes first: a key of `[keys]`, then `token_command` or `token_file`. What was meant for
another program (a vendor's library, gcloud) is asked only for the provider's own endpoint, so no token that no one
named reaches a host that someone put in its place.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from msgspec.structs import replace

from legato.errors import ConfigError
from legato.model import Platform, Target, normal_endpoint
from legato.request.catalogue_tables import Provider
from legato.request.places import fill_endpoint, fill_place
from legato.transport.credentials import aws, tokens
from legato.transport.credentials.lending import UNTOLD, Lender, Reader, having, reading, running
from legato.transport.keys import Key, KeyRing, Lent
from legato.transport.outgoing import WireRequest, http_api

SCOPES = {
    # https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
    Platform.AZURE: "https://ai.azure.com/.default",
    # https://learn.microsoft.com/azure/ai-services/openai/how-to/managed-identity
    Platform.AZURE_DEPLOYMENTS: "https://cognitiveservices.azure.com/.default",
}


class Authoriser(Protocol):
    """One source of credentials, and how a request carries them."""

    @property
    def lender(self) -> Lender:
        """Who lends them."""
        ...

    def headers(self, request: WireRequest, lent: Lent, *, now: float) -> dict[str, Key]:
        """The secret headers that authorise `request` with `lent` at the time `now`."""
        ...


async def authorise(request: WireRequest, provider: Provider | None, keys: KeyRing, *, now: float) -> WireRequest:
    """`request` with the secret headers that the platform of `provider` wants, unless it has them."""
    if request.secrets.keys() & {http_api(request.target).key_header, "authorization"}:
        return request
    found = find_authoriser(request.target, provider, keys)
    if found is None:
        return request
    lent = await found.lender.borrow(keys, now=now)
    return replace(request, secrets={**found.headers(request, lent, now=now), **request.secrets}, lent=lent)


async def renew(request: WireRequest, provider: Provider | None, keys: KeyRing, *, now: float) -> WireRequest | None:
    """A refused `request` with credentials that were asked for anew.

    None if nothing was lent for it, or if the same is lent again: sending that once more would change nothing. The
    second caller with the same credentials gets those that the first one was lent.
    """
    if request.lent is None or (found := find_authoriser(request.target, provider, keys)) is None:
        return None
    keys.forget(request.target.provider, request.lent)
    lent = await found.lender.borrow(keys, now=now)
    if lent.values == request.lent.values:
        return None
    old = found.headers(request, request.lent, now=now)
    kept = {name: value for name, value in request.secrets.items() if name not in old}
    return replace(request, secrets={**kept, **found.headers(request, lent, now=now)}, lent=lent)


def find_authoriser(target: Target, provider: Provider | None, keys: KeyRing) -> Authoriser | None:
    """What authorises requests to `target` beside a key; None if nothing is found."""
    if provider is None:
        return None
    match target.platform:
        case Platform.BEDROCK:
            lender = _configured(target, provider, _CREDENTIALS) or _of_aws(target, keys)
            return _Signer(lender, target, provider, keys) if lender else None
        case Platform.VERTEX | Platform.AZURE | Platform.AZURE_DEPLOYMENTS:
            lender = _configured(target, provider, _TOKEN) or _of_platform(target, provider, keys)
            return _Bearer(lender, "authorization", "Bearer ") if lender else None
        case Platform.OWN:
            lender = _configured(target, provider, _TOKEN)
            api = http_api(target)
            return _Bearer(lender, api.key_header, api.key_prefix) if lender else None


def account_of(target: Target, keys: KeyRing) -> str:
    """Whose account `target` is asked on, as far as that lasts longer than a token: what an origin remembers.

    At Vertex and Azure the endpoint names the project or the resource; a token changes by the hour and says nothing.
    """
    if target.platform in (Platform.OWN, Platform.BEDROCK) and (account := keys.account(target.provider)):
        return account
    if target.platform is Platform.BEDROCK and (own := aws.keys_in(keys.environment)) and len(own) == 2:
        return Key(own[0]).account
    return ""


# --- who lends --------------------------------------------------------------------------------------------------------

_TOKEN = Reader(tokens.read_token, UNTOLD)
_CREDENTIALS = Reader(aws.read_credentials, None)
"""AWS's keys last until they are revoked if they do not say otherwise
(https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html)"""


def _configured(target: Target, provider: Provider, reader: Reader) -> Lender | None:
    """Whom the configuration names."""
    name = target.provider
    if provider.token_command and provider.token_file:
        raise ConfigError(f"providers.{name} names a token_command and a token_file; keep one of them")
    if provider.token_command:
        return running(provider.token_command, reader, provider=name)
    return reading(provider.token_file, reader, provider=name) if provider.token_file else None


def _of_aws(target: Target, keys: KeyRing) -> Lender | None:
    name = target.provider
    if values := aws.keys_in(keys.environment):
        return having(values, source="AWS_ACCESS_KEY_ID", provider=name)
    profile = aws.find_profile(keys.environment)
    if profile is None:
        return None
    source = f"the profile {profile.name} of AWS"
    if profile.keys:
        return having(profile.keys, source=source, provider=name)
    return running(profile.command, _CREDENTIALS, provider=name, source=source)


def _of_platform(target: Target, provider: Provider, keys: KeyRing) -> Lender | None:
    name, environment = target.provider, keys.environment
    is_google = target.platform is Platform.VERTEX
    if not is_google and (token := environment.get("AZURE_OPENAI_AD_TOKEN", "").strip()):
        return having((token,), source="AZURE_OPENAI_AD_TOKEN", provider=name)
    if not environment or not _is_own_endpoint(target, provider, keys):
        return None
    if is_google and (file := environment.get(GCLOUD_FILE, "").strip()):
        return reading(file, _TOKEN, provider=name, source=GCLOUD_FILE)
    if is_google and tokens.has_library("google.auth"):
        return Lender("google-auth", name, lambda: tokens.ask_google(provider=name), untold=UNTOLD)
    if not is_google and tokens.has_library("azure.identity"):
        scope = SCOPES[target.platform]
        return Lender("azure-identity", name, lambda: tokens.ask_microsoft(scope, provider=name), untold=UNTOLD)
    return None


GCLOUD_FILE = "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"
"""where gcloud is told of a file with a token (https://cloud.google.com/sdk/gcloud/reference/config/set)"""


def _is_own_endpoint(target: Target, provider: Provider, keys: KeyRing) -> bool:
    try:
        own = fill_endpoint(
            provider.endpoint, provider.fill, provider.given, keys.environment, provider=target.provider
        )
    except ConfigError:
        return False
    return normal_endpoint(own) == normal_endpoint(target.endpoint)


# --- how a request carries it -----------------------------------------------------------------------------------------


class _Signer(NamedTuple):
    """Signs with what is lent."""

    lender: Lender
    target: Target
    provider: Provider
    keys: KeyRing

    def headers(self, request: WireRequest, lent: Lent, *, now: float) -> dict[str, Key]:
        fill, given = self.provider.fill, self.provider.given
        region = fill_place("region", fill, given, self.keys.environment, provider=self.target.provider)
        return aws.sign(request, lent.values, region=region, now=now)


class _Bearer(NamedTuple):
    """Sends the token that is lent, in a header."""

    lender: Lender
    header: str
    prefix: str

    def headers(self, request: WireRequest, lent: Lent, *, now: float) -> dict[str, Key]:
        return {self.header: Key(self.prefix + lent.values[0].reveal(), source=self.lender.source)}
