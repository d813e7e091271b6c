"""What surrounds the units of a request, in neutral words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from legato.model import Options, ToolSpec


class Envelope(Struct, frozen=True):
    """What surrounds the units: instructions, tools and options.

    `called` are the names and namespaces of the tools that printed calls refer to, in order of appearance: some targets
    demand a definition for them.
    """

    system: str
    tools: Sequence[ToolSpec]
    options: Options
    called: Sequence[tuple[str, str]] = ()
