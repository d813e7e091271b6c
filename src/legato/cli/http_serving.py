"""Run a server until a signal ends it: the first lets running answers end, the second does not."""

from __future__ import annotations

import signal
from collections.abc import Callable

from legato.cli.saying import say
from legato.cli.signals import handling_signals
from legato.serving.collector import rare_collections
from legato.serving.http_server import HttpServer


async def run_until_signalled(server: HttpServer, announce: Callable[[], None]) -> signal.Signals:
    """Serve until a signal arrives, and then until what runs has come to its end; which signal it was.

    `announce` tells a person where the server is, once a signal would end it in order.
    """
    received: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        received.append(number)
        if len(received) > 1:
            server.abort()
            return
        if server.is_busy:
            say("Stopping when the running answers have ended; once more ends them now.", err=True)
        server.stop()

    async with rare_collections(server), handling_signals(end):
        announce()
        await server.run()
    return received[0] if received else signal.SIGTERM
