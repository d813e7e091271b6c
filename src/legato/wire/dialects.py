"""The dialects by name, each loaded when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from legato.model import Dialect
from legato.wire.contract import DialectParts


@cache
def dialect_parts(name: Dialect) -> DialectParts:
    """The parts of the dialect `name`."""
    return import_module(f"legato.wire.{name.value}").DIALECT
