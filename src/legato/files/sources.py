"""What the functions of this package read, and which conversation of a file they mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import BinaryIO, TypeAlias

from legato.errors import SeveralConversations
from legato.files.text import counted
from legato.formats import Document

PathName: TypeAlias = "str | os.PathLike[str]"

Source: TypeAlias = "PathName | bytes | BinaryIO"
"""a path (a `str` is one), the bytes of a file, or a binary stream"""

Progress: TypeAlias = "Callable[[int], None]"
"""called with the number of bytes that were read so far"""


def pick_document(
    documents: Sequence[Document], number: int | None, *, option: str = "pick", advice: str = "choose one with pick=N"
) -> Document:
    """The conversation of that number, counted from 1; without a number the only one, or the main one of a session.

    Raises `SeveralConversations` if there is no such number, or if a number is needed. `option` is what the caller
    calls the number, and `advice` what to do where there is none.
    """
    count, name = len(documents), documents[0].name
    if number is None:
        if count > 1 and not has_main(documents):
            raise SeveralConversations(f"{name}: this file holds {count} conversations; {advice}", conversations=count)
        return documents[0]
    if not 1 <= number <= count:
        raise SeveralConversations(
            f"{name}: it holds {counted(count, 'conversation')}, and {option} counts from 1; "
            f"there is no number {number}",
            conversations=count,
        )
    return documents[number - 1]


def has_main(documents: Sequence[Document]) -> bool:
    """Whether the first conversation is the session, and the others (those of subagents) belong to it."""
    return bool(documents[0].meta.get("beside"))
