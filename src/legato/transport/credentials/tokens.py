"""Access tokens of Google Cloud and of Microsoft Entra: what a command or a file says, or the vendor's own library.

In:  what was printed or written, or a library that may be installed; and the time.
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
from legato.transport.keys import Key, Lent

GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class _Token(Struct):
    """A token as JSON: `accessToken` and `expires_on` of `az account get-access-token`
    (https://learn.microsoft.com/cli/azure/account), `access_token` of an OAuth answer (RFC 6749, section 5.1), `token`
    and `expiry` of the file that google-auth writes
    (https://googleapis.dev/python/google-auth/latest/reference/google.oauth2.credentials.html).
    """

    accessToken: str = ""  # noqa: N815 - the names are those of the programs
    access_token: str = ""
    token: str = ""
    expires_on: float | None = None
    expiry: datetime | None = None

    @property
    def value(self) -> str:
        return self.accessToken or self.access_token or self.token

    @property
    def expires(self) -> float | None:
        if self.expires_on is not None or self.expiry is None:
            return self.expires_on
        # google-auth means UTC where no zone is given
        return (self.expiry if self.expiry.tzinfo else self.expiry.replace(tzinfo=UTC)).timestamp()


def read_token(text: bytes, *, source: str, provider: str) -> Lent:
    """The token that `text` holds: as a line, or as JSON with the time when it expires. `source` is what held it."""
    text = text.strip()
    if not text.startswith(b"{"):
        return Lent((Key(text.decode("utf-8", "replace"), source=source),))
    try:
        read = msgspec.json.decode(text, type=_Token)
    except msgspec.DecodeError:
        read = _Token()
    if not read.value:
        is_longer_lived = b'"refresh_token"' in text or b'"private_key"' in text
        advice = (
            "it is what a token is asked for with, which google-auth does: name it in GOOGLE_APPLICATION_CREDENTIALS"
            if is_longer_lived
            else "give the token alone, as one line"
        )
        raise Unauthorized(
            f"{source} is JSON without accessToken, access_token or token; {advice}",
            provider=provider,
            layer="credentials",
        )
    return Lent((Key(read.value, source=source),), read.expires)


# --- the vendors' libraries -------------------------------------------------------------------------------------------


def has_library(name: str) -> bool:
    """Whether the library `name` can be imported."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a package that is not there either
        return False


async def ask_google(*, provider: str) -> Lent:
    """A token of Google's application default credentials."""
    return await _ask(_google_token, provider=provider, advice="run `gcloud auth application-default login`")


async def ask_microsoft(scope: str, *, provider: str) -> Lent:
    """A token of Microsoft Entra for `scope`."""
    return await _ask(lambda: _microsoft_token(scope), provider=provider, advice="run `az login`")


async def _ask(token: Callable[[], tuple[str, float | None]], *, provider: str, advice: str) -> Lent:
    try:
        value, expires = await anyio.to_thread.run_sync(token, abandon_on_cancel=True)
    except Exception as error:  # noqa: BLE001 - each library has its own, and their texts may quote a token
        raise Unauthorized(
            f"the installed library gave no token for {provider} ({type(error).__name__}); {advice}, or set "
            "token_command",
            provider=provider,
            layer="credentials",
        ) from None
    return Lent((Key(value, source=f"the token for {provider}"),), expires)


def _google_token() -> tuple[str, float | None]:
    credentials, _ = import_module("google.auth").default(scopes=[GOOGLE_SCOPE])
    credentials.refresh(import_module("google.auth.transport.requests").Request())
    expiry: datetime | None = credentials.expiry  # UTC, and does not say so
    return credentials.token, None if expiry is None else expiry.replace(tzinfo=UTC).timestamp()


def _microsoft_token(scope: str) -> tuple[str, float | None]:
    with import_module("azure.identity").DefaultAzureCredential() as credential:
        token = credential.get_token(scope)
    return token.token, float(token.expires_on)
