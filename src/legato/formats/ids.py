"""Ids in session files: which ones are good, and new ones that are the same on every machine."""

from __future__ import annotations

import re
import uuid
from hashlib import sha256

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_plain_id(wire_id: str) -> bool:
    """Whether every provider that wants ids to be plain takes this one."""
    return _PLAIN.fullmatch(wire_id) is not None


def name_from(*parts: str) -> str:
    """A UUID made of `parts` alone."""
    text = "\0".join(f"{len(part)}:{part}" for part in parts)
    return str(uuid.UUID(bytes=sha256(text.encode("utf-8", "surrogatepass")).digest()[:16], version=5))


def is_uuid(text: str) -> bool:
    """Whether `text` is a UUID, written as programs write it."""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def is_classic_uuid(text: str) -> bool:
    """Whether `text` is a UUID of a version that every agent takes: Qwen Code 0.24 finds no session by newer ones."""
    return is_uuid(text) and uuid.UUID(text).version in range(1, 6)
