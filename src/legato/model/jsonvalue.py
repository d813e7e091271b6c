"""What JSON can hold, as types.

`Any` stays at this edge. A `Json` value inside an entry has passed `ingest` and is never changed again: entries, units
and request bodies share it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
