"""Keep secrets out of what is shown, logged, traced or written beside a request.

In:  a text or a JSON value, however it came to hold a secret.
Out: the same with `[hidden]` in place of every secret.

Three things give a secret away: it is the value of an environment variable whose name says so (or that a
configuration names), it is in a field or behind a header that holds secrets, or it has the shape of a key that
someone issues. Shapes ask for a digit, because words such as `bearer authentication` are no secrets, and ids of calls
must stay readable: they are what a report is about.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from legato.model import Json
from legato.model.secrets import is_secret_name, known_secrets

HIDDEN = "[hidden]"
"""what is in place of a secret"""

_SHORTEST = 6
"""a shorter value (`1`, `true`) is no secret, and hiding it would make a text unreadable"""

_SECRET_FIELDS = frozenset(
    {"authorization", "proxy_authorization", "cookie", "set_cookie", "api_key", "apikey", "x_api_key",
     "x_goog_api_key", "api_token", "auth_token", "access_token", "refresh_token", "id_token", "session_token",
     "bearer_token", "token", "secret", "secret_key", "client_secret", "access_key", "secret_access_key",
     "aws_secret_access_key", "private_key", "password", "passwd", "passphrase", "credential", "credentials"}
)  # fmt: skip

_ISSUERS = (
    "sk|pk|rk|gsk|xai|csk|r8|hf|fw|pplx|tvly|nvapi|glpat|gho|ghp|ghs|ghu|ghr|github_pat|xoxa|xoxb|xoxp|xoxo|xoxs|xoxr"
)
"""what keys begin with, before a hyphen or an underscore"""

_SHAPES = re.compile(
    r"""
      -----BEGIN\ [A-Z\ ]{0,20}PRIVATE\ KEY-----.*?(?:-----END\ [A-Z\ ]{0,20}PRIVATE\ KEY-----|\Z)
    | (?P<header>\b(?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|digest)\s{1,4})?)
      [A-Za-z0-9._~+/=-]{8,}
    | (?P<name>(?:\b|_)(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|auth[_-]?token|access[_-]?token|token|passwd
          |password|passphrase|x-goog-api-key)["']?\s{0,4}[:=]\s{0,4}["']?
          (?:(?:bearer|basic|token)\s{1,4})?)
      (?=[A-Za-z._~+/=-]{0,64}+[0-9])[A-Za-z0-9._~+/=-]{8,}
    | \bBearer\s{1,4}(?=[A-Za-z._~+/=-]{0,64}+[0-9])[A-Za-z0-9._~+/=-]{8,}
    | (?<![A-Za-z0-9_.*-])
      (?:ISSUERS)[-_]
      (?=[A-Za-z_.-]*+[0-9*])[A-Za-z0-9_.*-]{10,}
    | (?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{20,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}
    | (?<=://)[^\s/@:"']{1,256}:[^\s/@"']{1,256}(?=@)
    """.replace("ISSUERS", _ISSUERS),
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# What is looked ahead for is bounded, or begins where a run of its characters begins: a text is read in linear time.

_WORDS = (
    "-----begin ", "authorization", "key", "secret", "token", "passw", "passphrase", "bearer",
    "aiza", "akia", "asia", "eyj", "://",
)  # fmt: skip
"""Each shape has one of these in it, or what an issuer's keys begin with. Most texts have neither, and seeing that
takes a tenth of the time that it takes to look for the shapes."""

_BEGINNING = re.compile(f"[-_](?:{'|'.join(f'(?<=(?<![a-z0-9_.*-]){issuer}[-_])' for issuer in _ISSUERS.split('|'))})")
_OTHER_CASES = re.compile("[\u0130\u0131\u017f\u212a]")
"""letters that are others only in the eyes of a search without regard to case"""


class Redactor:
    """Hides secrets. Made once for a run: it remembers the values of the environment it was made with."""

    def __init__(
        self, environment: Mapping[str, str] | None = None, *, names: Iterable[str] = (), secrets: Iterable[str] = ()
    ) -> None:
        """`environment` is the process's own if not given; `names` are variables that a configuration names as keys;
        `secrets` are further values. Keys that someone in this process holds are among them.
        """
        variables = os.environ if environment is None else environment
        named = set(names)
        values = {value.strip() for name, value in variables.items() if name in named or is_secret_name(name)}
        values.update(secret.strip() for secret in (*secrets, *known_secrets()))
        # The longest first: one secret may begin with another.
        known = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        """`text` without secrets; one that is JSON is read as the value that it is, for the names of its fields."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if _may_hold_a_shape(text):
            text = _SHAPES.sub(_hide, text)
        return self._as_value(text) if text[:1] in ("{", "[") and text[-1:] in ("}", "]") else text

    def value(self, value: Json) -> Json:
        """A JSON value without secrets: also what is in a field that is named for one."""
        return self._redacted(value)[0]

    def _redacted(self, value: Json) -> tuple[Json, bool]:
        """A copy of `value` without secrets, and whether there were any.

        A loop and not a function that calls itself: a value can be nested deeper than Python may call.
        """
        root: list[Json] = [value]
        todo: list[tuple[Json, str | int, str]] = [(root, 0, "")]
        """what is still to be looked at: the copy that holds it, its place there, and the name of the field"""
        has_changed = False
        while todo:
            holder, place, name = todo.pop()
            item: Json = holder[place]
            if isinstance(item, dict):
                copy: dict[str, Json] = {}
                holder[place] = copy
                for field, member in cast("dict[str, Json]", item).items():
                    shown = self.text(field)
                    has_changed = has_changed or shown != field
                    copy[shown] = member
                    todo.append((copy, shown, field))
            elif isinstance(item, list | tuple):
                holder[place] = items = [*cast("list[Json]", item)]
                todo.extend((items, index, "") for index in range(len(items)))
            elif isinstance(item, str):
                holder[place] = HIDDEN if item and _is_secret(name) else self.text(item)
                has_changed = has_changed or holder[place] != item
        return root[0], has_changed

    def _as_value(self, text: str) -> str:
        try:
            shown, has_changed = self._redacted(msgspec.json.decode(text))
            return msgspec.json.encode(shown).decode() if has_changed else text
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return _FIELD.sub(_hide_field, text)  # broken, or nested deeper than a parser goes


_FIELD = re.compile(r'"(?P<name>[A-Za-z_-]{3,32})"(?P<between>\s*:\s*)"(?:[^"\\]|\\.)+"')
"""a field with a text, in JSON that cannot be parsed"""


def _hide_field(match: re.Match[str]) -> str:
    return f'"{match["name"]}"{match["between"]}"{HIDDEN}"' if _is_secret(match["name"]) else match[0]


def _is_secret(name: str) -> bool:
    return name.lower().replace("-", "_") in _SECRET_FIELDS


_SHORTEST_SHAPE = 7
"""characters of the shortest text with a secret of some shape, `://a:b@`; most names and words are shorter"""


def _may_hold_a_shape(text: str) -> bool:
    if len(text) < _SHORTEST_SHAPE:
        return False
    small = text.lower()
    for word in _WORDS:  # a loop, since a generator takes twice as long, and this is done for every text that is shown
        if word in small:
            return True
    if _BEGINNING.search(small):
        return True
    return not text.isascii() and _OTHER_CASES.search(text) is not None


def _hide(match: re.Match[str]) -> str:
    """Keep the name of a header or a setting: that it was there is worth knowing."""
    return f"{match['header'] or match['name'] or ''}{HIDDEN}"
