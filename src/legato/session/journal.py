"""The one way into a session's log: prepare, store, apply.

Writes are serialised. Each is on disk before it is in memory, so memory is never ahead of the store, and a write that
has begun is finished even if its caller is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import anyio
from msgspec.structs import replace

from legato.model import Answer, Entry, Record, ToolResponse
from legato.model.records import Recorded, TurnBegan
from legato.store import Lease, Store
from legato.transcript import Conversation


class Journal:
    """A conversation and the store that keeps it, if one does."""

    def __init__(
        self,
        talk: Conversation,
        *,
        clock: Callable[[], float],
        store: Store | None = None,
        lease: Lease | None = None,
    ) -> None:
        self.uncommitted: list[ToolResponse] = []
        """how calls ended that the store did not take; they are committed before anything else is"""
        self._clock = clock
        self._lock = anyio.Lock()
        self.reopen(talk, store=store, lease=lease)

    def reopen(self, talk: Conversation, *, store: Store | None = None, lease: Lease | None = None) -> None:
        """Go on with `talk`, as read from `store`."""
        self.talk = talk
        self.turns = sum(isinstance(record, TurnBegan) for record in talk.log)
        """how many turns the log holds"""
        self._store = store
        self._lease = lease

    async def write(self, *news: Entry | Answer | Record) -> list[Record]:
        """Record `news` in one write; returns the records, dated, with calls named."""
        records: list[Record] = []
        with anyio.CancelScope(shield=True):
            async with self._lock:
                records = self.talk.prepare([self._dated(item) for item in news])
                if self._store is not None and self._lease is not None:
                    await self._store.append(self._lease, len(self.talk), records)
                self.talk.apply(records)
                self.turns += sum(isinstance(record, TurnBegan) for record in records)
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
