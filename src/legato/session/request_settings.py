"""What the requests of a session are made with.

A session's settings may be replaced at any time. Each step takes them as they are when it begins, as one value, and
keeps them to its end: whatever is rendered, measured or sent for that step is made with the same settings.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from legato.model import Options, ThinkingPolicy
from legato.routing import Route
from legato.tools import ToolBox


class RequestSettings(Struct, frozen=True, kw_only=True):
    """The settings of one request, whichever route it takes."""

    tools: ToolBox
    system: str
    options: Options
    """for every route; `options_for` adds a route's own"""
    thinking: ThinkingPolicy
    reports: bool = False
    """whether the turn shows everything that was decided for the request"""

    def options_for(self, route: Route) -> Options:
        """The options of a request to `route`: its own where it has any, the session's everywhere else."""
        defaults = Options()
        own = {
            name: value
            for name in Options.__struct_fields__
            if (value := getattr(route.options, name)) != getattr(defaults, name)
        }
        return replace(self.options, **own) if own else self.options
