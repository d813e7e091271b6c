"""The slot for what observes requests: `legato.diagnostics`, which is a layer above the one that makes them.

The package root says how to load it, so no layer has to know one that is above it. It is loaded when the first line or
span event is due, because most programs log nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

load: Callable[[], object] | None = None
"""gives the observer; None only while the package root itself is being loaded"""
