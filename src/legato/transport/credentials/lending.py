"""Somebody who lends credentials, and for how long they are used again.

In:  a way to ask (a command, a file, a vendor's library, values that are already here), the key ring, and the time.
Out: credentials that have not expired.

What a command or a library lends is kept until shortly before it expires. A file is read each time: it is somebody
else who changes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import Unauthorized
from legato.transport.credentials.commands import read_command
from legato.transport.credentials.files import read_token_file
from legato.transport.keys import Key, KeyRing, Lent

UNTOLD = 300.0
"""seconds for which a token is used again that does not say when it expires"""


class Reader(Struct, frozen=True):
    """How text becomes credentials: `read` takes the text, `source` (what held it) and `provider`."""

    read: Callable[..., Lent]
    untold: float | None
    """seconds for which they are used again if they do not say when they expire; None for as long as this runs"""


class Lender(Struct, frozen=True):
    """One who lends credentials to `provider`; `source` is what a person calls it, and shows no secret."""

    source: str
    provider: str
    ask: Callable[[], Awaitable[Lent]]
    keeps: bool = True
    untold: float | None = None
    advice: str = "sign in again"

    async def borrow(self, keys: KeyRing, *, now: float) -> Lent:
        """Credentials that are good at the time `now`; raises `Unauthorized` if there are none."""
        if self.keeps and (known := keys.lent(self.provider, now=now)) is not None:
            return known
        lent = await self.ask()
        if lent.expires is not None and lent.expires <= now:
            ended = datetime.fromtimestamp(lent.expires, UTC).isoformat(" ", "seconds")
            raise Unauthorized(
                f"the credentials that {self.source} lends for {self.provider} have expired already ({ended}); "
                f"{self.advice}, and check the clock",
                provider=self.provider,
                layer="credentials",
            )
        if lent.expires is None and self.untold is not None:
            lent = replace(lent, expires=now + self.untold)
        return keys.lend(self.provider, lent)


def having(values: tuple[str, ...], *, source: str, provider: str) -> Lender:
    """Lends `values`, which are already here."""

    async def ask() -> Lent:
        return Lent(tuple(Key(value, source=source) for value in values))

    return Lender(source, provider, ask, keeps=False)


def running(command: str, reader: Reader, *, provider: str, source: str = "token_command") -> Lender:
    """Lends what `command` prints."""

    async def ask() -> Lent:
        printed = await read_command(command, provider=provider)
        return reader.read(printed, source=f"what {source} of {provider} printed", provider=provider)

    return Lender(source, provider, ask, untold=reader.untold)


def reading(file: str, reader: Reader, *, provider: str, source: str = "token_file") -> Lender:
    """Lends what `file` holds at the moment."""

    async def ask() -> Lent:
        held = await read_token_file(file, provider=provider)
        return reader.read(held, source=f"what the token file of {provider} holds", provider=provider)

    return Lender(source, provider, ask, keeps=False, advice="see to what writes the file")
