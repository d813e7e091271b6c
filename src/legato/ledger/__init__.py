"""Station 2, what is true: of each call its identity, its state, its one effective completion."""

from __future__ import annotations

from legato.ledger.completions import Completion, CompletionKind, completion_text
from legato.ledger.evidence import Evidence
from legato.ledger.identity import Identity
from legato.ledger.ledger import Call, Dropped, Ledger
from legato.ledger.states import CallNews, CallState, infer, next_state

__all__ = [
    "Call",
    "CallNews",
    "CallState",
    "Completion",
    "CompletionKind",
    "Dropped",
    "Evidence",
    "Identity",
    "Ledger",
    "completion_text",
    "infer",
    "next_state",
]
