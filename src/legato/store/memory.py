"""Sessions that stay as long as the process does: for tests, and for work that must leave no trace.

The same contract as on disk. Several store objects on one `Shelf` see the same sessions, as several programs would.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from secrets import token_hex

from legato.model.jsonvalue import JsonObject
from legato.model.records import Record
from legato.store.checksums import range_of
from legato.store.contract import Lease, Problem, SessionSummary, Store
from legato.store.identity import decode_meta, encode_meta, merge_meta
from legato.store.new_session import NewSession, prepare_session
from legato.store.refusals import check_append, held_session, taken_id, unknown_session
from legato.store.summary import LogSummary, clean_title, log_summary_of, summarise

__all__ = [
    "MemoryStore",
    "Shelf",
]


class _Shelved:
    """One session, with what a database would keep in its row."""

    def __init__(self, new: NewSession, records: Sequence[Record]) -> None:
        self.meta = new.meta
        self.records = list(records)
        self.parent = new.parent
        self.summary = new.summary
        self.created = self.updated = time.time()
        self.token = 0
        self.claim: str | None = None
        self.holder = ""
        self.since = 0.0


Shelf = dict[str, _Shelved]


class MemoryStore(Store):
    """Sessions in this process, on `shelf` if one is given, else on one of its own."""

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf: Shelf = {} if shelf is None else shelf
        self._leases: dict[str, Lease] = {}

    async def create(
        self,
        session_id: str | None = None,
        *,
        meta: JsonObject | None = None,
        records: Sequence[Record] = (),
        parent: str | None = None,
    ) -> str:
        """A new session; see `Store.create`."""
        new = prepare_session(session_id, meta, records=records, parent=parent)
        if new.id in self._shelf:
            raise taken_id(new.id)
        self._shelf[new.id] = _Shelved(new, records)
        return new.id

    async def open(self, session_id: str, *, holder: str) -> Lease:
        """The writer's lease; see `Store.open`."""
        session = self._find(session_id)
        if session.claim is not None:
            raise held_session(session_id, session.holder, None, since=session.since)
        session.token += 1
        session.claim, session.holder, session.since = token_hex(8), clean_title(holder), time.time()
        lease = Lease(session_id, session.holder, session.token, session.claim)
        self._leases[lease.claim] = lease
        return lease

    async def release(self, lease: Lease) -> None:
        """Let others write; see `Store.release`."""
        self._leases.pop(lease.claim, None)
        session = self._shelf.get(lease.session)
        if session is not None and session.claim == lease.claim:
            session.claim = None

    async def append(self, lease: Lease, expected: int, records: Sequence[Record]) -> int:
        """Store records; see `Store.append`."""
        session = self._find(lease.session)
        check_append(
            lease,
            expected,
            length=len(session.records),
            token=session.token,
            claim=session.claim,
            holder=session.holder,
        )
        news = log_summary_of(records)
        session.summary = LogSummary(session.summary.title or news.title, news.route or session.summary.route)
        session.records.extend(records)
        session.updated = time.time()
        return len(session.records)

    async def read(self, session_id: str, start: int = 0, *, stop: int | None = None) -> Sequence[Record]:
        """The records; see `Store.read`."""
        records = self._find(session_id).records
        first, end = range_of(len(records), start, stop)
        return records[first:end]

    async def describe(self, session_id: str) -> SessionSummary:
        """What a list shows of one session; see `Store.describe`."""
        return self._summarise(session_id)

    async def list(self) -> Sequence[SessionSummary]:
        """All sessions; see `Store.list`."""
        return sorted(map(self._summarise, self._shelf), key=lambda one: (one.updated, one.id), reverse=True)

    async def annotate(self, session_id: str, changes: JsonObject) -> None:
        """Change the metadata; see `Store.annotate`."""
        session = self._find(session_id)
        session.meta = encode_meta(merge_meta(decode_meta(session.meta), changes))

    async def delete(self, session_id: str) -> None:
        """Forget a session; see `Store.delete`."""
        session = self._find(session_id)
        if session.claim is not None:
            raise held_session(session_id, session.holder, None, since=session.since)
        del self._shelf[session_id]

    async def check(self, session_id: str | None = None) -> Sequence[Problem]:
        """Memory does not rot: nothing is ever found. See `Store.check`."""
        if session_id is not None:
            self._find(session_id)
        return []

    async def connect(self) -> None:
        """There is nothing to reach; see `Store.connect`."""

    async def close(self) -> None:
        """Release every lease; see `Store.close`."""
        for lease in tuple(self._leases.values()):
            await self.release(lease)

    def _find(self, session_id: str) -> _Shelved:
        try:
            return self._shelf[session_id]
        except KeyError:
            raise unknown_session(session_id, "memory") from None

    def _summarise(self, session_id: str) -> SessionSummary:
        session = self._find(session_id)
        return summarise(
            session_id,
            session.summary.title,
            session.summary.route,
            session.meta,
            session.created,
            session.updated,
            len(session.records),
            session.parent,
        )
