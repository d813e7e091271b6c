"""Where a session is stored, and the lease under which this process may write to it.

In:  a store, if there is one, and the id of a stored session, if there is one already.
Out: a journal that goes on with what is stored, and that no one else writes to until the lease is released.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from legato.model.records import Opened
from legato.session.journal import Journal
from legato.store import Lease, Store
from legato.transcript import Conversation


class Storage:
    """The place of one session in a store; without a store, the session lives in memory alone."""

    def __init__(self, store: Store | None, session_id: str | None, meta: Mapping[str, Any] | None = None) -> None:
        self.id = session_id
        """None for a session that is not stored, or not yet"""
        self._store = store
        self._meta = dict(meta or {})
        self._lease: Lease | None = None

    async def open(self, journal: Journal, *, clock: Callable[[], float]) -> bool:
        """Begin a new incarnation of the session; returns whether `journal` now goes on with a log from the store."""

        def opened() -> Opened:
            return Opened(incarnation=journal.talk.ledger.incarnation + 1, at=clock())

        if self._store is None:
            await journal.write(opened())
            return False
        is_new = self.id is None
        if self.id is None:  # no one else knows of it yet, so its first records can say that it is open
            self.id = await self._store.create(meta=self._meta, records=[*journal.talk.log, opened()])
        self._lease = await self._store.open(self.id, holder=f"legato, process {os.getpid()}")
        journal.reopen(Conversation(await self._store.read(self.id)), store=self._store, lease=self._lease)
        if not is_new:
            await journal.write(opened())
        return True

    async def release(self) -> None:
        """Let others write to the stored session."""
        lease, self._lease = self._lease, None
        if self._store is not None and lease is not None:
            await self._store.release(lease)
