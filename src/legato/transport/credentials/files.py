"""Read a file into which somebody else writes credentials, again and again.

In:  a path.
Out: what the file holds; or `Unauthorized`, which names the file and shows nothing of what it holds.

It is read for every request: a token lives for an hour, and whoever writes it (a sidecar, a timer, a person) tells
nobody.
"""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from legato.errors import ConfigError, Unauthorized

LONGEST = 65_536
"""bytes of such a file; tokens have a few thousand"""


async def read_token_file(name: str, *, provider: str) -> bytes:
    """What the file `name` holds; raises `Unauthorized` if it is missing, unreadable, empty or too long."""
    try:
        held = await anyio.to_thread.run_sync(_beginning, name)
    except FileNotFoundError:
        raise _unusable(name, provider, "does not exist") from None
    except (OSError, RuntimeError) as error:  # a home that is not there is the latter
        told = error.strerror if isinstance(error, OSError) else ""
        raise _unusable(name, provider, f"cannot be read ({told or type(error).__name__})") from None
    if not held.strip():
        raise _unusable(name, provider, "is empty")
    if len(held) > LONGEST:
        raise _unusable(name, provider, f"is longer than {LONGEST:,} bytes")
    return held


def _beginning(name: str) -> bytes:
    path = Path(name).expanduser()
    if not path.is_absolute():
        raise ConfigError(f"the token file {name} is not named by a whole path; begin it with / or ~")
    with path.open("rb") as file:
        return file.read(LONGEST + 1)


def _unusable(name: str, provider: str, how: str) -> Unauthorized:
    return Unauthorized(
        f"the token file of {provider}, {name}, {how}; see to what writes it, or correct token_file",
        provider=provider,
        layer="credentials",
    )
