"""Short names made from content: the same input gives the same name on every machine.

Base62 because every provider takes letters and digits, whatever else it refuses.
"""

from __future__ import annotations

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _sha256(data: bytes) -> bytes:
    import hashlib  # loads OpenSSL, which takes longer than most of this library

    return hashlib.sha256(data).digest()


def base62(*parts: str | int, length: int) -> str:
    """`length` (at most 40) base62 characters of the hash of `parts`; no two lists of parts are confused."""
    text = "\0".join([f"{len(part)}:{part}" for part in map(str, parts)])
    number = int.from_bytes(_sha256(text.encode("utf-8", "surrogatepass")), "big") % 62**length
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return "".join(digits)


def digest(data: bytes) -> str:
    """A hex digest that names `data`: 32 characters, enough to tell any two inputs apart."""
    return _sha256(data).hex()[:32]
