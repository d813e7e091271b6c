"""Run a command that prints credentials.

In:  a command as one line of text.
Out: what it printed; or `Unauthorized`, which says how it ended and shows nothing of what it printed.

No shell reads the line: it is split into words as a shell would, and run as it is. The command comes from the user's
own settings (or from a project's that the user has trusted), never from a provider or a model.
"""

from __future__ import annotations

import shlex
import subprocess

import anyio

from legato.errors import ConfigError, Unauthorized

SECONDS = 30.0
"""how long a command may take: some ask a server"""


async def read_command(command: str, *, provider: str, seconds: float = SECONDS) -> bytes:
    """What `command` prints; raises `Unauthorized` if it fails, prints nothing or takes too long."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"token_command of {provider} cannot be read ({error}); check its quotation marks") from None
    if not words:
        raise ConfigError(f"token_command of {provider} is empty; name a command that prints a token")
    try:
        with anyio.fail_after(seconds):
            done = await anyio.run_process(words, stdin=subprocess.DEVNULL, check=False)
    except TimeoutError:
        raise _failed(words, provider, f"it took longer than {seconds:g} seconds") from None
    except OSError as error:
        raise _failed(words, provider, f"it cannot be started ({error.strerror or type(error).__name__})") from None
    if done.returncode:
        raise _failed(words, provider, f"it ended with {done.returncode}")
    if not done.stdout.strip():
        raise _failed(words, provider, "it printed nothing")
    return done.stdout


def _failed(words: list[str], provider: str, how: str) -> Unauthorized:
    # Neither arguments nor output are shown: both may hold a secret.
    return Unauthorized(
        f"the command that lends credentials for {provider} ({words[0]} …) failed: {how}; run it in a terminal to see "
        "why",
        provider=provider,
        layer="credentials",
    )
