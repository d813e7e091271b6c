"""What a failure of PostgreSQL means for the one who waits: try again, or say so.

A lost connection, a server that shuts down, starts up or has crashed, and a transaction that lost against another are
tried again; everything else is told at once. No message carries the URL, because it may hold a password.
"""

from __future__ import annotations

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from legato.errors import ConfigError, StoreCorrupt, StoreError, StoreUnavailable

_TRANSIENT = (
    PoolTimeout,
    psycopg.InterfaceError,
    pg.AdminShutdown,
    pg.CrashShutdown,
    pg.CannotConnectNow,
    pg.IdleInTransactionSessionTimeout,
    pg.TooManyConnections,
    pg.SerializationFailure,
    pg.DeadlockDetected,
)
_CORRUPT = (pg.DataCorrupted, pg.IndexCorrupted)


def name_place(url: str) -> str:
    """The server and the database of `url`, for messages; raises `ConfigError` if it is no such URL."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise ConfigError(f"not a PostgreSQL URL: {error}; write postgresql://user@host/database") from None
    host = parts.get("host") or parts.get("hostaddr") or "the default host"
    return f"the PostgreSQL database {parts.get('dbname') or 'of the user'} on {host}"


def is_transient(error: Exception) -> bool:
    """Whether the same transaction may well succeed on another connection, a moment later."""
    if isinstance(error, _TRANSIENT):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith("08")


def refusal(error: Exception, where: str) -> StoreError:
    """`error` as one of ours."""
    text = " ".join(str(error).split())
    if isinstance(error, _CORRUPT):
        return StoreCorrupt(f"{where} is damaged ({text}); restore it from a backup")
    if isinstance(error, pg.DiskFull):
        return StoreUnavailable(
            f"the disk of {where} is full ({text}); free some space there and try again. What was acknowledged before"
            " is safe, and nothing of this step was stored"
        )
    if isinstance(error, PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailable(
            f"{where} is not available ({text}); see that the server runs and that the URL is right, then try again."
            " What was acknowledged before is safe"
        )
    return StoreError(f"{where}: {text}", sqlstate=getattr(error, "sqlstate", None))
