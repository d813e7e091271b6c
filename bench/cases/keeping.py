"""Storing and compacting: measured by the modules that know them, gathered here."""

from __future__ import annotations

from bench.figures import Figure, Goal, Outcome, Scale


def store(scale: Scale) -> Outcome:
    """Loading a stored session, and appending to a long one."""
    from bench.store import APPEND_LIMIT, LOAD_LIMIT, append_ratio, load_ratio

    load = load_ratio(scale.large, rounds=max(3, scale.rounds))
    append = append_ratio(10, scale.huge, rounds=max(5, scale.rounds * 5))
    return Outcome(
        [
            Figure(
                f"loading {scale.large:,} messages",
                load,
                against="decoding their JSON",
                goal=Goal("at most", LOAD_LIMIT),
            ),
            Figure(
                f"appending at {scale.huge:,}", append, against="appending at 10", goal=Goal("at most", APPEND_LIMIT)
            ),
        ]
    )


def compaction(scale: Scale) -> Outcome:
    """A long session under a small window."""
    from bench.compaction import run

    turns, window = scale.compaction
    found = run(turns, window)
    lost = found["rewrites"] and not found["knows its first turn"]
    return Outcome(
        [
            Figure("largest request", found["largest request"] / window, against=f"a window of {window:,} tokens"),
            Figure("bytes that a provider had cached", found["cached share"], against="all that was sent"),
            Figure("rewrites of the history", found["rewrites"], "", "", f"in {found['requests']:,} requests"),
        ],
        notes=["the summary lost what was said in the first turn"] if lost else [],
    )
