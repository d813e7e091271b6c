"""What the dialects share in describing the events that bring more of a block (see `stream`).

A struct reads a field only as the type that it declares, and raises for any other. So a field that the general way
looks at is declared, as what changes nothing; a field that nobody looks at is not declared, and skipped.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

Index: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""a number that counts blocks, items or calls"""

Nothing: TypeAlias = Literal[""] | None
"""a text that says nothing, which some servers send in place of none"""
