"""What became of each request: for whoever wants to know why it was answered as it was.

In:  a request when it is done.
Out: its report by its id, for its own tenant alone, as long as there is room.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from legato.model import Decision, Usage

KEPT = 1_000
"""reports; the oldest go first"""


class RouteAttempt(Struct, frozen=True):
    """One request that was sent, and how it ended; `error` is empty for the one that was answered."""

    route: str
    error: str = ""


class RequestReport(Struct, kw_only=True):
    """One request: who asked for what, who answered, and what was done to it on the way."""

    id: str
    tenant: str
    api: str
    """the API that the client speaks"""
    asked: str
    """the model that it asked for"""
    profile: str = ""
    attempts: list[RouteAttempt] = []
    decisions: tuple[Decision, ...] = ()
    """what was closed, moved, dropped, renamed or translated in the request that was sent, and in the answer"""
    notes: list[str] = []
    """what in the client's body was not understood, or in the wrong place or form, with its place"""
    passthrough: bool = False
    """whether it was sent without any of that: the decisions are those that the gateway would have made"""
    unchanged: bool = False
    """whether the client's own bytes were sent on"""
    own_key: bool = False
    """whether the provider was asked with the client's own key"""
    warm: bool = False
    """whether the conversation was known from the request before"""
    served: str = ""
    sent_tokens: int = 0
    """about how many tokens a provider took that began to answer"""
    usage: Usage | None = None
    error: str = ""
    message: str = ""
    """what the client was told of that, without what its API says of every error of the kind"""

    @property
    def route(self) -> str:
        """Who answered, or was asked last."""
        return self.attempts[-1].route if self.attempts else ""

    @property
    def tokens(self) -> int:
        """What the request took: as the provider counted, or what was sent if the answer did not come to its end."""
        return self.sent_tokens if self.usage is None else self.usage.input + self.usage.output


class Reports:
    """The newest reports."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[str, RequestReport] = OrderedDict()

    def keep(self, report: RequestReport) -> None:
        """Keep `report` under its id."""
        self._kept[report.id] = report
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def find(self, request_id: str, tenant: str = "") -> RequestReport | None:
        """The report of that request, if it is this tenant's."""
        report = self._kept.get(request_id)
        return report if report is not None and report.tenant == tenant else None
