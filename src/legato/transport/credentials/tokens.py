"""Access tokens of Google Cloud and of Microsoft Entra: from a command, or from the vendor's own library.

In:  a command, or a library that may be installed; and the time.
Out: a token, and when it expires.

The libraries know every way to sign in (a person's, a service account's, a machine's), and neither is a dependency:
each is loaded when it is there and nothing else lends a token. They wait for servers, so they run in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec

import anyio.to_thread
import msgspec
from msgspec import Struct

from legato.errors import Unauthorized
from legato.transport.credentials.commands import read_command
from legato.transport.keys import Key, Lent

UNTOLD = 300.0
"""seconds for which a token is used again that does not say when it expires"""

GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class _PrintedToken(Struct):
    """What `az account get-access-token` prints: https://learn.microsoft.com/cli/azure/account."""

    accessToken: str  # noqa: N815 - the names are those of the command
    expires_on: float | None = None


async def print_token(command: str, *, provider: str, now: float) -> Lent:
    """The token that `command` prints: as a line of text, or as JSON with `accessToken` and `expires_on`."""
    printed = (await read_command(command, provider=provider)).strip()
    source = f"what token_command of {provider} printed"
    if not printed.startswith(b"{"):
        return Lent((Key(printed.decode("utf-8", "replace"), source=source),), now + UNTOLD)
    try:
        read = msgspec.json.decode(printed, type=_PrintedToken)
    except msgspec.DecodeError:
        raise Unauthorized(
            f"the command that lends a token for {provider} printed JSON without accessToken; let it print the token "
            "alone",
            provider=provider,
            layer="credentials",
        ) from None
    return Lent((Key(read.accessToken, source=source),), read.expires_on or now + UNTOLD)


# --- the vendors' libraries -------------------------------------------------------------------------------------------


def has_library(name: str) -> bool:
    """Whether the library `name` can be imported."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a package that is not there either
        return False


async def ask_google(*, provider: str, now: float) -> Lent:
    """A token of Google's application default credentials."""
    return await _ask(_google_token, provider=provider, now=now, advice="run `gcloud auth application-default login`")


async def ask_microsoft(scope: str, *, provider: str, now: float) -> Lent:
    """A token of Microsoft Entra for `scope`."""
    return await _ask(lambda: _microsoft_token(scope), provider=provider, now=now, advice="run `az login`")


async def _ask(token: Callable[[], tuple[str, float | None]], *, provider: str, now: float, advice: str) -> Lent:
    try:
        value, expires = await anyio.to_thread.run_sync(token, abandon_on_cancel=True)
    except Exception as error:  # noqa: BLE001 - each library has its own, and their texts may quote a token
        raise Unauthorized(
            f"the installed library gave no token for {provider} ({type(error).__name__}); {advice}, or set "
            "token_command",
            provider=provider,
            layer="credentials",
        ) from None
    return Lent((Key(value, source=f"the token for {provider}"),), expires or now + UNTOLD)


def _google_token() -> tuple[str, float | None]:
    credentials, _ = import_module("google.auth").default(scopes=[GOOGLE_SCOPE])
    credentials.refresh(import_module("google.auth.transport.requests").Request())
    expiry: datetime | None = credentials.expiry  # UTC, and does not say so
    return credentials.token, None if expiry is None else expiry.replace(tzinfo=UTC).timestamp()


def _microsoft_token(scope: str) -> tuple[str, float | None]:
    with import_module("azure.identity").DefaultAzureCredential() as credential:
        token = credential.get_token(scope)
    return token.token, float(token.expires_on)
