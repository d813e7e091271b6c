"""Sessions in PostgreSQL, for many processes and machines. Needs the extra `postgres`.

schema.py makes the tables, errors.py reads what went wrong, statements.py is every transaction, store.py keeps the
connections and the leases alive.
"""

from legato.errors import ConfigError

try:
    from legato.store.postgres.store import PostgresStore
except ImportError as error:
    raise ConfigError(
        f"sessions in PostgreSQL need the extra `postgres` (pip install 'legato[postgres]'): {error}"
    ) from error

__all__ = ["PostgresStore"]
