"""Sessions in one SQLite file: the embedded default.

file.py opens the file as safely as the linked SQLite allows, schema.py says what is in it, writer.py is the one thread
that writes it, and access.py puts that thread and readers into the service of an event loop. These four do the same for
any file of ours. statements.py is every transaction on sessions, and store.py puts the contract's face on them.
"""

from legato.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
