"""Sessions and those of their subagents, which are stored as sessions of their own.

A subagent's session is not one that a person began: it is under its parent in lists, goes with it when the parent
is deleted, and is never what "the last session" means. By its id it can be shown, exported and gone on with like any
other. One whose parent is gone is by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.store import SessionSummary

MARK = "↳ "
"""comes before the title of a subagent's session in lists"""


def without_subagents(sessions: Sequence[SessionSummary]) -> list[SessionSummary]:
    """Those that are no subagent's, or whose parent is gone."""
    known = {one.id for one in sessions}
    return [one for one in sessions if one.subagent_of not in known]


def with_subagents(chosen: Sequence[SessionSummary], sessions: Sequence[SessionSummary]) -> list[SessionSummary]:
    """`chosen`, each with the sessions of its subagents, and of theirs, behind it, the oldest first; none twice."""
    children: dict[str, list[SessionSummary]] = {}
    for one in sorted(sessions, key=lambda one: (one.created, one.id), reverse=True):
        if one.subagent_of is not None:
            children.setdefault(one.subagent_of, []).append(one)
    found: dict[str, SessionSummary] = {}
    todo = list(reversed(chosen))
    while todo:
        one = todo.pop()
        if one.id not in found:
            found[one.id] = one
            todo += children.get(one.id, ())
    return list(found.values())
