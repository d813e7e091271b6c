"""One message, one answer, for scripts."""

from __future__ import annotations

import os
from typing import Unpack

from legato.routing import Profile, Route
from legato.session.desk import Approve
from legato.session.synchronous import SessionSettings, SyncSession
from legato.session.turn import TurnResult
from legato.store import Store


def run(
    prompt: str,
    route: str | Route | Profile,
    *,
    store: Store | str | os.PathLike[str] | None = None,
    session_id: str | None = None,
    approve: Approve | None = None,
    **settings: Unpack[SessionSettings],
) -> TurnResult:
    """Ask `route` and wait for the end of the turn; the settings are those of `SyncSession`.

    For code that is not asynchronous. Without an approval that says otherwise, tools that change anything are not run,
    because no one is there to be asked.
    """
    with SyncSession(route, store=store, session_id=session_id, approve=approve, **settings) as session:
        return session.send(prompt)
