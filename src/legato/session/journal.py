"""The one way into a session's log: prepare, store, apply.

Writes are serialised; each is on the disk before it is in memory, so memory is never ahead. A write that began is
finished even if whoever asked for it is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import anyio
from msgspec.structs import replace

from legato.model import Answer, Entry, Record
from legato.model.records import Recorded
from legato.store import Lease, Store
from legato.transcript import Conversation


class Journal:
    """A conversation and the place where it stays, if it stays anywhere."""

    def __init__(
        self,
        talk: Conversation,
        *,
        clock: Callable[[], float],
        store: Store | None = None,
        lease: Lease | None = None,
    ) -> None:
        self.talk = talk
        self._clock = clock
        self._store = store
        self._lease = lease
        self._turn = anyio.Lock()

    async def write(self, *news: Entry | Answer | Record) -> list[Record]:
        """Record `news` as one; returns the records, dated, with calls named."""
        records: list[Record] = []
        with anyio.CancelScope(shield=True):
            async with self._turn:
                records = self.talk.prepare([self._dated(item) for item in news])
                if self._store is not None and self._lease is not None:
                    await self._store.append(self._lease, len(self.talk), records)
                self.talk.apply(records)
        return records

    async def record(self, news: Entry | Answer) -> Entry:
        """Record one entry; returns it with its calls named."""
        return cast(Recorded, (await self.write(news))[0]).entry

    def _dated(self, item: Entry | Answer | Record) -> Record:
        if isinstance(item, Answer):
            item = item.entry
        if isinstance(item, Entry):
            return Recorded(entry=item, at=self._clock())
        return replace(item, at=self._clock()) if item.at is None else item
