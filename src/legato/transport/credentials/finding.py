"""Which credentials a provider's platform wants, and where they are found.

In:  a request without credentials, the key ring, and the time.
Out: the request with its secret headers; unchanged if nothing is found, which is right for a server on this machine.

    Bedrock   a bearer key; a command in AWS's form; keys of the environment; a profile        (signatures)
    Vertex    a token; a command that prints one; google-auth, where it is installed
    Azure     a key; a command that prints a token; AZURE_OPENAI_AD_TOKEN; azure-identity, where it is installed

What the configuration says comes first: a key of `[keys]`, then `token_command`. A vendor's library is asked only for
the provider's own endpoint, so no token that nobody named reaches a host that somebody put in its place.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from legato.errors import ConfigError
from legato.model import Platform, Target, normal_endpoint
from legato.request.catalogue_tables import Provider
from legato.request.places import fill_endpoint, fill_place
from legato.transport.credentials import aws, tokens
from legato.transport.keys import Key, KeyRing, Lent
from legato.transport.outgoing import WireRequest, http_api

SCOPES = {
    # https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
    Platform.AZURE: "https://ai.azure.com/.default",
    # https://learn.microsoft.com/azure/ai-services/openai/how-to/managed-identity
    Platform.AZURE_DEPLOYMENTS: "https://cognitiveservices.azure.com/.default",
}


class Authoriser(Protocol):
    """One source of credentials."""

    @property
    def source(self) -> str:
        """Where they come from, in words; no secret."""
        ...

    async def headers(self, request: WireRequest, *, now: float) -> dict[str, Key]:
        """The secret headers that authorise `request` at the time `now`; raises `Unauthorized` if there are none."""
        ...


async def authorise(request: WireRequest, provider: Provider | None, keys: KeyRing, *, now: float) -> WireRequest:
    """`request` with the secret headers that the platform of `provider` wants, unless it has them."""
    if http_api(request.target).key_header in request.secrets:
        return request
    found = find_authoriser(request.target, provider, keys)
    if found is None:
        return request
    return replace(request, secrets={**await found.headers(request, now=now), **request.secrets})


def find_authoriser(target: Target, provider: Provider | None, keys: KeyRing) -> Authoriser | None:
    """What authorises requests to `target` beside a key; None if nothing is found."""
    if provider is None:
        return None
    match target.platform:
        case Platform.BEDROCK:
            return _of_aws(target, provider, keys)
        case Platform.VERTEX | Platform.AZURE | Platform.AZURE_DEPLOYMENTS:
            return _of_tokens(target, provider, keys)
        case Platform.OWN:
            return None


def account_of(target: Target, keys: KeyRing) -> str:
    """Whose account `target` is asked on, as far as that lasts longer than a token: what an origin remembers.

    At Vertex and Azure the endpoint names the project or the resource; a token changes by the hour and says nothing.
    """
    if target.platform in (Platform.OWN, Platform.BEDROCK) and (account := keys.account(target.provider)):
        return account
    if target.platform is Platform.BEDROCK and (own := aws.keys_in(keys.environment)) and len(own) == 2:
        return Key(own[0]).account
    return ""


# --- signatures -------------------------------------------------------------------------------------------------------


def _of_aws(target: Target, provider: Provider, keys: KeyRing) -> Authoriser | None:
    if provider.token_command:
        return _Signer(target, provider, keys, "token_command", command=provider.token_command)
    if values := aws.keys_in(keys.environment):
        return _Signer(target, provider, keys, "AWS_ACCESS_KEY_ID", values=values)
    profile = aws.find_profile(keys.environment)
    if profile is None:
        return None
    source = f"the profile {profile.name} of AWS"
    return _Signer(target, provider, keys, source, values=profile.keys, command=profile.command)


class _Signer:
    """Signs with fixed keys, or with those that a command lends."""

    def __init__(
        self,
        target: Target,
        provider: Provider,
        keys: KeyRing,
        source: str,
        *,
        values: tuple[str, ...] = (),
        command: str = "",
    ) -> None:
        self.source = source
        self._target = target
        self._provider = provider
        self._keys = keys
        self._values = tuple(Key(value, source=source) for value in values)
        self._command = command

    async def headers(self, request: WireRequest, *, now: float) -> dict[str, Key]:
        name, provider = self._target.provider, self._provider
        region = fill_place("region", provider.fill, provider.given, self._keys.environment, provider=name)
        values = self._values
        if self._command:
            values = (await aws.print_credentials(self._command, self._keys, provider=name, now=now)).values
        return aws.sign(request, values, region=region, now=now)


# --- tokens -----------------------------------------------------------------------------------------------------------


def _of_tokens(target: Target, provider: Provider, keys: KeyRing) -> Authoriser | None:
    if provider.token_command:
        return _Bearer(target, keys, "token_command", command=provider.token_command)
    if target.platform is not Platform.VERTEX and (token := keys.environment.get("AZURE_OPENAI_AD_TOKEN", "").strip()):
        return _Bearer(target, keys, "AZURE_OPENAI_AD_TOKEN", token=token)
    library, module = ("google-auth", "google.auth") if target.platform is Platform.VERTEX else _AZURE
    if keys.environment and tokens.has_library(module) and _is_own_endpoint(target, provider, keys):
        return _Bearer(target, keys, library)
    return None


_AZURE = ("azure-identity", "azure.identity")


def _is_own_endpoint(target: Target, provider: Provider, keys: KeyRing) -> bool:
    try:
        own = fill_endpoint(
            provider.endpoint, provider.fill, provider.given, keys.environment, provider=target.provider
        )
    except ConfigError:
        return False
    return normal_endpoint(own) == normal_endpoint(target.endpoint)


class _Bearer:
    """Sends a token, which is asked for again when it expires."""

    def __init__(self, target: Target, keys: KeyRing, source: str, *, command: str = "", token: str = "") -> None:
        self.source = source
        self._target = target
        self._keys = keys
        self._command = command
        self._token = token

    async def headers(self, request: WireRequest, *, now: float) -> dict[str, Key]:
        token = Key(self._token, source=self.source) if self._token else (await self._lent(now)).values[0]
        return {"authorization": Key(f"Bearer {token.reveal()}", source=self.source)}

    async def _lent(self, now: float) -> Lent:
        name = self._target.provider
        known = self._keys.lent(name, now=now)
        if known is not None:
            return known
        if self._command:
            lent = await tokens.print_token(self._command, provider=name, now=now)
        elif self._target.platform is Platform.VERTEX:
            lent = await tokens.ask_google(provider=name, now=now)
        else:
            lent = await tokens.ask_microsoft(SCOPES[self._target.platform], provider=name, now=now)
        return self._keys.lend(name, lent, now=now)
