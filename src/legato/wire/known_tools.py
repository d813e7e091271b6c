"""Read lists of tool definitions, each list once: the same tools come with every request of a conversation.

In:  the definitions in a request body, and what reads them in its dialect.
Out: the tools that they define and what is to be noted about them; for a list that was read lately, the very same.

Agents offer dozens of tools with long schemas, which are most of the bytes of a request. That equal lists give the same
objects also makes it cheap to see, further on, that the tools did not change.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

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
