"""Thought signatures: which part carries one, and what stands for one that never was.

A signature belongs to the very part it came with (a text, a thought or a call) and is opaque base64. One that is not
is as good as none: the API would refuse the request.
"""

from __future__ import annotations

import re

from legato.model import JsonObject

PLACEHOLDER = "skip_thought_signature_validator"
"""what the API documents for calls that it did not make"""

PLACEHOLDERS = frozenset({PLACEHOLDER, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="})
"""the same, also as clients send it that encode bytes"""

_BASE64 = re.compile(r"([A-Za-z0-9+/_-]+)(={0,2})")  # both alphabets are in use


def signature_of(native: JsonObject | None) -> str | None:
    """The signature among a block's own data, if it is one."""
    signature = None if native is None else native.get("thoughtSignature")
    return signature if isinstance(signature, str) and is_signature(signature) else None


def is_signature(text: str) -> bool:
    """Whether `text` can be a signature: valid base64."""
    match = _BASE64.fullmatch(text)
    if match is None:
        return False
    return len(text) % 4 == 0 if match[2] else len(text) % 4 != 1


def kept_signature(text: str) -> JsonObject | None:
    """What a block keeps of a signature that came with it; a placeholder is not one."""
    return {"thoughtSignature": text} if text and text not in PLACEHOLDERS else None
