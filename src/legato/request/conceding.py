"""Leave out of a request what its target does not take, where a conversation brought it along.

In:  the options that came with a conversation, and what makes a request with them.
Out: the request, and a sentence on what it had to do without.

Whoever writes options for a target wants to hear that it refuses one. Whoever carries a conversation from one provider
to another wants the conversation there, and to hear what stayed behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from legato.errors import ImpossibleRequest, RenderError
from legato.model import Options, ThinkingSwitch
from legato.request.request import Request

_CHOICE: dict[str, Any] = {"choice": None, "tool": None}
_THINKING: dict[str, Any] = {"thinking": ThinkingSwitch.DEFAULT, "thinking_budget": None, "effort": None}
_CONCESSIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("the choice of a tool was", _CHOICE),
    ("the settings for thinking were", _THINKING),
    ("fields without a neutral name ({extra}) were", {"extra": {}}),
    ("the choice of a tool and the settings for thinking were", _CHOICE | _THINKING),
    ("the settings for tools and thinking, and {extra}, were", _CHOICE | _THINKING | {"extra": {}}),
)
"""what a target may not take although it takes the rest: the smallest first, with what is put in its place"""


def with_less(options: Options, make: Callable[[Options], Request]) -> tuple[Request, str]:
    """The request that `make` gives without the options that stand in its way, and a sentence on those, or nothing.

    Raises the `ImpossibleRequest` or `RenderError` that `make` raised at first, if it is not up to the options.
    """
    try:
        return make(options), ""
    except (ImpossibleRequest, RenderError) as error:
        wrong = error
    for told, defaults in _CONCESSIONS:
        less = replace(options, **defaults)
        if less == options:
            continue
        try:
            request = make(less)
        except (ImpossibleRequest, RenderError):
            continue
        return request, f"{told.format(extra=', '.join(sorted(options.extra)))} not carried: {wrong.message}"
    raise wrong
