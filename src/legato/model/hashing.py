"""Short names made from content: the same input gives the same name on every machine.

Base62 because every provider takes letters and digits, whatever else it refuses.
"""

from __future__ import annotations

from hashlib import sha256

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def base62(*parts: str | int, length: int) -> str:
    """`length` (at most 40) base62 characters of the hash of `parts`; no two lists of parts are confused."""
    text = "\0".join(f"{len(str(part))}:{part}" for part in parts)
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return "".join(digits)


def digest(data: bytes) -> str:
    """A hex digest that names `data`: 32 characters, enough to tell any two inputs apart."""
    return sha256(data).hexdigest()[:32]
