"""Sessions in one SQLite file: the embedded default.

file.py opens the file as safely as the linked SQLite allows, schema.py says what is in it, writer.py is the one thread
that writes it, statements.py is every transaction, and store.py puts the contract's face on them.
"""

from legato.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
