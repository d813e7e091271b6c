"""Read lists of tool definitions, each list once: the same tools come with every request of a conversation.

In:  the definitions in a request body, and what reads them in its dialect.
Out: the tools that they define and what is to be noted about them; for a list that was read lately, the very same.

Agents offer dozens of tools with long schemas, which are most of the bytes of a request. That equal lists give the same
objects also makes it cheap to see, further on, that the tools did not change. Who has the list as JSON need not even
decode it again (`decode_known`), and what is made of such a list further on is made once (`lasting`).
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import msgspec

from legato.model import Json, ToolSpec, ingest
from legato.model.ingestion import reads_plainly
from legato.model.json_access import as_list
from legato.model.lasting import Lasting, is_plain

_MOST = 32
"""lists that are remembered: our choice, more than the clients of one process have"""
_LARGEST = 1 << 20
"""bytes of a list that is remembered: our choice, far beyond what any client offers"""
_VERSION = 2
"""of the marshal format: the last one in which equal values are always the same bytes"""


class ReadTools(NamedTuple):
    """The tools in a list, and notes on what was not understood there."""

    tools: Sequence[ToolSpec]
    notes: tuple[str, ...] = ()

    def listed(self) -> list[ToolSpec]:
        """The tools for a caller: those of a list that lasts are a list that lasts."""
        return self.tools if isinstance(self.tools, Lasting) else list(self.tools)


def ingested_items(listed: object) -> list[Json]:
    """The items of a list, each made safe by itself."""
    return cast("list[Json]", listed) if is_plain(listed) else [ingest(item) for item in as_list(listed)]


class _Written(bytes):
    """A list as bytes, by which it is known again, and the list itself until it is read."""

    listed: object = None


class ToolListReader:
    """Reads lists with `read`, which must depend on nothing but the list, and has to ingest what it gives out of it."""

    def __init__(self, read: Callable[[object], ReadTools]) -> None:
        self._read = read
        self._known = lru_cache(_MOST)(self._read_written)

    def __call__(self, listed: object) -> ReadTools:
        """The tools in `listed`."""
        if isinstance(listed, Lasting):
            lasting = cast("Lasting[Any]", listed)
            return lasting.once(self, lambda: self._read_lasting(lasting))
        try:
            written = _Written(marshal.dumps(cast(Any, listed), _VERSION))
        except ValueError:  # objects of some library, or nested too deeply
            return self._read(listed)
        if len(written) > _LARGEST:
            return self._read(listed)
        written.listed = listed
        return self._known(written)

    def _read_lasting(self, listed: Lasting[Any]) -> ReadTools:
        read = self._read(listed)
        return read._replace(tools=Lasting(read.tools, listed))

    def _read_written(self, written: _Written) -> ReadTools:
        listed, written.listed = written.listed, None
        return self._read(listed)


# --- lists that come as JSON ------------------------------------------------------------------------------------------


class _DecodedLists:
    """The lists that were decoded lately, by their JSON.

    Threads share it: each step is one operation of a dict, and the oldest goes first, whether it was used or not.
    """

    def __init__(self) -> None:
        self._by_json: dict[bytes, Lasting[Any]] = {}

    def decode(self, data: bytes) -> Lasting[Any]:
        known = self._by_json.get(data)
        if known is None:
            known = self._by_json.setdefault(data, _decoded(data))
            for old in list(self._by_json)[:-_MOST]:
                self._by_json.pop(old, None)
        return known


def _decoded(data: bytes) -> Lasting[Any]:
    raws = _RAWS.decode(data)
    return Lasting(map(msgspec.json.decode, raws), is_plain=all(reads_plainly(bytes(raw)) for raw in raws))


_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_DECODED = _DecodedLists()


def decode_known(data: bytes) -> object:
    """The list of tools that is written in `data`; for equal JSON the very same object, so it must not be changed."""
    return _DECODED.decode(data) if data[:1] == b"[" and len(data) <= _LARGEST else msgspec.json.decode(data)
