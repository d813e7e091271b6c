"""Thought signatures: which part carries one, and what stands for one that never was.

A signature belongs to the very part it came with (a text, a thought or a call) and is opaque base64. One that is not
is as good as none: the API would refuse the request.
"""

from __future__ import annotations

from legato.model import JsonObject
from legato.model.native import is_base64

PLACEHOLDER = "skip_thought_signature_validator"
"""what the API documents for calls that it did not make: https://ai.google.dev/gemini-api/docs/thought-signatures"""

PLACEHOLDERS = frozenset({PLACEHOLDER, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="})
"""the same, also as clients send it that encode bytes"""


def signature_of(native: JsonObject | None) -> str | None:
    """The signature among a block's own data, if it is one."""
    signature = None if native is None else native.get("thoughtSignature")
    return signature if isinstance(signature, str) and is_base64(signature) else None


def kept_signature(text: str) -> JsonObject | None:
    """What a block keeps of a signature that came with it; a placeholder is not one."""
    return {"thoughtSignature": text} if text and text not in PLACEHOLDERS else None
