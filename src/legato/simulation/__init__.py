"""Providers that refuse what the real ones refuse, with a small scripted model behind them.

`SimulatedTransport` is the seam for tests and demonstrations: every provider of the catalogue in this process, without
a socket. `serve` puts the same providers on a port of this machine, for any SDK or agent; it needs the extra `serve`.
Both answer through the dialects' own replies, judge by the dialects' own rules, and remember every request with the
verdict on it.
"""

from __future__ import annotations

from legato.simulation.contract import Manner, Reply
from legato.simulation.faults.plan import DEFAULT_RATES, FaultKind, FaultPlan, Faults, FaultSource, InjectedFault
from legato.simulation.pace import read_pace
from legato.simulation.provider import Outcome, SimulatedProvider
from legato.simulation.refusals import SimulatedRefusal
from legato.simulation.server import DEFAULT_PORT, base_urls, serve
from legato.simulation.transport import SimulatedTransport
from legato.simulation.world import Seen, SimulatedWorld
from legato.transport.contract import Ask
from legato.transport.server_habits import habits_of
from legato.wire.hosting import IdHabit, RefusalReason, ServerHabits

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_RATES",
    "Ask",
    "FaultKind",
    "FaultPlan",
    "FaultSource",
    "Faults",
    "IdHabit",
    "InjectedFault",
    "Manner",
    "Outcome",
    "RefusalReason",
    "Reply",
    "Seen",
    "ServerHabits",
    "SimulatedProvider",
    "SimulatedRefusal",
    "SimulatedTransport",
    "SimulatedWorld",
    "base_urls",
    "habits_of",
    "read_pace",
    "serve",
]
