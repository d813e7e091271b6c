"""Read lists of tool definitions, each list once: the same tools come with every request of a conversation.

In:  the definitions in a request body, and what reads them in its dialect.
Out: the tools that they define and what is to be noted about them; for a list that was read lately, the very same.

Agents offer dozens of tools with long schemas, which are most of the bytes of a request. That equal lists give the same
objects also makes it cheap to see, further on, that the tools did not change. Who has the list as JSON need not even
decode it again (`decode_known`).
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

import msgspec

from legato.model import ToolSpec

_MOST = 32
"""lists that are remembered: our choice, more than the clients of one process have"""
_LARGEST = 1 << 20
"""bytes of a list that is remembered: our choice, far beyond what any client offers"""
_VERSION = 2
"""of the marshal format: the last one in which equal values are always the same bytes"""


class ReadTools(NamedTuple):
    """The tools in a list, and notes on what was not understood there."""

    tools: tuple[ToolSpec, ...]
    notes: tuple[str, ...] = ()


class _Written(bytes):
    """A list as bytes, by which it is known again, and the list itself until it is read."""

    listed: object = None


class ToolListReader:
    """Reads lists with `read`, which must depend on nothing but the list, and must not give out parts of it."""

    def __init__(self, read: Callable[[object], ReadTools]) -> None:
        self._read = read
        self._known = lru_cache(_MOST)(self._read_written)

    def __call__(self, listed: object) -> ReadTools:
        """The tools in `listed`."""
        if (known := _DECODED.holding(listed)) is not None:
            if self not in known.read:
                known.read[self] = self._read(listed)
            return known.read[self]
        try:
            written = _Written(marshal.dumps(cast(Any, listed), _VERSION))
        except ValueError:  # objects of some library, or nested too deeply
            return self._read(listed)
        if len(written) > _LARGEST:
            return self._read(listed)
        written.listed = listed
        return self._known(written)

    def _read_written(self, written: _Written) -> ReadTools:
        listed, written.listed = written.listed, None
        return self._read(listed)


# --- lists that come as JSON ------------------------------------------------------------------------------------------


class _Decoded(NamedTuple):
    """A list that was decoded from JSON, and what each reader made of it."""

    listed: object
    read: dict[ToolListReader, ReadTools]


class _DecodedLists:
    """The lists that were decoded lately, by their JSON; whoever is given one must not change it.

    Threads share it: each step is one operation of a dict, and the oldest goes first, whether it was used or not.
    """

    def __init__(self) -> None:
        self._by_json: dict[bytes, _Decoded] = {}
        self._by_identity: dict[int, _Decoded] = {}
        """an identity is that of its list as long as the list is held here"""

    def decode(self, data: bytes) -> object:
        known = self._by_json.get(data)
        if known is None:
            known = self._by_json.setdefault(data, _Decoded(msgspec.json.decode(data), {}))
            self._by_identity[id(known.listed)] = known
            for old in list(self._by_json)[:-_MOST]:
                gone = self._by_json.pop(old, None)
                if gone is not None:
                    self._by_identity.pop(id(gone.listed), None)
        return known.listed

    def holding(self, listed: object) -> _Decoded | None:
        """The one that is this very list."""
        return self._by_identity.get(id(listed))


_DECODED = _DecodedLists()


def decode_known(data: bytes) -> object:
    """The list of tools that is written in `data`; for equal JSON the very same object, so it must not be changed."""
    return _DECODED.decode(data) if data[:1] == b"[" and len(data) <= _LARGEST else msgspec.json.decode(data)
