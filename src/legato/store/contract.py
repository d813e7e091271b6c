"""What every place for sessions must do: keep each session's log, in order, whole, and for one writer at a time.

In:  records, with the number of records that the writer believes are there already.
Out: the same records, later, in another process or on another machine.

Four promises, which `legato.store.testing.conformance` checks for any backend:

1. *Durable*: when `append` returns, the records survive the death of the process and of the machine.
2. *Whole*: an append is stored with all of its records or with none.
3. *Ordered*: `append` names the sequence number it expects; a wrong one gets a `Conflict` and stores nothing.
4. *One writer*: `open` gives a lease with a fencing token, larger each time. A live holder keeps others out; a writer
   that was declared dead and comes back holds an old token, and its appends are refused in the same transaction that
   would have stored them.

A store keeps its leases alive by itself until they are released or the store is closed. It knows nothing about what
records mean, except for the three facts a list of sessions shows: title, route and folder.

`Store` is a protocol: a backend needs to inherit nothing. One that does inherit gets `fork`, `export` and the context
manager, which are written here in terms of the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from msgspec import Struct

from legato.errors import CallerError
from legato.model.codec import dump_log
from legato.model.jsonvalue import JsonObject
from legato.model.records import Record

SUBAGENT_OF = "subagent_of"
"""in the `meta` of a subagent's session: the id of the session that started it"""


class Lease(Struct, frozen=True):
    """The right to append to one session. `token` grows with every writer; `claim` names this one attempt to open."""

    session: str
    holder: str
    token: int
    claim: str


class SessionSummary(Struct, frozen=True):
    """One line of a list of sessions. Times are seconds since the epoch; `records` counts the log."""

    id: str
    title: str
    created: float
    updated: float
    records: int
    route: str = ""
    cwd: str = ""
    parent: str | None = None
    meta: JsonObject = {}

    @property
    def subagent_of(self) -> str | None:
        """The session that started this one, if it is a subagent's."""
        found = self.meta.get(SUBAGENT_OF)
        return found if isinstance(found, str) else None


class Problem(Struct, frozen=True):
    """Something that `check` found to be damaged: in which session, at which record, and what."""

    message: str
    session: str | None = None
    sequence: int | None = None


@runtime_checkable
class Store(Protocol):
    """A place where sessions stay. Every method may raise `StoreUnavailable`; those that name a session may raise
    `SessionNotFound`.

    Making a store object does no I/O: `connect` does, or `async with`, or else the first call.
    """

    async def create(
        self,
        session_id: str | None = None,
        *,
        meta: JsonObject | None = None,
        records: Sequence[Record] = (),
        parent: str | None = None,
    ) -> str:
        """A new session, with `records` as its log, stored as one; returns its id.

        Without `session_id` a new id is minted, which sorts by time. Raises `Conflict` if the id is taken. `meta` is
        small JSON; a `title` in it is shown instead of the first words said, `cwd` says where the work was done, and
        `subagent_of` names the session whose call this one answers.
        """
        ...

    async def open(self, session_id: str, *, holder: str) -> Lease:
        """The writer's lease. `holder` tells people who writes ("legato chat in terminal 2").

        Raises `SessionLocked`, which names the holder, while someone else's lease is alive.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Let others write. Releasing a lease that is no longer held changes nothing."""
        ...

    async def append(self, lease: Lease, expected: int, records: Sequence[Record]) -> int:
        """Store `records` after the `expected` ones that are there; returns the new length.

        Raises `Conflict`, and stores nothing, if the log has another length or the lease is no longer the newest one.
        A cancellation that arrives meanwhile takes effect after the outcome is known.
        """
        ...

    async def read(self, session_id: str, start: int = 0, *, stop: int | None = None) -> Sequence[Record]:
        """The records from sequence number `start` up to, not including, `stop` (the end of the log).

        Raises `StoreCorrupt` that names the session and the sequence number if one of them is damaged or missing, and
        `CodecError` if a record is whole but unknown to this program.
        """
        ...

    async def describe(self, session_id: str) -> SessionSummary:
        """What a list shows of one session."""
        ...

    async def list(self) -> Sequence[SessionSummary]:
        """All sessions, the one written last first."""
        ...

    async def annotate(self, session_id: str, changes: JsonObject) -> None:
        """Merge `changes` into the session's `meta`; a key with None is removed. Needs no lease."""
        ...

    async def fork(self, session_id: str, *, at: int | None = None) -> str:
        """A new session whose log begins as a copy of the first `at` records (of all of them); returns its id.

        Only what is copied is read, so a fork just before a damaged record saves what came before it. A copy of a
        subagent's session is a session like any other.
        """
        source = await self.describe(session_id)
        if at is not None and not 0 <= at <= source.records:
            raise CallerError(
                f"session {session_id} has {source.records} records and cannot be forked at {at}", session=session_id
            )
        records = await self.read(session_id, stop=source.records if at is None else at)
        meta = {name: value for name, value in source.meta.items() if name != SUBAGENT_OF}
        return await self.create(meta=meta, records=records, parent=session_id)

    async def delete(self, session_id: str) -> None:
        """Forget a session for good. Raises `SessionLocked` while a lease on it is alive."""
        ...

    async def export(self, session_id: str) -> AsyncIterator[bytes]:
        """The session as the lines of a log file, as `legato.model.codec.load_log` reads it."""
        for line in dump_log(await self.read(session_id)):
            yield line

    async def check(self, session_id: str | None = None) -> Sequence[Problem]:
        """Look at every stored byte of one session, or of all, and say what is damaged; empty if nothing is."""
        ...

    async def connect(self) -> None:
        """Reach the place where sessions stay, and make it ready; what cannot work is said here. Twice is fine."""
        ...

    async def close(self) -> None:
        """Release every lease that this object holds, and let go of files and connections. Closing twice is fine."""
        ...

    async def __aenter__(self) -> Self:
        """Connect now, so that what is wrong with the place is known before anything depends on it."""
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        await self.close()
