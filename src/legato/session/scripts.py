"""One message, one answer, for scripts."""

from __future__ import annotations

from typing import Any

import anyio

from legato.routing import Profile, Route
from legato.session.session import Session
from legato.session.turn import TurnResult


def run(prompt: str, route: str | Route | Profile, **settings: Any) -> TurnResult:
    """Ask `route` and wait for the end of the turn; `settings` are those of `Session`.

    For code that is not asynchronous. Without an approval that says otherwise, tools that change anything are not run,
    because no one is there to be asked.
    """

    async def ask() -> TurnResult:
        async with Session(route, **settings) as session:
            return await session.send(prompt)

    return anyio.run(ask)
