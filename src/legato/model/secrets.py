"""What is a secret: the values that somebody in this process holds, and the names of variables that hold others.

A key from a settings file is in no environment variable and may have any shape. Its holder enters
itself here and is forgotten with its last user. Whatever writes a log or a report, or starts a command that a model
wrote, asks here what to hide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet


class Keeper(Protocol):
    """An object that holds secrets."""

    def secrets(self) -> Iterable[str]:
        """The secrets themselves, to be hidden wherever they are."""
        ...


KEEPERS: WeakSet[Keeper] = WeakSet()


def known_secrets() -> set[str]:
    """Every secret that is held at present."""
    return {secret for keeper in KEEPERS for secret in keeper.secrets()}


_SECRET_NAME = re.compile(
    r"""
      (?:^|_) (?:API|ACCESS|AUTH|PRIVATE|SECRET|ENCRYPTION|SIGNING|LICENSE)? KEYS? (?:_|\d*$)
    | (?<! MON)(?<! HOT)(?<! TUR)(?<! DON)(?<! WHIS) KEYS? \d* $
    | API_?KEY | TOKEN (?!IZ) | SECRET (?!ARY|ARIAT)
    | PASSWORD | PASSWD | PASSPHRASE | SSHPASS | (?:^|_) PASS (?:_|$) | _PWD$
    | (?:^|_) (?:WEBHOOK|JWT) (?:_|$) | AUTH_CONFIG
    | (?<! ASK)(?<! BY)(?<! COM) PASS $
    | CREDENTIALS? (?:_|$) | (?:^|_) CREDS? (?:_|$)
    | (?:^|_) (?:DSN | CONNECTION_?STRING | DATABASE_URL | AUTH | BEARER | COOKIE | PAT) $
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""`KEYBOARD`, `HOTKEY`, `BYPASS`, `TOKENIZERS_PARALLELISM`, `SSH_AUTH_SOCK` and `GIT_ASKPASS` hold no secret"""


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret."""
    return _SECRET_NAME.search(name) is not None
