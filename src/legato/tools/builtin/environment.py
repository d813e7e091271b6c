"""The environment of programs that tools start: no secrets in it, and nothing that makes them wait for a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from legato.model.secrets import is_secret_name, known_secrets

_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
_PASSWORD_IN_ADDRESS = r"://[^\s/@:]*:[^\s/@]+@"
_SHORTEST_KEY = 6
"""characters; a shorter value that is used as a key (`x`, `none`) is found in many variables by chance"""


def clean_environment(
    environment: Mapping[str, str], hidden: Iterable[str] = (), shown: Iterable[str] = ()
) -> dict[str, str]:
    """`environment` without secrets, and set so that programs neither page nor ask.

    A variable is left out if its name is that of a secret or is among `hidden`, if it holds a key that this process
    uses, or an address with a password in it. Those that `shown` names stay in any case.
    """
    wanted, unwanted = frozenset(shown), frozenset(hidden)
    keys = [key for key in known_secrets() if len(key) >= _SHORTEST_KEY]
    kept = {
        name: value
        for name, value in environment.items()
        if name in wanted or not (name in unwanted or is_secret_name(name) or _holds_secret(value, keys))
    }
    return kept | _QUIET


def _holds_secret(value: str, keys: Iterable[str]) -> bool:
    return any(key in value for key in keys) or re.search(_PASSWORD_IN_ADDRESS, value) is not None
