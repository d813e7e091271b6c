"""Who answers next: by hand, round-robin or failover, with health and retries.

Decisions only, made of values, a clock and a random source that are given: the session acts on the verdicts.
"""

from __future__ import annotations

from legato.routing.health import Condition, HealthBook, Resting
from legato.routing.retry import Patience, RetryBudget, is_transient
from legato.routing.router import Router
from legato.routing.routes import Policy, Profile, Route, only, read_profiles
from legato.routing.verdicts import Compact, NextRoute, ReplaceContent, Retry, RoutingVerdict, Stop, StripReasoning

__all__ = [
    "Compact",
    "Condition",
    "HealthBook",
    "NextRoute",
    "Patience",
    "Policy",
    "Profile",
    "ReplaceContent",
    "Resting",
    "Retry",
    "RetryBudget",
    "Route",
    "Router",
    "RoutingVerdict",
    "Stop",
    "StripReasoning",
    "is_transient",
    "only",
    "read_profiles",
]
