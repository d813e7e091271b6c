"""Why a store says no: one wording for every backend, each with the facts that a program needs to act."""

from __future__ import annotations

import time

from legato.errors import Conflict, SessionLocked, SessionNotFound
from legato.store.contract import Lease
from legato.store.lease_owner import Process


def unknown_session(session_id: str, where: str) -> SessionNotFound:
    """Nothing of that name is stored here."""
    return SessionNotFound(
        f"there is no session {session_id!r} in {where}; `legato sessions` lists those that are", session=session_id
    )


def taken_id(session_id: str) -> Conflict:
    """A session of that name exists already."""
    return Conflict(f"a session {session_id} exists already; choose another id", session=session_id)


def held_session(session_id: str, holder: str, process: Process | None, *, since: float) -> SessionLocked:
    """A live writer has the session."""
    place = ""
    if process is not None:
        number = f"process {process.pid}"
        place = f"{'' if number in holder else f', {number}'} on {process.host.partition('/')[0]}"
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(since))
    return SessionLocked(
        f"session {session_id} is being written by {holder}{place} (since {moment}); close it there, or go on in "
        "a copy (--fork)",
        session=session_id,
        holder=holder,
        pid=process.pid if process else None,
        host=process.host.partition("/")[0] if process else None,
    )


def check_append(
    lease: Lease, expected: int, *, length: int, token: int, claim: str | None, holder: str | None
) -> None:
    """Raise `Conflict` unless the holder of `lease` may append at `expected` to a log of `length` records.

    `token`, `claim` and `holder` are what the store has on record now, read in the transaction that will append.
    """
    if (lease.token, lease.claim) != (token, claim):
        now = f"{holder} has taken it over" if claim is not None else "it was released"
        raise Conflict(
            f"{lease.holder} no longer holds session {lease.session}: {now}; nothing was stored, open it again",
            session=lease.session,
            token=lease.token,
            newest=token,
        )
    if expected != length:
        raise Conflict(
            f"session {lease.session} has {length} records, not {expected}; nothing was stored, read it again",
            session=lease.session,
            expected=expected,
            length=length,
        )
