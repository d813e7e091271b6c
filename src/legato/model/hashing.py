"""Short names made from content: the same input gives the same name on every machine.

Base62 because every provider takes letters and digits, whatever else it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from _hashlib import HASH

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


_PAIRS = [low + high for high in ALPHABET for low in ALPHABET]
"""two digits, the lower one first"""
_PAIR = len(_PAIRS)


@cache
def _sha256() -> Callable[[bytes], HASH]:
    import hashlib  # loads OpenSSL, which takes longer than most of this library

    return hashlib.sha256


def base62(*parts: str | int, length: int) -> str:
    """`length` (at most 40) base62 characters of the hash of `parts`; no two lists of parts are confused."""
    text = "\0".join([f"{len(part)}:{part}" for part in map(str, parts)])
    number = int.from_bytes(_sha256()(text.encode("utf-8", "surrogatepass")).digest(), "big")
    return digits62(number % 62**length, length)


def digits62(number: int, length: int) -> str:
    """`number`, which is less than 62**length, in base62, the lowest digit first."""
    digits = ""
    for _ in range(length // 2):
        digits += _PAIRS[number % _PAIR]
        number //= _PAIR
    return digits + ALPHABET[number] if length % 2 else digits


def digest(data: bytes) -> str:
    """A hex digest that names `data`: 32 characters, enough to tell any two inputs apart."""
    return RunningDigest(data).name()


class RunningDigest:
    """The digest of bytes that come in pieces: it is the same as that of all of them together."""

    __slots__ = ("_hash",)

    def __init__(self, data: bytes = b"") -> None:
        self._hash = _sha256()(data)

    def add(self, data: bytes) -> None:
        """More bytes."""
        self._hash.update(data)

    def name(self) -> str:
        """The digest of the bytes so far."""
        return self._hash.hexdigest()[:_LENGTH]

    def copy(self) -> Self:
        """One that goes its own way from here."""
        other = object.__new__(type(self))
        other._hash = self._hash.copy()
        return other


_LENGTH = 32
"""hex digits of a digest: 128 bits, enough that two contents never share one by chance"""
