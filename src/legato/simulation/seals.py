"""Signatures of thoughts: made from what was thought, and checked without remembering anything.

In:  the content of a thought (or of a call that carries a signature), the provider, the model and the account.
Out: base64 that only the same four reproduce under the same secret.

So a simulated provider knows its own reasoning again after a restart, and refuses what real ones refuse: a thought that
was altered, and one of another model, another account or another provider. Both short and dated names of a model count
as the same model.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256

_MARK = 24
"""bytes of a signature"""

_NAMED = 24
"""hex digits of a signature in an id"""


class Seal:
    """Signs for one model of one provider, under one account."""

    __slots__ = ("_key", "_owner")

    def __init__(self, secret: str, *, provider: str, model: str, account: str) -> None:
        self._key = secret.encode()
        self._owner = (provider, short_name(model), account)

    def sign(self, content: str) -> str:
        """The signature of `content`."""
        return b64encode(self._mark(content)).decode()

    def signed(self, content: str, token: str) -> bool:
        """Whether `token` is the signature that this seal gives to `content`."""
        return hmac.compare_digest(self.sign(content).encode(), token.encode("utf-8", "surrogatepass"))

    def wrap(self, content: str) -> str:
        """`content` in a form that says nothing to the eye and that carries its own signature."""
        return b64encode(self._mark(content) + content.encode()[::-1]).decode()

    def wrapped(self, token: str) -> bool:
        """Whether `token` was wrapped by this seal."""
        return self.unwrap(token) is not None

    def unwrap(self, token: str) -> str | None:
        """What this seal wrapped in `token`; None if it was not this seal that did."""
        try:
            data = b64decode(token, validate=True)
            content = data[_MARK:][::-1].decode()
        except (NotBase64, ValueError):
            return None
        return content if hmac.compare_digest(self._mark(content), data[:_MARK]) else None

    def name(self, nonce: str) -> str:
        """An id made of `nonce` (letters and digits) that this seal knows again."""
        return nonce + self._mark(nonce).hex()[:_NAMED]

    def named(self, name: str) -> bool:
        """Whether `name` is an id that this seal gave."""
        return hmac.compare_digest(self.name(name[:-_NAMED]).encode(), name.encode("utf-8", "surrogatepass"))

    def _mark(self, content: str) -> bytes:
        message = "\0".join((*self._owner, content)).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, message, sha256).digest()[:_MARK]


_DATED = re.compile(r"-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$")


def short_name(model: str) -> str:
    """`model` without a date: what its dated and its short name have in common."""
    return _DATED.sub("", model)
