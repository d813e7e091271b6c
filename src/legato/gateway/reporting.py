"""Reports while their requests run: begun when a request is routed, filled in while its answer is on its way.

In:  what the client said, whoever carries the answer, and what made it fail.
Out: a `RequestReport` among the newest of this process, and in the state if that keeps any.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias

from legato.errors import LegatoError
from legato.gateway.compacting import SummaryRelay
from legato.gateway.contract import Door
from legato.gateway.exchange import Relay
from legato.gateway.intake import ClientRequest
from legato.gateway.passthrough import Forwarding
from legato.gateway.recall import Recalled
from legato.gateway.reports import Reports, RequestReport
from legato.gateway.state import GatewayState
from legato.serving.contract import ConnectionCut

Carrying: TypeAlias = Relay | Forwarding | SummaryRelay


class Reporter:
    """Writes the reports of one gateway."""

    def __init__(self, state: GatewayState) -> None:
        self.newest = Reports()
        self._state = state

    async def find(self, request_id: str, tenant: str) -> RequestReport | None:
        """The report of that request, if it is this tenant's."""
        return self.newest.find(request_id, tenant) or await self._state.report(tenant, request_id)

    def forget(self) -> None:
        """Hold none in memory any more."""
        self.newest = Reports()

    async def pieces(self, carrying: Carrying, report: RequestReport) -> AsyncGenerator[bytes]:
        """The bytes of a streamed answer; what became of it is in `report` when they end."""
        try:
            async with aclosing(carrying.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
        except ConnectionCut as cut:
            report.error, report.message = type(cut.__cause__ or cut).__name__, str(cut)
            raise
        finally:
            await self.note(carrying, report)

    async def note(self, carrying: Carrying, report: RequestReport) -> None:
        """Say in `report` what is known of an answer that is over, however it ended."""
        done = carrying.done
        report.attempts, report.unchanged, report.own_key = done.attempts, done.unchanged, done.own_key
        report.usage, report.served, report.sent_tokens = done.usage, done.served, done.sent_tokens
        report.decisions = done.decisions
        await self._keep(report)

    async def note_refusal(self, error: LegatoError, request_id: str, tenant: str, door: Door) -> None:
        """Say in the report of a request why it was refused; one that was not even routed has none yet."""
        report = self.newest.find(request_id, tenant)
        if report is None:
            report = RequestReport(id=request_id, tenant=tenant, api=str(door.dialect), asked=door.name)
        report.error, report.message = type(error).__name__, error.message
        await self._keep(report)

    async def _keep(self, report: RequestReport) -> None:
        self.newest.keep(report)
        await self._state.keep_report(report)


def new_report(said: ClientRequest, request_id: str, profile: str, recalled: Recalled) -> RequestReport:
    """The report of a request that one of the routes in `profile` is going to answer."""
    return RequestReport(
        id=request_id,
        tenant=said.delivery.tenant,
        api=str(said.delivery.door.dialect),
        asked=said.delivery.model,
        profile=profile,
        notes=[*map(str, said.parsed.notes), *said.parsed.adjusted],  # plain texts: a report is written as JSON
        warm=recalled.is_warm,
    )
