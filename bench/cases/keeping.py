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
    """A long session over simulated providers, under a small window."""
    from bench.long_session import play

    turns, window = scale.compaction
    found = play(turns, window)
    bounds = found.bounds
    return Outcome(
        [
            Figure(
                "largest request",
                found.largest / window,
                against=f"a window of {window:,} tokens",
                detail=f"{found.refused} of {found.requests:,} requests refused",
                goal=Goal("at most", 0.95),
            ),
            Figure("bytes that a provider had cached", found.cached_share, against="all that was sent"),
            Figure(
                "rewrites of the history",
                found.rewrites,
                "",
                detail=f"proven at most {bounds.at_most:,}, at least {bounds.at_least:,} in any way; "
                f"{found.summaries:,} summaries, {bounds.whole:,} tokens in {found.requests:,} requests",
                goal=Goal("at most", bounds.at_most),
            ),
            Figure(f"a turn at {turns:,}", found.slowdown, against="an early turn", detail="processor time"),
        ],
        notes=["what was said in the first turn is lost"] if found.rewrites and not found.knows_its_first_turn else [],
    )
