"""For tests of stores, also of your own.

conformance   checks that a store keeps every promise of the contract: `run_conformance`
samples       records to keep: one of every kind, and small ones
"""

from __future__ import annotations

from legato.store.testing.conformance import Check, MakeStore, NotConforming, run_conformance

__all__ = ["Check", "MakeStore", "NotConforming", "run_conformance"]
